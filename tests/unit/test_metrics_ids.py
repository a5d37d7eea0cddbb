"""Ids by rank and elements of the graph: examples by hand, scikit-learn as a second computation, and laws."""

from __future__ import annotations

import warnings
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.elements import distinct, ends_of, match, plain
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.ids import METRICS
from kgeval.metrics.select import lacking
from kgeval.records import Answer, GoldPath, GraphRef, Passage, Question, Row

LAW = settings(deadline=None)  # the first example may load a library
BY_NAME = {metric.name: metric for metric in METRICS}
RANKED = ("id_recall", "id_precision", "mrr", "ndcg")
IDS = st.lists(st.sampled_from("abcdefghij"), max_size=12)
GROUPS = st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=3), min_size=1, max_size=5)


def subject(ids: list[str] | None, groups: list[list[str]]) -> Subject:
    contexts = None if ids is None else [Passage(text="", chunk_id=one) for one in ids]
    row = Row(
        n=0, where="", question=Question(id="q", question="?", evidence_ids=groups),
        answer=Answer(question_id="q", system="s", answer="x", contexts=contexts),
    )
    return Subject(row, RowFacts(), MetricSettings())


def ranked(name: str, ids: list[str], groups: list[list[str]]) -> MetricValue:
    return BY_NAME[name].value(subject(ids, groups))


@pytest.mark.parametrize(("ids", "groups", "recall", "precision", "mrr", "ndcg"), [
    ("abc", ["a", "b"], 1, 2 / 3, 1, 1),
    ("xab", ["a", "b"], 1, 2 / 3, 1 / 2, (1 / log2(3) + 1 / 2) / (1 + 1 / log2(3))),
    ("xya", ["a", "b"], 1 / 2, 1 / 3, 1 / 3, (1 / 2) / (1 + 1 / log2(3))),
    ("xyz", ["a"], 0, 0, 0, 0),
    ("aab", ["a", "b"], 1, 1, 1, 1),
    ("ab", ["ab", "c"], 1 / 2, 1, 1, 1 / (1 + 1 / log2(3))),
    ("ba", ["ab", "ba"], 1, 1, 1, 1),
    ("ca", ["ab", "ac"], 1, 1, 1, (1 + 1 / log2(3)) / 2),
])
def test_ranks_by_hand(ids: str, groups: list[str], recall: float, precision: float, mrr: float, ndcg: float) -> None:
    found = [ranked(name, list(ids), [list(group) for group in groups]).value for name in RANKED]
    assert found == pytest.approx([recall, precision, mrr, ndcg])


def test_nothing_retrieved_is_0_and_a_precision_of_nothing_has_no_meaning() -> None:
    assert [ranked(name, [], [["a"]]).value for name in RANKED] == [0, None, 0, 0]
    assert ranked("id_precision", [], [["a"]]).status == "not_applicable"


def test_contexts_that_are_not_told_or_have_no_ids_have_no_value() -> None:
    for name in RANKED:
        assert lacking(BY_NAME[name], subject(None, [["a"]]).row) == "the contexts have no ids"
        assert "no gold chunk ids" in (lacking(BY_NAME[name], subject(["a"], []).row) or "")


@pytest.mark.slow
@LAW
@given(ids=IDS, gold=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=6, unique=True))
def test_ndcg_equals_scikit_learns(ids: list[str], gold: list[str]) -> None:
    """Ids that were not retrieved stand behind enough others that they gain nothing within the cut-off."""
    from sklearn.metrics import ndcg_score

    order = list(dict.fromkeys(ids))
    padded = [*order, *(f"pad{n}" for n in range(len(gold)))]
    truth = np.array([[float(one in gold) for one in padded] + [1.0] * len(set(gold) - set(order))])
    scores = np.arange(truth.shape[1], 0, -1, dtype=float)[None, :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ndcg_score(truth, scores, k=len(padded))
    assert ranked("ndcg", ids, [[one] for one in gold]).value == pytest.approx(float(theirs), abs=1e-12)


@LAW
@given(ids=IDS, groups=GROUPS)
def test_ranked_values_lie_between_0_and_1_and_repeated_ids_do_not_count(ids: list[str], groups: list[list[str]]) -> None:
    for name in RANKED:
        found = ranked(name, ids, groups)
        assert found.value is None or 0 <= found.value <= 1
        assert found.value == ranked(name, [*ids, *ids], groups).value
        assert found.value == ranked(name, ids, [*reversed(groups), groups[0]]).value


@LAW
@given(gold=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=6, unique=True), more=IDS)
def test_gold_first_is_1_and_a_wrong_id_before_it_lowers_the_rank(gold: list[str], more: list[str]) -> None:
    groups = [[one] for one in gold]
    assert [ranked(name, [*gold, *more], groups).value for name in ("id_recall", "mrr", "ndcg")] == pytest.approx([1, 1, 1])
    worse = ranked("ndcg", ["wrong", *gold], groups).value
    assert worse is not None and worse < 1


def ref(name: str, key: str = "", element_id: str | None = None, kind: str = "entity") -> GraphRef:
    return GraphRef(element_id=element_id, key=key, name=name, kind=kind)  # type: ignore[arg-type]


