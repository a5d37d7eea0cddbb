"""A first layout file for a user's graph, from what was recognised and counted."""

from __future__ import annotations

from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.bind import bind
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.detect import Detection, detect
from kgeval.graph.layouts.entity_names import FIND, spelled
from kgeval.graph.layouts.nodes import bind_nodes
from kgeval.graph.layouts.profile import load_profile
from kgeval.graph.layouts.write import to_toml
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

MOST_LISTED = 40


def draft(graph: Graph, name: str) -> str:
    """The text of a commented layout file for this database: the layout that fits best, the counts as comments.

    An empty database gives the generic layout.
    """
    seen = catalogue(graph)
    detection = detect(graph, seen=seen)
    best = detection.choice or next((c.name for c in detection.tied), "generic")
    layout = load_profile(best).layout.model_copy(update={"name": name, "description": f"started from {best}"})
    if best == "generic" and seen.nodes:
        layout = _spelled_out(graph, layout, seen)
    return to_toml(layout, _notes(graph, seen, detection, best))


def _spelled_out(graph: Graph, layout: Layout, seen: Catalogue) -> Layout:
    """The generic layout with this database's entity labels written out, and its name properties ordered by use."""
    bound, _ = bind_nodes(graph, layout, None, seen)
    try:
        named = bind(graph, layout, seen=seen)
    except LayoutError:  # no entities: the file is a start all the same
        named = bound
    params = {"labels": bound.entity_labels, "keys": named.name_keys, "scope_label": None}
    fill = {row["key"]: row["filled"] for row in graph.read(all_queries()["layout-fill"], params)}
    names = sorted((key for key in named.name_keys if fill.get(key)), key=lambda key: -fill[key])
    if named.label_names:
        names = [spelled(name) for name in named.label_names if name.keys and not name.is_id] + [FIND]
    labels = bound.entity_labels if len(bound.entity_labels) <= MOST_LISTED else ["*"]
    roles = {role: getattr(bound, role) or getattr(layout, role) for role in ("chunk_labels", "document_labels")}
    return layout.model_copy(update={"entity_labels": labels or ["*"], "name_keys": names or layout.name_keys, **roles})


def _notes(graph: Graph, seen: Catalogue, detection: Detection, best: str) -> list[str]:
    notes = [
        "A layout for kgeval: which labels, types and properties of this graph play which role.",
        f"Started from '{best}' ({detection.reason}). Check it with: kgeval layout check FILE", "",
        f"The database holds {seen.nodes:,} nodes and {seen.relations:,} relations. Labels, with properties of the first nodes:",
    ]
    for label, count in list(seen.labels.items())[:MOST_LISTED]:
        row = graph.read(all_queries()["layout-node-keys"], {"label": label, "sample": 100})[0]
        keys = ", ".join(k["key"][:40] for k in sorted(row["keys"], key=lambda k: (-k["count"], k["key"]))[:12])
        notes.append(_line(f"  {label} {count:,}: {keys}"))
    notes.append("Relation types:")
    notes += [_line(f"  {name} {count:,}") for name, count in list(seen.types.items())[:MOST_LISTED]]
    more = max(len(seen.labels) - MOST_LISTED, 0) + max(len(seen.types) - MOST_LISTED, 0)
    return [*notes, *([f"  and {more} labels and types more"] if more else [])]


def _line(text: str) -> str:
    """One comment line, whatever stands in a label: control characters and line ends are shown, not written."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:200])
