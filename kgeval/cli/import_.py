"""`kgeval import`: loads a graph from files into Neo4j."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import connection_options, new_graph, session_from
from kgeval.config import ImportOptions, SessionOptions
from kgeval.config.session import WORKING


@click.command("import", cls=HeadedCommand)
@click.argument("path", type=click.Path(path_type=Path), required=False)
@new_graph
@flags_of(ImportOptions)
@flags_of(SessionOptions, only=WORKING, texts={"dry_run": "Read and check the files, say what would be loaded, write nothing."})
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
    from kgeval.workflows import imports as workflow

    with session_from("import", {**options, "form": None}, outputs=()) as session:  # its own form is that of the files
        result = workflow.run(session, path, options_from(ImportOptions, options))
    for note in result.notes:
        say(f"note: {note}")
    click.echo(result.rendered("text"), nl=False)
