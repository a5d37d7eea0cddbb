"""Claims of the answer and of the reference against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.facts import Label
from kgeval.metrics.shares import NO_REFERENCE_CLAIM, is_empty, share, zero_for_empty
from kgeval.metrics.similarity import clipped, shifted

RIGHT, MISSED, SIMILAR = "answer_claims@reference", "reference_claims@answer", "similarity:reference"
FACTS = ("claims:answer", "claims:reference", RIGHT, MISSED)
SUPPORTED: Label = "supported"
RULES = " An empty answer, or one that makes no claim: 0. A reference that makes no claim: not applicable."


@dataclass(frozen=True)
class ClaimCounts:
    """Claims of the answer: right (`tp`), contradicted, not stated. Claims of the reference: in all, and those that the answer lacks.

    Precision and recall rest on a list each. ragas 0.3 divides true positives of the answer's list by those plus false negatives of the
    reference's: with lists of unlike grain that is no share of either.
    """

    tp: int
    contradicted: int
    not_stated: int
    reference: int
    fn: int

    @property
    def fp(self) -> int:
        """Claims of the answer that the reference does not support: contradicted or not stated."""
        return self.contradicted + self.not_stated

    @property
    def f1(self) -> float:
        """2TP / (2TP + FP + FN); 0 where nothing is right: two empty lists are no perfect answer, as the code of GraphRAG-Bench has it."""
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn) if self.tp else 0.0

    @property
    def printed(self) -> float:
        """2TP / (TP + FP + FN), at most 1 [X eq. 6]."""
        return min(1.0, 2 * self.tp / (self.tp + self.fp + self.fn)) if self.tp else 0.0

    def detail(self) -> dict[str, int | float]:
        """The counts, with precision over the answer's claims and recall over the reference's."""
        claims = self.tp + self.fp
        return {
            "tp": self.tp, "fp": self.fp, "fn": self.fn, "precision": self.tp / claims if claims else 0.0,
            "recall": (self.reference - self.fn) / self.reference, "contradicted": self.contradicted, "not_stated": self.not_stated,
            "reference_claims": self.reference,
        }


def _counts(subject: Subject) -> ClaimCounts | MetricValue:
    """The counts, or why there is no value."""
    right, missed = subject.facts.checks[RIGHT], subject.facts.checks[MISSED]
    failure = missed.unscored or right.unscored
    if failure is not None:
        return unscored(
            failure, claims=len(right.items), judged=right.judged, reference_claims=len(missed.items), reference_judged=missed.judged,
        )
    if not missed.items:
        return not_applicable(NO_REFERENCE_CLAIM)
    return ClaimCounts(
        right.count(SUPPORTED), right.count("contradicted"), right.count("not_stated"), len(missed.items),
        len(missed.items) - missed.count(SUPPORTED),
    )


def _zero_for_empty(subject: Subject) -> MetricValue:
    """0, with the number of the reference's claims where it is known: an empty answer misses all of them."""
    missed = subject.facts.checks.get(MISSED)
    claims = {"reference_claims": len(missed.items)} if missed is not None and missed.items else {}
    zero = zero_for_empty()
    return replace(zero, detail={**zero.detail, **claims})


def _factual(value: Callable[[ClaimCounts], float]) -> Callable[[Subject], MetricValue]:
    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return _zero_for_empty(subject)
        counts = _counts(subject)
        return counts if isinstance(counts, MetricValue) else scored(value(counts), **counts.detail())

    return compute


def _accuracy(factual: Callable[[ClaimCounts], float], similar: Callable[[float], float]) -> Callable[[Subject], MetricValue]:
    """weight * factual + (1 - weight) * similarity [X eq. 5]."""

    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return _zero_for_empty(subject)
        counts = _counts(subject)
        if isinstance(counts, MetricValue):
            return counts
        cosines = subject.facts.cosines[SIMILAR]
        if cosines.failure is not None or not cosines.values:
            return unscored(cosines.failure or Failure("embedding_error", "there is no cosine"), **counts.detail())
        cosine, weight = max(cosines.values), subject.settings.accuracy_weight
        parts = {"factual": factual(counts), "similarity": similar(cosine)}
        value = weight * parts["factual"] + (1 - weight) * parts["similarity"]
        return scored(min(1.0, value), **parts, cosine=cosine, **counts.detail())

    return compute


def _in_answer(fact: str, what: str, none: str) -> Callable[[Subject], MetricValue]:
    """The share of statements that the answer says."""

    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return zero_for_empty()
        return share(subject.facts.checks[fact], SUPPORTED, what=what, none=not_applicable(none))

    return compute


def statement_precision(subject: Subject) -> MetricValue:
    """Claims of the answer that the gold statements support / claims of the answer."""
    if is_empty(subject):
        return zero_for_empty()
    return share(subject.facts.checks["answer_claims@statements"], SUPPORTED, what="claims", none=scored(0.0, claims=0, no_claim=True))


