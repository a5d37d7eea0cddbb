"""Shares with their intervals and what they are over, in words. Nothing measured is never shown as 0."""

from __future__ import annotations

from collections.abc import Mapping

from kgeval.format import interval, joined, number, percent, plural, visible
from kgeval.records import Estimate, PairedResult, PairResult, PowerRow, Proportion
from kgeval.stats.intervals import MANY


def share(value: Proportion) -> str:
    """`61.6 %`, or "-" where there was nothing to count."""
    return "-" if value.share is None or value.total == 0 else percent(value.share)


def of(value: Proportion) -> str:
    """`1,315 of 2,134`."""
    return f"{number(value.count)} of {number(value.total)}"


def full(value: Proportion) -> str:
    """`61.6 % (1,315 of 2,134; 95 %: 59.5 % to 63.6 %)`, or that there was nothing to find."""
    if value.total == 0 or value.share is None:
        return "nothing to count"
    between = interval(value.low, value.high)
    return f"{percent(value.share)} ({of(value)}{'; 95 %: ' + between if between else ''})"


def estimated(estimate: Estimate) -> str:
    """`82.3 % (95 %: 76.1 % to 87.5 %)`, or "no estimate"."""
    if estimate.value is None:
        return "no estimate"
    between = interval(estimate.low, estimate.high)
    return percent(estimate.value) + (f" (95 %: {between})" if between else "")


def over(estimate: Estimate) -> str:
    """What an estimate is over: `n 200, 197 scored, 61 clusters`."""
    clusters = "" if estimate.clusters is None else f", {plural(estimate.clusters, 'cluster')}"
    return f"n {number(estimate.n)}, {number(estimate.n_scored)} scored{clusters}"


def causes(failures: Mapping[str, int]) -> str:
    """`timeout 2, cut 1`, most frequent first; "" where nothing failed."""
    ordered = sorted(failures.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{visible(cause, longest=60)} {number(count)}" for cause, count in ordered if count)


def counted(table: Mapping[str, int]) -> str:
    """`173 entailed, 9 contradicted and 12 not stated`; most frequent first."""
    ordered = sorted(table.items(), key=lambda pair: (-pair[1], pair[0]))
    return joined([f"{number(count)} {visible(name.replace('_', ' '), longest=60)}" for name, count in ordered])


def questions_needed(one: PairResult | PairedResult | PowerRow) -> str:
    """`1,234`, `more than 100,000`; "-" where no number is enough, or the spread is not known."""
    return number(one.needed) if one.needed_above is None else f"more than {number(one.needed_above)}"


def items_needed(n: int | None) -> str:
    """`1,234`, `more than 100,000`."""
    return f"more than {number(MANY)}" if n is None else number(n)
