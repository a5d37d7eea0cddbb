"""What a score report comes to: who is better and whether that is certain, what gates say, what to fix first and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from statistics import NormalDist
from typing import TypeVar

from kgeval.format import about, bracketed, figure, first_of, has_width, joined, number, percent, plural, plural_of, plus, visible
from kgeval.metrics.summary.means import scoring_failures
from kgeval.metrics.summary.outcomes import headline_metric
from kgeval.overview.advice import ADVICE, advice_on, as_sentence, part_of
from kgeval.overview.wording import reached
from kgeval.records import (
    SEVERITIES,
    AuditJoin,
    By,
    Conclusion,
    Gate,
    GroupSummary,
    LeftOutKnown,
    Mean,
    MetricInfo,
    MetricSummary,
    Outcome,
    OverviewPriority,
    Part,
    ScoreReport,
    SurvivalCheck,
)
from kgeval.rounding import is_zero, sign
from kgeval.stats.adjust import holm
from kgeval.stats.grouped import LEAST_GROUPS
from kgeval.stats.ranks import leaders

LEAST = 10  # questions of a part, for saying that it is apart from the whole
FEW = 30  # below, intervals of skewed values are too narrow
NAMED = 3  # systems that the first is not shown to be better than, by name
NAME = 40  # characters of a system's or metric's name within a sentence
BY_WORDS: dict[By, str] = {
    "hops": "hops", "kind": "kind of question", "document": "document", "dataset": "dataset", "level": "question type",
    "context": "length of the contexts",
}
WEAK: dict[Part, str] = {
    "answers": "Weak answers to", "reasoning": "Weak reasoning for", "retrieval": "Weak retrieval for", "grounding": "Weak grounding for",
}

AGAINST = 6  # systems compared with a baseline, by name
REASONS = 3  # why pairs are not decidable
LONG = 400  # characters of a reason
SURVIVAL: dict[SurvivalCheck, str] = {
    "answer metrics": "across answer metrics", "grounded extras": "with grounded claims beyond the reference neutral",
    "missing claims": "with missing claims neutral", "failed rows": "with failed rows at their worst",
}
Concluded = tuple[Conclusion, Sequence[str]]
UNTOLD: Concluded = ("no difference found", ())
TURNED: dict[Conclusion, Conclusion] = {"a better": "b better", "b better": "a better"}

_Tested = TypeVar("_Tested", AuditJoin, GroupSummary)
Groups = Mapping[By, Mapping[str, Mapping[str, Mapping[str, Mean]]]]


@dataclass(frozen=True)
class ScoreTables:
    """A report with its look-ups. `systems` and `metrics`: as the report lists them, then others that only its rows name.

    `groups`: by -> metric -> value -> system -> mean. `conclusions`: by (metric, a system, another): what may be concluded of the first and
    the second, and why not more. `headline`: the verdict's metric.
    """

    report: ScoreReport
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    info: Mapping[str, MetricInfo]
    summaries: Mapping[tuple[str, str], MetricSummary]
    groups: Groups
    conclusions: Mapping[tuple[str, str, str], Concluded]
    headline: str | None

    @classmethod
    def of(cls, report: ScoreReport) -> ScoreTables:
        systems = [row.system for rows in (report.systems, report.summaries) for row in rows]
        systems += [gate.of for gate in report.gates if gate.of]
        metrics = [row.metric for rows in (report.metrics, report.summaries) for row in rows]
        groups: dict[By, dict[str, dict[str, dict[str, Mean]]]] = {}
        for row in report.groups:
            groups.setdefault(row.by, {}).setdefault(row.metric, {}).setdefault(row.value, {})[row.system] = row.overall
        conclusions: dict[tuple[str, str, str], Concluded] = {}
        told = [(gain.metric, gain.system, gain.baseline, gain.conclusion, gain.because) for gain in report.gains]
        told += [(one.of, one.system_a, one.system_b, one.conclusion, one.because) for one in report.outcomes]
        for metric, one, other, conclusion, because in told:
            if conclusion is not None:
                conclusions[metric, one, other] = conclusion, because
                conclusions[metric, other, one] = TURNED.get(conclusion, conclusion), because
        headline = next((one.of for one in report.outcomes), None) or headline_of(report)
        return cls(
            report, tuple(dict.fromkeys(systems)), tuple(dict.fromkeys(metrics)), {metric.metric: metric for metric in report.metrics},
            {(summary.system, summary.metric): summary for summary in report.summaries}, groups,
            conclusions, headline,
        )

    def mean(self, system: str, metric: str) -> Mean | None:
        """The mean over questions; None where the report has none."""
        summary = self.summaries.get((system, metric))
        return summary.overall if summary else None

    def lower(self, metric: str) -> bool:
        """True where a lower value is better."""
        return metric in self.info and self.info[metric].better == "lower"


    def is_better(self, metric: str, one: str, other: str) -> bool:
        """Whether the report concludes that the first of two systems is better by this metric."""
        return self.conclusions.get((metric, one, other), UNTOLD)[0] == "a better"


def headline_of(report: ScoreReport) -> str | None:
    """The metric that the verdict on a score report speaks of; None where none has a value."""
    return headline_metric(report.summaries, report.metrics, [row.metric for row in report.leaderboard])


@dataclass(frozen=True)
class Standing:
    """The systems by one metric, best first. `equal`: how many of them, from the first, have the best mean. `close`: those that the first
    is not concluded to be better than, best first."""

    order: tuple[tuple[str, Mean], ...]
    equal: int
    close: tuple[tuple[str, Mean], ...]

    @property
    def clear(self) -> bool:
        """Whether the first is better than every other one."""
        return not self.close


def standing(tables: ScoreTables, metric: str) -> Standing | None:
    """Who leads by this metric; None with fewer than two systems that have a mean."""
    means = [(system, mean) for system in tables.systems if (mean := tables.mean(system, metric)) and mean.mean is not None]
    if len(means) < 2:
        return None
    lower = tables.lower(metric)
    first, *others = order = sorted(means, key=lambda pair: (pair[1].mean or 0.0) * (1 if lower else -1))
    equal = len(leaders([(mean.mean or 0.0) * (-1 if lower else 1) for _, mean in order]))
    return Standing(tuple(order), equal, tuple(other for other in others if not tables.is_better(metric, first[0], other[0])))


def _unseen(mean: Mean) -> float:
    """What an interval without width lacks: 3/n (the rule of three) for values that were not seen."""
    return 0.0 if has_width(mean.low, mean.high) else 3 / mean.n_scored


def verdict(tables: ScoreTables) -> list[str]:
    """The outcome, a sentence each: what may be concluded, the gates, what is missing. It shows what the report concludes, and concludes
    nothing itself."""
    stopped = "These figures are not complete: the run was stopped before its end, or more of its scores failed than are allowed."
    lines = (
        *_lead(tables), _survival(tables), _groups(tables), _silent(tables), _known(tables),
        "" if tables.report.complete else stopped, gates_line(tables.report.gates), _tally(tables),
    )
    return [line for line in lines if line]


def _lead(tables: ScoreTables) -> Iterator[str]:
    metric = tables.headline
    if metric is None:
        yield "No score could be computed." if tables.report.summaries else "Nothing was scored."
        return
    place = standing(tables, metric)
    if place is None:
        system, mean = next((name, mean) for name in tables.systems if (mean := tables.mean(name, metric)) and mean.mean is not None)
        yield f"{word(metric)}: {_value(system, mean)}.{_few([mean])}"
        return
    by = word(metric) + (" (lower is better)" if tables.lower(metric) else "")
    outcomes = [one for one in tables.report.outcomes if one.of == metric]
    baselines = {one.system_b for one in outcomes}
    if len(outcomes) > 1 and len(baselines) == 1:
        yield _against(tables, outcomes, by)
    else:
        yield _first(tables, place, by)
    yield from _because(outcomes)
    yield _cycle(tables, metric)


def _first(tables: ScoreTables, place: Standing, by: str) -> str:
    """The best system, where one is concluded to be, else those that it is not better than."""
    first, second = place.order[:2]
    metric = tables.headline or ""
    few = _few([first[1], *(mean for _, mean in place.close or [second])])
    ahead = [name for name, _ in place.close if tables.is_better(metric, name, first[0])]
    if ahead:  # the means are over other questions than those that both have
        others = f"{joined([word(name) for name in ahead], NAMED)} {'is' if len(ahead) == 1 else 'are'}"
        values = "; ".join(_value(*pair) for pair in (first, *place.close[:NAMED]))
        return f"{word(first[0])} has the best mean by {by}, but {others} better on the questions that both have: {values}.{few}"
    if place.clear:
        return f"Best by {by}: {_value(*first)}; next {_value(*second)}.{few}"
    undecided = all(tables.conclusions.get((metric, first[0], name), UNTOLD)[0] == "not decidable" for name, _ in place.close)
    found = "Not decidable" if undecided else "No difference found"
    if place.equal > 1 and all(pair in place.close for pair in place.order[1 : place.equal]):
        return f"{found} by {by}: {_same_mean(place)}{few}"
    if len(place.order) == 2:
        return f"{found} by {by}: {_value(*first)}; {_value(*second)}.{few}"
    names = [word(system) for system, _ in place.close]
    values = "; ".join(_value(*pair) for pair in (first, *place.close[:NAMED]))
    return f"{word(first[0])} is first by {by}, but not shown to be better than {joined(names, NAMED)}: {values}.{few}"


def _same_mean(place: Standing) -> str:
    """Two or more with the same, best mean: none of them is called first, and none equal."""
    best = place.order[: place.equal]
    names = joined([word(system) for system, _ in best], NAMED)
    others = [pair for pair in place.close if pair not in best]
    values = "; ".join(_value(*pair) for pair in (*best[:NAMED], *others[:NAMED]))
    rivals = f", not shown to be better than {joined([word(system) for system, _ in others], NAMED)}" if others else ""
    return f"{names} have the same mean, which does not show that they are equal{rivals}: {values}."


def _against(tables: ScoreTables, outcomes: Sequence[Outcome], by: str) -> str:
    """Each system against the baseline that was named."""
    words = {"a better": "better", "b better": "worse", "equal": "equal"}
    told = [
        f"{word(one.system_a)} {words.get(one.conclusion, one.conclusion)} ({_estimated(one)})" for one in outcomes[:AGAINST]
    ]
    more = f"; and {plural(len(outcomes) - AGAINST, 'other')}" if len(outcomes) > AGAINST else ""
    base = outcomes[0].system_b
    mean = tables.mean(base, outcomes[0].of)
    return f"Against {_value(base, mean) if mean else word(base)} by {by}: {'; '.join(told)}{more}."


def _estimated(one: Outcome) -> str:
    return ", ".join(filter(None, [plus(one.figure.value), confidence(one.figure.low, one.figure.high, sign=True)]))


def _because(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Why pairs are not decidable, each reason once with the systems that it is about."""
    reasons: dict[str, list[str]] = {}
    for one in outcomes:
        for because in one.because if one.conclusion == "not decidable" else ():
            reasons.setdefault(because, []).append(one.system_b if one.system_b != outcomes[0].system_b else one.system_a)
    several = len(outcomes) > 1
    for because, others in list(reasons.items())[:REASONS]:
        about_them = f" ({joined([word(name) for name in others], NAMED)})" if several else ""
        yield f"Not decidable{about_them}: {visible(because, longest=LONG)}."


