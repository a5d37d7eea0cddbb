"""`kgeval audit`: the main job. Reads a graph, prints what is wrong, writes reports, answers a gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_exit import SEVERITIES, exit_code, unanswered
from kgeval.cli.audit_options import parse_settings, parse_thresholds, texts
from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Seconds, arguments, connection_options, listed, open_from_options, say
from kgeval.cli.show import check_options, show_report

if TYPE_CHECKING:
    from kgeval.audit.engine import Audit, AuditOptions, Progress
    from kgeval.audit.joined import Joined
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.manifest import Started
    from kgeval.records import AuditReport, Layout



@click.command()
@connection_options
@layout_options
@click.option("--check", "checks", multiple=True, metavar="ID", help="Run these checks or groups only (comma or repeated).")
@click.option("--skip", multiple=True, metavar="ID", help="Leave out these checks or groups (comma or repeated).")
@click.option("--limit", type=click.IntRange(min=0), default=None, help="Examples a finding, 0 = all [default: 5].")
@click.option("--timeout", type=Seconds(), default=None, help="Seconds a check may take [default: 120].")
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="ID<=SHARE",
    help="Share of hits that still passes, e.g. isolated-entity<=0.05; missed: exit 1.",
)
@click.option("--setting", "settings", multiple=True, metavar="ID.NAME=VALUE", help="A setting of a check; kgeval rule show ID lists them.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), default=None, help="Exit 1 if a check of this severity or worse fails.")
@click.option("--schema", "schema_file", help="Schema to check: a file (JSON, YAML, TOML) or 'database'.")
@click.option("--corpus", type=click.Path(exists=True, path_type=Path), help="Text file or folder the graph was made from (for tokens).")
@click.option(
    "--with", "with_reports", multiple=True, metavar="REPORT.json", type=click.Path(path_type=Path),
    help="JSON report of kgeval accuracy or completeness whose findings join (repeatable).",
)
@click.option("--no-structure", is_flag=True, help="Only the checks, no structure figures.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of the communities' stability.")
@check_options
@click.option("--no-progress", is_flag=True, help="No progress on stderr.")
def audit(**options: Any) -> int:
    """Find what is wrong with a graph in Neo4j, whatever wrote it. Reads only: the server refuses every write.

    Exit codes: 0 done, 1 a gate failed (--fail-on, or a --threshold is missed), 2 wrong input or no connection,
    3 incomplete (a check timed out), 130 interrupted.
    """
    plan = planned(options)
    known = ("uri", "username", "database", "home")
    with open_from_options(plan.config, **{key: plan.options[key] for key in known}) as graph:
        report = audited(graph, plan, plan.options["graph_name"])
    show_report(report, plan.options, plan.outputs)
    return report.run.exit_code


@dataclass(frozen=True)
class Plan:
    """What is asked for, checked before a connection is made. `options`: the flags, completed from kgeval.toml."""

    options: dict[str, Any]
    config: Config
    chosen: AuditOptions
    joined: list[Joined]
    outputs: list[Path]
    started: Started


def planned(given: dict[str, Any]) -> Plan:
    """The plan. Raises: UsageError, InputError, ConfigError for whatever is wrong with flags and files."""
    from kgeval import config as configuration
    from kgeval.audit.joined import read_joined
    from kgeval.manifest import Started
    from kgeval.report.write import check_outputs

    config = configuration.load(given["config_file"])
    options = given | _from_config(config, given)
    started = Started("audit", arguments(options))
    outputs = list(options["outputs"]) or [Path(name) for name in config.report.outputs]
    check_outputs(outputs)
    return Plan(options, config, _options(options), read_joined(options["with_reports"]), outputs, started)


def audited(graph: Graph, plan: Plan, graph_name: str | None) -> AuditReport:
    """The audit of one graph of the database; what gates come to is its run's exit code."""
    options = plan.options
    bound = layout_from_options(
        graph, plan.config, graph_name=graph_name, layout_option=options["layout_option"], overrides=options["overrides"],
    )
    chosen = _with_schema(graph, options, plan.chosen)
    with _progress(len(chosen.rules), quiet=options["no_progress"]) as progress:
        found = _run(graph, bound, chosen, progress)
    found = _with_joined(found, plan.joined, bound.scope_value or graph_name)
    code = exit_code(found, options["fail_on"], set(chosen.thresholds))
    for rule_id in unanswered(found, set(chosen.thresholds)):
        say(f"gate not answered: {rule_id} did not run here (see the report for why)")
    return _report(graph, bound, found, plan, code)


