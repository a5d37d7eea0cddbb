"""Which prompts stand behind which facts: a number depends on their words."""

from __future__ import annotations

from collections.abc import Iterable

ASKED: dict[str, tuple[str, ...]] = {
    "claims:answer": ("claims",), "claims:reference": ("claims",), "points": ("points",), "answer_claims": ("claims",),
    "reference_claims": ("claims",), "ratings": ("rate-contexts",), "rating:joined": ("rate-joined",),
    "questions": ("questions-of-answer",),
    "binary": ("judge-answer", "judge-answer-outside"), "citations": ("claims", "judge-against-contexts"),
    "citations:claims": ("claims", "judge-against-contexts"), "grounding": ("claims", "judge-grounding"), "triples": ("triples",),
    "pairs": ("triples",), "stored": ("triples",), "criterion": ("judge-criterion",),
}


def prompts_of(facts: Iterable[str]) -> tuple[str, ...]:
    """The prompts that facts are asked with, by name and in order. A fact that no model is asked for has none."""
    found: set[str] = set()
    for fact in facts:
        kind, _, source = fact.partition("@")
        found.update(ASKED.get(kind, ASKED.get(kind.partition(":")[0], ())))
        if source and source != "graph":
            found.add(f"judge-against-{source}")
    return tuple(sorted(found))