def _factual_metric(name: str, summary: str, definition: str, source: str, value: Callable[[ClaimCounts], float]) -> Metric:
    return Metric(
        name=name, group="answers", summary=summary, definition=definition + RULES, source=source, compute=_factual(value),
        needs=("reference",), asks=FACTS, tools=("judge",), calls="4", aspects=("precision", "recall"),
    )


def _accuracy_metric(name: str, definition: str, source: str, compute: Callable[[Subject], MetricValue]) -> Metric:
    return Metric(
        name=name, group="answers", summary="Factual correctness and semantic similarity, weighted.", definition=definition + RULES.replace(
            ", or one that makes no claim: 0.", ": 0. One that makes no claim has a factual correctness of 0.",
        ),
        source=source, compute=compute, needs=("reference",), asks=(*FACTS, SIMILAR), tools=("judge", "embedder"),
        settings=("accuracy_weight",), calls="4", aspects=("factual", "similarity"),
    )


METRICS: tuple[Metric, ...] = (
    _factual_metric(
        "factual_correctness", "F1 of the answer's claims against the reference's.",
        "2TP / (2TP + FP + FN). TP, FP: claims of the answer that the reference supports, or does not (contradicted or not stated, counted "
        "apart in the detail). FN: claims of the reference that the answer does not say. precision and recall each on its own list. "
        "Identical claims of a list are merged before they are counted.",
        "F1 over claims, as in the code of GraphRAG-Bench; Xiang et al. eq. 6 prints another denominator", lambda counts: counts.f1,
    ),
    _factual_metric(
        "factual_correctness_printed", "Factual correctness by the formula as printed.",
        "2TP / (TP + FP + FN), clipped to 1: as printed it can exceed 1. Otherwise as factual_correctness.",
        "Xiang et al. eq. 6", lambda counts: counts.printed,
    ),
    _accuracy_metric(
        "answer_accuracy", "w * factual_correctness + (1 - w) * semantic_similarity, w = accuracy_weight (0.75); the cosine is clipped to "
        "0..1.", "Xiang et al. eq. 5, with F1", _accuracy(lambda counts: counts.f1, clipped),
    ),
    _accuracy_metric(
        "answer_accuracy_printed", "w * factual_correctness_printed + (1 - w) * cosine, w = accuracy_weight (0.75); a cosine below 0 "
        "counts as 0.", "Xiang et al. eq. 5 and 6", _accuracy(lambda counts: counts.printed, clipped),
    ),
    _accuracy_metric(
        "answer_accuracy_compat", "w * factual_correctness + (1 - w) * (cosine + 1) / 2, w = accuracy_weight (0.75): unrelated answers get "
        "about half of the second part. Two empty lists of claims, which the original calls perfect, never are.",
        "the code of GraphRAG-Bench", _accuracy(lambda counts: counts.f1, shifted),
    ),
    Metric(
        name="statement_precision", group="answers", summary="Claims of the answer that the gold statements support.",
        definition="claims of the answer supported by the question's gold statements / claims of the answer. An empty answer, or one that "
        "makes no claim: 0.", source="WildGraphBench (statements of long answers)", compute=statement_precision, needs=("statements",),
        asks=("claims:answer", "answer_claims@statements"), tools=("judge",), calls="2",
    ),
    Metric(
        name="evidence_coverage", group="answers", summary="Evidence that is present in the answer.",
        definition="evidence texts that the answer says / evidence texts. An empty answer: 0.", source="Xiang et al. eq. 8",
        compute=_in_answer("evidence@answer", "evidence", "no evidence text is given"), needs=("evidence",), asks=("evidence@answer",),
        tools=("judge",), calls="1",
    ),
    Metric(
        name="evidence_coverage_compat", group="answers", summary="The same over facts taken from the gold answer.",
        definition="claims of the reference that the answer says / claims of the reference: the recall of factual_correctness. An empty "
        "answer: 0. A reference that makes no claim: not applicable.", source="the code of GraphRAG-Bench",
        compute=_in_answer(MISSED, "reference_claims", NO_REFERENCE_CLAIM), needs=("reference",), asks=("claims:reference", MISSED),
        tools=("judge",), calls="2",
    ),
    Metric(
        name="answer_completeness", group="answers", summary="Required points of information that the answer has.",
        definition="points that the answer says / points. They are given by the question, or taken once from the reference (what the "
        "question asks for, no more). An empty answer: 0. A reference without a point: not applicable.",
        source="GraphRAG evaluation methodology, section 3", compute=_in_answer("points@answer", "points", "the reference has no point"),
        needs=("points",), asks=("points", "points@answer"), tools=("judge",), calls="1 with given points, else 2",
    ),
)
