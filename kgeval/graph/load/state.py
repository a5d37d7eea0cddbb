"""The mark of an imported graph, `(:__KgevalGraph__ {name, status, fingerprints ...})`: what may be written under a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.errors import IncompleteError, UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.load.mark import BUILD, BUILD_KEYS
from kgeval.graph.queries import all_queries


@dataclass(frozen=True)
class ImportTarget:
    """Where an import goes: the graph's name, what may be done with what is there, and what the import is. `undirected`: its
    relations have no direction."""

    name: str
    fingerprint: str
    format: str
    source: str
    version: str
    replace: bool = False
    append: bool = False
    undirected: bool = False


@dataclass(frozen=True)
class ImportState:
    """What is there under the name. `others` are the names of the other imported graphs."""

    status: str
    fingerprints: tuple[str, ...]
    others: frozenset[str]
    unchanged: bool = False

    @property
    def exists(self) -> bool:
        """True where nodes of this graph may be there."""
        return self.status != "new"


def look(graph: Graph, target: ImportTarget) -> ImportState:
    """What is there.

    Raises: UsageError where the import may not begin: the label belongs to somebody else's nodes, other input is there,
    an import was interrupted, or the graph was changed since.
    """
    queries = all_queries()
    marks = {row["name"]: row for row in graph.read(queries["imported-graphs"])}
    mark = marks.pop(target.name, None)
    nodes = graph.read(queries["label-use"], {"label": target.name})[0]["nodes"]
    others = frozenset(marks)
    if mark is None:
        if nodes:
            raise UsageError(f"--graph {target.name}: {nodes} nodes that no import wrote have this label", fix="choose another name")
        return ImportState("new", (), others)
    same = target.fingerprint in mark["fingerprints"] and mark["status"] == "ready"
    if mark["format"] == BUILD and not target.replace:
        raise UsageError(
            f"graph {target.name}: was built from documents by kgeval build",
            fix="choose another name; or --replace, which deletes this graph's nodes and loads the files",
        )
    state = ImportState(mark["status"] or "loading", tuple(mark["fingerprints"]), others, unchanged=same and not target.replace)
    if not target.replace:
        _check(target, mark, nodes, same)
    return state


def _check(target: ImportTarget, mark: dict[str, object], nodes: int, same: bool) -> None:
    again = "--replace deletes this graph's nodes and loads it anew"
    if mark["status"] != "ready":
        raise UsageError(
            f"graph {target.name}: an import of {mark['source']} began {mark['started']} and never ended (or still runs)", fix=again
        )
    if same and nodes != mark["nodes"]:
        raise UsageError(f"graph {target.name}: {mark['nodes']} nodes were imported, now there are {nodes}: it was changed", fix=again)
    if not same and not target.append:
        raise UsageError(
            f"graph {target.name}: holds another input ({mark['source']}, {mark['format']})",
            fix=f"{again}; --append adds to it; or choose another name",
        )


def begin(graph: Graph, target: ImportTarget, state: ImportState) -> None:
    """Sets the mark `loading`. Raises: UsageError where another import took it in the meantime."""
    queries = all_queries()
    graph.schema_command(queries["create-graph-constraint"])
    about: dict[str, Any] = {"source": target.source, "format": target.format, "kgeval": target.version}
    about |= dict.fromkeys(BUILD_KEYS) if target.replace else {}
    about |= {} if target.append and state.exists else {"fingerprints": [], "undirected": False}
    about |= {"undirected": True} if target.undirected else {}
    row = graph.write(queries["begin-import"], {"name": target.name, "from": [state.status], "about": about})[0]
    if not row["begun"]:
        raise UsageError(f"graph {target.name}: another import has just begun", fix="wait for its end")


def finish(graph: Graph, target: ImportTarget, state: ImportState, expected: int) -> None:
    """Sets the mark `ready`, with the fingerprint and the number of nodes.

    Raises: IncompleteError where the number of nodes is not the expected one (another program wrote or deleted some).
    """
    queries = all_queries()
    nodes = graph.read(queries["label-use"], {"label": target.name})[0]["nodes"]
    if nodes != expected:
        raise IncompleteError(f"graph {target.name}: {nodes} nodes are there, {expected} were written", fix="run again with --replace")
    before = [] if target.replace else [f for f in state.fingerprints if f != target.fingerprint]
    graph.write(queries["finish-import"], {"name": target.name, "fingerprints": [*before, target.fingerprint], "nodes": nodes})
