"""bridge-only-access: parts of the graph that hang on one entity, found with Tarjan's low points.

A depth-first walk over the simple graph, and a second one where the first did not start in the bulk of a component: from
there, every part that is cut off lies below the entity that it hangs on. Linear in the number of edges.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.steps.projection import simple_graph
from kgeval.graph.algorithms import Adjacency, View
from kgeval.records import Example


@dataclass(frozen=True)
class GatedPart:
    """A part of `size` entities reached only through `gate`. `entry`: its first entity. `single`: over one edge only."""

    gate: int
    entry: int
    size: int
    single: bool


@dataclass(frozen=True)
class DepthFirstWalk:
    """A depth-first walk over one component, in 4 bytes a number. `order`: nodes in the order found; by node its parent, rank,
    low point and subtree size."""

    order: array[int]
    parent: array[int]
    rank: array[int]
    low: array[int]
    size: array[int]


def run(check: CheckRun) -> CheckOutcome:
    """Entities in parts of `min_part` entities or more that hang on one entity, of all entities. One example a part."""
    with simple_graph(check.graph, check.layout, timeout=check.timeout) as view:
        if view is None:
            return CheckOutcome(0, 0)
        parts = hanging_parts(view.adjacency(), int(check.settings["min_part"]))
        return CheckOutcome(sum(part.size for part in parts), view.nodes, _examples(view, parts[: check.sample]))


def hanging_parts(graph: Adjacency, min_part: int) -> list[GatedPart]:
    """The parts of `min_part` entities or more that one entity's removal cuts off from the rest of their component.

    A part is smaller than half of its component. Outermost parts only (none inside another),
    largest first, then by id. Gates and entries are internal ids.
    """
    # memoryviews: reading one number of a numpy array makes an object of numpy's, several times slower
    starts = graph.starts.astype("i" if len(graph.others) < 1 << 31 else "q", copy=False).data
    others = graph.others.astype("i", copy=False).data
    walker = _Walker(starts, others)
    parts: list[GatedPart] = []
    for start in range(len(graph.ids)):
        if not walker.seen(start):
            tree = walker.walk(start)
            # a part is smaller than half of its component
            if len(tree.order) > 2 * min_part:
                parts += _parts(tree if _starts_in_bulk(tree) else walker.walk(_bulk(tree)), min_part)
    ids = graph.ids
    named = [GatedPart(int(ids[part.gate]), int(ids[part.entry]), part.size, part.single) for part in parts]
    return sorted(named, key=lambda part: (-part.size, part.gate, part.entry))


class _Walker:
    """Walks components of one graph; each walk writes over what an earlier one of the same component found."""

    def __init__(self, starts: memoryview[int], others: memoryview[int]) -> None:
        n = len(starts) - 1
        self._starts, self._others = starts, others
        self._parent, self._rank, self._low = array("i", [0]) * n, array("i", [-1]) * n, array("i", [0]) * n
        self._size, self._next = array("i", [0]) * n, array("i" if starts.itemsize == 4 else "q", starts[:-1])

    def seen(self, node: int) -> bool:
        """Whether some walk came by."""
        return self._rank[node] >= 0

    def walk(self, start: int) -> DepthFirstWalk:
        """A depth-first walk from `start` over its component, without recursion: the way back is in `parent`."""
        parent, rank, low, size, following = self._parent, self._rank, self._low, self._size, self._next
        if rank[start] >= 0:
            self._forget(start)
        starts, others = self._starts, self._others
        order, here = array("i", [start]), start
        parent[start], rank[start], low[start], size[start] = start, 0, 0, 1
        while True:
            edge = following[here]
            if edge < starts[here + 1]:
                following[here] = edge + 1
                other = others[edge]
                known = rank[other]
                if known < 0:
                    parent[other] = here
                    rank[other] = low[other] = len(order)
                    size[other] = 1
                    order.append(other)
                    here = other
                elif known < low[here] and other != parent[here]:
                    low[here] = known
                continue
            if here == start:
                return DepthFirstWalk(order, parent, rank, low, size)
            above = parent[here]
            size[above] += size[here]
            low[above] = min(low[above], low[here])
            here = above

    def _forget(self, start: int) -> None:
        """Makes the component of `start` new."""
        stack, self._rank[start] = [start], -1
        while stack:
            here = stack.pop()
            self._next[here] = self._starts[here]
            for other in self._others[self._starts[here] : self._starts[here + 1]]:
                if self._rank[other] >= 0:
                    self._rank[other] = -1
                    stack.append(other)


def _starts_in_bulk(tree: DepthFirstWalk) -> bool:
    """Whether no entity cuts the walk's start off from half of the component: then a walk from the bulk would find the same parts."""
    start, parent, rank, low, size = tree.order[0], tree.parent, tree.rank, tree.low, tree.size
    cut: dict[int, int] = {}  # by entity how many lie below it that only it joins to the start
    for node in tree.order[1:]:
        gate = parent[node]
        if gate != start and low[node] >= rank[gate]:
            cut[gate] = cut.get(gate, 0) + size[node]
    return 2 * (max(cut.values(), default=0) + 1) <= len(tree.order)


def _bulk(tree: DepthFirstWalk) -> int:
    """The lowest entity whose subtree holds more than half: no part smaller than half ever contains it."""
    lowest = tree.order[0]
    for node in tree.order:
        if 2 * tree.size[node] > len(tree.order):
            lowest = node
    return lowest


def _parts(tree: DepthFirstWalk, min_part: int) -> list[GatedPart]:
    """The outermost cut-off subtrees of at least `min_part` entities, but less than half of the component."""
    parts: list[GatedPart] = []
    inside_until = 0
    for node in tree.order[1:]:
        size, gate = tree.size[node], tree.parent[node]
        hangs_on_gate = tree.low[node] >= tree.rank[gate]  # nothing below reaches above it
        if hangs_on_gate and tree.rank[node] >= inside_until and min_part <= size < len(tree.order) / 2:
            parts.append(GatedPart(gate, node, size, single=tree.low[node] > tree.rank[gate]))
            inside_until = tree.rank[node] + size
    return parts


def _examples(view: View, parts: list[GatedPart]) -> list[Example]:
    items = view.entities(sorted({n for part in parts for n in (part.gate, part.entry)}))
    examples = []
    for part in parts:
        if part.gate in items and part.entry in items:
            gate, entry = items[part.gate], items[part.entry]
            where = f"over its one link to {entry.name}" if part.single else f"the first of them {entry.name}"
            why = f"{part.size} entities are reached only through {gate.name}, {where}"
            examples.append(Example(items=[gate, entry], why=why, counts=part.size))
    return examples
