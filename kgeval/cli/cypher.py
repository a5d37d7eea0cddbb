"""`kgeval cypher`: the queries behind every figure, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options, layout_options
from kgeval.cli.common import connection_options, open_from_options
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.graph.queries import Query


@click.group()
def cypher() -> None:
    """The Cypher behind every figure, ready for Neo4j Browser."""


@cypher.command("list")
@click.option("--folder", help="Only this folder: probe, project, audit, load ...")
def list_(folder: str | None) -> None:
    """List all queries: name, mode, what it answers."""
    from kgeval.graph.queries import all_queries

    for query in sorted(all_queries().values(), key=lambda q: (q.folder, q.name)):
        if folder in (None, query.folder):
            click.echo(f"{query.folder:8} {query.name:28} {query.mode:5} {query.summary}")


@cypher.command()
@click.argument("name")
@click.option("--layout", "layout_option", help="Print the layout of this profile (or file) into the :param lines.")
def show(name: str, layout_option: str | None) -> None:
    """Print a query with the `:param` lines that make it work when both are pasted into Neo4j Browser."""
    for line in param_lines(_query(name), layout_option):
        click.echo(line)
    click.echo("\n" + _query(name).text, nl=False)


@cypher.command()
@click.argument("name")
@connection_options
@layout_options
@click.option("--param", "given", multiple=True, metavar="NAME=JSON", help="A parameter's value, as JSON.")
@click.option("--limit", type=click.IntRange(min=0), default=0, help="First N rows only, 0 = all.")
def run(name: str, given: tuple[str, ...], limit: int, **options: Any) -> None:
    """Run a reading query on your graph and print its rows as JSON lines."""
    from kgeval import config as configuration
    query = _query(name)
    if query.mode != "read":
        raise UsageError(f"{name} writes; only importers run it", fix="kgeval cypher show prints it")
    params = _given(given)
    config = configuration.load(options.pop("config_file"))
    which = {key: options.pop(key) for key in ("graph_name", "layout_option", "overrides")}
    with open_from_options(config, **options) as graph:
        if "layout" in {p.name for p in query.params}:
            params["layout"] = layout_from_options(graph, config, **which).model_dump()
        for at, row in enumerate(graph.stream(query, {**defaults(query), **params})):
            if limit and at >= limit:
                break
            click.echo(json.dumps(row, ensure_ascii=False, default=str))


def param_lines(query: Query, layout_option: str | None = None) -> list[str]:
    """`:param name => value` lines for Neo4j Browser: the rule's settings and words, the layout, else the file's example."""
    from kgeval.graph.literals import cypher_literal

    values = defaults(query)
    if layout_option:
        from kgeval.graph.layouts import load_profile

        values["layout"] = load_profile(layout_option).layout.model_dump()
    return [
        f":param {p.name} => {cypher_literal(values[p.name]) if p.name in values else p.example}" for p in query.params
    ]


def defaults(query: Query) -> dict[str, Any]:
    """Values that the rule of the same name gives to the query's parameters, and a sample size."""
    from kgeval.audit.engine import settings_of
    from kgeval.audit.rulebook import load_rules

    rule = load_rules().get(query.name)
    pool: dict[str, Any] = {"sample": 100, **(settings_of(rule, {}) if rule else {})}
    return {p.name: pool[p.name] for p in query.params if p.name in pool}


def _query(name: str) -> Query:
    from difflib import get_close_matches

    from kgeval.graph.queries import all_queries

    queries = all_queries()
    if name not in queries:
        near = ", ".join(get_close_matches(name, queries)) or "kgeval cypher list names all"
        raise UsageError(f"no such query: {name}", fix=f"did you mean: {near}")
    return queries[name]


def _given(given: tuple[str, ...]) -> dict[str, Any]:
    params = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            params[name] = json.loads(value)
        except json.JSONDecodeError as cause:
            raise UsageError(f"--param {text}: {cause}", fix="write NAME=JSON, a text in double quotes") from cause
    return params
