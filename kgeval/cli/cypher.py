"""`kgeval cypher`: the queries behind every figure, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, Option
from kgeval.cli.derive import CommandGroup
from kgeval.cli.options import connection_options, layout_options, session_from
from kgeval.errors import ConnectError, LayoutError, UsageError
from kgeval.limits import parse_json

if TYPE_CHECKING:
    from kgeval.graph.queries import Query
    from kgeval.workflows.session import Session

# Cypher's LIMIT needs a number where none is meant
ALL = 1_000_000_000


@click.group(cls=CommandGroup)
def cypher() -> None:
    """The Cypher behind every figure, ready for Neo4j Browser."""


@cypher.command("list")
@click.option("--folder", help="Only this folder: probe, project, audit, load ...")
def list_(folder: str | None) -> None:
    """List all queries: name, mode, what it answers."""
    from kgeval.graph.queries import all_queries

    folders = sorted({q.folder for q in all_queries().values()})
    if folder and folder not in folders:
        raise UsageError(f"no such folder: {folder}", fix=f"folders: {', '.join(folders)}")
    for query in sorted(all_queries().values(), key=lambda q: (q.folder, q.name)):
        if folder in (None, query.folder):
            click.echo(f"{query.folder:8} {query.name:28} {query.mode:5} {query.summary}")


def query_options(command: F) -> F:
    """What `show` and `run` share: connection, layout, schema, number of examples."""
    for option in reversed((
        connection_options, layout_options,
        click.option("--schema", "schema_file", help="Schema for the schema checks: a file, or 'database'."),
        click.option(
            "--examples", "sample", cls=Option, type=click.IntRange(1, ALL), default=ALL,
            help="Examples that an audit query lists [default: all].",
        ),
    )):
        command = option(command)
    return command


@cypher.command()
@click.argument("name")
@query_options
@click.option("--offline", is_flag=True, help="Do not connect: the file as it is, with roles (@Entity) for names.")
def show(name: str, offline: bool, **options: Any) -> None:
    """Print a query with the `:param` lines that make it work when both are pasted into Neo4j Browser or cypher-shell.

    kgeval connects and writes the query with the labels, types and properties of your graph. A repair's other parameters are yours
    to choose: it does not run until they are set. Before a repair that writes stands its dry run, which counts what it would do. A repair
    that could lose a fact of this kind of graph is not printed.
    """
    from kgeval.format import code
    from kgeval.graph.binding import bind_query, explained
    from kgeval.graph.queries import DRY, all_queries
    from kgeval.reports.listing import ended, without_header

    query = _query(name)
    values = {} if offline or not _connects(query) else _filled(query, options)
    text, known = query.text, {**defaults(query, options["sample"]), **values}
    if "layout" in known:
        text, known = bind_query(query, known)
        text = explained(text)
    for line in param_lines(query, known):
        click.echo(code(line))
    dry = all_queries().get(f"{DRY}{query.name}")
    if query.speaks_roles and "layout" not in values:
        click.echo("// @ words are roles of a layout: without --offline kgeval writes the names of your graph.")
    if note := rows_note(query):
        click.echo(f"// {note}")
    if "graph_name" in {p.name for p in query.params}:
        click.echo("// This query runs on a graph in GDS called $graph_name: project it first (kgeval cypher show simple-graph).")
    if dry is not None:
        counted = bind_query(dry, {"layout": values["layout"]})[0] if "layout" in values else dry.text
        click.echo(f"\n// What it would do to the graph, counted ({dry.name}; it reads):")
        click.echo(ended(code(without_header(counted))) + "\n\n// The repair, which writes:")
    click.echo(("" if dry else "\n") + ended(code(text.rstrip())))


@cypher.command()
@click.argument("name")
@query_options
@click.option("--param", "given", multiple=True, metavar="NAME=JSON", help="A parameter's value, as JSON.")
@click.option("--limit", type=click.IntRange(min=0), default=0, help="Only the first N rows; 0 = all.")
def run(name: str, given: tuple[str, ...], limit: int, **options: Any) -> None:
    """Run a reading query on your graph and print its rows as JSON lines."""
    query = _query(name)
    if query.mode != "read":
        raise UsageError(f"{name} writes; only importers run it", fix="kgeval cypher show prints it")
    params = {**defaults(query, options["sample"]), **_given(given)}
    with session_from("cypher run", options) as session:
        params |= _from_graph(session, query, options["schema_file"])
        missing = [p.name for p in query.params if p.name not in params]
        if missing:
            raise UsageError(f"{name} needs a value for {', '.join(missing)}", fix="--param NAME=JSON; for a schema --schema FILE")
        for number, row in enumerate(session.graph.stream(query, params)):
            if limit and number >= limit:
                break
            # JSON has no dates and points: they are written as text
            click.echo(json.dumps(row, ensure_ascii=False, default=str))


def _connects(query: Query) -> bool:
    return query.speaks_roles or "schema" in {p.name for p in query.params}


def _filled(query: Query, options: dict[str, Any]) -> dict[str, Any]:
    try:
        with session_from("cypher show", options) as session:
            _check_offered(query, session)
            return _from_graph(session, query, options["schema_file"])
    except (ConnectError, LayoutError) as wrong:
        raise type(wrong)(wrong.message, fix=f"{wrong.fix}; or --offline for the file with its example values") from wrong


def _check_offered(query: Query, session: Session) -> None:
    """Raises: UsageError for a repair that is offered by no check for this kind of graph."""
    from kgeval.auditing.repair import is_extracted, why_not_offered
    from kgeval.auditing.roles import missing_roles
    from kgeval.auditing.rulebook import load_rules
    from kgeval.graph.queries import DRY

    rules = [rule for rule in load_rules().values() if rule.repair == query.name.removeprefix(DRY)]
    if not any(rule.repair_only_extracted or rule.repair_needs or rule.repair_renames_types for rule in rules):
        return
    layout = session.bound_layout()
    extracted = is_extracted(layout, missing_roles(session.graph, layout))
    reasons = [why_not_offered(rule, layout, extracted=extracted) for rule in rules]
    if all(reasons):
        raise UsageError(f"{query.name}: {reasons[0]}", fix="--offline prints the file, to read it")


def _from_graph(session: Session, query: Query, schema_file: str | None) -> dict[str, Any]:
    """The bound layout and the schema, where the query asks for them."""
    names = {p.name for p in query.params}
    values: dict[str, Any] = {}
    if query.speaks_roles:
        values["layout"] = session.bound_layout().model_dump()
    if query.folder == "repair" and "unique" in names:
        from kgeval.auditing.graph_reader import GraphReader
        from kgeval.auditing.merging import read_unique

        values["unique"] = read_unique(GraphReader(session.graph, session.bound_layout()))
    source = schema_file or session.config.audit.schema_file
    if "schema" in names and source:
        from kgeval.auditing.schema import read_schema

        values["schema"] = read_schema(source, session.graph).parameters()
    return values


def param_lines(query: Query, values: dict[str, Any]) -> list[str]:
    """`:param name => value` lines for Neo4j Browser; the file's example where no value is known, and in a repair only as a comment: what
    it changes is the reader's to choose."""
    from kgeval.graph.literals import cypher_literal

    open_ = "// choose: " if query.folder == "repair" else ""
    declared = {p.name: f"{open_}:param {p.name} => {p.example}" for p in query.params}
    return [*({**declared, **{name: f":param {name} => {cypher_literal(value)}" for name, value in values.items()}}).values()]