def _cycle(tables: ScoreTables, metric: str) -> str:
    """Pairs can be in a circle where systems answered different questions: that is no order, and is called so."""
    beaten = {
        name: [other for other in tables.systems if tables.is_better(metric, other, name)] for name in tables.systems
    }
    try:
        TopologicalSorter(beaten).prepare()
    except CycleError as cause:
        names = [word(name) for name in cause.args[1]]
        pairs = [f"{one} is better than {other}" for one, other in pairwise(names)]
        return f"No order by {word(metric)}: {joined(pairs)}, each on the questions that both have."
    return ""


def _survival(tables: ScoreTables) -> str:
    """What each system that is ahead survives, and what not; against whom, where that is not all that the headline is about."""
    systems = list(dict.fromkeys(one.system for one in tables.report.survived))
    return " ".join(_survives(tables, system) for system in systems[:NAMED])


def _survives(tables: ScoreTables, first: str) -> str:
    report = tables.report
    own = [one for one in report.survived if one.system == first]
    others = list(dict.fromkeys(one.other for one in own))
    rivals = {name for one in report.outcomes for name in (one.system_a, one.system_b)} - {first}
    against = "" if rivals <= {*others} else f", against {joined([word(name) for name in others], NAMED)},"
    passed, failed, untried = list[str](), list[str](), list[str]()
    for check in dict.fromkeys(one.check for one in own):
        results = [one.passed for one in own if one.check == check]
        side = failed if False in results else untried if None in results else passed
        side.append(survival_name(check, report.drawn))
    parts = [f"stands {joined(passed)}" if passed else "", f"does not stand {joined(failed)}" if failed else "",
             f"not tried: {joined(untried)}" if untried else ""]
    return f"{word(first)}{against} {'; '.join(filter(None, parts))}."


