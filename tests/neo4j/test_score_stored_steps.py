"""Steps of gold chains in the stored graph, and retrieved facts that it marks as expired."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import Expired, ItemVerdicts, JudgedItem, RowFacts
from kgeval.metrics.stored import candidates
from kgeval.metrics.stored.gather import stored_facts
from kgeval.metrics.stored.metrics import stale_context_share, stepwise_accuracy
from kgeval.records import Answer, GoldPath, GraphRef, Layout, Question, Row

PLAIN = Layout(name="plain", entity_labels=["Thing"], name_keys=["name"], relation_types=["COMMANDS", "OWNED_BY", "SITS_IN"])
CHAIN = """
CREATE (ada:Thing {name: 'Ada'}), (ship:Thing {name: 'North Light'}), (line:Thing {name: 'Packet Line'}), (town:Thing {name: 'Varne'}),
  (ada)-[:COMMANDS]->(ship), (ship)-[:OWNED_BY]->(line), (line)-[:SITS_IN]->(town)
"""


def plain() -> Layout:
    """A layout of its own for each test: without a judge, it stands for the run whose names are kept."""
    return PLAIN.model_copy()


def asked(graph: Graph, question: Question, layout: Layout | None = None, **answer: object) -> Subject:
    given = Answer.model_validate({"question_id": "q", "system": "s", "answer": "Varne.", "contexts": [], **answer})
    made = Subject(Row(n=0, where="a:1", question=question, answer=given), RowFacts(), MetricSettings())
    stored_facts(made, frozenset(["steps@graph", "expired"]), graph, layout or plain(), None)
    return made


def labels(made: Subject) -> list[str | None]:
    return [item.label for item in made.facts.checks["steps@graph"].items]


def chain(*steps: str, relations: list[GraphRef] | None = None, nodes: list[GraphRef] | None = None) -> Question:
    return Question(id="q", question="?", path=GoldPath(text=list(steps), relations=relations or [], nodes=nodes or []))


def relation(name: str, kind: str | None = None, element_id: str | None = None) -> GraphRef:
    return GraphRef(element_id=element_id, key=name, name=name, type=kind, kind="relation")


def test_steps_written_as_triples_are_found_by_ends_and_type_in_either_direction(graph, draw):
    draw(CHAIN)
    made = asked(graph, chain("Ada -[COMMANDS]-> North Light", "Packet Line -[owned by]-> the north light", "Packet Line -[LEFT]-> Varne",
                              "Ada -[COMMANDS]-> Varne", "Ada -[COMMANDS]-> Nobody", "North Light -> Packet Line"))
    assert labels(made) == ["supported", "supported", "not_stated", "not_stated", "not_stated", "supported"]
    reasons = [item.reason for item in made.facts.checks["steps@graph"].items]
    assert "joined otherwise: Packet Line -[SITS_IN]-> Varne" in reasons[2]
    assert (reasons[3], reasons[4]) == ("its ends are not joined", "the graph does not know both ends")


def test_steps_in_prose_are_held_by_the_graph_where_two_things_that_they_name_are_joined(graph, draw):
    draw(CHAIN)
    made = asked(graph, Question(id="q", question="?", steps=["Ada's ship is the North Light.", "Ada lives in Varne.", "It rains."]))
    assert labels(made) == ["supported", "not_stated", "not_stated"]


def test_gold_relations_are_found_by_element_id_unless_the_graph_was_rebuilt(graph, draw):
    draw(CHAIN)
    ids = {row["t"]: row["id"] for row in graph.read("MATCH ()-[r]->() RETURN type(r) AS t, elementId(r) AS id")}
    right = relation("Ada -[COMMANDS]-> North Light", "COMMANDS", ids["COMMANDS"])
    moved = relation("North Light -[OWNED_BY]-> Packet Line", "OWNED_BY", ids["SITS_IN"])
    gone = relation("Packet Line -[SITS_IN]-> Varne", "SITS_IN", "5:0000:77")
    wrong = relation("Ada -[OWNS]-> Varne", "OWNS", ids["COMMANDS"])
    made = asked(graph, chain("1", "2", "3", "4", relations=[right, moved, gone, wrong]))
    assert labels(made) == ["supported", "supported", "supported", "not_stated"]
    reasons = [item.reason.split(":")[0] for item in made.facts.checks["steps@graph"].items]
    assert reasons == ["by element id", "by its ends", "by its ends", "its ends are not joined"]


def test_gold_nodes_give_the_ends_where_the_relations_name_does_not(graph, draw):
    draw(CHAIN)
    nodes = [GraphRef(key=name.casefold(), name=name) for name in ("Ada", "North Light", "Packet Line")]
    made = asked(graph, chain("who", "whose", relations=[relation("x", "COMMANDS"), relation("y", "SITS_IN")], nodes=nodes))
    assert labels(made) == ["supported", "not_stated"]


@pytest.mark.parametrize("step", [
    "`) DETACH DELETE n //", "\0 -[\u202e]-> \ud800", "-[]->", " -[X]-> ", "A" * 100_000 + " -[X]-> B", "->" * 5000,
])
def test_hostile_steps_are_only_not_found(graph, draw, step):
    draw(CHAIN)
    made = asked(graph, Question(id="q", question="?", steps=[step]), retrieved_relations=[step], retrieved_nodes=[step, "5:x:1", "4:a:9"])
    assert labels(made) == ["not_stated"]
    assert graph.read("MATCH (n) RETURN count(n) AS n")[0]["n"] == 4


def test_a_refused_query_leaves_the_value_and_only_the_count_in_the_graph_is_missing(graph, draw, monkeypatch):
    draw(CHAIN)

    def refuse(*_: object, **__: object) -> None:
        raise QueryError("no memory")

    monkeypatch.setattr(candidates.StoredGraph, "ask", refuse)
    made = asked(graph, chain("Ada -[COMMANDS]-> North Light"))
    assert made.facts.checks["steps@graph"].unscored.cause == "graph_error"
    for source in ("answer", "contexts"):
        made.facts.checks[f"steps@{source}"] = ItemVerdicts((JudgedItem(1, "x", "supported"),))
    value = stepwise_accuracy(made)
    assert value.value == 1.0 and "in_graph" not in value.detail


def test_the_graph_stands_beside_the_value_and_does_not_change_it(graph, draw):
    draw(CHAIN)
    made = asked(graph, chain("Ada -[COMMANDS]-> North Light", "Ada -[COMMANDS]-> Varne"))
    made.facts.checks["steps@answer"] = ItemVerdicts((JudgedItem(1, "x", "not_stated"), JudgedItem(2, "y", "supported")))
    made.facts.checks["steps@contexts"] = ItemVerdicts((JudgedItem(1, "x", "not_stated"), JudgedItem(2, "y", "not_stated")))
    value = stepwise_accuracy(made)
    assert (value.value, value.detail["in_graph"]) == (0.5, 1)
    assert value.detail["steps"] == [
        {"position": 1, "relation": "COMMANDS", "graph": "supported", "answer": "not_stated", "contexts": "not_stated", "right": False},
        {"position": 2, "relation": "COMMANDS", "graph": "not_stated", "answer": "supported", "contexts": "not_stated", "right": True},
    ]


TIMED = """
CREATE (a:Entity {uuid: 'a', name: 'Ada', group_id: 'g'}),
  (s:Entity {uuid: 's', name: 'North Light', group_id: 'g'}),
  (l:Entity {uuid: 'l', name: 'Packet Line', group_id: 'g'}), (:Episodic {uuid: 'e', content: 'x', group_id: 'g'})-[:MENTIONS]->(a),
  (a)-[:RELATES_TO {uuid: 'old', name: 'COMMANDS', fact: 'Ada commands the North Light.', expired_at: date('2020-01-01')}]->(s),
  (l)-[:RELATES_TO {uuid: 'new', name: 'OWNS', fact: 'The line owns the ship', group_id: 'g', invalid_at: datetime('2999-01-01')}]->(s),
  (l)-[:RELATES_TO {uuid: 'was', name: 'HIRED', fact: 'The line hired Ada', group_id: 'g', invalid_at: datetime('2001-01-01')}]->(a),
  (l)-[:RELATES_TO {uuid: 'r1', name: 'PAYS', fact: 'p', group_id: 'g', expired_at: datetime('2020-01-01')}]->(a),
  (l)-[:RELATES_TO {uuid: 'r2', name: 'PAYS', fact: 'q', group_id: 'g'}]->(a)
