"""The four dimensions of an answer in a RAG system [D 3.3]: which two texts each sets side by side, what people are asked and must be
shown, and which metrics measure the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from kgeval.comparison.judge.grades import Aspect, load_grades, read_grades

Shown = Literal["contexts", "reference"]
# what nobody can judge a dimension without
NEEDS: Mapping[str, Shown] = {"factual_correctness": "reference", "context_relevancy": "contexts", "faithfulness": "contexts"}

# the claim metrics that stand beside the KG metrics of each pair of texts [D fig 1]
PAIR_KINDS: Mapping[str, tuple[str, ...]] = {
    "context_relevancy": ("context_relevance", "context_precision"),
    "factual_correctness": (
        "factual_correctness", "answer_accuracy", "semantic_similarity", "token_f1", "rouge_l", "bleu", "chrf", "bertscore", "exact_match",
        "binary_accuracy",
    ),
    "faithfulness": ("faithfulness", "intrinsic_hallucination", "extrinsic_hallucination"),
    "answer_relevancy": ("answer_relevancy",),
}
# the same of other tools, by their own names: ragas' (also the columns of earlier versions) and deepeval's
TOOL_METRICS: Mapping[str, tuple[str, ...]] = {
    "context_relevancy": (
        "context_precision", "context_relevance", "context_relevancy", "contextual_relevancy", "nv_context_relevance",
        "llm_context_precision_with_reference", "llm_context_precision_without_reference",
    ),
    "factual_correctness": (
        "factual_correctness", "answer_correctness", "answer_accuracy", "nv_accuracy", "semantic_similarity", "answer_similarity",
        "rouge_score", "bleu_score", "chrf_score", "exact_match",
    ),
    "faithfulness": ("faithfulness", "faithfulness_with_hhem", "response_groundedness", "nv_response_groundedness"),
    "answer_relevancy": ("answer_relevancy", "answer_relevance", "response_relevancy"),
}
# metrics of other tools of which less is better; ragas' noise_sensitivity has the name of two of ours
TOOL_LOWER = ("noise_sensitivity", "hallucination", "bias", "toxicity")


@cache
def sheet_aspects() -> Mapping[str, Aspect]:
    """What sheets of people can ask by name: the aspects of a judge, and the four dimensions."""
    return {**load_grades(), **read_grades(Path(__file__).with_name("dimensions.toml"))}


def must_show(aspects: Collection[Aspect]) -> frozenset[Shown]:
    """What has to be on a sheet with these aspects. An aspect of the user's own needs nothing, whatever its name."""
    own = sheet_aspects()
    return frozenset(NEEDS[aspect.name] for aspect in aspects if aspect.name in NEEDS and aspect is own[aspect.name])


def tool_metric(metric: str) -> str:
    """The plain name of another tool's metric, empty for kgeval's own. They are called `ragas: faithfulness`, and some have their mode
    behind: `factual_correctness(mode=f1)`."""
    return metric.partition(": ")[2].partition("(")[0].strip().casefold().replace(" ", "_")


def pair_kind(metric: str) -> str | None:
    """Which pair of texts, and so which dimension, a metric is about; None for those that are about something else."""
    if plain := tool_metric(metric):
        return next((kind for kind, names in TOOL_METRICS.items() if plain in names), None)
    for kind, names in PAIR_KINDS.items():
        own = metric.startswith("kg_") and metric.endswith(f"_{kind}")
        if own or any(metric in (name, f"{name}_compat", f"{name}_printed") for name in names):
            return kind
    return None
