"""From what a run found to its report. One pair's table is in memory at a time, however many systems there are. Pure.

With up to MANY_PAIRS pairs every figure has its interval and its tests. With more (50 systems are 1,225 pairs) only the first question of a
comparison has them, who is better overall on all questions; the rest are rates, the judge is reported over all pairs, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from kgeval.comparison.forms import with_forms
from kgeval.comparison.results.inputs import ComparisonInputs, Tables, Threshold
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.pair import is_first, pair_results, with_holm
from kgeval.comparison.results.settled import settled_check, settled_judge, settled_pairs, settled_ranking, settled_rates, stops_of
from kgeval.comparison.results.tally import JudgeTally, tally
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import (
    ComparisonGate,
    ComparisonReport,
    ComparisonVerdict,
    Drill,
    DrillCall,
    Estimated,
    JudgeReport,
    PairResult,
    Ranked,
    Ranking,
    SelfCheck,
    Winner,
)
from kgeval.stats.thresholds import passes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

# All systems in order, and the thresholds of a comparison. Pure.

LEAST = 3  # systems; two have no ranking that their pair does not say better


class PairOutcomes:
    """Who won which question, pair by pair: what a ranking needs of a table, a byte or two a trial."""

    def __init__(self) -> None:
        self.systems: dict[str, int] = {}
        self._pairs: list[tuple[int, int, list[str], npt.NDArray[np.float16]]] = []

    def add(self, table: PairTable) -> None:
        """Takes in one pair."""
        import numpy as np

        i, j = (self.systems.setdefault(name, len(self.systems)) for name in (table.system_a, table.system_b))
        self._pairs.append((i, j, [one.question_id for one in table.questions], table.wins().astype(np.float16)))

    def ranking(self, *, seed: int) -> Ranking | None:
        """Bradley-Terry with ties over all pairs, intervals by resampling questions; null for fewer than three systems.

        Systems stand by strength; where they cannot be ranked, by average win rate.
        """
        import numpy as np

        from kgeval.stats.strengths import strengths_of_trials

        if len(self.systems) < LEAST:
            return None
        pairs = ((i, j, ids, wins.astype(np.float64)) for i, j, ids, wins in self._pairs)
        found = strengths_of_trials(pairs, list(self.systems), seed=seed)
        made = [
            Ranked(
                system=one.system, strength=Estimated(value=one.strength, low=one.low, high=one.high), rank=one.rank,
                average_win_rate=one.average_win_rate, rank_low=one.rank_low, rank_high=one.rank_high,
            )
            for one in found.systems
        ]
        reason = found.reason or found.interval_reason
        return Ranking(rankable=found.rankable, reason=reason, systems=sorted(made, key=_order))


def _order(one: Ranked) -> tuple[float, float, str]:
    strength, rate = one.strength.value, one.average_win_rate
    return (-strength if strength is not None else 0.0, -rate if rate is not None else 0.0, one.system)


def gates(thresholds: Sequence[Threshold], pairs: Sequence[PairResult], *, complete: bool) -> Iterator[ComparisonGate]:
    """Each threshold on each pair that it fits, on all questions. A threshold for (B, A) is read from (A, B) turned round."""
    for threshold in thresholds:
        for one in pairs:
            if one.by == "all" and not one.mean_of_datasets and one.aspect == threshold.aspect:
                turned = _fits(threshold, one.system_b, one.system_a) and not _fits(threshold, one.system_a, one.system_b)
                if turned or _fits(threshold, one.system_a, one.system_b):
                    yield _gate(threshold, one, turned=turned, complete=complete)


def _fits(threshold: Threshold, a: str, b: str) -> bool:
    return threshold.system_a in (None, a) and threshold.system_b in (None, b)


def _gate(threshold: Threshold, one: PairResult, *, turned: bool, complete: bool) -> ComparisonGate:
    value = _figure(threshold.figure, one, turned=turned)
    met = None if value is None or not complete else passes(value, threshold.limit, least=threshold.least)
    a, b = (one.system_b, one.system_a) if turned else (one.system_a, one.system_b)
    return ComparisonGate(
        system_a=a, system_b=b, aspect=one.aspect, figure=threshold.figure, least=threshold.least, limit=threshold.limit,
        value=value, met=met,
    )


def _figure(name: str, one: PairResult, *, turned: bool) -> float | None:
    """A figure of the pair, or of the pair turned round."""
    if name in ("win", "tie", "loss"):
        side = {"win": "loss", "loss": "win"}.get(name, name) if turned else name
        return None if one.rates is None else float(getattr(one.rates, side))
    ends = (one.relative.high, one.relative.low) if turned else (one.relative.low, one.relative.high)
    value = {"relative": one.relative.value, "gap": one.gap.value, "low": ends[0], "high": ends[1]}[name]
    return None if value is None else -value if turned else value


# The drill-down: which questions of a pair are opened, and what stands in them. Pure; texts and calls come through
# functions.

T = TypeVar("T")
_OTHER: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}


def drilled(found: ComparisonInputs, table: PairTable, most: int) -> Iterator[Drill]:
    """Up to `most` questions of a pair, opened at the first trial that says what most of them say."""
    wins = table.wins()
    for at in telling(wins)[:most]:
        yield _opened(found, table, at, _trial(wins[at]))


def telling(wins: Floats) -> list[int]:
    """The scored questions, the most telling first: by turns the one with the largest mean of win - loss (either way) and the one that
    its trials disagree on most. Ties: the earlier question first."""
    import numpy as np

    scored = [at for at in range(len(wins)) if not np.isnan(wins[at]).all()]
    mean = {at: abs(float(np.nanmean(wins[at]))) for at in scored}
    spread = {at: float(np.nanstd(wins[at])) for at in scored}
    clear = sorted(scored, key=lambda at: -mean[at])
    mixed = sorted((at for at in scored if spread[at] > 0), key=lambda at: -spread[at])
    order: dict[int, None] = {}
    for turn in range(len(clear)):
        order |= dict.fromkeys([*clear[turn : turn + 1], *mixed[turn : turn + 1]])
    return list(order)


def _trial(said: Floats) -> int:
    """The first trial that agrees with the mean of all; where none does, the first with a result."""
    import numpy as np

    sign = np.sign(np.nanmean(said))
    agreeing = np.nonzero(said == sign)[0]
    return int(agreeing[0] if len(agreeing) else np.nonzero(~np.isnan(said))[0][0])


def _opened(found: ComparisonInputs, table: PairTable, at: int, trial: int) -> Drill:
    import numpy as np

    asked, names = table.questions[at], (table.system_a, table.system_b)
    place = (*names, asked.question_id, trial + 1)
    texts = found.texts(*place) if found.texts else None
    words = [None if np.isnan(one) else int(one) for one in table.words[at, trial]]
    return Drill(
        system_a=names[0], system_b=names[1], question_id=asked.question_id, level=asked.level, trial=trial + 1,
        question=found.question_text(asked.question_id) if found.question_text else None,
        answer_a=texts[0] if texts else None, answer_b=texts[1] if texts else None, words_a=words[0], words_b=words[1],
        relative=float(np.nanmean(table.wins()[at])), calls=list(_calls(found.calls(*place), table)) if found.calls else [],
    )


def _calls(verdicts: Iterable[ComparisonVerdict], table: PairTable) -> Iterator[DrillCall]:
    """Verdicts of one question and trial, call by call; those written the other way round are turned."""
    calls: dict[tuple[str | None, int, int], list[ComparisonVerdict]] = {}
    for one in verdicts:
        if one.procedure == table.procedure:
            calls.setdefault((one.first, one.trial, one.repeat), []).append(one)
    for (first, trial, repeat), parts in calls.items():
        turned = parts[0].system_a == table.system_b
        points = {one.aspect: _turned((one.score_a, one.score_b), turned=turned) for one in parts}
        given = {one.aspect: _turned((one.reason_a or "", one.reason_b or ""), turned=turned) for one in parts}
        yield DrillCall(
            first=first, trial=trial, repeat=repeat, points=points, reasons={aspect: two for aspect, two in given.items() if any(two)},
            winner=_winner(points, parts, turned=turned),
        )


def _turned(two: tuple[T, T], *, turned: bool) -> tuple[T, T]:
    return (two[1], two[0]) if turned else two


def _winner(points: dict[str, tuple[float | None, float | None]], parts: list[ComparisonVerdict], *, turned: bool) -> Winner | None:
    """Of the whole call: the judge's overall choice where he made one, else the higher sum; null where points are lacking."""
    chosen = next((one.winner for one in parts if one.aspect == "overall"), None)
    if chosen is not None:
        return _OTHER[chosen] if turned else chosen
    if any(one is None for two in points.values() for one in two):
        return None
    gap = sum((a or 0.0) - (b or 0.0) for a, b in points.values())
    return "tie" if abs(gap) <= 1e-9 else "a" if gap > 0 else "b"


