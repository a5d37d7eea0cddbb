"""`kgeval audit`: the main job. Reads a graph, prints what is wrong, writes reports, answers a gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import Seconds, arguments, connection_options, listed, open_from_options, say
from kgeval.cli.show import check_options, show_report
from kgeval.errors import InputError, UsageError

if TYPE_CHECKING:
    from kgeval.audit.engine import Audit, AuditOptions, Progress
    from kgeval.audit.joined import Joined
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.manifest import Started
    from kgeval.records import AuditReport, Layout

SEVERITIES = ("error", "warning", "info")
KINDS = {bool: "yes or no", int: "whole number", float: "finite number", str: "text"}


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
    from kgeval import config as configuration
    from kgeval.audit.joined import read_joined
    from kgeval.manifest import Started
    from kgeval.report.write import check_outputs

    config = configuration.load(options["config_file"])
    options |= _from_config(config, options)
    started = Started("audit", arguments(options))
    known = ("uri", "username", "database", "home")
    check_outputs(_outputs(config, options))
    chosen = _options(options)
    joined = read_joined(options["with_reports"])
    with open_from_options(config, **{key: options[key] for key in known}) as graph:
        bound = layout_from_options(graph, config, **{key: options[key] for key in ("graph_name", "layout_option", "overrides")})
        chosen = _with_schema(graph, options, chosen)
        with _progress(len(chosen.rules), quiet=options["no_progress"]) as progress:
            found = _run(graph, bound, chosen, progress)
        found = _with_joined(found, joined, bound.scope_value or options["graph_name"])
        code = exit_code(found, options["fail_on"], set(chosen.thresholds))
        for rule_id in unanswered(found, set(chosen.thresholds)):
            say(f"gate not answered: {rule_id} did not run here (see the report for why)")
        report = _report(graph, bound, found, started, options, code)
    show_report(report, options, _outputs(config, options))
    return code


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


def parse_thresholds(given: list[str]) -> dict[str, float]:
    """`ID<=0.05` or `ID=0.05` by rule id; a later one wins. All faults at once."""
    from kgeval.audit.rulebook import load_rules

    found: dict[str, float] = {}
    faults = []
    for text in given:
        name, _, value = text.replace("<=", "=").partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            faults.append(f"'{text}': write ID<=SHARE, a share between 0 and 1")
    faults += [f"'{name}': no such check" for name in found if name not in load_rules()]
    faults += [f"'{name}': {share:g} is no share between 0 and 1" for name, share in found.items() if not 0 <= share <= 1]
    if faults:
        raise UsageError("faulty thresholds: " + "; ".join(faults), fix="kgeval rule list names the checks")
    return found


def parse_settings(given: list[str]) -> dict[str, Any]:
    """`ID.NAME=VALUE` in the type of the setting's default; a later one wins. All faults at once."""
    from kgeval.audit.rulebook import load_rules

    pairs = [(name.strip(), value.strip()) for name, _, value in (text.partition("=") for text in given)]
    found: dict[str, Any] = {}
    faults = []
    for name, value in pairs:
        rule_id, _, setting = name.partition(".")
        rule = load_rules().get(rule_id)
        if rule is None or setting not in rule.settings:
            faults.append(f"'{name}' is no setting")
            continue
        kind = type(rule.settings[setting])
        try:
            found[name] = _setting(kind, value)
        except ValueError:
            faults.append(f"'{name}={value}' is no {KINDS[kind]}")
    if faults:
        raise UsageError("faulty settings: " + "; ".join(faults), fix="kgeval rule show ID lists a check's settings")
    return found


def _setting(kind: type, value: Any) -> Any:
    """The value in the setting's type. Raises: ValueError."""
    import math

    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
        if str(value).casefold() not in words:
            raise ValueError(value)
        return words[str(value).casefold()]
    number = kind(value)
    if kind is not str and not (math.isfinite(number) and abs(number) < 2**62):
        raise ValueError(value)
    return number


def texts(path: Path) -> list[str]:
    """The texts of a file, or of all .txt and .md files of a folder."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".txt", ".md"))
    if not files:
        raise InputError(f"{path}: no .txt or .md files", fix="give a text file, or a folder that holds some")
    try:
        return [file.read_text(encoding="utf-8") for file in files]
    except (UnicodeDecodeError, OSError) as cause:
        raise InputError(f"{path}: {cause}", fix="the corpus must be text in UTF-8") from cause


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


def unanswered(found: Audit, gated: set[str]) -> list[str]:
    """Rules with a threshold of the user's whose check was skipped or left out: no answer is not a pass."""
    answered = {f.rule_id for f in found.findings if f.status in ("passed", "failed")}
    return sorted(gated - answered)


def exit_code(found: Audit, fail_on: str | None, gated: set[str]) -> int:
    """3 if something did not run to its end or a gate has no answer, 1 if a gate failed, else 0.

    `gated`: rules with a threshold of the user's.
    """
    if found.incomplete or unanswered(found, gated):
        return 3
    worst = SEVERITIES.index(fail_on) if fail_on else -1
    failed = [f for f in found.findings if f.status == "failed"]
    return 1 if any(SEVERITIES.index(f.severity) <= worst or f.rule_id in gated for f in failed) else 0


def _report(graph: Graph, layout: Layout, found: Audit, started: Started, options: dict[str, Any], code: int) -> AuditReport:
    from kgeval.audit.construction import construction
    from kgeval.graph.queries import all_queries
    from kgeval.records import AuditReport

    asked = {f.rule_id for f in found.findings if f.status != "skipped"}
    ran = {q.name for q in all_queries().values() if q.name in asked or q.folder in ("probe", "project")}
    run = started.manifest(
        server=graph.info, hashes={name: all_queries()[name].sha256 for name in ran}, inputs=_inputs(options),
        seed=options["seed"], exit_code=code,
    )
    return AuditReport(
        graph=layout.scope_value or options["graph_name"], run=run, layout=layout, structure=found.structure.numbers,
        structure_skipped=found.structure.skipped, findings=found.findings, construction=construction(graph, layout),
    )


def _inputs(options: dict[str, Any]) -> list[Path]:
    """The files that shaped the run: configuration, layout, schema, corpus, reports that joined."""
    from kgeval.config import DEFAULT_FILE

    named = [options["config_file"] or DEFAULT_FILE, options["layout_option"], options["schema_file"], options["corpus"]]
    named += options["with_reports"]
    return [Path(name) for name in named if name and Path(name).is_file()]


def _outputs(config: Config, options: dict[str, Any]) -> list[Path]:
    """The report files of the command line, else those of kgeval.toml."""
    return list(options["outputs"]) or [Path(name) for name in config.report.outputs]
