"""Hop questions: unique, without shortcut, with evidence; proved by the database and again by networkx."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import networkx as nx
import pytest
from hop_world import LAYOUT, WORLD, SaysAsker, desk, layout, outcome, path

from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.layouts import bind, load_profile
from kgeval.questions.duplicates import Twins
from kgeval.questions.generate import Generation, GenerationSettings, GenerationTools
from kgeval.questions.kinds import KindOrder, MakingOptions, RejectedError
from kgeval.questions.making import hops
from kgeval.questions.making import negative as negatives
from kgeval.questions.making.answer_cypher import answers, path_query
from kgeval.questions.making.hops import KINDS
from kgeval.questions.proof import hop_counts, prove
from kgeval.questions.sampling.sampler import open_sampler
from kgeval.records import Layout, Question, Structure

Draw = Callable[[str], None]


make, negative = partial(outcome, hops.make), partial(outcome, negatives.make)


def made(found: Question | RejectedError) -> Question:
    assert isinstance(found, Question), found
    return found


def cause(found: Question | RejectedError) -> str:
    assert isinstance(found, RejectedError), found
    return found.cause


def test_one_hop_is_asked_with_its_answer_evidence_path_and_cypher(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    question = made(make(desk(graph, path(graph, "Ada", "Acme"))))
    assert (question.question, question.reference, question.level, question.hops, question.triples_needed) == (
        "Which firm does Ada work for?", "Acme", "path", 1, 1)
    assert [(p.chunk_id, p.document) for p in question.evidence] == [("c1", "doc-c1")]
    assert question.evidence_ids == [["c1"]]
    assert question.document == "doc-c1"
    assert question.path is not None
    assert [node.name for node in question.path.nodes] == ["Ada", "Acme"]
    assert question.steps == question.path.text == ["Ada: WORKS_FOR: Acme"]
    assert [(one.name, one.passed) for one in question.checks] == [("unique", True), ("leak", True)]
    assert question.cypher is not None
    assert graph.read(question.cypher) == [{"answer": "Acme"}]


def test_two_and_three_hops_need_every_relation(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    two = made(make(desk(graph, path(graph, "Ada", "Acme", "Ulm"))))
    three = made(make(desk(graph, path(graph, "Ada", "Acme", "Ulm", "Norland"))))
    assert two.question == "Which city is the firm that Ada works for located in?"
    assert three.question == "Ada works for a firm. Which city is the city that this firm is located in a part of?"
    assert (two.hops, three.hops, two.reference, three.reference) == (2, 3, "Ulm", "Norland")
    assert two.evidence_ids == [["c1"], ["c3"]]
    assert all(graph.read(q.cypher or "") == [{"answer": q.reference}] for q in (two, three))
    assert "no_shortcut" in [one.name for one in two.checks]


def test_a_question_with_two_answers_is_rejected(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    rejected = make(desk(graph, path(graph, "Acme", "Ada")))
    assert cause(rejected) == "ambiguous"
    assert rejected.reason == "also 'Bo' is reached"  # type: ignore[union-attr]


def test_a_way_that_forks_is_no_fault_while_its_end_is_the_only_one(graph: Graph, draw: Draw) -> None:
    draw("""CREATE (di:Person {name: 'Dora'})-[:FOUNDED]->(:Firm {name: 'Acme'}),
      (di)-[:FOUNDED]->(:Firm {name: 'Brick'})-[:LOCATED_IN]->(:City {name: 'Rom'})""")
    question = made(make(desk(graph, path(graph, "Dora", "Brick", "Rom"))))
    assert question.question == "Which city is a firm that Dora founded located in?"
    assert prove(graph, layout(), [path(graph, "Dora", "Brick", "Rom")])[0].reached == (2, 1)


def test_a_way_that_forks_to_two_ends_is_rejected(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    assert cause(make(desk(graph, path(graph, "Dora", "Brick", "Rom")))) == "ambiguous"


def test_a_shorter_way_of_any_relation_in_any_direction_is_a_shortcut(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    rejected = make(desk(graph, path(graph, "Bo", "Acme", "Ulm")))
    assert cause(rejected) == "shortcut"
    draw("MATCH (l:City {name: 'Norland'}), (a:Firm {name: 'Acme'}) CREATE (l)-[:KNOWS]->(a)")
    assert cause(make(desk(graph, path(graph, "Ada", "Acme", "Ulm", "Norland")))) == "shortcut"


def test_a_shorter_way_to_another_entity_of_the_answer_s_name_is_a_shortcut_too(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    assert made(make(desk(graph, path(graph, "Ada", "Acme", "Ulm"))))
    draw("MATCH (a:Person {name: 'Ada'}) CREATE (a)-[:BORN_IN]->(:City {name: 'ULM'})")
    assert cause(make(desk(graph, path(graph, "Ada", "Acme", "Ulm")))) == "shortcut"


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("in_time", [True, False])
def test_many_paths_are_proved_at_once_and_one_by_one_where_that_takes_too_long(
    graph: Graph, draw: Draw, monkeypatch: pytest.MonkeyPatch, in_time: bool,
) -> None:
    draw("UNWIND range(0, 30) AS n CREATE (:Person {name: 'Ship ' + n, n: n})")
    draw("MATCH (a:Person), (b:Person) WHERE b.n = a.n + 1 CREATE (a)-[:FOUNDED]->(b)")
    counts, read = Counter[str](), graph.read

    def counted(query: Any, params: Any = None, *, timeout: float | None = None) -> Any:
        counts[getattr(query, "name", "")] += 1
        if not in_time and len((params or {}).get("rows", ())) > 1:
            raise QueryTimeout("too long")
        return read(query, params, timeout=timeout)

    monkeypatch.setattr(graph, "read", counted)
    own, kind, kept = layout(), KINDS[1], list[Question]()
    with open_sampler(graph, own, seed=4) as sampler:
        settings = GenerationSettings(MakingOptions(seed=4, template=True))
        tools = GenerationTools(sampler, Twins(None, 0.9, ()), graph=graph, layout=own)
        Generation([KindOrder(kind, 12)], settings, tools, kept.append).run()
    assert [one.hops for one in kept] == [2] * 12
    assert len({one.question for one in kept}) == 12
    assert counts["prove-step"] == (2 if in_time else 1 + 2 * 12)


def test_a_way_over_what_is_no_entity_is_no_shortcut(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("""MATCH (a {name: 'Ada'}), (u {name: 'Ulm'}) CREATE (a)-[:MENTIONED_IN]->(c:Chunk {id: 'c9', text: 'x'})<-[:MENTIONED_IN]-(u),
      (a)-[:KNOWS]->(:Topic {name: 'T'})-[:KNOWS]->(u)""")
    assert made(make(desk(graph, path(graph, "Ada", "Acme", "Ulm")))).hops == 2
    assert hop_counts(graph, layout(), [(path(graph, "Ada").nodes[0].element_id, path(graph, "Ulm").nodes[0].element_id)]) == {
        (path(graph, "Ada").nodes[0].element_id, path(graph, "Ulm").nodes[0].element_id): 2}


def test_all_entities_of_the_start_s_name_or_alias_are_the_start(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("MATCH (b:Firm {name: 'Brick'}) CREATE (:Person {name: 'ADA.'})-[:WORKS_FOR {chunks: ['c1']}]->(b)")
    assert cause(make(desk(graph, path(graph, "Ada", "Acme")))) == "ambiguous"
    draw("MATCH (p:Person {name: 'ADA.'}) SET p.name = 'Eve', p.aliases = ['ada']")
    assert cause(make(desk(graph, path(graph, "Ada", "Acme")))) == "ambiguous"


def test_a_predicate_in_another_spelling_is_the_same_predicate(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("MATCH (a:Person {name: 'Ada'}), (b:Firm {name: 'Brick'}) CREATE (a)-[:worksFor {chunks: ['c1']}]->(b)")
    own = LAYOUT.model_copy(update={"relation_types": [*LAYOUT.relation_types, "worksFor"]})
    assert cause(make(desk(graph, path(graph, "Ada", "Acme"), own))) == "ambiguous"


def test_two_entities_of_the_answer_s_name_are_one_answer(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("MATCH (a:Person {name: 'Ada'}) CREATE (a)-[:WORKS_FOR {chunks: ['c1']}]->(:Firm {name: 'ACME'})")
    assert prove(graph, layout(), [path(graph, "Ada", "Acme")])[0].unique("Acme")


def test_without_a_passage_there_is_no_question_unless_the_graph_has_no_chunks_at_all(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("MATCH (:Person {name: 'Ada'})-[r]->() REMOVE r.chunks")
    assert cause(make(desk(graph, path(graph, "Ada", "Acme")))) == "no_evidence"
    draw("MATCH (c:Chunk) DELETE c")
    question = made(make(desk(graph, path(graph, "Ada", "Acme"))))
    assert (question.evidence, question.evidence_ids, question.document) == ([], [], None)


def test_a_passage_that_names_both_ends_is_preferred(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("MATCH (:Person {name: 'Ada'})-[r]->() SET r.chunks = ['c0', 'c1'] CREATE (:Chunk {id: 'c0', text: 'Ada sings.'})")
    question = made(make(desk(graph, path(graph, "Ada", "Acme"))))
    assert [passage.chunk_id for passage in question.evidence] == ["c1"]
    assert [sorted(group) for group in question.evidence_ids] == [["c0", "c1"]]


@pytest.mark.parametrize(("start", "end", "why"), [
    ("Ada", "she", "unusable_name"), ("1904", "Acme", "unusable_name"), ("Ulm", "Ulm Works", "leak"), ("Acme", "ACME", "cycle"),
])
def test_names_that_cannot_be_asked_about_are_rejected(graph: Graph, draw: Draw, start: str, end: str, why: str) -> None:
    draw(f"CREATE (:Person {{name: '{start}'}})-[:KNOWS]->(:Firm {{name: '{end}'}})")
    assert cause(make(desk(graph, path(graph, start, end)))) == why


def test_a_relation_that_nobody_can_tell_is_rejected(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:Person {name: 'Ada'})-[:OF]->(:Person {name: 'Bo'})")
    own = LAYOUT.model_copy(update={"relation_types": ["OF"]})
    assert cause(make(desk(graph, path(graph, "Ada", "Bo"), own))) == "vague"


HOSTILE = ("Ada'}) DETACH DELETE (n) //", "x\\' OR 1=1", 'say "yes"', "back`tick", "new\u0027line", "Ω東京", "$name")


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_safe_in_the_cypher_that_people_paste(graph: Graph, name: str) -> None:
    graph.write("CREATE (:Person {name: $name})-[:WORKS_FOR]->(:Firm {name: 'Acme'})", {"name": name})
    asker = SaysAsker(f"Which firm is it that {name} works for?")
    question = made(make(desk(graph, path(graph, name, "Acme"), asker=asker)))
    assert graph.read(question.cypher or "") == [{"answer": "Acme"}]
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 2}]


def test_labels_properties_and_types_of_any_spelling_are_quoted_in_the_cypher(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:`A b` {`the name`: 'Ada', g: '1'})-[:`TO DO` {`it says`: 'works for'}]->(:`A b` {`the name`: 'Acme', g: '1'})")
    own = LAYOUT.model_copy(update={
        "entity_labels": ["A b", "Other"], "entity_excluded_labels": ["No t"], "name_keys": ["the name", "id"], "relation_types": ["TO DO"],
        "relation_label_key": "it says", "scope_property": "g", "scope_value": "1",
    })
    rows = graph.read("MATCH (a)-[r]->(b) RETURN elementId(a) AS a, elementId(r) AS r, elementId(b) AS b")[0]
    drawn = Structure.model_validate({"kind": "path", "number": 0, "seed": 0, "nodes": [
        {"element_id": rows["a"], "key": "Ada", "name": "Ada"}, {"element_id": rows["b"], "key": "Acme", "name": "Acme"},
    ], "relations": [{"element_id": rows["r"], "source": rows["a"], "target": rows["b"], "predicate": "works for", "type": "TO DO"}]})
    assert answers(graph, path_query(own, drawn, ["Ada"])) == ["Acme"]
    assert made(make(desk(graph, drawn, own))).reference == "Acme"


def test_a_model_s_question_is_taken_where_it_names_the_start_and_nothing_hidden(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    asker = SaysAsker("In which town does Ada's employer have its seat?")
    question = made(make(desk(graph, path(graph, "Ada", "Acme", "Ulm"), asker=asker)))
    assert question.question == asker.question
    assert asker.asked[0]["hidden"] == ["Acme", "Ulm"]
    shown: Any = asker.asked[0]
    assert [(fact["subject"], fact["relation"], fact["object"]) for fact in shown["facts"]] == [
        ("Ada", "WORKS_FOR", "Acme"), ("Acme", "LOCATED_IN", "Ulm")]
    assert [passage["text"] for passage in shown["passages"]] == [p.text for p in question.evidence]


def test_a_model_sees_the_descriptions_of_relations_and_entities_and_the_passages_as_it_does_for_other_kinds(
    graph: Graph, draw: Draw,
) -> None:
    draw(WORLD)
    drawn = path(graph, "Ada", "Acme", "Ulm")
    drawn = drawn.model_copy(update={
        "nodes": [node.model_copy(update={"description": f"All of {node.name}."}) for node in drawn.nodes],
        "relations": [one.model_copy(update={"description": "She keeps its books."}) for one in drawn.relations],
    })
    asker = SaysAsker("In which town does Ada's employer have its seat?")
    made(make(desk(graph, drawn, asker=asker)))
    shown: Any = asker.asked[0]
    assert {fact["description"] for fact in shown["facts"]} == {"She keeps its books."}
    assert [node["description"] for node in shown["entities"]] == ["All of Ada.", "All of Acme.", "All of Ulm."]
    assert [passage["number"] for passage in shown["passages"]] == [1, 2]


@pytest.mark.parametrize(("said", "why"), [
    ("Where is Acme, which employs Ada?", "leak"), ("Is Ada's employer in Ulm?", "leak"), ("Where is the firm?", "start_not_named"),
    ("  ", "declined"), ("None.", "declined"), ("Where, according to the given text, is Ada's firm?", "material"),
])
def test_a_model_s_question_that_tells_or_hides_too_much_is_rejected(graph: Graph, draw: Draw, said: str, why: str) -> None:
    draw(WORLD)
    assert cause(make(desk(graph, path(graph, "Ada", "Acme", "Ulm"), asker=SaysAsker(said)))) == why


def test_a_path_that_the_database_rejects_costs_no_call(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    asker = SaysAsker("?")
    assert cause(make(desk(graph, path(graph, "Bo", "Acme", "Ulm"), asker=asker))) == "shortcut"
    assert asker.asked == []


def test_the_proof_in_kgeval_s_own_layout_finds_names_by_the_index(graph: Graph, draw: Draw) -> None:
    for name, firm in (("demo", "Acme"), ("other", "Brick")):
        draw(f"""CREATE (:{name}:__Entity__ {{id: 'a', name: 'Ada', name_key: 'ada'}})-[:R {{predicate: 'works_for'}}]->
          (:{name}:__Entity__ {{id: 'b', name: '{firm}', name_key: '{firm.lower()}'}}), (:__KgevalGraph__ {{name: '{name}'}})""")
    own = bind(graph, load_profile("kgeval").layout, "demo")
    rows = graph.read("MATCH (a:demo)-[r]->(b) RETURN elementId(a) AS a, elementId(r) AS r, elementId(b) AS b")[0]
    drawn = Structure.model_validate({"kind": "path", "number": 0, "seed": 0, "nodes": [
        {"element_id": rows["a"], "key": "a", "name": "Ada"}, {"element_id": rows["b"], "key": "b", "name": "Acme"},
    ], "relations": [{"element_id": rows["r"], "source": rows["a"], "target": rows["b"], "predicate": "works_for", "type": "R"}]})
    question = made(make(desk(graph, drawn, own)))
    assert question.question == "Who or what does Ada work for?"
    assert graph.read(question.cypher or "") == [{"answer": "Acme"}]


def test_proofs_and_hop_counts_are_those_of_networkx_on_random_graphs(graph: Graph, draw: Draw) -> None:
    rng = random.Random(7)
    edges = sorted({(rng.randrange(14), rng.randrange(14), rng.choice(["WORKS_FOR", "KNOWS", "FOUNDED"])) for _ in range(30)})
    names = [f"Node {chr(97 + n) * 2}" for n in range(14)]
    graph.write("UNWIND $names AS name CREATE (:Person {name: name})", {"names": names})
    for kind in ("WORKS_FOR", "KNOWS", "FOUNDED"):
        pairs = [[names[a], names[b]] for a, b, one in edges if one == kind and a != b]
        graph.write(f"UNWIND $pairs AS p MATCH (a {{name: p[0]}}), (b {{name: p[1]}}) CREATE (a)-[:{kind}]->(b)", {"pairs": pairs})
    simple = nx.Graph((names[a], names[b]) for a, b, _ in edges if a != b)
    multi = {(names[a], kind, True): set() for a, _, kind in edges} | {(names[b], kind, False): set() for _, b, kind in edges}
    for a, b, kind in edges:
        if a != b:
            multi[names[a], kind, True].add(names[b])
            multi[names[b], kind, False].add(names[a])
    ids = {row["name"]: row["id"] for row in graph.read("MATCH (e) RETURN e.name AS name, elementId(e) AS id")}
    pairs = [(a, b) for a, b in itertools.product(names, names)]
    counted = hop_counts(graph, layout(), [(ids[a], ids[b]) for a, b in pairs])
    for a, b in pairs:
        joined = a == b or (a in simple and b in simple and nx.has_path(simple, a, b))
        assert counted.get((ids[a], ids[b])) == ((0 if a == b else nx.shortest_path_length(simple, a, b)) if joined else None)
    found = graph.read(
        "MATCH (a)-[r]-(b)-[q]-(c) WHERE a <> c AND a <> b AND b <> c RETURN a.name AS a, type(r) AS r, startNode(r) = a AS f, b.name AS b,"
        " type(q) AS q, startNode(q) = b AS g, c.name AS c ORDER BY a, b, c, r, q, f, g"
    )[:60]
    paths = [path(graph, row["a"], row["b"], row["c"], types=[row["r"], row["q"]]) for row in found]
    ways = [[r.source == node.element_id for r, node in zip(one.relations, one.nodes, strict=False)] for one in paths]
    kept = [(row, one) for row, one, way in zip(found, paths, ways, strict=True) if way == [row["f"], row["g"]]]
    assert len(kept) > 30
    for (row, _), proof in zip(kept, prove(graph, layout(), [one for _, one in kept]), strict=True):
        middle = multi[row["a"], row["r"], row["f"]] - {row["a"]}
        ends = {end for one in middle for end in multi.get((one, row["q"], row["g"]), set()) if end not in (row["a"], one)}
        assert set(proof.ends.values()) == ends
        assert proof.unique(row["c"]) == (ends == {row["c"]})
        if ends == {row["c"]}:
            assert (proof.shortcut == 1) == simple.has_edge(row["a"], row["c"])


def test_the_kinds_say_what_they_are_made_from() -> None:
    assert [(kind.name, kind.group, kind.level, kind.template) for kind in KINDS] == [
        (f"hop_{hops}", "hops", "path", True) for hops in (1, 2, 3)]


UNDIRECTED = """
CREATE (cab:Person {name: 'CAB'}), (man:Person {name: 'POULTERER'}), (fred:Person {name: 'FRED'}), (town:City {name: 'CAMDEN'}),
  (man)-[:RELATED {chunks: ['c1'], description: 'The poulterer sends the turkey by cab.'}]->(cab),
  (fred)-[:RELATED {chunks: ['c1']}]->(man), (town)-[:RELATED {chunks: ['c1']}]->(cab),
  (:Chunk {id: 'c1', text: 'The cab carries the turkey of the poulterer to Camden; Fred knows the poulterer.'})
