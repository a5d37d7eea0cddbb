"""Cosines of sentence embeddings: the answer with the reference, the question with questions made from the answer."""

from __future__ import annotations

from collections.abc import Callable

from kgeval.llm.calls import Failure
from kgeval.metrics.cosines import QUESTIONS, REFERENCE
from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.shares import is_empty, zero_for_empty

NO_QUESTIONS = Failure("missing_item", "no questions were made from the answer")


def clipped(cosine: float) -> float:
    """A cosine cut at 0 and 1."""
    return max(0.0, min(1.0, cosine))


def shifted(cosine: float) -> float:
    """(cosine + 1) / 2: 0.5 for texts that have nothing to do with each other."""
    return clipped((cosine + 1) / 2)


def _similarity(form: Callable[[float], float]) -> Callable[[Subject], MetricValue]:
    """The answer's cosine with the nearest reference, brought to 0..1 by `form`."""

    def compute(subject: Subject) -> MetricValue:
        if is_empty(subject):
            return zero_for_empty()
        cosines = subject.facts.cosines[REFERENCE]
        if cosines.failure is not None:
            return unscored(cosines.failure)
        best = max(range(len(cosines.values)), key=lambda n: cosines.values[n])
        several = {"reference": best + 1} if len(cosines.values) > 1 else {}
        return scored(form(cosines.values[best]), cosine=cosines.values[best], **several)

    return compute


def _relevancy(*, compat: bool) -> Callable[[Subject], MetricValue]:
    """The mean cosine of the question with those made from the answer; `compat`: 0 where the answer commits itself to nothing."""

    def compute(subject: Subject) -> MetricValue:
        if not subject.row.question.question.strip():
            return not_applicable("the question is empty")
        if is_empty(subject):
            return zero_for_empty()
        questions, cosines = subject.facts.texts["questions"], subject.facts.cosines.get(QUESTIONS)
        if questions.failure is not None or cosines is None or not cosines.values:
            return unscored(questions.failure or (cosines and cosines.failure) or NO_QUESTIONS)
        mean = sum(cosines.values) / len(cosines.values)
        noncommittal = questions.flags.get("noncommittal", False)
        value = 0.0 if compat and noncommittal else clipped(mean)
        return scored(value, cosine=mean, cosines=list(cosines.values), noncommittal=noncommittal)

    return compute


_NEAREST = "Several references: the nearest. An empty answer is 0."

METRICS: tuple[Metric, ...] = (
    Metric(
        "semantic_similarity", "answers", "Cosine of the embeddings of answer and reference.",
        f"Cosine of the sentence embeddings, cut at 0; the raw cosine stands in the detail. {_NEAREST}",
        "[X eq. 5] as printed", _similarity(clipped), needs=("reference",), asks=(REFERENCE,), tools=("embedder",),
    ),
    Metric(
        "semantic_similarity_compat", "answers", "Semantic similarity as GraphRAG-Bench's code computes it.",
        f"(cosine + 1) / 2, so that texts that have nothing in common get about 0.5. {_NEAREST}",
        "[X], code of GraphRAG-Bench", _similarity(shifted), needs=("reference",), asks=(REFERENCE,), tools=("embedder",),
    ),
    Metric(
        "answer_relevancy", "answers", "How near the question is to questions that the answer would answer.",
        "Mean cosine between the question and 3 questions made from the answer, cut at 0. Whether the answer is non-committal stands "
        "beside it as a flag. An empty answer is 0.",
        "Es et al. 2023 (ragas), the comparator of [D]; the flag is ours", _relevancy(compat=False), asks=("questions", QUESTIONS),
        tools=("judge", "embedder"), calls="1",
    ),
    Metric(
        "answer_relevancy_compat", "answers", "Answer relevancy as ragas computes it.",
        "answer_relevancy, but 0 for an answer that is non-committal.",
        "Es et al. 2023, code of ragas", _relevancy(compat=True), asks=("questions", QUESTIONS), tools=("judge", "embedder"), calls="1",
    ),
)
