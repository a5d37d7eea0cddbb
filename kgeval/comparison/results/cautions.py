"""What a reader of a comparison must be told before he believes its figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.comparison.results.pair import is_first
from kgeval.records import ComparisonReport, PairResult

CAUTION = 100  # questions [M]
MANY_DISCARDED = 0.2  # of the questions asked; [Z] lost 15 %
MANY_FAILED = 0.05
NAMED = 3  # pairs named in one note


def cautions(report: ComparisonReport) -> list[str]:
    """The notes of a report that follow from its figures, the gravest first."""
    first = [one for one in report.pairs if is_first(one)]
    return [*_size(first), *_lost(first), *_judge(report), *_checks(report)]


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


def _judge(report: ComparisonReport) -> Iterator[str]:
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
