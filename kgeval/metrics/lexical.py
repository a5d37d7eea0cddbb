"""Words shared with the reference: exact match, token F1, ROUGE-L."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
