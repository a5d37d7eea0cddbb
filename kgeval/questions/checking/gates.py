"""Thresholds on checks: `answerable>=0.9`, `FILE:leak>=1`; a share that unscored questions could turn is not answered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kgeval.questions.checking.table import CHECKS
from kgeval.records import GateResult
from kgeval.records.question_checks import CheckedSet, CheckFigure
from kgeval.stats.thresholds import Threshold, parse_thresholds, passes, without_at


@dataclass(frozen=True)
class CheckGate:
    """The share of a check must be at least (else: at most) `limit`, in 0..1. `file` null: in every set."""

    check: str
    least: bool
    limit: float
    file: str | None = None


def parse_check_gates(texts: Iterable[str], checks: Collection[str], files: Collection[str], *, noun: str = "check") -> list[CheckGate]:
    """The gates in the order given; `=` means at least. `noun`: what the names are called in messages.

    Raises: UsageError that names every fault of all texts.
    """
    thresholds = parse_thresholds(
        texts, lambda one: _faults(one, checks, files, noun),
        fix="write {0}=X, {0}>=X, {0}<=X or FILE:{0}>=X with X from 0 to 1, for {1}s of this run".format(noun.upper(), noun),
    )
    return [CheckGate(one.name, one.least("higher"), one.limit, one.of) for one in thresholds]


def _faults(one: Threshold, checks: Collection[str], files: Collection[str], noun: str) -> list[str]:
    faults = []
    if one.name not in checks:
        known = "is not among the checks of this run" if one.name in CHECKS else f"is no {noun}"
        faults.append(f"{one.name[:60]} {known}")
    if one.of is not None and one.of not in files:
        faults.append(f"no file is called {one.of[:100]}")
    return [*faults, *without_at(one)]


def evaluated(gates: Sequence[CheckGate], sets: Sequence[CheckedSet], *, complete: bool) -> list[GateResult]:
    """One result a gate and set, in the order of the gates. `met` null: nothing was checked, the run was stopped, or what is unscored
    could turn it."""
    results = []
    for gate in gates:
        for one in sets:
            if gate.file in (None, one.file):
                figure = next(figure for figure in one.figures if figure.check == gate.check)
                met = _met(gate, figure) if complete else None
                results.append(GateResult(
                    system=one.file, metric=gate.check, least=gate.least, limit=gate.limit, value=figure.share, met=met,
                ))
    return results


def _met(gate: CheckGate, figure: CheckFigure) -> bool | None:
    if figure.share is None or figure.bound_low is None or figure.bound_high is None:
        return None
    ends = {passes(end, gate.limit, least=gate.least) for end in (figure.bound_low, figure.bound_high)}
    return ends.pop() if len(ends) == 1 else None
