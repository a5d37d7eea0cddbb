"""The steps of measuring accuracy: draw from the graph, ask the judge, put the report together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.auditing.accuracy.drawing import draw_sample
from kgeval.auditing.accuracy.duplicates import ListedPairs, draw_pairs, queries_used
from kgeval.auditing.accuracy.judge import PROMPTS, ItemJudgement, JudgeBatch, batches, verdicts
from kgeval.auditing.accuracy.population import QUERIES
from kgeval.auditing.accuracy.sample import Sample, SampleSpec
from kgeval.auditing.check import Embedding
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.llm.session import Models
from kgeval.records import AccuracyKind, Layout


@dataclass(frozen=True)
class DrawnSample:
    """A sample, and for `duplicates` all pairs that the checks list."""

    sample: Sample
    listed: ListedPairs | None = None


def draw(
    graph: Graph, layout: Layout, spec: SampleSpec, chunks: Chunks | None = None, *, embedding: Embedding | None = None,
) -> DrawnSample:
    """The sample of a graph. The layout must be bound; reads only. Nothing more is read from the graph afterwards.

    `chunks`: passages from files, in place of those in the graph. `embedding`: makes vectors for similar-entity (kind duplicates).
    """
    if spec.kind == "duplicates":
        return DrawnSample(*draw_pairs(graph, layout, spec, chunks, embedding=embedding))
    return DrawnSample(draw_sample(graph, layout, spec, chunks))


def planned(models: Models, sample: Sample, kind: AccuracyKind) -> Sequence[JudgeBatch]:
    """The calls that judging the sample takes."""
    return batches(sample.items, kind, models.prompt(PROMPTS[kind]))


def judge(models: Models, sample: Sample, kind: AccuracyKind) -> dict[str, ItemJudgement]:
    """A verdict of the judge for every item, by id. Items that could not be judged are there, with the cause.

    Raises: ModelError for what ends a run (wrong key, unknown model).
    """
    calls = planned(models, sample, kind)
    outcomes = models.ask_all((batch.task for batch in calls), total=len(calls))
    return {verdict.id: verdict for verdict in verdicts(calls, outcomes)}


def query_hashes(kind: AccuracyKind, *, elsewhere: bool = False) -> dict[str, str]:
    """SHA-256 of the queries that a run of this kind reads with. `elsewhere`: what stands elsewhere in the graph was read too."""
    details = "relation-details" if kind == "relations" else "entity-details"
    names = queries_used() if kind == "duplicates" else [*QUERIES[kind], "passages", "passage-texts", details]
    names = [*names, *(["relation-patterns"] if elsewhere and kind == "relations" else [])]
    return {name: all_queries()[name].sha256 for name in names}
