"""Cosines of sentence embeddings."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
