"""What the tests of the judge share: rows, and scoring them with nothing but the judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from kgeval.llm.asker import Asker, Dry, Live
from kgeval.llm.calls import Limits
from kgeval.llm.plan import Plan
from kgeval.llm.session import Models
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.engine import RowResult, Tools, result
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.judge.gather import ask_facts
from kgeval.metrics.select import Selection, select
from kgeval.records import Answer, Passage, Question, Row, Score

USUAL = ("factual_correctness", "faithfulness", "evidence_recall", "context_relevance", "evidence_coverage")
ALL = (
    *USUAL, "factual_correctness_printed", "statement_precision", "evidence_coverage_compat", "answer_completeness", "binary_accuracy",
    "citation_precision", "citation_coverage", "intrinsic_hallucination", "extrinsic_hallucination", "context_relevance_compat",
    "context_precision", "claim_recall",
)


def row(n: int, answer: str = "Paris is in France.", *, system: str = "s", **fields: Any) -> Row:
    """A row; fields of the question and of the answer by their names, contexts and evidence as texts."""
    fields = {"reference": "Paris is in France.", "contexts": ["Paris is in France."], "evidence": ["Paris is in France."]} | fields
    own = {name: fields.pop(name) for name in ("citations", "error") if name in fields}
    for name in ("contexts", "evidence"):
        fields[name] = [text if isinstance(text, Passage) else Passage(text=text) for text in fields[name]]
    contexts, question = fields.pop("contexts"), fields.pop("question", f"What is asked in {n}?")
    return Row(
        n=n, where=f"x:{n}", question=Question(id=f"q{n}", question=question, **fields),
        answer=Answer(question_id=f"q{n}", system=system, answer=answer, contexts=contexts, **own),
    )


def judged(models: Models, rows: Iterable[Row], metrics: Sequence[str] = USUAL, *, trials: int = 1) -> list[RowResult]:
    """Each row's scores and verdicts, on the session's threads."""
    selection = select(metrics)
    subjects = [Subject(one, RowFacts(), MetricSettings(), trial) for one in rows for trial in range(trials)]
    work = partial(_asked, selection=selection, asker=Live(models))
    return [result(subject, selection, Tools()) for subject in models.map(work, subjects)]


def planned(models: Models, rows: Iterable[Row], metrics: Sequence[str] = USUAL, *, trials: int = 1) -> Plan:
    """The dry run of the same."""
    selection, dry = select(metrics), Dry(models)
    for one in rows:
        for trial in range(trials):
            _asked(Subject(one, RowFacts(), MetricSettings(), trial), selection=selection, asker=dry)
    return Plan(dry.stages(), Limits())


def _asked(subject: Subject, *, selection: Selection, asker: Asker) -> Subject:
    ask_facts(subject, selection.facts_of(subject.row), asker)
    return subject


def by_name(made: RowResult) -> dict[str, Score]:
    return {score.metric: score for score in made.scores}
