"""Writes a loaded graph into Neo4j in kgeval's own layout, in batches, and deletes what carries its name. Node ids are kept here:
relations need no index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgeval.graph.connect import Graph
from kgeval.graph.load import naming, state
from kgeval.graph.load.model import Entity, Loaded, known
from kgeval.graph.load.naming import CHUNK, DOCUMENT, ENTITY
from kgeval.graph.queries import all_queries

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
BATCH = 10_000
LARGEST_BATCH = 8_000_000  # characters of text in one transaction
NODES_A_DELETION = 2_000


@dataclass(frozen=True)
class WriteOptions:
    """How to write: rows a transaction, the normal form of names (kgeval.text.names.normalise), and who hears of progress."""

    normalise: Callable[[str], str]
    batch: int = BATCH
    progress: Progress = lambda _stage, _done, _total: None


@dataclass(frozen=True)
class WrittenGraph:
    """What was written. `already_there`: nodes that an `append` found; `deleted`: nodes that a `replace` removed."""

    unchanged: bool = False
    entities: int = 0
    relations: int = 0
    chunks: int = 0
    documents: int = 0
    already_there: int = 0
    deleted: int = 0
    notes: list[str] = field(default_factory=list)


def write(graph: Graph, loaded: Loaded, target: state.ImportTarget, options: WriteOptions) -> WrittenGraph:
    """Writes the graph under the target's name. The same input a second time changes nothing.

    The mark stays 'loading' if this is interrupted, and the next import says so.
    Raises: UsageError where the import may not begin (kgeval.graph.load.state.look), QueryError where the server refuses.
    """
    naming.check_graph_name(target.name)
    before = state.look(graph, target)
    if before.unchanged:
        return WrittenGraph(unchanged=True)
    state.begin(graph, target, before)
    deleted = 0
    if target.replace and before.exists:  # with what building a graph of this name decided
        deleted = delete_graph(graph, target.name, batch=options.batch, progress=options.progress)
        drop_merges(graph, target.name, batch=options.batch)
    writer = _Writer(graph, loaded, options, target.name, before.others)
    if target.append and before.exists:
        writer.know_existing()
    writer.write_all()
    graph.schema_command(all_queries()["create-name-index"])
    state.finish(graph, target, before, sum(map(len, writer.ids.values())))
    created = writer.made
    return WrittenGraph(
        False, created[ENTITY], len(loaded.relations), created[CHUNK], created[DOCUMENT], writer.already_there, deleted, writer.notes
    )


def delete_nodes(graph: Graph, name: str, ids: list[str], *, batch: int) -> int:
    """Deletes nodes of the graph by element id. Returns the number of nodes.

    Their relations go first, at most `batch` at a time: a super-node with all of its own does not fit into one transaction.
    """
    queries = all_queries()
    while graph.write(queries["delete-relations"], {"graph": name, "ids": ids, "most": batch})[0]["deleted"]:
        pass
    return int(graph.write(queries["delete-nodes"], {"graph": name, "ids": ids})[0]["deleted"])


def delete_graph(graph: Graph, name: str, *, batch: int, progress: Progress) -> int:
    """Deletes all nodes of the graph; merges stay. Returns the number of nodes."""
    ids = [row["element_id"] for row in graph.stream(all_queries()["imported-nodes"], {"graph": name})]
    deleted = 0
    for start in range(0, len(ids), NODES_A_DELETION):
        part = ids[start:start + NODES_A_DELETION]
        deleted += delete_nodes(graph, name, part, batch=batch)
        progress("deleting the old graph", start + len(part), len(ids))
    return deleted


def drop_merges(graph: Graph, name: str, *, but: str | None = None, batch: int) -> None:
    """Deletes the merges of a graph, `but` those of that status."""
    rows = graph.read(all_queries()["built-merges"], {"graph": name})
    for part in batches([row["element_id"] for row in rows if row["status"] != but], batch, lambda _: (1, 0)):
        graph.write(all_queries()["drop-merges"], {"ids": part})


class _Writer:
    """One import on its way: knows the element id of every node that it wrote or found."""

    def __init__(self, graph: Graph, loaded: Loaded, options: WriteOptions, name: str, others: frozenset[str]) -> None:
        self._graph = graph
        self._loaded = loaded
        self._options = options
        self._name = name
        self._labels = naming.type_labels(loaded.entities, {name, *others})
        self._types = naming.relation_types(loaded.relations)
        self.ids: dict[str, dict[str, str]] = {ENTITY: {}, CHUNK: {}, DOCUMENT: {}}
        self._incomplete: set[str] = set()
        self.made = {ENTITY: 0, CHUNK: 0, DOCUMENT: 0}
        self.already_there = 0
        self.notes = self._notes()

    def _notes(self) -> list[str]:
        types = {entity.type for entity in self._loaded.entities if entity.type}
        notes = []
        if len(types) > naming.MOST_TYPES and not self._labels:
            notes.append(f"{len(types)} distinct types: kept in the property `type`, not as labels")
        elif types - self._labels:
            left = ", ".join(sorted(t[:40] for t in types - self._labels)[:5])
            notes.append(f"types kept in the property `type` only, their labels are taken: {left}")
        if len(self._types) > naming.MOST_TYPES and set(self._types.values()) == {naming.NO_PREDICATE}:
            notes.append(f"{len(self._types)} distinct predicates: all relations are of type RELATED, `predicate` holds the words")
        return notes

    def know_existing(self) -> None:
        """Takes in the nodes of the graph that are there already."""
        for row in self._graph.stream(all_queries()["imported-nodes"], {"graph": self._name}):
            self.ids[row["kind"]][row["id"]] = row["element_id"]
            if row["incomplete"]:
                self._incomplete.add(row["element_id"])

    def write_all(self) -> None:
        """Documents, chunks, entities, their links, relations."""
        loaded, ids = self._loaded, self.ids
        self._nodes(DOCUMENT, [(document.id, [], document.properties, {}) for document in loaded.documents])
        self._nodes(CHUNK, [(chunk.id, [], chunk.properties, {}) for chunk in loaded.chunks])
        self._nodes(ENTITY, [
            (e.id, [e.type] if e.type in self._labels else [], entity_properties(e, self._options.normalise), e.extra)
            for e in loaded.entities
        ])
        self._link("link-documents", [(ids[CHUNK][c.id], ids[DOCUMENT][d]) for c in loaded.chunks for d in c.documents])
        self._link("link-next", [(ids[CHUNK][a], ids[CHUNK][b]) for a, b in loaded.next_chunks])
        self._link("link-mentions", [(ids[ENTITY][e.id], ids[CHUNK][c]) for e in loaded.entities for c in e.chunks])
        ends = [ids[ENTITY][entity.id] for entity in loaded.entities]
        self._send("create-relations", [
            [ends[r.source], ends[r.target], self._types.get(r.predicate or "", naming.NO_PREDICATE), r.properties, r.extra]
            for r in loaded.relations
        ], "relations")

    def _nodes(self, kind: str, rows: list[tuple[str, list[str | None], dict[str, Any], dict[str, Any]]]) -> None:
        """Creates the nodes that are not there, and completes those that were known by name only."""
        there, labels = self.ids[kind], [kind, self._name]
        new = [[index, [*labels, *types], own, more] for index, (key, types, own, more) in enumerate(rows) if key not in there]
        here = [[there[key], types, own, more] for key, types, own, more in rows if key in there]

        def learn(row: dict[str, Any]) -> None:
            there[rows[row["at"]][0]] = row["element_id"]

        self._send("create-nodes", new, f"{kind.strip('_').lower()} nodes", learn)
        incomplete = [row for row in here if row[0] in self._incomplete and "dangling" not in row[2]]
        self._send("complete-nodes", incomplete, "completed nodes")
        self.made[kind] = len(new)
        self.already_there += len(here)

    def _link(self, query: str, pairs: list[tuple[str, str]]) -> None:
        self._send(query, [list(pair) for pair in dict.fromkeys(pairs)], query.replace("-", " "))

    def _send(
        self, query: str, rows: list[list[Any]], stage: str, answer: Callable[[dict[str, Any]], object] = lambda _row: None
    ) -> None:
        """Sends the rows, a transaction a batch. `answer` gets what comes back row by row: a list of all would be as large as the graph."""
        done = 0
        for part in batches(rows, self._options.batch):
            for row in self._graph.write(all_queries()[query], {"rows": part}):
                answer(row)
            done += len(part)
            self._options.progress(stage, done, len(rows))


def characters(row: Iterable[Any]) -> tuple[int, int]:
    """A row for `batches`: one row, and the characters of the texts in its maps."""
    return 1, sum(len(v) for cell in row if isinstance(cell, dict) for v in cell.values() if isinstance(v, str))


def batches(items: Iterable[T], most: int, measure: Callable[[Any], tuple[int, int]] = characters) -> Iterator[list[T]]:
    """The items in parts of at most `most` rows and about 8 million characters. `measure`: rows and characters of an item; one that is
    larger than a part goes with those before it."""
    part: list[T] = []
    rows = size = 0
    for item in items:
        part.append(item)
        more, longer = measure(item)
        rows, size = rows + more, size + longer
        if rows >= most or size > LARGEST_BATCH:
            yield part
            part, rows, size = [], 0, 0
    if part:
        yield part


def entity_properties(entity: Entity, normalise: Callable[[str], str]) -> dict[str, Any]:
    """`{id, name, name_key, type, description, aliases, document_ids, dangling}`, what is not known left out."""
    return known({
        "id": entity.id, "name": entity.name, "name_key": naming.name_key(entity.name, normalise), "type": entity.type,
        "description": entity.description, "aliases": entity.aliases or None, "document_ids": entity.documents or None,
        "dangling": entity.dangling or None,
    })
