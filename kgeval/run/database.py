"""What the database says of a graph: so that a run sees a graph that is gone, or another one than it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgeval.errors import QueryError
from kgeval.graph.queries import all_queries

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph


def graph_state(graph: Graph, name: str) -> str:
    """A fingerprint of a graph: of one that kgeval wrote, its mark and its number of nodes; else the counts of the whole database by label
    and type. "" where kgeval wrote none of this name and the counts cannot be read. Raises: what reading raises."""
    queries = all_queries()
    if name and (mark := graph.read(queries["built-graph"], {"graph": name})):
        return _hashed([mark, graph.read(queries["label-use"], {"label": name})])
    try:
        return _hashed(graph.read(queries["layout-counts"], {}))
    except QueryError:
        return ""


def is_built(graph: Graph, name: str) -> bool:
    """True if kgeval wrote a graph of this name, or began to."""
    return bool(graph.read(all_queries()["built-graph"], {"graph": name}))


def _hashed(rows: Any) -> str:
    """Of rows of plain values; the order of lists in them says nothing."""
    return hashlib.sha256(json.dumps(_sorted(rows), sort_keys=True, default=str).encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _sorted(one) for name, one in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True, default=str))
    return value
