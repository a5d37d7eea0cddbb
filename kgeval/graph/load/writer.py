"""Writes a loaded graph into Neo4j in kgeval's own layout, in batches. Node ids are kept here: relations need no index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kgeval.graph.connect import Graph
from kgeval.graph.load import deletion, naming, state
from kgeval.graph.load.model import Chunk, Document, Entity, Loaded, Relation
from kgeval.graph.load.naming import CHUNK, DOCUMENT, ENTITY
from kgeval.graph.queries import all_queries

Progress = Callable[[str, int, int], None]
BATCH = 10_000
LARGEST_BATCH = 8_000_000  # characters of text in one transaction


@dataclass(frozen=True)
class Options:
    """How to write: rows a transaction, the normal form of names (kgeval.text.names.normalise), and who hears of progress."""

    normalise: Callable[[str], str]
    batch: int = BATCH
    progress: Progress = lambda _stage, _done, _total: None


@dataclass(frozen=True)
class Result:
    """What was written. `already_there`: nodes that an `append` found; `deleted`: nodes that a `replace` removed."""

    unchanged: bool = False
    entities: int = 0
    relations: int = 0
    chunks: int = 0
    documents: int = 0
    already_there: int = 0
    deleted: int = 0
    notes: list[str] = field(default_factory=list)


def write(graph: Graph, loaded: Loaded, target: state.Target, options: Options) -> Result:
    """Writes the graph under the target's name. The same input a second time changes nothing.

    The mark stays 'loading' if this is interrupted, and the next import says so.
    Raises: UsageError where the import may not begin (kgeval.graph.load.state.look), QueryError where the server refuses.
    """
    naming.check_graph_name(target.name)
    found = state.look(graph, target)
    if found.unchanged:
        return Result(unchanged=True)
    state.begin(graph, target, found)
    deleted = _delete(graph, target.name, options) if target.replace and found.exists else 0
    writer = _Writer(graph, loaded, options, target.name, found.others)
    if target.append and found.exists:
        writer.know_existing()
    writer.write_all()
    graph.schema_command(all_queries()["create-name-index"])
    state.finish(graph, target, found, writer.nodes)
    made = writer.made
    return Result(
        False, made[ENTITY], len(loaded.relations), made[CHUNK], made[DOCUMENT], writer.already_there, deleted, writer.notes
    )


def _delete(graph: Graph, name: str, options: Options) -> int:
    """Deletes the graph, and what building one of this name decided."""
    deleted = deletion.delete_graph(graph, name, batch=options.batch, progress=options.progress)
    decided = [row["element_id"] for row in graph.read(all_queries()["built-merges"], {"graph": name})]
    deletion.drop_merges(graph, decided, batch=options.batch)
    return deleted


class _Writer:
    """One import on its way: knows the element id of every node that it wrote or found."""

    def __init__(self, graph: Graph, loaded: Loaded, options: Options, name: str, others: frozenset[str]) -> None:
        self._graph = graph
        self._loaded = loaded
        self._options = options
        self._name = name
        self._labels = naming.type_labels(loaded.entities, {name, *others})
        self._types = naming.relation_types(loaded.relations)
        self._ids: dict[str, dict[str, str]] = {ENTITY: {}, CHUNK: {}, DOCUMENT: {}}
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

    @property
    def nodes(self) -> int:
        """How many nodes the graph has now."""
        return sum(len(ids) for ids in self._ids.values())

    def know_existing(self) -> None:
        """Takes in the nodes of the graph that are there already."""
        for row in self._graph.stream(all_queries()["imported-nodes"], {"graph": self._name}):
            self._ids[row["kind"]][row["id"]] = row["element_id"]
            if row["incomplete"]:
                self._incomplete.add(row["element_id"])

    def write_all(self) -> None:
        """Documents, chunks, entities, their links, relations."""
        loaded = self._loaded
        self._nodes(DOCUMENT, [(document.id, [], document_properties(document), {}) for document in loaded.documents])
        self._nodes(CHUNK, [(chunk.id, [], chunk_properties(chunk), {}) for chunk in loaded.chunks])
        self._nodes(ENTITY, [
            (e.id, [e.type] if e.type in self._labels else [], entity_properties(e, self._options.normalise), e.extra)
            for e in loaded.entities
        ])
        self._link("link-documents", [(self._ids[CHUNK][c.id], self._ids[DOCUMENT][d]) for c in loaded.chunks for d in c.documents])
        self._link("link-next", [(self._ids[CHUNK][a], self._ids[CHUNK][b]) for a, b in loaded.next_chunks])
        self._link("link-mentions", [(self._ids[ENTITY][e.id], self._ids[CHUNK][c]) for e in loaded.entities for c in e.chunks])
        self._relations()

    def _nodes(self, kind: str, rows: list[tuple[str, list[str | None], dict[str, Any], dict[str, Any]]]) -> None:
        """Creates the nodes that are not there, and completes those that were known by name only."""
        known, labels = self._ids[kind], [kind, self._name]
        new = [[at, [*labels, *types], own, more] for at, (key, types, own, more) in enumerate(rows) if key not in known]
        here = [(known[key], types, own, more) for key, types, own, more in rows if key in known]
        for row in self._batches("create-nodes", new, f"{kind.strip('_').lower()} nodes"):
            known[rows[row["at"]][0]] = row["element_id"]
        complete = [[at, types, own, more] for at, types, own, more in here if at in self._incomplete and "dangling" not in own]
        for _ in self._batches("complete-nodes", complete, "completed nodes"):
            pass
        self.made[kind] = len(new)
        self.already_there += len(here)

    def _link(self, query: str, pairs: list[tuple[str, str]]) -> None:
        for _ in self._batches(query, [list(pair) for pair in dict.fromkeys(pairs)], query.replace("-", " ")):
            pass

    def _relations(self) -> None:
        ids = [self._ids[ENTITY][entity.id] for entity in self._loaded.entities]
        rows = [
            [ids[r.source], ids[r.target], self._types.get(r.predicate or "", naming.NO_PREDICATE), relation_properties(r), r.extra]
            for r in self._loaded.relations
        ]
        for _ in self._batches("create-relations", rows, "relations"):
            pass

    def _batches(self, query: str, rows: list[list[Any]], stage: str) -> Iterator[dict[str, Any]]:
        """Sends the rows, a transaction a batch; what comes back, row by row."""
        done = 0
        for part in batches(rows, self._options.batch):
            yield from self._graph.write(all_queries()[query], {"rows": part})
            done += len(part)
            self._options.progress(stage, done, len(rows))


def batches(rows: Iterable[list[Any]], most: int) -> Iterator[list[list[Any]]]:
    """The rows in parts of at most `most` rows and about 8 million characters."""
    part: list[list[Any]] = []
    size = 0
    for row in rows:
        part.append(row)
        size += sum(len(v) for cell in row if isinstance(cell, dict) for v in cell.values() if isinstance(v, str))
        if len(part) >= most or size > LARGEST_BATCH:
            yield part
            part, size = [], 0
    if part:
        yield part


def document_properties(document: Document) -> dict[str, Any]:
    """`{id, title}`; the title is the id where the source has none."""
    return {"id": document.id, "title": document.title or document.id}


def chunk_properties(chunk: Chunk) -> dict[str, Any]:
    """`{id, index, text}`, what is not known left out; `dangling: true` where the source's own list lacks the chunk."""
    own = {"id": chunk.id, "index": chunk.index, "text": chunk.text, "dangling": chunk.dangling or None}
    return {key: value for key, value in own.items() if value is not None}


def entity_properties(entity: Entity, normalise: Callable[[str], str]) -> dict[str, Any]:
    """`{id, name, name_key, type, description, aliases, document_ids, dangling}`, what is not known left out."""
    own = {
        "id": entity.id, "name": entity.name, "name_key": naming.name_key(entity.name, normalise), "type": entity.type,
        "description": entity.description, "aliases": entity.aliases or None, "document_ids": entity.documents or None,
        "dangling": entity.dangling or None,
    }
    return {key: value for key, value in own.items() if value is not None}


def relation_properties(relation: Relation) -> dict[str, Any]:
    """`{predicate, description, weight, chunk_ids}`; without a predicate in the source it is RELATED."""
    own = {
        "predicate": relation.predicate or naming.NO_PREDICATE, "description": relation.description,
        "weight": relation.weight, "chunk_ids": relation.chunks or None,
    }
    return {key: value for key, value in own.items() if value is not None}
