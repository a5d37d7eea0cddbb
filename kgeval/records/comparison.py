"""Two systems side by side: what a judge said in each call, and what comes of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Cause, OfPair, Public, PublicJson, Record
from kgeval.records.comparison_judge import CorrectedRate, Drift, Estimated, JudgeReport, SelfCheck
from kgeval.records.gate import Gate
from kgeval.records.manifest import RunReport
from kgeval.records.outcome import Outcome
from kgeval.records.scores import LeftOutKnown, Quantiles

Procedure = Literal["scores", "single", "pairwise-choice", "differential", "biased"]
Winner = Literal["a", "b", "tie"]
TrialKind = Literal["regenerate", "rejudge"]
ComparedBy = Literal["all", "dataset", "level"]


class ComparisonVerdict(Record):
    """What one judge call said of one aspect of two answers. A call over four aspects is four of these, with one `call`.

    `first`: the system whose answer stood first (null: answers were shown one at a time). `trial`, `repeat`: from 1. `score_a`, `score_b`:
    points (0..5), or 1 and 0 where the judge chose (0.5 each: a tie). `reason_a`, `reason_b`: written before the score. `winner`: of this
    aspect in this call. `length_a`, `length_b`: words of the answers as they were judged. `aligned`: their lengths were brought together.
    `document`: what the question shares with others that were drawn with it (`Question.drawn_with`). `unanswered`: whose answer is an error
    (then `failure` tells it) or has no words: against an answer that is lost, and no judge is asked.
    `call`: journal key. `failure`: why there are no scores (a cause, a colon, the rest).
    """

    question_id: str
    dataset: str | None = None
    level: str | None = None
    document: str | None = None
    system_a: str
    system_b: str
    first: str | None = None
    procedure: Procedure = "scores"
    trial: int = 1
    repeat: int = 1
    aspect: str
    score_a: float | None = None
    score_b: float | None = None
    reason_a: str | None = None
    reason_b: str | None = None
    winner: Winner | None = None
    length_a: int | None = None
    length_b: int | None = None
    aligned: bool = False
    call: str | None = None
    unanswered: Literal["a", "b", "both"] | None = None
    failure: str | None = None


class Rates(Record):
    """Shares of questions that A wins, that are equal, that B wins; they add up to 1."""

    win: float
    tie: float
    loss: float


class TrialRates(Record):
    """The rates of one trial over `n` questions. `relative`: relative win rate, win - loss, in -1..1 [Z 5.2]."""

    trial: int
    n: int
    rates: Rates
    relative: float


class Box(Record):
    """A box plot over trials (Tukey): quartiles, whiskers at the farthest values within 1.5 interquartile ranges, and what lies outside."""

    n: int
    low: float
    q25: float
    median: float
    q75: float
    high: float
    outliers: list[float] = Field(default_factory=list)


class PairResult(OfPair):
    """What came of one pair of systems in one aspect (`overall`: the sum of all decides) on one group of questions.

    `by`: which group: all questions, one data set, one level (`value` names it); `mean_of_datasets`: the unweighted mean over data sets
    stands for `all`. `n`: questions asked for; `n_scored`: with a result (`results`: question-trials with one; `lost`: question-trials
    without one because a call failed, whether or not other trials of the question have one); `discarded`: left out
    because their lengths could not be brought together; the rest failed, by cause. `rates`: means over questions of shares of trials.
    `relative`: mean of win - loss, with its interval over questions. `gap`: points of A minus points of B (0..5 an aspect; overall:
    their sum).
    `p`: sign-flip permutation of the questions' means; `p_holm`: corrected for all that is printed with it; `wilcoxon_p`: of the points.
    `effect`: Cohen's d of the paired gaps; `superiority`: P(A better) + P(tie) / 2, 0..1.
    `always_valid`: the pair was stopped when sure, so its interval is the confidence sequence, and there is no p and no interval else.
    `detectable`: the smallest relative win rate that this sample would find with 80 % power; `needed`: questions for the difference seen,
    null where no number is enough; `needed_above`: more than so many are needed, and `needed` is null.
    `groups`: what was drawn: documents, where several questions come from one, else questions; `effective`: as many independent questions
    would be as sure.
    """

    aspect: Public = "overall"
    by: ComparedBy = "all"
    value: Public | None = None
    mean_of_datasets: bool = False
    n: int
    n_scored: int
    results: int = 0
    lost: int = 0
    discarded: int = 0
    failures: dict[Cause, int] = Field(default_factory=dict)
    trials: int = 1
    rates: Rates | None = None
    relative: Estimated = Field(default_factory=Estimated)
    gap: Estimated = Field(default_factory=Estimated)
    p: float | None = None
    p_holm: float | None = None
    wilcoxon_p: float | None = None
    effect: float | None = None
    superiority: float | None = None
    detectable: float | None = None
    needed: int | None = None
    needed_above: int | None = None
    groups: int | None = None
    effective: float | None = None
    always_valid: bool = False
    per_trial: list[TrialRates] = Field(default_factory=list)
    box_win: Box | None = None
    box_loss: Box | None = None
    box_relative: Box | None = None


class Ranked(Record):
    """A system's place among all: Bradley-Terry strength with ties, with its interval; average win rate (ties count half) beside it.

    `strength` null: not rankable. `rank_low`, `rank_high`: places that its interval leaves open, from 1."""

    system: Public
    strength: Estimated = Field(default_factory=Estimated)
    average_win_rate: float | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


class Ranking(Record):
    """All systems in order. `rankable`: the win graph is strongly connected; else `reason` says what separates which systems."""

    rankable: bool
    reason: Public | None = None
    systems: list[Ranked] = Field(default_factory=list)


class AlignmentCount(OfPair):
    """How the lengths of one pair's answers were brought together, over question-trials. `adjusted`: by asking the system again
    (`attempts`: attempt -> how many came out right at it); `forced`: by adding words; `discarded`: not at all; `silent`: an answer has no
    words. `kept_meaning`: share of claims of the free answers that the aligned ones still make, over `meaning_checked` answers."""

    level: Public | None = None
    n: int
    equal: int = 0
    adjusted: int = 0
    forced: int = 0
    discarded: int = 0
    silent: int = 0
    failed: int = 0
    attempts: dict[Public, int] = Field(default_factory=dict)
    gap_before: Quantiles | None = None
    gap_after: Quantiles | None = None
    meaning_checked: int = 0
    kept_meaning: Estimated = Field(default_factory=Estimated)


class SystemUse(Record):
    """What a system's free answers took: means an answer, over answers that tell (`known`) [Z table 2]."""

    system: Public
    answers: int
    words: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    calls: float | None = None
    cost: float | None = None
    known: dict[Public, int] = Field(default_factory=dict)


