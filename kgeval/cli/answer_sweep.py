"""`kgeval answer QUESTIONS --system graph --sweep`: what theta, k and l_max find, as a table. No reader is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from kgeval.cli.common import say
from kgeval.reports.display import percent

if TYPE_CHECKING:
    from kgeval.records import Answer, Question
    from kgeval.systems.builtin import BuiltinTools, Settings
    from kgeval.systems.builtin.sweep import SweepRow

MEASURES = ("path_coverage", "path_complete", "id_recall")


def sweep_and_show(
    questions: Iterable[Question], settings: Settings, tools: BuiltinTools, grid: Mapping[str, Sequence[int | float]] | None = None,
) -> None:
    """Prints the table of a sweep and the place that it would choose. `settings`: of the system, what is not swept.

    Raises: UsageError where the system has nothing to sweep, InputError where no question names gold evidence by id or path.
    """
    from kgeval.errors import InputError
    from kgeval.systems.builtin.sweep import SLACK, best, sweep

    rows = sweep(settings, tools, questions, measured, grid)
    by = next((name for name in MEASURES if any(row.n.get(name) for row in rows)), None)
    if by is None:
        raise InputError(
            "no question has a gold path or evidence with chunk ids, so a sweep has nothing to measure",
            fix="make questions with kgeval questions generate, or give evidence with chunk_id",
        )
    for line in table(rows):
        click.echo(line)
    chosen = best(rows, by)
    if chosen is not None:
        at = chosen.settings
        click.echo(f"chosen: theta={at.theta:g} k={at.k} l_max={at.l_max}: the smallest context within {SLACK:g} of the best {by}")
    say(f"{rows[0].questions} questions, {settings.name}; nothing was asked of a reader")


def measured(question: Question, answer: Answer) -> dict[str, float | None]:
    """The measures of one question, by the metrics of `kgeval score`; null where one does not apply."""
    from kgeval.metrics import ids, path
    from kgeval.metrics.definition import Settings, Subject
    from kgeval.metrics.facts import Facts
    from kgeval.records import Row

    subject = Subject(Row(n=0, where="sweep", question=question, answer=answer), Facts(), Settings())
    known = {metric.name: metric for metric in (*ids.METRICS, *path.METRICS)}
    there = {"id_recall": bool(question.gold_ids)}
    return {name: known[name].compute(subject).value if there.get(name, True) else None for name in MEASURES}


def table(rows: Sequence[SweepRow]) -> list[str]:
    """The rows as aligned text, a head first."""
    head = ("theta", "k", "l_max", *MEASURES, "context tokens", "nothing found")
    body = [
        (
            f"{row.settings.theta:g}", str(row.settings.k), str(row.settings.l_max),
            *("-" if (value := row.mean(name)) is None else f"{value:.3f}" for name in MEASURES),
            f"{row.tokens:.0f}", percent(row.nothing),
        )
        for row in rows
    ]
    widths = [max(len(line[at]) for line in (head, *body)) for at in range(len(head))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *body)]
