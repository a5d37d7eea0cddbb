"""`kgeval audit`: the main job. Reads a graph, prints what is wrong, writes reports, answers a gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_diff import Baseline, baseline_options, diff, held_against, read_baseline
from kgeval.cli.audit_embed import asked_of, embed_options, embedding_of
from kgeval.cli.audit_gates import GatePlan, gate_options, gated, planned_gates, write_debt
from kgeval.cli.audit_gates_config import load_config, threshold_texts
from kgeval.cli.audit_graphs import Column, beside, check_forms, columns_of, counted_once, graphs_argument, one_graph
from kgeval.cli.audit_group import CommandWithMore
from kgeval.cli.audit_options import parse_settings, texts
from kgeval.cli.audit_safe import check_safe, foretold, granted, part_notes, part_of, safe_options, size_notes
from kgeval.cli.audit_session import graph_for_audit, planned_session, session_notes, session_options
from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Seconds, arguments, connection_options, listed, say
from kgeval.cli.show import report_options_of, show_report

if TYPE_CHECKING:
    from kgeval.auditing.engine import Audit, AuditOptions, Progress
    from kgeval.auditing.joined import Joined
    from kgeval.config import Config
    from kgeval.graph.aura import SessionOptions
    from kgeval.graph.connect import Graph
    from kgeval.manifest import Started
    from kgeval.records import AuditReport, Layout


FORMS = ("text", "json", "md", "html", "xml", "sarif", "csv")


@click.group(cls=CommandWithMore, invoke_without_command=True)
@graphs_argument
@connection_options
@layout_options
@session_options
@click.option("--check", "checks", multiple=True, metavar="ID", help="Run these checks or groups only (comma or repeated).")
@click.option("--skip", multiple=True, metavar="ID", help="Leave out these checks or groups (comma or repeated).")
@click.option("--limit", type=click.IntRange(min=0), default=None, help="Examples a finding, 0 = all [default: 5].")
@click.option("--timeout", type=Seconds(), default=None, help="Seconds each query of a check may take [default: 120].")
@gate_options
@click.option("--setting", "settings", multiple=True, metavar="ID.NAME=VALUE", help="A setting of a check; kgeval rule show ID lists them.")
@click.option("--schema", "schema_file", help="Schema to check: a file (JSON, YAML, TOML) or 'database'.")
@click.option("--corpus", type=click.Path(exists=True, path_type=Path), help="Text file or folder the graph was made from (for tokens).")
@click.option(
    "--with", "with_reports", multiple=True, metavar="REPORT.json", type=click.Path(path_type=Path),
    help="JSON report of kgeval accuracy or completeness whose findings join (repeatable).",
)
@click.option("--no-structure", is_flag=True, help="Only the checks, no structure figures.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of the communities' stability.")
@embed_options()
@safe_options
@baseline_options
@report_options_of("Report file: .html .json .md .csv (hits; of several graphs their figures); of one graph .xml (JUnit) .sarif", FORMS)
@click.option("--no-progress", is_flag=True, help="No progress on stderr.")
def audit(**options: Any) -> int:
    """Find what is wrong with a graph in Neo4j, whatever wrote it. Reads only: the server refuses every write.

    GRAPH: as --graph. Several graphs, or JSON reports of earlier audits, are put side by side: one table and one plot a figure.
    `kgeval audit diff BEFORE.json AFTER.json` says what changed between two reports. (A graph called diff: --graph diff.)

    Exit codes: 0 done, 1 a gate failed (--fail-on, --fail-on-worse, or a --threshold is missed), 2 wrong input or no connection,
    3 incomplete (a check timed out, a gate has no answer), 130 interrupted. Of several graphs: the worst.
    """
    plan = planned(options)
    if plan.columns:
        return beside(counted_once(plan), audited)
    with graph_for_audit(plan.config, plan.options, plan.session) as graph:
        if options["dry_run"]:
            return _dry(graph, plan)
        report, found = _audited(graph, plan, plan.options["graph_name"])
    fault = write_debt(plan.gates, report, found, redact=plan.options["redact"])
    show_report(report, plan.options, plan.outputs)
    _say_what_csv_leaves_out(report, plan)
    if fault:
        raise fault
    return report.run.exit_code


def _say_what_csv_leaves_out(report: AuditReport, plan: Plan) -> None:
    """A CSV file of hits that are only examples says so on stderr."""
    from kgeval.auditing.identity import lists_all

    if plan.options["form"] != "csv" and not any(path.suffix.lower() == ".csv" for path in plan.outputs):
        return
    cut = [one.rule_id for one in report.findings if one.count and not lists_all(one)]
    if cut:
        say(f"warning: the CSV holds examples, not all hits, of {', '.join(cut)}: --limit 0 lists all")


@dataclass(frozen=True)
class Plan:
    """What is asked for, checked before a connection is made. `options`: the flags, completed from kgeval.toml; `columns`: the graphs
    that stand side by side, where there are several."""

    options: dict[str, Any]
    config: Config
    chosen: AuditOptions
    joined: list[Joined]
    outputs: list[Path]
    started: Started
    gates: GatePlan
    columns: list[Column] = field(default_factory=list)
    baseline: Baseline | None = None
    session: SessionOptions | None = None


def planned(given: dict[str, Any]) -> Plan:
    """The plan. Raises: UsageError, InputError, ConfigError for whatever is wrong with flags and files."""
    from kgeval.auditing.joined import read_joined
    from kgeval.manifest import Started

    config = load_config(given["config_file"])
    given = one_graph(given)
    options = given | _from_config(config, given)
    started = Started("audit", arguments(options))
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    columns = columns_of(options, limited=bool(given["thresholds"]))
    check_forms(options, outputs, columns)
    gates = planned_gates(options, config, outputs=outputs, today=datetime.now().astimezone().date(), several=bool(columns))
    joined, baseline = read_joined(options["with_reports"]), read_baseline(options, outputs)
    session = planned_session(config, options)
    check_safe(options, several=bool(columns), session=session is not None)
    chosen = replace(_options(options, gates), embedding=embedding_of(config, options))
    return Plan(options, config, chosen, joined, outputs, started, gates, columns, baseline, session)


def audited(graph: Graph, plan: Plan, graph_name: str | None, *, bound: Layout | None = None) -> AuditReport:
    """The audit of one graph of the database; what gates come to is its run's exit code. `bound`: its layout, if that is known."""
    return _audited(graph, plan, graph_name, bound=bound)[0]