# What a reader of a comparison must be told before he believes its figures. Pure.

CAUTION = 100  # questions [M]
MANY_DISCARDED = 0.2  # of the questions asked; [Z] lost 15 %
MANY_FAILED = 0.05
NAMED = 3  # pairs named in one note


def cautions(report: ComparisonReport) -> list[str]:
    """The notes of a report that follow from its figures, the gravest first."""
    first = [one for one in report.pairs if is_first(one)]
    return [*_size(first), *_lost(first), *_judge_cautions(report), *_checks(report)]


def _size(first: Sequence[PairResult]) -> Iterator[str]:
    from kgeval.stats.power import tier

    scored = [one.n_scored for one in first if one.n_scored]
    if not scored:
        yield "no pair has a single result"
        return
    least = min(scored)
    caution = tier(least).caution
    if least == 1:
        yield "a pair has one question with a result: it says nothing of other questions"
    elif caution:
        yield f"under {CAUTION} questions in the smallest pair: {caution}"


def _lost(first: Sequence[PairResult]) -> Iterator[str]:
    for one in first:
        pair = f"{one.system_a} and {one.system_b}"
        failed = sum(one.failures.values())
        if one.n and one.discarded > MANY_DISCARDED * one.n:
            yield (
                f"{pair}: {one.discarded} of {one.n} questions were discarded because the answers could not be brought to one length: "
                "the rest may not stand for all"
            )
        if one.n and failed > MANY_FAILED * one.n:
            yield f"{pair}: {failed} of {one.n} questions failed: the rest may not stand for all"
        if one.lost:
            yield f"{pair}: {one.lost} of {one.lost + one.results} question-trials were lost because calls failed{_dire(one)}"


