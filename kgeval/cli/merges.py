"""`kgeval merges`: the decisions of entity resolution in a built graph: list them, take one back, apply it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, connection_options, open_from_options, visible
from kgeval.cli.models import embedding_options

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.graph.load.built import MergeRow
    from kgeval.llm.embed import Embedder

LEVELS = ("exact", "normalised", "alias", "embedding")


@click.group()
def merges() -> None:
    """Which names `kgeval build` holds to mean one thing, and taking such a decision back.

    A merge that was taken back stays so: no later build repeats it.
    """


def _graph_option(command: F) -> F:
    return click.option("--graph", "name", required=True, help="The built graph's name.")(command)


@merges.command("list")
@_graph_option
@click.option("--level", type=click.Choice(LEVELS), help="Only merges of this level.")
@click.option("--status", type=click.Choice(["applied", "undone"]), help="Only merges in this state.")
@click.option("--name", "wanted", metavar="TEXT", help="Only merges with this text in one of the two names, letter case ignored.")
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True, help="Merges listed; 0 = all.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What goes to stdout.")
@connection_options
def list_(name: str, **given: Any) -> None:
    """List the merges of a graph: id, level, what was merged into what, and why."""
    rows = [row for row in _open(given, lambda graph: _decisions(graph, name)) if _fits(row, given)]
    shown = rows[: given["limit"]] if given["limit"] else rows
    if given["form"] == "json":
        click.echo(json.dumps([_record(row) for row in shown], ensure_ascii=False, indent=2))
        return
    for row in shown:
        score = f" {row.score:.3f}" if row.score is not None else ""
        state = "" if row.status == "applied" else f"  [{row.status}]"
        kind = f" ({row.type})" if row.type else ""
        click.echo(visible(f"{row.id}  {row.level}{score}  {_cut(row.merged)} -> {_cut(row.kept)}{kind}: {row.why}{state}"))
    more = f"; {len(rows) - len(shown)} more with --limit 0" if len(rows) > len(shown) else ""
    click.echo(f"{_number(len(rows))}{more}")


@merges.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_graph_option
@embedding_options
@connection_options
def undo(ids: tuple[str, ...], name: str, **given: Any) -> None:
    """Take merges back: the names become entities of their own at once, and no later build joins them."""
    _decide(ids, name, "undone", given)


@merges.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_graph_option
@embedding_options
@connection_options
def redo(ids: tuple[str, ...], name: str, **given: Any) -> None:
    """Allow merges again that were taken back, and resolve the graph anew."""
    _decide(ids, name, "applied", given)


def _decide(ids: tuple[str, ...], name: str, status: str, given: dict[str, Any]) -> None:
    """Keeps the decision, then resolves the graph again from its stored extractions."""
    from kgeval.text.build.decide import decide

    with ExitStack() as stack:
        graph = stack.enter_context(_connect(given))
        embedder = _embedder(stack, graph, name, given)
        embed, model = (embedder.embed, embedder.name) if embedder else (None, None)
        record = decide(graph, name, list(dict.fromkeys(ids)), status, embed, embedding_model=model)
    what = "taken back" if status == "undone" else "applied again"
    click.echo(f"Graph {name}: {_number(len(set(ids)))} {what}; it has {record.entities:,} entities and {record.relations:,} relations now")


def _embedder(stack: ExitStack, graph: Graph, name: str, given: dict[str, Any]) -> Embedder | None:
    """The embedder, where the graph was resolved with one."""
    from kgeval.cli.build_parts import embedder_of
    from kgeval.config import load
    from kgeval.graph.load.mark import look

    properties = look(graph, name).properties
    if "embedding" not in str(properties.get("resolve", "")):
        return None
    return embedder_of(stack, load(given["config_file"]), {**given, "cache_dir": None}, properties.get("embedding_model"))


def _decisions(graph: Graph, name: str) -> list[MergeRow]:
    from kgeval.text.build.decide import decisions_of

    return decisions_of(graph, name)


def _connect(given: dict[str, Any]) -> Graph:
    from kgeval.config import load

    return open_from_options(load(given["config_file"]), **{key: given[key] for key in ("uri", "username", "database", "home")})


def _open(given: dict[str, Any], work: Callable[[Graph], list[MergeRow]]) -> list[MergeRow]:
    with _connect(given) as graph:
        return work(graph)


def _fits(row: MergeRow, given: dict[str, Any]) -> bool:
    text = (given["wanted"] or "").casefold()
    named = not text or text in row.kept.casefold() or text in row.merged.casefold()
    return named and given["level"] in (None, row.level) and given["status"] in (None, row.status)


def _record(row: MergeRow) -> dict[str, Any]:
    from kgeval.records import Merge

    return Merge(
        id=row.id, kept=row.kept, merged=row.merged, type=row.type, level=row.level, score=row.score, why=row.why, status=row.status,
    ).model_dump()


def _number(merges: int) -> str:
    return f"{merges:,} merge{'' if merges == 1 else 's'}"


def _cut(name: str) -> str:
    return name if len(name) <= 80 else name[:79] + "…"
