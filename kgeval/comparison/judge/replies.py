"""What a judge returns, by procedure. A reply that lacks an aspect, a reason or a score is no reply: it is asked again, never fixed.

The classes' names are part of the schemas that are sent, and so of the keys under which the journal has replies: a new name would ask for
all of them again. Points are whole: 0, 1, 2, 3, 4, 5. "4" and 4.0 are 4; 4.5, "4.5", "4/5", true and 6 are nothing.
The code of [Z] asks for such a reply again without end, and doubles every backslash first, so that a quotation mark in a reason makes good
JSON bad; here llm/ asks a set number of times, and what comes to nothing is a failure with its cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, create_model

from kgeval.llm.calls import Reply

MOST_STATEMENTS = 100
_CHOICE = {"first": (1.0, 0.0), "second": (0.0, 1.0), "tie": (0.5, 0.5)}


def _points(value: Any) -> Any:
    """A whole number as JSON has it, or its one digit as text."""
    if isinstance(value, bool):
        raise ValueError("true is no score")
    if isinstance(value, str) and value.strip() in ("0", "1", "2", "3", "4", "5"):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("no reason is given")
    return text


Reason = Annotated[str, AfterValidator(_filled)]
Points = Annotated[Literal[0, 1, 2, 3, 4, 5], BeforeValidator(_points)]
Choice = Annotated[Literal["first", "second", "tie"], BeforeValidator(_word)]
Forced = Annotated[Literal["first", "second"], BeforeValidator(_word)]


class Graded(Reply):
    """Points of one answer in one aspect, with the reason before them."""

    reason: Reason
    score: Points


class GradedPair(Reply):
    """Both answers in one aspect."""

    first: Graded
    second: Graded

    @property
    def points(self) -> tuple[float, float]:
        """Of the first answer and of the second."""
        return float(self.first.score), float(self.second.score)

    @property
    def reasons(self) -> tuple[str, str]:
        """For the points of the first answer and of the second."""
        return self.first.reason, self.second.reason


class Chosen(Reply):
    """Which answer is better in one aspect, or that neither is."""

    reason: Reason
    winner: Choice

    @property
    def points(self) -> tuple[float, float]:
        """1 for the better answer, half each for a tie."""
        return _CHOICE[self.winner]

    @property
    def reasons(self) -> tuple[str, str]:
        """One reason stands for both."""
        return self.reason, self.reason


class ForcedChoice(Reply):
    """The same without ties, as the biased baseline has it."""

    explanation: Reason
    winner: Forced

    @property
    def points(self) -> tuple[float, float]:
        """1 for the winner."""
        return _CHOICE[self.winner]

    @property
    def reasons(self) -> tuple[str, str]:
        """One explanation stands for both."""
        return self.explanation, self.explanation


class Content(Reply):
    """What two answers say: both, only the first, only the second."""

    common: list[str]
    only_first: list[str]
    only_second: list[str]


def graded_pairs(aspects: Sequence[str]) -> type[Reply]:
    """The reply of `scores`: a field of GradedPair an aspect."""
    return _reply("GradedPairs", GradedPair, tuple(aspects))


def graded(aspects: Sequence[str]) -> type[Reply]:
    """The reply of `single`: a field of Graded an aspect."""
    return _reply("Grades", Graded, tuple(aspects))


def chosen(aspects: Sequence[str]) -> type[Reply]:
    """The reply of `pairwise-choice` and of the second step of `differential`: a field of Chosen an aspect."""
    return _reply("Choices", Chosen, tuple(aspects))


def forced(aspects: Sequence[str]) -> type[Reply]:
    """The reply of `biased`: a field of ForcedChoice an aspect, the overall winner among them."""
    return _reply("Winners", ForcedChoice, tuple(aspects))


def statements(given: Sequence[str]) -> list[str]:
    """Statements of a side without empty and repeated ones, in their order, at most 100."""
    return list(dict.fromkeys(text.strip() for text in given if text.strip()))[:MOST_STATEMENTS]


@cache
def _reply(name: str, part: type[Reply], fields: tuple[str, ...]) -> type[Reply]:
    """A reply with one required field of `part` for each name. One class a set of names: their schemas are part of journal keys."""
    inner: dict[str, Any] = dict.fromkeys(fields, (part, ...))
    return cast("type[Reply]", create_model(name, __base__=Reply, **inner))
