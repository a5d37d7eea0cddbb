"""Scores of answers, the verdicts behind them, and the summary of a run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from kgeval.records.base import FilePath, OfMetric, Public, PublicRecord, Record
from kgeval.records.gate import Gate
from kgeval.records.manifest import RunReport
from kgeval.records.outcome import Conclusion, Outcome
from kgeval.records.pictures import Picture

ScoreStatus = Literal["scored", "unscored", "not_applicable"]
By = Literal["level", "kind", "hops", "document", "dataset", "context"]
GainBy = Literal["level", "hops"]
SurvivalCheck = Literal["answer metrics", "grounded extras", "missing claims", "groups", "failed rows"]


CONTEXT_EDGES = tuple(1_000 * 2**step for step in range(10))  # characters; the last is about 128,000 tokens of English
CONTEXT_LENGTHS = ("none", *(f"to {edge:,}" for edge in CONTEXT_EDGES), f"above {CONTEXT_EDGES[-1]:,}")


class Score(Record):
    """One metric of one answer. `value` in 0..1 if scored, else null. `reason`: the cause of unscored (a word for counting, then a
    colon and the rest), why the metric has no meaning here, or what a metric of the user's own says of a value. `detail`:
    the counts behind the value. `trial`: which repetition.

    `signature` names metric, version and a hash of all that the number depends on; the report spells it out.
    """

    question_id: str
    system: str
    metric: str
    value: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    status: ScoreStatus
    reason: str | None = None
    detail: dict[str, JsonValue] = Field(default_factory=dict)
    signature: str
    trial: int | None = None


class Verdict(Record):
    """What was said of one numbered item. `metric`: what the item is, and what it was checked against (answer_claims@contexts).

    `label`: supported, contradicted, not_stated, or as the check says; null: unscored, `reason` has the cause.
    `sources`: numbers of the passages that decide it, from 1. `call`: journal key of the reply.
    """

    question_id: str
    metric: str
    system: str
    item: int
    text: str
    label: str | None = None
    reason: str | None = None
    sources: list[int] = Field(default_factory=list)
    call: str | None = None
    trial: int | None = None


class MetricInfo(PublicRecord):
    """A metric as it was used. `parameters`: all that its signature stands for."""

    metric: str
    summary: str
    definition: str
    source: str
    better: Literal["higher", "lower"] = "higher"
    signature: str
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class Mean(Record):
    """A mean over questions (repetitions of a question are averaged first) with its 95 % interval.

    `n`: questions asked for; `n_scored`: with a value; `not_applicable`: left out, the metric has no meaning there; the rest
    failed, by cause in `failures`. `bound_low`, `bound_high`: the mean with the failed ones as 0 and as 1. `sd`: between questions.
    `groups`: of how many groups (documents, entities) the scored questions are, `effective`: as many independent questions would be as
    sure; both null where each question stands alone. With fewer than 6 groups there is no interval.
    """

    n: int
    n_scored: int
    not_applicable: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    sd: float | None = None
    groups: int | None = None
    effective: float | None = None
    failures: dict[Public, int] = Field(default_factory=dict)


class WithWithout(OfMetric):
    """One metric of one system over all questions, and without those that the closed book answers."""

    overall: Mean
    without: Mean


class Repeats(Record):
    """Spread between repeated runs: number of runs, their means, standard deviation between them and standard error of their mean."""

    runs: int
    means: list[float]
    sd: float | None = None
    se: float | None = None


class Spread(Record):
    """The distribution of the scored values: quantiles, and counts in equal bins of 0..1."""

    minimum: float | None = None
    q25: float | None = None
    median: float | None = None
    q75: float | None = None
    maximum: float | None = None
    bins: list[int] = Field(default_factory=list)


class MetricSummary(OfMetric):
    """One metric of one system. `by_type_mean`: unweighted mean of the levels' means (GraphRAG-Bench's way), beside `overall.mean`,
    which is over questions. `aspects`: means of figures in the scores' details (precision, recall...)."""

    overall: Mean
    by_type_mean: float | None = None
    repeats: Repeats | None = None
    spread: Spread = Field(default_factory=Spread)
    aspects: dict[Public, float] = Field(default_factory=dict)


class GroupSummary(OfMetric):
    """One metric of one system among the questions with `value` in the field `by`. `by` context: the answers whose contexts have that many
    characters together (one of CONTEXT_LENGTHS; the mean over the repetitions of a question)."""

    by: By
    value: str
    overall: Mean