def survival_name(check: SurvivalCheck, unit: str) -> str:
    """`by documents`, `with failed rows at their worst`."""
    return f"by {plural_of('document' if unit == 'question' else unit)}" if check == "groups" else SURVIVAL[check]


def _groups(tables: ScoreTables) -> str:
    """What the questions were drawn in, and as how many that stand alone they count; why there is no interval where the groups are few."""
    unit = tables.report.drawn
    means = [
        (system, mean) for system in tables.systems
        if tables.headline and (mean := tables.mean(system, tables.headline)) and mean.groups is not None
    ]
    if not means:
        return ""
    questions, groups = means[0][1].n_scored, means[0][1].groups or 0
    if any(mean.low is None for _, mean in means):
        why = f"{plural(questions, 'question')} of {plural(groups, unit)}, and fewer than {LEAST_GROUPS} do not tell what another would say"
        told = any(one.conclusion == "not decidable" for one in tables.report.outcomes)
        return f"No interval: {'too few ' + plural_of(unit) if told else why}; --cluster question takes each question as drawn alone."
    counts = joined([f"{number(round(mean.effective or 0))} ({word(system)})" for system, mean in means], NAMED)
    return f"Intervals are over {plural(groups, unit)}: {plural(questions, 'question')} count as {counts} that stand alone."


