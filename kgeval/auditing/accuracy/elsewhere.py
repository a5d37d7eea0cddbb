"""How the graph speaks elsewhere of what was drawn: what people judge consistency by [M 1]."""

from __future__ import annotations

from collections.abc import Mapping

from kgeval.auditing.accuracy.sample import Sample, SampleSpec
from kgeval.format import first_lines
from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

MOST = 12  # predicates or types a cell
NAMES = 4  # examples a type


def elsewhere(graph: Graph, layout: Layout, sample: Sample, spec: SampleSpec) -> Mapping[str, str]:
    """Item id -> lines for people: the item's own first, then the most frequent. Of relations: the predicates that join two such types,
    with how often. Of entities: the types of the graph with how many of each, and names of the sample as examples. Reads only."""
    params = {"layout": layout.model_dump()}
    if spec.kind == "relations":
        ends = {item.id: (str(item.shown.get("subject_type") or ""), str(item.shown.get("object_type") or "")) for item in sample.items}
        pairs = [list(pair) for pair in sorted(set(ends.values()))]
        lines: dict[tuple[str, str], dict[str, str]] = {}
        for row in graph.stream(all_queries()["relation-patterns"], {**params, "pairs": pairs}, timeout=spec.timeout):
            lines.setdefault((row["source_type"], row["target_type"]), {})[row["type"]] = _counted(row)
        return {item.id: _shown(lines.get(ends[item.id], {}), item.ref.type) for item in sample.items}
    names: dict[str, dict[str, None]] = {}
    for item in sample.items:
        names.setdefault(str(item.shown.get("type") or ""), {}).setdefault(item.ref.name)
    rows = graph.stream(all_queries()["entities-by-type"], params, timeout=spec.timeout)
    types = {row["type"] or "": "; ".join([_counted(row), *list(names.get(row["type"] or "", ()))[:NAMES]]) for row in rows}
    return {item.id: _shown(types, item.ref.type) for item in sample.items}


def _counted(row: Row) -> str:
    return f"{row['type'] or '(no type)'}: {row['count']:,}"


def _shown(lines: Mapping[str, str], own: str | None) -> str:
    """A frequent one and the item's own side by side show what is odd about it, however rare its own is."""
    first = [lines[own or ""]] if (own or "") in lines else []
    return "\n".join(first_lines([*first, *(line for name, line in lines.items() if name != (own or ""))], MOST))
