"""A matrix of runs: metrics over data sets, readers, shares of the corpus and graph variants; and what one change at a time does."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, PublicRecord, Record
from kgeval.records.manifest import RunReport
from kgeval.records.scores import CostSummary, Spread

Axis = Literal["setting", "variant", "share", "reader"]


class RunPlace(PublicRecord):
    """One place of a matrix; null: the matrix does not have this axis. `share`: of the documents, 0..1; above 1: the tokens of documents
    that were aimed at."""

    dataset: str | None = None
    variant: str | None = None
    share: float | None = None
    reader: str | None = None

    @property
    def corpus_rank(self) -> float:
        """The order of sizes: 1 is the whole corpus, and so above every number of tokens."""
        return inf if self.share is None or self.share == 1 else self.share


class KeptCorpus(Record):
    """What a share of the corpus came to: documents and tokens that the graph of a place was built from, and those of the largest share.
    Documents that questions name are in every share, so it may be more than what was asked for."""

    place: RunPlace
    documents: int
    of_documents: int
    tokens: int
    of_tokens: int


class KnownAtPlace(Record):
    """The questions that the figures of a place are without, because a model answers them without any text."""

    place: RunPlace
    questions: int
    left_out: int


class CrossedCell(Record):
    """One metric of one system at one place. `dataset` null in `place` with `datasets` > 1: the unweighted mean over the data sets, its
    interval by resampling the questions of each. `n`: questions asked for; `n_scored`: with a value. `spread`: how their values
    lie, at one data set; null for the mean over data sets."""

    place: RunPlace
    system: Public
    metric: Public
    datasets: int = 1
    n: int
    n_scored: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    spread: Spread | None = None


class CrossedChange(Record):
    """What one change does, everything else as it was: mean of the paired differences (changed minus base) over the questions that both
    have a value for, with its interval; over data sets: the unweighted mean of theirs.

    `axis`: what was changed: a setting of the system (an ablation), the graph's construction, the corpus, the reader. `p`: sign-flip;
    `p_holm`: corrected over the whole report. `better`: which way it goes, where p_holm < 0.05; null: not sure.
    """

    axis: Axis
    base: Public
    changed: Public
    place: RunPlace
    system: Public
    metric: Public
    datasets: int = 1
    n: int
    base_mean: float | None = None
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    better: bool | None = None


class CrossedCost(Record):
    """What the answers of one system took at one place."""

    place: RunPlace
    cost: CostSummary


class GraphTook(PublicRecord):
    """What a graph was built from and what that took; null: not known. `cost` in USD."""

    documents: int | None = None
    chunks: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


class CrossedGraph(Record):
    """The graph of a place (`reader` null: it does not depend on who reads it). `structure`: figures of its audit by their ids."""

    place: RunPlace
    structure: dict[Public, float] = Field(default_factory=dict)
    construction: GraphTook | None = None

    def size(self, unit: str) -> float | None:
        """Tokens of its corpus, or entities; None where that is not known."""
        took = self.construction
        if unit == "tokens":
            return None if took is None or took.tokens is None else float(took.tokens)
        return self.structure.get("entities")


def size_unit(graphs: Sequence[CrossedGraph]) -> str:
    """By what graphs are compared in size: tokens of their corpora where all tell them, else entities."""
    return "tokens" if graphs and all(graph.size("tokens") for graph in graphs) else "entities"


class CostGrowth(Record):
    """How many times as much the answers of a system take at the place with the largest graph as at that with the smallest. `size`,
    `of_size`: of both, in `unit` (tokens of the corpus, or entities). `factors`: by figure: input_tokens, output_tokens, cost (means an
    answer), seconds_p50, seconds_p95, seconds_p99 and retrieval_p50, ... (quantiles over answers)."""

    system: Public
    smallest: RunPlace
    largest: RunPlace
    unit: Public
    size: float
    of_size: float
    factors: dict[Public, float] = Field(default_factory=dict)


class CrossedReport(RunReport):
    """All places of a run's matrix beside each other, by data set and as the mean over data sets."""

    datasets: list[Public] = Field(default_factory=list)
    variants: list[Public] = Field(default_factory=list)
    shares: list[float] = Field(default_factory=list)
    corpora: list[KeptCorpus] = Field(default_factory=list)
    readers: list[Public] = Field(default_factory=list)
    systems: list[Public] = Field(default_factory=list)
    metrics: list[Public] = Field(default_factory=list)
    lower_is_better: list[Public] = Field(default_factory=list)
    cells: list[CrossedCell] = Field(default_factory=list)
    changes: list[CrossedChange] = Field(default_factory=list)
    costs: list[CrossedCost] = Field(default_factory=list)
    graphs: list[CrossedGraph] = Field(default_factory=list)
    growth: list[CostGrowth] = Field(default_factory=list)
    known: list[KnownAtPlace] = Field(default_factory=list)
    missing: list[Public] = Field(default_factory=list)
    notes: list[Public] = Field(default_factory=list)
