"""Answering: systems under test are asked the questions of a file; their answers, with contexts, seconds, tokens and cost, are rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kgeval.config import AnswerOptions
from kgeval.errors import IncompleteError, InputError, KgevalError, ModelError, UsageError
from kgeval.format import first_lines, for_terminal, percent, plural
from kgeval.llm.plan import Plan
from kgeval.systems.engine import Answering, AnswerRows, Tally, answers, asks, check_adjusts
from kgeval.systems.spec import ablated, open_system
from kgeval.systems.system import Ask, Plans, System, Tells
from kgeval.tables.answers import Counted, Target, as_json, file_name, files_of, read_answers, targets, write_with_report
from kgeval.workflows.answer_systems import ChosenSystem, Toolbox, chosen_systems
from kgeval.workflows.result import INCOMPLETE, Result, beside
from kgeval.workflows.rows import STDIN, filters_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.llm.answer_store import AnswerStore
    from kgeval.records import Answer, AnsweredSystem, AnswerReport, ModelUse, Question, RunManifest
    from kgeval.systems.builtin import BuiltinTools, Settings
    from kgeval.systems.builtin.sweep import SweepRow
    from kgeval.tables.question_rows import Questions
    from kgeval.tables.row_selection import RowSelection

SHOWN = 10
MEASURES = ("path_coverage", "path_complete", "id_recall")  # of a sweep
Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, repr=False)
class AnswersResult(Result):
    """The answers of a run: iterate over them, system by system in the order of the questions. `report`: an AnswerReport (of each system:
    answers, errors, seconds, tokens, cost). `files`: where the answers are; `written`: all files that were asked for. `messages`: what is
    incomplete, and what a reader of the answers should know."""

    files: Sequence[Path] = ()
    written: Sequence[Path] = ()
    messages: Sequence[str] = ()
    _folder: Any = field(default=None, repr=False)  # of answers that nobody asked to be written: gone with this object

    def __iter__(self) -> Iterator[Answer]:
        """Every answer; read from the file, so that memory stays flat."""
        for path in self.files:
            yield from read_answers(path)

    def __len__(self) -> int:
        return sum(system.answers for system in self.report.systems)

    def to_pandas(self) -> pd.DataFrame:
        """A row an answer, its fields as its JSON has them."""
        import pandas as pd

        return pd.DataFrame([answer.model_dump(mode="json") for answer in self])

    def save(self, path: str | Path, *, redact: bool | None = None) -> Path:
        """Writes the answers (.jsonl .json .csv .parquet; a folder or a name with {system}: one file a system), and the report beside them
        (X.run.json).

        Raises: UsageError for another ending, or `redact`; InputError where nothing can be written.
        """
        from kgeval.tables.answers import write_answers
        from kgeval.tables.output import output_path, replacing

        if redact:
            raise UsageError(f"{path}: answers are written whole", fix="leave redact out; the reports over scores have it")
        with output_path(path) as output:
            for target in targets([output], [system.system for system in self.report.systems]):
                systems = [self.report.systems[place] for place in target.systems]
                names = {system.system for system in systems}
                for file in target.files:
                    write_answers(file, (answer for answer in self if answer.system in names))
                    with replacing(beside(file)) as out:
                        out.write(self.report.model_copy(update={"systems": systems}).model_dump_json(indent=1) + "\n")
        return output

    def rendered(self, form: str, *, redact: bool | None = None) -> str:
        """The sums as text or json. Raises: UsageError for another form."""
        if form == "json":
            return str(self.report.model_dump_json(indent=1)) + "\n"
        if form != "text":
            raise UsageError(f"the sums of answers have no {form}", fix="text or json")
        return "".join(f"{for_terminal(line)}\n" for line in _table(self.report.systems))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.rendered('text'))}</pre>"


@dataclass(frozen=True)
class AnswerPlan(Plan):
    """What a run would ask of models. `lines`: of systems whose calls are not known here."""


@dataclass
class AnswerRun:
    """One run: what was asked for, open. `words`: what stands for the lengths of answers in fingerprints."""

    session: Session
    options: AnswerOptions
    file: Path
    questions: Questions
    chosen: Sequence[ChosenSystem]
    box: Toolbox
    how: Answering
    words: str
    systems: list[System] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Answers of one system."""
        return len(self.questions) * self.how.trials

    @property
    def system_notes(self) -> list[str]:
        """What systems and models say that a reader of the answers should know."""
        lines = [line for system in self.systems if isinstance(system, Tells) for line in system.notes]
        return [*lines, *self.box.notes, *(self.box.models.notes if self.box.models is not None else [])]

    def read_files(self) -> list[Path]:
        """The files that this run reads: nothing may be written there."""
        named = [self.file, self.session.config_file, self.session.asking.prices, *(system.spec.argument for system in self.chosen)]
        return list(dict.fromkeys(Path(name) for name in named if name and Path(name).is_file()))

    def manifest(self, code: int, before: Sequence[ModelUse] = ()) -> RunManifest:
        """The manifest of this run, with what models were asked after `before`: of several files each has its own part."""
        from kgeval.config import DEFAULT_FILE
        from kgeval.llm.account import use_since

        files = [system.spec.argument for system in self.chosen if system.spec.kind == "file"]
        models, graph, session = self.box.models, self.box.graph, self.session
        named = [self.file, session.config_file or DEFAULT_FILE, session.layout, *files]
        return session.manifest(
            self.options, server=graph.info if graph else None, inputs=[Path(name) for name in named if name and Path(name).is_file()],
            seed=self.options.seed, exit_code=code, asked=replace(models.asked(), use=use_since(before, self.used())) if models else None,
        )

    def used(self) -> list[ModelUse]:
        """What models were asked so far."""
        return list(self.box.models.asked().use) if self.box.models else []

    @cached_property
    def _digest(self) -> str:
        """Of the questions, which are read through for it."""
        return self.questions.digest()

    def fingerprint(self, systems: Sequence[System]) -> str:
        """What makes two runs the same: what the systems are shown, how often, with which lengths, and how the systems are set."""
        what = [self._digest, self.how.trials, self.words, [[system.name, system.signature] for system in systems]]
        return hashlib.sha256(json.dumps(what).encode("utf-8", "surrogatepass")).hexdigest()


