"""Which graph of several in one database: a label (LightRAG's workspace, kgeval's graph name) or a property (group_id)."""

from __future__ import annotations

from kgeval.errors import LayoutError
from kgeval.format import first_of
from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.layouts.catalogue import Catalogue, largest_first
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries
from kgeval.records import Layout


def bound_scope(graph: Graph, layout: Layout, seen: Catalogue, name: str | None) -> tuple[Layout, list[str]]:
    """The layout with its scope set to the graph `name`, or to the only one; and all labels that part graphs here.

    Raises: LayoutError: several graphs and no name, an unknown name, a name where the layout does not part graphs.
    """
    if layout.scope_property is not None:
        return _by_property(graph, layout, seen, name), []
    if layout.scope_label is not None:
        return _by_label(graph, layout, seen, name)
    if name is not None:
        raise LayoutError(
            f"--graph {name}: layout '{layout.name}' does not part graphs: the whole database is one graph",
            fix="leave --graph out, or name what parts them: --set scope_property=KEY or --set scope_label=LABEL",
        )
    return layout, []


def scopes(graph: Graph, layout: Layout, seen: Catalogue) -> dict[str, int]:
    """The graphs that the layout tells apart in this database, with their entities; the largest first."""
    params = {"layout": layout.model_dump()}
    if layout.scope_property is not None:
        rows = graph.read(all_queries()["layout-scope-values"], params) if layout.scope_property in seen.keys else []
        return {row["value"]: row["count"] for row in rows if row["value"] is not None}
    free = layout if layout.entity_labels != ["*"] else layout.model_copy(update={"entity_labels": []})
    asked = [ReadRequest(*bind_query(all_queries()["layout-scope-labels"], {"layout": free.model_dump()}))]
    if "__KgevalGraph__" in seen.labels and layout.name == "kgeval":
        asked.append(ReadRequest(all_queries()["imported-graphs"].text))
    with graph.remembering():
        graph.read_ahead(asked)
        rows, *lists = (graph.read(one.text, one.params) for one in asked)
    known = {row["name"] for names in lists for row in names}
    # of the labels that are no types, those that name graphs: kgeval's own list, else one label of all, else all of them
    labels = {row["label"]: row["count"] for row in rows}
    total = labels.pop(None, 0)
    if listed := {label: count for label, count in labels.items() if label in known}:
        return largest_first(listed)
    everywhere = {label: count for label, count in labels.items() if count == total}
    if len(everywhere) > 1:
        # several labels that all entities carry: LightRAG indexes its key under the workspace's label alone
        indexed = {label for index in seen.indexes for label in index.labels if layout.key_property in index.keys}
        best = sorted(indexed & set(everywhere)) or sorted(everywhere, key=lambda label: (-seen.labels.get(label, 0), label))
        everywhere = {best[0]: total}
    return everywhere or largest_first(labels)


def _by_property(graph: Graph, layout: Layout, seen: Catalogue, name: str | None) -> Layout:
    wanted = name if name is not None else layout.scope_value
    graphs = scopes(graph, layout, seen)
    if not graphs:
        if wanted is not None and layout.entity_labels:  # else there is no entity at all, which bind says
            raise LayoutError(f"--graph {wanted}: no entity has the property {layout.scope_property} that parts the graphs",
                              fix="leave --graph out")
        return layout.model_copy(update={"scope_property": None, "scope_value": None})
    return layout.model_copy(update={"scope_value": _chosen(graphs, wanted, f"property {layout.scope_property}")})


def _by_label(graph: Graph, layout: Layout, seen: Catalogue, name: str | None) -> tuple[Layout, list[str]]:
    """A fixed label is taken as it is; `*` is found. A layout with `*` entities has the scope's label as entity label."""
    wanted = name if name is not None else (None if layout.scope_label == "*" else layout.scope_label)
    graphs = scopes(graph, layout, seen)
    if wanted is not None and wanted in seen.labels and layout.scope_label != "*":
        graphs = {wanted: seen.labels[wanted], **graphs}
    if not graphs:
        if wanted is not None:
            raise LayoutError(f"--graph {wanted}: no graph of layout '{layout.name}' is called so", fix="leave --graph out")
        entities = [] if layout.entity_labels == ["*"] else layout.entity_labels
        return layout.model_copy(update={"scope_label": None, "entity_labels": entities}), []
    label = _chosen(graphs, wanted, "label")
    entities = [label] if layout.entity_labels == ["*"] else layout.entity_labels
    parting = list(graphs) if layout.scope_label == "*" else [label]  # beside a label that was named, the others may be types
    return layout.model_copy(update={"scope_label": label, "scope_value": label, "entity_labels": entities}), parting


def _chosen(graphs: dict[str, int], wanted: str | None, by: str) -> str:
    listed = first_of([f"'{name}' ({count:,} entities)" for name, count in graphs.items()], 20)
    if wanted is None:
        if len(graphs) > 1:
            raise LayoutError(f"the database holds {len(graphs)} graphs (by {by}): {listed}", fix="choose one with --graph NAME")
        return next(iter(graphs))
    if wanted not in graphs:
        raise LayoutError(f"there is no graph '{wanted}' (by {by}); there are: {listed}", fix="choose one of them with --graph NAME")
    return wanted
