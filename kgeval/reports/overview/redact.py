"""Leaves users' texts out of the one report: title, names in examples, paths, and notes that quote files."""

from __future__ import annotations

from pathlib import PurePath
from typing import TypeVar

from kgeval.records import OverviewExample, OverviewFinding, OverviewReport, OverviewSource, Record
from kgeval.reports.redact import CONTENT, Hasher, hasher

R = TypeVar("R", bound=Record)
_KEPT = ("fail_on", "forms", "form", "redact", "seed")


def redacted_overview(report: OverviewReport) -> OverviewReport:
    """The report without its title, and with names in examples as hashes such as `#3f9c0a1b`; of paths only the last part stays.

    Names of systems, metrics, data sets, graphs and files are the report's vocabulary, and stay. What sources say of themselves speaks of
    those only. Notes and the command's options, which may quote anything, are left out.
    """
    hashed = hasher(report)
    run = report.run.model_copy(update={
        "arguments": {name: value for name, value in report.run.arguments.items() if name in _KEPT},
        "inputs": [one.model_copy(update={"path": _last(one.path)}) for one in report.run.inputs],
    })
    return report.model_copy(update={
        "title": None, "run": run, "findings": [_finding(one, hashed) for one in report.findings],
        "sources": [_source(one) for one in report.sources], "figures": [_short(one) for one in report.figures],
        "priorities": [_short(one) for one in report.priorities], "gates": [_short(one) for one in report.gates],
        "cost": [_short(one) for one in report.cost], "stages": [one.model_copy(update={"reason": None}) for one in report.stages],
        "diff": report.diff and report.diff.model_copy(update={"files": [_last(path) for path in report.diff.files], "notes": []}),
        "notes": [],
    })


def _finding(one: OverviewFinding, hashed: Hasher) -> OverviewFinding:
    return one.model_copy(update={"examples": [_example(example, hashed) for example in one.examples], "source": _last(one.source)})


def _example(one: OverviewExample, hashed: Hasher) -> OverviewExample:
    if one.kind not in CONTENT:
        return one
    lasting = [name and hashed(name) for name in one.lasting]
    return one.model_copy(update={"names": [hashed(name) for name in one.names], "lasting": lasting})


def _source(one: OverviewSource) -> OverviewSource:
    return one.model_copy(update={"file": _last(one.file), "page": None})


def _short(one: R) -> R:
    """The record with the last part of its source's path."""
    source = getattr(one, "source", None)
    if source is None:
        return one
    return one.model_copy(update={"source": _last(source)})


def _last(path: str) -> str:
    return PurePath(path).name
