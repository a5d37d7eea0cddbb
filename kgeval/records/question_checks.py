"""What checks found in sets of questions, one set or two side by side."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, Record
from kgeval.records.gate import Gate
from kgeval.records.manifest import RunReport
from kgeval.records.pictures import Picture

TwinKind = Literal["exact", "normalised", "embedding"]


class CheckFigure(Record):
    """One check over the questions of a set. `n`: all of them = passed + failed + not_applicable + unscored.

    `share`: passed of passed + failed (0..1), null where there are none; `low`, `high`: its 95 % interval (Wilson). `bound_low`,
    `bound_high`: the share if all unscored ones failed, or passed. `causes`: unscored ones by cause; `why_not`: not applicable ones
    by reason.
    """

    check: Public
    n: int
    passed: int
    failed: int
    not_applicable: int
    unscored: int
    share: float | None = Field(default=None, ge=0, le=1)
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    causes: dict[Public, int] = Field(default_factory=dict)
    why_not: dict[Public, int] = Field(default_factory=dict)


class CheckExample(Record):
    """A question that a check failed, as an example. `reference`: the right answer of the file, where it has one."""

    check: Public
    id: Public
    question: str
    reference: str | None = None
    reason: str = ""


class QuestionPath(Record):
    """A question with its gold path, to be drawn. `reference`: the right answer, where the file has one; `failed`: the checks that it
    failed."""

    id: Public
    question: str
    reference: str | None = None
    failed: list[Public] = Field(default_factory=list)
    path: Picture


class CheckedSet(Record):
    """One file of questions. `references`, `evidence`: questions that have a right answer, and texts of evidence; `negative`: those
    that have no answer in the texts. `levels`: the figures of each level (or kind, where no level is told). `paths`: the first questions
    with a gold path, those that failed a check before the others."""

    file: Public
    n: int
    references: int
    evidence: int
    negative: int
    figures: list[CheckFigure]
    levels: dict[Public, list[CheckFigure]] = Field(default_factory=dict)
    examples: list[CheckExample] = Field(default_factory=list)
    paths: list[QuestionPath] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class CheckDifference(Record):
    """A check in two sets: share of the first minus share of the second (-1..1), with its 95 % interval (Newcombe); `n_first`,
    `n_second`: how many questions the shares are of."""

    check: Public
    difference: float
    low: float
    high: float
    n_first: int
    n_second: int


class QuestionTwin(Record):
    """Two questions that ask the same. `similarity`: cosine of their embeddings, null where the words are the same."""

    file: Public
    id: Public
    other_file: Public
    other_id: Public
    how: TwinKind
    similarity: float | None = None


class CheckReport(RunReport):
    """Checks of one set of questions, or of two side by side. `complete`: nothing was cut off. `near`: the cosine from which two
    questions are near; null: only words were compared. `twins`: the first pairs; `twins_within`, `twins_across`: how many there are."""

    complete: bool = True
    near: float | None = None
    sets: list[CheckedSet]
    differences: list[CheckDifference] = Field(default_factory=list)
    twins: list[QuestionTwin] = Field(default_factory=list)
    twins_within: dict[Public, int] = Field(default_factory=dict)
    twins_across: int = 0
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
