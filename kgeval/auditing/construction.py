"""What building the audited graph took, where `kgeval build` wrote it into the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgeval.auditing.attempts import attempt
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Construction, Layout

BUILD = "build"


def construction(graph: Graph, layout: Layout) -> Construction | None:
    """Time, tokens and cost of all builds of the graph [X table 15]; None where no `kgeval build` of it was finished, or where
    that cannot be read (it stands beside a finished audit, which must not be lost for it)."""
    if layout.name != "kgeval" or not layout.scope_value:
        return None
    return attempt(lambda: _built(graph, str(layout.scope_value))).value


def _built(graph: Graph, name: str) -> Construction | None:
    rows = graph.read(all_queries()["built-graph"], {"graph": name})
    mark: Mapping[str, Any] = rows[0]["mark"] if rows else {}
    if mark.get("format") != BUILD or "seconds" not in mark:
        return None
    model = f" with {mark['model']}" if mark.get("model") else ""
    runs = f", {mark['runs']} runs" if mark.get("runs", 1) > 1 else ""
    return Construction(
        system=f"kgeval build ({mark.get('extractor', 'stored extractions')}{model}{runs})",
        finished=str(mark["finished"]) if mark.get("finished") else None, seconds=mark["seconds"],
        **{key: mark.get(key) for key in ("documents", "chunks", "tokens", "calls", "input_tokens", "output_tokens", "cost")},
    )
