"""Causes: what explains many hits is found, named, and taken out of the other findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from leftover_cases import MARKED, PLAIN, PUT_OUT

import kgeval
from kgeval.graph.connect import Graph
from kgeval.graph.leftovers import MARKUP, OUTPUT, name_leftover

Draw = Callable[[str], None]
EXTRACTED = """
UNWIND $names AS name
MERGE (c:Chunk {id: 'c1'}) SET c.text = $text
CREATE (:__Entity__:Thing {id: name, name: name})-[:FROM_CHUNK]->(c)
"""


def audited(graph: Graph, checks: str, **options: Any) -> dict[str, Any]:
    found = kgeval.audit(graph.driver, checks=checks, layout="neo4j-graphrag", no_structure=True, **{"examples": 0, **options})
    return {finding.rule_id: finding for finding in found.findings}


def names_of(finding: Any) -> list[str]:
    return sorted(item.name for example in finding.examples for item in example.items)


def test_cypher_and_python_tell_the_same_leftovers(graph: Graph) -> None:
    names = [*(name for name, _ in (*MARKED, *PUT_OUT)), *PLAIN]
    graph.write(EXTRACTED, {"names": names, "text": "Nothing."})
    for rule, kinds in (("leaked-output", OUTPUT), ("markup-in-name", MARKUP)):
        found = audited(graph, rule)[rule]
        said = {example.items[0].key: example.why for example in found.examples}
        assert said == {name: kind for name in names if (kind := name_leftover(name, kinds)) is not None}, rule


def test_types_and_relation_labels_with_leaked_output_are_listed_by_use(graph: Graph, draw: Draw) -> None:
    draw("""CREATE (c:Chunk {id: 'c', text: 'x'}) WITH c UNWIND range(1, 9) AS i
            CREATE (a:__Entity__:Person {name: 'A' + i})-[:FROM_CHUNK]->(c), (b:__Entity__:`"PERSON"` {name: 'B' + i})-[:FROM_CHUNK]->(c),
              (a)-[:KNOWS]->(b), (a)-[:`KNOWS<|>`]->(b)
            WITH c, count(*) AS done CREATE (:__Entity__:`PERSON)` {name: 'C'})-[:FROM_CHUNK]->(c)""")
    found = audited(graph, "leaked-output-in-type,rare-type")
    assert [(example.items[0].name, example.why) for example in found["leaked-output-in-type"].examples] == [
        ("\"PERSON\"", "quotation marks around it, on 9 entities"), ("KNOWS<|>", "a delimiter, on 9 relations"),
        ("PERSON)", "one bracket, on 1 entity"),
    ]
    assert found["leaked-output-in-type"].total == 5
    assert (found["rare-type"].count, found["rare-type"].explained) == (0, {"leaked-output-in-type": 1})


@pytest.mark.parametrize(("quoted", "hits"), [(12, ["C</think>"]), (2, ['"Name 1"', '"Name 2"', "C</think>"])])
def test_quotation_marks_around_most_names_are_how_a_writer_keeps_names(graph: Graph, quoted: int, hits: list[str]) -> None:
    names = [f'"Name {at}"' if at <= quoted else f"Name {at}" for at in range(1, 15)]
    graph.write(EXTRACTED, {"names": [*names, "C</think>"], "text": "Nothing."})
    assert names_of(audited(graph, "leaked-output")["leaked-output"]) == hits


SPEAKS = [
    "I'm sorry, but I cannot provide a summary.", "As an AI language model, I", "Sure! Here is a summary: A firm.",
    "Es tut mir leid, dazu kann ich nichts sagen.",
]
SAYS_NOTHING_OF_IT = [
    "A firm that is sorry, but cannot provide a summary.", "I, Claudius is a novel.", "Here is where he was born.", "Surely a firm.", "",
]


@pytest.mark.parametrize(("text", "why"), [
    *((text, text) for text in SPEAKS), *((text, None) for text in SAYS_NOTHING_OF_IT),
    ("A firm of Leeds.<SEP>I cannot assist with that.", "I cannot assist with that."),
])
def test_a_description_in_which_a_model_speaks_of_itself_is_said(graph: Graph, text: str, why: str | None) -> None:
    graph.write("""CREATE (c:Chunk {id: 'c', text: 'Acme Bob'}), (:__Entity__:Firm {name: 'Acme', description: $text})-[:FROM_CHUNK]->(c),
                     (:__Entity__:Person {name: 'Bob', description: 'A clerk.'})-[:FROM_CHUNK]->(c)""", {"text": text})
    found = audited(graph, "leaked-description")["leaked-description"]
    assert ([example.why for example in found.examples], found.total) == ([why] if why else [], 2)


STORY = ["Noah Carter", "Carbon-Fiber Spikes", "World Athletics Federation", "Tokyo", "Wall Tie", "Mortar"]


@pytest.mark.parametrize(("names", "text", "hits"), [
    (STORY, "A wall tie lies in mortar.", STORY[:4]),
    (STORY, "A wall tie lies in mortar in Tokyo.", STORY[:3]),
    (STORY, "In Tokyo Noah Carter wore carbon-fiber spikes of the World Athletics Federation.", []),
    (["Alex", "Mortar"], "He lies in mortar.", []),
    (["Alex", "Taylor", "The Device", "Mortar"], "Mortar.", ["Alex", "Taylor", "The Device"]),
    (["ALHAMIA PRISON"], "The company grew.", ["ALHAMIA PRISON"]),
    (["Microsoft", "Adam", "Microsoft Word"], "The company grew.", []),
    (["Alex", "Taylor", "Jordan"], "アレックスとテイラーとジョーダンは会社で働いている。", []),
])
def test_examples_of_prompts_are_judged_by_the_texts(graph: Graph, names: list[str], text: str, hits: list[str]) -> None:
    graph.write(EXTRACTED, {"names": names, "text": text})
    found = audited(graph, "prompt-example")["prompt-example"]
    assert names_of(found) == sorted(hits)
    assert found.count == len(hits)


@pytest.mark.parametrize(("names", "hits"), [
    (["NOAH CARTER", "\"CARBON-FIBER SPIKES\"", "TOKYO"], ["\"CARBON-FIBER SPIKES\"", "NOAH CARTER"]), (["Noah Carter", "Tokyo"], []),
    (["Alex", "Taylor", "Jordan"], []),
    (["Alex", "Taylor", "Jordan", "Cruz", "The Device"], ["Alex", "Cruz", "Jordan", "Taylor", "The Device"]),
])
def test_without_texts_several_names_of_one_example_are_needed(graph: Graph, names: list[str], hits: list[str]) -> None:
    graph.write("UNWIND $names AS n CREATE (:base {entity_id: n, entity_type: 'x', source_id: 'c1'})", {"names": names})
    found = kgeval.audit(graph.driver, checks="prompt-example", layout="lightrag", no_structure=True, examples=0).findings[0]
    assert names_of(found) == hits


def test_what_a_cause_explains_is_taken_out_of_other_findings_and_said(graph: Graph, draw: Draw) -> None:
    """Five entities without relations, of which two are of a prompt's example: three are isolated, and two more explained."""
    names = ["Samuel Namara", "Durke Bataglani", "Ada", "Bob", "Cy"]
    graph.write(EXTRACTED, {"names": names, "text": "Ada met Bob and Cy."})
    draw("MATCH (a {name: 'Samuel Namara'}) CREATE (a)-[:R]->(a)")
    found = audited(graph, "prompt-example,isolated-entity,name-not-in-source,self-loop")
    assert (found["prompt-example"].count, found["prompt-example"].severity) == (2, "error")
    assert (found["isolated-entity"].count, found["isolated-entity"].explained) == (3, {"prompt-example": 2})
    assert (found["name-not-in-source"].count, found["name-not-in-source"].status) == (0, "passed")
    assert (found["self-loop"].count, found["self-loop"].explained) == (0, {"prompt-example": 1}), "relations at them go with them"
    assert audited(graph, "isolated-entity")["isolated-entity"].count == 5, "nothing is taken out by a check that was not run"


