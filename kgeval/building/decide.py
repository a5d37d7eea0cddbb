"""Taking merges back and applying them again: the decision is kept, and the graph is resolved anew from what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.building.resolve import Rules
from kgeval.building.run import BuildSettings, build, stored_rules
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.load import mark as marks
from kgeval.graph.load import sync
from kgeval.graph.load.built import BuildTarget, MergeRow
from kgeval.records import IndexRecord

if TYPE_CHECKING:
    from kgeval.building.similar import Embed


def decisions_of(graph: Graph, name: str) -> list[MergeRow]:
    """The merges of a built graph, applied and undone. Raises: UsageError where there is no such graph."""
    if not marks.look(graph, name).exists:
        raise UsageError(f"there is no built graph {name}", fix="kgeval build makes one")
    return sync.read_decisions(BuildTarget(graph, name))


def decide(
    graph: Graph, name: str, ids: list[str], status: str, embed: Embed | None = None, *, embedding_model: str | None = None
) -> IndexRecord:
    """Sets the merges to `undone` or `applied` and resolves the graph again with the rules that it was resolved with last.

    `embedding_model`: the name of what embeds, kept with the graph.
    Raises: UsageError that names every id that is not there; where the graph is being replaced (its build has to end first).
    """
    known = {row.id for row in decisions_of(graph, name)}
    unknown = [key for key in ids if key not in known]
    if unknown:
        raise UsageError(f"graph {name} has no merge {', '.join(unknown)}", fix=f"kgeval build merges list --graph {name}")
    mark = marks.look(graph, name)
    if mark.status == marks.REPLACING:
        raise UsageError(f"graph {name} is being replaced", fix="run its build to the end first")
    sync.decide(BuildTarget(graph, name), ids, status)
    named = {"embedding_model": embedding_model} if embedding_model else {}
    return build(graph, [], None, BuildSettings(name, rules=stored_rules(mark, Rules(embed=embed)), configuration=named))
