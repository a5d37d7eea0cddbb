"""The metrics of text pairs as graphs [D]."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
