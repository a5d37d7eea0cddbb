"""Several graphs audited and put side by side, of the database or from report files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.errors import ConnectError, InputError, KgevalError, LayoutError, UsageError
from kgeval.workflows.audit import AuditRequest, Prepared, audited, inputs_of, prepare, texts, worst
from kgeval.workflows.result import Result, exit_code, gate_lines
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.records import AuditReport, Gate, GraphsReport, Layout, ServerInfo, Severity


@dataclass(frozen=True)
class GraphsResult(Result):
    """Several graphs side by side. `gates`: those of every graph, `of` it."""

    report: GraphsReport
    failed: tuple[str, ...] = ()

    @property
    def messages(self) -> list[str]:
        """Gates that are missed or have no answer, and graphs that could not be audited."""
        return [*gate_lines(self.gates), *self.failed]

    def to_pandas(self) -> pd.DataFrame:
        """A row a figure, a column a graph, as the CSV report has them."""
        import io

        import pandas as pd

        return pd.read_csv(io.StringIO(self.rendered("csv", redact=False)))


@dataclass(frozen=True)
class Column:
    """One graph of the table: its name, and its report if that was read from `file`."""

    name: str
    report: AuditReport | None = None
    file: Path | None = None


def columns_of(given: Sequence[str], *, limited: bool = False) -> list[Column]:
    """The graphs and report files that stand side by side, in their order; empty where there are not several. `limited`: thresholds were
    given.

    Raises: InputError, UsageError with all faults: files that cannot be read, a graph or file given twice, a single report.
    """
    columns, faults = _read(given)
    faults += [f"{name}: is given twice" for name, count in Counter(map(_resolved, given)).items() if count > 1]
    if faults:
        fix = "give names of graphs, or .json reports of kgeval audit"
        raise InputError("these graphs cannot be put side by side", faults=faults, fix=fix)
    if columns and limited and all(column.report is not None for column in columns):
        raise UsageError(
            "--threshold is for graphs that are audited now, and reports in files keep the gates of their own audits",
            fix="give thresholds when the graphs are audited; --fail-on holds for files too",
        )
    if len(columns) == 1:
        raise UsageError(
            f"{columns[0].file}: one report has nothing to stand beside",
            fix=f"kgeval report {columns[0].file} shows it; or give more graphs or reports",
        )
    return _apart(columns)


def _read(given: Sequence[str]) -> tuple[list[Column], list[str]]:
    from kgeval.auditing.report_files import read_audits

    columns: list[Column] = []
    faults: list[str] = []
    for word in given:
        path = Path(word)
        if not is_file_name(word):
            columns.append(Column(word))
            continue
        try:
            columns += [Column(report.graph or path.stem, report, path) for report in read_audits(path)]
        except InputError as fault:
            faults += fault.faults or (fault.message,)
    return columns, faults


def is_file_name(word: str) -> bool:
    """True for what is meant as a report file: it ends with .json, or is a file here that ends like another form of a report, which cannot
    be read back. All else is the name of a graph."""
    path = Path(word)
    return path.suffix.lower() == ".json" or (path.suffix.lower() in (".html", ".htm", ".md") and path.is_file())


def _resolved(word: str) -> str:
    return str(Path(word).resolve()) if is_file_name(word) else word


def _apart(columns: Sequence[Column]) -> list[Column]:
    """The columns with names of their own: where two are alike, the files are named, and numbered where that does not do."""
    alike = Counter(col.name for col in columns)
    named = [replace(col, name=f"{col.name} ({col.file.name})") if alike[col.name] > 1 and col.file else col for col in columns]
    again = Counter(col.name for col in named)
    seen: Counter[str] = Counter()
    renamed = []
    for col in named:
        seen[col.name] += 1
        renamed.append(replace(col, name=f"{col.name} #{seen[col.name]}") if again[col.name] > 1 else col)
    return renamed


def run(session: Session, request: AuditRequest, columns: Sequence[Column], *, keep_interrupted: bool = False) -> GraphsResult:
    """Audits the graphs of the database, one after the other, and puts them beside those of the files. The exit code is the worst of all; 3
    where one could not be audited. `keep_interrupted`: Ctrl-C leaves the graphs that were done, with exit code 130; else, and where none
    was done, it is raised.

    Raises: as `audit.run`; LayoutError with every graph that cannot be bound.
    """
    from kgeval.auditing.side_by_side import FAILED
    from kgeval.reports.write import check_replaced

    check_replaced(session.outputs, {column.file for column in columns})
    task = _Task(session, counted_once(prepare(session, request, several=True)), columns, keep_interrupted)
    audits = _reports(task)
    made = _made(task, audits)
    gates = {place: _gates(columns[place], report, request.options.fail_on) for place, report in audits.done.items()}
    codes = [_code(columns[place], report, gates[place]) for place, report in audits.done.items()]
    code = 130 if audits.stopped else worst([*codes, *(3 for _ in audits.failed)])
    named = [gate.model_copy(update={"of": columns[place].name}) for place in sorted(gates) for gate in gates[place]]
    failed = [f"graph {columns[place].name} {FAILED}: {fault.message}" for place, fault in audits.failed.items()]
    report = made.model_copy(update={"run": made.run.model_copy(update={"exit_code": code}), "gates": named})
    return GraphsResult(report, failed=tuple(failed), redact=session.redact)


@dataclass(frozen=True)
class _Task:
    """The session, what is asked for, the graphs, and whether an interrupted run keeps what was done."""

    session: Session
    prepared: Prepared
    columns: Sequence[Column]
    keep_interrupted: bool


@dataclass
class _Run:
    """The reports by the column's place, what went wrong with others, what the server is, and whether the run was interrupted."""

    done: dict[int, AuditReport]
    failed: dict[int, KgevalError] = field(default_factory=dict)
    server: ServerInfo | None = None
    stopped: bool = False