def plan(session: Session, questions: Path, options: AnswerOptions, functions: Functions | None = None) -> AnswerPlan:
    """The dry run: calls, tokens and cost where they are known; nothing is started or sent. Raises: as `run`."""
    with opened(session, questions, options, functions) as answering:
        return planned(answering, lambda: asks(answering.questions, answering.how), f"{answering.rows:,} questions")


def planned(answering: AnswerRun, asked: Callable[[], Iterable[Ask]], count: str) -> AnswerPlan:
    """What asking every system would take. `asked`: gives the questions from the first one on; `count`: how many they are, in words."""
    from kgeval.systems.builtin.system import BuiltinSystem

    stages, notes = [], []
    for system in answering.systems:
        builtin = isinstance(system, BuiltinSystem)
        if isinstance(system, Plans):
            stages.append(system.plan(asked()))
        elif answering.box.dry is not None and builtin:
            for ask in asked():
                system.answer(ask)  # counts the calls: who is asked is the dry run
        else:
            what = "no model is asked" if builtin else "what they cost is not known here"
            notes.append(f"{system.name}: {count}; {what}")
    dry = answering.box.dry
    return AnswerPlan(
        (*stages, *(dry.stages() if dry is not None else ())), answering.session.limits, lines=tuple(map(for_terminal, notes)),
    )


