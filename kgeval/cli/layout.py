"""`kgeval layout`: how a graph is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import CommandGroup, flags_of, given_of
from kgeval.cli.options import connection_options, session_from
from kgeval.cli.show import form_option
from kgeval.config import SessionOptions
from kgeval.errors import UsageError
from kgeval.format import percent

if TYPE_CHECKING:
    from kgeval.graph.layouts import Candidate, Detection
    from kgeval.graph.layouts.check import LayoutCheck


graph_option = flags_of(SessionOptions, only=("graph_name",), heading="")


@click.group(cls=CommandGroup)
def layout() -> None:
    """How a graph is stored: which labels, types and properties play which role."""


@layout.command("list")
@form_option()
def list_(form: str) -> None:
    """List the layouts that kgeval knows."""
    from kgeval.graph.layouts import profiles

    known = profiles()
    if form == "json":
        click.echo(json.dumps([p.model_dump() for p in known.values()], ensure_ascii=False, indent=2))
        return
    width = max(len(name) for name in known)
    for name, profile in known.items():
        click.echo(f"{name:{width}}  {profile.description}")


@layout.command()
@click.argument("name", metavar="NAME|FILE")
@form_option()
def show(name: str, form: str) -> None:
    """Print one layout as a complete TOML file, each key explained."""
    from kgeval.graph.layouts import load_profile
    from kgeval.graph.layouts.write import to_toml

    profile = load_profile(name).layout
    if form == "json":
        click.echo(json.dumps(profile.model_dump(), ensure_ascii=False, indent=2))
    else:
        click.echo(to_toml(profile), nl=False)


@layout.command("detect")
@graph_option
@form_option()
@connection_options
def detect_(**options: Any) -> int:
    """Say which layout the database follows, and why.

    Exit code 2 if none or several fit.
    """
    from kgeval.graph.layouts import detect
    from kgeval.workflows.layouts import undecided

    with session_from("layout detect", options) as session:
        detection = detect(session.graph, session.graph_name or session.config.graph.name)
        session.half_loaded(session.graph_name or session.config.graph.name)
        where = session.graph.info.database
    if options["form"] == "json":
        click.echo(detection.model_dump_json(indent=2))
    else:
        _explain(detection, where)
    if detection.choice is None and detection.tied:
        say(f"Fix: {undecided(detection).fix}")
    return 0 if detection.choice else 2


@layout.command("check")
@click.argument("name", metavar="FILE|NAME")
@flags_of(SessionOptions, only=("graph_name", "layout_keys"), heading="")
@click.option("--file-only", is_flag=True, help="Check the file alone, without a database.")
@form_option()
@connection_options
def check_(name: str, *, file_only: bool, **options: Any) -> None:
    """Check a layout file, then hold it against the database: what it finds, and what it names in vain."""
    from kgeval.graph.layouts import load_profile, override
    from kgeval.graph.layouts.check import check

    changed = override(load_profile(name).layout, given_of(SessionOptions, options).get("layout_keys", {}))
    if file_only:
        click.echo(f"{name}: the file is right")
        return
    with session_from("layout check", options) as session:
        report = check(session.graph, changed, session.graph_name or session.config.graph.name)
        session.half_loaded(report.layout.scope_value, report.layout.entity_labels)
    if options["form"] == "json":
        click.echo(report.model_dump_json(indent=2))
    else:
        _tell(report)


@layout.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write [default: stdout].")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@connection_options
def init(output: Path | None, *, force: bool, **options: Any) -> None:
    """Write a commented layout file for the database, to be changed by hand."""
    from kgeval.graph.layouts.draft import draft
    from kgeval.tables.output import write_text

    to_file = output is not None and str(output) != "-"
    if output is not None and to_file and output.exists() and not force:
        raise UsageError(f"{output} exists", fix="choose another name, or --force")
    with session_from("layout init", options) as session:
        text = draft(session.graph, output.stem if output is not None and to_file else "mine")
        session.half_loaded(None)
    if output is None or not to_file:
        click.echo(text, nl=False)
        return
    write_text(output, text, shared=True, kept=False)
    say(f"wrote {output}; next: kgeval layout check {output}")


def _explain(found: Detection, database: str) -> None:
    click.echo(f"Database {database}: {found.database} (counted by {found.source})")
    click.echo(f"Layout: {found.choice or 'undecided'}: {found.reason}")
    ruled_out = [c for c in found.candidates if c.fit == "no" and c.name != "generic"]
    for candidate in found.candidates:
        if candidate.fit != "no":
            _explain_one(candidate)
    if ruled_out:
        click.echo("\nNot these:")
        width = max(len(c.name) for c in ruled_out)
        for candidate in ruled_out:
            click.echo(f"  {candidate.name:{width}}  {'; '.join(candidate.evidence_against[:3])}")


def _explain_one(one: Candidate) -> None:
    sure = {"fits": "fits", "perhaps": "fits, but nothing marks its writer for certain"}
    click.echo(f"\n{one.name}: {sure[one.fit]}")
    for text in one.evidence_for:
        click.echo(f"  + {text}")
    for text in one.evidence_against:
        click.echo(f"  - {text}")
    if one.roles:
        counted = ", ".join(f"{count:,} {role}" for role, count in one.roles.items() if count)
        click.echo(f"  = {counted}; {percent(one.share or 0.0)} of all nodes play a role")
    if one.graphs:
        click.echo("  graphs: " + ", ".join(f"{name} ({count:,} entities)" for name, count in list(one.graphs.items())[:20]))


def _tell(report: LayoutCheck) -> None:
    bound = report.layout
    click.echo(f"Layout {bound.name}" + (f", graph {bound.scope_value}" if bound.scope_value else ""))
    click.echo("  nodes      " + ", ".join(f"{count:,} {role}" for role, count in report.roles.items() if count))
    click.echo(f"  relations  {len(bound.relation_types)} types" + _joins(report))
    for fill in (fill for fill in report.fills if fill.filled):
        share = fill.filled / fill.total if fill.total else 0.0
        click.echo(f"  {fill.role:9}  {fill.key}: {percent(share)} ({fill.filled:,} of {fill.total:,})")
    click.echo("\nLook at:" if report.remarks else "\nNothing to remark.")
    for remark in report.remarks:
        click.echo(f"  - {remark}")


def _joins(report: LayoutCheck) -> str:
    if not report.layout.relation_types:
        return ""
    return ", all between entities" if report.layout.relations_join_entities_only else ", some with other nodes at an end"