def rows_note(query: Query) -> str:
    """What a check's query lists where it does not list the check's hits; "" otherwise."""
    from kgeval.auditing.repair import query_lists
    from kgeval.auditing.rulebook import load_rules

    rule = load_rules().get(query.name)
    if rule is None or query_lists(rule) == "hits":
        return ""
    return f"The rows that the check reads. A step in Python finds the hits: kgeval audit --check {rule.id} --examples 0 -o hits.csv"


def defaults(query: Query, sample: int = ALL) -> dict[str, Any]:
    """Values that the rule of the same name gives to the query's parameters, and a sample size."""
    from kgeval.auditing.engine import rule_settings
    from kgeval.auditing.rulebook import load_rules

    rule = load_rules().get(query.name)
    pool: dict[str, Any] = {"sample": sample, **(rule_settings(rule, {}) if rule else {})}
    return {p.name: pool[p.name] for p in query.params if p.name in pool}


def _query(name: str) -> Query:
    from difflib import get_close_matches

    from kgeval.graph.queries import all_queries

    queries = all_queries()
    if name not in queries:
        near = ", ".join(get_close_matches(name, queries))
        raise UsageError(f"no such query: {name}", fix=f"did you mean: {near}" if near else "kgeval cypher list names all")
    return queries[name]


def _given(given: tuple[str, ...]) -> dict[str, Any]:
    params = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            params[name] = parse_json(value)
        except ValueError as cause:
            raise UsageError(f"--param {text}: {cause}", fix="write NAME=JSON, a text in double quotes") from cause
    return params