def _dire(one: PairResult) -> str:
    return ": the rest may not stand for all" if one.lost > MANY_FAILED * (one.lost + one.results) else ""


def _judge_cautions(report: ComparisonReport) -> Iterator[str]:
    whole = report.judge[0] if report.judge else None  # of all pairs, or of the only one
    yield from (f"judge: {note}" for note in (whole.notes if whole else ()))
    turning = [f"{one.system_a} and {one.system_b}" for one in report.judge if any("length of the answers" in note for note in one.notes)]
    if turning and len(report.judge) > 1:
        more = f" and {len(turning) - NAMED} pairs more" if len(turning) > NAMED else ""
        yield f"judge: at equal lengths another system would be ahead: {'; '.join(turning[:NAMED])}{more}"
    yield from _stopped(report)


def _stopped(report: ComparisonReport) -> Iterator[str]:
    if not report.stopped:
        return
    yield (
        "judged with --stop-when-sure: a pair's interval is its confidence sequence, which holds whenever one looks; ordinary intervals "
        "and p-values do not hold for such pairs and are left out"
    )
    if len(report.stopped) > 1:
        yield f"each of {len(report.stopped)} pairs was decided at 95 % by itself: nothing is corrected for their number"


def _checks(report: ComparisonReport) -> Iterator[str]:
    for check in report.self_checks:
        if check.passed is False:
            yield f"{check.system} differs from a second run of itself: differences of this size between systems mean nothing here"


