"""What only the stored graph can tell: grounding of claims in its triples, steps, Cypher, expired facts."""

from __future__ import annotations

from kgeval.metrics.definition import Metric

METRICS: tuple[Metric, ...] = ()
