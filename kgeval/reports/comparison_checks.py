"""What stands beside a comparison, as tables of texts for every form: where it stopped, A/A, labels of people, the judge on anchors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgeval.format import chance, interval, number, share, signed
from kgeval.records import Stopped
from kgeval.reports.comparison_view import View, between
from kgeval.reports.views.stats import DRIFT, SELECTION, drift_lines, drift_rows


@dataclass(frozen=True)
class TablePart:
    """A heading, a table with its head, and lines below it."""

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    lines: Sequence[str] = ()


def checks(view: View) -> Iterator[TablePart]:
    """The parts that the report has, in the order in which they are read."""
    yield from _stopped(view)
    yield from _runs(view)
    yield from _corrected(view)
    if view.report.drift is not None:
        yield TablePart(DRIFT, ("Figure", "value", "95 %"), drift_rows(view.report.drift), drift_lines(view.report.drift))


def _stopped(view: View) -> Iterator[TablePart]:
    if view.report.stopped:
        rows = [
            (f"{one.system_a} against {one.system_b}", decision(one), f"{number(one.questions)} of {number(one.of_questions)}",
             f"{number(one.calls)} of {number(one.of_calls)}", interval(one.low, one.high, signed) or "-", share(one.tie_region))
            for one in view.report.stopped
        ]
        head = ("Pair", "decision", "questions", "judge calls", "95 %, always valid", "tie region")
        yield TablePart("Stopped when sure", head, rows)


def decision(one: Stopped) -> str:
    """`NAME is better`, `equal` or `open`."""
    better = {"a": one.system_a, "b": one.system_b}.get(one.decision)
    return f"{better} is better" if better is not None else one.decision


def _runs(view: View) -> Iterator[TablePart]:
    if view.report.self_checks:
        said = {True: "no difference", False: "differs", None: "no interval"}
        rows = [
            (one.system, signed(one.relative.value), between(one.relative) or "-", number(one.n), said[one.passed])
            for one in view.report.self_checks
        ]
        yield TablePart("A/A: a second run against the first", ("System", "relative", "95 %", "questions", "outcome"), rows)


def _corrected(view: View) -> Iterator[TablePart]:
    if view.report.corrected:
        rows = [
            (f"{one.system_a} against {one.system_b}", one.method, signed(one.relative.value), between(one.relative) or "-",
             f"{number(one.labels)} of {number(one.n)}", chance(one.selection_p), one.reason or "")
            for one in view.report.corrected
        ]
        head = ("Pair", "method", "relative", "95 %", "labelled", "p selection", "why not")
        yield TablePart("Corrected by labels of people", head, rows, [SELECTION])