CURIE, WARSAW = ref("Marie Curie", "curie-1", "4:x:1"), ref("Warsaw", "warsaw-1", "4:x:2")
BORN = ref("Marie Curie -[BORN_IN]-> Warsaw", "curie|born|warsaw", "5:x:9", "relation")


def elements(name: str, nodes: list[str] | None, relations: list[str] | None, **gold: object) -> MetricValue:
    row = Row(
        n=0, where="", question=Question(id="q", question="?", **gold),  # type: ignore[arg-type]
        answer=Answer(question_id="q", system="s", answer="x", retrieved_nodes=nodes, retrieved_relations=relations),
    )
    return BY_NAME[name].value(Subject(row, RowFacts(), MetricSettings()))


def test_nodes_are_matched_by_id_then_key_then_name() -> None:
    path = GoldPath(nodes=[CURIE, WARSAW, ref("Poland", "pl")])
    found = elements("entity_recall", ["4:x:1", "warsaw-1", "the POLAND", "Paris", "Paris", " "], None, path=path)
    assert found.value == 1
    assert dict(found.detail) == {"found": 3, "gold": 3, "right": 3, "retrieved": 4, "id": 1, "key": 1, "name": 1}
    assert elements("entity_precision", ["4:x:1", "warsaw-1", "the POLAND", "Paris", "Paris"], None, path=path).value == 3 / 4


def test_names_that_differ_in_case_or_punctuation_are_one_retrieved_node() -> None:
    path = GoldPath(nodes=[ref("Ishmael", "i"), ref("Ahab", "a")])
    found = elements("entity_precision", ["Ishmael", "ishmael", "ISHMAEL.", "Queequeg", "queequeg", "x"], None, path=path)
    assert (found.value, found.detail["right"], found.detail["retrieved"]) == (1 / 3, 1, 3)
    written = ["Ahab -[HUNTS]-> Whale", "ahab -[hunts]-> whale", "Whale <-[HUNTS]- Ahab", "Ahab -[FEARS]-> Whale"]
    gold = GoldPath(relations=[ref("Ahab -[HUNTS]-> Whale", "r", kind="relation")])
    assert elements("relation_precision", None, written, path=gold).value == 1 / 2


@pytest.mark.parametrize("written", [
    "5:x:9", "curie|born|warsaw", "Marie Curie -[BORN_IN]-> Warsaw", "marie curie -[:born in]-> warsaw", "Warsaw <-[BORN_IN]- Marie Curie",
    "Marie Curie BORN_IN Warsaw", "(Marie Curie, BORN_IN, Warsaw)", "Marie Curie | born_in | Warsaw",
])
def test_relations_are_matched_however_they_are_written(written: str) -> None:
    path = GoldPath(nodes=[CURIE, WARSAW], relations=[BORN])
    assert elements("relation_recall", None, [written], path=path).value == 1
    assert elements("relation_precision", None, [written, "Marie Curie -[DIED_IN]-> Passy"], path=path).value == 1 / 2


def test_the_structure_stands_in_where_there_is_no_path() -> None:
    assert elements("entity_recall", ["Warsaw"], None, structure=[CURIE, WARSAW, BORN]).value == 1 / 2
    assert elements("relation_recall", None, ["5:x:9"], structure=[CURIE, WARSAW, BORN]).value == 1


def test_elements_that_are_not_told_or_not_given_have_no_value() -> None:
    path = GoldPath(nodes=[CURIE])
    assert elements("entity_recall", None, ["x"], path=path).reason == "the answer does not tell which nodes it retrieved"
    assert elements("relation_recall", ["x"], ["y"], path=path).reason == "no gold relations are given"
    assert elements("entity_precision", [], None, path=path).reason == "nothing was retrieved"
    assert elements("entity_recall", [], None, path=path).value == 0


def test_a_name_of_two_gold_nodes_finds_both() -> None:
    twins = [ref("Springfield", "a"), ref("springfield", "b")]
    assert match(twins, ["Springfield"]).found == {0: "name", 1: "name"}
    assert match(twins, ["Springfield", "a"]).found == {0: "key", 1: "name"}


def test_the_same_element_counts_once() -> None:
    assert distinct([CURIE, WARSAW, CURIE, ref("Marie Curie", "curie-1")]) == [CURIE, WARSAW, ref("Marie Curie", "curie-1")]


@pytest.mark.parametrize("name", ["-[", "-[]-", "a -[b", "]-", "<-[x]->", "a -[x]- b -[y]-> c", "-[" * 200_000, "🜁 -[R]-> \x00"])
def test_strange_names_are_taken_as_they_are(name: str) -> None:
    ends_of(name)
    plain(name)
    assert match([ref(name)], [name]).retrieved == 1


def test_element_ids_against_gold_by_name_have_no_value() -> None:
    """They can never match: that is no recall of 0."""
    ids = [f"4:21f76deb-012e-4d43-a66d-9fa9b16b7002:{n}" for n in (3, 14)]
    named = GoldPath(nodes=[ref("Marie Curie"), ref("Warsaw")])
    for name in ("entity_recall", "entity_precision"):
        assert elements(name, ids, None, path=named).reason == (
            "the gold nodes have no element ids, and the answer calls what it retrieved by nothing else"
        )
    assert elements("entity_recall", [*ids, "Warsaw"], None, path=named).value == 1 / 2
    assert elements("entity_recall", ids, None, path=GoldPath(nodes=[CURIE, WARSAW])).value == 0
