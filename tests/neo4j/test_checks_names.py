"""Checks of the group names, each on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.records import Finding, Layout

PLAIN = Layout(name="plain", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"])
TYPED = Layout(
    name="typed", entity_labels=["base"], type_label_ignored=["base"], name_keys=["entity_id"], key_property="entity_id",
    type_key="entity_type", placeholder_values=["UNKNOWN", "manual_creation"], entity_excluded_labels=["Community"],
    scope_property="group_id", scope_value="mine",
)
RULES = ["empty-name", "pronoun-entity", "generic-entity", "numeric-entity", "sentence-entity", "placeholder-entity"]


def found(finding: Finding) -> set[str]:
    assert finding.status in ("passed", "failed"), finding.reason
    assert finding.count == len(finding.examples)
    return {example.items[0].name for example in finding.examples}


def named(graph, *names: object) -> None:
    graph.write("UNWIND $names AS name CREATE (:__Entity__ {name: name})", {"names": list(names)})


def check(graph, rule: str, layout: Layout = PLAIN, **settings: object) -> Finding:
    return run_check(graph, layout, rule, examples=0, settings=settings)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("layout", [PLAIN, TYPED], ids=["plain", "typed"])
def test_an_empty_database_has_nothing_to_find(graph, rule, layout):
    finding = run_check(graph, layout, rule)
    assert (finding.status, finding.count) == ("skipped", None)
    assert finding.reason.startswith("there is nothing to look at: 0 ")


@pytest.mark.parametrize("rule", RULES)
def test_no_check_stumbles_over_names_that_are_no_text(graph, draw, rule):
    draw("""CREATE (:__Entity__), (:__Entity__ {name: ['a', 'b']}), (:__Entity__ {name: point({x: 1, y: 2})}), (:__Entity__ {name: 3.5}),
                   (:__Entity__ {name: true}), (:__Entity__ {name: date('2020-01-01')}), (:__Entity__ {name: ''})""")
    graph.write("CREATE (:__Entity__:`a``b\"'\\u0041` {name: $name})", {"name": "x" * 100_000})
    finding = check(graph, rule)
    assert finding.total == 8
    assert all(len(item.name) <= 200 and len(item.key) <= 200 for example in finding.examples for item in example.items)


def test_a_name_is_empty_without_letters_digits_or_symbols(graph, draw):
    named(graph, None, "", " \t ", '""', "...", "「」", "C++", "7", "€", "猫", "a")
    draw("CREATE (:__Entity__ {name: ['a list']})")
    finding = check(graph, "empty-name")
    assert (finding.count, finding.total) == (7, 12)
    assert {example.why for example in finding.examples} == {
        "no name at all", "the name is blank", "the name is punctuation only", "the name is not text",
    }


def test_pronouns_of_many_languages_and_widths_are_found(graph):
    named(graph, "She", " they ", "ＩＴ'", "ｈｅ", "Они", "他们", "彼女", "sie", "nosotros", "Shelley", "Theya", "He and I", "Item")
    assert found(check(graph, "pronoun-entity")) == {"She", " they ", "ｈｅ", "Они", "他们", "彼女", "sie", "nosotros"}


def test_an_acronym_in_capitals_is_no_pronoun(graph):
    named(graph, "US", "IT", "WHO", "HE", "it", "I", "Ada", "Bath", "Acme", "Globex", "Rome")
    assert found(check(graph, "pronoun-entity")) == {"it", "I"}


def test_in_a_graph_written_in_capitals_only_known_acronyms_are_spared(graph):
    named(graph, "US", "IT", "HE", "SHE", "ADA", "BATH")
    assert found(check(graph, "pronoun-entity")) == {"HE", "SHE"}


def test_the_most_connected_hit_comes_first(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'he'}), (b:__Entity__ {name: 'she'}), (c:__Entity__ {name: 'Ada'}), (d:__Entity__ {name: 'we'}),
                   (b)-[:KNOWS]->(c), (b)-[:KNOWS]->(a)""")
    finding = check(graph, "pronoun-entity")
    shown = [(example.items[0].name, example.why) for example in finding.examples]
    assert shown == [("she", "2 links"), ("he", "1 link"), ("we", "0 links")]


