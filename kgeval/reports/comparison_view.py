"""What all forms of a comparison report share: its systems and groups in order, results either way round, figures as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kgeval.format import figure, interval, number, plural, signed, visible
from kgeval.records import Box, ComparedBy, ComparisonReport, Estimated, PairResult, Rates, Stopped, TrialRates

Decision = Literal["a", "b", "equal", "open"]
OVERALL = "overall"
ALPHA = 0.05
FEW = 10  # questions: under this nothing is concluded, marked or coloured
TOO_FEW = "too few"
ALWAYS = "always valid"
TRIALS = {
    "regenerate": "in each, the systems answer again", "rejudge": "the answers stay, the judge is asked again",
}
PROCEDURES = {
    "scores": "points for both answers in both orders", "single": "points for one answer at a time",
    "pairwise-choice": "a winner in both orders", "differential": "points for what only one answer says",
    "biased": "a winner, one order, one call, lengths as they are",
}


@dataclass(frozen=True)
class Group:
    """A group of questions that results are given for."""

    by: ComparedBy
    value: str | None
    mean: bool = False

    @property
    def title(self) -> str:
        """`all questions`, `mean of data sets`, `level node`, `data set music`."""
        if self.mean:
            return "mean of data sets"
        return "all questions" if self.by == "all" else f"{'data set' if self.by == 'dataset' else 'level'} {self.value}"


ALL = Group("all", None)
_OTHER: dict[Decision, Decision] = {"a": "b", "b": "a"}


@dataclass(frozen=True)
class View:
    """A report with what is looked up in it. `systems`: by rank, where there is a ranking, else as they came."""

    report: ComparisonReport
    systems: list[str]
    aspects: list[str]
    groups: list[Group]
    pairs: list[tuple[str, str]]
    results: dict[tuple[str, str, str, Group], PairResult] = field(repr=False)
    stops: dict[tuple[str, str], Stopped] = field(repr=False)

    def result(self, a: str, b: str, aspect: str = OVERALL, group: Group = ALL) -> PairResult | None:
        """The result of A against B, also where the report has B against A."""
        found = self.results.get((a, b, aspect, group))
        if found is not None:
            return found
        other = self.results.get((b, a, aspect, group))
        return None if other is None else swap_sides(other)

    def first(self) -> Iterator[PairResult]:
        """Overall on all questions, pair by pair: what the verdict is about."""
        for a, b in self.pairs:
            found = self.result(a, b)
            if found is not None:
                yield found

    def stop(self, a: str, b: str) -> Stopped | None:
        """Where A against B was stopped when sure, also where the report has B against A."""
        found, other = self.stops.get((a, b)), self.stops.get((b, a))
        if found is not None or other is None:
            return found
        decision = _OTHER.get(other.decision, other.decision)
        return other.model_copy(update={"system_a": a, "system_b": b, "low": -other.high, "high": -other.low, "decision": decision})

    def win_rate(self, system: str) -> float | None:
        """Ties half, the mean over its opponents; null where it has no result."""
        found = [self.result(system, other) for other in self.systems if other != system]
        rates = [one.rates.win + one.rates.tie / 2 for one in found if one is not None and one.rates is not None]
        return sum(rates) / len(rates) if rates else None


def view_of(report: ComparisonReport) -> View:
    """The view of a report."""
    seen: dict[str, None] = {}
    for one in report.pairs:
        seen |= {one.system_a: None, one.system_b: None}
    seen |= dict.fromkeys(one.system for one in report.systems)
    ranked = [one.system for one in report.ranking.systems] if report.ranking else []
    results = {(one.system_a, one.system_b, one.aspect, group_of(one)): one for one in report.pairs}
    return View(
        report, list(dict.fromkeys([*ranked, *seen])), list(dict.fromkeys(one.aspect for one in report.pairs)),
        list(dict.fromkeys(map(group_of, report.pairs))), list(dict.fromkeys((one.system_a, one.system_b) for one in report.pairs)),
        results, {(one.system_a, one.system_b): one for one in report.stopped},
    )


def group_of(one: PairResult) -> Group:
    """Where a result belongs."""
    return Group(one.by, one.value, one.mean_of_datasets)


def swap_sides(one: PairResult) -> PairResult:
    """The same result seen from B."""
    superiority = None if one.superiority is None else 1 - one.superiority
    return one.model_copy(update={
        "system_a": one.system_b, "system_b": one.system_a, "rates": None if one.rates is None else _other(one.rates),
        "relative": _negative(one.relative), "gap": _negative(one.gap), "effect": None if one.effect is None else -one.effect,
        "superiority": superiority, "per_trial": [_turned_trial(trial) for trial in one.per_trial],
        "box_win": one.box_loss, "box_loss": one.box_win, "box_relative": None if one.box_relative is None else _mirrored(one.box_relative),
    })


def _other(rates: Rates) -> Rates:
    return Rates(win=rates.loss, tie=rates.tie, loss=rates.win)


def _negative(one: Estimated) -> Estimated:
    value, low, high = (None if end is None else 0.0 - end for end in (one.value, one.low, one.high))
    return Estimated(value=value, low=high, high=low)


def _turned_trial(one: TrialRates) -> TrialRates:
    return one.model_copy(update={"rates": _other(one.rates), "relative": 0.0 - one.relative})


def _mirrored(box: Box) -> Box:
    outside = [-one for one in reversed(box.outliers)]
    return Box(n=box.n, low=-box.high, q25=-box.q75, median=-box.median, q75=-box.q25, high=-box.low, outliers=outside)


def word(text: str, longest: int = 60) -> str:
    """A name from outside, safe to print."""
    return visible(text, longest=longest)


def text_of(text: str, longest: int = 6_000) -> str:
    """A text from outside with its lines kept; hidden characters become visible ones."""
    lines = text[:longest].replace("\r\n", "\n").split("\n")
    kept = "\n".join(visible(line, longest=longest) if line.strip() else "" for line in lines)
    return kept if len(text) <= longest else f"{kept}... ({len(text):,} characters)"


def points(value: float | None) -> str:
    """A difference of points with its sign; `-` for null."""
    return figure(value, digits=2, sign=True)


def between(one: Estimated, shown: Callable[[float], str] = signed) -> str:
    """`+3.1 % to +12.0 %`; "" without an interval that has a width."""
    return interval(one.low, one.high, shown)


def ends(one: PairResult) -> str:
    """The interval of the relative win rate; that of a confidence sequence says so. "" without one."""
    told = between(one.relative)
    return f"{told} ({ALWAYS})" if told and one.always_valid else told


def few(one: PairResult) -> bool:
    """Under FEW questions have a result: what they say is shown, and nothing is concluded from it."""
    return one.n_scored < FEW


def scored(one: PairResult) -> str:
    """`147 of 150`; `4 of 4, too few`; `20 of 20, in 109 of 160 trials` where calls of some trials failed."""
    told = f"{number(one.n_scored)} of {number(one.n)}"
    if one.lost and one.results:
        told += f", in {number(one.results)} of {number(one.results + one.lost)} trials"
    return f"{told}, {TOO_FEW}" if 0 < one.n_scored < FEW else told


def lost(one: PairResult) -> str:
    """What became of the questions without a result: `2 discarded, timeout 1`; "" where all have one."""
    from kgeval.reports.measures import causes

    parts = [f"{number(one.discarded)} discarded"] if one.discarded else []
    return ", ".join([*parts, *([causes(one.failures)] if one.failures else [])])


def trials(view: View) -> str:
    """`25 trials (in each, the systems answer again)`."""
    most = max((one.trials for one in view.report.pairs), default=1)
    return f"{plural(most, 'trial')} ({TRIALS[view.report.trial_kind]})"


def stamp(view: View) -> str:
    """What stands below every figure: the procedure, the trials and the kind of interval."""
    kind = "95 %, over questions"
    if view.stops:
        kind += "; pairs stopped when sure: confidence sequence, always valid"
    asked = f"; {plural(view.report.requests, 'different request')}" if view.report.requests else ""
    return f"{PROCEDURES[view.report.procedure]}; {trials(view)}{asked}; intervals: {kind}"
