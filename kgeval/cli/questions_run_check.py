"""`kgeval questions generate --check`: the checks that the makers of questions did not do themselves, and their part of the dry run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgeval.cli.questions_run import Job
    from kgeval.llm.asker import Asker
    from kgeval.questions.checking.figures import Tally as Results
    from kgeval.questions.checking.run import CheckDesk
    from kgeval.questions.generate import Tally
    from kgeval.questions.kept import Kept


def add_checks(job: Job, kept: Kept, done: Kept) -> None:
    """Fills `done` with all questions of `kept`, with their checks; where that is broken off, the rest goes in as it is.

    Raises: what ends a run (ModelError, ConnectionLost, Ctrl-C).
    """
    from kgeval.questions.checking.figures import Tally as Results
    from kgeval.questions.checking.run import check_questions, with_checks

    try:
        desk = _desk(job, kept)
        results = Results(str(job.output), desk.checks, examples=0)
        for question, found in check_questions(kept, desk, job.models):
            done.add(with_checks(question, found))
            results.add(question, found)
    except BaseException:
        for question in islice(kept, done.count, None):
            done.add(question)
        raise
    _told(job, results)


def count_checks(job: Job, asker: Asker, kept: Kept, tallies: Iterable[Tally]) -> None:
    """Dry run: the calls for questions that are there, by the code that makes them; for the others how many there can be."""
    from dataclasses import replace

    from kgeval.questions.checking.run import checked, count_unknown

    desk = replace(_desk(job, kept), asker=asker)
    for question in kept:
        checked(question, desk)
    for tally in tallies:
        count_unknown(asker, tally.order.kind.name, tally.open)


def _desk(job: Job, kept: Kept) -> CheckDesk:
    from kgeval.questions.checking.paths import path_checks
    from kgeval.questions.checking.run import ALONE, CheckDesk
    from kgeval.questions.checking.table import chosen_checks

    possible = chosen_checks((), model=job.models is not None, graph=job.graph is not None)
    timeout: float = job.options["timeout"]
    paths = path_checks(kept, job.graph, job.layout, timeout=timeout) if job.graph is not None and job.layout is not None else {}
    return CheckDesk([name for name in possible if name in ALONE], None, job.graph, timeout, paths=paths, lacking=True)


def _told(job: Job, results: Results) -> None:
    """Says how many passed each check."""
    parts = []
    for figure in results.result().figures:
        of = figure.passed + figure.failed
        lost = f" ({figure.unscored:,} unscored)" if figure.unscored else ""
        if of or lost:
            parts.append(f"{figure.check} {figure.passed:,} of {of:,}{lost}")
    if parts:
        job.note(f"checks passed: {', '.join(parts)}")
