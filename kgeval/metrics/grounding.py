"""Claims of the answer against the retrieved contexts."""

from __future__ import annotations

from collections.abc import Callable

from kgeval.metrics.definition import Metric, MetricValue, Subject
from kgeval.metrics.facts import Label
from kgeval.metrics.shares import against_contexts, is_empty, says_nothing

FACT = "answer_claims@contexts"
RULES = (
    " All claims of the answer count; one without a verdict makes the value unscored. An empty answer, or one that makes no claim: not "
    "applicable. Nothing retrieved: no claim is supported."
)


def _of(label: Label) -> Callable[[Subject], MetricValue]:
    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return says_nothing(subject)
        return against_contexts(subject, FACT, label, what="claims", none=says_nothing(subject))

    return compute


METRICS: tuple[Metric, ...] = (
    Metric(
        name="faithfulness", group="grounding", summary="Claims of the answer that the retrieved contexts support.",
        definition="supported claims / claims of the answer." + RULES, source="Xiang et al. eq. 7", compute=_of("supported"),
        needs=("contexts",), asks=("claims:answer", FACT), tools=("judge",), calls="2",
    ),
    Metric(
        name="intrinsic_hallucination", group="grounding", summary="Claims of the answer that the retrieved contexts contradict.",
        definition="contradicted claims / claims of the answer." + RULES, source="GraphRAG evaluation methodology, section 4",
        compute=_of("contradicted"), needs=("contexts",), asks=("claims:answer", FACT), tools=("judge",), calls="2", better="lower",
    ),
    Metric(
        name="extrinsic_hallucination", group="grounding", summary="Claims of the answer that the retrieved contexts say nothing about.",
        definition="claims neither supported nor contradicted / claims of the answer, so that faithfulness + intrinsic_hallucination + "
        "extrinsic_hallucination = 1 (the source's wording would count contradicted claims in both)." + RULES,
        source="GraphRAG evaluation methodology, section 4", compute=_of("not_stated"), needs=("contexts",),
        asks=("claims:answer", FACT), tools=("judge",), calls="2", better="lower",
    ),
)