def test_nothing_is_taken_out_where_not_each_hit_is_listed(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.auditing import engine

    monkeypatch.setattr(engine, "LISTED", 1)
    graph.write(EXTRACTED, {"names": ["Samuel Namara", "Durke Bataglani", "Ada"], "text": "Ada."})
    found = audited(graph, "prompt-example,isolated-entity", examples=1)
    assert (found["isolated-entity"].count, found["isolated-entity"].explained) == (3, {})
    assert "not each hit of prompt-example is listed" in (found["isolated-entity"].reason or "")


def test_a_name_and_its_wrong_form_are_one_cause_and_two_right_forms_are_not(graph: Graph) -> None:
    names = ["Acme Holding", "\"Acme Holding\"", "Globex Corp", "GLOBEX CORP"]
    graph.write(EXTRACTED, {"names": names, "text": "Acme Holding, Globex Corp"})
    found = audited(graph, "leaked-output,duplicate-name")
    assert (found["duplicate-name"].count, found["duplicate-name"].explained) == (1, {"leaked-output": 1})
    assert names_of(found["duplicate-name"]) == ["GLOBEX CORP", "Globex Corp"]


JAPANESE = "田中さんは東京の会社で働いている。山田さんはその会社の社長である。"
RUSSIAN = "Вчера в Москве Сергея Петрова встретила Анна Каренина у Большого театра, о чём писал Пётр Ильич."
POLISH = "W Warszawie Jan Kowalski spotkał się z Anną Nowak przed Pałacem Kultury, żeby omówić sprawę Krakowa."
LATEX = "Ties of $150\\mathrm{mm}$ at $230^{\\mathrm{o}}\\mathrm{C}$, H<sub>2</sub>O and $E_{s}$ &eacute;tude"


@pytest.mark.parametrize(("text", "names", "missed"), [
    (RUSSIAN, ["Москва", "Сергей Петров", "Анна Каренина", "Большой театр", "Петр Ильич", "Лондон"], ["Лондон"]),
    (POLISH, ["Warszawa", "Jan Kowalski", "Anna Nowak", "Pałac Kultury", "Gdańsk"], ["Gdańsk"]),
    (LATEX, ["150MM TIES", "230°C", "H2O", "étude", "160mm"], ["160mm"]),
    (JAPANESE, ["田中", "東京", "大阪"], ["大阪"]),
    ("Johnson met the man of the house and the dog.", ["Johnson", "Johnsen"], ["Johnsen"]),
])
def test_markup_and_inflection_do_not_make_a_name_invented(graph: Graph, text: str, names: list[str], missed: list[str]) -> None:
    graph.write(EXTRACTED, {"names": names, "text": text})
    assert names_of(audited(graph, "name-not-in-source")["name-not-in-source"]) == missed


def test_names_in_another_script_than_their_texts_are_a_cause_of_their_own(graph: Graph) -> None:
    graph.write(EXTRACTED, {"names": ["Tanaka", "Yamada", "東京", "大阪"], "text": JAPANESE})
    found = audited(graph, "name-not-in-source,name-in-other-language,ends-not-in-source")
    assert names_of(found["name-in-other-language"]) == ["Tanaka", "Yamada"]
    assert found["name-in-other-language"].examples[0].why == "the names are in Latin script, and their texts in Japanese script"
    assert (found["name-not-in-source"].count, found["name-not-in-source"].total) == (1, 2)
    assert "2 names are in Latin script" in (found["name-not-in-source"].reason or "")


def test_where_most_names_cannot_be_compared_nothing_is_said_of_the_others(graph: Graph, draw: Draw) -> None:
    graph.write(EXTRACTED, {"names": ["Tanaka", "Yamada", "Tokyo", "大阪"], "text": JAPANESE})
    draw("MATCH (a {name: 'Tanaka'}), (b {name: 'Yamada'}) CREATE (a)-[:KNOWS]->(b)")
    found = audited(graph, "name-not-in-source,ends-not-in-source")
    assert (found["name-not-in-source"].status, found["name-not-in-source"].count) == ("skipped", None)
    assert (found["name-not-in-source"].reason or "").startswith("cannot be judged: 3 of 4 names are in Latin script")
    assert (found["ends-not-in-source"].reason or "").startswith("cannot be judged: of 1 of 1 relations")


def test_english_names_of_german_texts_are_told_by_their_small_words(graph: Graph) -> None:
    text = "Der Minister und die Kanzlerin haben in der Sitzung mit dem Rat über das Gesetz und die Steuer gesprochen, weil es nicht ging."
    names = [f"Ministry of the {thing} and the {other}" for thing in ("Sea", "Sky", "Air", "Army") for other in ("Trade", "Law", "Sun")]
    graph.write(EXTRACTED, {"names": [*names, *(f"Rat {n}" for n in range(15))], "text": text + " ".join(f"Rat {n}" for n in range(15))})
    found = audited(graph, "name-not-in-source,name-in-other-language")
    assert (found["name-in-other-language"].count, found["name-not-in-source"].count) == (12, 0)


def test_a_name_that_stands_in_another_text_has_a_wrong_source(graph: Graph, draw: Draw) -> None:
    graph.write(EXTRACTED, {"names": ["Mortar", "Concrete"], "text": "Mortar."})
    draw("CREATE (:Chunk {id: 'c2', text: 'Concrete is poured.'})")
    found = audited(graph, "name-not-in-source")["name-not-in-source"]
    assert found.examples[0].why == "the name is not in its only chunk; it is in 1 other: the source is wrong, not the name"
    assert "1 of 1 name that no text of their own holds stand in other texts" in (found.reason or "")


def test_how_many_other_texts_hold_a_name_counts_whole_words(graph: Graph, draw: Draw) -> None:
    graph.write(EXTRACTED, {"names": ["Ice", "Water Supply"], "text": "Mortar."})
    draw("""UNWIND ['A device.', 'Ice melts.', 'Supply of water.', 'The water-supplies of the town', 'Water supply'] AS text
            CREATE (:Chunk {id: text, text: text})""")
    found = audited(graph, "name-not-in-source")["name-not-in-source"]
    others = {one.items[0].name: (one.why or "").partition("it is in ")[2] for one in found.examples}
    assert others == {"Ice": "1 other: the source is wrong, not the name", "Water Supply": "1 other: the source is wrong, not the name"}


def test_one_chunk_that_many_cite_wrongly_is_one_cause(graph: Graph, draw: Draw) -> None:
    """Twelve entities of a text about something else are one slip; two of a text that names most of its entities are not."""
    towns = [f"Town{chr(97 + n)}ville" for n in range(12)]
    graph.write(EXTRACTED, {"names": [*towns, "Mortar"], "text": "Mortar is mixed."})
    graph.write("CREATE (:Chunk {id: 'c2', text: $text})", {"text": f"{', '.join(towns)} lie on the river."})
    rivers = [f"River{chr(97 + n)}" for n in range(12)]
    graph.write(EXTRACTED.replace("'c1'", "'c3'"), {"names": [*rivers, "Towna River", "Lost"], "text": ", ".join(rivers)})
    found = audited(graph, "name-not-in-source,wrongly-cited-chunk")
    cause, names = found["wrongly-cited-chunk"], found["name-not-in-source"]
    assert (cause.count, cause.severity) == (1, "warning")
    assert cause.examples[0].why == "12 entities come from it alone, and it names none of them; 12 of them stand in other chunks"
    assert (names.count, names.explained, sorted(names_of(names))) == (
        2, {"wrongly-cited-chunk": 12}, ["Lost", "Towna River"],
    )


def test_lists_of_keywords_explain_rare_labels(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 30) AS i CREATE (a:base {entity_id: 'A' + i, source_id: 'c'}), (b:base {entity_id: 'B' + i, source_id: 'c'}),
            (a)-[:DIRECTED {keywords: CASE WHEN i < 26 THEN 'ties, wall ' + i + ', stability' WHEN i < 28 THEN 'owns' ELSE 'built ' + i END,
              source_id: 'c'}]->(b)""")
    found = {one.rule_id: one for one in kgeval.audit(
        graph.driver, checks="keyword-list-type,rare-relation-type", layout="lightrag", no_structure=True).findings}
    assert (found["keyword-list-type"].count, found["keyword-list-type"].total) == (25, 29)
    assert (found["rare-relation-type"].count, found["rare-relation-type"].explained) == (3, {"keyword-list-type": 25})


@pytest.mark.parametrize(("main", "share", "hit"), [
    ("Concept", 70, True), ("Concept", 50, False), ("Person", 70, False), ("Person", 90, True),
])
def test_one_type_for_most_entities_is_a_cause_by_what_it_says(graph: Graph, draw: Draw, main: str, share: int, hit: bool) -> None:
    draw(f"""CREATE (c:Chunk {{id: 'c', text: 'x'}}) WITH c UNWIND range(1, 100) AS i
             CREATE (e:__Entity__ {{name: 'N' + i}})-[:FROM_CHUNK]->(c)
             WITH e, CASE WHEN i <= {share} THEN '{main}' ELSE ['Place', 'Event', 'Law'][i % 3] END AS type SET e:$(type)""")
    found = audited(graph, "dominant-type")["dominant-type"]
    assert ([example.items[0].name for example in found.examples], found.count) == (([main], share) if hit else ([], 0))


def test_causes_come_first_on_the_page(graph: Graph) -> None:
    from kgeval.overview.priorities import failed

    graph.write(EXTRACTED, {"names": ["Acme,", "Globex,", "Ada", "ADA"], "text": "Ada."})
    report = kgeval.audit(graph.driver, layout="neo4j-graphrag").report
    assert failed(report)[0].rule_id == "leaked-output"
