"""bridge-only-access: parts of the graph that hang on one entity, found with Tarjan's low points.

Two depth-first walks over the simple graph. The first finds where the bulk of each component is; the second starts
there, so that every part that is cut off lies below the entity that it hangs on. Linear in the number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.audit.check import Check, Outcome
from kgeval.audit.steps.projection import simple_graph
from kgeval.graph.queries import all_queries
from kgeval.records import Example, GraphRef

Neighbours = dict[int, list[int]]


@dataclass(frozen=True)
class Part:
    """A part of `size` entities reached only through `gate`. `entry`: its first entity. `single`: over one edge only."""

    gate: int
    entry: int
    size: int
    single: bool


@dataclass(frozen=True)
class Walk:
    """A depth-first walk: entities in the order found; by entity its parent, rank, low point and subtree size."""

    order: list[int]
    parent: dict[int, int]
    rank: dict[int, int]
    low: dict[int, int]
    size: dict[int, int]


def run(check: Check) -> Outcome:
    """Entities in parts of `min_part` entities or more that hang on one entity, of all entities. One example a part."""
    with simple_graph(check) as view:
        if view is None:
            return Outcome(0, 0)
        rows = check.graph.stream(check.query, check.params(graph_name=view.name), timeout=check.timeout)
        neighbours: Neighbours = {row["id"]: row["neighbours"] for row in rows}
        parts = hanging_parts(neighbours, int(check.settings["min_part"]))
        return Outcome(sum(part.size for part in parts), view.nodes, _examples(check, parts[: check.sample]))


def hanging_parts(neighbours: Neighbours, min_part: int) -> list[Part]:
    """The parts of `min_part` entities or more that one entity's removal cuts off from the rest of their component.

    A part is smaller than half of its component. Outermost parts only (none inside another),
    largest first, then by id.
    """
    seen: set[int] = set()
    parts: list[Part] = []
    for start in sorted(neighbours):
        if start not in seen:
            first = walk(neighbours, start)
            seen.update(first.order)
            if len(first.order) > 2 * min_part:
                parts += _parts(walk(neighbours, _bulk(first)), min_part)
    return sorted(parts, key=lambda part: (-part.size, part.gate, part.entry))


def walk(neighbours: Neighbours, start: int) -> Walk:
    """A depth-first walk from `start` over its component, without recursion."""
    order, parent, rank, low = [start], {start: start}, {start: 0}, {start: 0}
    stack = [(start, iter(neighbours[start]))]
    while stack:
        here, others = stack[-1]
        for other in others:
            if other not in rank:
                parent[other], rank[other], low[other] = here, len(order), len(order)
                order.append(other)
                stack.append((other, iter(neighbours[other])))
                break
            if other != parent[here] and rank[other] < low[here]:
                low[here] = rank[other]
        else:
            stack.pop()
            above = parent[here]
            low[above] = min(low[above], low[here])
    return Walk(order, parent, rank, low, _subtree_sizes(order, parent))


def _subtree_sizes(order: list[int], parent: dict[int, int]) -> dict[int, int]:
    size = dict.fromkeys(order, 1)
    for node in reversed(order[1:]):
        size[parent[node]] += size[node]
    return size


def _cut_off(tree: Walk, node: int) -> bool:
    """Whether the subtree of `node` hangs on its parent alone."""
    return tree.low[node] >= tree.rank[tree.parent[node]]


def _bulk(tree: Walk) -> int:
    """The lowest entity whose subtree holds more than half: no part smaller than half ever contains it."""
    return [node for node in tree.order if 2 * tree.size[node] > len(tree.order)][-1]


def _parts(tree: Walk, min_part: int) -> list[Part]:
    """The outermost cut-off subtrees of at least `min_part` entities, but less than half of the component."""
    parts: list[Part] = []
    inside_until = 0
    for node in tree.order[1:]:
        size, gate = tree.size[node], tree.parent[node]
        if tree.rank[node] < inside_until or not min_part <= size < len(tree.order) / 2 or not _cut_off(tree, node):
            continue
        parts.append(Part(gate, node, size, single=tree.low[node] > tree.rank[gate]))
        inside_until = tree.rank[node] + size
    return parts


def _examples(check: Check, parts: list[Part]) -> list[Example]:
    ids = sorted({n for part in parts for n in (part.gate, part.entry)})
    query = all_queries()["projected-entities"]
    rows = check.graph.read(query, {"layout": check.layout.model_dump(), "ids": ids}, timeout=check.timeout)
    items = {row["id"]: GraphRef.model_validate(row["item"]) for row in rows}
    return [
        Example(items=[items[part.gate], items[part.entry]], why=_why(part, items))
        for part in parts if part.gate in items and part.entry in items
    ]


def _why(part: Part, items: dict[int, GraphRef]) -> str:
    entry = items[part.entry].name
    where = f"over its one link to {entry}" if part.single else f"the first of them {entry}"
    return f"{part.size} entities are reached only through {items[part.gate].name}, {where}"
