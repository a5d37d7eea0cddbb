"""What a run of a comparison hands over for its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from kgeval.comparison.table import PairTable
from kgeval.records import (
    AlignmentCount,
    ComparisonVerdict,
    CorrectedRate,
    Drift,
    LeftOutKnown,
    Procedure,
    RunManifest,
    Stopped,
    SystemUse,
    TrialKind,
)
from kgeval.stats.thresholds import Threshold

Tables = Callable[[], Iterable[PairTable]]  # one pair at a time, as often as wanted: memory stays flat with 50 systems
Texts = Callable[[str, str, str, int], tuple[str, str] | None]  # (system a, system b, question id, trial from 1) -> answers as judged

Figure = Literal["relative", "low", "high", "win", "tie", "loss", "gap"]


@dataclass(frozen=True)
class PairThreshold:
    """A threshold on a `Figure` of every pair that it fits, `at` an aspect (None: overall). `system_a`, `system_b` None stand for any."""

    threshold: Threshold
    system_a: str | None = None
    system_b: str | None = None


@dataclass(frozen=True)
class ComparisonInputs:
    """All that a report is made from. `tables`: the pairs under the main procedure; `contrast`: procedure -> the same pairs under it.
    `unit`: what questions are drawn with, where several have the same (`document`); `tie_region`: relative win rates that count as equal;
    `pads_itself`: words are added by a model of the judge's own family. `complete`: the run was not stopped; `max_error_rate`: the share
    of questions or question-trials that may fail. `texts`: the two answers of a question as they were judged, None where unknown.
    `questions`: id -> its text, None where unknown. `reasons`: the judge's calls of a question for the drill-down, as verdicts.
    `self_check`: systems whose second run stands beside them (name of the run -> name of the system). `judgements`, `requests`: replies
    that the verdicts rest on, and how many of their requests differ. `known`: questions that a model answers without any text, which the
    tables are without; `all_tables`: the pairs with them. `drill`: how many questions a pair may be opened (0: none)."""

    run: RunManifest
    signature: str
    tables: Tables
    procedure: Procedure = "scores"
    trial_kind: TrialKind = "rejudge"
    complete: bool = True
    max_error_rate: float = 1.0
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    grades: Mapping[str, list[str]] = field(default_factory=dict)
    contrast: Mapping[str, Tables] = field(default_factory=dict)
    texts: Texts | None = None
    question_text: Callable[[str], str | None] | None = None
    calls: Callable[[str, str, str, int], Iterable[ComparisonVerdict]] | None = None
    systems: tuple[SystemUse, ...] = ()
    alignment: tuple[AlignmentCount, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    corrected: tuple[CorrectedRate, ...] = ()
    drift: Drift | None = None
    self_check: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, list[str]] = field(default_factory=dict)
    judgements: int = 0
    requests: int = 0
    notes: tuple[str, ...] = ()
    thresholds: tuple[PairThreshold, ...] = ()
    known: LeftOutKnown | None = None
    all_tables: Tables | None = None
    seed: int = 0
    drill: int = 200
    unit: str = "document"
    tie_region: float = 0.0
    pads_itself: bool = False
