"""Small components out of a partition: what cypher/audit/small-component.cypher does where the plugin is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kgeval.graph.algorithms import Partition, Small
from kgeval.records import GraphRef

if TYPE_CHECKING:
    from kgeval.graph.algorithms import Integers

Lookup = Callable[[Sequence[int]], dict[int, GraphRef]]


def small_components(found: Partition, lookup: Lookup, *, max_size: int, giant_share: float, sample: int) -> Small:
    """As View.small_components. `lookup`: names and types by internal id; asked for the members of small components only."""
    import numpy as np

    ids, sizes = np.unique(found.groups, return_counts=True)
    total, giant = int((sizes > 1).sum()), int(sizes.max())
    hits = ids[(sizes > 1) & (sizes <= max_size)]
    if giant <= max_size or giant < giant_share * len(found.nodes) or not len(hits):
        return Small(0, total, [])
    return Small(len(hits), total, _examples(_members(found, hits), lookup)[:sample])


def _members(found: Partition, hits: Integers) -> list[list[int]]:
    """The nodes of each of these groups."""
    import numpy as np

    inside = np.isin(found.groups, hits)
    groups, nodes = found.groups[inside], found.nodes[inside]
    order = groups.argsort(kind="stable")
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    return [part.tolist() for part in np.split(nodes[order], cuts)]


def _examples(groups: list[list[int]], lookup: Lookup) -> list[dict[str, Any]]:
    """Largest first, then by the first name; members by name."""
    items = lookup([node for group in groups for node in group])
    shown = [sorted((items[n] for n in group if n in items), key=lambda item: (item.name, item.element_id)) for group in groups]
    shown = sorted((group for group in shown if group), key=lambda group: (-len(group), group[0].name, group[0].element_id))
    return [{"items": [item.model_dump() for item in group], "why": f"{len(group)} entities, cut off from the rest"} for group in shown]
