"""What a model knows without texts: closed-book accuracy, scores without the questions that it knows, false answers, the probe."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, Record
from kgeval.records.gate import Gate
from kgeval.records.manifest import RunReport
from kgeval.records.scores import Gain, Mean, ScoreStatus, WithWithout

How = Literal["judge", "words"]


class ClosedBookGroup(Record):
    """The closed-book answers to the questions with `value` in the field `by`. `marked`: how many of them are right."""

    by: Literal["level", "kind", "document"]
    value: str
    accuracy: Mean
    marked: int


class SystemMean(Record):
    """A mean of one system."""

    system: Public
    mean: Mean


class KnownSide(Record):
    """Documents that the model may know from training (`known`), or cannot know. `marked_share`: questions about them that the closed
    book answers, of those with a value (0..1), with its 95 % interval (Wilson). `gains`: retrieval minus closed book on them."""

    known: bool
    documents: int
    accuracy: Mean
    marked_share: float | None = Field(default=None, ge=0, le=1)
    low: float | None = None
    high: float | None = None
    gains: list[Gain] = Field(default_factory=list)


class ContaminationDocument(Record):
    """One document: closed-book accuracy of its questions, and what retrieval gains on them. `known` null: not known, or the date
    does not decide it. `published`: as it was given."""

    document: str
    accuracy: Mean
    marked: int
    gains: list[Gain] = Field(default_factory=list)
    known: bool | None = None
    published: Public | None = None


class ProbeResult(Record):
    """What a model said of a document by its title alone. `recognised`: it says that it knows it. `supported`: share of the claims of
    its summary that the document's passages support (0..1); null: `status` and `reason` say why."""

    document: str
    title: str
    recognised: bool | None = None
    claims: int = 0
    supported: float | None = Field(default=None, ge=0, le=1)
    status: ScoreStatus
    reason: str | None = None
    known: bool | None = None


class ContaminationReport(RunReport):
    """What the closed book knows, and what that does to the scores.

    `closed_book`: the system that answers without texts. `metric`: decides what is right, from `right_from` on; `how`: a judge or
    words tell refusals, and so attempts and false answers. `n`: questions, `negative` of them without an answer in the texts,
    `missing` without a closed-book answer. `accuracy`: mean of the metric over answerable questions; its interval is Wilson's where
    all values are 0 or 1, else BCa's. `attempted`: share that the closed book answers at all. `marked`: ids of the questions that it
    answers right.

    `known_documents`: share of the questions that are about a document which the model may know, null where nothing is told of
    documents; a question whose documents have no date that decides counts as failed. `gates`: thresholds on these shares.
    `gains`: each other system minus closed book, `gains_without`: the same without the marked questions. `difference`: marked share of
    known minus unknown documents, with its 95 % interval (Newcombe).
    """

    complete: bool = True
    closed_book: Public
    metric: Public
    right_from: float
    how: How
    n: int
    negative: int
    missing: int
    accuracy: Mean
    attempted: Mean
    marked: list[Public] = Field(default_factory=list)
    groups: list[ClosedBookGroup] = Field(default_factory=list)
    scores: list[WithWithout] = Field(default_factory=list)
    gains: list[Gain] = Field(default_factory=list)
    gains_without: list[Gain] = Field(default_factory=list)
    documents: list[ContaminationDocument] = Field(default_factory=list)
    known: list[KnownSide] = Field(default_factory=list)
    known_documents: Mean | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    false_answers: list[SystemMean] = Field(default_factory=list)
    probe: list[ProbeResult] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
