"""The pairs of a comparison, looked up either way round, and the verdict on them in plain words: which system is better, by how much; or
that nothing can be told, and how many questions more it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kgeval.comparison.results.outcomes import EQUAL_LENGTHS, RATE
from kgeval.format import bracketed, chance, figure, joined, number, plural, share, signed, visible
from kgeval.overview.score_verdict import left_out
from kgeval.records import Box, ComparedBy, ComparisonReport, Conclusion, Estimated, JudgeReport, Outcome, PairResult, Rates, Stopped
from kgeval.records.base import OfPair
from kgeval.reports.measures import causes, questions_needed
from kgeval.rounding import at_most, is_equal, is_zero, sign
from kgeval.stats.outcome import ALPHA

Decision = Literal["a", "b", "equal", "open"]
OVERALL = "overall"
FEW = 10  # questions: under this nothing is concluded, marked or coloured
TOO_FEW = "too few"
ALWAYS = "always valid"
SENTENCES = 6  # pairs that the verdict has a sentence for
NAMED = 4  # systems that a sentence names
MOST_IN_CIRCLE = 6  # systems
_OTHER: dict[Decision, Decision] = {"a": "b", "b": "a"}
_WINNERS: dict[Conclusion, str] = {"a better": "a", "b better": "b"}
_TURNED: dict[Conclusion, Conclusion] = {"a better": "b better", "b better": "a better"}


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


@dataclass(frozen=True)
class PairView:
    """A report with what is looked up in it. `systems`: by rank, where there is a ranking, else as they came."""

    report: ComparisonReport
    systems: list[str]
    aspects: list[str]
    groups: list[Group]
    pairs: list[tuple[str, str]]
    results: dict[tuple[str, str, str, Group], PairResult] = field(repr=False)
    stops: dict[tuple[str, str], Stopped] = field(repr=False)
    outcomes: dict[tuple[str, str], Outcome] = field(repr=False)

    def result(self, a: str, b: str, aspect: str = OVERALL, group: Group = ALL) -> PairResult | None:
        """The result of A against B, also where the report has B against A."""
        other = self.results.get((b, a, aspect, group))
        return self.results.get((a, b, aspect, group)) or (other and swap_sides(other))

    def first(self) -> Iterator[PairResult]:
        """Overall on all questions, pair by pair: what the verdict is about."""
        return (pair for a, b in self.pairs if (pair := self.result(a, b)) is not None)

    def outcome(self, a: str, b: str) -> Outcome | None:
        """What was concluded of A against B, also where the report has B against A."""
        outcome, other = self.outcomes.get((a, b)), self.outcomes.get((b, a))
        return outcome if outcome is not None or other is None else swap_outcome(other)

    def stop(self, a: str, b: str) -> Stopped | None:
        """Where A against B was stopped when sure, also where the report has B against A."""
        stop, other = self.stops.get((a, b)), self.stops.get((b, a))
        if stop is not None or other is None:
            return stop
        decision = _OTHER.get(other.decision, other.decision)
        return other.model_copy(update={"system_a": a, "system_b": b, "low": -other.high, "high": -other.low, "decision": decision})

    def win_rate(self, system: str) -> float | None:
        """Ties half, the mean over its opponents; None where it has no result."""
        pairs = [self.result(system, other) for other in self.systems if other != system]
        rates = [pair.rates.win + pair.rates.tie / 2 for pair in pairs if pair is not None and pair.rates is not None]
        return sum(rates) / len(rates) if rates else None


def view_of(report: ComparisonReport) -> PairView:
    """The view of a report."""
    ranked = [place.system for place in report.ranking.systems] if report.ranking else []
    paired = [system for pair in report.pairs for system in (pair.system_a, pair.system_b)]
    return PairView(
        report, list(dict.fromkeys([*ranked, *paired, *(use.system for use in report.systems)])),
        list(dict.fromkeys(pair.aspect for pair in report.pairs)), list(dict.fromkeys(map(group_of, report.pairs))),
        list(dict.fromkeys((pair.system_a, pair.system_b) for pair in report.pairs)),
        {(pair.system_a, pair.system_b, pair.aspect, group_of(pair)): pair for pair in report.pairs},
        {(stop.system_a, stop.system_b): stop for stop in report.stopped},
        {(one.system_a, one.system_b): one for one in report.outcomes},
    )


def group_of(pair: PairResult) -> Group:
    """Where a result belongs."""
    return Group(pair.by, pair.value, pair.mean_of_datasets)


def swap_sides(pair: PairResult) -> PairResult:
    """The same result seen from B."""
    def other(rates: Rates) -> Rates:
        return Rates(win=rates.loss, tie=rates.tie, loss=rates.win)

    box = pair.box_relative
    return pair.model_copy(update={
        "system_a": pair.system_b, "system_b": pair.system_a, "rates": pair.rates and other(pair.rates),
        "relative": pair.relative.turned(), "gap": pair.gap.turned(), "effect": None if pair.effect is None else -pair.effect,
        "superiority": None if pair.superiority is None else 1 - pair.superiority,
        "per_trial": [
            trial.model_copy(update={"rates": other(trial.rates), "relative": 0.0 - trial.relative}) for trial in pair.per_trial
        ],
        "box_win": pair.box_loss, "box_loss": pair.box_win, "box_relative": box and Box(
            n=box.n, low=-box.high, q25=-box.q75, median=-box.median, q75=-box.q25, high=-box.low,
            outliers=[-value for value in reversed(box.outliers)],
        ),
    })


def swap_outcome(outcome: Outcome) -> Outcome:
    """The same outcome seen from B."""
    return outcome.model_copy(update={
        "system_a": outcome.system_b, "system_b": outcome.system_a, "figure": outcome.figure.turned(),
        "lowest": outcome.highest.turned(), "highest": outcome.lowest.turned(),
        "conclusion": _TURNED.get(outcome.conclusion, outcome.conclusion), "coverage": outcome.coverage[::-1],
        "beside": {name: one.turned() for name, one in outcome.beside.items()},
    })


def word(text: str, longest: int = 60) -> str:
    """A name from outside, safe to stand in a sentence."""
    return visible(text, longest=longest)


def pair_name(one: OfPair | JudgeReport) -> str:
    """`A vs B`; `all pairs` without systems."""
    return f"{word(one.system_a)} vs {word(one.system_b)}" if one.system_a and one.system_b else "all pairs"


def points(value: float | None) -> str:
    """A difference of points with its sign; `-` for None."""
    return figure(value, digits=2, sign=True)


def between(one: Estimated, form: Callable[[float], str] = signed) -> str:
    """`[+3.1 %, +12.0 %]`; "" without an interval that has a width."""
    return bracketed(one.low, one.high, form)


def ends(pair: PairResult) -> str:
    """The interval of the relative win rate; that of a confidence sequence says so. "" without one."""
    interval = between(pair.relative)
    return f"{interval}, {ALWAYS}" if interval and pair.always_valid else interval


def scored(pair: PairResult) -> str:
    """`147 of 150`; `4 of 4, too few`; `20 of 20, in 109 of 160 trials` where calls of some trials failed."""
    trials = f"in {number(pair.results)} of {number(pair.results + pair.lost)} trials" if pair.lost and pair.results else ""
    few = TOO_FEW if 0 < pair.n_scored < FEW else ""
    return ", ".join(filter(None, [f"{number(pair.n_scored)} of {number(pair.n)}", trials, few]))


def lost(pair: PairResult) -> str:
    """What became of the questions without a result: `2 discarded, timeout 1`; "" where all have one."""
    return ", ".join(filter(None, [f"{number(pair.discarded)} discarded" if pair.discarded else "", causes(pair.failures)]))


def starred(pair: PairResult, outcome: Outcome | None) -> bool:
    """Whether a figure of a pair is marked as a difference: where its test stands, and the pair's outcome lets one conclude anything. The
    pair's own figure is marked as its outcome says."""
    if outcome is None or outcome.because:
        return False
    if pair.aspect == OVERALL and group_of(pair) == ALL:
        return winner(outcome) is not None
    return not pair.always_valid and pair.n_scored >= FEW and pair.p_holm is not None and at_most(pair.p_holm, ALPHA)