"""
QUESTION = Question(id="q", question="?")


@pytest.fixture
def timed(graph: Graph, draw: Callable[[str], None]) -> Layout:
    draw(TIMED)
    return bind(graph, load_profile("graphiti").layout, None)


def expired(graph: Graph, layout: Layout, relations: list[str] | None = None, nodes: list[str] | None = None) -> Subject:
    return asked(graph, QUESTION, layout, retrieved_relations=relations, retrieved_nodes=nodes)


@pytest.mark.parametrize(("told", "known", "old"), [
    (["old", "new", "was"], 3, 2), (["Ada commands the North Light"], 1, 1), (["THE LINE OWNS THE SHIP!"], 1, 0),
    (["Ada -[COMMANDS]-> North Light", "Packet Line -[OWNS]-> North Light"], 2, 1), (["Packet Line -[HIRED]-> Ada", "nothing"], 1, 1),
    (["Packet Line -[PAYS]-> Ada"], 1, 0), (["old", "old", "Ada -[COMMANDS]-> North Light"], 2, 2),
])
def test_retrieved_relations_are_found_by_key_by_words_and_as_triples(graph, timed, told, known, old):
    made = expired(graph, timed, told)
    found = made.facts.expired
    assert (found.retrieved, found.known, found.expired) == (len(set(told)), known, old)
    assert stale_context_share(made).value == pytest.approx(old / known)


def test_retrieved_relations_are_found_by_element_id(graph, timed):
    ids = [row["id"] for row in graph.read("MATCH ()-[r:RELATES_TO]->() WHERE r.uuid IN ['old', 'new'] RETURN elementId(r) AS id")]
    made = expired(graph, timed, [*ids, "5:00000000-0000-0000-0000-000000000000:5"])
    assert (made.facts.expired.retrieved, made.facts.expired.known, made.facts.expired.expired) == (3, 2, 1)
    value = stale_context_share(made)
    assert value.value == 0.5 and value.detail["element_ids"][0] in ids


def test_nodes_count_only_where_they_carry_a_time(graph, timed, draw):
    made = expired(graph, timed, nodes=["Ada", "s"])
    assert (stale_context_share(made).status, made.facts.expired.retrieved) == ("not_applicable", 2)
    draw("CREATE (:Entity {uuid: 'x', name: 'Old Pier', group_id: 'g', invalid_at: '1999-12-31T00:00:00'})")
    draw("CREATE (:Entity {uuid: 'y', name: 'New Pier', group_id: 'g', valid_at: '1999-12-31'})")
    fresh = bind(graph, load_profile("graphiti").layout, None)
    made = expired(graph, fresh, nodes=["the old pier", "y", "Ada"])
    assert (made.facts.expired.known, made.facts.expired.expired) == (2, 1)


def test_nothing_to_tell_is_not_applicable_with_the_reason(graph, timed):
    assert stale_context_share(expired(graph, timed, [])).reason == "nothing was retrieved"
    assert stale_context_share(expired(graph, timed, ["unheard of"])).reason == "the graph knows none of them that could expire"
    untimed = stale_context_share(expired(graph, plain(), ["Ada -[COMMANDS]-> North Light"]))
    assert (untimed.status, untimed.reason) == ("not_applicable", "layout plain has no property that says when a fact ends")
    assert asked(graph, QUESTION, timed).facts.expired is None


def test_a_refused_query_is_a_failure_of_the_row(graph, timed, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise QueryError("no memory")

    monkeypatch.setattr(candidates.StoredGraph, "ask", refuse)
    value = stale_context_share(expired(graph, timed, ["old"]))
    assert (value.status, value.cause, value.detail) == ("unscored", "graph_error", {"retrieved": 1})


def test_the_graphiti_picture_has_one_expired_fact(graph, draw):
    draw((Path(__file__).parents[1] / "graphs" / "layouts" / "graphiti.cypher").read_text(encoding="utf-8"))
    layout = bind(graph, load_profile("graphiti").layout, None)
    found = expired(graph, layout, ["Ada wrote about the engine", "Charles built it"]).facts.expired
    assert found == Expired(2, 2, 1, found.element_ids)
