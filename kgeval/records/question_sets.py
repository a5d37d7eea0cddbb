"""What sets of questions are made of: shares of levels and kinds, breadth and depth; and how questions were given their levels."""

from __future__ import annotations

from pydantic import Field

from kgeval.records.base import Public, Record
from kgeval.records.manifest import RunReport


class Amounts(Record):
    """A figure that questions have. `n`: the questions that have it; the others count for nothing. `sources`: how many of them have it
    from where: file (a field of the file), triples (counted from gold triples), texts (counted in the texts)."""

    n: int
    mean: float | None = None
    median: float | None = None
    lowest: float | None = None
    highest: float | None = None
    sources: dict[Public, int] = Field(default_factory=dict)


class QuestionGroup(Record):
    """The questions of one level or kind; `name` null: those without one, or all. `n`: questions, `share` of the set's (0..1).

    `breadth`: relations that the answer needs; `depth`: hops between their ends. `question_words`, `answer_words`: lengths;
    `answer_words.n` is how many have a right answer. `evidence`: pieces of evidence of a question that has any.
    """

    name: Public | None
    n: int
    share: float = Field(ge=0, le=1)
    breadth: Amounts
    depth: Amounts
    question_words: Amounts
    answer_words: Amounts
    evidence: Amounts


class QuestionSet(Record):
    """One file of questions. A question of several kinds counts in each. `documents`: how many different ones are named.
    `broken_triples`: gold triples whose parts cannot be told; they count for breadth, and their questions have no depth."""

    file: Public
    n: int
    overall: QuestionGroup
    levels: list[QuestionGroup]
    kinds: list[QuestionGroup]
    documents: int = 0
    broken_triples: int = 0
    notes: list[Public] = Field(default_factory=list)


class QuestionStats(RunReport):
    """Sets of questions side by side."""

    sets: list[QuestionSet]


class LabelCount(Record):
    """How many questions got a level. `before`: the level or kind that the file gave them; null: none. `level` null: no label."""

    before: Public | None
    level: Public | None
    n: int


class Classification(RunReport):
    """Levels that a judge gave to the questions of a file.

    `n` questions, `labelled` of them with a level, the rest by cause in `failures`. `levels`: shares of the labelled ones (0..1).
    `changes`: the level that the file had against the one given; `by_kind`: the same with its kinds. `agreement`: share of the
    questions that had one of these levels before and got it again; `kappa`: Cohen's; `compared`: how many those are.
    """

    complete: bool = True
    file: Public
    n: int
    labelled: int
    levels: dict[Public, float] = Field(default_factory=dict)
    failures: dict[Public, int] = Field(default_factory=dict)
    changes: list[LabelCount] = Field(default_factory=list)
    by_kind: list[LabelCount] = Field(default_factory=list)
    compared: int = 0
    agreement: float | None = Field(default=None, ge=0, le=1)
    kappa: float | None = Field(default=None, ge=-1, le=1)
    notes: list[Public] = Field(default_factory=list)
