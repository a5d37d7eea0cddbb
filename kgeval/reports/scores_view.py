"""A score report, looked up once for every form: who leads and whether that is certain, what gates say, how means are told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgeval.format import bracketed, figure, joined, number, plural, visible
from kgeval.overview.score_figures import headline_metric
from kgeval.records import By, Gain, GateResult, Mean, MetricInfo, MetricSummary, ScoreReport

LEVEL_TITLES = {
    "fact_retrieval": "Fact retrieval", "complex_reasoning": "Complex reasoning",
    "contextual_summarize": "Contextual summarize", "creative_generation": "Creative generation",
}
LEAST = 10  # questions for saying that one system is apart from another
LEAST_DIFFER = 6  # questions where the two differ: with 5, all on one side, chance alone does that once in 16
FEW = 30  # below, intervals of skewed values are too narrow
NAME = 40  # characters of a system's or metric's name within a sentence or table

_READING = re.compile(r": read as [^()]{1,80}, rows: [\d,]+\Z")

Groups = Mapping[By, Mapping[str, Mapping[str, Mapping[str, Mean]]]]


@dataclass(frozen=True)
class View:
    """The report with its look-ups. `systems` and `metrics`: as the report lists them, then others that only its rows name.

    `groups`: by -> metric -> value -> system -> mean. `gains`: by (metric, system, baseline). `headline`: the verdict's metric.
    """

    report: ScoreReport
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    info: Mapping[str, MetricInfo]
    summaries: Mapping[tuple[str, str], MetricSummary]
    groups: Groups
    gains: Mapping[tuple[str, str, str], Gain]
    headline: str | None

    def mean(self, system: str, metric: str) -> Mean | None:
        """The mean over questions, null where the report has none."""
        found = self.summaries.get((system, metric))
        return found.overall if found else None

    def lower(self, metric: str) -> bool:
        """True where a lower value is better."""
        return metric in self.info and self.info[metric].better == "lower"


@dataclass(frozen=True)
class Standing:
    """The systems by one metric, best first. `clear`: the first is apart from every other one. `fragile`: rows that failed could
    change who is first."""

    metric: str
    order: tuple[tuple[str, Mean], ...]
    clear: bool
    fragile: bool


def view_of(report: ScoreReport) -> View:
    """The look-ups, made once."""
    named = [*(one.system for one in report.systems), *(one.system for one in report.summaries), *(one.system for one in report.gates)]
    metrics = [*(one.metric for one in report.metrics), *(one.metric for one in report.summaries)]
    groups: dict[By, dict[str, dict[str, dict[str, Mean]]]] = {}
    for one in report.groups:
        groups.setdefault(one.by, {}).setdefault(one.metric, {}).setdefault(one.value, {})[one.system] = one.overall
    summaries = {(one.system, one.metric): one for one in report.summaries}
    return View(
        report, _once(named), _once(metrics), {one.metric: one for one in report.metrics}, summaries, groups,
        {(one.metric, one.system, one.baseline): one for one in report.gains}, headline_metric(report),
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def standing(view: View, metric: str) -> Standing | None:
    """Who leads by this metric; null with fewer than two systems that have a mean."""
    means = [(system, mean) for system in view.systems if (mean := view.mean(system, metric)) and mean.mean is not None]
    if len(means) < 2:
        return None
    sign = -1 if view.lower(metric) else 1
    order = sorted(means, key=lambda pair: -sign * (pair[1].mean or 0.0))
    first, mean = order[0]
    clear = all(significantly_better(view, metric, (first, mean), other) for other in order[1:])
    fragile = any(_could_turn(mean, other, view.lower(metric)) for _, other in order[1:])
    return Standing(metric, tuple(order), clear, clear and fragile)


def significantly_better(view: View, metric: str, first: tuple[str, Mean], other: tuple[str, Mean]) -> bool:
    """True where the first is better for sure: the interval of the paired difference leaves 0 out on its side or, where the report
    has no paired difference of the two, their intervals do not touch (a stricter demand). Never with fewer than LEAST questions."""
    sign = -1 if view.lower(metric) else 1
    for one, two, turn in ((first, other, sign), (other, first, -sign)):
        gain = view.gains.get((metric, one[0], two[0]))
        if gain is not None and gain.low is not None and gain.high is not None:
            return is_significant(gain) and (gain.low > 0 if turn > 0 else gain.high < 0)
    high, low = (first[1], other[1]) if sign > 0 else (other[1], first[1])
    if high.low is None or low.high is None or min(high.n_scored, low.n_scored) < LEAST:
        return False
    return high.low - _unseen(high) > low.high + _unseen(low)


def is_significant(gain: Gain) -> bool:
    """True where the interval leaves 0 out and enough questions stand behind it. Where few questions differ, all on one side, no
    resample can turn the sign, and the interval leaves 0 out however often chance does that."""
    if gain.low is None or gain.high is None or gain.n < LEAST or (gain.differ is not None and gain.differ < LEAST_DIFFER):
        return False
    return gain.low > 0 or gain.high < 0


def _unseen(mean: Mean) -> float:
    """What an interval without width lacks: 3/n (the rule of three) for values that were not seen."""
    return 3 / mean.n_scored if mean.low == mean.high else 0.0


def _could_turn(first: Mean, other: Mean, lower: bool) -> bool:
    high, low = (other, first) if lower else (first, other)
    if not (first.failures or other.failures) or high.bound_low is None or low.bound_high is None:
        return False
    return high.bound_low <= low.bound_high


def verdict(view: View) -> list[str]:
    """The outcome, a sentence each: who is best where that is certain, the gates, what is missing. Computed from the report alone."""
    report = view.report
    stopped = "" if report.complete else "The run was stopped before its end: these figures are of the rows that were scored until then."
    missing = {one.system: one.questions_missing for one in report.systems}
    void = {one.system: one.errors + one.empty for one in report.systems}
    lines = [
        _lead(view), stopped, gates_line(report.gates), _tally(view) if len(view.systems) > 1 else "",
        _lacking("Questions without an answer", missing, "; means are over the others"), _lacking("Answers that are errors or empty", void),
    ]
    return [line for line in lines if line]


def _lacking(what: str, counts: Mapping[str, int], then: str = "") -> str:
    found = [f"{word(system)} {number(n)}" for system, n in counts.items() if n]
    return f"{what}: {joined_some(found, 4)}{then}." if found else ""


def _lead(view: View) -> str:
    if view.headline is None:
        return "No score could be computed." if view.report.summaries else "Nothing was scored."
    metric = view.headline
    place = standing(view, metric)
    if place is None:
        system = next(name for name in view.systems if (mean := view.mean(name, metric)) and mean.mean is not None)
        return f"{word(metric)}: {_told(view, system, metric)}." + _few(view, metric, [system])
    first, second = place.order[0][0], place.order[1][0]
    better = " (lower is better)" if view.lower(metric) else ""
    few = _few(view, metric, [first, second])
    if not place.clear:
        return f"No clear difference by {word(metric)}{better}: {_told(view, first, metric)}, {_told(view, second, metric)}.{few}"
    doubt = (" Rows that failed could still change this." if place.fragile else "") + few
    return f"Best by {word(metric)}{better}: {_told(view, first, metric)}; next {_told(view, second, metric)}.{doubt}"


def _few(view: View, metric: str, systems: list[str]) -> str:
    """A warning where a mean is over few questions, else ""."""
    least = min(mean.n_scored for system in systems if (mean := view.mean(system, metric)))
    return f" Only {plural(least, 'question')}: a hint, no proof." if least < FEW else ""


def _told(view: View, system: str, metric: str) -> str:
    """`A 0.712 (95 %: 0.671 to 0.752, 96 of 100 scored)`."""
    mean = view.mean(system, metric) or Mean(n=0, n_scored=0)
    over = f"{number(mean.n_scored)} of {number(mean.n)} scored"
    ends = f"95 %: {figure(mean.low)} to {figure(mean.high)}, " if between(mean.low, mean.high) else ""
    return f"{word(system)} {figure(mean.mean)} ({ends}{over})"


def _tally(view: View) -> str:
    """In how many metrics each system is apart from all others."""
    places = [place for metric in view.metrics if (place := standing(view, metric))]
    if len(places) < 2:
        return ""
    wins = Counter(place.order[0][0] for place in places if place.clear)
    won = [f"{word(system)} in {number(n)}" for system, n in wins.most_common(4)]
    none = len(places) - sum(wins.values())
    if not won:
        return f"No system is clearly best in any of {number(len(places))} metrics."
    told = f"Clearly best, of {plural(len(places), 'metric')}: {joined(won)}; no clear difference in {number(none)}."
    return f"{told} By chance alone one metric in 20 looks clear."


def gates_line(gates: Iterable[GateResult]) -> str:
    """`Gates: 2 met, 1 missed (faithfulness >= 0.8 by B: 0.741), 1 unanswered.`; "" without gates."""
    given = list(gates)
    if not given:
        return ""
    piles = {title: [gate for gate in given if gate.met is met] for title, met in (("met", True), ("missed", False), ("unanswered", None))}
    parts = []
    for title, pile in piles.items():
        named = f" ({joined_some([gate_line(gate) for gate in pile], 3)})" if pile and title != "met" else ""
        parts.append(f"{number(len(pile))} {title}{named}")
    return f"Gates: {', '.join(parts)}."


def gate_line(gate: GateResult) -> str:
    """`faithfulness >= 0.8 by B: 0.741`."""
    value = "no value" if gate.value is None else figure(gate.value)
    return f"{gate_name(gate)} by {word(gate.system)}: {value}"


def gate_name(gate: GateResult) -> str:
    """`faithfulness >= 0.8`."""
    return f"{word(gate.metric)} {'>=' if gate.least else '<='} {number(gate.limit)}"


def joined_some(texts: list[str], most: int) -> str:
    """The first few, and how many more there are."""
    more = f" and {number(len(texts) - most)} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def word(text: str, *, longest: int = NAME) -> str:
    """A name within a sentence or table, hidden characters written out."""
    return visible(text, longest=longest)


def between(low: float | None, high: float | None) -> str:
    """`[0.671, 0.752]`, "" where there is no interval, or none with a width: equal values do not prove that the next one is equal."""
    return bracketed(low, high)


def difference(value: float | None, low: float | None, high: float | None) -> str:
    """`+0.120 [+0.051, +0.190]`; "-" for null."""
    def signed(one: float) -> str:
        return figure(one, sign=True)

    return "-" if value is None else f"{signed(value)} {bracketed(low, high, signed)}".rstrip()


def scored(mean: Mean) -> str:
    """`96/100`, and how many questions the metric has no meaning for."""
    return f"{number(mean.n_scored)}/{number(mean.n)}" + (f", {number(mean.not_applicable)} n/a" if mean.not_applicable else "")


def is_reading(note: str) -> bool:
    """Whether a note says no more than as what a file was read, and how many rows."""
    return _READING.search(note) is not None


def level_title(level: str) -> str:
    """A level in words."""
    return LEVEL_TITLES.get(level, level.replace("_", " "))
