"""Rows with known scores, for tests of scoring: what each text says is a set of facts, and the scores are counted by sets."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgeval.llm.session import Models
from kgeval.metrics.definition import MetricSettings
from kgeval.metrics.engine import RowResult, Tools, score
from kgeval.metrics.select import select
from kgeval.records import Answer, Passage, Question, Row, Score

USUAL = ("factual_correctness", "faithfulness", "evidence_recall", "context_relevance", "evidence_coverage")
CHECKER = (
    "claim_recall", "context_precision_compat", "context_utilization", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant",
    "hallucination", "self_knowledge",
)
TRUE = "Paris is in France."


@dataclass(frozen=True)
class World:
    """A row as sets of facts: what the reference, the answer, each context and the evidence say."""

    reference: frozenset[int]
    answer: frozenset[int]
    contexts: tuple[frozenset[int], ...]
    evidence: frozenset[int]

    def row(self, n: int) -> Row:
        def text(facts: Iterable[int]) -> str:
            return " ".join(f"Fact {n:04} {fact:02} holds." for fact in sorted(facts))

        return made_row(
            n, text(self.answer), reference=text(self.reference), contexts=[text(facts) for facts in self.contexts],
            evidence=[text([fact]) for fact in sorted(self.evidence)],
        )

    def expected(self) -> dict[str, float | None]:
        """By sets, without kgeval: null where there is nothing to count."""
        read: frozenset[int] = frozenset().union(*self.contexts)
        relevant = [context for context in self.contexts if context & self.reference]
        wrong, hit = self.answer - self.reference, self.answer & self.reference
        in_relevant: frozenset[int] = frozenset().union(*relevant) & wrong
        return {
            "factual_correctness": 2 * len(hit) / (2 * len(hit) + len(wrong) + len(self.reference - self.answer)),
            "faithfulness": share(self.answer & read, self.answer), "evidence_recall": share(self.evidence & read, self.evidence),
            "evidence_coverage": share(self.evidence & self.answer, self.evidence),
            "context_relevance": sum(bool(context & self.evidence) for context in self.contexts) / len(self.contexts),
            "claim_recall": share(self.reference & read, self.reference),
            "context_precision_compat": len(relevant) / len(self.contexts),
            "context_utilization": share(self.reference & read & self.answer, self.reference & read),
            "noise_sensitivity_relevant": share(in_relevant, self.answer),
            "noise_sensitivity_irrelevant": share((wrong & read) - in_relevant, self.answer),
            "hallucination": share(wrong - read, self.answer), "self_knowledge": share(hit - read, self.answer),
        }


def share(part: frozenset[int], whole: frozenset[int]) -> float | None:
    return len(part) / len(whole) if whole else None


def worlds(count: int, seed: int = 0) -> list[World]:
    draws = random.Random(seed)

    def some(least: int, most: int) -> frozenset[int]:
        return frozenset(draws.sample(range(10), draws.randint(least, most)))

    return [World(some(1, 4), some(1, 5), tuple(some(1, 4) for _ in range(draws.randint(1, 3))), some(1, 3)) for _ in range(count)]


def made_row(
    n: int, answer: str, *, reference: str | None = TRUE, contexts: Sequence[str] | None = (TRUE,), evidence: Sequence[str] = (TRUE,),
    question: str | None = None,
) -> Row:
    shown = None if contexts is None else [Passage(text=text) for text in contexts]
    asked = question or f"What is known of {n:04}?"
    return Row(
        n=n, where=f"x:{n + 1}", answer=Answer(question_id=f"q{n}", system="s", answer=answer, contexts=shown),
        question=Question(id=f"q{n}", question=asked, reference=reference, evidence=[Passage(text=text) for text in evidence]),
    )


def scored(rows: Iterable[Row], models: Models, metrics: Sequence[str] = USUAL) -> list[RowResult]:
    return list(score(rows, select(metrics), Tools(models=models), MetricSettings()))


def values(result: RowResult) -> dict[str, Score]:
    return {one.metric: one for one in result.scores}
