"""Places in an order, where equal values share one: the one rule for every rank and every "best" of a report."""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.rounding import sign


def ranks(values: Sequence[float]) -> list[int]:
    """The place of each value, from 1 for the largest; equal ones share the better place: 1, 2, 2, 4. Means of the same scores differ in
    their last digits with the order of the questions: they are equal (`kgeval.rounding`; means, shares, strengths: of scale 1)."""
    return [1 + sum(sign(other - value) > 0 for other in values) for value in values]


def leaders(values: Sequence[float]) -> list[int]:
    """The positions of the largest value, several where some are equal to it; none of no values."""
    return [position for position, rank in enumerate(ranks(values)) if rank == 1]
