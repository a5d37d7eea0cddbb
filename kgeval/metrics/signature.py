"""What a number depends on, as a short name and spelled out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pydantic import JsonValue

from kgeval.metrics.definition import Metric, Settings
from kgeval.records import MetricInfo


@dataclass(frozen=True)
class Tooling:
    """The models and the graph of a run, as far as numbers depend on them. Filled by the engine's tools."""

    judge: Mapping[str, JsonValue] = field(default_factory=dict)
    embedder: Mapping[str, JsonValue] = field(default_factory=dict)
    graph: Mapping[str, JsonValue] = field(default_factory=dict)


def metric_info(metric: Metric, settings: Settings, tooling: Tooling) -> MetricInfo:
    """The metric as this run uses it. The signature is NAME@VERSION:12 hex digits, a SHA-256 of all parameters."""
    chosen = asdict(settings)
    parameters: dict[str, JsonValue] = {name: chosen[name] for name in metric.settings}
    for tool, what in (("judge", tooling.judge), ("embedder", tooling.embedder), ("graph", tooling.graph), ("gds", tooling.graph)):
        if tool in metric.tools:
            parameters["graph" if tool == "gds" else tool] = dict(what)
    digest = hashlib.sha256(json.dumps([metric.name, metric.version, parameters], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return MetricInfo(
        metric=metric.name, summary=metric.summary, definition=metric.definition, source=metric.source, better=metric.better,
        signature=f"{metric.name}@{metric.version}:{digest[:12]}", parameters=parameters,
    )
