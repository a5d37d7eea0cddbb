"""Every place in the graph where a gold entity may stand, at any level: names streamed past the gold index, in flat memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.index import GoldIndex, Hit
from kgeval.auditing.completeness.parts import parts
from kgeval.graph.connect import Graph, Row
from kgeval.graph.load.naming import name_key
from kgeval.graph.queries import all_queries
from kgeval.records import Layout, Level
from kgeval.text.names import normalise

BY_KEY: frozenset[Level] = frozenset(("exact", "normalised"))
OWN_INDEX = "__Entity__.name_key"
BATCH = 5_000


@dataclass
class Candidates:
    """`hits[item]`: element id -> its best hit for that gold entity. `names`: how many graph names were looked at.

    `by_index`: whether they came from an index, not from a scan of the graph.
    """

    hits: list[dict[str, Hit]]
    names: int = 0
    by_index: bool = False
    queries: set[str] = field(default_factory=set)

    def add(self, element_id: str, hit: Hit) -> None:
        """Keeps the better one of the hits of an entity."""
        known = self.hits[hit.item].get(element_id)
        if known is None or (hit.rank, -(hit.score or 0)) < (known.rank, -(known.score or 0)):
            self.hits[hit.item][element_id] = hit

    @property
    def element_ids(self) -> set[str]:
        """Every entity of the graph that some gold entity may be."""
        return {element_id for hits in self.hits for element_id in hits}


def find(
    graph: Graph, layout: Layout, gold: Gold, levels: Collection[Level], *, fuzzy: float = 90.0, timeout: float = 3600.0,
) -> Candidates:
    """The candidates at the string levels. Exact and normalised alone are answered by the index of kgeval's own layout;
    otherwise the names of the graph are read once, as a stream. `timeout`: seconds of that one query."""
    wanted = [level for level in levels if level != "embedding"]
    found = Candidates([{} for _ in gold.entities])
    if not wanted or not gold.entities:
        return found
    index = GoldIndex(gold, wanted, fuzzy=fuzzy)
    found.by_index = has_own_index(layout) and BY_KEY.issuperset(wanted)
    found.queries.add("gold-names-by-key" if found.by_index else "gold-names")
    rows = _by_key(graph, layout, gold, timeout) if found.by_index else stream_names(graph, layout, timeout=timeout)
    for row in rows:
        found.names += 1
        for hit in index.hits(row["name"], row["aliases"]):
            found.add(row["element_id"], hit)
    return found


def has_own_index(layout: Layout) -> bool:
    """Whether kgeval wrote the graph: its import keeps an index on normalised names."""
    return OWN_INDEX in layout.expected_indexes and "__Entity__" in layout.entity_labels and layout.scope_label is not None


def stream_names(graph: Graph, layout: Layout, *, timeout: float) -> Iterator[Row]:
    """Element id, name and aliases of every entity with a name, one by one."""
    yield from graph.stream(all_queries()["gold-names"], {"layout": layout.model_dump()}, timeout=timeout)


def _by_key(graph: Graph, layout: Layout, gold: Gold, timeout: float) -> Iterator[Row]:
    names: Sequence[str] = sorted({name for spellings in gold.spellings for name in spellings})
    keys = sorted({key for key in (name_key(name, normalise) for name in names) if key})
    for part in parts(keys, BATCH):
        params = {"keys": part, "scope_label": layout.scope_label}
        yield from graph.read(all_queries()["gold-names-by-key"], params, timeout=timeout)