def _reports(task: _Task) -> _Run:
    """Every graph's report. What is finished outlives the failure of another graph. Raises: KgevalError, the first, where none finished."""
    columns = task.columns
    run = _Run({place: column.report for place, column in enumerate(columns) if column.report is not None})
    places = [place for place, column in enumerate(columns) if column.report is None]
    if not places:
        return run
    bound = _bound(task.session, [columns[place].name for place in places])
    run.server = task.session.graph.info
    _each(task, run, places, lambda name: audited(task.session, task.prepared, name, bound=bound[name])[0])
    if run.failed and not run.stopped and not any(place in run.done for place in places):
        raise next(iter(run.failed.values()))
    return run


def _each(task: _Task, run: _Run, wanted: Sequence[int], audit_one: Callable[[str], AuditReport]) -> None:
    """Adds the reports of the wanted columns; stops at Ctrl-C and where the server is lost."""
    from kgeval.auditing.side_by_side import FAILED

    for number, place in enumerate(wanted, start=1):
        name = task.columns[place].name
        if task.session.announce:
            task.session.say(f"auditing {name} ({number} of {len(wanted)})")
        try:
            run.done[place] = audit_one(name)
        except KeyboardInterrupt:
            if not (run.done and task.keep_interrupted):
                raise
            run.stopped = True
            return
        except KgevalError as fault:
            task.session.say(f"graph {name} {FAILED}: {fault.message}")
            run.failed[place] = fault
            # no graph after it could be read either
            if isinstance(fault, ConnectError):
                return


def _bound(session: Session, names: Sequence[str]) -> dict[str, tuple[Layout, str | None]]:
    """The layout of every graph, and whether it is half loaded, before the first is audited. Raises: LayoutError with every graph that
    cannot be bound."""
    bound: dict[str, tuple[Layout, str | None]] = {}
    faults: list[LayoutError] = []
    for name in names:
        try:
            bound[name] = session.bind(name)
        except LayoutError as fault:
            faults.append(fault)
            if Path(name).is_file():
                faults.append(LayoutError(f"{name} is a file here: a report must end with .json to be read"))
    if faults:
        lines = "\n  ".join(fault.message for fault in faults)
        raise LayoutError(f"not every graph can be audited:\n  {lines}", fix=faults[0].fix.replace("with --graph NAME", "by its name"))
    return bound


def _made(task: _Task, run: _Run) -> GraphsReport:
    from kgeval.auditing.side_by_side import FAILED, side_by_side, with_tokens

    columns, reports_by_place, order, options = task.columns, run.done, sorted(run.done), task.prepared.options
    files = [column.file for column in columns if column.file is not None]
    tokens = corpus_tokens(task.prepared) if files else None
    reports = [reports_by_place[place] if tokens is None else with_tokens(reports_by_place[place], tokens) for place in order]
    notes = [f"graph {columns[place].name} {FAILED}: {fault.message}" for place, fault in run.failed.items()]
    if left := [column.name for place, column in enumerate(columns) if place not in reports_by_place and place not in run.failed]:
        notes.append(f"{'interrupted' if run.stopped else 'stopped'} before these were audited: {', '.join(left)}")
    if files and options.thresholds:
        notes.append("the thresholds of this call hold for graphs of the database; reports in files keep their own gates")
    inputs = dict.fromkeys([*(file for file in files if file.is_file()), *inputs_of(task.session, options)])
    manifest = task.session.manifest(options, server=run.server, inputs=inputs, seed=options.seed)
    return side_by_side([columns[place].name for place in order], reports, manifest, notes)


def corpus_tokens(prepared: Prepared) -> int | None:
    """The tokens of the corpus; None without one."""
    from kgeval.text.tokens import count_tokens

    structure = prepared.engine.structure
    if structure is not None and structure.tokens is not None:
        return structure.tokens
    corpus = prepared.options.corpus
    return sum(count_tokens(text) for text in texts(corpus)) if corpus else None


def counted_once(prepared: Prepared) -> Prepared:
    """With the corpus counted now, and not again for every graph."""
    structure = prepared.engine.structure
    if structure is None or structure.corpus is None:
        return prepared
    counted = replace(structure, corpus=None, tokens=corpus_tokens(prepared))
    return replace(prepared, engine=replace(prepared.engine, structure=counted))


def _gates(column: Column, report: AuditReport, fail_on: Severity | None) -> list[Gate]:
    """Of an audited graph, its own; of a report from a file, those of its call, with --fail-on of this one instead of its own."""
    if column.file is None:
        return report.gates
    from kgeval.auditing.gates import FAIL_ON, failing

    return [*(gate for gate in report.gates if gate.name != FAIL_ON), *failing(report.findings, fail_on)]


def _code(column: Column, report: AuditReport, gates: Sequence[Gate]) -> int:
    """Of an audited graph, its run's; of a report from a file, what the gates come to; what was incomplete then (a figure that timed out
    too) is so now."""
    if column.file is None:
        return report.run.exit_code
    incomplete = report.run.exit_code == 3 or any(finding.status in ("incomplete", "error") for finding in report.findings)
    return exit_code(gates, incomplete=incomplete)
