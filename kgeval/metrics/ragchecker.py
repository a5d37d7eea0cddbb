"""The diagnostic figures of RAGChecker, from the same verdicts."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
