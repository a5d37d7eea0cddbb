"""All systems in order, and the thresholds of a comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kgeval.comparison.results.found import Threshold
from kgeval.comparison.table import PairTable
from kgeval.records import ComparisonGate, Estimated, PairResult, Ranked, Ranking
from kgeval.stats.thresholds import passes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LEAST = 3  # systems; two have no ranking that their pair does not say better


class Outcomes:
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