def test_common_nouns_are_generic_with_and_without_an_article(graph):
    named(graph, "Company", "the man", "This Woman", "Der Mann", "l'homme", "公司", "die Straße", "THE TEAM", "unknown friend")
    named(graph, "The Beatles", "Manchester", "Man Ray", "The Company of Wolves", "Love", "the", "Ada")
    assert found(check(graph, "generic-entity")) == {
        "Company", "the man", "This Woman", "Der Mann", "l'homme", "公司", "die Straße", "THE TEAM", "unknown friend",
    }


def test_numbers_dates_and_quantities_are_numeric(graph):
    hits = ["1984", "12 March 2019", "5 km", "5km", "$3.5 million", "100%", "2nd", "10:30 am", "1885-1892", "2019年3月5日",
            "3 марта 1917", "٣", "the 1920s"]
    named(graph, *hits, "March", "3M", "Boeing 747", "Apollo 11", "Henry VIII", "million", "5G", "A4", "R2-D2", "percent")
    assert found(check(graph, "numeric-entity")) == set(hits)


def test_a_number_that_is_stored_as_a_number_is_numeric_too(graph):
    named(graph, 1984, "Ada")
    assert found(check(graph, "numeric-entity")) == {"1984"}


def test_long_names_are_sentences(graph):
    twelve, thirteen = " ".join(["word"] * 12), " ".join(["word"] * 13)
    named(graph, twelve, thirteen, "长" * 100, "长" * 101, "one  two   three")
    finding = check(graph, "sentence-entity")
    assert [example.why for example in finding.examples] == ["101 characters", "13 words"]
    assert check(graph, "sentence-entity", max_words=2).count == 4


def test_placeholders_are_found_by_name(graph):
    named(graph, "Unknown", "N/A", "none", "null", "Entity 12", "entity_3", "<name>", "{entity}", "未知", "unbekannt", "Anonymous")
    named(graph, "TBC", "tba", "T.B.D.", "to be confirmed", "To be announced", "N.N.", "xxx", "XXXXX", "dummy", "[unknown]")
    named(graph, "Unknown Pleasures", "Entity Framework", "Nonesuch", "Ada", "<3", "TBC Bank", "NN", "Xx", "TBD (Tiny Baked Doughnuts)")
    assert check(graph, "placeholder-entity").count == 21


def test_what_may_be_called_so_is_no_placeholder(graph, draw):
    draw("""UNWIND ['Port', 'Judge', 'Disease', 'Organization', 'Bank', 'InfectiousDisease', 'Abbreviation'] AS label
            CALL (label) { CREATE (n:__Entity__:$(label) {name: 'TBC'}) }""")
    assert sorted(example.items[0].type for example in check(graph, "placeholder-entity").examples) == ["Judge", "Port"]


def test_placeholders_of_the_layout_are_found_by_name_and_type_and_only_in_its_scope(graph, draw):
    draw("""CREATE (:base {entity_id: 'Ghost', entity_type: 'UNKNOWN', group_id: 'mine'}),
                   (:base {entity_id: 'Manual_Creation', entity_type: 'x', group_id: 'mine'}),
                   (:base {entity_id: 'Ada', entity_type: 'person', group_id: 'mine'}),
                   (:base {entity_id: 'Other', entity_type: 'UNKNOWN', group_id: 'theirs'}),
                   (:base:Community {entity_id: 'unknown', group_id: 'mine'})""")
    finding = check(graph, "placeholder-entity", TYPED)
    assert found(finding) == {"Ghost", "Manual_Creation"}
    assert finding.total == 3
    ghost = next(example for example in finding.examples if example.items[0].name == "Ghost")
    assert (ghost.why, ghost.items[0].type, ghost.items[0].key) == ("the type is a placeholder; 0 links", "UNKNOWN", "Ghost")
