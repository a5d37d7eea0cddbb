"""`kgeval import`: loads a graph from files into Neo4j."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, session_from_options
from kgeval.config import ImportOptions


@click.command("import", cls=HeadedCommand)
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option(
    "--graph", "graph_name", required=True, help="The graph's name: one more label on its nodes, so that several live in one database.",
)
@flags_of(ImportOptions)
@click.option("--dry-run", is_flag=True, help="Read and check the files, say what would be loaded, write nothing.")
@click.option("--no-progress", is_flag=True, help="No progress on stderr.")
@connection_options
def import_(path: Path | None, **options: Any) -> None:
    """Load a graph from files into Neo4j, provenance kept.

    PATH is a folder of MS GraphRAG (Parquet), LightRAG or tables (nodes.csv and relations.csv, or .parquet), or one file:
    GraphML, triples (CSV, TSV, JSON, JSONL), or node-link JSON. The format is found by itself. Tables may also be named one by
    one: --nodes FILE --relations FILE. Where the documents of PATH have no names that a gold set would know, --documents map.csv
    (id, title) gives them names.

    With --bulk large tables are written as a new store of an embedded home: millions of relations in a minute. The home must
    be empty, or --replace-store given, which deletes everything in it. If it fails, the old store is as it was.

    Exit codes: 0 loaded, 2 wrong input or use, 3 too many bad rows (nothing is written), 130 interrupted.
    """
    from kgeval.config import load
    from kgeval.workflows import imports as workflow

    config = load(options["config_file"])
    with session_from_options(
        config, "import", options, graph_name=options["graph_name"], dry=options["dry_run"], show=not options["no_progress"],
    ) as session:
        result = workflow.run(session, path, options_from(ImportOptions, options))
    for note in result.notes:
        say(f"note: {note}")
    click.echo(result.rendered("text"), nl=False)
