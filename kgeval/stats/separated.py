"""Why systems cannot be put in one order with finite strengths, in words that name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgeval.stats import pairmodel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

NAMED = 5  # systems named in a list


def not_rankable(wins: Floats, ties: Floats, systems: Sequence[str]) -> str | None:
    """What separates which systems from which; null where finite strengths exist (`pairmodel.exists`).

    `wins`, `ties`: (systems, systems), ties symmetric.
    """
    if len(systems) < 2:
        return "fewer than 2 systems"
    if not (wins.any() or ties.any()):
        return "no comparison has a result"
    if (apart := _never_met(wins + ties, systems)) is not None:
        return apart
    if not wins.any():
        return "every comparison is a tie: nothing tells the systems apart"
    if not pairmodel.connected((wins + ties)[None])[0]:
        return _one_sided(wins + ties, systems)
    if ties.any() and not pairmodel.turns_round(wins, ties):
        return _only_ties_against(wins, systems)
    return None


def _never_met(met: Floats, systems: Sequence[str]) -> str | None:
    groups = pairmodel.components(met, strong=False)
    if not groups.any():
        return None
    parts = [_of(systems, groups == group) for group in range(min(int(groups.max()) + 1, NAMED))]
    more = "" if int(groups.max()) < NAMED else " | ..."
    return f"never compared with one another, not even through others: {' | '.join(parts)}{more}"


def _one_sided(beaten: Floats, systems: Sequence[str]) -> str:
    """A group within which results go round, that nobody outside beats or ties: there is one, where not all systems are one group."""
    groups = pairmodel.components(beaten)
    for group in range(int(groups.max()) + 1):
        inside = groups == group
        met = (beaten[inside] > 0).any(axis=0) & ~inside
        if met.any() and not beaten[~inside][:, inside].any():
            who, others = _of(systems, inside), _of(systems, met)
            return f"{who} won every comparison with {others}: nothing says by how much, so there are no finite strengths"
    return "the systems fall into groups that never lose to one another: there are no finite strengths"


def _only_ties_against(wins: Floats, systems: Sequence[str]) -> str:
    """Wins go one way only: those that win and never lose stand on top."""
    import numpy as np

    tops = np.logical_and((wins > 0).any(axis=1), ~(wins > 0).any(axis=0))
    return f"{_of(systems, tops)} never lost, and only ties link the winners with those that lost: there are no finite strengths"


def _of(systems: Sequence[str], chosen: npt.NDArray[np.bool_]) -> str:
    listed = [name for name, taken in zip(systems, chosen.tolist(), strict=True) if taken]
    more = len(listed) - NAMED
    return ", ".join(listed[:NAMED]) + (f" and {more} more" if more > 0 else "")
