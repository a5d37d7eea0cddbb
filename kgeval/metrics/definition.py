"""What a metric is: a name, a definition with its source, what it needs of a row, what it asks for, and a pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from pydantic import JsonValue

from kgeval.config import Criterion
from kgeval.errors import UndeclaredSettingError
from kgeval.llm.calls import Failure
from kgeval.metrics.facts import RowFacts, fact_settings
from kgeval.records import Row, ScoreStatus

Group = Literal["answers", "grounding", "retrieval", "kg", "reasoning", "own"]
Need = Literal[
    "reference", "contexts", "passages", "context_ids", "evidence", "evidence_ids", "points", "statements", "citations", "cited_document",
    "document", "path", "steps", "reasoning", "cypher", "gold_cypher", "retrieved", "kind",
]
Tool = Literal["judge", "embedder", "graph", "gds", "bert-score"]


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """All that a number may depend on beside the row and the models. A metric reads them through a SettingsView."""

    accuracy_weight: float = 0.75
    relevant_from: float = 0.5
    tau: float = 0.7
    delta: float = 0.5
    edge_cost: float = 0.1
    edge_weight: float = 0.9
    undirected: bool = False
    community: Literal["leiden", "louvain"] = "leiden"
    runs: int = 20
    community_seed: int = 0
    candidates: int = 40
    query_timeout: float = 30.0
    ordered: bool = False
    bleu_tokenizer: Literal["13a", "intl", "zh", "char"] = "13a"
    bertscore_model: str = "roberta-large"


class SettingsView(MetricSettings):
    """The settings that a reader declares, and no others. What it holds (`values`) is what a signature stands for."""

    __slots__ = ("_names", "_reader")

    def __init__(self, reader: str, settings: MetricSettings, names: Iterable[str]) -> None:
        """`reader`: who reads, for the error. Raises: UndeclaredSettingError where `settings` is a view without one of the names."""
        object.__setattr__(self, "_reader", reader)
        object.__setattr__(self, "_names", tuple(names))
        for name in self._names:
            object.__setattr__(self, name, getattr(settings, name))

    def __getattr__(self, name: str) -> Any:  # of slots that nothing was put into
        if name not in SETTING_NAMES:
            raise AttributeError(name)
        raise UndeclaredSettingError(self._reader, name, self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SettingsView) and self.values == other.values

    def __hash__(self) -> int:
        return hash(tuple(self.values.items()))

    def __repr__(self) -> str:
        return f"SettingsView({self._reader!r}, {self.values})"

    @property
    def values(self) -> dict[str, JsonValue]:
        """Name -> value of each declared setting."""
        return {name: getattr(self, name) for name in self._names}


SETTING_NAMES = tuple(setting.name for setting in fields(MetricSettings))
NO_SETTINGS = SettingsView("what is no metric", MetricSettings(), ())


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
    `run_settings`: all settings of the run, to be handed on, not read. `settings`: those of the metric that computes; who finds out a fact
    gets its own by `settings_for`.
    """

    row: Row
    facts: RowFacts
    run_settings: MetricSettings
    trial: int = 0
    others: list[Subject] = field(default_factory=list)
    other: bool = False
    settings: SettingsView = NO_SETTINGS

    def settings_for(self, fact: str) -> SettingsView:
        """The settings that a fact declares (FACT_SETTINGS in facts.py)."""
        return SettingsView(f"the fact {fact}", self.run_settings, fact_settings(fact))

    @property
    def repetition(self) -> int | None:
        """Which repetition this is: of answering where the answers tell, else of judging."""
        return self.row.answer.trial if self.row.answer.trial is not None else (self.trial or None)


@dataclass(frozen=True)
class Metric:
    """A metric. `summary`: one line; `definition`: the formula in words; `source`: paper and formula number.

    `needs`: what the row must have, else the value is not_applicable. `asks`: names of the facts that it reads (facts.py).
    `tools`: what must be there to find them out. `settings`: names of the settings that `compute` reads; those that facts read are
    declared with the facts. `calls`: what a row costs when this metric is asked for alone, in words ("2", "1 a context"). `aspects`:
    numbers in `detail` that the summary averages too. `version` is raised when the number can change. `criterion`: of one's own, that
    the judge is asked about. `parameters`: what stands in its signature beside its settings.
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

    @property
    def declared(self) -> tuple[str, ...]:
        """Names of all settings that its values depend on, its own and those of its facts, in the order of MetricSettings."""
        names = {*self.settings, *(name for fact in self.asks for name in fact_settings(fact))}
        return tuple(name for name in SETTING_NAMES if name in names)

    def settings_view(self, settings: MetricSettings) -> SettingsView:
        """What its signature stands for, of the settings of a run."""
        return SettingsView(f"the metric {self.name}", settings, self.declared)

    def value(self, subject: Subject) -> MetricValue:
        """Its value for a subject whose facts are there. Raises: UndeclaredSettingError."""
        view = SettingsView(f"the metric {self.name}", subject.run_settings, self.settings)
        return self.compute(replace(subject, run_settings=view, settings=view))
