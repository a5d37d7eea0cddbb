"""Pairs that were stopped when sure: what holds for them is the confidence sequence, and nothing else. Pure.

How many questions such a pair has depends on what the judge said of them. An interval or a p-value that is made for a fixed number then
errs more often than it says, for pairs that were stopped and for those that went on to the end. So they are left out everywhere: the
first result of the pair (overall, all questions) gets the interval of its sequence, the others keep their means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgeval.comparison.results.pair import is_first
from kgeval.records import CorrectedRate, Estimated, JudgeReport, PairResult, Ranking, SelfCheck, Stopped
from kgeval.rounding import side

Stops = Mapping[frozenset[str], Stopped]
UNTESTED = ("p", "p_holm", "wilcoxon_p", "detectable", "needed", "needed_above")
NO_INTERVAL = "the pair was stopped when sure: an interval for a fixed number of questions does not hold"
NO_RANKS = "pairs were stopped when sure: intervals of strengths, made for a fixed number of questions, do not hold and are left out"


def stops_of(stopped: Iterable[Stopped]) -> Stops:
    """The stops by their two systems, in any order."""
    return {frozenset((stop.system_a, stop.system_b)): stop for stop in stopped}


def ends_for(a: str, b: str, stops: Stops) -> tuple[float, float] | None:
    """The ends of the pair's confidence sequence in the direction a minus b; None where the pair ran its fixed number of questions."""
    stop = stops.get(frozenset((a, b)))
    if stop is None:
        return None
    return (stop.low, stop.high) if (stop.system_a, stop.system_b) == (a, b) else (-stop.high, -stop.low)


def always_valid_pairs(results: Iterable[PairResult], stops: Stops) -> list[PairResult]:
    """The results, those of stopped pairs without p, power and ordinary intervals; the first of them with the always-valid one."""
    valid = []
    for result in results:
        ends = ends_for(result.system_a, result.system_b, stops)
        if ends is not None:
            low, high = ends if is_first(result) and result.relative.value is not None else (None, None)
            result = result.model_copy(update={
                **dict.fromkeys(UNTESTED), "always_valid": True, "gap": bare(result.gap),
                "relative": Estimated(value=result.relative.value, low=low, high=high),
            })
        valid.append(result)
    return valid


def bare(figure: Estimated) -> Estimated:
    """The value alone."""
    return Estimated(value=figure.value)


def always_valid_judge(reports: Sequence[JudgeReport], stops: Stops) -> list[JudgeReport]:
    """The judge reports; of stopped pairs, what is about who wins has no interval. Where the judge's first places went did not decide
    when to stop: that interval stays."""
    names = ("raw", "length_controlled", "length_slope")
    return [
        report if frozenset((report.system_a or "", report.system_b or "")) not in stops
        else report.model_copy(update={name: bare(getattr(report, name)) for name in names})
        for report in reports
    ]


def always_valid_ranking(ranking: Ranking, stops: Stops) -> Ranking:
    """The ranking, without intervals and the places they leave open where a pair was stopped."""
    if not stops or not ranking.rankable:
        return ranking
    systems = [
        ranked.model_copy(update={"strength": bare(ranked.strength), "rank_low": None, "rank_high": None}) for ranked in ranking.systems
    ]
    return ranking.model_copy(update={"systems": systems, "reason": NO_RANKS})


def always_valid_rates(rates: Iterable[CorrectedRate], stops: Stops) -> list[CorrectedRate]:
    """Corrected rates; those of stopped pairs without intervals, and why."""
    return [
        rate if frozenset((rate.system_a, rate.system_b)) not in stops
        else rate.model_copy(update={"relative": bare(rate.relative), "reason": rate.reason or NO_INTERVAL})
        for rate in rates
    ]


def always_valid_check(check: SelfCheck, runs: tuple[str, str], stops: Stops) -> SelfCheck:
    """An A/A check between two runs; where it was stopped, by its confidence sequence."""
    ends = ends_for(*runs, stops)
    if ends is None:
        return check
    return check.model_copy(update={
        "relative": Estimated(value=check.relative.value, low=ends[0], high=ends[1]), "passed": not side(*ends),
    })
