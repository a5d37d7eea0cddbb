"""Right or wrong, as a judge says."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
