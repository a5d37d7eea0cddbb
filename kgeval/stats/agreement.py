"""How far two labellers agree, and how far a stored confidence can be believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """`raw`: share of items with the same label; `kappa`: Cohen's, None where both gave one and the same label throughout."""

    n: int
    raw: float | None
    kappa: float | None


def agreement(first: Sequence[str], second: Sequence[str]) -> Agreement:
    """Raw agreement and Cohen's kappa (1960, unweighted) of two labellers of the same items, in the same order.

    Raises: ValueError for lists of different lengths.
    """
    if len(first) != len(second):
        raise ValueError("two labellers must have labelled the same items")
    n = len(first)
    if not n:
        return Agreement(0, None, None)
    raw = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts, other_counts = Counter(first), Counter(second)
    chance = sum(counts[label] * other_counts[label] for label in counts) / (n * n)
    return Agreement(n, raw, None if chance == 1 else (raw - chance) / (1 - chance))


@dataclass(frozen=True)
class Bin:
    """Items whose confidence lies in [low, high) (the last bin includes its end): their mean confidence and share of rights."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


def reliability(confidence: Sequence[float], right: Sequence[float], *, bins: int = 10) -> list[Bin]:
    """Equal-width bins over 0..1 (Guo et al. 2017). `right`: 0 or 1 an item. Raises: ValueError for a confidence outside 0..1."""
    if any(not 0 <= c <= 1 for c in confidence):
        raise ValueError("a confidence lies between 0 and 1")
    parts: list[list[int]] = [[] for _ in range(bins)]
    for number, value in enumerate(confidence):
        parts[min(int(value * bins), bins - 1)].append(number)
    return [_bin(part, confidence, right, low=number / bins, high=(number + 1) / bins) for number, part in enumerate(parts)]


def _bin(part: list[int], confidence: Sequence[float], right: Sequence[float], *, low: float, high: float) -> Bin:
    if not part:
        return Bin(low, high, 0, None, None)
    return Bin(low, high, len(part), sum(confidence[i] for i in part) / len(part), sum(right[i] for i in part) / len(part))


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Expected calibration error (0..1): the bins' |accuracy - confidence|, weighted by their items; None without items."""
    total = sum(b.n for b in bins)
    gaps = (b.n * abs(b.accuracy - b.confidence) for b in bins if b.accuracy is not None and b.confidence is not None)
    return sum(gaps) / total if total else None