def run(
    session: Session, questions: Path, options: AnswerOptions, functions: Functions | None = None, out: IO[str] | None = None,
) -> AnswersResult:
    """Has all systems answer, and writes the answers that the session names as outputs; without one they go to `out`, a line each, as they
    come. `functions`: the systems among `options.systems` that are functions of the user's own, by name.

    Raises: UsageError, InputError, ConnectError before anything is asked; IncompleteError, ModelError where a run cannot go on: answers
    that came are kept where there is an output.
    """
    from kgeval.records import AnswerReport
    from kgeval.reports.write import check_replaced
    from kgeval.tables.temporary import private_folder

    if options.load:
        raise UsageError("load: measures, and gives no answers", fix="give --load to kgeval answer, or load= to kgeval.answer, by itself")
    with opened(session, questions, options, functions) as answering:
        folder = private_folder("parts") if session.keep_rows and not session.outputs else None
        places = targets((folder.path / "answers.jsonl",) if folder else session.outputs, [system.name for system in answering.systems])
        check_replaced(files_of(places), answering.read_files())
        if options.index_record:
            _write_index_records(answering, options.index_record, places)
        written: list[Path] = []
        messages: list[str] = []
        reports: list[AnswerReport] = []
        try:
            for target in places:
                # to the first one belongs all that was asked before, and by earlier starts
                before = answering.used() if reports else []
                reports.append(_one_target(answering, target, written, messages, out, before))
        except (KeyboardInterrupt, IncompleteError, ModelError):
            lost = "nothing was kept: no -o" if out is not None else "nothing was kept: no output"
            without = " without --fresh-answers" if options.fresh_answers else ""
            session.say(f"answers that came are in the journal: the same command goes on{without}" if session.outputs else lost)
            raise
        messages += [f"note: {note}" for note in answering.system_notes]
        report = reports[0]
        if len(reports) > 1:
            report = AnswerReport(
                run=answering.manifest(max(part.run.exit_code for part in reports)), complete=all(part.complete for part in reports),
                systems=[system for part in reports for system in part.systems],
                notes=[*answering.questions.notes, *answering.system_notes],
            )
        if not report.run.exit_code and session.outputs:
            # only now, after all files: a run that is killed before this goes on when it is started again
            _finish(answering, places)
    files = [target.files[0] for target in places if target.files]
    return AnswersResult(report, files=files, written=() if folder else written, messages=messages, _folder=folder)


def sweep(session: Session, questions: Path, options: AnswerOptions) -> Iterator[str]:
    """What theta, k and l_max of built-in graph systems would find, line by line. Raises: UsageError for other systems."""
    from kgeval.systems.builtin import defaults, read_settings

    with opened(session, questions, options, None) as answering:
        if other := [system.label for system in answering.chosen if system.spec.kind != "builtin"]:
            raise UsageError(f"--sweep: {', '.join(other)} is not built in", fix="sweep graph or graph+text")
        for chosen in answering.chosen:
            settings = read_settings(chosen.spec.name, chosen.settings, base=defaults(chosen.spec.name, options.preset))
            yield from sweep_lines(answering.questions, settings, answering.box.tools(chosen.spec))
            session.say(f"{len(answering.questions)} questions, {settings.name}; nothing was asked of a reader")


@contextmanager
def opened(session: Session, file: Path, options: AnswerOptions, functions: Functions | None) -> Iterator[AnswerRun]:
    """Everything that a run needs, checked before anything is asked or paid; a sweep opens no system."""
    from kgeval.tables.question_rows import open_questions
    from kgeval.tables.row_selection import RowSelection

    chosen = chosen_systems(session.config, options, functions)
    target, words = _target_words(options.target_words)
    if not options.load:
        _check_outputs_early(session, options)
    selection = RowSelection(
        (), questions=file, maps=options.map, filters=filters_of(options), allow_missing=options.allow_missing,
        allow_duplicates=options.allow_duplicates, max_bad_rows=options.max_bad_rows,
    )
    with ExitStack() as stack:
        questions = stack.enter_context(open_questions(selection))
        for note in questions.notes:
            session.say(note)
        if target is not None:
            _check_lengths(str(options.target_words), target, questions)
        limits = session.limits
        how = Answering(options.trials, limits.concurrency, target, limits.max_error_rate)
        box = Toolbox(session, options, stack, reads=not options.sweep)
        answering = AnswerRun(session, options, file, questions, chosen, box, how, words)
        if not options.sweep:
            answering.systems = _systems(answering, selection, stack)
        if target is not None:
            for system in answering.systems:
                check_adjusts(system)
        yield answering


def _check_outputs_early(session: Session, options: AnswerOptions) -> None:
    """Raises: UsageError for outputs that are none, or cannot be written, before systems are opened."""
    from kgeval.reports.write import check_replaced

    if STDIN in session.outputs:
        raise UsageError("-o -: an output is a file or a folder", fix="leave -o out: answers then go to stdout, a line each")
    check_replaced(files_of(targets(session.outputs, ["system"])), ())
    if (options.resume or options.retry_errors or options.fresh_answers) and not session.outputs:
        raise UsageError("--resume, --retry-errors and --fresh-answers need -o: without it answers are not kept", fix="name a file with -o")


