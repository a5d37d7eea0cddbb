"""What a model returns when questions of the four levels are made and checked."""

from __future__ import annotations

from kgeval.llm.calls import Numbered, Reply


class Made(Reply):
    """A question, its answer, and the numbers of the relations that the answer needs."""

    question: str
    answer: str
    triples: list[int]


class EvidenceVerdict(Numbered):
    """Whether one relation follows from passages, and from which."""

    reason: str
    passages: list[int]
    follows: bool


class EvidenceVerdicts(Reply):
    """One verdict a numbered relation."""

    items: list[EvidenceVerdict]


class AnswerVerdict(Reply):
    """Whether an answer follows from its evidence. `corrected`: the answer that does, where this one does not; may be empty."""

    reason: str
    follows: bool
    corrected: str


class Refined(Reply):
    """A question with more context."""

    question: str
