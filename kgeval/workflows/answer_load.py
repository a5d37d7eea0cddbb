"""Systems under load: answers a second and latency with so many questions in flight. No answers are kept, and none come from a journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import AnswerOptions
from kgeval.errors import IncompleteError, UsageError
from kgeval.systems.load import BUSY, cores_here, load_asks, measure, warm_up_of
from kgeval.workflows.answer import AnswerPlan, AnswerRun, Functions, opened, planned
from kgeval.workflows.result import INCOMPLETE, Result
from kgeval.workflows.session import Session, refuse

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.records import Answer, LoadedSystem, LoadLevel
    from kgeval.systems.system import System

AGAINST = ("trials", "target_words", "resume", "retry_errors", "fresh_answers", "index_record", "sweep")


@dataclass(frozen=True)
class LoadResult(Result):
    """Throughput and latency under load. `report`: a LoadReport; `messages`: what is incomplete."""

    messages: tuple[str, ...] = ()

    def to_pandas(self) -> pd.DataFrame:
        """A row a system and level: system, in_flight, answered, seconds, per_second, p50, p95, p99 (each with _low and _high), mean,
        slowest, errors, process_cores, machine_busy, limits."""
        import pandas as pd

        rows = []
        for system in self.report.systems:
            for level in system.levels:
                row = {"system": system.system, "in_flight": level.in_flight, "answered": level.answered, "seconds": level.seconds}
                for name in ("per_second", "p50", "p95", "p99"):
                    figure = getattr(level, name)
                    row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
                row |= {name: getattr(level, name) for name in ("mean", "slowest", "process_cores", "machine_busy")}
                rows.append(row | {"errors": sum(level.errors.values()), "limits": ", ".join(level.limits)})
        return pd.DataFrame(rows)


def plan(session: Session, questions: Path, options: AnswerOptions, functions: Functions | None = None) -> AnswerPlan:
    """The dry run: the calls of all levels, warm-up and all; nothing is sent. Raises: as `run`."""
    with _opened(session, questions, options, functions) as run:
        times = Counter[str]()
        count = sum(warm_up_of(in_flight, options.load_warm_up) + options.load_answers for in_flight in options.load)
        return planned(
            run, lambda: (ask for _, level in _levels(run, times) for ask in level), f"{count:,} questions at {len(options.load)} levels",
        )


def run(session: Session, questions: Path, options: AnswerOptions, functions: Functions | None = None) -> LoadResult:
    """Asks every system at every level. A system of which too many answers fail is not asked at the later ones.

    Raises: UsageError, InputError, ConnectError before anything is asked; ModelError, IncompleteError where a run cannot go on.
    """
    from kgeval.records import LoadReport
    from kgeval.reports.write import check_outputs, check_replaced

    check_outputs(session.outputs, LoadReport)
    with _opened(session, questions, options, functions) as answering:
        check_replaced(session.outputs, answering.read_files())
        times = Counter[str]()
        systems = [_measured(answering, system, times) for system in answering.systems]
        stopped = [f"{system.system}: {system.stopped}" for system in systems if system.stopped]
        report = LoadReport(
            run=answering.manifest(INCOMPLETE if stopped else 0), complete=not stopped, questions=len(answering.questions),
            cores=cores_here(), systems=systems, notes=[*answering.questions.notes, *answering.system_notes, *_notes(answering)],
        )
    return LoadResult(report, messages=tuple(f"incomplete: {why}" for why in stopped), redact=session.redact)


@contextmanager
def _opened(session: Session, questions: Path, options: AnswerOptions, functions: Functions | None) -> Iterator[AnswerRun]:
    """The systems, open for as many questions as the highest level has in flight, with a journal that is gone afterwards: what was paid for
    before must be sent again here, and is no answer of later runs."""
    from kgeval.tables.temporary import private_folder

    most, asking = max(options.load), session.asking
    refuse(list(_faults(session, options, most)))
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("load"))
        session.asking = asking.model_copy(update={"journal": folder / "journal.sqlite", "max_concurrency": most})
        stack.callback(setattr, session, "asking", asking)
        own = options if options.processes else options.model_copy(update={"processes": most})
        try:
            run = stack.enter_context(opened(session, questions, own, functions))
        except IncompleteError as cause:
            raise IncompleteError(cause.message, fix="allow more: under load nothing is kept, so that all of it is asked again") from cause
        # the models have it open: the manifest shall not name a file that is gone
        session.asking = session.asking.model_copy(update={"journal": asking.journal})
        narrow = [f"{system.name} takes {system.parallel}" for system in run.systems if system.parallel < most and not session.dry]
        if narrow:
            raise UsageError(
                f"--load {most}: {'; '.join(narrow)} at a time, so that the others would wait here",
                fix="measure fewer in flight, or let the system say that it takes more (parallel in its hello, --processes)",
            )
        yield run


def _faults(session: Session, options: AnswerOptions, most: int) -> Iterator[tuple[str, str]]:
    default = AnswerOptions()
    if beside := [f"--{name.replace('_', '-')}" for name in AGAINST if getattr(options, name) != getattr(default, name)]:
        yield f"--load does not go with {', '.join(beside)}: no answers come of it", "leave them out"
    if options.extractive:
        yield "--load does not go with --extractive: a system that asks no model is another one", "name a reader with --model"
    if options.load_answers <= most:
        yield (
            f"--load {most}: nothing would be measured: all of --load-answers {options.load_answers} are sent before the warm-up is over",
            f"give --load-answers {10 * most} or measure fewer in flight",
        )
    if session.asking.max_concurrency is not None and session.asking.max_concurrency < most:
        yield (
            f"--load {most}: --max-concurrency {session.asking.max_concurrency} lets fewer requests be in flight",
            "leave --max-concurrency out: the levels decide",
        )
    if any(text.partition("=")[2].startswith("file:") or text.startswith("file:") for text in options.systems):
        yield "--load: answers of a file are there already", "name a system that answers"


def _levels(run: AnswerRun, times: Counter[str]) -> Iterator[tuple[int, list[Any]]]:
    options = run.options
    return load_asks(list(run.questions), options.load, options.load_answers, options.load_warm_up, times)


def _measured(run: AnswerRun, system: System, times: Counter[str]) -> LoadedSystem:
    """All levels of one system."""
    from kgeval.records import LoadedSystem

    levels: list[LoadLevel] = []
    stopped = None
    progress = run.session.call_progress
    for in_flight, asks in _levels(run, times):
        line, spent = progress.start(f"{system.name}, {in_flight} in flight", len(asks)), _Spent()
        waits = run.session.shared.budget.waits

        def heard(answer: Answer, line: Any = line, spent: _Spent = spent) -> None:
            spent.add(answer)
            progress.advance(line, state=f"{spent.failed} failed")

        warm_up = warm_up_of(in_flight, run.options.load_warm_up)
        try:
            level, stopped = measure(system, asks, in_flight, warm_up, max_error_rate=run.how.max_error_rate, heard=heard)
        finally:
            progress.end(line)
        level = _with_rates(level, spent, run.session)
        if run.session.shared.budget.waits > waits:
            level = level.model_copy(update={"limits": [*level.limits, "budget"]})
        levels.append(level)
        if stopped:
            break
    return LoadedSystem(system=system.name, variant=system.variant, signature=system.signature, levels=levels, stopped=stopped)


@dataclass
class _Spent:
    """Calls and tokens of a level's answers."""

    answers: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0

    def add(self, answer: Answer) -> None:
        """Takes in one answer."""
        self.answers += 1
        self.failed += answer.error is not None
        self.calls += answer.calls or 0
        self.tokens += (answer.input_tokens or 0) + (answer.output_tokens or 0)


def _with_rates(level: LoadLevel, spent: _Spent, session: Session) -> LoadLevel:
    """With the limit that the user set on requests or tokens a minute, where the answers come as fast as it allows."""
    limits, rate = session.limits, level.per_second.value
    if rate is None or not spent.answers:
        return level
    minute = 60 * rate / spent.answers
    reached = [most and minute * used >= BUSY * most for most, used in ((limits.rpm, spent.calls), (limits.tpm, spent.tokens))]
    return level.model_copy(update={"limits": [*level.limits, "rates"]}) if any(reached) else level


def _notes(run: AnswerRun) -> list[str]:
    """What makes the figures less than they look."""
    measured = run.options.load_answers
    return [
        f"{measured:,} measured questions with {in_flight} in flight are few: {measured // in_flight} for each (--load-answers)"
        for in_flight in run.options.load if measured < 10 * in_flight
    ]
