"""`kgeval build`: makes a graph from documents in Neo4j, or brings it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.audit_group import CommandWithMore, OwnArgument
from kgeval.cli.common import say
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.merges import merges
from kgeval.cli.options import connection_options, embedding_options, model_flags, new_graph, session_from
from kgeval.cli.show import form_option, show_plan
from kgeval.config import BuildOptions


@click.group(cls=CommandWithMore, invoke_without_command=True)
@click.argument("docs", nargs=-1, metavar="[DOCS]...", cls=OwnArgument, type=click.Path(path_type=Path, allow_dash=True))
@new_graph
@flags_of(BuildOptions)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the index record to this JSON file.")
@form_option()
@model_flags("extractor")
@connection_options
@embedding_options
def build(docs: tuple[Path, ...], **options: Any) -> int:
    """Build a knowledge graph from documents, with provenance, or bring it up to date.

    DOCS are files or folders: text, Markdown, PDF, Word, JSONL of documents; `-` is stdin. Given again, an unchanged document
    costs nothing, and a changed one replaces only what came from it. An interrupted build goes on with the same command.
    """
    from kgeval.tables.output import write_text
    from kgeval.workflows import build as workflow

    output = options["output"]
    outputs = () if output is None else (output,)
    with session_from("build", options, outputs=outputs, docs=[str(path) for path in docs]) as session:
        chosen = options_from(BuildOptions, options, session.config.build)
        if session.dry:
            return show_plan(workflow.plan(session, docs, chosen))
        result = workflow.run(session, docs, chosen)
    if output is not None:
        write_text(output, result.rendered("json"))
    if options["form"] == "text":
        for note in result.report.notes:
            say(f"note: {note}")
    click.echo(result.rendered(options["form"]), nl=False)
    if output is not None and options["form"] == "text":
        say(f"written: {output}")
    return result.exit_code


build.add_command(merges)