class LeaderRow(Record):
    """A system's place, GraphRAG-Bench's way: `average` is the unweighted mean of `metric` over the levels in `levels`.

    `complete`: all four levels are there."""

    rank: int
    system: Public
    dataset: Public | None = None
    metric: Public
    average: float
    levels: dict[Public, float]
    complete: bool = True


class Quantiles(Record):
    """n values with p50, p95 and p99 (nearest rank, as they were seen)."""

    n: int
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class CostSummary(Record):
    """What a system's answers took. Totals and means are over answers that tell (`known`: how many do, by field).

    `latency_s`: in total; `stages`: by stage; `by_hops`, `prompt_tokens_by_level`: the same split. `factors`: this system's totals
    divided by the baseline's, over questions that both answered and tell. `quality_per_1k_tokens`: mean of a metric per 1,000 tokens.
    """

    system: Public
    n: int
    known: dict[Public, int] = Field(default_factory=dict)
    totals: dict[Public, float] = Field(default_factory=dict)
    means: dict[Public, float] = Field(default_factory=dict)
    latency_s: Quantiles | None = None
    ttft_s: Quantiles | None = None
    stages: dict[Public, Quantiles] = Field(default_factory=dict)
    by_hops: dict[Public, Quantiles] = Field(default_factory=dict)
    prompt_tokens_by_level: dict[Public, float] = Field(default_factory=dict)
    baseline: Public | None = None
    factors: dict[Public, float] = Field(default_factory=dict)
    quality_per_1k_tokens: dict[Public, float] = Field(default_factory=dict)


class ReasoningSummary(Record):
    """Chains of one system: accuracy by hop count, right steps, and what wrong steps lead to (counts beside every share).

    `error_propagation`: wrong answers among questions with a wrong step; `lucky`: right answers among them, both over those whose answer
    was scored (`wrong_step_answers`). `wrong_step_share`: questions with a wrong step among all multi-hop questions judged.
    `by_relation`, `by_position`: share of right steps.
    """

    system: Public
    accuracy_metric: Public
    accuracy_by_hop: dict[Public, Mean] = Field(default_factory=dict)
    stepwise_accuracy: Mean | None = None
    questions: int = 0
    with_wrong_step: int = 0
    wrong_step_answers: int = 0
    wrong_step_share: float | None = None
    error_propagation: float | None = None
    lucky: float | None = None
    by_relation: dict[Public, Mean] = Field(default_factory=dict)
    by_position: dict[Public, Mean] = Field(default_factory=dict)


class Gain(Record):
    """Difference of means between two systems on the questions that both have a score for, with its 95 % interval.

    `differ`: questions where the two values are not the same. `groups`, `effective`: as in `Mean`.
    """

    system: Public
    baseline: Public
    metric: Public
    n: int
    differ: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    groups: int | None = None
    effective: float | None = None


class PairedGain(Gain):
    """A gain with its tests, question by question, or group by group where questions come in groups.

    `p`: sign-flip permutation; `p_holm`: corrected by Holm for all that is tested with it. `effect`: Cohen's d of the differences, `sd`:
    their standard deviation. `only_system`, `only_baseline`: where every value is 0 or 1 and no question has repetitions (questions for
    which only the system, for which only the baseline has a 1); `mcnemar_p`: of these, where each question stands alone.
    `conclusion`: what may be concluded of the system (a) and the baseline (b); `because`: of `not decidable`: why.
    """

    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    sd: float | None = None
    mcnemar_p: float | None = None
    only_system: int | None = None
    only_baseline: int | None = None
    conclusion: Conclusion | None = None
    because: list[Public] = Field(default_factory=list)


class GroupGain(PairedGain):
    """A gain among the questions with `value` in the field `by`, of one dataset or (null) of all.

    `p_holm`: over all rows of this metric. `detectable`: the smallest difference that these questions (or groups of them) would show with
    80 % power in a test at 0.05 / tests of this metric, so that it would stand after the correction; null: none within the scale.
    """

    by: GainBy
    value: Public
    dataset: Public | None = None
    detectable: float | None = None


class BothMeans(Record):
    """What two systems took for the same `n` questions, on the mean."""

    n: int
    system: float
    baseline: float


class GroupCost(Record):
    """What answers took and brought in a group of `gains_by_group`, of the questions for which both systems tell. `context_tokens`: of what
    was retrieved, `prompt_tokens`: of all that the model read; `seconds`: of the answer. `relevance`: context_relevance, 0..1."""

    system: Public
    baseline: Public
    by: GainBy
    value: Public
    dataset: Public | None = None
    context_tokens: BothMeans | None = None
    prompt_tokens: BothMeans | None = None
    seconds: BothMeans | None = None
    relevance: BothMeans | None = None