def _systems(answering: AnswerRun, wanted: RowSelection, stack: ExitStack) -> list[System]:
    """The systems with their variants, each name once. Raises: UsageError where two that differ have one name."""
    opened: dict[str, System] = {}
    for chosen in answering.chosen:
        opening, usual = answering.box.opening(chosen, wanted, answering.questions.ids, trials=answering.how.trials), ""
        for variant, settings in ablated(chosen.settings, chosen.ablations):
            system = stack.enter_context(open_system(chosen.spec, replace(opening, settings=settings, variant=variant)))
            if variant is not None and system.signature == usual:
                continue  # a default written out: no variant
            usual = usual or system.signature
            before = opened.setdefault(system.name, system)
            if before is not system and before.signature != system.signature:
                raise UsageError(f"two systems are called {system.name}", fix="name them: --system NAME=SPEC")
    return list(opened.values())


def _one_target(
    answering: AnswerRun, target: Target, written: list[Path], messages: list[str], out: IO[str] | None, before: Sequence[ModelUse],
) -> AnswerReport:
    """All answers of one set of files. Adds to `written` and `messages`. `before`: what models were asked for others.

    Raises: InputError where a file cannot be written.

    The journal goes on with it until `_finish` says that the whole run came to its end: a later set of files may still break off.
    """
    from kgeval.tables.output import keep_unsaved
    from kgeval.tables.score_forms import FINGERPRINT
    from kgeval.tables.temporary import only_writer

    session = answering.session
    systems = [answering.systems[place] for place in target.systems]
    fingerprint = answering.fingerprint(systems)
    with ExitStack() as stack:
        # before the journal is opened: of two commands that write the same file, one must not spend money first
        stack.enter_context(only_writer(target.files))
        store = _store(answering, fingerprint, stack) if target.files else None
        rows = stack.enter_context(AnswerRows(store, run=fingerprint))
        printed = _Printed(None if target.files else out)
        tallies = [_one_system(answering, system, rows, at * answering.rows, printed) for at, system in enumerate(systems)]
        if printed.fault is not None:
            raise keep_unsaved("standard output", "answers.jsonl", lambda file: file.writelines(map(_line, rows)), printed.fault)
        report = _report(answering, systems, rows, tallies, before)
        try:
            files = write_with_report(target.files, lambda: rows, report, fingerprint)
        except KgevalError as cause:
            fix = "make room, or choose another output, and run the same command again"
            raise InputError(f"{cause.message}; all answers are in the journal", fix=fix) from cause
    for path in files if session.outputs else ():
        session.say(f"wrote {path}")
    written += files
    if report.run.exit_code:
        why = next((tally.stopped for tally in tallies if tally.stopped), None)
        failed, total = sum(sum(system.errors.values()) for system in report.systems), sum(system.answers for system in report.systems)
        more = "; the same command goes on with --retry-errors" if session.outputs else ""
        messages.append(f"incomplete: {why or f'{failed:,} of {total:,} answers failed'}{more}")
    run = report.run.model_copy(update={"arguments": {**report.run.arguments, FINGERPRINT: fingerprint}})
    return report.model_copy(update={"run": run})


def _store(answering: AnswerRun, fingerprint: str, stack: ExitStack) -> AnswerStore | None:
    """The journal's answers of this run; None where the session keeps rows for its caller only. What is there of an earlier start is said:
    it may be of a system that was changed since then."""
    from kgeval.llm.answer_store import AnswerStore

    session, options = answering.session, answering.options
    if not session.outputs:
        return None
    store = stack.enter_context(AnswerStore(_journal(session), fingerprint, fresh=options.fresh_answers))
    earlier = store.begin(again=options.resume, failed_again=options.retry_errors)
    if earlier.answers:
        since = datetime.fromtimestamp(earlier.since or 0.0, tz=UTC).astimezone().isoformat(" ", "minutes")[:16]
        failed = f", {earlier.failed:,} of them failed (--retry-errors asks these again)" if earlier.failed else ""
        session.say(
            f"goes on with {plural(earlier.answers, 'answer')} that the journal has since {since}{failed}; "
            "--fresh-answers asks for all of them anew"
        )
    elif options.resume or options.retry_errors:
        session.say("the journal has no answers of a run with these questions, systems and settings: all are asked for")
    return store


def _finish(answering: AnswerRun, places: Sequence[Target]) -> None:
    """Has the journal know that all came to its end: the same command then asks anew."""
    from kgeval.llm.answer_store import AnswerStore

    for target in places:
        with AnswerStore(_journal(answering.session), answering.fingerprint([answering.systems[at] for at in target.systems])) as store:
            store.finish()