def winner(outcome: Outcome | None) -> str | None:
    """a or b where one is better, else None."""
    return _WINNERS.get(outcome.conclusion) if outcome is not None else None


def verdict(view: PairView) -> list[str]:
    """The sentences of the verdict; the first one says it all, if only one is read, and whose verdict it is."""
    pairs = sorted(view.first(), key=lambda pair: -abs(pair.relative.value or 0.0))  # the clearest first
    if not pairs:
        return ["There is no pair of systems in this report."]
    lines = [_leaders(view)] if len(view.systems) > 2 and len(pairs) > 1 else []
    for pair in pairs[:SENTENCES]:
        names = pair.system_a, pair.system_b
        lines.append(sentence(pair, view.outcome(*names), view.stop(*names)))
    if len(pairs) > SENTENCES:
        lines.append(f"{plural(len(pairs) - SENTENCES, 'pair')} more: in the tables and heat maps.")
    if known := view.report.known:
        values = [f"{pair_name(pair)} {signed(pair.relative.value)}" for pair in known.pairs[:SENTENCES] if pair.relative.value is not None]
        lines.append(left_out(known) + (f"; relative win rate on all of them: {joined(values)}." if values else "."))
    judges = dict.fromkeys(word(model.name) for model in view.report.run.models if model.role == "judge")
    return [f"{lines[0]} Judge: {joined(list(judges))}.", *lines[1:]] if judges else lines