class AuditJoin(OfMetric):
    """One metric of one system: questions whose path or evidence touches something that the audit flagged, against the others.

    `rule`: null: any rule. `difference`: touched minus untouched, with its 95 % interval."""

    rule: Public | None = None
    touched: Mean
    untouched: Mean
    difference: float | None = None
    low: float | None = None
    high: float | None = None


class WorstRow(OfMetric):
    """A row with a low value, and why. `path`: the question's gold path, its nodes and relations marked as found or missing where the
    answer tells what was retrieved."""

    question_id: Public
    value: float | None
    question: str = ""
    answer: str = ""
    reference: str | None = None
    reasons: list[str] = Field(default_factory=list)
    path: Picture | None = None


class SystemInfo(Record):
    """A system in this run: answers read, those that are errors, those that are empty without being errors, and questions of the file that
    it did not answer. `graph`: true where an answer names nodes or relations of a graph that were retrieved, null where nobody looked."""

    system: Public
    answers: int
    errors: int = 0
    empty: int = 0
    questions_missing: int = 0
    trials: int = 1
    graph: bool | None = None


class ClaimTotals(Record):
    """The claims of a system's answers, of `answers` of which all verdicts are known: what every metric over claims is a view of.

    Of the answer: `right` (the reference states it), `wrong` (it contradicts it); neither: `extra_grounded` (the contexts state it),
    `extra_ungrounded` (they do not), `extra_unknown` (nobody looked). Of the reference: `missing` (the answer does not state it).
    """

    system: Public
    answers: int
    right: int
    wrong: int
    extra_grounded: int
    extra_ungrounded: int
    extra_unknown: int
    missing: int


class ClaimRow(ClaimTotals):
    """The same of one answer, of those to the questions where the systems differ most by the headline's metric. `value`: that metric's."""

    question_id: Public
    value: float | None = None


class Survived(Record):
    """What a best system has to survive, against one other. `check`: other answer metrics, claims beyond the reference that are grounded
    count for nothing, claims that are missing count for nothing, groups, failed rows. `passed` null: it could not be tried. `because`: with
    the figures."""

    system: Public
    other: Public
    check: SurvivalCheck
    passed: bool | None = None
    because: Public


class LeftOutKnown(Record):
    """Questions that the figures of a report are without, because a model answers them without any text. `left_out` of the run's
    `questions`, by `ids`; `file` names them, by `metric` of the system `closed_book` (null: it has ids alone). `lost`: answerable ones of
    which it is not known, because the closed book has no score for them."""

    file: FilePath
    questions: int
    left_out: int
    closed_book: Public | None = None
    metric: Public | None = None
    lost: int = 0
    ids: list[Public] = Field(default_factory=list)


class KnownInScores(LeftOutKnown):
    """The same of scores, with every mean on all questions and without the known ones."""

    scores: list[WithWithout] = Field(default_factory=list)


class ScoreReport(RunReport):
    """The summary of a scoring run. `complete`: every row was scored or has its reason; else the run was stopped.

    `gains_by_group`, `costs_by_group`: pairs of systems by level and by hops, where there are several; a system whose answers come from
    a graph stands before one whose do not. `known`: questions that all figures but its own are without. `drawn`: what questions share
    that say less together than as many alone (document, entity, or the field that was named); `question`: each stands alone.
    `outcomes`: what may be concluded by the headline's metric, of the best system (or each) and the others (or the baseline); `survived`:
    what a best system has to survive. `claims`, `claim_rows`: the claims behind the metrics over claims.
    """

    complete: bool = True
    known: KnownInScores | None = None
    systems: list[SystemInfo] = Field(default_factory=list)
    metrics: list[MetricInfo] = Field(default_factory=list)
    summaries: list[MetricSummary] = Field(default_factory=list)
    groups: list[GroupSummary] = Field(default_factory=list)
    leaderboard: list[LeaderRow] = Field(default_factory=list)
    costs: list[CostSummary] = Field(default_factory=list)
    reasoning: list[ReasoningSummary] = Field(default_factory=list)
    drawn: Public = "question"
    outcomes: list[Outcome] = Field(default_factory=list)
    survived: list[Survived] = Field(default_factory=list)
    claims: list[ClaimTotals] = Field(default_factory=list)
    claim_rows: list[ClaimRow] = Field(default_factory=list)
    gains: list[PairedGain] = Field(default_factory=list)
    gains_by_group: list[GroupGain] = Field(default_factory=list)
    costs_by_group: list[GroupCost] = Field(default_factory=list)
    joined: list[AuditJoin] = Field(default_factory=list)
    worst: list[WorstRow] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
