"""All metrics by name, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from kgeval.metrics import bertscore, binary, citations, factual, grounding, ids, lexical, path, ragchecker, retrieval, similarity
from kgeval.metrics.definition import Metric
from kgeval.metrics.kg import metrics as kg
from kgeval.metrics.references import BY_REFERENCE
from kgeval.metrics.stored import metrics as stored

MODULES = (lexical, similarity, bertscore, factual, binary, citations, grounding, ragchecker, retrieval, ids, path, stored, kg)
EVERY = "*"
SEVERAL = ". Several right answers: against each by itself; the best counts, `reference` in the detail says which."


@cache
def all_metrics() -> Mapping[str, Metric]:
    """Every metric by its name, in the order of the groups."""
    by_name: dict[str, Metric] = {}
    for module in MODULES:
        for metric in module.METRICS:
            if metric.name in by_name:
                raise ValueError(f"two metrics are called {metric.name}")
            by_name[metric.name] = metric if BY_REFERENCE.isdisjoint(metric.asks) else replace(
                metric, definition=metric.definition.rstrip(". ") + SEVERAL, version=metric.version + 1,
            )
    return by_name


# preset -> level of the question (EVERY: any) -> metrics; a row gets those of EVERY and of its own level
PRESETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "usual": {EVERY: ("factual_correctness", "faithfulness", "evidence_recall", "context_relevance", "evidence_coverage")},
    "lexical": {EVERY: ("exact_match", "token_f1", "rouge_l", "rouge_l_compat")},
    "graphrag-bench": {
        EVERY: ("answer_accuracy", "context_relevance", "evidence_recall", "claim_recall"),
        "fact_retrieval": ("rouge_l_compat",),
        "complex_reasoning": ("rouge_l_compat",),
        "contextual_summarize": ("evidence_coverage",),
        "creative_generation": ("faithfulness", "evidence_coverage"),
    },
    "ragchecker": {
        EVERY: (
            "factual_correctness", "factual_correctness_compat", "claim_recall", "context_precision_compat", "context_utilization",
            "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination", "self_knowledge", "faithfulness",
        ),
    },
    "methodology": {
        EVERY: (
            "exact_match", "token_f1", "semantic_similarity", "answer_completeness", "binary_accuracy", "citation_precision",
            "citation_coverage", "faithfulness", "intrinsic_hallucination", "extrinsic_hallucination", "kg_grounding",
            "evidence_recall", "context_precision", "entity_recall", "entity_precision", "relation_recall", "relation_precision",
            "path_coverage", "path_complete", "path_bridge_missing", "stepwise_accuracy",
        ),
    },
    "kg": {
        EVERY: tuple(
            f"kg_{what}_{pair}" for what in ("matching", "community")
            for pair in ("context_relevancy", "factual_correctness", "faithfulness", "answer_relevancy")
        ),
    },
}