def _silent(tables: ScoreTables) -> str:
    """How often each system gave no answer."""
    systems = tables.report.systems
    missing = [f"{word(one.system)} {number(one.questions_missing)}" for one in systems if one.questions_missing]
    void = [
        f"{word(one.system)} {number(one.errors + one.empty)} of {number(one.answers)}" for one in systems if one.errors + one.empty
    ]
    lines = [f"Questions without an answer: {first_of(missing, 4, '; ')}; means are over the others."] if missing else []
    return " ".join([*lines, *([f"Answers that are errors or empty: {first_of(void, 4, '; ')}."] if void else [])])


def _known(tables: ScoreTables) -> str:
    """What was left out because a model knows it, and the same metric on all questions."""
    known = tables.report.known
    if known is None:
        return ""
    means = {score.system: score.overall for score in known.scores if score.metric == tables.headline}
    values = [f"{word(system)} {figure(mean.mean)}" for system, mean in means.items() if mean.mean is not None]
    beside = f"; {word(tables.headline or '')} on all of them: {joined(values, NAMED)}" if values else ""
    return f"{left_out(known)}{beside}."


def left_out(known: LeftOutKnown) -> str:
    """`Without 51 of 326 questions that closed-book answers without any text`, for the head of a report."""
    who = f"that {word(known.closed_book)} answers without any text" if known.closed_book else f"that {word(known.file)} names as known"
    lost = f" ({plural(known.lost, 'other')} may be: the closed book has no score for them)" if known.lost else ""
    return f"Without {number(known.left_out)} of {plural(known.questions, 'question')} {who}{lost}"