MANY_PAIRS = 45  # of 10 systems
STOPPED = "the run was stopped before its end: all figures are of what was judged until then"
TOO_MANY = "more question-trials than --max-error-rate allows have no result, because calls failed: the figures are of the rest"
MOST_OPENED = 1_000  # questions in the drill-down, over all pairs


@dataclass
class _PairFigures:
    """What is kept of the tables, pair by pair."""

    pairs: list[PairResult] = field(default_factory=list)
    judge: list[JudgeReport] = field(default_factory=list)
    whole: JudgeTally = field(default_factory=JudgeTally)
    outcomes: PairOutcomes = field(default_factory=PairOutcomes)
    drill: list[Drill] = field(default_factory=list)
    left_out: int = 0
    self_checks: list[SelfCheck] = field(default_factory=list)


def build_report(found: ComparisonInputs) -> ComparisonReport:
    """The report: pairs, ranking, judge, contrast, self checks, drill-down, thresholds, cautions.

    `found.tables` is read twice: once to see how many pairs there are. Deterministic for a seed.
    """
    number = _pairs(found)
    main = _gathered(found, number)
    contrast = {name: _contrasted(found, tables, number) for name, tables in found.contrast.items()}
    stops = stops_of(found.stopped)
    pairs = with_holm(settled_pairs(main.pairs, stops))
    made = {name: one for name, (one, _) in contrast.items()}
    failed = [name for name, results in (("", pairs), *made.items()) if too_many_failed(results, found.max_error_rate)]
    report = ComparisonReport(
        run=found.run, complete=found.complete and not failed, procedure=found.procedure, trial_kind=found.trial_kind,
        signature=found.signature, judgements=found.judgements, requests=found.requests,
        settings=dict(found.settings), grades=dict(found.grades), systems=list(found.systems), pairs=pairs,
        ranking=settled_ranking(main.outcomes.ranking(seed=found.seed), stops),
        judge=settled_judge(_judge(main, number, found.seed), stops), alignment=list(found.alignment),
        stopped=list(found.stopped), self_checks=main.self_checks, drift=found.drift, corrected=settled_rates(found.corrected, stops),
        contrast=made, contrast_judge={name: judge for name, (_, judge) in contrast.items()},
        drill=main.drill, drill_left_out=main.left_out, missing=dict(found.missing),
        gates=list(gates(found.thresholds, pairs, complete=found.complete)),
    )
    stopped = [] if found.complete else [STOPPED]
    lost = [f"{name}: {TOO_MANY}" if name else TOO_MANY for name in failed]
    return report.model_copy(update={"notes": [*stopped, *lost, *cautions(report), *_light_note(number), *found.notes]})


def too_many_failed(pairs: Iterable[PairResult], most: float) -> bool:
    """Whether a larger share of the questions over all pairs, or of their trials, has no result because calls failed."""
    whole = [one for one in pairs if is_first(one)]
    failed, asked = sum(sum(one.failures.values()) for one in whole), sum(one.n for one in whole)
    lost, trials = sum(one.lost for one in whole), sum(one.lost + one.results for one in whole)
    return failed > most * asked or lost > most * trials


def _pairs(found: ComparisonInputs) -> int:
    """How many pairs there are, A/A checks left out: their number decides how much is computed of each."""
    return sum(not _second(found, table) for table in found.tables())


