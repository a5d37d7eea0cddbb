"""`kgeval build merges`: the decisions of entity resolution in a built graph: list them, take one back, apply it again."""

from __future__ import annotations

import json
from typing import Any, Literal

import click

from kgeval.cli.common import visible
from kgeval.cli.derive import CommandGroup, flags_of, options_from
from kgeval.cli.options import connection_options, embedding_options, named_graph, session_from
from kgeval.cli.show import form_option
from kgeval.config import MergesOptions

graph_option = named_graph("The built graph's name.")


@click.group(cls=CommandGroup)
def merges() -> None:
    """Which names `kgeval build` holds to mean one thing, and taking such a decision back.

    A merge that was taken back stays so: no later build repeats it.
    """


@merges.command("list")
@graph_option
@flags_of(MergesOptions)
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True, help="Only the first N merges; 0 = all.")
@form_option()
@connection_options
def list_(limit: int, **options: Any) -> None:
    """List the merges of a graph: id, level, what was merged into what, and why."""
    from kgeval.workflows.merges import listed

    with session_from("build merges list", options, outputs=()) as session:
        all_merges = listed(session, options_from(MergesOptions, options))
    shown = all_merges[:limit] if limit else all_merges
    if options["form"] == "json":
        click.echo(json.dumps([merge.model_dump() for merge in shown], ensure_ascii=False, indent=2))
        return
    for merge in shown:
        score = f" {merge.score:.3f}" if merge.score is not None else ""
        state = "" if merge.status == "applied" else f"  [{merge.status}]"
        kind = f" ({merge.type})" if merge.type else ""
        click.echo(visible(f"{merge.id}  {merge.level}{score}  {_cut(merge.merged)} -> {_cut(merge.kept)}{kind}: {merge.why}{state}"))
    more = f"; {len(all_merges) - len(shown)} more with --limit 0" if len(all_merges) > len(shown) else ""
    click.echo(f"{_number(len(all_merges))}{more}")


@merges.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@graph_option
@connection_options
@embedding_options
def undo(ids: tuple[str, ...], **options: Any) -> None:
    """Take merges back: the names become entities of their own at once, and no later build joins them."""
    _decide("build merges undo", ids, "undone", options)


@merges.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@graph_option
@connection_options
@embedding_options
def redo(ids: tuple[str, ...], **options: Any) -> None:
    """Allow merges again that were taken back, and resolve the graph anew."""
    _decide("build merges redo", ids, "applied", options)


def _decide(command: str, ids: tuple[str, ...], status: Literal["undone", "applied"], options: dict[str, Any]) -> None:
    from kgeval.workflows.merges import decide

    with session_from(command, options, outputs=()) as session:
        record = decide(session, ids, status).report
    what = f"{_number(len(set(ids)))} {'taken back' if status == 'undone' else 'applied again'}"
    click.echo(f"Graph {record.graph}: {what}; it has {record.entities:,} entities and {record.relations:,} relations now")


def _number(count: int) -> str:
    return f"{count:,} merge{'' if count == 1 else 's'}"


def _cut(name: str) -> str:
    return name if len(name) <= 80 else name[:79] + "…"
