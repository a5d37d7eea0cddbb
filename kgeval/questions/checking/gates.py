"""Thresholds on checks: `answerable>=0.9`, `FILE:leak>=1`; a share that unscored questions could turn is not answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from kgeval.questions.checking.check_table import CHECKS
from kgeval.records import Gate
from kgeval.records.question_checks import CheckedSet, CheckFigure
from kgeval.stats.thresholds import Threshold, parse_thresholds, without_at


def parse_check_gates(
    texts: Iterable[str], checks: Collection[str], files: Collection[str], *, noun: str = "check",
) -> list[Threshold]:
    """The thresholds in the order given: `of` is the file, None for every file; `=` means at least. `noun`: what the names are called in
    messages.

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

    return parse_thresholds(
        texts, faults,
        fix="write {0}=X, {0}>=X, {0}<=X or FILE:{0}>=X with X from 0 to 1, for {1}s of this run".format(noun.upper(), noun),
    )


class _HasShare(Protocol):
    @property
    def share(self) -> float | None: ...


F = TypeVar("F", bound=_HasShare)


def answered(
    thresholds: Sequence[Threshold], files: Sequence[tuple[str, Mapping[str, F]]], met: Callable[[Threshold, F], bool | None], why: str,
) -> list[Gate]:
    """One gate a threshold and file, in the order of the thresholds. `files`: with the figure of each check; `met`: by its figure; `why`:
    there is no answer where there is a value."""
    gates = []
    for threshold in thresholds:
        for file, figures in files:
            if threshold.of in (None, file):
                figure = figures[threshold.name]
                answer = met(threshold, figure)
                reason = None if answer is not None else "it has no value" if figure.share is None else why
                gates.append(threshold.gate(figure.share, answer, of=file, reason=reason))
    return gates


def evaluated(thresholds: Sequence[Threshold], sets: Sequence[CheckedSet], *, complete: bool) -> list[Gate]:
    """One result a threshold and set. `met` None: nothing was checked, the run was stopped, or what is unscored could turn
    it."""
    def met(threshold: Threshold, figure: CheckFigure) -> bool | None:
        if not complete or figure.share is None or figure.bound_low is None or figure.bound_high is None:
            return None
        return threshold.met_between(figure.bound_low, figure.bound_high)

    files = [(one.file, {figure.check: figure for figure in one.figures}) for one in sets]
    return answered(thresholds, files, met, "what is unscored could decide it" if complete else "the run was stopped before its end")
