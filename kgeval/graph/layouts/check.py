"""A layout held against a database: what it finds, what it names in vain, how full its properties are."""

from __future__ import annotations

from pydantic import Field

from kgeval.graph.connect import Graph
from kgeval.graph.layouts.bind import bind
from kgeval.graph.layouts.catalogue import Catalogue, catalogue
from kgeval.graph.layouts.nodes import ROLE_KEYS, counted_roles
from kgeval.graph.layouts.proof import GUESSED
from kgeval.graph.queries import all_queries
from kgeval.records import Layout, Record

LABEL_LISTS = ("entity_labels", "chunk_labels", "document_labels")
TYPE_LISTS = ("relation_types", "mention_types", "chunk_document_types")


class PropertyFill(Record):
    """How many of the nodes or relations of a role have a property: `filled` of `total`."""

    role: str
    key: str
    filled: int
    total: int


class LayoutCheck(Record):
    """What a layout finds in a database. `remarks` are what its author should look at."""

    layout: Layout
    roles: dict[str, int]
    fills: list[PropertyFill] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)


def check(graph: Graph, layout: Layout, graph_name: str | None = None) -> LayoutCheck:
    """Holds a layout against the database. Raises: LayoutError where it cannot be bound (see `bind`)."""
    seen = catalogue(graph)
    bound = bind(graph, layout, graph_name, seen=seen)
    roles = counted_roles(graph, bound)
    fills = _fills(graph, layout, bound)
    remarks = [*_vain(layout, seen), *_empty(fills)]
    if roles["unseen"]:
        rows = graph.read(all_queries()["layout-unseen"], {"layout": bound.model_dump(), "sample": 5})
        shown = ", ".join(f"{':'.join(label[:60] for label in row['labels']) or 'no label'} {row['count']:,}" for row in rows)
        remarks.append(f"{roles['unseen']:,} nodes play no role: {shown}")
    missing = [form for form in layout.expected_indexes if form not in seen.index_forms]
    remarks += [f"no index on {form}, which readers of this layout rely on" for form in missing]
    if not bound.relation_types:
        remarks.append("no relation joins two entities")
    return LayoutCheck(layout=bound, roles=roles, fills=fills, remarks=remarks)


def _vain(layout: Layout, seen: Catalogue) -> list[str]:
    """Labels and types that the layout names and the database lacks."""
    data = layout.model_dump()
    remarks = []
    for keys, kind, known in ((LABEL_LISTS, "no node has the label", seen.labels), (TYPE_LISTS, "no relation has the type", seen.types)):
        for key in keys:
            absent = [name for name in data[key] if name != "*" and name not in known and not name.endswith(GUESSED)]
            remarks += [f"{key}: {kind} {' or '.join(absent)}"] if absent else []
    return remarks


def _fills(graph: Graph, layout: Layout, bound: Layout) -> list[PropertyFill]:
    """How full the properties are that the layout names, role by role."""
    data = layout.model_dump()
    entity = [*bound.name_keys, *layout.alias_keys, *(data[key] for key in ROLE_KEYS["entity"])]
    chunk = [*layout.chunk_text_keys, *layout.chunk_id_keys, layout.chunk_index_key, layout.chunk_embedding_key]
    roles = (("entity", bound.entity_labels, entity), ("chunk", bound.chunk_labels, chunk),
             ("document", bound.document_labels, [layout.document_key]))
    fills = []
    for role, labels, keys in roles:
        wanted = list(dict.fromkeys(key for key in keys if key))
        params = {"labels": labels, "keys": wanted, "scope_label": bound.scope_label}
        rows = {r["key"]: r for r in graph.read(all_queries()["layout-fill"], params)} if labels else {}
        fills += [PropertyFill(role=role, key=k, filled=rows[k]["filled"], total=rows[k]["nodes"]) for k in wanted if k in rows]
    wanted = list(dict.fromkeys(data[key] for key in ROLE_KEYS["relation"] if data[key]))
    if wanted and bound.relation_types:
        rows_of_relations = graph.read(all_queries()["layout-relation-fill"], {"types": bound.relation_types, "keys": wanted})
        fills += [PropertyFill(role="relation", key=row["key"], filled=row["filled"], total=row["relations"]) for row in rows_of_relations]
    return fills


def _empty(fills: list[PropertyFill]) -> list[str]:
    """Properties that the layout names and that are nowhere filled, a line a role."""
    roles = dict.fromkeys(fill.role for fill in fills)
    empty = {role: [f.key for f in fills if f.role == role and f.total and not f.filled] for role in roles}
    return [f"no {role} has the property {' or '.join(keys)}" for role, keys in empty.items() if keys]
