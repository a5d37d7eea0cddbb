"""Every place in the graph where a gold entity may stand, at any level: names streamed past the gold index, in flat memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.index import GoldIndex, NameHit
from kgeval.auditing.graph_reader import GraphReader, batched
from kgeval.graph.load.naming import name_key
from kgeval.records import Layout, Level
from kgeval.text.names import normalise

BY_KEY: frozenset[Level] = frozenset(("exact", "normalised"))
OWN_INDEX = "__Entity__.name_key"
NAMES_QUERY, BY_KEY_QUERY = "gold-names", "gold-names-by-key"
BATCH = 5_000


@dataclass
class Candidates:
    """`hits[item]`: element id -> its best hit for that gold entity. `names`: how many graph names were looked at.

    `by_index`: whether they came from an index, not from a scan of the graph.
    """

    hits: list[dict[str, NameHit]]
    names: int = 0
    by_index: bool = False
    queries: set[str] = field(default_factory=set)

    def add(self, element_id: str, hit: NameHit) -> None:
        """Keeps the better one of the hits of an entity."""
        known = self.hits[hit.item].get(element_id)
        if known is None or (hit.rank, -(hit.score or 0)) < (known.rank, -(known.score or 0)):
            self.hits[hit.item][element_id] = hit

    @property
    def element_ids(self) -> set[str]:
        """Every entity of the graph that some gold entity may be."""
        return {element_id for hits in self.hits for element_id in hits}


def find(reader: GraphReader, gold: Gold, levels: Collection[Level], *, fuzzy: float = 90.0) -> Candidates:
    """The candidates at the string levels. Exact and normalised alone are answered by the index of kgeval's own layout;
    otherwise the names of the graph are read once, as a stream (the reader's time limit is that of this one query)."""
    wanted = [level for level in levels if level != "embedding"]
    candidates = Candidates([{} for _ in gold.entities])
    if not wanted or not gold.entities:
        return candidates
    index = GoldIndex(gold, wanted, fuzzy=fuzzy)
    candidates.by_index = has_own_index(reader.layout) and BY_KEY.issuperset(wanted)
    if candidates.by_index:
        keys = {name_key(name, normalise) for spellings in gold.spellings for name in spellings}
        batches = batched(sorted(filter(None, keys)), BATCH)
        rows = (row for keys in batches for row in reader.rows(BY_KEY_QUERY, keys=keys, scope_label=reader.layout.scope_label))
    else:
        rows = reader.stream(NAMES_QUERY)
    candidates.queries.add(BY_KEY_QUERY if candidates.by_index else NAMES_QUERY)
    for row in rows:
        candidates.names += 1
        for hit in index.hits(row["name"], row["aliases"]):
            candidates.add(row["element_id"], hit)
    return candidates


def has_own_index(layout: Layout) -> bool:
    """Whether kgeval wrote the graph: its import keeps an index on normalised names."""
    return OWN_INDEX in layout.expected_indexes and "__Entity__" in layout.entity_labels and layout.scope_label is not None