def _from_config(config: Config, given: dict[str, Any]) -> dict[str, Any]:
    """The options that kgeval.toml gives where the command line does not, so that the manifest shows what was in force."""
    section = config.audit
    return {
        "schema_file": given["schema_file"] or section.schema_file, "redact": given["redact"] or config.report.redact,
        "fail_on": given["fail_on"] or section.fail_on, "checks": given["checks"] or tuple(section.checks),
        "skip": given["skip"] or tuple(section.skip), "timeout": given["timeout"] or section.timeout,
        "limit": section.limit if given["limit"] is None else given["limit"],
        "thresholds": (*(f"{rule}<={share:g}" for rule, share in section.thresholds.items()), *given["thresholds"]),
        "settings": (*(f"{name}={value}" for name, value in section.settings.items()), *given["settings"]),
    }


def _run(graph: Graph, layout: Layout, options: AuditOptions, progress: Progress) -> Audit:
    from kgeval.audit.engine import audit as run

    return run(graph, layout, options, progress=progress)


def _options(given: dict[str, Any]) -> AuditOptions:
    """The engine's options; every fault is raised before a connection is made."""
    from kgeval.audit.engine import AuditOptions
    from kgeval.audit.rulebook import choose
    from kgeval.audit.structure import Options

    timeout = given["timeout"]
    corpus = texts(given["corpus"]) if given["corpus"] else None
    return AuditOptions(
        rules=choose(listed(given["checks"]), listed(given["skip"])), sample=given["limit"], timeout=timeout,
        thresholds=parse_thresholds(listed(given["thresholds"])), settings=parse_settings(list(given["settings"])),
        structure=None if given["no_structure"] else Options(timeout=timeout, seed=given["seed"], corpus=corpus),
    )


def _with_schema(graph: Graph, options: dict[str, Any], chosen: AuditOptions) -> AuditOptions:
    from dataclasses import replace

    source = options["schema_file"]
    if not source:
        return chosen
    from kgeval.audit.schema import read_schema

    schema = read_schema(source, graph)
    return replace(chosen, schema=schema.parameters(), unanswered=schema.unanswered())


def _with_joined(found: Audit, joined: list[Joined], graph: str | None) -> Audit:
    """The audit with the findings of other reports; says on stderr what does not fit."""
    from dataclasses import replace

    from kgeval.audit.joined import findings_of, warnings

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


def _report(graph: Graph, layout: Layout, found: Audit, plan: Plan, code: int) -> AuditReport:
    from kgeval.audit.construction import construction
    from kgeval.graph.queries import all_queries
    from kgeval.records import AuditReport

    asked = {f.rule_id for f in found.findings if f.status != "skipped"}
    ran = {q.name for q in all_queries().values() if q.name in asked or q.folder in ("probe", "project")}
    run = plan.started.manifest(
        server=graph.info, hashes={name: all_queries()[name].sha256 for name in ran}, inputs=_inputs(plan.options),
        seed=plan.options["seed"], exit_code=code,
    )
    return AuditReport(
        graph=layout.scope_value or plan.options["graph_name"], run=run, layout=layout, structure=found.structure.numbers,
        structure_skipped=found.structure.skipped, findings=found.findings, construction=construction(graph, layout),
    )


def _inputs(options: dict[str, Any]) -> list[Path]:
    """The files that shaped the run: configuration, layout, schema, corpus, reports that joined."""
    from kgeval.config import DEFAULT_FILE

    named = [options["config_file"] or DEFAULT_FILE, options["layout_option"], options["schema_file"], options["corpus"]]
    named += options["with_reports"]
    return [Path(name) for name in named if name and Path(name).is_file()]