def sentence(pair: PairResult, outcome: Outcome | None, stop: Stopped | None = None) -> str:
    """One pair in words: its outcome, how often each system gave no answer, and what else was measured."""
    a, b = word(pair.system_a), word(pair.system_b)
    if outcome is None:
        return f"No outcome of {a} and {b} stands in this report."
    if pair.rates is None:
        return f"Nothing can be told of {a} and {b}: none of {plural(pair.n, 'question')} has a result ({lost(pair) or 'not judged'})."
    return " ".join(filter(None, [_concluded(pair, outcome, stop), silence(outcome), _beside(outcome)]))


def _concluded(pair: PairResult, outcome: Outcome, stop: Stopped | None) -> str:
    a, b, n, side = word(pair.system_a), word(pair.system_b), pair.n_scored, winner(outcome)
    seen, figure = (swap_sides(pair), outcome.figure.turned()) if side == "b" else (pair, outcome.figure)  # from the side of the better one
    ends_of = between(figure) + (f", {ALWAYS}" if pair.always_valid and between(figure) else "")
    rate = f"{word(outcome.of, 120)} {signed(figure.value)}" + (f", 95% CI {ends_of}" if ends_of else "")
    end = "" if stop is None else f"; the comparison stopped when it was sure, after {plural(stop.questions, 'question')}"
    drawn = drawn_groups(outcome)
    rates = seen.rates or Rates(win=0.0, tie=0.0, loss=0.0)
    if side is not None and outcome.of != RATE:  # wins and losses are the judge's
        return f"{word(seen.system_a)} is better than {word(seen.system_b)}: {rate}{drawn}."
    if side is not None:
        return (
            f"{word(seen.system_a)} is better than {word(seen.system_b)}: it wins {share(rates.win)} and loses "
            f"{share(rates.loss)} of {number(n)} questions{drawn}, {share(rates.tie)} are ties; {rate}{end}."
        )
    if outcome.conclusion == "not decidable":
        why = "; ".join(word(reason, 500) for reason in outcome.because)
        return f"Not decidable between {a} and {b}: {why}. On what there is: {rate}{drawn}."
    if outcome.conclusion == "equal":
        return f"{a} and {b} are equal within {share(outcome.within)}: {rate}{drawn}{end}."
    if stop is not None:
        over = "" if stop.questions == stop.of_questions else f" of {number(stop.of_questions)}"
        return (
            f"Not decided between {a} and {b}: {rate}, after {number(stop.questions)}{over} questions; neither a winner nor equality "
            f"within {share(stop.tie_region)} is sure."
        )
    if outcome.of != RATE:
        return f"No difference found between {a} and {b}: {rate}{drawn}."
    if is_equal(rates.tie, 1.0):
        return f"No difference found between {a} and {b}: all of {plural(n, 'question')}{drawn} are ties."
    same = "they win and lose equally often, " if is_zero(figure.value or 0.0) else ""
    return f"No difference found between {a} and {b}: {same}{rate}{drawn}. {' '.join(_what_it_takes(pair))}"


def drawn_groups(outcome: Outcome) -> str:
    """` from 12 documents (as sure as 31 independent questions)`; "" where each question stands alone."""
    groups = outcome.groups
    if groups.groups >= groups.questions:
        return ""
    sure = "" if groups.effective is None else f" (as sure as {plural(max(1, round(groups.effective)), 'independent question')})"
    return f" from {plural(groups.groups, word(groups.unit))}{sure}"


def silence(outcome: Outcome) -> str:
    """`A gave no answer to 60 of 100 questions (3 of them errors); B answered all.`; "" where both answered all."""
    if not any(one.empty or one.errors or one.absent for one in outcome.coverage):
        return ""
    told = []
    for one in outcome.coverage:
        kinds = ((one.errors, "errors"), (one.absent, "not in its answers"))
        known = ", ".join(f"{number(count)} {kind}" for count, kind in kinds if count)
        count = one.empty + one.errors + one.absent
        lacking = f"gave no answer to {number(count)} of {plural(one.questions, 'question')}{f' ({known})' if known else ''}"
        told.append(f"{word(one.system)} {lacking if count else 'answered all'}")
    return f"{'; '.join(told)}."


