"""A part of the graph in place of the whole: checks of strings may look at a share of the things, picked by their ids.

The pick is a fixed one for a seed: id * 618,037 + seed, modulo the prime 1,000,003, below share * 1,000,003 (steps of the golden section,
which spread evenly over any run of ids). Ids follow the order of writing, so that this takes things from all over the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.graph.queries import Query
from kgeval.records import ShareInterval
from kgeval.stats.intervals import quantile, wilson

PRIME = 1_000_003
STRIDE = 104_729


@dataclass(frozen=True)
class PartialScan:
    """Which share of the things is looked at (above 0, at most 1), and which ones."""

    share: float = 1.0
    seed: int = 0

    @property
    def whole(self) -> bool:
        """True if everything is looked at."""
        return self.share >= 1

    def params(self) -> dict[str, Any]:
        """The parameters of a query that can look at a part."""
        return {"sample_share": float(self.share), "sample_seed": self.seed * STRIDE % PRIME}

    def interval(self, query: Query, count: int, total: int) -> ShareInterval | None:
        """The 95 % interval of the share of hits; None where the query looks at everything, or nothing was looked at.

        Wilson's (1927) with the finite population: of N things n were looked at, so n / (1 - n / N) stand for n drawn with replacement.
        """
        if self.whole or not total or not any(p.name == "sample_share" for p in query.params):
            return None
        ends = wilson(count / total, total / (1 - self.share), quantile=quantile())
        return ShareInterval(
            low=ends.low, high=ends.high, sampled=total, population=round(total / self.share),
            method=f"{self.share:.3g} of the things, picked by their ids (seed {self.seed}); Wilson interval for a finite population",
        )
