"""What can be known of a judge: from its own verdicts, from a second run, from labels of people."""

from __future__ import annotations

from typing import Protocol

from pydantic import Field

from kgeval.records.base import Cause, OfPair, Public, Record


class Ends(Protocol):
    """What has two ends: an interval of statistics."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


class Estimated(Record):
    """A figure with its 95 % interval; null where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: float | None, ends: Ends | None) -> Estimated:
        """A value with the ends of an interval, where there is one."""
        return cls(value=value, low=ends.low if ends else None, high=ends.high if ends else None)

    def turned(self) -> Estimated:
        """A difference seen from the other side."""
        value, low, high = (None if end is None else 0.0 - end for end in (self.value, self.high, self.low))
        return Estimated(value=value, low=low, high=high)


class LengthBin(Record):
    """Pairs whose answers differ by `low` to `high` words (A minus B, or longer minus shorter): how often the longer one won."""

    low: float
    high: float
    n: int
    longer_wins: float | None = None
    shorter_wins: float | None = None
    ties: float | None = None


class Covariate(Record):
    """How a difference in form goes with winning: the slope of a logistic regression with its interval. `scale`: one unit, or why there
    is no slope."""

    name: Public
    slope: Estimated
    scale: Public = ""


class JudgeReport(Record):
    """What can be known of the judge from its own verdicts, over one pair or all.

    `first_wins`: share of calls won by the answer that stood first (0.5: no preference; ties count half); `ab_win`, `ba_win`: win rate of
    A when it stood first and when it stood second [Z figure 2]; `flips`: question-trials whose winner changes with the order; `ties`.
    `length_bins`, `length_slope`: raw [Z figure 6]; `length_controlled`: A's relative win rate at equal lengths; `style`: headings, bold,
    lists. `self_agreement`: share of repeats with the same winner. `tie_band`: points within which both orders differ by the judge's own
    noise: there a question is a tie; null: not seen. `self_check`: relative win rate of a system against itself.
    """

    system_a: Public | None = None
    system_b: Public | None = None
    calls: int
    first_wins: Estimated = Field(default_factory=Estimated)
    ab_win: float | None = None
    ba_win: float | None = None
    flips: float | None = None
    ties: float | None = None
    self_agreement: float | None = None
    tie_band: float | None = None
    length_bins: list[LengthBin] = Field(default_factory=list)
    length_slope: Estimated = Field(default_factory=Estimated)
    raw: Estimated = Field(default_factory=Estimated)
    length_controlled: Estimated = Field(default_factory=Estimated)
    style: list[Covariate] = Field(default_factory=list)
    notes: list[Public] = Field(default_factory=list)


class SelfCheck(Record):
    """A/A: a system against a second, independent run of itself. `passed`: the interval holds 0."""

    system: Public
    relative: Estimated
    n: int
    passed: bool | None = None


class Drift(Record):
    """The judge on a fixed set of labelled pairs, now and in the baseline run. `anchors`: pairs given; `n_scored`: judged, the rest by
    cause in `failures`. `agreement`: share of labels that the judge gives too; `aspects`: the same by aspect, where people labelled them.

    Against a baseline, over the `compared` pairs that both runs judged: `baseline_agreement` (with today's labels), `change` (now minus
    then), `change_p` (McNemar), `changed`: share of the judge's own verdicts that differ, `changed_p`: permutation of the runs' repeats
    within each pair (null: asked once a pair, chance and change cannot be told apart). `moved`: one of both is under 0.05; null: not known.
    `outcomes`: pair -> the judge's outcome in each repeat over both orders (1 A, 0 equal, -1 B); `marks`: pair -> hash of its texts.
    """

    anchors: int
    n_scored: int = 0
    failures: dict[Cause, int] = Field(default_factory=dict)
    agreement: Estimated = Field(default_factory=Estimated)
    kappa: float | None = None
    aspects: dict[Public, Estimated] = Field(default_factory=dict)
    compared: int | None = None
    baseline_agreement: Estimated | None = None
    change: Estimated | None = None
    change_p: float | None = None
    changed: float | None = None
    changed_p: float | None = None
    moved: bool | None = None
    outcomes: dict[str, list[int]] = Field(default_factory=dict)
    marks: dict[str, str] = Field(default_factory=dict)
    notes: list[Public] = Field(default_factory=list)


class CorrectedRate(OfPair):
    """A relative win rate corrected by labels of people. `method`: judge (as it is), people (their labels alone), ppi++, rogan-gladen.
    `n`: questions judged; `labels`: of them, labelled. `selection_p`: a small one says that the labelled
    questions are no random part of the judged ones; then no correction holds. `reason`: why a figure is lacking."""

    aspect: Public = "overall"
    method: Public
    n: int = 0
    labels: int
    relative: Estimated
    selection_p: float | None = None
    reason: Public | None = None
