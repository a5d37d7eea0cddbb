"""The entities nearest to given texts by embedding: exact, in flat memory, whatever the size of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.auditing.completeness.parts import parts
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder

BLOCK = 2_048


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as it is embedded: element id, name, and the text (name and description)."""

    element_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """An entity near a text; `similarity`: cosine."""

    element_id: str
    name: str
    similarity: float


def entities(graph: Graph, layout: Layout, *, timeout: float | None) -> Iterator[Named]:
    """Every entity of the graph with its text, streamed."""
    for row in graph.stream(all_queries()["fact-entities"], {"layout": layout.model_dump()}, timeout=timeout):
        about = (row["description"] or "").strip()
        yield Named(row["element_id"], row["name"], f"{row['name']}: {about}" if about else row["name"])


def nearest(texts: Sequence[str], among: Iterable[Named], embedder: Embedder, *, k: int) -> list[list[Near]]:
    """For each text the `k` entities of highest cosine, best first; equal ones by name, then element id.

    Entities are embedded block by block (the embedder keeps each vector in its cache on disk, so a second run embeds nothing), and
    only the best so far are kept: memory is that of one block.
    """
    best: list[list[Near]] = [[] for _ in texts]
    import numpy as np

    wanted = embedder.embed(texts)
    for block in parts(among, BLOCK):
        scores = np.round(wanted @ embedder.embed([one.text for one in block]).T, 6)  # the last bits depend on the block
        for at, row in enumerate(scores):
            best[at] = _merged(best[at], row, block, k)
    return best


def _merged(best: list[Near], scores: np.ndarray, block: Sequence[Named], k: int) -> list[Near]:
    """The best k of those so far and of one block."""
    import numpy as np

    floor = best[-1].similarity if len(best) == k else -2.0
    if len(block) > k:
        floor = max(floor, float(np.partition(scores, -k)[-k]))
    places = [int(at) for at in np.flatnonzero(scores >= floor)]
    new = [Near(block[at].element_id, block[at].name, float(scores[at])) for at in places]
    return sorted([*best, *new], key=lambda one: (-one.similarity, one.name, one.element_id))[:k]
