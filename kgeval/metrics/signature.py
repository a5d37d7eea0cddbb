"""What a number depends on, as a short name and spelled out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.llm.prompts import load_prompt
from kgeval.llm.schemas import FIELD_ORDER
from kgeval.metrics.definition import Metric, MetricSettings
from kgeval.metrics.facts import GRAPH_FACTS
from kgeval.records import MetricInfo

if TYPE_CHECKING:
    from kgeval.metrics.engine import Tools


# Which prompts stand behind which facts: a number depends on their words.
ASKED: dict[str, tuple[str, ...]] = {
    "claims:answer": ("claims",), "claims:reference": ("claims",), "points": ("points",), "answer_claims": ("claims",),
    "reference_claims": ("claims",), "ratings": ("rate-contexts",), "rating:joined": ("rate-joined",),
    "questions": ("questions-of-answer",),
    "binary": ("judge-answer", "judge-answer-outside"), "binary:compat": ("judge-answer-kasiak",),
    "citations": ("claims", "judge-against-contexts"),
    "citations:claims": ("claims", "judge-against-contexts"), "grounding": ("claims", "judge-grounding"), "triples": ("triples",),
    "pairs": ("triples",), "stored": ("triples",), "criterion": ("judge-criterion",),
}


def prompts_of(facts: Iterable[str]) -> tuple[str, ...]:
    """The prompts that facts are asked with, by name and in order. A fact that no model is asked for has none."""
    prompts: set[str] = set()
    for fact in facts:
        kind, _, source = fact.partition("@")
        prompts.update(ASKED.get(kind, ASKED.get(kind.partition(":")[0], ())))
        if source and source != "graph":
            # a reasoning is what the system says, as an answer is
            prompts.add("judge-against-answer" if source == "reasoning" else f"judge-against-{source}")
    return tuple(sorted(prompts))


@dataclass(frozen=True)
class Tooling:
    """The models and the graph of a run, as far as numbers depend on them."""

    judge: Mapping[str, JsonValue] = field(default_factory=dict)
    embedder: Mapping[str, JsonValue] = field(default_factory=dict)
    graph: Mapping[str, JsonValue] = field(default_factory=dict)


def tooling(tools: Tools) -> Tooling:
    """What the numbers of a run depend on beside its rows and settings. Of the graph: what reads it (versions, layout with what the user
    sets of it, graph name), not its address; what stands in it is no part of it, so after a change of the graph the same signature may
    have other numbers."""
    judge: dict[str, JsonValue] = {}
    if tools.models is not None:
        at = tools.models.endpoint
        judge = {"model": at.model, "endpoint": at.name, "parameters": dict(at.parameters), "language": tools.models.language}
    embedder: dict[str, JsonValue] = {}
    if tools.embedder is not None:
        where = {"endpoint": tools.embedder.endpoint} if tools.embedder.endpoint else {}
        embedder = {"model": tools.embedder.name, **where}
    graph: dict[str, JsonValue] = {}
    if tools.graph is not None:
        graph = {"neo4j": tools.graph.info.neo4j, "gds": tools.graph.info.gds}
    if tools.layout is not None:
        graph |= {"layout": tools.layout.name, "graph": tools.layout.scope_value}
        graph |= {"layout_settings": dict(tools.layout_settings)} if tools.layout_settings else {}
    return Tooling(judge, embedder, graph)


def metric_info(metric: Metric, settings: MetricSettings, tooling: Tooling) -> MetricInfo:
    """The metric as this run uses it. The signature is NAME@VERSION:12 hex digits, a SHA-256 of all parameters."""
    parameters: dict[str, JsonValue] = {**metric.parameters, **metric.settings_view(settings).values}
    for tool, what in (("judge", tooling.judge), ("embedder", tooling.embedder), ("graph", tooling.graph), ("gds", tooling.graph)):
        if tool in metric.tools:
            parameters["graph" if tool == "gds" else tool] = dict(what)
    if tooling.graph and not GRAPH_FACTS.isdisjoint(metric.asks):  # also where it is no tool that the metric needs: it then tells more
        parameters["graph"] = dict(tooling.graph)
    if tooling.judge and prompts_of(metric.asks):  # also triples that a model makes, though it is no tool that the metric needs
        language = str(tooling.judge["language"])
        hashes: dict[str, JsonValue] = {name: load_prompt(name, language).hash for name in prompts_of(metric.asks)}
        parameters |= {"judge": dict(tooling.judge), "prompts": hashes, "field_order": FIELD_ORDER}
    digest = hashlib.sha256(json.dumps([metric.name, metric.version, parameters], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return MetricInfo(
        metric=metric.name, summary=metric.summary, definition=metric.definition, source=metric.source, better=metric.better,
        signature=f"{metric.name}@{metric.version}:{digest[:12]}", parameters=parameters,
    )
