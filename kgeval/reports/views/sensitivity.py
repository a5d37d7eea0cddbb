"""Whether metrics tell right answers from wrong ones [D 5.2]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kgeval.format import figure, joined, number, plural
from kgeval.records import ConditionScores, Sensitivity, SensitivityReport
from kgeval.reports.document import Cell, Document, Section, Table
from kgeval.reports.usage import usage
from kgeval.reports.views.parts import spread_cell
from kgeval.rounding import sign
from kgeval.stats.ranks import leaders

_HEADS = ("metric", "reference", "answered", "wrong", "AUC ref", "AUC ans", "scored", "failed", "")
CONDITIONS: tuple[Literal["reference", "answered", "wrong"], ...] = ("reference", "answered", "wrong")
_DRAWN = (
    "How the scores lie between 0 and 1: bars for how many, each drawing with its own height; the upright line is the mean; below them "
    "the box from quartile to quartile with the median. A metric that tells right from wrong has the references at the right, the wrong "
    "answers at the left, and little in common (the other way round where less is better)."
)
_MEANING = (
    "Medians under each condition. AUC: the chance that a reference (ref) or an answer (ans) scores better than {}; 1: told apart, 0.5: no "
    "difference."
)


def document(report: SensitivityReport) -> Document:
    """One table a system; on a page the distributions behind it [D figure 1 d-g]."""
    reused = f"{plural(report.reused, 'wrong answer')} had to be used again: too few answers are wrong there."
    lead = [
        *([] if report.complete else ["Not complete: the run was stopped; what is missing counts as failed."]),
        *_verdict(report), *(f"{plural(n, 'row')} left out: {why}." for why, n in report.left_out.items()),
        *([reused] if report.reused else []),
    ]
    systems: dict[str | None, list[Sensitivity]] = {}
    for one in report.results:
        systems.setdefault(one.system, []).append(one)
    sections = [
        Section("all systems" if system is None else system, [
            Table(_HEADS, [_row(one) for one in found], short=100),
            Table(("metric", *CONDITIONS), [
                (Cell(one.metric, user=True), *(spread_cell(part) for part in _conditions(one))) for one in found
            ], forms="page", title="Distributions", hint=_DRAWN, words=frozenset(range(4))),
        ]) for system, found in systems.items()
    ]
    return Document(
        "Sensitivity of metrics", "metrics sensitivity", sections, lead=lead, notes=report.notes,
        about=f"{plural(report.rows, 'answer')}, {'wrong answers as given, ' if report.wrong_given else ''}seed {report.seed}",
        foot=[_MEANING.format("a given wrong answer" if report.wrong_given else "an answer to another question"), *usage(report.run)],
        more="Distributions: add -o report.html; failures by cause: add -o report.json",
    )


def _verdict(report: SensitivityReport) -> Iterator[str]:
    """Which metrics tell references from wrong answers best and worst: of all systems, where they are together."""
    together = [one for one in report.results if one.system is None] or report.results
    known = sorted((one.auc_reference, one.metric) for one in together if one.auc_reference is not None)
    if known:
        values = [auc for auc, _ in known]
        least, most = values[0], values[-1]
        best, worst = (joined([known[at][1] for at in at_end], 4) for at_end in (leaders(values), leaders([-auc for auc in values])))
        who = f"best {best} (AUC {figure(most)}), worst {worst} (AUC {figure(least)})" if sign(most - least) > 0 else f"AUC {figure(most)}"
        yield f"How well references are told from wrong answers: {who}. 1 is perfect, 0.5 is guessing."


def _conditions(one: Sensitivity) -> list[ConditionScores | None]:
    """In the order of CONDITIONS."""
    parts = {part.condition: part for part in one.conditions}
    return [parts.get(name) for name in CONDITIONS]


def _row(one: Sensitivity) -> tuple[str | Cell, ...]:
    scored, asked = sum(part.n_scored for part in one.conditions), sum(part.n for part in one.conditions)
    failed = sum(sum(part.failures.values()) for part in one.conditions)
    return (
        Cell(one.metric, user=True), *(figure(part.spread.median if part else None) for part in _conditions(one)),
        figure(one.auc_reference), figure(one.auc_answered), f"{number(scored)} of {number(asked)}", number(failed),
        Cell("", range=(one.auc_answered, None, None)) if one.auc_answered is not None else "",
    )
