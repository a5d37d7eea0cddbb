"""A run of `kgeval answer`: opening the systems, the dry run, asking, and what is said at the end."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.answer_options import check_lengths, chosen_systems, target_words
from kgeval.cli.answer_tools import Toolbox
from kgeval.cli.common import say, visible
from kgeval.cli.models import limits_from_options, progress_of, show_plan
from kgeval.errors import IncompleteError, ModelError, UsageError
from kgeval.files.answers import AnswerFile, Counted, Taking, Target, as_json, files_of, targets
from kgeval.systems.engine import Answering, Tally, answers, asks, check_adjusts
from kgeval.systems.spec import ablated, open_system
from kgeval.systems.system import Plans, System, Tells

if TYPE_CHECKING:
    from kgeval.cli.answer_options import Chosen
    from kgeval.config import Config
    from kgeval.files.asked import Questions
    from kgeval.manifest import Started
    from kgeval.records import Answer, AnsweredSystem, AnswerReport, ModelUse, RunManifest

INCOMPLETE = 3


@dataclass
class Job:
    """One run: what was asked for, open."""

    config: Config
    options: Mapping[str, Any]
    started: Started
    questions: Questions
    systems: list[System]
    how: Answering
    words: str
    box: Toolbox
    chosen: Sequence[Chosen]

    @property
    def rows(self) -> int:
        """Answers of one system."""
        return len(self.questions) * self.how.trials

    @property
    def notes(self) -> list[str]:
        """What a reader of the answers should know."""
        models = self.box.models
        told = [line for system in self.systems if isinstance(system, Tells) for line in system.notes]
        return [*self.questions.notes, *told, *(models.notes if models is not None else [])]

    def manifest(self, code: int, before: Sequence[ModelUse] = ()) -> RunManifest:
        """The manifest of this run, with what models were asked after `before`: of several files each has its own part."""
        from kgeval.config import DEFAULT_FILE
        from kgeval.llm.account import use_since

        files = [one.spec.argument for one in self.chosen if one.spec.kind == "file"]
        options, models, graph = self.options, self.box.models, self.box.graph
        named = [options["questions"], options["config_file"] or DEFAULT_FILE, options["layout_option"], *files]
        return self.started.manifest(
            server=graph.info if graph else None, inputs=[Path(name) for name in named if name and Path(name).is_file()],
            seed=options["seed"], exit_code=code, asked=replace(models.asked(), use=use_since(before, self.used())) if models else None,
        )

    def used(self) -> list[ModelUse]:
        """What models were asked so far."""
        return list(self.box.models.asked().use) if self.box.models else []


def open_job(config: Config, options: Mapping[str, Any], started: Started, stack: ExitStack) -> Job:
    """Everything that a run needs, checked before anything is asked or paid."""
    from kgeval.cli.score_options import rows_wanted
    from kgeval.files.asked import open_questions

    chosen = chosen_systems(config, options)
    target, words = target_words(options["target_words"])
    _check_outputs_early(options)
    wanted = rows_wanted({**options, "answers": (), "systems": (), "system": None})
    questions = stack.enter_context(open_questions(wanted))
    for note in questions.notes:
        say(note)
    if target is not None:
        check_lengths(options["target_words"], target, questions)
    limits = limits_from_options(config, options)
    how = Answering(options["trials"], limits.concurrency, target, limits.max_error_rate)
    box = Toolbox(config, {**options, "mapped": wanted.maps}, stack)
    systems = [] if options["sweep"] else _opened(chosen, box, questions, stack)
    if target is not None:
        for system in systems:
            check_adjusts(system)
    return Job(config, options, started, questions, systems, how, words, box, chosen)


def _check_outputs_early(options: Mapping[str, Any]) -> None:
    """Raises: UsageError for outputs that are none, before systems are opened."""
    if Path("-") in options["outputs"]:
        raise UsageError("-o -: an output is a file or a folder", fix="leave -o out: answers then go to stdout, a line each")
    targets(options["outputs"], ["system"])
    if (options["resume"] or options["retry_errors"]) and not options["outputs"]:
        raise UsageError("--resume and --retry-errors need the -o of the earlier run", fix="name it with -o")


def _opened(chosen: Sequence[Chosen], box: Toolbox, questions: Questions, stack: ExitStack) -> list[System]:
    """The systems with their variants, each name once. Raises: UsageError where two that differ have one name."""
    found: dict[str, System] = {}
    for one in chosen:
        opening, usual = box.opening(one, questions), ""
        for variant, settings in ablated(one.settings, one.ablations):
            system = stack.enter_context(open_system(one.spec, replace(opening, settings=settings, variant=variant)))
            if variant is not None and system.signature == usual:
                continue  # a default written out: no variant
            usual = usual or system.signature
            before = found.setdefault(system.name, system)
            if before is not system and before.signature != system.signature:
                raise UsageError(f"two systems are called {system.name}", fix="name them: --system NAME=SPEC")
    return list(found.values())


def plan(job: Job) -> int:
    """The dry run: calls, tokens and cost where they are known; nothing is started or sent."""
    from kgeval.llm.plan import Plan

    stages = []
    for system in job.systems:
        asked = asks(job.questions, job.how)
        if isinstance(system, Plans):
            stages.append(system.plan(asked))
        elif job.box.dry is not None and _is_builtin(system):
            for ask in asked:
                system.answer(ask)  # counts the calls: who is asked is the dry run
        else:
            what = "no model is asked" if _is_builtin(system) else "what they cost is not known here"
            click.echo(visible(f"{system.name}: {job.rows:,} questions; {what}"))
    stages += job.box.dry.stages() if job.box.dry is not None else ()
    show_plan(Plan(tuple(stages), limits_from_options(job.config, job.options)))
    return 0


def _is_builtin(system: System) -> bool:
    from kgeval.systems.builtin.system import BuiltinSystem

    return isinstance(system, BuiltinSystem)


def sweep(job: Job) -> int:
    """Prints what theta, k and l_max of built-in graph systems would find. Raises: UsageError for other systems."""
    from kgeval.cli.answer_sweep import sweep_and_show
    from kgeval.systems.builtin import read_settings

    other = [one.label for one in job.chosen if one.spec.kind != "builtin"]
    if other:
        raise UsageError(f"--sweep: {', '.join(other)} is not built in", fix="sweep graph or graph+text")
    for one in job.chosen:
        sweep_and_show(job.questions, read_settings(one.spec.name, one.settings), job.box.tools(one.spec))
    return 0


def carry_out(job: Job) -> int:
    """Asks all systems, writes the answers, and says by its exit code whether the run is complete."""
    names = [system.name for system in job.systems]
    places = targets(job.options["outputs"], names)
    _check_places(job, places)
    if job.options["index_record"]:
        from kgeval.cli.answer_index import write_index_records

        write_index_records(job, job.options["index_record"])
    try:
        reports = [_one_target(job, target) for target in places]
    except (KeyboardInterrupt, IncompleteError, ModelError):
        say(_kept(job))
        raise
    if job.options["outputs"] and not job.options["quiet"]:
        _show([one for report in reports for one in report.systems])
    for note in job.notes[len(job.questions.notes):]:
        say(f"note: {note}")
    return max(report.run.exit_code for report in reports)


def _kept(job: Job) -> str:
    """What a run that did not come to its end leaves, and how to go on."""
    return "answers that came are kept; the same command goes on with --resume" if job.options["outputs"] else "nothing was kept: no -o"


def _one_target(job: Job, target: Target) -> AnswerReport:
    """All answers of one set of files."""
    options = job.options
    taking: Taking = "answered" if options["retry_errors"] else "finished" if options["resume"] else "nothing"
    systems = [job.systems[at] for at in target.systems]
    tallies, before = [], job.used()
    with AnswerFile(target.files, fingerprint=fingerprint(job, systems), taking=taking) as file:
        if file.aside:
            say(f"warning: {file.aside}")
        for system in systems:
            tallies.append(_one_system(job, system, file))
        report = _report(job, systems, file, tallies, before)
        for path in file.finish(report):
            say(f"wrote {path}")
    if report.run.exit_code:
        say(_incomplete(job, report, tallies))
    return report


def _one_system(job: Job, system: System, file: AnswerFile) -> Tally:
    """Has one system answer; without an output its answers go to stdout as they come."""
    tally = Tally(job.how.max_error_rate)
    progress = progress_of(job.options)
    line = progress.start(system.name, job.rows)
    try:
        for answer in answers(job.questions, system, job.how, file, tally):
            progress.advance(line, state=f"{tally.failed} failed")
            if not job.options["outputs"] and answer is not None:
                click.echo(as_json(answer))
                sys.stdout.flush()
    finally:
        progress.end(line)
    return tally


def fingerprint(job: Job, systems: Sequence[System]) -> str:
    """What makes two runs the same: what the systems are shown, how often, with which lengths, and how the systems are set."""
    what = [job.questions.digest(), job.how.trials, job.words, [[system.name, system.signature] for system in systems]]
    return hashlib.sha256(json.dumps(what).encode("utf-8", "surrogatepass")).hexdigest()


def _report(
    job: Job, systems: Sequence[System], file: AnswerFile, tallies: Sequence[Tally], before: Sequence[ModelUse],
) -> AnswerReport:
    from kgeval.records import AnswerReport

    found = list(_counted(systems, file.answers()))
    stopped = any(tally.stopped for tally in tallies)
    run = job.manifest(INCOMPLETE if stopped or _too_many(found, job.how.max_error_rate) else 0, before)
    return AnswerReport(run=run, complete=not stopped, systems=found, notes=job.notes)


def _counted(systems: Sequence[System], given: Iterator[Answer]) -> Iterator[AnsweredSystem]:
    """The systems' sums, over answers that an earlier run made too."""
    counts = {system.name: Counted(system.name, system.variant, system.signature) for system in systems}
    for answer in given:
        counts[answer.system].add(answer)
    return (one.record() for one in counts.values())


