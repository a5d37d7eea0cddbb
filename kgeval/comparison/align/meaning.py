"""Does an aligned answer still make the claims of the free one? The judge lists those, and says of each what the aligned one says."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.llm.asker import Asker
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.judge.checks import check_items, source_of
from kgeval.metrics.judge.context import JudgeContext
from kgeval.metrics.judge.lists import items_of
from kgeval.records import Answer, Question, Row

PROMPTS = ("claims", "judge-against-answer")


@dataclass(frozen=True)
class KeptClaims:
    """Claims of a free answer, and how many of them the aligned one still supports. No claims: it said nothing. `failure`: not known."""

    claims: int = 0
    supported: int = 0
    failure: str | None = None

    @property
    def share(self) -> float | None:
        """supported / claims, 0..1; None where there are none or nobody knows."""
        return self.supported / self.claims if self.claims and self.failure is None else None


def kept(question: Question, free: Answer, aligned: str, asker: Asker, *, trial: int = 0) -> KeptClaims:
    """Two calls: the claims of `free`, and what the text `aligned` says of each. In a dry run they are counted. A claim without a
    verdict makes the whole unknown: a share over the others would flatter.

    Raises: what ends the session.
    """
    before, after = _desk(question, free, asker, trial), _desk(question, free.model_copy(update={"answer": aligned}), asker, trial)
    claims = items_of(before, "answer_claims")
    verdicts = check_items(after, source_of(after, "answer"), {"claims": claims})["claims"]
    failure = claims.texts.failure or verdicts.failure or next((item.failure for item in verdicts.items if item.failure is not None), None)
    if failure is not None:
        return KeptClaims(len(verdicts.items), failure=f"{failure.cause}: {failure.detail}")
    return KeptClaims(len(verdicts.items), sum(item.label == "supported" for item in verdicts.items))


def _desk(question: Question, answer: Answer, asker: Asker, trial: int) -> JudgeContext:
    return JudgeContext(Subject(Row(n=0, where="", question=question, answer=answer), RowFacts(), MetricSettings(), trial), asker)