def _journal(session: Session) -> Path:
    from kgeval.llm.places import journal_file

    return journal_file(session.asking.journal, session.asking.cache_dir)


class _Printed:
    """Prints answers as they come, to a stream if there is one. `fault`: of a disk that is full, where a shell sends them to a file; from
    then on none is printed."""

    def __init__(self, out: IO[str] | None) -> None:
        self._out = out
        self.fault: OSError | None = None

    def add(self, answer: Answer) -> None:
        """Raises: BrokenPipeError."""
        if self._out is None or self.fault is not None:
            return
        try:
            self._out.write(_line(answer))
            self._out.flush()  # whoever reads the pipe sees each answer when it comes, and has it if this process is killed
        except BrokenPipeError:
            raise
        except OSError as cause:
            self.fault = cause


def _line(answer: Answer) -> str:
    return as_json(answer) + "\n"


def _one_system(answering: AnswerRun, system: System, rows: AnswerRows, first: int, printed: _Printed) -> Tally:
    """Has one system answer; its answers begin at place `first`. `printed`: gets them as they come."""
    tally, progress = Tally(answering.how.max_error_rate), answering.session.call_progress
    line = progress.start(system.name, answering.rows)
    try:
        for answer in answers(answering.questions, system, answering.how, rows, tally, first=first):
            progress.advance(line, state=f"{tally.failed} failed")
            if answer is not None:
                printed.add(answer)
    finally:
        progress.end(line)
    return tally


def _report(
    answering: AnswerRun, systems: Sequence[System], rows: AnswerRows, tallies: Sequence[Tally], before: Sequence[ModelUse],
) -> AnswerReport:
    """The sums, over answers that an earlier run made too."""
    from kgeval.records import AnswerReport

    counts = {system.name: Counted(system.name, system.variant, system.signature) for system in systems}
    for answer in rows:
        counts[answer.system].add(answer)
    counted = [system.record() for system in counts.values()]
    stopped, most = any(tally.stopped for tally in tallies), answering.how.max_error_rate
    too_many = any(sum(system.errors.values()) > most * system.answers for system in counted)
    return AnswerReport(
        run=answering.manifest(INCOMPLETE if stopped or too_many else 0, before), complete=not stopped, systems=counted,
        notes=[*answering.questions.notes, *answering.system_notes],
    )


def _write_index_records(answering: AnswerRun, output: Path, places: Sequence[Target]) -> None:
    """Writes an Index record for each built-in system with an index; `{system}` in the name stands for the system's.

    Raises: UsageError where there is none, where several would go into one file, and where one would replace a file of this run.
    """
    from kgeval.reports.write import check_replaced
    from kgeval.systems.builtin.record import index_record
    from kgeval.systems.builtin.system import BuiltinSystem
    from kgeval.systems.spec import SystemSpec
    from kgeval.tables.output import write_text

    indexed = [system for system in answering.systems if isinstance(system, BuiltinSystem) and system.retriever is not None]
    if not indexed:
        raise UsageError("--index-record: no system here builds an index", fix="it is for vector, graph and graph+text")
    if len(indexed) > 1 and "{system}" not in str(output):
        raise UsageError(f"--index-record: {len(indexed)} systems have an index", fix="put {system} into the file's name")
    paths = [Path(str(output).replace("{system}", file_name(system.name))) for system in indexed]
    check_replaced(paths, [*answering.read_files(), *files_of(places)], flag="--index-record", what="of this run")
    tools = [answering.box.tools(SystemSpec("builtin", system.settings.system)) for system in indexed]
    records = [index_record(system, its, answering.manifest(0)) for system, its in zip(indexed, tools, strict=True)]
    for path, record in zip(paths, records, strict=True):
        write_text(path, record.model_dump_json(indent=1) + "\n")
        answering.session.say(f"wrote {path}")


def _check_lengths(given: str, target: Callable[[Question], int | None], questions: Iterable[Question]) -> None:
    """Raises: InputError that lists the questions for which the file of lengths has none, before anything is asked."""
    lacking = [question.id for question in questions if target(question) is None]
    if lacking:
        raise InputError(
            f"{given}: questions without target_words: {len(lacking):,}", faults=first_lines(lacking, SHOWN),
            fix="give a row for every question that is asked",
        )