def _few(means: Iterable[Mean]) -> str:
    """A warning where a mean is over few questions, else ""."""
    least = min(mean.n_scored for mean in means)
    return f" Only {plural(least, 'question')}: a hint, no proof." if least < FEW else ""


def _value(system: str, mean: Mean) -> str:
    """`A 0.712 (95% CI [0.671, 0.752], 96 of 100 scored)`."""
    over = [confidence(mean.low, mean.high), f"{number(mean.n_scored)} of {number(mean.n)} scored"]
    return f"{word(system)} {figure(mean.mean)} ({', '.join(filter(None, over))})"


def _tally(tables: ScoreTables) -> str:
    """In how many metrics each system is better than all others."""
    compared = {metric for metric, _, _ in tables.conclusions}
    places = [place for metric in tables.metrics if metric in compared and (place := standing(tables, metric))]
    if len(places) < 2:
        return ""
    wins = Counter(place.order[0][0] for place in places if place.clear)
    if not wins:
        return f"No system is best in any of {number(len(places))} metrics that are compared."
    won = joined([f"{word(system)} in {number(n)}" for system, n in wins.most_common(4)])
    rest = f"none in {number(len(places) - sum(wins.values()))}"
    return f"Best, of {plural(len(places), 'metric')} that are compared: {won}; {rest}."


def gates_line(gates: Sequence[Gate]) -> str:
    """`Gates: 2 met, 1 missed (B: faithfulness >= 0.8: 0.741), 1 not answered.`; "" without gates."""
    parts = []
    for title, met in (("met", True), ("missed", False), ("not answered", None)):
        lines = [f"{gate_text(gate)}: {'no value' if gate.value is None else figure(gate.value)}" for gate in gates if gate.met is met]
        parts.append(f"{number(len(lines))} {title}" + (f" ({first_of(lines, 3, '; ')})" if lines and not met else ""))
    return f"Gates: {', '.join(parts)}." if gates else ""


def gate_text(gate: Gate) -> str:
    """`vector: faithfulness >= 0.8`, within a sentence."""
    return about(gate.of, gate.wanted, longest=NAME)


def word(text: str) -> str:
    """A name within a sentence, hidden characters written out."""
    return visible(text, longest=NAME)


