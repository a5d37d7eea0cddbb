"""What a judge returns. A reply that does not fit is asked again; answers in a list one by one."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema, create_model, model_validator

from kgeval.llm.calls import Reply, SourceTag, Tagged
from kgeval.metrics.facts import Label


def label_word(value: Any) -> Any:
    """ "Not stated" as `not_stated`: endpoints that cannot enforce a schema write labels in their own way."""
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else value


def _digit(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.strip() in ("0", "1", "2") else value


def _list(value: Any) -> Any:
    """None for no tag, one tag without its brackets."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true is no rating")
    return value


# Models write a reply in the order of its fields: a reason stands before the label or rating that it is for, never after.
Rating = Annotated[Literal[0, 1, 2], BeforeValidator(_digit), BeforeValidator(_no_truth)]
AnswerClass = Literal["correct", "partial", "incorrect", "refusal"]


class Statements(Reply):
    """The claims of a text, or the points of an answer. None at all only if the reply says so: an empty list alone is a failure."""

    statements: list[str]
    nothing_claimed: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The statements without empty ones, each once, in their order."""
        return tuple(dict.fromkeys(text.strip() for text in self.statements if text.strip()))

    @model_validator(mode="after")
    def _empty_on_purpose(self) -> Statements:
        if not self.texts and not self.nothing_claimed:
            raise ValueError("the list is empty, and the reply does not say that nothing is claimed")
        return self


class StatementVerdict(Tagged):
    """What a text says of one statement."""

    reason: str
    label: Annotated[Label, BeforeValidator(label_word)]


class StatementVerdicts(Reply):
    """One verdict a statement."""

    items: list[StatementVerdict]


class SourcedVerdict(Tagged):
    """What passages say of one statement, and which of them."""

    reason: str
    sources: Annotated[list[SourceTag], BeforeValidator(_list)]
    label: Annotated[Label, BeforeValidator(label_word)]


class SourcedVerdicts(Reply):
    """One verdict a statement."""

    items: list[SourcedVerdict]


class CitedVerdict(SourcedVerdict):
    """The same where the passages are what is asked for: support without a passage is no answer."""

    @model_validator(mode="after")
    def _support_has_a_source(self) -> CitedVerdict:
        if self.label == "supported" and not self.sources:
            raise ValueError("supported, but by no passage")
        return self


class CitedVerdicts(Reply):
    """One verdict a statement."""

    items: list[CitedVerdict]


class ContextRating(Tagged):
    """How much one context helps: 0 not, 1 in part, 2 it holds evidence."""

    reason: str
    rating: Rating


class ContextRatings(Reply):
    """One rating a context."""

    items: list[ContextRating]


class JoinedRating(Reply):
    """How much all contexts help, as one text."""

    reason: str
    rating: Rating


class AnswerVerdict(Reply):
    """An answer as a whole."""

    reason: str
    label: Annotated[AnswerClass, BeforeValidator(label_word)]


class OutsideVerdict(AnswerVerdict):
    """The same where no right answer is given: then there is nothing that the answer could be `correct` by."""

    label: Annotated[Literal["partial", "incorrect", "refusal"], BeforeValidator(label_word)]


class TrueOrFalse(Reply):
    """A response as a whole, as Kasiak's judge answers: the reasoning, then true or false."""

    reason: str
    result: bool


class MadeQuestions(Reply):
    """Three questions that an answer would answer. Three fields and no list: then there are three."""

    first: str
    second: str
    third: str
    noncommittal: bool

    @property
    def questions(self) -> tuple[str, ...]:
        """All three."""
        return self.first.strip(), self.second.strip(), self.third.strip()

    @model_validator(mode="after")
    def _all_there(self) -> MadeQuestions:
        if not all(self.questions):
            raise ValueError("a question is empty")
        return self


class CriterionGrade(Reply):
    """A grade by a criterion of the user's own."""

    reason: str
    grade: int | float


@cache
def grade_reply(grades: tuple[int | float, ...]) -> type[CriterionGrade]:
    """The reply with one of these grades, and no other."""
    def known(value: Any) -> int | float:
        fitting = [grade for grade in grades if value in (grade, str(grade)) and not isinstance(value, bool)]
        if not fitting:
            raise ValueError("this is none of the grades")
        return fitting[0]

    kind = "integer" if all(isinstance(grade, int) for grade in grades) else "number"
    grade = Annotated[int | float, BeforeValidator(known), WithJsonSchema({"enum": list(grades), "type": kind})]
    return create_model("CriterionGrade", __base__=CriterionGrade, __doc__="A grade, with its reason.", grade=(grade, ...))
