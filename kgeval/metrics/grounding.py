"""Claims of the answer against the retrieved contexts."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