class Stopped(OfPair):
    """Where a comparison stopped when it was sure: questions used of those that were there, judge calls made of those planned, and the
    confidence sequence (always valid) at that point. `decision`: a, b, equal (inside the tie region), or open."""

    questions: int
    of_questions: int
    calls: int
    of_calls: int
    low: float
    high: float
    tie_region: float
    decision: Literal["a", "b", "equal", "open"]


class DrillCall(Record):
    """One judge call of a question: what stood first, points and reasons by aspect."""

    first: Public | None = None
    trial: int
    repeat: int
    points: dict[Public, tuple[float | None, float | None]] = Field(default_factory=dict)
    reasons: dict[Public, tuple[str, str]] = Field(default_factory=dict)
    winner: Winner | None = None


class Drill(OfPair):
    """One question of a pair, opened: both answers as they were judged in `trial` (null where they are not at hand), and each call
    [Z table 3]. `relative`: mean of win - loss over the trials of this question, -1..1."""

    question_id: str
    question: str | None = None
    level: Public | None = None
    answer_a: str | None = None
    answer_b: str | None = None
    words_a: int | None = None
    words_b: int | None = None
    trial: int
    relative: float
    calls: list[DrillCall] = Field(default_factory=list)


class KnownInPairs(LeftOutKnown):
    """What a model answers without any text, of a comparison: `pairs` is each pair overall on all questions, the known ones among them."""

    pairs: list[PairResult] = Field(default_factory=list)


class ComparisonReport(RunReport):
    """The comparison of two or more systems. `contrast`: the same answers under other procedures, to see what biases did.

    `judgements`: replies of the judge that the verdicts rest on; `requests`: how many of their requests differ (the same request is not
    another judgement). `settings`: all that the signature stands for; `grades`: aspect -> its six grades, 0 to 5, as the judge read them.
    `complete`: the run was not stopped, and no more than the allowed share of questions and of question-trials failed.
    `drill`: some questions opened, the most
    telling ones first; `drill_left_out`: judged questions of pairs that are not. `missing`: system -> questions that it did not answer.
    `outcomes`: one conclusion a pair; headline, gates and exit code only show it.
    `known`: questions that pairs, ranking, judge, contrast and drill-down are without.
    """

    complete: bool = True
    known: KnownInPairs | None = None
    procedure: Procedure = "scores"
    trial_kind: TrialKind = "rejudge"
    signature: Public
    judgements: int = 0
    requests: int = 0
    settings: dict[Public, PublicJson] = Field(default_factory=dict)
    grades: dict[Public, list[Public]] = Field(default_factory=dict)
    systems: list[SystemUse] = Field(default_factory=list)
    pairs: list[PairResult] = Field(default_factory=list)
    outcomes: list[Outcome] = Field(default_factory=list)
    ranking: Ranking | None = None
    judge: list[JudgeReport] = Field(default_factory=list)
    alignment: list[AlignmentCount] = Field(default_factory=list)
    stopped: list[Stopped] = Field(default_factory=list)
    self_checks: list[SelfCheck] = Field(default_factory=list)
    drift: Drift | None = None
    corrected: list[CorrectedRate] = Field(default_factory=list)
    contrast: dict[Public, list[PairResult]] = Field(default_factory=dict)
    contrast_judge: dict[Public, list[JudgeReport]] = Field(default_factory=dict)
    drill: list[Drill] = Field(default_factory=list)
    drill_left_out: int = 0
    gates: list[Gate] = Field(default_factory=list)
    missing: dict[Public, list[str]] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