def _audited(graph: Graph, plan: Plan, graph_name: str | None, *, bound: Layout | None = None) -> tuple[AuditReport, Audit]:
    """The report, and what it was made from."""
    options = plan.options
    graph.memory_limit = granted(options)
    bound = bound or layout_from_options(
        graph, plan.config, graph_name=graph_name, layout_option=options["layout_option"], overrides=options["overrides"],
    )
    notes = size_notes(graph)
    chosen = _with_schema(graph, options, plan.chosen)
    with _progress(len(chosen.rules), quiet=options["no_progress"]) as progress:
        found = _run(graph, bound, chosen, progress)
    found = _with_joined(found, plan.joined, bound.scope_value or graph_name)
    report = gated(_report(graph, bound, found, plan, notes), found, chosen.gates, options["fail_on"], several=bool(plan.columns))
    return held_against(report, plan.baseline, alone=not plan.columns), found


def _dry(graph: Graph, plan: Plan) -> int:
    graph.memory_limit = granted(plan.options)
    bound = layout_from_options(
        graph, plan.config, graph_name=plan.options["graph_name"], layout_option=plan.options["layout_option"],
        overrides=plan.options["overrides"],
    )
    session = None if plan.session is None else plan.session.memory_told
    for line in foretold(graph, bound, plan.options, [rule.id for rule in plan.chosen.rules], session=session):
        click.echo(line)
    return 0


