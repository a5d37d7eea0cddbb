"""From what a run found to its report. One pair's table is in memory at a time, however many systems there are. Pure.

With up to MANY_PAIRS pairs every figure has its interval and its tests. With more (50 systems are 1,225 pairs) only the first question of a
comparison has them, who is better overall on all questions; the rest are rates, the judge is reported over all pairs, and a note says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from kgeval.comparison.forms import with_forms
from kgeval.comparison.results.inputs import ComparisonInputs, PairThreshold, Tables
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.outcomes import RATE, PairGrounds, grounds_of, outcome_of, shifted
from kgeval.comparison.results.pair import is_first, pair_results, with_holm
from kgeval.comparison.results.stopped_pairs import (
    always_valid_check,
    always_valid_judge,
    always_valid_pairs,
    always_valid_ranking,
    always_valid_rates,
    stops_of,
)
from kgeval.comparison.results.tally import JudgeTally, tally
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.format import first_of, plural
from kgeval.records import (
    ComparisonReport,
    ComparisonVerdict,
    Drill,
    DrillCall,
    Estimated,
    Gate,
    JudgeReport,
    KnownInPairs,
    Outcome,
    PairResult,
    Ranked,
    Ranking,
    SelfCheck,
    Winner,
)
from kgeval.rounding import side, sign

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.thresholds import Threshold

    Floats = npt.NDArray[np.float64]

MANY_PAIRS = 45  # of 10 systems
LEAST = 3  # systems; two have no ranking that their pair does not say better
MOST_OPENED = 1_000  # questions in the drill-down, over all pairs
CAUTION = 100  # questions [M]
MANY_DISCARDED = 0.2  # of the questions asked; [Z] lost 15 %
MANY_FAILED = 0.05
NAMED = 3  # pairs named in one note
STOPPED = "the run was stopped before its end: all figures are of what was judged until then"
TOO_MANY = "more question-trials than --max-error-rate allows have no result, because calls failed: the figures are of the rest"
NOT_FOR_ALL = ": the rest may not stand for all"

T = TypeVar("T")
_OTHER: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
_WINNERS: dict[int, Winner] = {1: "a", 0: "tie", -1: "b"}


def build_report(inputs: ComparisonInputs) -> ComparisonReport:
    """The report: pairs, ranking, judge, contrast, self checks, drill-down, thresholds, cautions.

    `inputs.tables` is read twice: once to see how many pairs there are. Deterministic for a seed.
    """
    number = sum(not _has_second_run(inputs, table) for table in inputs.tables())
    main = _figures_of(inputs, number)
    contrast = {name: _contrast(inputs, tables, number) for name, tables in inputs.contrast.items()}
    contrast_pairs = {name: results for name, (results, _) in contrast.items()}
    stops = stops_of(inputs.stopped)
    pairs = with_holm(always_valid_pairs(main.pairs, stops))
    judge = always_valid_judge(_judge_reports(main, number, inputs.seed), stops)
    outcomes = _outcomes(inputs, main, pairs, judge)
    failed = [name for name, results in {"": pairs, **contrast_pairs}.items() if too_many_failed(results, inputs.max_error_rate)]
    report = ComparisonReport(
        run=inputs.run, complete=inputs.complete and not failed, known=_known(inputs, number), procedure=inputs.procedure,
        trial_kind=inputs.trial_kind,
        signature=inputs.signature, judgements=inputs.judgements, requests=inputs.requests,
        settings=dict(inputs.settings), grades=dict(inputs.grades), systems=list(inputs.systems), pairs=pairs,
        ranking=always_valid_ranking(main.outcomes.ranking(seed=inputs.seed), stops) if len(main.outcomes.systems) >= LEAST else None,
        judge=judge, outcomes=outcomes, alignment=list(inputs.alignment),
        stopped=list(inputs.stopped), self_checks=main.self_checks, drift=inputs.drift,
        corrected=always_valid_rates(inputs.corrected, stops), contrast=contrast_pairs,
        contrast_judge={name: judge for name, (_, judge) in contrast.items()}, drill=main.drill, drill_left_out=main.left_out,
        missing=dict(inputs.missing), gates=list(gates(inputs.thresholds, pairs, outcomes, complete=inputs.complete)),
    )
    notes = [] if inputs.complete else [STOPPED]
    notes += [f"{name}: {TOO_MANY}" if name else TOO_MANY for name in failed]
    notes += cautions(report)
    if number > MANY_PAIRS:
        notes.append(
            f"{number} pairs: intervals and tests are given overall on all questions only; compare fewer systems to have them by aspect, "
            "data set and level, and the judge by pair"
        )
    return report.model_copy(update={"notes": [*notes, *inputs.notes]})


def too_many_failed(pairs: Iterable[PairResult], most: float) -> bool:
    """Whether a larger share of the questions over all pairs, or of their trials, has no result because calls failed."""
    whole = [pair for pair in pairs if is_first(pair)]
    failed, asked = sum(sum(pair.failures.values()) for pair in whole), sum(pair.n for pair in whole)
    lost, trials = sum(pair.lost for pair in whole), sum(pair.lost + pair.results for pair in whole)
    return failed > most * asked or lost > most * trials


# The order of all systems.


class PairOutcomes:
    """Who won which question, pair by pair: what a ranking needs of a table, a byte or two a trial."""

    def __init__(self) -> None:
        self.systems: dict[str, int] = {}
        self._pairs: list[tuple[int, int, list[str], npt.NDArray[np.float16]]] = []
        self._documents: dict[Hashable, str] = {}

    def add(self, table: PairTable) -> None:
        """Takes in one pair."""
        import numpy as np

        i, j = (self.systems.setdefault(name, len(self.systems)) for name in (table.system_a, table.system_b))
        self._documents |= {one.question_id: one.document for one in table.questions if one.document is not None}
        self._pairs.append((i, j, [question.question_id for question in table.questions], table.wins().astype(np.float16)))

    def ranking(self, *, seed: int, confidence: float = 0.95, ties: Literal["model", "half"] = "model") -> Ranking:
        """Bradley-Terry over all pairs, with ties (Newman), or with each tie as half a win for both; intervals by resampling questions, or
        what they were drawn with.
        Systems stand by strength; where they cannot be ranked, by average win rate."""
        import numpy as np

        from kgeval.stats.strengths import strengths_of_trials

        pairs = ((i, j, ids, wins.astype(np.float64)) for i, j, ids, wins in self._pairs)
        strengths = strengths_of_trials(
            pairs, list(self.systems), seed=seed, confidence=confidence, ties=ties, drawn_with=self._documents,
        )
        systems = [
            Ranked(
                system=system.system, strength=Estimated.of(system.strength, system), rank=system.rank,
                average_win_rate=system.average_win_rate, rank_low=system.rank_low, rank_high=system.rank_high,
            )
            for system in strengths.systems
        ]
        systems.sort(key=lambda ranked: (-(ranked.strength.value or 0.0), -(ranked.average_win_rate or 0.0), ranked.system))
        return Ranking(rankable=strengths.rankable, reason=strengths.reason or strengths.interval_reason, systems=systems)


# The thresholds of a comparison.


def gates(
    thresholds: Sequence[PairThreshold], pairs: Sequence[PairResult], outcomes: Sequence[Outcome], *, complete: bool,
) -> Iterator[Gate]:
    """Each threshold on each pair that it fits, on all questions. A threshold for (B, A) is read from (A, B) turned round; one that fits no
    pair has no answer, nor has one on a pair of which nothing can be concluded, or which questions without a result could turn."""
    by_pair = {(one.system_a, one.system_b): one for one in outcomes}
    for threshold in thresholds:
        fitting = 0
        for result in pairs:
            if result.by == "all" and not result.mean_of_datasets and result.aspect == (threshold.threshold.at or "overall"):
                swapped = _fits(threshold, result.system_b, result.system_a) and not _fits(threshold, result.system_a, result.system_b)
                if swapped or _fits(threshold, result.system_a, result.system_b):
                    fitting += 1
                    outcome = by_pair.get((result.system_a, result.system_b))
                    yield _gate(threshold.threshold, result, outcome, turned=swapped, complete=complete)
        if not fitting:
            yield threshold.threshold.gate(None, None, reason="no pair that it is about was compared")


def _fits(threshold: PairThreshold, a: str, b: str) -> bool:
    return threshold.system_a in (None, a) and threshold.system_b in (None, b)


def _gate(threshold: Threshold, one: PairResult, outcome: Outcome | None, *, turned: bool, complete: bool) -> Gate:
    by_people = outcome is not None and outcome.of != RATE
    if outcome is not None and is_first(one):  # labels of people lead where there are some
        one = one.model_copy(update={"relative": outcome.figure})
    value = _figure(threshold.name, one, turned=turned)
    a, b = (one.system_b, one.system_a) if turned else (one.system_a, one.system_b)
    met, why = None, None
    if value is None:
        why = "it has no value"
    elif not complete:
        why = "the run was stopped before its end"
    elif outcome is not None and outcome.because:
        why = outcome.because[0]
    elif outcome is not None and one.aspect in outcome.flat_aspects:
        why = outcome.flat_aspects[one.aspect]
    elif by_people and (threshold.name in ("win", "tie", "loss", "gap") or not is_first(one)):
        why = "labels of people lead here: set the threshold on relative, low or high of all aspects"
    elif threshold.name == "gap" and outcome is not None and any(side.empty or side.errors or side.absent for side in outcome.coverage):
        why = "answers that are not there have no points: set the threshold on relative, win or loss"
    elif len(answers := {threshold.met(end) for end in _with_missing(threshold.name, one, outcome, value, turned=turned)}) > 1:
        why = f"{plural(outcome.missing if outcome is not None else one.n - one.n_scored, 'question')} without a result could decide it"
    else:
        met = answers.pop()
    return threshold.gate(value, met, of=f"{a} vs {b}", at=one.aspect, reason=why)


def _with_missing(name: str, one: PairResult, outcome: Outcome | None, value: float, *, turned: bool) -> Iterator[float]:
    """The figure, and what it would be if one system, or the other, had won all questions without a result; nobody knows their points."""
    yield value
    missing = one.n - one.n_scored if outcome is None else outcome.missing
    if not missing or name == "gap":
        return
    for won in (-1.0, 1.0):
        if name in ("win", "tie", "loss"):
            yield (value * one.n_scored + (won + 1) / 2 * missing) / (one.n_scored + missing)
        else:
            whole = one.model_copy(update={"relative": _at_worst(one, outcome, missing, won)})
            if (end := _figure(name, whole, turned=turned)) is not None:
                yield end


def _at_worst(one: PairResult, outcome: Outcome | None, missing: int, won: float) -> Estimated:
    """The relative win rate with what is missing lost or won: of the pair as a whole it is known with its interval."""
    if outcome is not None and is_first(one):
        return outcome.lowest if won < 0 else outcome.highest
    return shifted(one.relative, one.n_scored, missing, won)


def _figure(name: str, one: PairResult, *, turned: bool) -> float | None:
    """A figure of the pair, or of the pair turned round."""
    if name in ("win", "tie", "loss"):
        side = {"win": "loss", "loss": "win"}.get(name, name) if turned else name
        return None if one.rates is None else float(getattr(one.rates, side))
    ends = (one.relative.high, one.relative.low) if turned else (one.relative.low, one.relative.high)
    value = {"relative": one.relative.value, "gap": one.gap.value, "low": ends[0], "high": ends[1]}[name]
    return None if value is None else -value if turned else value


# The figures of all pairs, table by table.


@dataclass
class _PairFigures:
    """What is kept of the tables, pair by pair."""

    pairs: list[PairResult] = field(default_factory=list)
    judge: list[JudgeReport] = field(default_factory=list)
    whole: JudgeTally = field(default_factory=JudgeTally)
    outcomes: PairOutcomes = field(default_factory=PairOutcomes)
    drill: list[Drill] = field(default_factory=list)
    left_out: int = 0
    grounds: list[PairGrounds] = field(default_factory=list)
    self_checks: list[SelfCheck] = field(default_factory=list)

    def add(self, inputs: ComparisonInputs, table: PairTable, number: int) -> JudgeTally:
        """Takes in the figures of one pair of `number`, and gives what its judge's calls say. Of one among very many: tests of the first
        question of a comparison only, and means for the heat maps."""
        seed, counts = inputs.seed, tally(table, trial_kind=inputs.trial_kind)
        self.outcomes.add(table)
        self.whole.join(counts)
        if number <= MANY_PAIRS:
            self.pairs += pair_results(table, seed=seed, pairs=number)
            # headings, bold passages and lists are counted where the texts are at hand
            formed = with_forms(table, inputs.texts, same=inputs.trial_kind == "rejudge") if inputs.texts else table
            self.judge.append(judge_report(formed, seed=seed, counts=counts))
        else:
            self.pairs += pair_results(table, seed=seed, by=("all",), aspects=(OVERALL,), pairs=number)
            self.pairs += pair_results(table, seed=seed, aspects=(OVERALL,), tested=False)[1:]
            aspects = [aspect for aspect in table.aspects if aspect != OVERALL]
            self.pairs += pair_results(table, seed=seed, by=("all",), aspects=aspects, tested=False)
        return counts


def _figures_of(inputs: ComparisonInputs, number: int) -> _PairFigures:
    """The figures of the main procedure, with A/A checks and drill-down."""
    figures = _PairFigures()
    most = min(inputs.drill, MOST_OPENED // max(1, number)) if inputs.drill else 0
    for table in inputs.tables():
        if not _has_second_run(inputs, table):
            counts = figures.add(inputs, table, number)
            figures.grounds.append(grounds_of(table, counts, seed=inputs.seed))
            order = most_telling(table.wins())
            figures.drill += [_drill(inputs, table, place) for place in order[:most]]
            figures.left_out += max(0, len(order) - most)
            continue
        systems = {inputs.self_check.get(name, name) for name in (table.system_a, table.system_b)}
        if len(systems) == 1:  # else a second run against another system
            figures.self_checks.append(_self_check(inputs, table, systems.pop()))
    return figures


def _outcomes(
    inputs: ComparisonInputs, main: _PairFigures, pairs: Sequence[PairResult], judge: Sequence[JudgeReport],
) -> list[Outcome]:
    """One a pair, in the order of the pairs."""
    first = {(pair.system_a, pair.system_b): pair for pair in pairs if is_first(pair)}
    judges = {(one.system_a, one.system_b): one for one in judge}
    return [outcome_of(first[grounds.pair], grounds, inputs, judges.get(grounds.pair)) for grounds in main.grounds]


def _contrast(inputs: ComparisonInputs, tables: Tables, number: int) -> tuple[list[PairResult], list[JudgeReport]]:
    """The same figures under another procedure; they are corrected among themselves."""
    figures = _PairFigures()
    for table in tables():
        if not _has_second_run(inputs, table):
            figures.add(inputs, table, number)
    return with_holm(figures.pairs), _judge_reports(figures, number, inputs.seed)


def _has_second_run(inputs: ComparisonInputs, table: PairTable) -> bool:
    """A second run of some system is in this pair: an A/A check, no pair of the comparison."""
    return bool(inputs.self_check.keys() & {table.system_a, table.system_b})


def _self_check(inputs: ComparisonInputs, table: PairTable, system: str) -> SelfCheck:
    """Passed where the interval holds 0, or where there is nothing but ties; None without an interval."""
    (result,) = pair_results(table, seed=inputs.seed, by=("all",), aspects=(OVERALL,))
    low, high = result.relative.low, result.relative.high
    passed = None if low is None or high is None else not side(low, high)
    check = SelfCheck(system=system, relative=result.relative, n=result.n_scored, passed=passed)
    return always_valid_check(check, (table.system_a, table.system_b), stops_of(inputs.stopped))


def _known(inputs: ComparisonInputs, number: int) -> KnownInPairs | None:
    """What was left out, and each pair overall on all questions, corrected among themselves: they are no second chance to find a
    difference."""
    if inputs.known is None or inputs.all_tables is None:
        return None
    pairs = [
        result for table in inputs.all_tables() if not _has_second_run(inputs, table)
        for result in pair_results(table, seed=inputs.seed, by=("all",), aspects=(OVERALL,), pairs=number)
    ]
    return KnownInPairs(**inputs.known.model_dump(), pairs=with_holm(pairs))


def _judge_reports(figures: _PairFigures, number: int, seed: int) -> list[JudgeReport]:
    """Over all pairs first, then each: one pair is all there is to say of two systems."""
    if len(figures.judge) == 1:
        return figures.judge
    return [whole_report(figures.whole, seed=seed), *figures.judge] if number else []


# The drill-down: which questions of a pair are opened, and what stands in them. Texts and calls come through functions.


def most_telling(wins: Floats) -> list[int]:
    """The scored questions, the most telling first: by turns the one with the largest mean of win - loss (either way) and the one that
    its trials disagree on most. Ties: the earlier question first."""
    import numpy as np

    scored = [place for place in range(len(wins)) if not np.isnan(wins[place]).all()]
    mean = {place: abs(float(np.nanmean(wins[place]))) for place in scored}
    spread = {place: float(np.nanstd(wins[place])) for place in scored}
    clear = sorted(scored, key=lambda place: -mean[place])
    mixed = sorted((place for place in scored if spread[place] > 0), key=lambda place: -spread[place])
    order: dict[int, None] = {}
    for turn in range(len(clear)):
        order |= dict.fromkeys([*clear[turn : turn + 1], *mixed[turn : turn + 1]])
    return list(order)


def _drill(inputs: ComparisonInputs, table: PairTable, place: int) -> Drill:
    """A question, opened at the first trial that says what most of them say; where none does, at the first with a result."""
    import numpy as np

    question, names, wins = table.questions[place], (table.system_a, table.system_b), table.wins()[place]
    agreeing = np.nonzero(wins == np.sign(np.nanmean(wins)))[0]
    trial = int(agreeing[0] if len(agreeing) else np.nonzero(~np.isnan(wins))[0][0])
    where = (*names, question.question_id, trial + 1)
    texts = inputs.texts(*where) if inputs.texts else None
    words = [None if np.isnan(count) else int(count) for count in table.words[place, trial]]
    return Drill(
        system_a=names[0], system_b=names[1], question_id=question.question_id, level=question.level, trial=trial + 1,
        question=inputs.question_text(question.question_id) if inputs.question_text else None,
        answer_a=texts[0] if texts else None, answer_b=texts[1] if texts else None, words_a=words[0], words_b=words[1],
        relative=float(np.nanmean(wins)), calls=list(_calls(inputs.calls(*where), table)) if inputs.calls else [],
    )


def _calls(verdicts: Iterable[ComparisonVerdict], table: PairTable) -> Iterator[DrillCall]:
    """Verdicts of one question and trial, call by call; of those written the other way round the sides are swapped."""
    calls: dict[tuple[str | None, int, int], list[ComparisonVerdict]] = {}
    for verdict in verdicts:
        if verdict.procedure == table.procedure:
            calls.setdefault((verdict.first, verdict.trial, verdict.repeat), []).append(verdict)
    for (first, trial, repeat), parts in calls.items():
        swap = parts[0].system_a == table.system_b
        points = {part.aspect: _sides(part.score_a, part.score_b, swap=swap) for part in parts}
        reasons = {part.aspect: _sides(part.reason_a or "", part.reason_b or "", swap=swap) for part in parts}
        yield DrillCall(
            first=first, trial=trial, repeat=repeat, points=points, reasons={aspect: two for aspect, two in reasons.items() if any(two)},
            winner=_winner(points, parts, swap=swap),
        )


def _sides(a: T, b: T, *, swap: bool) -> tuple[T, T]:
    return (b, a) if swap else (a, b)


def _winner(points: dict[str, tuple[float | None, float | None]], parts: list[ComparisonVerdict], *, swap: bool) -> Winner | None:
    """Of the whole call: the judge's overall choice where it made one, else the higher sum; None where points are lacking."""
    chosen = next((part.winner for part in parts if part.aspect == OVERALL), None)
    if chosen is not None:
        return _OTHER[chosen] if swap else chosen
    gap = 0.0
    for a, b in points.values():
        if a is None or b is None:
            return None
        gap += a - b
    return _WINNERS[sign(gap)]


