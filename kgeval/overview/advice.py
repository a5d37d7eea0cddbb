"""What to do about a weak figure, in a sentence: its own advice, else that of the part of the report where it stands. Checks of the audit
bring theirs."""

from __future__ import annotations

from collections.abc import Mapping

from kgeval.records import Part

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
ADVICE: Mapping[str, str] = {
    "entity_coverage": "see the missing entities by type and document: extract again what a whole type or document lacks",
    "relation_completeness": "see the missing relations, bridging ones first: questions of several hops rest on them",
    "relation_completeness_with_predicate": (
        "see the relations that were found without their predicate: name relation types in the schema of the extraction, or map synonyms"
    ),
    "evidence_recall": "see questions with low recall: is the evidence in the graph at all (completeness)? Then widen retrieval",
    "claim_recall": "see questions with low recall: is the evidence in the graph at all (completeness)? Then widen retrieval",
    "id_recall": "retrieve more chunks, or fix what the entry points are found by (names, embeddings)",
    "path_complete": "see by hops where paths break: bridge nodes that are missing, or too few hops",
    "path_coverage": "see by hops where paths break: bridge nodes that are missing, or too few hops",
    "context_precision": "retrieve less, or rank again: noise costs tokens and invites wrong claims",
    "context_relevance": "retrieve less, or rank again: noise costs tokens and invites wrong claims",
    "answer_accuracy": "see the worst questions of the score report: is retrieval at fault, or the reader?",
    "answer_completeness": "see which points are missing: were they retrieved (claim recall), and does the prompt ask for all of them?",
    "faithfulness": "tell the reader to answer from the contexts only; check whether unsupported claims come with poor retrieval",
    "hallucination": "tell the reader to answer from the contexts only; check whether unsupported claims come with poor retrieval",
    "extrinsic_hallucination": "tell the reader to answer from the contexts only; check whether they come with poor retrieval",
    "intrinsic_hallucination": "look at the contradicted claims: contradictions in the graph, or a reader that misreads",
    "kg_grounding": "the graph adds little to these answers: compare with a vector baseline before paying for it",
    "false_answers": "tell the reader to say when the texts do not hold the answer",
    "hops_2": "see the steps that go wrong (stepwise_accuracy, paths): retrieval of the middle node, or the reader's chain",
    "hops_3_up": "see the steps that go wrong (stepwise_accuracy, paths): retrieval of the middle nodes, or the reader's chain",
    "stepwise_accuracy": "see the score report's relations and positions where steps go wrong",
    "figures worse than the baseline": "see the table against the baseline, worse first",
    "no_answer": "see the causes in the answers' run file; no judge is asked of answers that are errors",
    "questions": "see the check's examples, fix or leave out these questions, and score again",
    "closed_book_accuracy": "read the figures without these questions, or ask about texts that the model cannot know",
}
BY_DIMENSION: Mapping[str, str] = {
    "graph": "see the audit and the completeness report", "retrieval": "see the score report by question: what was not retrieved",
    "answers": "see the worst questions of the score report: is retrieval at fault, or the reader?",
    "grounding": "see the claims without support in the verdicts of the score run",
    "reasoning": "see the score report by hops: where do chains break?",
}


def part_of(metric: str) -> Part:
    """The part of the report where a metric of `kgeval score` stands. A name that is not known is an answer's metric."""
    name = plain(metric)
    if name in RETRIEVAL or name.endswith("_context_relevancy"):
        return "retrieval"
    if name in GROUNDING or (name.startswith("kg_") and name.endswith("_faithfulness")):
        return "grounding"
    return "reasoning" if name in REASONING else "answers"


def plain(metric: str) -> str:
    """The metric's name without the word for its variant."""
    return metric.removesuffix("_compat").removesuffix("_printed")


def advice_on(metric: str) -> str:
    """What to do about a low value of a metric."""
    return ADVICE.get(plain(metric), BY_DIMENSION[part_of(metric)])


def as_sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
