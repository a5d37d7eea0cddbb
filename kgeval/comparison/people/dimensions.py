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
        "factual_correctness", "answer_accuracy", "semantic_similarity", "token_f1", "rouge_l", "exact_match", "binary_accuracy",
    ),
    "faithfulness": ("faithfulness", "intrinsic_hallucination", "extrinsic_hallucination"),
    "answer_relevancy": ("answer_relevancy",),
}


@cache
def sheet_aspects() -> Mapping[str, Aspect]:
    """What sheets of people can ask by name: the aspects of a judge, and the four dimensions."""
    return {**load_grades(), **read_grades(Path(__file__).with_name("dimensions.toml"))}


def must_show(aspects: Collection[Aspect]) -> frozenset[Shown]:
    """What has to be on a sheet with these aspects. An aspect of the user's own needs nothing, whatever its name."""
    own = sheet_aspects()
    return frozenset(NEEDS[aspect.name] for aspect in aspects if aspect.name in NEEDS and aspect is own[aspect.name])


def pair_kind(metric: str) -> str | None:
    """Which pair of texts, and so which dimension, a metric is about; None for those that are about something else."""
    for kind, names in PAIR_KINDS.items():
        own = metric.startswith("kg_") and metric.endswith(f"_{kind}")
        if own or any(metric in (name, f"{name}_compat", f"{name}_printed") for name in names):
            return kind
    return None
