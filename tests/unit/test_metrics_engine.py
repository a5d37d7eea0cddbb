"""From a row's facts to its scores: what a row lacks, what stands beside an empty answer's 0, and what a signature is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from kgeval.llm.calls import Endpoint
from kgeval.llm.endpoints import settled
from kgeval.metrics.definition import MetricSettings, Need, Subject
from kgeval.metrics.engine import Tools, result, score
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.select import LACKING, PRESENT, lacking, select
from kgeval.metrics.signature import metric_info, tooling
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Citation, GoldPath, GraphRef, Passage, Question, Row, Score

FULL_QUESTION: dict[str, Any] = {
    "reference": "R", "evidence": [Passage(text="E", chunk_id="c")], "points": ["P"], "statements": ["S"], "steps": ["T"], "document": "d",
    "path": GoldPath(text=["T"]), "cypher": "RETURN 1", "kind": "k",
}
FULL_ANSWER: dict[str, Any] = {
    "contexts": [Passage(text="C", chunk_id="c")], "citations": [Citation(document="d")], "cypher": "RETURN 1", "retrieved_nodes": [],
    "reasoning": ["S"],
}


def row(answer: str = "A", question: dict[str, Any] | None = None, **given: Any) -> Row:
    asked = Question(id="q", question="Q?", **(FULL_QUESTION if question is None else question))
    return Row(n=0, where="x:1", question=asked, answer=Answer(question_id="q", system="s", answer=answer, **{**FULL_ANSWER, **given}))


def scores(at: Row, *names: str) -> dict[str, Score]:
    made = result(Subject(at, RowFacts(), MetricSettings()), select(names), Tools())
    return {one.metric: one for one in made.scores}


def test_a_full_row_lacks_nothing_and_a_bare_one_lacks_every_need() -> None:
    bare = Row(n=0, where="x", question=Question(id="q", question="Q?"), answer=Answer(question_id="q", system="s", answer="A"))
    assert set(PRESENT) == set(LACKING)
    for need, has in PRESENT.items():
        assert has(row().question, row().answer), need
        assert not has(bare.question, bare.answer), need


@pytest.mark.parametrize(("need", "fields"), [
    ("reference", {"reference": " ", "references": ["\n"]}), ("evidence", {"evidence": [Passage(text=" ", chunk_id="c")]}),
    ("points", {"points": [" "]}), ("statements", {"statements": ["", " "]}), ("steps", {"steps": [" "]}),
    ("steps", {"path": GoldPath(text=["\t"])}),
])
def test_a_list_of_blanks_is_nothing_to_be_measured_by(need: Need, fields: dict[str, Any]) -> None:
    at = row(question=fields)
    needing = [metric for metric in all_metrics().values() if need in metric.needs]
    assert needing
    for metric in needing:
        assert LACKING[need] in (lacking(metric, at) or "")
        assert scores(at, metric.name)[metric.name].status == "not_applicable"


@pytest.mark.parametrize("empty", [{"answer": " "}, {"answer": "half", "error": "timeout"}])
def test_figures_beside_the_zero_of_an_empty_answer_are_zeros_too_so_that_means_are_over_the_same_rows(empty: dict[str, Any]) -> None:
    names = [metric.name for metric in all_metrics().values() if metric.aspects and metric.group == "answers"]
    assert {"factual_correctness", "answer_accuracy", "binary_accuracy", "token_f1"} <= set(names)
    for name, one in scores(row(**empty), *names).items():
        assert (one.value, one.detail["empty_answer"]) == (0.0, True)
        assert {aspect: one.detail[aspect] for aspect in all_metrics()[name].aspects} == dict.fromkeys(all_metrics()[name].aspects, 0.0)


ALWAYS = {"answer_accuracy", "context_relevance", "evidence_recall", "claim_recall"}


@pytest.mark.parametrize(("level", "own"), [
    ("fact_retrieval", {"rouge_l_compat"}), ("complex_reasoning", {"rouge_l_compat"}), ("contextual_summarize", {"evidence_coverage"}),
    ("creative_generation", {"faithfulness", "evidence_coverage"}), (None, set()), ("negative", set()),
])
def test_a_row_gets_the_metrics_of_graphrag_bench_that_are_for_its_level(level: str | None, own: set[str]) -> None:
    at = row(question={**FULL_QUESTION, "level": level})
    assert {metric.name for metric in select(["graphrag-bench"]).of(at)} == ALWAYS | own
    assert {metric.name for metric in select(["graphrag-bench", "rouge_l_compat"]).of(at)} == ALWAYS | own | {"rouge_l_compat"}


PATHS = (
    "entity_recall", "entity_precision", "relation_recall", "relation_precision", "path_coverage", "path_complete", "path_bridge_missing",
)


NAMED = GoldPath(
    nodes=[GraphRef(key=name, name=name) for name in "abc"],
    relations=[GraphRef(key=a + b, name=f"{a} -[r]-> {b}", kind="relation") for a, b in ("ab", "bc")],
)


@pytest.mark.parametrize("lost", [
    {"question": {**FULL_QUESTION, "path": None, "structure": []}},
    {"question": {**FULL_QUESTION, "path": NAMED}, "retrieved_nodes": None, "retrieved_relations": None, "contexts": None},
])
def test_rows_that_lack_what_the_methodology_asks_of_paths_are_not_applicable_and_no_failures(lost: dict[str, Any]) -> None:
    assert set(PATHS) <= {metric.name for metric in select(["methodology"]).of(row(**lost))}
    told = scores(row(**lost), *PATHS)
    assert {name: one.status for name, one in told.items()} == dict.fromkeys(PATHS, "not_applicable")
    assert all(one.reason for one in told.values())


def test_rows_come_in_order_with_every_trial_and_without_those_that_are_left_out() -> None:
    rows = [row().model_copy(update={"n": n}) for n in range(600)]  # more than one window
    skipped = {(1, 0), (2, 1)}
    made = list(score(rows, select(["token_f1"]), Tools(), MetricSettings(), trials=2, skip=lambda at, trial: (at.n, trial) in skipped))
    expected = [(n, trial or None) for n in range(600) for trial in range(2) if (n, trial) not in {(1, 0), (2, 1)}]
    assert [(one.row.n, one.scores[0].trial) for one in made] == expected


class Session:
    """A judge or an embedder, as far as a signature looks at it."""

    def __init__(self, **what: Any) -> None:
        self.__dict__.update(what)


@pytest.mark.parametrize("other", [
    {"models": Session(endpoint=settled(Endpoint("n", "http://h/v1", {"temperature": 0})), language="en")},
    {"models": Session(endpoint=settled(Endpoint("m", "http://i/v1", {"temperature": 0})), language="en")},
    {"models": Session(endpoint=settled(Endpoint("m", "http://h/v1", {"temperature": 1})), language="en")},
    {"models": Session(endpoint=settled(Endpoint("m", "http://h/v1", {"temperature": 0, "seed": 1})), language="en")},
    {"models": Session(endpoint=settled(Endpoint("m", "http://h/v1", {"temperature": 0})), language="de")},
    {"embedder": Session(name="f", endpoint="h")}, {"embedder": Session(name="e", endpoint="i")},
    {"embedder": Session(name="e", endpoint=None)},
])
def test_the_signature_moves_with_the_model_its_address_its_parameters_and_its_language(other: dict[str, Any]) -> None:
    tools = Tools(
        models=cast(Any, Session(endpoint=settled(Endpoint("m", "http://h/v1", {"temperature": 0})), language="en")),
        embedder=cast(Any, Session(name="e", endpoint="h")),
    )
    metric = all_metrics()["answer_accuracy"]
    one, two = (metric_info(metric, MetricSettings(), tooling(made)) for made in (tools, replace(tools, **other)))
    assert one.signature != two.signature and one.parameters != two.parameters
