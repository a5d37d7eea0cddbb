"""Many tests at once: p-values corrected for all that is printed together."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (1979): of m tests, the chance of one false alarm or more stays under the level that p is held against.

    Sorted ascending, the i-th of m becomes max over j <= i of min(1, (m - j + 1) p_j). None stays None, and is not one of the m.
    Order is kept. Raises: ValueError for a p outside 0..1.
    """
    if any(p is not None and not 0 <= p <= 1 for p in ps):
        raise ValueError("a p-value lies between 0 and 1")
    known = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    reached = 0.0
    for place, (p, index) in enumerate(known):
        reached = max(reached, min(1.0, (len(known) - place) * p))
        corrected[index] = reached
    return corrected
