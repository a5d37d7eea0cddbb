"""What a metric is: a name, a definition with its source, what it needs of a row, what it asks for, and a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from kgeval.config import Criterion
from kgeval.llm.calls import Failure
from kgeval.metrics.facts import RowFacts
from kgeval.records import Row, ScoreStatus

Group = Literal["answers", "grounding", "retrieval", "kg", "reasoning", "own"]
Need = Literal[
    "reference", "contexts", "passages", "context_ids", "evidence", "gold_ids", "points", "statements", "citations", "cited_document",
    "document", "path", "steps", "reasoning", "cypher", "gold_cypher", "retrieved", "kind",
]
Tool = Literal["judge", "embedder", "graph", "gds", "bert-score"]


@dataclass(frozen=True)
class MetricSettings:
    """All that a number may depend on beside the row and the models. What a metric reads of it stands in its signature."""

    accuracy_weight: float = 0.75
    relevant_from: float = 0.5
    tau: float = 0.7
    delta: float = 0.5
    edge_cost: float = 0.1
    edge_weight: float = 0.9
    undirected: bool = False
    community: Literal["leiden", "louvain"] = "leiden"
    runs: int = 20
    seed: int = 0
    candidates: int = 40
    query_timeout: float = 30.0
    ordered: bool = False
    bleu_tokenizer: Literal["13a", "intl", "zh", "char"] = "13a"
    bertscore_model: str = "roberta-large"


@dataclass(frozen=True)
class MetricValue:
    """What a metric makes of one row. `cause`: a word for counting, of an unscored value."""

    status: ScoreStatus
    value: float | None = None
    cause: str | None = None
    reason: str | None = None
    detail: Mapping[str, JsonValue] = field(default_factory=dict)


def scored(value: float, /, **detail: JsonValue) -> MetricValue:
    """A value in 0..1. Raises: ValueError for anything else: a metric must not invent numbers."""
    if not 0 <= value <= 1:
        raise ValueError(f"a score of {value} is not in 0..1")
    return MetricValue("scored", float(value), detail=detail)


def unscored(failure: Failure, /, **detail: JsonValue) -> MetricValue:
    """We failed: there is no value, and this is why."""
    return MetricValue("unscored", cause=failure.cause, reason=failure.detail, detail=detail)


def not_applicable(reason: str, /, **detail: JsonValue) -> MetricValue:
    """The metric has no meaning for this row."""
    return MetricValue("not_applicable", reason=reason, detail=detail)


def reason_of(cause: str, detail: str | None) -> str:
    """Why something is unscored, as scores and verdicts have it: the cause, a colon and the rest."""
    return f"{cause}: {detail}" if detail else cause


@dataclass
class Subject:
    """One row with what was found out about it; what a metric's function gets. `trial`: which repetition of the judging.

    `others`: the same row with each further right answer instead of the first, and what was found out about that one (`other`).
    """

    row: Row
    facts: RowFacts
    settings: MetricSettings
    trial: int = 0
    others: list[Subject] = field(default_factory=list)
    other: bool = False

    @property
    def repetition(self) -> int | None:
        """Which repetition this is: of answering where the answers tell, else of judging."""
        return self.row.answer.trial if self.row.answer.trial is not None else (self.trial or None)


@dataclass(frozen=True)
class Metric:
    """A metric. `summary`: one line; `definition`: the formula in words; `source`: paper and formula number.

    `needs`: what the row must have, else the value is not_applicable. `asks`: names of the facts that it reads (facts.py).
    `tools`: what must be there to find them out. `settings`: names of the MetricSettings fields that it depends on.
    `calls`: what a row costs when this metric is asked for alone, in words ("2", "1 a context"). `aspects`: numbers in `detail` that
    the summary averages too. `version` is raised when the number can change. `criterion`: of one's own, that the judge is asked about.
    `parameters`: what stands in its signature beside its settings.
    """

    name: str
    group: Group
    summary: str
    definition: str
    source: str
    compute: Callable[[Subject], MetricValue]
    needs: tuple[Need, ...] = ()
    asks: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    settings: tuple[str, ...] = ()
    calls: str = "0"
    better: Literal["higher", "lower"] = "higher"
    aspects: tuple[str, ...] = ()
    version: int = 1
    criterion: Criterion | None = None
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
