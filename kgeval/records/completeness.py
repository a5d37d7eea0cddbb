"""What a graph lacks of a gold set."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.audit import Finding
from kgeval.records.base import Public, PublicJson, Record
from kgeval.records.gate import Gate
from kgeval.records.graph import GraphRef, GraphReport
from kgeval.records.texts import Passage

Level = Literal["exact", "normalised", "alias", "fuzzy", "embedding"]
LEVELS: tuple[Level, ...] = ("exact", "normalised", "alias", "fuzzy", "embedding")
Band = Literal["critical", "acceptable", "strong"]
CompletenessScope = Literal["documents", "whole_graph", "unmatched"]


class Proportion(Record):
    """`count` of `total`; `share` in 0..1, null if total is 0; `low`, `high`: 95 % interval (Wilson) where one is given."""

    count: int
    total: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class Coverage(Record):
    """The figures of completeness. Relations: ends joined in either direction; in the gold direction; and also with the
    predicate (over the gold triples that have one). `relation_pairs`: distinct pairs of ends, whatever predicate and direction."""

    entity_coverage: Proportion
    relation_completeness: Proportion
    relation_completeness_directed: Proportion
    relation_completeness_with_predicate: Proportion
    relation_pairs: Proportion | None = None


class GoldMatch(Record):
    """One gold item and what stands for it in the graph. `level` null: missing. `found` are all matches at that level.

    A relation's name is `A -[TYPE]-> B`. `score`: similarity at the fuzzy (0..100) and embedding (0..1) levels.
    """

    kind: Literal["entity", "relation"]
    name: str
    type: Public | None = None
    document: str | None = None
    level: Level | None = None
    score: float | None = None
    directed: bool | None = None
    predicate: bool | None = None
    bridging: bool | None = None
    found: list[GraphRef] = Field(default_factory=list)
    why: str | None = None


class GoldSet(Record):
    """What the gold set was. `label` is printed beside every figure: "gold", or for an ideal graph the model that made it."""

    label: Public
    entities: int
    triples: int
    duplicates: int = 0
    documents: list[str] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class IdealGraph(Record):
    """How an extractor made the gold set [M, RAKG style]. A model's work is no truth: `precision` says how much of a sample people
    held to be right (keys: entities, triples; empty: nobody looked). `sampled`: items of the sheet for people; `labelled`: with a label.
    What it took stands in the report's `run`.
    """

    extractor: Public
    signature: Public
    documents: int
    chunks: int
    failures: dict[Public, int] = Field(default_factory=dict)
    sampled: int = 0
    labelled: int = 0
    precision: dict[Public, Proportion] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)


class Control(Record):
    """Coverage of gold that should not be there: if it is high, the matching is too generous."""

    how: str
    entity_coverage: Proportion
    relation_completeness: Proportion


class Judgement(Record):
    """The verdict on a share: below 70 % critical, up to 85 % acceptable, above strong [M]. `source` says whose bands these are."""

    figure: Public
    level: Level
    share: float | None
    band: Band | None
    source: Public


class FactVerdict(Record):
    """One gold sentence, and whether it follows from what the graph holds near it. `value` null: unscored, `reason` says why."""

    id: str
    fact: str
    document: str | None = None
    value: bool | None = None
    reason: str | None = None
    retrieved: list[str] = Field(default_factory=list)


class FactRetention(Record):
    """Share of gold sentences that follow from the graph [MINE]. `k` entities nearest by embedding, `hops` around them."""

    k: int
    hops: int
    n: int
    n_scored: int
    retention: Proportion
    bound_low: float
    bound_high: float
    failures: dict[Public, int] = Field(default_factory=dict)
    embedding_model: Public
    judge: Public
    facts: list[FactVerdict] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class CompletenessReport(GraphReport):
    """Completeness of one graph against one gold set. `levels` are cumulative; `apart` counts what each level alone added.

    `scope`: where gold items were looked for: among the entities of their documents; in the whole graph, because the gold names no
    document or the user said so; or there because none of the gold's documents could be matched with the graph's (`unmatched`: the
    figures are too high, and no verdict is given).
    `by_type`, `by_document`, `by_predicate`, `bridging` and `control` are at `verdict_level`. `settings`: thresholds of the levels.
    """

    gold: GoldSet
    verdict_level: Level | None = None
    scope: CompletenessScope
    settings: dict[Public, PublicJson] = Field(default_factory=dict)
    levels: dict[Level, Coverage]
    apart: dict[Level, dict[Public, int]] = Field(default_factory=dict)
    by_type: dict[Public, Coverage] = Field(default_factory=dict)
    by_document: dict[str, Coverage] = Field(default_factory=dict)
    by_predicate: dict[Public, Proportion] = Field(default_factory=dict)
    bridging: dict[Public, Proportion] = Field(default_factory=dict)
    control: Control | None = None
    control_missing: str | None = None
    verdicts: list[Judgement] = Field(default_factory=list)
    matched: list[GoldMatch] = Field(default_factory=list)
    missing: list[GoldMatch] = Field(default_factory=list)
    facts: FactRetention | None = None
    ideal: IdealGraph | None = None
    sample: list[Passage] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
