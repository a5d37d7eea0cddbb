"""From what a run found to its report. One pair's table is in memory at a time, however many systems there are. Pure.

With up to MANY_PAIRS pairs every figure has its interval and its tests. With more (50 systems are 1,225 pairs) only the first question of a
comparison has them, who is better overall on all questions; the rest are rates, the judge is reported over all pairs, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kgeval.comparison.forms import with_forms
from kgeval.comparison.results.cautions import cautions
from kgeval.comparison.results.drill import drilled
from kgeval.comparison.results.found import Found, Tables
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.pair import is_first, pair_results, with_holm
from kgeval.comparison.results.ranked import Outcomes, gates
from kgeval.comparison.results.settled import settled_check, settled_judge, settled_pairs, settled_ranking, settled_rates, stops_of
from kgeval.comparison.results.tally import Tally, tally
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import ComparisonReport, Drill, JudgeReport, PairResult, SelfCheck

MANY_PAIRS = 45  # of 10 systems
STOPPED = "the run was stopped before its end: all figures are of what was judged until then"
TOO_MANY = "more question-trials than --max-error-rate allows have no result, because calls failed: the figures are of the rest"
MOST_OPENED = 1_000  # questions in the drill-down, over all pairs


@dataclass
class _Gathered:
    """What is kept of the tables, pair by pair."""

    pairs: list[PairResult] = field(default_factory=list)
    judge: list[JudgeReport] = field(default_factory=list)
    whole: Tally = field(default_factory=Tally)
    outcomes: Outcomes = field(default_factory=Outcomes)
    drill: list[Drill] = field(default_factory=list)
    left_out: int = 0
    self_checks: list[SelfCheck] = field(default_factory=list)


def build_report(found: Found) -> ComparisonReport:
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


def _pairs(found: Found) -> int:
    """How many pairs there are, A/A checks left out: their number decides how much is computed of each."""
    return sum(not _second(found, table) for table in found.tables())


def _second(found: Found, table: PairTable) -> bool:
    """A second run of some system is in this pair."""
    return bool(found.self_check.keys() & {table.system_a, table.system_b})


def _own_run(found: Found, table: PairTable) -> str | None:
    """The system of an A/A check; null for a pair of two systems."""
    a, b = (found.self_check.get(name, name) for name in (table.system_a, table.system_b))
    return a if a == b and _second(found, table) else None


def _gathered(found: Found, number: int) -> _Gathered:
    made = _Gathered()
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


def _take(made: _Gathered, found: Found, table: PairTable, number: int) -> None:
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


def _formed(found: Found, table: PairTable) -> PairTable:
    """With headings, bold passages and lists counted, where the texts are at hand."""
    return with_forms(table, found.texts, same=found.trial_kind == "rejudge") if found.texts else table


def _scored(table: PairTable) -> int:
    import numpy as np

    return int(np.count_nonzero(np.count_nonzero(~np.isnan(table.wins()), axis=1)))


def _self_check(found: Found, table: PairTable, system: str) -> SelfCheck:
    """Passed where the interval holds 0, or where there is nothing but ties; null without an interval."""
    (one,) = pair_results(table, seed=found.seed, by=("all",), aspects=(OVERALL,))
    low, high = one.relative.low, one.relative.high
    passed = None if low is None or high is None else low <= 0 <= high
    check = SelfCheck(system=system, relative=one.relative, n=one.n_scored, passed=passed)
    return settled_check(check, (table.system_a, table.system_b), stops_of(found.stopped))


def _contrasted(found: Found, tables: Tables, number: int) -> tuple[list[PairResult], list[JudgeReport]]:
    """The same figures under another procedure; they are corrected among themselves."""
    made = _Gathered()
    for table in tables():
        if not _second(found, table):
            _take(made, found, table, number)
    return with_holm(made.pairs), _judge(made, number, found.seed)


def _judge(made: _Gathered, number: int, seed: int) -> list[JudgeReport]:
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
