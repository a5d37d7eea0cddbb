"""From a figure to a score of 1 to 5: the limits between the scores, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.records import Dimension

METHOD = "the methodology page [M]: below 70 % critical, 70 to 85 % acceptable, above 85 % strong; 50 % and 95 % are kgeval's"
OURS = "kgeval's own"
PASS = 3.0  # of the guide that [M] belongs to: the mean of the five scores that passes
DIMENSIONS: dict[Dimension, str] = {
    "graph": "Graph: completeness and quality", "retrieval": "Retrieval", "answers": "Answers: correctness",
    "grounding": "Grounding: no hallucination", "reasoning": "Reasoning depth",
}


@dataclass(frozen=True)
class Bands:
    """Four limits between the scores 1 to 5, from the worst to the best. `lower`: a smaller value is better (the limits fall)."""

    limits: tuple[float, float, float, float]
    by: str = OURS
    lower: bool = False

    def score(self, value: float) -> int:
        """1 to 5. A value on a limit has the better score."""
        rounded = round(value, 9)
        return 1 + sum(rounded <= limit if self.lower else rounded >= limit for limit in self.limits)

    @property
    def words(self) -> str:
        """`1 below 50 %, 2 from 50 %, 3 from 70 %, 4 from 85 %, 5 from 95 %`."""
        first, *rest = (f"{100 * limit:g} %" for limit in self.limits)
        side, step = ("above", "up to") if self.lower else ("below", "from")
        return f"1 {side} {first}, 2 {step} {first}, " + ", ".join(f"{at} {step} {limit}" for at, limit in enumerate(rest, start=3))


COVERAGE = Bands((0.5, 0.7, 0.85, 0.95), METHOD)
TRUE = Bands((0.7, 0.8, 0.9, 0.95))
USUAL = Bands((0.4, 0.6, 0.75, 0.9))
CLAIMS = Bands((0.6, 0.75, 0.9, 0.95))
WRONG = Bands((0.2, 0.1, 0.05, 0.02), lower=True)
UNSUPPORTED = Bands((0.4, 0.25, 0.1, 0.05), lower=True)
FAILED = Bands((0.05, 0.02, 0.01, 0.0), lower=True)


@dataclass(frozen=True)
class Facet:
    """One side of a dimension: the names of figures that show it, the first that is there counts, and the bands."""

    names: Sequence[str]
    bands: Bands


FACETS: dict[Dimension, tuple[Facet, ...]] = {
    "graph": (
        Facet(("entity_coverage",), COVERAGE), Facet(("relation_completeness",), COVERAGE), Facet(("relations_accuracy",), TRUE),
        Facet(("entities_accuracy",), TRUE), Facet(("worst_error_share",), FAILED),
    ),
    "retrieval": (
        Facet(("evidence_recall", "claim_recall", "id_recall", "entity_recall", "relation_recall"), USUAL),
        Facet(("context_precision", "context_precision_compat", "id_precision", "entity_precision", "context_relevance",
               "context_relevance_compat"), USUAL),
        Facet(("path_complete", "path_coverage"), USUAL),
    ),
    "answers": (
        Facet(("answer_accuracy", "factual_correctness", "binary_accuracy", "answer_accuracy_compat", "factual_correctness_compat",
               "binary_accuracy_compat", "token_f1", "exact_match"), USUAL),
        Facet(("answer_completeness", "evidence_coverage", "evidence_coverage_compat"), USUAL),
        Facet(("citation_precision",), USUAL),
    ),
    "grounding": (
        Facet(("faithfulness",), CLAIMS), Facet(("hallucination", "extrinsic_hallucination"), UNSUPPORTED),
        Facet(("intrinsic_hallucination",), WRONG), Facet(("kg_grounding",), USUAL), Facet(("false_answers",), WRONG),
    ),
    "reasoning": (
        Facet(("hops_2",), USUAL), Facet(("hops_3_up", "hops_3"), USUAL), Facet(("stepwise_accuracy",), USUAL),
    ),
}
NEEDS: dict[Dimension, str] = {
    "graph": "kgeval completeness with a gold set, kgeval accuracy, or kgeval audit",
    "retrieval": "metrics of retrieval, such as evidence_recall, context_precision or path_complete",
    "answers": "a metric of answers against a reference, such as answer_accuracy or token_f1",
    "grounding": "faithfulness, hallucination, kg_grounding, or kgeval contamination with negative questions",
    "reasoning": "questions of two hops and more (hops or path in the question file), or stepwise_accuracy",
}