# What a reader of a comparison must know before believing its figures.


def cautions(report: ComparisonReport) -> list[str]:
    """The notes of a report that follow from its figures, the gravest first."""
    first = [pair for pair in report.pairs if is_first(pair)]
    return [*_size_cautions(first), *_loss_cautions(first), *_judge_cautions(report)]


def _size_cautions(first: Sequence[PairResult]) -> Iterator[str]:
    from kgeval.stats.power import tier

    least = min((pair.n_scored for pair in first if pair.n_scored), default=0)
    if not least:
        yield "no pair has a single result"
    elif least == 1:
        yield "a pair has one question with a result: it says nothing of other questions"
    elif caution := tier(least).caution:
        yield f"under {CAUTION} questions in the smallest pair: {caution}"


def _loss_cautions(first: Sequence[PairResult]) -> Iterator[str]:
    for pair in first:
        names = f"{pair.system_a} and {pair.system_b}"
        failed, trials = sum(pair.failures.values()), pair.lost + pair.results
        if pair.n and pair.discarded > MANY_DISCARDED * pair.n:
            yield (
                f"{names}: {pair.discarded} of {pair.n} questions were discarded because the answers could not be brought to one length"
                f"{NOT_FOR_ALL}"
            )
        if pair.n and failed > MANY_FAILED * pair.n:
            yield f"{names}: {failed} of {pair.n} questions failed{NOT_FOR_ALL}"
        if pair.lost:
            many = NOT_FOR_ALL if pair.lost > MANY_FAILED * trials else ""
            yield f"{names}: {pair.lost} of {trials} question-trials were lost because calls failed{many}"


def _judge_cautions(report: ComparisonReport) -> Iterator[str]:
    if report.judge:  # the first one is of all pairs, or of the only one
        yield from report.judge[0].notes
    by_length = [f"{pair.system_a} and {pair.system_b}" for pair in report.judge if any("length of the answers" in n for n in pair.notes)]
    if by_length and len(report.judge) > 1:
        yield f"judge bias: at equal lengths another system would be ahead: {first_of(by_length, NAMED, '; ', noun='pair')}"
    if report.stopped:
        yield (
            "judged with --stop-when-sure: a pair's interval is its confidence sequence, which holds whenever one looks; ordinary "
            "intervals and p-values do not hold for such pairs and are left out"
        )
    if len(report.stopped) > 1:
        yield f"each of {len(report.stopped)} pairs was decided at 95 % by itself: nothing is corrected for their number"
    for check in report.self_checks:
        if check.passed is False:
            yield f"{check.system} differs from a second run of itself: differences of this size between systems mean nothing here"
