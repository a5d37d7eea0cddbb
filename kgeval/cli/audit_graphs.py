"""`kgeval audit G1 G2 ...`: several graphs side by side, of the database or from report files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_diff import worst
from kgeval.cli.audit_exit import exit_code
from kgeval.cli.audit_session import graph_for_audit
from kgeval.cli.choose import layout_from_options
from kgeval.cli.common import say
from kgeval.cli.show import show_report
from kgeval.errors import ConnectError, InputError, KgevalError, LayoutError, UsageError

if TYPE_CHECKING:
    from kgeval.cli.audit import Plan
    from kgeval.graph.connect import Graph
    from kgeval.records import AuditReport, GraphsReport, Layout, ServerInfo

AuditOne = Callable[..., "AuditReport"]


class Graphs(click.Argument):
    """The graphs of `kgeval audit`; they stand in its own usage line, and not in that of its sub-commands."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return super().get_usage_pieces(ctx) if self in ctx.command.params else []


graphs_argument = click.argument("graphs", nargs=-1, metavar="[GRAPH | REPORT.json]...", cls=Graphs)


@dataclass(frozen=True)
class Column:
    """One graph of the table: its name, and its report if that was read from `file`."""

    name: str
    report: AuditReport | None = None
    file: Path | None = None


def one_graph(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the only graph that is named as an argument as --graph. Raises: UsageError where both are given."""
    given = options["graphs"]
    if given and options["graph_name"] is not None and _from_environment("graph_name"):
        options = {**options, "graph_name": None}  # what stands in the command counts
    if given and options["graph_name"] is not None:
        raise UsageError("graphs are named as arguments and by --graph", fix="name all of them as arguments")
    single = len(given) == 1 and not is_file_name(given[0])
    return {**options, "graph_name": given[0], "graphs": ()} if single else options


def _from_environment(name: str) -> bool:
    """Whether an option was not given in the command but by a variable of the environment."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT


def columns_of(options: dict[str, Any], *, limited: bool = False) -> list[Column]:
    """The graphs that stand side by side, in their order; empty where there are not several. `limited`: the command has thresholds.

    Raises: InputError, UsageError with all faults: files that cannot be read, a graph or file given twice, a single report.
    """
    given = options["graphs"]
    columns, faults = _read(given)
    faults += [f"{name}: is given twice" for name, count in Counter(map(_resolved, given)).items() if count > 1]
    if faults:
        fix = "give names of graphs, or .json reports of kgeval audit"
        raise InputError("these graphs cannot be put side by side", faults=faults, fix=fix)
    if columns and limited and all(one.report is not None for one in columns):
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


def check_forms(options: dict[str, Any], outputs: Sequence[Path], columns: Sequence[Column]) -> None:
    """Tells before the audits whether the reports can be written in the forms that are asked for. Raises: UsageError."""
    from kgeval.cli.questions_stats import check_replaced
    from kgeval.records import AuditReport, GraphsReport
    from kgeval.reports.write import check_form, check_outputs

    kind = GraphsReport if columns else AuditReport
    check_outputs(outputs, kind)
    check_form(options["form"], kind)
    check_replaced(list(outputs), list(dict.fromkeys(one.file for one in columns if one.file is not None)))


def _read(given: Sequence[str]) -> tuple[list[Column], list[str]]:
    from kgeval.auditing.previous import read_audits

    columns: list[Column] = []
    faults: list[str] = []
    for word in given:
        path = Path(word)
        if not is_file_name(word):
            columns.append(Column(word))
            continue
        try:
            columns += [Column(one.graph or path.stem, one, path) for one in read_audits(path)]
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
    alike = Counter(one.name for one in columns)
    named = [replace(one, name=f"{one.name} ({one.file.name})") if alike[one.name] > 1 and one.file else one for one in columns]
    again = Counter(one.name for one in named)
    seen: Counter[str] = Counter()
    made = []
    for one in named:
        seen[one.name] += 1
        made.append(replace(one, name=f"{one.name} #{seen[one.name]}") if again[one.name] > 1 else one)
    return made


def beside(plan: Plan, audit_one: AuditOne) -> int:
    """Audits the graphs of the database, one after the other, and shows them with those of the files. The exit code is the worst of all; 3
    where one could not be audited, 130 where it was interrupted, and then the graphs that were done are shown."""
    run = _reports(plan, audit_one)
    made = _made(plan, run)
    codes = [_code(plan.columns[at], report, plan.options["fail_on"]) for at, report in run.done.items()]
    code = 130 if run.stopped else worst([*codes, *(3 for _ in run.failed)])
    made = made.model_copy(update={"run": made.run.model_copy(update={"exit_code": code})})
    show_report(made, plan.options, plan.outputs)
    return code


@dataclass
class _Run:
    """The reports by the column's place, what went wrong with others, what the server is, and whether the run was interrupted."""

    done: dict[int, AuditReport]
    failed: dict[int, KgevalError] = field(default_factory=dict)
    server: ServerInfo | None = None
    stopped: bool = False


def _reports(plan: Plan, audit_one: AuditOne) -> _Run:
    """Every graph's report. What is finished outlives the failure of another graph. Raises: KgevalError, the first, where none finished."""
    columns = plan.columns
    run = _Run({at: column.report for at, column in enumerate(columns) if column.report is not None})
    wanted = [at for at, column in enumerate(columns) if column.report is None]
    if not wanted:
        return run
    with graph_for_audit(plan.config, plan.options, plan.session) as graph:
        bound = _bound(graph, plan, [columns[at].name for at in wanted])
        run.server = graph.info
        _each(plan, run, wanted, lambda name: audit_one(graph, plan, name, bound=bound[name]))
    if run.failed and not run.stopped and not any(at in run.done for at in wanted):
        raise next(iter(run.failed.values()))
    return run


def _each(plan: Plan, run: _Run, wanted: Sequence[int], audit_one: Callable[[str], AuditReport]) -> None:
    """Adds the reports of the wanted columns; stops at Ctrl-C and where the server is lost."""
    from kgeval.auditing.beside import FAILED

    for number, at in enumerate(wanted, start=1):
        name = plan.columns[at].name
        if not plan.options["no_progress"]:
            say(f"auditing {name} ({number} of {len(wanted)})")
        try:
            run.done[at] = audit_one(name)
        except KeyboardInterrupt:
            if not run.done:
                raise
            run.stopped = True
            return
        except KgevalError as fault:
            say(f"graph {name} {FAILED}: {fault.message}")
            run.failed[at] = fault
            if isinstance(fault, ConnectError):
                return


def _bound(graph: Graph, plan: Plan, names: Sequence[str]) -> dict[str, Layout]:
    """The layout of every graph, before the first is audited. Raises: LayoutError with every graph that cannot be bound."""
    bound: dict[str, Layout] = {}
    faults: list[LayoutError] = []
    for name in names:
        try:
            bound[name] = layout_from_options(
                graph, plan.config, graph_name=name, layout_option=plan.options["layout_option"], overrides=plan.options["overrides"],
            )
        except LayoutError as fault:
            faults.append(fault)
            if Path(name).is_file():
                faults.append(LayoutError(f"{name} is a file here: a report must end with .json to be read"))
    if faults:
        lines = "\n  ".join(fault.message for fault in faults)
        raise LayoutError(f"not every graph can be audited:\n  {lines}", fix=faults[0].fix.replace("with --graph NAME", "by its name"))
    return bound


def _made(plan: Plan, run: _Run) -> GraphsReport:
    from kgeval.auditing.beside import FAILED, side_by_side, with_tokens

    columns, done, order = plan.columns, run.done, sorted(run.done)
    files = [column.file for column in columns if column.file is not None]
    tokens = corpus_tokens(plan) if files else None
    reports = [done[at] if tokens is None else with_tokens(done[at], tokens) for at in order]
    notes = [f"graph {columns[at].name} {FAILED}: {fault.message}" for at, fault in run.failed.items()]
    if left := [column.name for at, column in enumerate(columns) if at not in done and at not in run.failed]:
        notes.append(f"{'interrupted' if run.stopped else 'stopped'} before these were audited: {', '.join(left)}")
    if files and plan.options["thresholds"]:
        notes.append("the thresholds of this call hold for graphs of the database; reports in files keep their own gates")
    inputs = [file for file in (*files, *_files(plan.options)) if file.is_file()]
    manifest = plan.started.manifest(server=run.server, inputs=dict.fromkeys(inputs), seed=plan.options["seed"])
    return side_by_side([columns[at].name for at in order], reports, manifest, notes)


def _files(options: dict[str, Any]) -> list[Path]:
    from kgeval.config import DEFAULT_FILE

    keys = ("layout_option", "schema_file", "corpus", "baseline")
    return [Path(name) for name in (options["config_file"] or DEFAULT_FILE, *(options[key] for key in keys)) if name]


def corpus_tokens(plan: Plan) -> int | None:
    """The tokens of --corpus; null without one."""
    from kgeval.cli.audit_options import texts
    from kgeval.text.tokens import count_tokens

    structure = plan.chosen.structure
    if structure is not None and structure.tokens is not None:
        return structure.tokens
    corpus = plan.options["corpus"]
    return sum(count_tokens(text) for text in texts(corpus)) if corpus else None


def counted_once(plan: Plan) -> Plan:
    """The plan with the corpus counted now, and not again for every graph."""
    structure = plan.chosen.structure
    if structure is None or structure.corpus is None:
        return plan
    counted = replace(structure, corpus=None, tokens=corpus_tokens(plan))
    return replace(plan, chosen=replace(plan.chosen, structure=counted))


def _code(column: Column, report: AuditReport, fail_on: Any) -> int:
    """Of an audited graph, its run's; of a report from a file, what its findings come to under --fail-on of this call, with its own
    gates; what was incomplete then (a figure that timed out too) is so now."""
    if column.file is None:
        return report.run.exit_code
    from kgeval.auditing.gates import FAIL_ON, failing

    incomplete = report.run.exit_code == 3 or any(one.status in ("incomplete", "error") for one in report.findings)
    own = [gate for gate in report.gates if gate.id != FAIL_ON]  # of its own call; this one has another or none
    return exit_code([*own, *failing(report.findings, fail_on)], incomplete=incomplete)
