"""One report over all reports of a run: what a decision is made from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import FilePath, Public, Record
from kgeval.records.gate import Gate, Severity
from kgeval.records.manifest import RunReport
from kgeval.records.matrix import RunPlace
from kgeval.records.model import ModelUse
from kgeval.records.pipeline import ENDED, StageState

SourceKind = Literal[
    "build", "audit", "completeness", "accuracy", "questions", "question-stats", "classification", "check", "coverage", "answers", "scores",
    "sensitivity", "contamination", "comparison", "matrix", "agreement", "metric-matrix", "stats", "simulation", "load",
]
Part = Literal["scope", "graph", "retrieval", "answers", "grounding", "reasoning", "baseline", "comparison", "latency", "cost"]
Unit = Literal["share", "difference", "points", "count", "number", "seconds", "usd"]
Dimension = Literal["graph", "retrieval", "answers", "grounding", "reasoning"]
ChangeVerdict = Literal["better", "worse", "noise", "same", "changed", "few", "not_comparable", "new", "gone"]


class OverviewSource(Record):
    """One report that was read. `file`, `page` (the report's own HTML page, where it is there): paths from where the report was made.
    `complete` false: it was stopped, or something in it has no answer. `says`: its verdict, in its own words."""

    kind: SourceKind
    place: RunPlace = RunPlace()
    file: FilePath
    page: str | None = None
    sha256: Public
    kgeval: Public
    started: Public
    seed: int | None = None
    complete: bool = True
    reason: Public | None = None
    says: list[Public] = Field(default_factory=list)


class FigureName(Record):
    """Which figure it is. `of`: the system, or the pair of systems (`A - B`); null: the graph or the questions."""

    part: Part
    name: Public
    title: Public
    of: Public | None = None
    place: RunPlace = RunPlace()
    unit: Unit = "share"


class OverviewFigure(FigureName):
    """One figure of a source. `of`: the system, or the pair of systems (`A - B`); null: the graph or the questions. `n`: what it is over;
    `n_scored`: of those with a value. `low`, `high`: 95 % interval; null where there is none: `exact` true: everything was counted, so
    that there is no chance in it. `signature`: all that the figure depends on, where its source has one. `note`: whose figure it is."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    n_scored: int | None = None
    better: Literal["higher", "lower"] | None = None
    exact: bool = False
    signature: Public | None = None
    note: Public | None = None
    source: FilePath


class OverviewExample(Record):
    """One place in a graph where a finding shows: what it is, its type, its names. `lasting`: of each of its things the normal form of its
    name, by which it is known again when the graph is rebuilt ("": it has none). `waived`: the reason of the waiver that takes it out;
    `known`: it stands in the ratchet file."""

    kind: Public
    type: Public | None = None
    names: list[str]
    lasting: list[str] = Field(default_factory=list)
    waived: str | None = None
    known: bool = False


class OverviewFinding(Record):
    """One check of a graph. `status`, `count`, `total`, `share`, `threshold`, `suppressed` and `known` as the finding has them. `touches`:
    the share of all entities, relations or chunks of the graph that its hits are; null where they are none of these, or it is not known."""

    rule_id: Public
    title: Public
    group: Public
    severity: Severity
    status: Literal["passed", "failed", "skipped", "incomplete", "error"]
    place: RunPlace = RunPlace()
    graph: Public | None = None
    count: int | None = None
    total: int | None = None
    total_of: Public = "entities"
    share: float | None = None
    threshold: Public | None = None
    suppressed: int = 0
    known: int = 0
    touches: float | None = None
    advice: Public = ""
    examples: list[OverviewExample] = Field(default_factory=list)
    source: FilePath


class OverviewGate(Gate):
    """A gate of a source, or of this report (`source` null)."""

    place: RunPlace = RunPlace()
    source: FilePath | None = None


class OverviewPriority(Record):
    """What to fix, the most pressing first. `evidence`: the figure that says so; `advice`: what to do; `source`: file."""

    severity: Severity
    title: Public
    why: Public
    evidence: Public
    where: Public
    advice: Public
    source: FilePath | None = None


class RubricFigure(Record):
    """One figure that a score rests on, and the score that its bands give: 1 to 5. `score_low`, `score_high`: what the ends of its
    interval would give. `bands`: the four limits between the scores, in words. `bands_by`: whose limits they are."""

    figure: Public
    title: Public
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    score: int
    score_low: int | None = None
    score_high: int | None = None
    bands: Public
    bands_by: Public


class RubricScore(Record):
    """One of the five dimensions of [M]. `score`: mean of its figures' scores, 1 to 5; null: not measured, `reason` says what is needed."""

    dimension: Dimension
    score: float | None = None
    figures: list[RubricFigure] = Field(default_factory=list)
    reason: Public | None = None


class Rubric(Record):
    """The five scores of one system at one place (`system` null: the graph alone). `mean`: of the measured ones; `passed`: it is at least
    3.0 [M]; null: not all five are measured, and those that are do not decide it."""

    system: Public | None = None
    place: RunPlace = RunPlace()
    scores: list[RubricScore]
    measured: int
    mean: float | None = None
    passed: bool | None = None


class OverviewChange(FigureName):
    """One figure against the baseline's. `difference`: after minus before, `low`, `high`: its 95 % interval (from both intervals; null
    without). `verdict`: better or worse: the interval leaves 0 out, or everything was counted; noise: it does not; few: too few questions
    to say; changed: it has no interval and no better side; not_comparable: the signatures differ; new, gone: on one side only."""

    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    n_before: int | None = None
    n_after: int | None = None
    better: Literal["higher", "lower"] | None = None
    verdict: ChangeVerdict


class JudgeMoved(Record):
    """Whether the judge is the same as in the baseline. `moved` null: not known, `why` says why. `agreement_before`, `agreement_after`:
    with people, on the anchors."""

    moved: bool | None = None
    why: Public
    agreement_before: float | None = None
    agreement_after: float | None = None
    compared: int | None = None


class OverviewDiff(Record):
    """This run against a baseline. `judge`: read it first: if the judge moved, no judged figure can be compared. `notes`: other versions,
    other question files."""

    files: list[FilePath]
    kgeval: list[Public]
    judge: list[JudgeMoved] = Field(default_factory=list)
    changes: list[OverviewChange] = Field(default_factory=list)
    findings_new: list[Public] = Field(default_factory=list)
    findings_gone: list[Public] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class OverviewStage(Record):
    """A stage of the run that did not come to a whole result, or whose file was changed after it."""

    id: Public
    kind: Public
    place: RunPlace = RunPlace()
    state: StageState
    reason: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the stage came to its end: then its file was changed since."""
        return self.state in ENDED


class OverviewCost(Record):
    """What models were asked, by kind of report, place, and stage within it. `cost` null in `use`: no price known."""

    kind: Public
    place: RunPlace = RunPlace()
    use: ModelUse
    source: FilePath | None = None


class OverviewReport(RunReport):
    """One report over all of a run. `title`: as it was given. `verdict`: the outcome in sentences, the most important first.
    `complete`: every source is complete and every stage of the run came to its end."""

    title: str | None = None
    complete: bool = True
    verdict: list[Public] = Field(default_factory=list)
    sources: list[OverviewSource] = Field(default_factory=list)
    stages: list[OverviewStage] = Field(default_factory=list)
    priorities: list[OverviewPriority] = Field(default_factory=list)
    rubrics: list[Rubric] = Field(default_factory=list)
    figures: list[OverviewFigure] = Field(default_factory=list)
    findings: list[OverviewFinding] = Field(default_factory=list)
    gates: list[OverviewGate] = Field(default_factory=list)
    fail_on: Severity | None = None
    diff: OverviewDiff | None = None
    cost: list[OverviewCost] = Field(default_factory=list)
    not_measured: list[Public] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