"""
RELATED = LAYOUT.model_copy(update={"relation_types": ["RELATED"], "relation_description_key": "description"})


@pytest.mark.parametrize("own", [RELATED, RELATED.model_copy(update={"relations_undirected": True})])
def test_a_relation_without_a_predicate_is_worded_by_a_model_or_refused_with_the_reason(graph: Graph, draw: Draw, own: Layout) -> None:
    """RELATED has no direction either: CAMDEN, too, leads to CAB, and from CAB there are two ways."""
    draw(UNDIRECTED)
    refused = make(desk(graph, path(graph, "FRED", "POULTERER"), own))
    assert cause(refused) == "no_predicate" and "'RELATED' says only that there is a relation" in refused.reason  # type: ignore[union-attr]
    asker = SaysAsker("Whom does Fred know?")
    question = made(make(desk(graph, path(graph, "FRED", "POULTERER"), own, asker=asker)))
    shown: Any = asker.asked[0]
    assert "relation" not in shown["facts"][0] and shown["draft"] == "" and shown["passages"]
    assert graph.read(question.cypher or "") == [{"answer": "POULTERER"}]
    assert cause(make(desk(graph, path(graph, "CAB", "POULTERER"), own, asker=asker))) == "ambiguous"
    draw("MATCH (c:Chunk) DELETE c")
    bare = make(desk(graph, path(graph, "FRED", "POULTERER"), own, asker=asker))
    assert cause(bare) == "no_predicate" and "neither a description nor a passage" in bare.reason  # type: ignore[union-attr]


def test_keywords_without_direction_are_proved_in_both_and_shown_as_keywords(graph: Graph, draw: Draw) -> None:
    draw("""CREATE (a:Person {name: 'Ada'})-[:DIRECTED {k: 'spread,progress', d: 'Ada spreads it.'}]->(b:Firm {name: 'Acme'}),
      (:Firm {name: 'Brick'})-[:DIRECTED {k: 'spread,progress', d: 'So does Brick.'}]->(a),
      (b)-[:DIRECTED {k: 'seat', d: 'Its seat.'}]->(:City {name: 'Ulm'})""")
    own = LAYOUT.model_copy(update={
        "relation_types": ["DIRECTED"], "relation_label_key": "k", "relation_description_key": "d", "relations_undirected": True,
    })
    drawn = path(graph, "Ada", "Acme")
    keywords = drawn.relations[0].model_copy(update={"predicate": "spread,progress", "description": "So."})
    named = drawn.model_copy(update={"relations": [keywords]})
    asker = SaysAsker("Which firm sits in Ulm?")
    assert cause(make(desk(graph, named, own, asker=asker))) == "ambiguous"  # along the arrows Acme would be the only one
    assert prove(graph, own.model_copy(update={"relations_undirected": False}), [named])[0].unique("Acme")
    seat = path(graph, "Ulm", "Acme")
    relation = seat.relations[0].model_copy(update={"predicate": "seat", "description": "Its seat."})
    question = made(make(desk(graph, seat.model_copy(update={"relations": [relation]}), own, asker=asker)))
    shown: Any = asker.asked[0]
    assert (shown["facts"][0]["keywords"], shown["facts"][0]["direction"]) == (["seat"], "none")
    assert "in either direction" in question.checks[0].reason
    assert "-[r1:DIRECTED]-(" in (question.cypher or "") and graph.read(question.cypher or "") == [{"answer": "Acme"}]


@pytest.mark.parametrize(("other", "predicate", "unique"), [
    ("spread,cause", "spread,progress", False), ("Cause of <SEP>spread", "spread,progress", False),
    ("cause；_Spread", "spread,progress", False),
    ("seat", "spread,progress", True), ("spreading", "spread,progress", True), ("spread", "spread", False), ("seat", "related to", False),
])
def test_a_question_of_keywords_is_unique_only_where_no_other_relation_has_one_of_them(
    graph: Graph, draw: Draw, other: str, predicate: str, unique: bool,
) -> None:
    """A label that says nothing asks for any relation; the whole list of keywords is hardly ever there twice, and nobody words it."""
    draw(f"""CREATE (a:Person {{name: 'Ada'}})-[:DIRECTED {{k: '{predicate}'}}]->(:Firm {{name: 'Acme'}}),
                    (a)-[:DIRECTED {{k: '{other}'}}]->(:Firm {{name: 'Brick'}})""")
    own = LAYOUT.model_copy(update={"relation_types": ["DIRECTED"], "relation_label_key": "k", "relations_undirected": True})
    drawn = path(graph, "Ada", "Acme")
    named = drawn.model_copy(update={"relations": [drawn.relations[0].model_copy(update={"predicate": predicate})]})
    assert prove(graph, own, [named])[0].unique("Acme") is unique


def test_no_negative_question_asks_for_a_relation_that_says_nothing(graph: Graph, draw: Draw) -> None:
    draw(UNDIRECTED)
    assert cause(negative(desk(graph, path(graph, "FRED", "POULTERER"), RELATED))) == "no_predicate"


def test_a_path_that_one_passage_says_whole_is_left_out_on_request(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    drawn = path(graph, "Ada", "Acme", "Ulm")
    several = replace(desk(graph, drawn), options=MakingOptions(seed=3, template=True, several_passages=True))
    assert made(make(several)).evidence_ids == [["c1"], ["c3"]]
    draw("MATCH (:Person {name: 'Ada'})-[r]->() SET r.chunks = ['c1', 'c3']")
    one = replace(several, structure=path(graph, "Ada", "Acme", "Ulm"))
    rejected = make(one)
    assert cause(rejected) == "one_passage" and "chunk c3" in rejected.reason  # type: ignore[union-attr]
    assert made(make(desk(graph, one.structure))).hops == 2
