"""Which part of the report a metric of `kgeval score` belongs to. A name that is not here is an answer's metric."""

from __future__ import annotations

from kgeval.records import Part

_COMPAT = ("_compat", "_printed")
RETRIEVAL = frozenset({
    "context_relevance", "context_precision", "evidence_recall", "claim_recall", "id_recall", "id_precision", "mrr", "ndcg",
    "entity_recall", "entity_precision", "relation_recall", "relation_precision", "path_coverage", "path_complete",
    "path_bridge_missing", "stale_context_share",
})
GROUNDING = frozenset({
    "faithfulness", "intrinsic_hallucination", "extrinsic_hallucination", "hallucination", "kg_grounding", "self_knowledge",
    "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "context_utilization", "kg_matching_stored",
})
REASONING = frozenset({"stepwise_accuracy", "stepwise_reasoning", "reasoning_support"})


def part_of(metric: str) -> Part:
    """The part of the report where a metric stands."""
    name = plain(metric)
    if name in RETRIEVAL or name.endswith("_context_relevancy"):
        return "retrieval"
    if name in GROUNDING or (name.startswith("kg_") and name.endswith("_faithfulness")):
        return "grounding"
    return "reasoning" if name in REASONING else "answers"


def plain(metric: str) -> str:
    """The metric's name without the word for its variant."""
    for ending in _COMPAT:
        metric = metric.removesuffix(ending)
    return metric