def _beside(outcome: Outcome) -> str:
    """What else was measured of the same pair, where it may be read differently."""
    told = [
        f"{word(name)} {signed(one.value)} {between(one)}".rstrip() for name, one in outcome.beside.items()
        if one.value is not None and (name != EQUAL_LENGTHS or sign(one.value) * sign(outcome.figure.value or 0.0) < 0)
    ]
    return f"Beside it: {joined(told)}." if told else ""


def _what_it_takes(pair: PairResult) -> Iterator[str]:
    """What a pair without a difference would need to show one."""
    if pair.p is not None and pair.p_holm is not None and at_most(pair.p, ALPHA) and not at_most(pair.p_holm, ALPHA):
        yield f"Alone it would count as found (p {_is(pair.p)}), but not among all pairs of this comparison (p {_is(pair.p_holm)}, Holm)."
    if pair.detectable is None:
        yield "A difference may be there all the same."
    else:
        yield (
            f"{number(pair.n_scored)} questions show a difference of {share(pair.detectable)} or more (with 80 % power); a smaller one may "
            "be there."
        )
    if pair.needed is not None and pair.needed > pair.n_scored:
        yield f"If it is as large as it looks here, about {plural(pair.needed - pair.n_scored, 'question')} more would show it."
    if pair.needed_above is not None and pair.n_scored < pair.needed_above:
        yield f"If it is as small as it looks here, it takes {questions_needed(pair)} questions to show it."


def _is(p: float | None) -> str:
    text = chance(p)
    return text if text.startswith("<") else f"= {text}"


def _leaders(view: PairView) -> str:
    """The best system, and those that it was not found to be better than."""
    best, over, ranking = view.systems[0], f"{plural(len(view.systems), 'system')}, {plural(len(view.pairs), 'pair')}", view.report.ranking
    if not any(pair.rates for pair in view.first()):
        return f"{over}: nothing can be told of their order, no pair has a result."
    outcomes: dict[str, list[str]] = {}
    for other in view.systems[1:]:
        outcomes.setdefault(_against(view, best, other), []).append(other)
    if ring := circle(view):
        steps = [f"{word(one)} is better than {word(two)}" for one, two in zip(ring, [*ring[1:], ring[0]], strict=True)]
        return f"{over}: a circle, so they have no order: {joined(steps)}."
    if set(outcomes) == {"wins"}:
        return f"{over}: {word(best)} is better than every other system."
    if ranking is None or not ranking.rankable:
        why = "there is no ranking" if ranking is None else word(ranking.reason or "no reason given", 300)
        return f"{over}: they cannot be ranked ({why})."
    top = [one.system for one in ranking.systems if one.rank == 1]
    who, lead = "it", f"{word(best)} has the highest strength"
    if len(top) > 1:  # that A is not found to be better than B needs no words where their strengths are equal
        who, lead = word(best), f"{_named(top)} have equal strength, the highest"
        outcomes["open"] = [other for other in outcomes.get("open", []) if other not in top]
    if "loses" in outcomes:
        return f"{over}: {lead}, but {f'{who} ' if len(top) > 1 else ''}loses to {_named(outcomes['loses'])}."
    parts = {"equal": "equal, within the tie region, to", "open": "not found to be better than", "undecided": "not decidable against",
             "unknown": "not compared with"}
    but = "; ".join(f"{who} is {text} {_named(outcomes[how])}" for how, text in parts.items() if outcomes.get(how))
    return f"{over}: {lead}{f', but {but}' if but else ''}."


def _named(systems: list[str]) -> str:
    return joined([*map(word, systems)], NAMED)


def _against(view: PairView, best: str, other: str) -> str:
    """wins, loses, equal (sure to lie within the tie region), open, undecided (nothing can be concluded), or unknown (no result)."""
    pair, outcome = view.result(best, other), view.outcome(best, other)
    if pair is None or pair.rates is None or outcome is None:
        return "unknown"
    return {"a better": "wins", "b better": "loses", "equal": "equal", "not decidable": "undecided"}.get(outcome.conclusion, "open")


def circle(view: PairView) -> list[str]:
    """Systems that are each better than another of them and worse than another: they have no order. Empty where there are none."""
    names = view.systems
    better = {name: [other for other in names if other != name and winner(view.outcome(name, other)) == "a"] for name in names}
    for start in names:
        ways = [[start]]
        while ways:  # the shortest way back, for that is the one which can be read
            way = ways.pop(0)
            for other in better[way[-1]]:
                if other == start:
                    return way
                if other not in way and len(way) < MOST_IN_CIRCLE:
                    ways.append([*way, other])
    return []
