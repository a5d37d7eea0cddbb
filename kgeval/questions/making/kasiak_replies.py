"""What a model returns when questions of the nine kinds of [K] are made and checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from kgeval.llm.calls import Numbered, Reply


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class OfOnePassage(Reply):
    """A question and its answer, with the one passage that gives it."""

    question: str
    answer: str
    passage: int


class OfRelations(Reply):
    """A question and its answer, with the relations that the answer needs."""

    question: str
    answer: str
    triples: list[int]


class Concluded(Reply):
    """A question whose answer is a conclusion, with the relations and the passages that it is drawn from."""

    question: str
    answer: str
    triples: list[int]
    passages: list[int]


class Conclusion(Reply):
    """Whether an answer follows from passages, and whether one of them says it."""

    reason: str
    follows: bool
    stated: bool


class Distracted(Reply):
    """A question that carries a fact that it does not need. `plain`: without it; `distractor`: the number of that fact's relation."""

    question: str
    plain: str
    answer: str
    triples: list[int]
    distractor: int


class Outside(Reply):
    """A question that the texts do not answer. `names`: what it names that is not in them."""

    question: str
    names: list[str]


class SideFact(Reply):
    """A fact of one of two entities (1 or 2) that an answer uses, with the passage that says it."""

    entity: int
    fact: str
    passage: int


class Compared(Reply):
    """A question that compares two entities, with the facts that its answer uses."""

    question: str
    answer: str
    facts: list[SideFact]


class SideVerdict(Numbered):
    """Whether the passage says a fact of its entity, and whether the answer needs it."""

    reason: str
    follows: bool
    used: bool


class SideVerdicts(Reply):
    """One verdict a numbered fact."""

    items: list[SideVerdict]


class Quoted(Reply):
    """A question who said something, or where it stands. `quote`: word for word from the passage; `speaker`: empty where the text itself
    says it."""

    question: str
    quote: str
    passage: int
    asks: Annotated[Literal["speaker", "document"], BeforeValidator(_word)]
    speaker: str