def _target_words(given: str | None) -> tuple[Callable[[Question], int | None] | None, str]:
    """How many words an answer shall have, and what stands for that in fingerprints. Raises: UsageError, InputError."""
    if given is None:
        return None, ""
    if given.isdecimal():
        if not 0 < int(given) <= 100_000:
            raise UsageError(f"--target-words {given}: not between 1 and 100,000", fix="give a number of words")
        return (lambda question: int(given)), given
    words = _words_of(Path(given))
    return (lambda question: words.get(question.id)), json.dumps(sorted(words.items()))


def _words_of(path: Path) -> dict[str, int]:
    from kgeval.tables import cells
    from kgeval.tables.stream import stream

    words: dict[str, int] = {}
    faults: list[str] = []
    for line in stream(path):
        row = line.value if line.fault is None else {}
        try:
            name, count = cells.name(row.get("id", row.get("question_id"))), cells.whole(row.get("target_words"))
        except cells.Misfit as misfit:
            faults.append(f"{line.where}: {misfit}")
            continue
        if line.fault or name is None or not count:
            faults.append(f"{line.where}: {line.fault or 'id and target_words (1 or more) are needed'}")
        elif words.get(name, count) != count:
            faults.append(f"{line.where}: another length for {name}, which has {words[name]} already")
        else:
            words[name] = count
    if faults:
        raise InputError(f"{path}: {len(faults)} rows are faulty", fix='a row is {"id": "q1", "target_words": 80}', faults=faults[:SHOWN])
    return words


def _table(systems: Sequence[AnsweredSystem]) -> Iterator[str]:
    """The sums as aligned text."""
    head = ("system", "answers", "empty", "failed", "median s", "slowest s", "tokens in", "tokens out", "calls", "USD")
    rows = [head, *(_row(system) for system in systems)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()
    for counts in systems:
        if counts.errors:
            yield f"{counts.system}: failed: " + ", ".join(f"{cause} {count:,}" for cause, count in counts.errors.items())


def _row(counts: AnsweredSystem) -> tuple[str, ...]:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else f"{value:{form}}"

    return (
        counts.system, f"{counts.answers:,}", f"{counts.empty:,}", f"{sum(counts.errors.values()):,}", shown(counts.latency_s, ".3f"),
        shown(counts.slowest_s, ".3f"), shown(counts.input_tokens, ","), shown(counts.output_tokens, ","), shown(counts.calls, ","),
        shown(counts.cost, ".4f"),
    )


def sweep_lines(
    questions: Iterable[Question], settings: Settings, tools: BuiltinTools, grid: Mapping[str, Sequence[int | float]] | None = None,
) -> Iterator[str]:
    """The table of a sweep, and the place that it would choose. `settings`: of the system, what is not swept. No reader is asked.

    Raises: UsageError where the system has nothing to sweep, InputError where no question names gold evidence by id or path.
    """
    from kgeval.systems.builtin.sweep import SLACK, best
    from kgeval.systems.builtin.sweep import sweep as swept

    rows = swept(settings, tools, questions, measured, grid)
    by = next((name for name in MEASURES if any(row.n.get(name) for row in rows)), None)
    if by is None:
        raise InputError(
            "no question has a gold path or evidence with chunk ids, so a sweep has nothing to measure",
            fix="make questions with kgeval questions generate, or give evidence with chunk_id",
        )
    yield from sweep_table(rows)
    if (chosen := best(rows, by)) is not None:
        place = chosen.settings
        where = f"theta={place.theta:g} k={place.k} l_max={place.l_max}"
        yield f"chosen: {where}: the smallest context within {SLACK:g} of the best {by}"


def measured(question: Question, answer: Answer) -> dict[str, float | None]:
    """The measures of one question, by the metrics of `kgeval score`; None where one does not apply."""
    from kgeval.metrics import ids, path
    from kgeval.metrics.definition import MetricSettings, Subject
    from kgeval.metrics.facts import RowFacts
    from kgeval.records import Row

    subject = Subject(Row(n=0, where="sweep", question=question, answer=answer), RowFacts(), MetricSettings())
    metrics = {metric.name: metric for metric in (*ids.METRICS, *path.METRICS)}
    there = {"id_recall": bool(question.evidence_groups)}
    return {name: metrics[name].value(subject).value if there.get(name, True) else None for name in MEASURES}


def sweep_table(rows: Sequence[SweepRow]) -> list[str]:
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
    widths = [max(len(line[column]) for line in (head, *body)) for column in range(len(head))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *body)]