def _too_many(found: Sequence[AnsweredSystem], most: float) -> bool:
    return any(sum(one.errors.values()) > most * one.answers for one in found)


def _check_places(job: Job, places: Sequence[Target]) -> None:
    """Raises: UsageError where an output would replace a file that is read."""
    options = job.options
    given = [options["questions"], options["config_file"], options["prices"], *(one.spec.argument for one in job.chosen)]
    read = {Path(name).resolve() for name in given if name and Path(name).is_file()}
    lost = [str(path) for path in files_of(places) if path.resolve() in read]
    if lost:
        raise UsageError(f"-o would replace a file that is read: {', '.join(lost)}", fix="name another file or folder with -o")


def _incomplete(job: Job, report: AnswerReport, tallies: Sequence[Tally]) -> str:
    why = next((tally.stopped for tally in tallies if tally.stopped), None)
    failed = sum(sum(one.errors.values()) for one in report.systems)
    total = sum(one.answers for one in report.systems)
    said = why or f"{failed:,} of {total:,} answers failed"
    more = "; the same command goes on with --retry-errors" if job.options["outputs"] else ""
    return f"incomplete: {said}{more}"


def _show(found: Sequence[AnsweredSystem]) -> None:
    """The sums as aligned text."""
    head = ("system", "answers", "empty", "failed", "median s", "slowest s", "tokens in", "tokens out", "calls", "USD")
    rows = [head, *(_row(one) for one in found)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        click.echo(visible("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()))
    for one in found:
        if one.errors:
            click.echo(visible(f"{one.system}: failed: " + ", ".join(f"{cause} {count:,}" for cause, count in one.errors.items())))


def _row(one: AnsweredSystem) -> tuple[str, ...]:
    def shown(value: float | None, form: Callable[[float], str]) -> str:
        return "-" if value is None else form(value)

    counts = (shown(value, lambda n: f"{n:,}") for value in (one.input_tokens, one.output_tokens, one.calls))
    seconds = (shown(value, lambda n: f"{n:.3f}") for value in (one.latency_s, one.slowest_s))
    failed = sum(one.errors.values())
    return (one.system, f"{one.answers:,}", f"{one.empty:,}", f"{failed:,}", *seconds, *counts, shown(one.cost, lambda n: f"{n:.4f}"))
