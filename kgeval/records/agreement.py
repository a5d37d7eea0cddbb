"""How far people agree with each other, and how far metrics and judges agree with people; metrics against metrics."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import SCHEMA_VERSION, Public, Record
from kgeval.records.comparison_judge import Estimated
from kgeval.records.manifest import RunReport

LabelScope = Literal["pairs", "answers"]
AgreementBy = Literal["all", "level", "dataset", "difficulty"]
PredictorKind = Literal["people", "metric", "judge", "length"]
MatrixBy = Literal["all", "dataset", "pair_kind"]


class SheetItem(Record):
    """One item of a set of sheets: a pair of answers to a question, or one answer. `systems`: A and B, or the one system.

    `difficulty`: the stratum beside level or type: hops, or how far scores differ. `trial`: which of repeated answers."""

    question_id: str
    systems: list[str]
    dataset: str | None = None
    level: str | None = None
    difficulty: str | None = None
    trial: int | None = None


class SheetKey(Record):
    """What the sheets of one run hide: which item is which, and which system stands first on whose sheet. Kept apart from the sheets.

    `items`: by item id; `first`: annotator -> item id -> the system whose answer is answer 1. An annotator's items are the keys there.
    """

    schema_version: Literal["1"] = SCHEMA_VERSION
    run: str
    scope: LabelScope
    aspects: list[str]
    seed: int
    items: dict[str, SheetItem]
    first: dict[str, dict[str, str]]


class AnnotatorPair(Record):
    """Two annotators on the `n` items that both labelled, in one aspect. `raw`: share with the same label; `within_one`: at most one step
    apart; `kappa`, `linear`, `quadratic`: Cohen's kappa without weights, with weights by steps and by squared steps."""

    first: str
    second: str
    aspect: Public
    n: int
    raw: Estimated = Field(default_factory=Estimated)
    within_one: Estimated = Field(default_factory=Estimated)
    kappa: Estimated = Field(default_factory=Estimated)
    linear: Estimated = Field(default_factory=Estimated)
    quadratic: Estimated = Field(default_factory=Estimated)


class PeopleAgreement(Record):
    """All annotators in one aspect, on one group of items. `items`: with a label; `items_twice`: with two or more, which the figures are
    over. `raw`, `within_one`: over all pairs of labels of one item. Alphas: Krippendorff's. `tied`: items without a majority."""

    aspect: Public
    by: AgreementBy = "all"
    value: Public | None = None
    items: int
    items_twice: int
    labels: int
    annotators: int
    raw: Estimated = Field(default_factory=Estimated)
    within_one: Estimated = Field(default_factory=Estimated)
    alpha_nominal: Estimated = Field(default_factory=Estimated)
    alpha_ordinal: Estimated = Field(default_factory=Estimated)
    alpha_interval: Estimated = Field(default_factory=Estimated)
    tied: int = 0


class AnnotatorAgreement(Record):
    """One annotator against all others (leave one out), in one aspect. `spearman`: their labels with the others' mean label of the item;
    `bias`: their label minus that mean; `used`: how often each label."""

    annotator: str
    aspect: Public
    n: int
    spearman: Estimated = Field(default_factory=Estimated)
    bias: Estimated = Field(default_factory=Estimated)
    used: dict[Public, int] = Field(default_factory=dict)


class PredictorAgreement(Record):
    """How far something agrees with people's labels in one aspect: a metric, a judge, the length of answers, or the other annotators.

    For pairs: the difference (A minus B) against the preference (positive: A is better). `n`: labels; `items` of them; `missing`: items
    with a label and without a value, by cause. `spearman`, `kendall`, `pearson`: over labels, intervals over questions. `spearman_mean`:
    over items, with the mean label of each. `concordance`: among pairs that people decided, the share where the preferred answer has the
    higher value, equal values half. `winner`, `winner_kappa`: same winner (A, B, equal) as the majority, of a judge.
    `fits`: it measures this very aspect (the metric faithfulness beside labels of faithfulness). `reason`: why there is no figure.
    """

    predictor: Public
    kind: PredictorKind
    aspect: Public
    by: AgreementBy = "all"
    value: Public | None = None
    n: int
    items: int
    fits: bool = False
    missing: dict[Public, int] = Field(default_factory=dict)
    spearman: Estimated = Field(default_factory=Estimated)
    kendall: Estimated = Field(default_factory=Estimated)
    pearson: Estimated = Field(default_factory=Estimated)
    spearman_mean: Estimated = Field(default_factory=Estimated)
    concordance: Estimated = Field(default_factory=Estimated)
    winner: Estimated = Field(default_factory=Estimated)
    winner_kappa: Estimated = Field(default_factory=Estimated)
    reason: Public | None = None


class Nearest(Record):
    """A predictor's place by nearness to people in one aspect, from 1; equal ones share one. `behind`: Spearman of the nearest minus its
    own, on the labels that both have a value for, with its interval; `told_apart`: that interval does not hold 0. The first has neither."""

    aspect: Public
    rank: int
    predictor: Public
    n: int
    spearman: float
    behind: Estimated = Field(default_factory=Estimated)
    told_apart: bool | None = None


class AgreementReport(RunReport):
    """Agreement of people with each other and of metrics and judges with people. `scale`: the labels, in their order.

    `labels`, `items`, `questions`: read; `annotators`: labels of each.
    """

    scope: LabelScope
    scale: list[Public]
    seed: int
    items: int
    questions: int
    labels: int
    annotators: dict[str, int]
    people: list[PeopleAgreement] = Field(default_factory=list)
    pairs: list[AnnotatorPair] = Field(default_factory=list)
    each: list[AnnotatorAgreement] = Field(default_factory=list)
    predictors: list[PredictorAgreement] = Field(default_factory=list)
    nearest: list[Nearest] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class MatrixCell(Record):
    """The correlation of two metrics over the `n` answers that have both scores. `reason`: why there is no figure."""

    first: Public
    second: Public
    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: Public | None = None


class MatrixGroup(Record):
    """The cells of one group: all answers, one data set, or the metrics of one pair of texts (`by` pair_kind, also within a data set).

    `constant`: metrics with one and the same value throughout (their value), which correlate with nothing. `n`: scores of each metric."""

    by: MatrixBy = "all"
    value: Public | None = None
    dataset: Public | None = None
    metrics: list[Public]
    n: dict[Public, int] = Field(default_factory=dict)
    constant: dict[Public, float] = Field(default_factory=dict)
    cells: list[MatrixCell] = Field(default_factory=list)


class MatrixReport(RunReport):
    """Every metric against every other. `coefficient`: which correlation. Intervals are over questions."""

    coefficient: Literal["spearman", "kendall", "pearson"] = "spearman"
    seed: int
    questions: int
    systems: list[Public] = Field(default_factory=list)
    groups: list[MatrixGroup] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