def _from_config(config: Config, given: dict[str, Any]) -> dict[str, Any]:
    """The options that kgeval.toml gives where the command line does not, so that the manifest shows what was in force."""
    section = config.audit
    return {
        "schema_file": given["schema_file"] or section.schema_file, "redact": given["redact"] or config.report.redact,
        "fail_on": given["fail_on"] or section.fail_on, "checks": given["checks"] or tuple(section.checks),
        "skip": given["skip"] or tuple(section.skip), "timeout": given["timeout"] or section.timeout,
        "baseline": given["baseline"] or section.baseline, "fail_on_worse": given["fail_on_worse"] or section.fail_on_worse,
        "limit": section.limit if given["limit"] is None else given["limit"],
        "thresholds": threshold_texts(config, given["thresholds"]), "ratchet": given["ratchet"] or section.ratchet,
        "sample_share": given["sample_share"] or section.sample_share, "memory_limit": given["memory_limit"] or section.memory_limit,
        "settings": (*(f"{name}={value}" for name, value in section.settings.items()), *given["settings"]),
    }


def _run(graph: Graph, layout: Layout, options: AuditOptions, progress: Progress) -> Audit:
    from kgeval.auditing.engine import audit as run

    return run(graph, layout, options, progress=progress)


def _options(given: dict[str, Any], gates: GatePlan) -> AuditOptions:
    """The engine's options; every fault is raised before a connection is made."""
    from kgeval.auditing.engine import AuditOptions
    from kgeval.auditing.rulebook import choose
    from kgeval.auditing.structure import Options

    timeout = given["timeout"]
    corpus = texts(given["corpus"]) if given["corpus"] else None
    return AuditOptions(
        rules=choose(listed(given["checks"]), listed(given["skip"])), sample=given["limit"], timeout=timeout,
        gates=gates.gates, part=part_of(given), settings=parse_settings(list(given["settings"])),
        structure=None if given["no_structure"] else Options(timeout=timeout, seed=given["seed"], corpus=corpus),
    )


def _with_schema(graph: Graph, options: dict[str, Any], chosen: AuditOptions) -> AuditOptions:
    source = options["schema_file"]
    if not source:
        return chosen
    from kgeval.auditing.schema import read_schema

    schema = read_schema(source, graph)
    return replace(chosen, schema=schema.parameters(), unanswered=schema.unanswered())


def _with_joined(found: Audit, joined: list[Joined], graph: str | None) -> Audit:
    """The audit with the findings of other reports; says on stderr what does not fit."""
    from kgeval.auditing.joined import findings_of, warnings

    for warning in warnings(joined, graph):
        say(f"warning: --with: {warning}")
    return replace(found, findings=[*found.findings, *findings_of(joined)])


@contextmanager
def _progress(checks: int, *, quiet: bool) -> Iterator[Progress]:
    """A line on stderr that says what runs now; silent where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda kind, name: None
        return
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("connecting", total=checks + 8)

        def advance(kind: str, name: str) -> None:
            bar.update(task, description=name if kind == "check" else f"structure: {name}", advance=1)

        yield advance


def _report(graph: Graph, layout: Layout, found: Audit, plan: Plan, notes: list[str]) -> AuditReport:
    from kgeval.auditing.construction import construction
    from kgeval.graph.queries import all_queries
    from kgeval.records import AuditReport

    asked = {f.rule_id for f in found.findings if f.status != "skipped"}
    ran = {q.name for q in all_queries().values() if q.name in asked or q.folder in ("probe", "project")}
    run = plan.started.manifest(
        server=graph.info, hashes={name: all_queries()[name].sha256 for name in ran}, inputs=_inputs(plan.options),
        seed=plan.options["seed"], asked=asked_of(plan.chosen.embedding),
    )
    return AuditReport(
        graph=layout.scope_value or plan.options["graph_name"], run=run, layout=layout, reading=found.reading,
        structure=found.structure.numbers, structure_skipped=found.structure.skipped, findings=found.findings,
        construction=construction(graph, layout),
        notes=[*session_notes(graph.algorithms), *notes, *part_notes(plan.chosen.part)],
    )


def _inputs(options: dict[str, Any]) -> list[Path]:
    """The files that shaped the run: configuration, layout, schema, corpus, reports that joined."""
    from kgeval.config import DEFAULT_FILE

    named = [options["config_file"] or DEFAULT_FILE, options["layout_option"], options["schema_file"], options["corpus"]]
    named += [*options["with_reports"], options["baseline"]]
    return [Path(name) for name in named if name and Path(name).is_file()]


audit.add_command(diff)
