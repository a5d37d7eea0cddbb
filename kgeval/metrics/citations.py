"""Citations of the answer: do they support their claims, and do they name the right document."""

from __future__ import annotations

import re

from kgeval.metrics.definition import Metric, MetricValue, Subject, scored, unscored
from kgeval.metrics.shares import is_empty, says_nothing, zero_for_empty
from kgeval.text.names import normalise

METHOD = "GraphRAG evaluation methodology, section 3"
_ENDING = re.compile(r"\.(?:txt|md|pdf|html?|jsonl?|csv|xml|docx?|epub|rst)$", re.IGNORECASE)


def citation_precision(subject: Subject) -> MetricValue:
    """Citations whose chunk supports their claim / citations."""
    if is_empty(subject):
        return zero_for_empty()
    checked = subject.facts.checks["citations"]
    counts = {"citations": len(checked.items), "supporting": checked.count("supported"), "unknown_chunk": checked.count("unknown_chunk")}
    if not subject.row.answer.citations:
        return says_nothing(subject, "the answer cites nothing")
    if (failure := checked.unscored) is not None:
        return unscored(failure, **counts, unjudged=len(checked.items) - checked.judged)
    return scored(counts["supporting"] / counts["citations"], **counts)


def citation_coverage(subject: Subject) -> MetricValue:
    """Claims with a citation that supports them / claims."""
    if is_empty(subject):
        return zero_for_empty()
    checked = subject.facts.checks["citations:claims"]
    counts = {"claims": len(checked.items), "cited": checked.count("cited")}
    if (failure := checked.unscored) is not None:
        return unscored(failure, **counts, unjudged=len(checked.items) - checked.judged)
    return scored(counts["cited"] / counts["claims"], **counts) if checked.items else scored(0.0, **counts, no_claim=True)


def source_document_accuracy(subject: Subject) -> MetricValue:
    """The gold document's share of the documents that the answer names."""
    if is_empty(subject):
        return zero_for_empty()
    gold = _names(subject.row.question.document or "")
    named = {min(_names(citation.document)) for citation in subject.row.answer.citations or () if citation.document}
    right = sum(bool(_names(name) & gold) for name in named)
    return scored(right / len(named), documents=len(named), right=right)


def _names(document: str) -> frozenset[str]:
    """A document's name in normal form: without its folder, and also without the ending of a kind of text file."""
    base = re.split(r"[/\\]", document.rstrip("/\\"))[-1]
    return frozenset(normalise(name) or name for name in (base, _ENDING.sub("", base)))


METRICS: tuple[Metric, ...] = (
    Metric(
        name="citation_precision", group="answers", summary="Citations that support the claim they are given for.",
        definition="citations whose chunk supports their claim / citations. The chunk's text comes from the row's contexts or evidence; a "
        "citation of any other chunk does not support. A citation without a claim is for the whole answer: it is right if its chunk "
        "supports one of the answer's claims. An answer that cites nothing: not applicable.",
        source=METHOD, compute=citation_precision, needs=("citations",), asks=("citations",), tools=("judge",),
        calls="1; 2 where a citation names no claim",
    ),
    Metric(
        name="citation_coverage", group="answers", summary="Claims of the answer with a citation that supports them.",
        definition="claims of the answer that have a valid citation / claims of the answer. A citation with a claim of its own is valid "
        "for the claims that this text states, if its chunk supports it; one without, for every claim that its chunk supports. An answer "
        "that makes no claim: 0.",
        source=METHOD, compute=citation_coverage, needs=("citations",), asks=("claims:answer", "citations", "citations:claims"),
        tools=("judge",), calls="3; 2 where citations name no claims",
    ),
    Metric(
        name="source_document_accuracy", group="answers", summary="The document that the answer names is the gold one.",
        definition="different documents named that are the gold document / different documents named: 1 for the right one alone, 0 for a "
        "wrong one, and naming many does not win. Names are compared in normal form (Unicode, case, punctuation), without folders and "
        "file endings.",
        source="Kasiak 5.4.2", compute=source_document_accuracy, needs=("cited_document", "document"),
    ),
)
