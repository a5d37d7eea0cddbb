"""The gold path in what was retrieved: pictures of three or four nodes, each value countable by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.path import METRICS
from kgeval.records import Answer, GoldPath, GraphRef, Passage, Question, Row

BY_NAME = {metric.name: metric for metric in METRICS}


def node(name: str, element_id: str | None = None) -> GraphRef:
    return GraphRef(element_id=element_id, key=f"key of {name}", name=name)


def edge(name: str, kind: str | None = None) -> GraphRef:
    return GraphRef(key=f"key of {name}", name=name, type=kind, kind="relation")


# Marie Curie -[BORN_IN]-> Warsaw -[CAPITAL_OF]-> Poland
PATH = GoldPath(
    nodes=[node("Marie Curie", "n1"), node("Warsaw", "n2"), node("Poland", "n3")],
    relations=[edge("Marie Curie -[BORN_IN]-> Warsaw"), edge("Warsaw -[CAPITAL_OF]-> Poland")],
)


def value(
    name: str, *, path: GoldPath | None = PATH, nodes: list[str] | None = None, relations: list[str] | None = None,
    texts: list[str] | None = None,
) -> MetricValue:
    contexts = None if texts is None else [Passage(text=text) for text in texts]
    answer = Answer(question_id="q", system="s", answer="x", contexts=contexts, retrieved_nodes=nodes, retrieved_relations=relations)
    row = Row(n=0, where="", question=Question(id="q", question="?", path=path), answer=answer)
    return BY_NAME[name].value(Subject(row, RowFacts(), MetricSettings()))


def test_each_element_is_found_at_its_level_and_the_levels_are_counted() -> None:
    found = value(
        "path_coverage", nodes=["n1", "the WARSAW"], relations=["key of Marie Curie -[BORN_IN]-> Warsaw"],
        texts=["Warsaw has been the capital of Poland since 1596."],
    )
    assert found.value == 1
    assert dict(found.detail) == {
        "nodes": 3, "nodes_found": 3, "relations": 2, "relations_found": 2, "relations_with_predicate": 1,
        "by_id": 1, "by_key": 1, "by_name": 1, "by_mention": 2,
    }
    assert value("path_complete", texts=["Marie Curie, Warsaw, Poland"]).value == 1


def test_a_relation_is_mentioned_only_where_both_ends_stand_in_one_context() -> None:
    apart = value("path_coverage", texts=["Marie Curie was a physicist.", "Warsaw lies on the Vistula.", "Poland"])
    assert (apart.value, apart.detail["relations_found"]) == (3 / 5, 0)
    together = value("path_coverage", texts=["Marie Curie came from Warsaw.", "Poland"])
    assert (together.value, together.detail["relations_with_predicate"]) == (4 / 5, 0)
    worded = value("path_coverage", texts=["Marie Curie was born in\nWarsaw.", "Poland"])
    assert (worded.value, worded.detail["relations_with_predicate"]) == (4 / 5, 1)


def test_a_retrieved_relation_brings_its_ends() -> None:
    found = value("path_coverage", relations=["Warsaw -[CAPITAL_OF]-> Poland"])
    assert (found.value, found.detail["by_name"]) == (3 / 5, 3)


def test_both_ends_without_the_bridge() -> None:
    assert value("path_bridge_missing", nodes=["n1", "n3"]).value == 1
    assert dict(value("path_bridge_missing", nodes=["n1", "n3"]).detail) == {"ends_found": True, "between": 1, "between_missing": 1}
    assert value("path_bridge_missing", nodes=["n1", "n2", "n3"]).value == 0
    assert value("path_bridge_missing", nodes=["n1"]).value == 0
    assert BY_NAME["path_bridge_missing"].better == "lower"


def test_who_retrieved_nothing_does_not_get_the_best_value() -> None:
    for nothing in ({"nodes": []}, {"texts": []}, {"nodes": [], "relations": [], "texts": [" "]}):
        found = value("path_bridge_missing", **nothing)  # type: ignore[arg-type]
        assert (found.status, found.reason) == ("not_applicable", "nothing was retrieved")
    assert value("path_bridge_missing", nodes=["other"]).value == 0


def test_a_path_of_two_nodes_has_no_bridge() -> None:
    short = GoldPath(nodes=PATH.nodes[:2], relations=PATH.relations[:1])
    assert value("path_bridge_missing", path=short, nodes=["n1"]).status == "not_applicable"


def test_a_path_that_comes_back_has_one_end() -> None:
    round_trip = GoldPath(nodes=[*PATH.nodes[:2], PATH.nodes[0]], relations=[PATH.relations[0], edge("Warsaw -[HOME_OF]-> Marie Curie")])
    assert value("path_coverage", path=round_trip, nodes=["n1"]).value == 1 / 4
    assert value("path_bridge_missing", path=round_trip, nodes=["n1"]).value == 1
    assert value("path_bridge_missing", path=round_trip, nodes=["n2"]).value == 0


def test_relations_without_a_readable_name_take_their_ends_from_the_path() -> None:
    path = GoldPath(nodes=PATH.nodes, relations=[edge("r1", "BORN_IN"), edge("r2", "CAPITAL_OF")])
    found = value("path_coverage", path=path, texts=["Marie Curie, born in Warsaw"])
    assert (found.value, found.detail["relations_with_predicate"]) == (3 / 5, 1)
    loose = GoldPath(nodes=PATH.nodes[:1], relations=[edge("r1")])
    assert value("path_coverage", path=loose, texts=["Marie Curie r1"]).value == 1 / 2


@pytest.mark.parametrize(("name", "text", "found"), [
    ("US", "tell us more", 0), ("US", "in the US, today", 1), ("A", "a dog", 0), ("北京", "我住在北京市", 1), ("Warsaw", "Warsawian", 0),
    ("Lodz", "LODZ!", 1), ("New_York", "New York", 1), ("ﬁlm noir", "Film Noir", 1), ("!!!", "!!!", 0), ("O'Neil (Ed)", "O'Neil, Ed", 1),
])
def test_mentions_keep_to_borders_of_words(name: str, text: str, found: int) -> None:
    assert value("path_coverage", path=GoldPath(nodes=[node(name)]), texts=[text]).value == found


def test_what_is_not_told_or_not_named_has_no_value() -> None:
    for metric in BY_NAME:
        assert value(metric).status == "not_applicable"
        assert value(metric, path=GoldPath(text=["A step in words."]), nodes=["n1"]).status == "not_applicable"
        assert value(metric, nodes=[]).value == (None if metric == "path_bridge_missing" else 0)  # lower is better: 0 would be the best


@pytest.mark.slow
@settings(deadline=None)
@given(
    nodes=st.lists(st.sampled_from(["n1", "n2", "n3", "Poland", "x"])),
    texts=st.lists(st.sampled_from(["Warsaw", "Poland", "Marie Curie Warsaw"])),
)
def test_more_retrieved_never_lowers_coverage_and_complete_is_full_coverage(nodes: list[str], texts: list[str]) -> None:
    before, after = value("path_coverage", nodes=nodes, texts=texts), value("path_coverage", nodes=[*nodes, "n2"], texts=[*texts, "Poland"])
    assert before.value is not None and after.value is not None and 0 <= before.value <= after.value <= 1
    assert value("path_complete", nodes=nodes, texts=texts).value == (before.value == 1)


def test_a_context_of_1_mb_is_read() -> None:
    assert value("path_coverage", texts=["word " * 200_000 + "Marie Curie was born in Warsaw in Poland"]).value == 1
