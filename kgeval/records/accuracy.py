"""Whether what a graph says is true: sampled, with intervals that fit the sample."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from kgeval.records.audit import Finding
from kgeval.records.base import Public, Record
from kgeval.records.gate import Gate
from kgeval.records.graph import GraphRef, GraphReport
from kgeval.records.texts import Passage

AccuracyKind = Literal["relations", "entities", "duplicates"]


class HumanLabel(Record):
    """A person's label of one item.

    Of answers (`kgeval annotate`): `metric` is the aspect. A pair (`system_a`, `system_b`): `label` in -2..2, positive: A better. One
    answer (`system_a` only): `label` in 0..5. `difficulty`: hops, or how far scores differ; `trial`: which of repeated answers.
    """

    id: str
    annotator: str = ""
    label: str
    question_id: str | None = None
    element: str | None = None
    metric: str | None = None
    system_a: str | None = None
    system_b: str | None = None
    dataset: str | None = None
    level: str | None = None
    difficulty: str | None = None
    trial: int | None = None
    note: str | None = None


class ItemVerdict(Record):
    """One sampled item, the passages it was judged on, and the labels. `status` unscored: `reason` has the cause.

    Labels of relations: entailed, contradicted, not_stated; of entities: right, wrong_type, not_an_entity; of pairs: same, different.
    `consistency`: consistent or inconsistent, by people alone. `flags`: redundant, irrelevant. `weight`: how many items of the graph this
    one stands for. `passages`: their places in the report's `passages`, from 0, the one through which the item was drawn first.
    """

    id: str
    item: GraphRef
    text: str
    status: Literal["scored", "unscored", "not_applicable"]
    label: Public | None = None
    human: Public | None = None
    consistency: Public | None = None
    reason: str | None = None
    flags: list[Public] = Field(default_factory=list)
    stratum: str | None = None
    cluster: str | None = None
    weight: float | None = None
    passages: list[int] = Field(default_factory=list)
    call: Public | None = None


class Estimate(Record):
    """A share with its 95 % interval. `n` items drawn, `n_scored` of them with a label; the bounds count the others as wrong and as right.

    `method` names estimator and interval; `labelled_by`: judge (uncorrected), people, or judge corrected by people.
    `design_effect`: as seen; `interval_effect`: as the interval uses it (at least 1, steadied where few clusters show an error).
    """

    of: Public
    labelled_by: Literal["judge", "people", "judge corrected by people"]
    method: Public
    n: int
    n_scored: int
    clusters: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    design_effect: float | None = None
    interval_effect: float | None = None
    failures: dict[Public, int] = Field(default_factory=dict)


class SampleDesign(Record):
    """How the sample was drawn. `population`: items that could be drawn; `without_source`: items without a passage, not judged."""

    method: Public
    seed: int
    wanted: int
    drawn: int
    population: int
    without_source: int
    clusters: int
    clusters_drawn: int
    strata: dict[Public, int] = Field(default_factory=dict)


class CalibrationBin(Record):
    """Relations with a stored confidence in [low, high): mean confidence and judged accuracy."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


class AccuracyReport(GraphReport):
    """Accuracy of one graph by sampling. `needed`: sample size for a wanted half-width (as text, "0.05"), null where it is more than
    100,000. `by_stratum`: of types crossed with documents. `consistent_by_type`: the share that people call consistent.

    `passages`: each text once, however many `items` were judged on it.
    """

    kind: AccuracyKind
    design: SampleDesign
    estimates: list[Estimate]
    by_type: list[Estimate] = Field(default_factory=list)
    by_document: list[Estimate] = Field(default_factory=list)
    by_stratum: list[Estimate] = Field(default_factory=list)
    consistent_by_type: list[Estimate] = Field(default_factory=list)
    labels: dict[Public, int] = Field(default_factory=dict)
    flags: dict[Public, int] = Field(default_factory=dict)
    needed: dict[Public, int | None] = Field(default_factory=dict)
    agreement: dict[Public, float | int | None] = Field(default_factory=dict)
    calibration: list[CalibrationBin] = Field(default_factory=list)
    duplicates: dict[Public, float | int | None] = Field(default_factory=dict)
    by_class: list[Estimate] = Field(default_factory=list)
    items: list[ItemVerdict] = Field(default_factory=list)
    passages: list[Passage] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _passages_are_there(self) -> Self:
        lacking = [item.id for item in self.items for at in item.passages if not 0 <= at < len(self.passages)]
        if lacking:
            raise ValueError(f"item {lacking[0]} names a passage that is not in the report")
        return self

    def passages_of(self, item: ItemVerdict) -> list[Passage]:
        """The passages that an item was judged on."""
        return [self.passages[at] for at in item.passages]
