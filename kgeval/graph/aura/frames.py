"""Flat arrays out of the frames that a session's client gives, and what is looked up in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgeval.errors import QueryError
from kgeval.graph.algorithms import Adjacency, Partition

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from kgeval.graph.algorithms import Integers


def whole(frame: pd.DataFrame, column: str) -> Integers:
    """A column of whole numbers (a degree may come as 3.0).

    Raises: QueryError if the client no longer calls it so: its version is another than the one that was read.
    """
    if column not in frame.columns:
        raise QueryError(
            f"the session's client gave {', '.join(map(str, frame.columns))} and no {column}",
            fix="use the version of graphdatascience that kgeval names in its requirements",
        )
    found: Integers = frame[column].to_numpy(dtype="int64")
    return found


def partition(frame: pd.DataFrame, column: str) -> Partition:
    """The nodes and their groups, nodes ascending, so that groups can be looked up."""
    nodes, groups = whole(frame, "nodeId"), whole(frame, column)
    order = nodes.argsort()
    return Partition(nodes[order], groups[order])


def histogram(values: Integers) -> dict[int, int]:
    """How often each value comes."""
    import numpy as np

    found, often = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), often.tolist(), strict=True))


def groups_of(found: Partition, nodes: Integers) -> Integers:
    """The group of each of the nodes, all of which must be in the partition (ascending)."""
    import numpy as np

    groups: Integers = found.groups[np.searchsorted(found.nodes, nodes)]
    return groups


def known(found: Partition, nodes: Integers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of the nodes are in the partition."""
    import numpy as np

    return np.isin(nodes, found.nodes)


def edges(frame: pd.DataFrame) -> Integers:
    """The edges, each once, the lesser id first, shape (n, 2). The frame has an undirected edge twice."""
    import numpy as np

    source, target = whole(frame, "sourceNodeId"), whole(frame, "targetNodeId")
    once = source < target
    return np.column_stack((source[once], target[once]))


def adjacency(found: Integers) -> Adjacency:
    """The neighbours of every node that has an edge."""
    import numpy as np

    both = np.concatenate((found, found[:, ::-1]))
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    ids, sizes = np.unique(both[:, 0], return_counts=True)
    return Adjacency(ids, np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes))), np.searchsorted(ids, both[:, 1]))


def shuffled(found: Integers, seed: int) -> tuple[Integers, Integers]:
    """The edges in another order, and their nodes in the order in which they come: as cypher/project/shuffled-graph does it."""
    import numpy as np

    first, second = 7919 * seed + 12345, 104729 * seed + 54321
    rank = (found[:, 0] * first + found[:, 1] * second) % 2147483647
    again = found[np.lexsort((found[:, 1], found[:, 0], rank))]
    flat = again.ravel()
    _, at = np.unique(flat, return_index=True)
    return again, flat[np.sort(at)]