def _second(found: ComparisonInputs, table: PairTable) -> bool:
    """A second run of some system is in this pair."""
    return bool(found.self_check.keys() & {table.system_a, table.system_b})


def _own_run(found: ComparisonInputs, table: PairTable) -> str | None:
    """The system of an A/A check; null for a pair of two systems."""
    a, b = (found.self_check.get(name, name) for name in (table.system_a, table.system_b))
    return a if a == b and _second(found, table) else None


def _gathered(found: ComparisonInputs, number: int) -> _PairFigures:
    made = _PairFigures()
    most = min(found.drill, MOST_OPENED // max(1, number)) if found.drill else 0
    for table in found.tables():
        system = _own_run(found, table)
        if system is not None:
            made.self_checks.append(_self_check(found, table, system))
        elif not _second(found, table):
            _take(made, found, table, number)
            opened = list(drilled(found, table, most))
            made.drill += opened
            made.left_out += _scored(table) - len(opened)
    return made


def _take(made: _PairFigures, found: ComparisonInputs, table: PairTable, number: int) -> None:
    made.pairs += _figures(table, found.seed, number)
    made.outcomes.add(table)
    seen = tally(table, trial_kind=found.trial_kind)
    made.whole.join(seen)
    if number <= MANY_PAIRS:
        made.judge.append(judge_report(_formed(found, table), seed=found.seed, seen=seen))


def _figures(table: PairTable, seed: int, number: int) -> list[PairResult]:
    """All figures of a pair; of one among very many, tests of the first question only, and means for the heat maps."""
    if number <= MANY_PAIRS:
        return pair_results(table, seed=seed, pairs=number)
    first = pair_results(table, seed=seed, by=("all",), aspects=(OVERALL,), pairs=number)
    groups = pair_results(table, seed=seed, aspects=(OVERALL,), tested=False)[1:]
    aspects = [one for one in table.aspects if one != OVERALL]
    return first + groups + pair_results(table, seed=seed, by=("all",), aspects=aspects, tested=False)


def _formed(found: ComparisonInputs, table: PairTable) -> PairTable:
    """With headings, bold passages and lists counted, where the texts are at hand."""
    return with_forms(table, found.texts, same=found.trial_kind == "rejudge") if found.texts else table


def _scored(table: PairTable) -> int:
    import numpy as np

    return int(np.count_nonzero(np.count_nonzero(~np.isnan(table.wins()), axis=1)))


def _self_check(found: ComparisonInputs, table: PairTable, system: str) -> SelfCheck:
    """Passed where the interval holds 0, or where there is nothing but ties; null without an interval."""
    (one,) = pair_results(table, seed=found.seed, by=("all",), aspects=(OVERALL,))
    low, high = one.relative.low, one.relative.high
    passed = None if low is None or high is None else low <= 0 <= high
    check = SelfCheck(system=system, relative=one.relative, n=one.n_scored, passed=passed)
    return settled_check(check, (table.system_a, table.system_b), stops_of(found.stopped))


def _contrasted(found: ComparisonInputs, tables: Tables, number: int) -> tuple[list[PairResult], list[JudgeReport]]:
    """The same figures under another procedure; they are corrected among themselves."""
    made = _PairFigures()
    for table in tables():
        if not _second(found, table):
            _take(made, found, table, number)
    return with_holm(made.pairs), _judge(made, number, found.seed)


def _judge(made: _PairFigures, number: int, seed: int) -> list[JudgeReport]:
    """Over all pairs first, then each: one pair is all there is to say of two systems."""
    if len(made.judge) == 1:
        return [made.judge[0]]
    return [whole_report(made.whole, seed=seed), *made.judge] if number else []


def _light_note(number: int) -> Iterator[str]:
    if number > MANY_PAIRS:
        yield (
            f"{number} pairs: intervals and tests are given overall on all questions only; compare fewer systems to have them by aspect, "
            "data set and level, and the judge by pair"
        )
