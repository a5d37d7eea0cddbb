"""What a database holds: labels and relation types with counts, property keys, indexes. From the count store if possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgeval.errors import QueryError
from kgeval.format import first_of
from kgeval.graph.connect import Graph, Row
from kgeval.graph.failures import ConnectionLost, QueryEnded, QueryTimeout
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries

MOST_PAIRS = 2_000_000  # labels x types that the count store is asked for (about 2 s); above, reading the graph is faster
Ends = dict[tuple[str, str], int]  # (relation type, label of the end) -> relations
PAIR_LABELS = ("KgevalPair", "KgevalPairEntity", "KgevalPairRelation")  # of texts that kgeval writes to be looked at
KNOWN_LABELS = (
    "__Entity__", "__Chunk__", "__Node__", "Entity", "EntityType", "Chunk", "Document", "DocumentChunk", "Episodic", "Message",
    *PAIR_LABELS,
)


@dataclass(frozen=True)
class Index:
    """An index: its type as Neo4j names it (RANGE, VECTOR, FULLTEXT ...), labels or relation types, properties."""

    name: str
    type: str
    labels: tuple[str, ...]
    keys: tuple[str, ...]

    def forms(self) -> set[str]:
        """As layouts write it: `Label.key`, or `vector:Label.key` and `fulltext:Label.key`."""
        kind = f"{self.type.lower()}:" if self.type in ("VECTOR", "FULLTEXT") else ""
        return {f"{kind}{label}.{key}" for label in self.labels for key in self.keys}


@dataclass(frozen=True)
class Catalogue:
    """What a database holds. `starts` and `ends` count relations by (type, label of the end); they cover every label if
    `source` is the count store, and KNOWN_LABELS if the graph had to be read. Labels and types with no member are left out."""

    nodes: int
    relations: int
    labels: dict[str, int]
    types: dict[str, int]
    starts: Ends
    ends: Ends
    keys: frozenset[str]
    indexes: tuple[Index, ...]
    source: Literal["count store", "scan"]

    @property
    def index_forms(self) -> set[str]:
        """Every index as layouts write it (`Index.forms`), and with `*` in place of its label or type."""
        forms = {form for index in self.indexes for form in index.forms()}
        return forms | {"*." + form.rpartition(".")[2] for form in forms}

    def describe(self, most: int = 8) -> str:
        """One line for people: how much there is, and the most frequent labels and types."""
        return f"{self.nodes:,} nodes ({_top(self.labels, most)}), {self.relations:,} relations ({_top(self.types, most)})"


def catalogue(graph: Graph) -> Catalogue:
    """What the database holds, without reading a node where the server lets us ask its count store."""
    with graph.remembering():
        look_ahead(graph)
        return _catalogue(graph)


def look_ahead(graph: Graph) -> None:
    """Asks ahead what `catalogue` begins with."""
    graph.read_ahead([ReadRequest(all_queries()[name].text) for name in ("layout-tokens", "layout-indexes", "layout-token-counts")])


def _catalogue(graph: Graph) -> Catalogue:
    tokens = graph.read(all_queries()["layout-tokens"])[0]
    rows = graph.read(all_queries()["layout-indexes"])
    indexes = tuple(Index(r["name"], r["type"], tuple(r["labels"] or ()), tuple(r["keys"] or ())) for r in rows)
    labels: dict[str, int] = {}
    types: dict[str, int] = {}
    starts: Ends = {}
    ends: Ends = {}
    source: Literal["count store", "scan"] = "scan"
    counts = read_stored_counts(graph)
    if counts is not None:
        _count(counts, labels, types, starts, ends)
        source = "count store"
    else:
        _scan(graph, labels, types, starts, ends)
    return Catalogue(
        tokens["nodes"], tokens["relations"], largest_first(labels), largest_first(types), starts, ends, frozenset(tokens["keys"]), indexes,
        source,
    )


def read_stored_counts(graph: Graph) -> Row | None:
    """The row of `layout-counts`; None where the server does not give it away, or where it takes longer than reading the graph."""
    try:
        ever = graph.read(all_queries()["layout-token-counts"])[0]  # counts labels and types that are no longer used, too
        if ever["labels"] * ever["types"] <= MOST_PAIRS:
            return graph.read(all_queries()["layout-counts"])[0]
    except (QueryEnded, QueryTimeout, ConnectionLost):  # who ends the cheap query does not want the dear one
        raise
    except QueryError:  # Aura and servers with narrow rights keep the procedure for themselves
        pass
    return None


def _count(counts: Row, labels: dict[str, int], types: dict[str, int], starts: Ends, ends: Ends) -> None:
    """Fills the tables from what the count store has."""
    labels.update((n["label"], n["count"]) for n in counts["nodes"] if n.get("label") is not None and n["count"])
    for row in counts["relations"]:
        name = row.get("relationshipType")
        if name is None or not row["count"]:
            continue
        if "startLabel" in row:
            starts[name, row["startLabel"]] = row["count"]
        elif "endLabel" in row:
            ends[name, row["endLabel"]] = row["count"]
        else:
            types[name] = row["count"]


def _scan(graph: Graph, labels: dict[str, int], types: dict[str, int], starts: Ends, ends: Ends) -> None:
    """Fills the tables by reading every node and relation."""
    labels.update((row["label"], row["count"]) for row in graph.read(all_queries()["layout-scan-labels"]))
    for row in graph.read(all_queries()["layout-scan-types"], {"labels": list(KNOWN_LABELS)}):
        name, count = row["type"], row["count"]
        types[name] = types.get(name, 0) + count
        for table, side in ((starts, row["starts"]), (ends, row["ends"])):
            for label in side:
                table[name, label] = table.get((name, label), 0) + count


def largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts in order, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _top(counts: dict[str, int], most: int) -> str:
    return first_of([f"{name[:60]} {count:,}" for name, count in counts.items()], most) or "none"
