"""What can be drawn: how many relations or entities each passage holds. Read once, in memory that grows with the passages only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.auditing.accuracy.sample import OTHERS, SampleSpec
from kgeval.auditing.graph_reader import batched
from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.records import Layout
from kgeval.stats.sampling import keys_of, large_strata, random_number

BATCH = 500
CELL = 0.01  # of all items: what a type in a document holds at least, to be a stratum by itself; of 200 drawn it then has two
QUERIES = {
    "relations": ("relations-by-type", "relations-by-source", "sourced-relations"),
    "entities": ("entities-by-type", "entities-by-source", "sourced-entities"),
}


@dataclass
class Passages:
    """Chunks with text. By number: own id (else element id), element id, document. Found by either id."""

    ids: list[str] = field(default_factory=list)
    element_ids: list[str] = field(default_factory=list)
    documents: list[str | None] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)

    def known(self, keys: Iterable[str]) -> list[int]:
        """The numbers of those keys that are chunks with text, in the order of the chunks' ids, each once."""
        return sorted({self.number[key] for key in keys if key in self.number}, key=lambda at: self.ids[at])


@dataclass
class Population:
    """Items by stratum and home passage. `without_source`: items of which no passage is at hand. `cells`: the strata of types crossed with
    documents, once they are known."""

    passages: Passages
    sizes: Counter[tuple[str, int]]
    without_source: int
    types: list[str] | None
    documents: set[str] | None
    cells: frozenset[str] | None = None

    @property
    def total(self) -> int:
        """Items that can be drawn."""
        return sum(self.sizes.values())


@dataclass(frozen=True)
class PopulationReader:
    """Reads one graph's population and sample. Every relation (entity) has one home: of its passages, one at random by seed.

    `chunks`: passages from files, in place of those in the graph.
    """

    graph: Graph
    layout: Layout
    spec: SampleSpec
    chunks: Chunks | None = None

    def rows(self, query: str, **params: Any) -> Iterator[Row]:
        """The rows of a shipped query."""
        params_of_query = {"layout": self.layout.model_dump(), **params}
        yield from self.graph.stream(all_queries()[query], params_of_query, timeout=self.spec.timeout)

    def passages(self) -> Iterator[Row]:
        """Every chunk that has text: id, element_id, document."""
        if self.chunks:
            yield from ({"id": name, "element_id": name, "document": self.chunks.documents.get(name)} for name in self.chunks.texts)
        elif self.layout.chunk_labels:
            yield from self.rows("passages")

    def texts(self, element_ids: Sequence[str]) -> dict[str, str]:
        """The texts of chunks by element id."""
        if self.chunks:
            return {name: self.chunks.texts[name] for name in element_ids}
        batches = batched(element_ids, BATCH)
        return {row["element_id"]: row["text"] or "" for ids in batches for row in self.rows("passage-texts", ids=ids)}

    def details(self, element_ids: Iterable[str]) -> dict[str, Row]:
        """What people and judge are shown of relations or entities, by element id."""
        query, more = ("relation-details", {}) if self.spec.kind == "relations" else ("entity-details", {"most": 5})
        batches = batched(sorted(set(element_ids)), BATCH)
        return {row["element_id"]: row for ids in batches for row in self.rows(query, ids=ids, **more)}

    def home(self, known: list[int], key: list[str | None]) -> int:
        """The passage through which an item can be drawn: one only, so that no item has more chances than another."""
        return known[0] if len(known) == 1 else known[random_number(self.spec.seed, "home", *keys_of(key)) % len(known)]


def read_passages(reader: PopulationReader) -> Passages:
    """Every chunk that has text."""
    out = Passages()
    for number, row in enumerate(reader.passages()):
        out.ids.append(row["id"])
        out.element_ids.append(row["element_id"])
        out.documents.append(row["document"])
        # setdefault: where two chunks have one id (neo4j-graphrag of old numbered them anew in each run), the first is meant
        out.number.setdefault(row["id"], number)
        out.number.setdefault(row["element_id"], number)
    return out


def read_population(reader: PopulationReader) -> Population:
    """How many items each passage is home to, by stratum."""
    by_type, by_source, several = QUERIES[reader.spec.kind]
    types = None
    crossed = reader.spec.strata == "type-document"
    if crossed or reader.spec.strata == "type":
        counts = {row["type"]: row["count"] for row in reader.rows(by_type) if row["type"]}
        types = sorted(large_strata(counts, share=CELL) if crossed else large_strata(counts))
    passages = read_passages(reader)
    out = Population(passages, Counter(), 0, types, None)

    def count(home: int | None, kind: str | None, n: int) -> None:
        if home is None:
            out.without_source += n
        else:
            out.sizes[stratum_of(out, kind, home), home] += n

    for row in reader.rows(by_source, types=types):
        known = passages.known(row["ids"])
        count(known[0] if known else None, row["type"], row["count"])
    # what has several sources is read one by one, for its home is drawn; what has one is counted by the query before
    for row in reader.rows(several, passages=None):
        known = passages.known(row["ids"])
        count(reader.home(known, row["key"]) if known else None, row["type"], 1)
    if reader.spec.strata == "document":  # what was counted is split by the passages' documents; small ones are drawn together
        documents: Counter[str] = Counter()
        for (_, home), size in out.sizes.items():
            documents[passages.documents[home] or OTHERS] += size
        out.documents = large_strata(documents) - {OTHERS}
        out.sizes = Counter({(stratum_of(out, None, home), home): size for (_, home), size in out.sizes.items()})
    if crossed:
        _cross(out)
    return out


def _cross(population: Population) -> None:
    """Splits what was counted by type by the passages' documents too. A cell that holds less than CELL of all is drawn together with the
    other small ones of its type, and these with all other small ones where they hold less still."""
    cells: Counter[str] = Counter()
    of_type: dict[str, str] = {}
    for (kind, home), size in population.sizes.items():
        name = _cell(kind, population.passages.documents[home])
        cells[name] += size
        of_type[name] = _cell(kind, None)
    large, total = large_strata(cells, share=CELL), cells.total()
    small: Counter[str] = Counter()
    for name in cells.keys() - large:
        small[of_type[name]] += cells[name]
    population.cells = frozenset(large).union(name for name, size in small.items() if size >= CELL * total)
    before, population.sizes = population.sizes, Counter()
    for (kind, home), size in before.items():
        population.sizes[stratum_of(population, kind, home), home] += size


def _cell(kind: str, document: str | None) -> str:
    return f"{kind} x {document or OTHERS}"


def stratum_of(population: Population, kind: str | None, home: int) -> str:
    """The stratum of an item: of its type, its passage's document or both if that is large enough, else of the others."""
    if population.types is not None:
        own = kind if kind in population.types else OTHERS
        if population.cells is None:
            return own
        possible = (_cell(own, population.passages.documents[home]), _cell(own, None))
        return next((name for name in possible if name in population.cells), OTHERS)
    if population.documents is not None:
        document = population.passages.documents[home]
        return document if document in population.documents else OTHERS
    return ""