def confidence(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """`95% CI [0.671, 0.752]`; "" where there is no interval, or none with a width: equal values do not prove that the next is equal."""
    ends = bracketed(low, high, partial(figure, sign=sign))
    return f"95% CI {ends}" if ends else ""


def to_fix(tables: ScoreTables) -> list[OverviewPriority]:
    """What to fix, with what it costs (`evidence`), the most pressing first: what makes the figures void, gates, lost answers, lost
    scores, then where the best system is weakest."""
    makers = (_run, _gates, _lost_answers, _unscored, _faults, _weak_groups, _wrong_steps, _too_few)
    rows = [row.model_copy(update={"advice": as_sentence(row.advice)}) for make in makers for row in make(tables)]
    return sorted(rows, key=lambda row: SEVERITIES.index(row.severity))


def _run(tables: ScoreTables) -> Iterator[OverviewPriority]:
    if not tables.report.complete:
        yield OverviewPriority(
            severity="error", title="The run is not complete", evidence="not all answers are scored", where="",
            why="It was stopped before its end, or more of its scores failed than are allowed.",
            advice="Run the same command again with --retry-errors: it goes on there.",
        )


def _gates(tables: ScoreTables) -> Iterator[OverviewPriority]:
    for gate in tables.report.gates:
        if gate.met is False:
            yield OverviewPriority(
                severity="error", title=f"Gate missed: {word(gate.wanted)}", where=gate.of or "",
                evidence=f"{reached(gate)}, wanted {gate.limit}", why="This threshold was set for this run.", advice=advice_on(gate.name),
            )
    if silent := [gate_text(gate) for gate in tables.report.gates if gate.met is None]:
        yield OverviewPriority(
            severity="error", title="Gates without an answer", evidence=plural(len(silent), "gate"), where="",
            why=f"{first_of(silent, 3, '; ')}: no value, or what is missing could decide it.",
            advice="Run the same command again with --retry-errors, and answer the missing questions. Where a metric has no meaning for a "
                   "system, set the threshold for the others only (SYSTEM:METRIC>=X).",
        )


def _lost_answers(tables: ScoreTables) -> Iterator[OverviewPriority]:
    for system in tables.report.systems:
        if lost := system.errors + system.empty:
            yield OverviewPriority(
                severity="warning", title="Answers that are errors or empty", where=system.system,
                evidence=f"{number(lost)} of {plural(system.answers, 'answer')}", why="Whoever asks these questions gets no answer.",
                advice=ADVICE["no_answer"],
            )
        if system.questions_missing:
            yield OverviewPriority(
                severity="warning", title="Questions without an answer", where=system.system,
                evidence=plural(system.questions_missing, "question"),
                why="The means are over the others, so that the systems may not have answered the same questions.",
                advice="Answer them (kgeval answer), then score again.",
            )


def _unscored(tables: ScoreTables) -> Iterator[OverviewPriority]:
    """The metric that lost most scores; how many others did, too."""
    failed = [summary for summary in tables.report.summaries if scoring_failures(summary.overall)]
    failed.sort(key=lambda finding: -sum(scoring_failures(finding.overall).values()))
    for finding in failed[:1]:
        mean, more = finding.overall, f" So it is with {plural(len(failed) - 1, 'other mean')}." if len(failed) > 1 else ""
        bounds = bracketed(mean.bound_low, mean.bound_high)
        yield OverviewPriority(
            severity="warning", title=f"Questions that could not be scored: {word(finding.metric)}", where=finding.system,
            evidence=f"{number(sum(scoring_failures(mean).values()))} of {plural(mean.n, 'question')}",
            why=(f"With them the mean could be anywhere in {bounds}." if bounds else "The mean is over the others.") + more,
            advice="Run the same command again with --retry-errors.",
        )


def harmful_joins(tables: ScoreTables) -> list[AuditJoin]:
    """The rules of the audit whose hits go along with lower scores by the headline's metric for sure, the one that touches most questions
    first."""
    metric = tables.headline
    if metric is None or tables.lower(metric):
        return []
    return sorted(_certain(_tested_rules(tables)), key=lambda join: -join.touched.n_scored)


def _tested_rules(tables: ScoreTables) -> list[tuple[AuditJoin, float, float]]:
    """Each rule with how much lower the scores of what it touches are, and the half of the interval on that side."""
    return [
        (join, -join.difference, max(join.high - join.difference, _unseen(join.touched))) for join in tables.report.joined
        if join.metric == tables.headline and join.rule is not None and join.difference is not None and join.high is not None
        and min(join.touched.n_scored, join.untouched.n_scored) >= LEAST
    ]


def _faults(tables: ScoreTables) -> Iterator[OverviewPriority]:
    """The rules of the audit whose hits go along with lower scores for sure."""
    metric, tested = tables.headline or "", _tested_rules(tables)
    for join in harmful_joins(tables)[:2]:
        rule, touched, others = word(join.rule or ""), join.touched, join.untouched
        yield OverviewPriority(
            severity="warning", title=f"The graph's fault {rule} goes along with worse answers", where=join.system,
            evidence=f"{number(touched.n_scored)} of {plural(touched.n_scored + others.n_scored, 'question')}",
            why=f"{word(metric)}: {figure(touched.mean)} where a question touches it, else {figure(others.mean)}. "
                f"{_holm(tested, 'rule')} No proof of cause.",
            advice=f"Fix what the audit lists under {rule}, then answer and score again.",
        )


def _weak_groups(tables: ScoreTables) -> Iterator[OverviewPriority]:
    """Where the leading system is weak: parts of the questions whose whole interval is worse than its mean over all."""
    metric = tables.headline
    place = standing(tables, metric) if metric else None
    system = place.order[0][0] if place else next(iter(tables.systems), "")
    whole = tables.mean(system, metric) if metric else None
    if metric is None or whole is None or whole.mean is None:
        return
    sign = -1 if tables.lower(metric) else 1
    tested: list[tuple[GroupSummary, float, float]] = []
    for group in tables.report.groups:
        if group.by == "context":  # no part of the questions: how much was retrieved is itself an answer to how hard they are
            continue
        mean, best = group.overall, group.overall.low if sign < 0 else group.overall.high
        if (group.system, group.metric) != (system, metric) or best is None or mean.mean is None or mean.n_scored < LEAST:
            continue
        tested.append((group, sign * (whole.mean - mean.mean), max(sign * (best - mean.mean), _unseen(mean))))
    kind, everywhere = part_of(metric), whole.mean
    for group in sorted(_certain(tested), key=lambda group: -abs(everywhere - (group.overall.mean or 0.0)) * group.overall.n_scored)[:2]:
        deep = group.by == "hops" and kind in ("answers", "reasoning") and group.value != "1"
        yield OverviewPriority(
            severity="warning", title=f"{WEAK[kind]} one part of the questions: {BY_WORDS[group.by]} {word(group.value)}", where=system,
            evidence=f"{number(group.overall.n_scored)} of {plural(whole.n_scored, 'question')}",
            why=f"{word(metric)} is {figure(group.overall.mean)} there, compared with {figure(whole.mean)} over all questions. "
                + _holm(tested, "group"),
            advice=ADVICE["hops_2" if group.value == "2" else "hops_3_up"] if deep else advice_on(metric),
        )


def _chance(worse: float, half: float) -> float:
    """How often chance alone makes a mean so much `worse`, from the half of its 95% interval on that side (two-sided, normal; Altman and
    Bland, BMJ 2011;343:d2304). 1 where it is not worse."""
    if sign(worse) <= 0:
        return 1.0
    return 2 * NormalDist().cdf(-NormalDist().inv_cdf(0.975) * worse / half) if not is_zero(half) else 0.0


def _certain(tested: Sequence[tuple[_Tested, float, float]]) -> list[_Tested]:
    """What stays worse after Holm's correction: of 100 documents, two or three have an interval that leaves the mean out by chance.
    `tested`: each with how much worse it is, and the half of its 95% interval on that side."""
    chances = [_chance(worse, half) for _, worse, half in tested]
    return [one for (one, *_), p in zip(tested, holm(chances), strict=True) if p is not None and p < 0.05]


def _holm(tested: Sequence[object], noun: str) -> str:
    """That it is no accident of looking at many."""
    return f"This holds after Holm's correction for {plural(len(tested), noun)}." if len(tested) > 1 else ""


def _wrong_steps(tables: ScoreTables) -> Iterator[OverviewPriority]:
    for chain in tables.report.reasoning:
        known = chain.wrong_step_answers
        wrong = round((chain.error_propagation or 0.0) * known)
        if wrong:
            yield OverviewPriority(
                severity="info", title="Wrong answers after a wrong step", where=chain.system,
                evidence=f"{number(wrong)} of {plural(known, 'question')} with a wrong step",
                why=f"{number(chain.with_wrong_step)} of {plural(chain.questions, 'question')} of several steps have a wrong one"
                    + (f" ({percent(chain.wrong_step_share)})." if chain.wrong_step_share is not None else "."),
                advice=ADVICE["stepwise_accuracy"],
            )


def _too_few(tables: ScoreTables) -> Iterator[OverviewPriority]:
    means = [mean for system in tables.systems if tables.headline and (mean := tables.mean(system, tables.headline)) and mean.n_scored]
    least = min((mean.n_scored for mean in means), default=FEW)
    if least < FEW:
        yield OverviewPriority(
            severity="info", title="Few questions", where="",
            evidence=f"{plural(least, 'question')}, where {number(FEW)} or more carry a decision",
            why="With few questions intervals of skewed scores are too narrow.", advice="Ask more questions (kgeval questions generate).",
        )
