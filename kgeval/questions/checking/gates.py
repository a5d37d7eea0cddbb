"""Thresholds on checks: `answerable>=0.9`, `FILE:leak>=1`; a share that unscored questions could turn is not
answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kgeval.questions.checking.check_table import CHECKS
from kgeval.records import GateResult
from kgeval.records.question_checks import CheckedSet, CheckFigure
from kgeval.stats.thresholds import Threshold, parse_thresholds, passes, without_at


@dataclass(frozen=True)
class CheckGate:
    """The share of a check must be at least (else: at most) `limit`, in 0..1. `file` None: in every set."""

    check: str
    least: bool
    limit: float
    file: str | None = None


def parse_check_gates(
    texts: Iterable[str], checks: Collection[str], files: Collection[str], *, noun: str = "check",
) -> list[CheckGate]:
    """The gates in the order given; `=` means at least. `noun`: what the names are called in messages.

    Raises: UsageError that names every fault of all texts.
    """
    def faults(threshold: Threshold) -> list[str]:
        wrong = []
        if threshold.name not in checks:
            known = "is not among the checks of this run" if threshold.name in CHECKS else f"is no {noun}"
            wrong.append(f"{threshold.name[:60]} {known}")
        if threshold.of is not None and threshold.of not in files:
            wrong.append(f"no file is called {threshold.of[:100]}")
        return [*wrong, *without_at(threshold)]

    thresholds = parse_thresholds(
        texts, faults,
        fix="write {0}=X, {0}>=X, {0}<=X or FILE:{0}>=X with X from 0 to 1, for {1}s of this run".format(noun.upper(), noun),
    )
    return [CheckGate(one.name, one.least("higher"), one.limit, one.of) for one in thresholds]


class _HasShare(Protocol):
    @property
    def share(self) -> float | None: ...


F = TypeVar("F", bound=_HasShare)


def gate_results(
    gates: Sequence[CheckGate], files: Sequence[tuple[str, Mapping[str, F]]],
    met: Callable[[CheckGate, F], bool | None],
) -> list[GateResult]:
    """One result a gate and file, in the order of the gates. `files`: with the figure of each check; `met`: by its
    figure."""
    return [
        GateResult(
            system=file, metric=gate.check, least=gate.least, limit=gate.limit, value=figures[gate.check].share,
            met=met(gate, figures[gate.check]),
        )
        for gate in gates for file, figures in files if gate.file in (None, file)
    ]


def evaluated(gates: Sequence[CheckGate], sets: Sequence[CheckedSet], *, complete: bool) -> list[GateResult]:
    """One result a gate and set. `met` None: nothing was checked, the run was stopped, or what is unscored could turn
    it."""
    def met(gate: CheckGate, figure: CheckFigure) -> bool | None:
        if not complete or figure.share is None or figure.bound_low is None or figure.bound_high is None:
            return None
        ends = {passes(end, gate.limit, least=gate.least) for end in (figure.bound_low, figure.bound_high)}
        return ends.pop() if len(ends) == 1 else None

    return gate_results(gates, [(checked_set.file, {figure.check: figure for figure in checked_set.figures}) for checked_set in sets], met)
