"""Statistics on the scores and verdicts that people bring from their own judge."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Cause, OfMetric, OfPair, Public, Record
from kgeval.records.comparison import PairResult, Ranking
from kgeval.records.comparison_judge import CorrectedRate, Drift, Estimated, JudgeReport, SelfCheck
from kgeval.records.manifest import RunReport
from kgeval.records.outcome import Outcome

StatsKind = Literal["paired", "rank", "judge", "power", "correct", "aa", "sequential", "drift"]


class StatsInput(Record):
    """What was read of one file."""

    file: Public
    rows: int


class StatsMean(OfMetric):
    """A system's mean of one metric over questions (trials of a question are averaged first). `n`: questions asked for; `n_scored`: with a
    value; the rest by cause in `failures`. `groups`, `effective`: as of PairedResult."""

    n: int
    n_scored: int
    failures: dict[Cause, int] = Field(default_factory=dict)
    mean: Estimated = Field(default_factory=Estimated)
    groups: int | None = None
    effective: float | None = None


class PairedResult(OfPair):
    """Two systems on the same questions, A minus B, by question.

    `n`: questions that both shall have; `n_scored`: with a value of both; the rest by cause in `failures`. `p`: sign-flip permutation,
    `p_holm`: over everything printed together; `mcnemar_p`, `only_a`, `only_b`: where every value is 0 or 1 (questions that only A, only B
    gets right). `effect`: Cohen's d of the differences; `superiority`: P(A better) + P(equal) / 2. `sd`: of the differences.
    `detectable`: the smallest difference that this sample would find with 80 % power; `needed`: questions for the difference seen, null
    where no number is enough; `needed_above`: more than so many are needed, and `needed` is null. `groups`: of how many groups (documents,
    or what --cluster names) the scored questions are, `effective`: as many that stand alone would be as sure; null where each stands
    alone. In groups there is no `wilcoxon_p` and no `mcnemar_p`, and under 6 of them no interval.
    """

    metric: Public
    n: int
    n_scored: int
    groups: int | None = None
    effective: float | None = None
    failures: dict[Cause, int] = Field(default_factory=dict)
    mean_a: float | None = None
    mean_b: float | None = None
    difference: Estimated = Field(default_factory=Estimated)
    sd: float | None = None
    p: float | None = None
    p_holm: float | None = None
    wilcoxon_p: float | None = None
    mcnemar_p: float | None = None
    only_a: int | None = None
    only_b: int | None = None
    effect: float | None = None
    superiority: float | None = None
    detectable: float | None = None
    needed: int | None = None
    needed_above: int | None = None


class PowerRow(Record):
    """What a number of questions is good for. `sd`: of the questions' differences. With `n` given, `detectable` follows; with
    `difference` given, `needed` does, or `needed_above` where more than so many are needed. `tier`: quick, standard, comprehensive [M]."""

    system_a: Public | None = None
    system_b: Public | None = None
    metric: Public | None = None
    sd: float
    power: float
    n: int | None = None
    detectable: float | None = None
    difference: float | None = None
    needed: int | None = None
    needed_above: int | None = None
    tier: Public | None = None


class CorrectedShare(Record):
    """A share that a judge gave, corrected by labels of people. `method`: judge (as it is), people (their labels alone), ppi++,
    rogan-gladen. `n`: items judged, `labels`: items labelled. `power`: PPI++'s lambda; `reason`: why a figure is lacking."""

    method: Public
    n: int
    labels: int
    share: Estimated = Field(default_factory=Estimated)
    power: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    reason: Public | None = None


class SequencePoint(Record):
    """The confidence sequence after `n` questions."""

    n: int
    mean: float
    low: float
    high: float


class SequenceResult(OfPair):
    """A stream of outcomes in -1..1 under a confidence sequence: its interval holds at every point together.

    `decision`: a, b, equal (inside the tie region), or open; `decided_at`: after how many questions. `fixed`: the plain interval of all
    questions, which holds only where nobody looked before.
    """

    n: int
    failures: int = 0
    tie_region: float
    decision: Literal["a", "b", "equal", "open"] = "open"
    decided_at: int | None = None
    relative: Estimated = Field(default_factory=Estimated)
    fixed: Estimated = Field(default_factory=Estimated)
    path: list[SequencePoint] = Field(default_factory=list)


class StatsReport(RunReport):
    """What `kgeval stats` found. `kind`: the sub-command; only its parts are filled. `outcomes`: what `paired` lets one conclude, a row
    each, the higher score being the better one. `selection_p`: a small one says that labels are no
    random part of what was judged, and then no correction holds."""

    kind: StatsKind
    seed: int
    confidence: float = 0.95
    inputs: list[StatsInput] = Field(default_factory=list)
    systems: list[StatsMean] = Field(default_factory=list)
    paired: list[PairedResult] = Field(default_factory=list)
    outcomes: list[Outcome] = Field(default_factory=list)
    pairs: list[PairResult] = Field(default_factory=list)
    ranking: Ranking | None = None
    judge: list[JudgeReport] = Field(default_factory=list)
    power: list[PowerRow] = Field(default_factory=list)
    shares: list[CorrectedShare] = Field(default_factory=list)
    corrected: list[CorrectedRate] = Field(default_factory=list)
    selection_p: float | None = None
    self_checks: list[SelfCheck] = Field(default_factory=list)
    sequences: list[SequenceResult] = Field(default_factory=list)
    drift: Drift | None = None
    missing: dict[Public, list[str]] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
