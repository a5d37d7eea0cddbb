"""A part of the graph in place of the whole: checks of strings may look at a share of the things, picked by their ids.

The pick is a fixed one for a seed: id * 618,037 + seed * 104,729, modulo the prime 1,000,003, below share * 1,000,003 (steps of the golden
section, which spread evenly over any run of ids). Ids follow the order of writing, so that this takes things from all over the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.graph.queries import Query
from kgeval.records import ShareInterval
from kgeval.stats.intervals import quantile, wilson


@dataclass(frozen=True)
class PartialScan:
    """Which share of the things is looked at (above 0, at most 1), and the seed that picks them."""

    sample_share: float = 1.0
    sample_seed: int = 0

    @property
    def whole(self) -> bool:
        """True if everything is looked at."""
        return self.sample_share >= 1

    def params(self) -> dict[str, Any]:
        """The parameters of a query that can look at a part."""
        return {"sample_share": float(self.sample_share), "sample_seed": self.sample_seed}

    def interval(self, query: Query, count: int, total: int) -> ShareInterval | None:
        """The 95 % interval of the share of hits; None where the query looks at everything, or nothing was looked at.

        Wilson's (1927) with the finite population: of N things n were looked at, so n / (1 - n / N) stand for n drawn with replacement.
        """
        if self.whole or not total or not any(p.name == "sample_share" for p in query.params):
            return None
        ends = wilson(count / total, total / (1 - self.sample_share), quantile=quantile())
        return ShareInterval(
            low=ends.low, high=ends.high, sampled=total, population=round(total / self.sample_share),
            method=f"{self.sample_share:.3g} of the things, picked by their ids (seed {self.sample_seed}); Wilson interval for a finite "
                   "population",
        )
