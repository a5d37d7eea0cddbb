"""Gathers what a reader finds, joins relations to entities, and counts what did not fit. Nothing is merged silently."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kgeval.graph.load.model import Entity, Loaded, Relation, SourceChunk, SourceDocument
from kgeval.graph.load.values import Misfit, one_a_line

MOST_EXTRA_KEYS = 200


class Gather:
    """Collects one input. `by_name`: relations name their ends by the entity's name (then, failing that, by its id).
    `undirected`: start and end of a relation mean nothing in it. `where_first`: an id that comes again is told with its first place."""

    def __init__(
        self, form: str, inputs: list[Path], *, by_name: bool = False, undirected: bool = False, where_first: bool = True
    ) -> None:
        self.form, self.inputs, self.undirected = form, inputs, undirected
        self.rows = 0
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.entities: dict[str, Entity] = {}
        self.chunks: dict[str, SourceChunk] = {}
        self.documents: dict[str, SourceDocument] = {}
        self._by_name, self._where_first = by_name, where_first
        self._where: dict[tuple[str, str], str] = {}
        self._relations: list[tuple[str, str, Relation]] = []

    @contextmanager
    def row(self, where: str) -> Iterator[None]:
        """One row of the input: a Misfit inside becomes its fault, and the row is passed over."""
        self.rows += 1
        try:
            yield
        except Misfit as misfit:
            self.faults.append(f"{where}: {misfit}")

    def fault(self, where: str, what: str) -> None:
        """A row that could not even be taken apart."""
        self.rows += 1
        self.faults.append(f"{where}: {what}")

    def without_direction(self) -> None:
        """The file says of its edges that they have no direction, as networkx does of a Graph; said, since it is easily overlooked."""
        self.undirected = True
        self.notes.append(
            "the file says that its edges have no direction: start and end of a relation mean nothing (networkx: write a DiGraph)"
        )

    def add_document(self, key: str, title: str | None = None) -> None:
        """A document; known ones only gain a title."""
        document = self.documents.setdefault(key, SourceDocument(key))
        document.title = document.title or title

    def add_chunk(self, chunk: SourceChunk, where: str) -> None:
        """A listed chunk. Raises Misfit where its id was listed before."""
        self._once("chunk", chunk.id, where)
        self.chunks[chunk.id] = chunk

    def add_entity(self, entity: Entity, where: str) -> None:
        """A listed entity. Raises Misfit where its id was listed before."""
        self._once("entity", entity.id, where)
        self.entities[entity.id] = entity

    def add_relation(self, source: str, target: str, relation: Relation) -> None:
        """A relation between two ends, named as `by_name` says. Parallel relations stay apart."""
        self._relations.append((source, target, relation))

    def _once(self, kind: str, key: str, where: str) -> None:
        if (kind, key) in self._where:
            place = f"already given at {self._where[kind, key]}" if self._where_first else "given before"
            raise Misfit(f"the {kind} id {key[:80]!r} was {place}; ids must be unique")
        self._where[kind, key] = where

    def finish(self) -> Loaded:
        """All of it, ends joined, dangling ends made into entities, every named chunk and document present."""
        relations = [relation for _, _, relation in self._relations]
        counts = self._complete_chunks(relations)
        entities = list(self.entities.values())
        described: list[Entity | Relation] = [*entities, *relations]
        for holder in described:
            holder.description = one_a_line(holder.description)
        self._fold_extra("entities", entities)
        self._fold_extra("relations", relations)
        positions = {entity.id: position for position, entity in enumerate(entities)}
        names: dict[str, list[int]] = {}
        for position, entity in enumerate(entities):
            if entity.name is not None:
                names.setdefault(entity.name, []).append(position)
        named = sum(map(len, names.values()))
        shared = sum(len(bearers) for bearers in names.values() if len(bearers) > 1)
        # more than half: a property like `label` or `category` was taken for the name
        if 2 * shared > named > 2:
            self.notes.append(
                f"warning: {shared} of {named} entities have a name that others have too: is that the property that holds their names?"
            )
        counts |= {"same_names": shared, "unnamed": len(entities) - named, "ambiguous_ends": 0}

        places = _Places({name: bearers for name, bearers in names.items() if len(bearers) > 1}, entities) if self._by_name else None

        def find(end: str, chunks: list[str]) -> int:
            """The position of the entity that an end means; a dangling one is made where there is none."""
            bearers = names.get(end, []) if self._by_name else []
            if places is not None and len(bearers) > 1:
                counts["ambiguous_ends"] += 1
                return places.nearest(end, frozenset(chunks))
            if not bearers and end not in positions:
                positions[end] = len(entities)
                entities.append(Entity(end, name=end, dangling=True))
            return bearers[0] if bearers else positions[end]

        for source, target, relation in self._relations:
            relation.source, relation.target = find(source, relation.chunks), find(target, relation.chunks)
        counts["dangling_entities"] = sum(entity.dangling for entity in entities)
        counts["dangling_relations"] = sum(entities[r.source].dangling or entities[r.target].dangling for r in relations)
        return Loaded(
            self.form, list(self.documents.values()), list(self.chunks.values()), _next_chunks(self.chunks.values()),
            entities, relations, counts, self.rows, sorted(self.faults, key=_file_and_line), self.notes, self.inputs, self.undirected,
        )

    def _fold_extra(self, what: str, holders: Sequence[Entity | Relation]) -> None:
        """More than 200 different property names would bloat the database for good: they become one JSON text, `extra`."""
        keys = {key for holder in holders for key in holder.extra}
        if len(keys) > MOST_EXTRA_KEYS:
            self.notes.append(f"{len(keys)} different further properties on {what}: kept as JSON text in the property `extra`")
            for holder in holders:
                holder.extra = {"extra": json.dumps(holder.extra, ensure_ascii=False)} if holder.extra else {}

    def _complete_chunks(self, relations: list[Relation]) -> dict[str, int]:
        """Adds the chunks that entities name but nothing lists (where the source has no list at all, relations' chunks too), and every
        document that is named. `dangling_chunks`: how many chunks a list of the source lacks; nothing where all were there."""
        listed = bool(self.chunks)
        holders = [*self.entities.values(), *(() if listed else relations)]
        unlisted = [key for key in dict.fromkeys(c for holder in holders for c in holder.chunks) if key not in self.chunks]
        self.chunks |= {key: SourceChunk(key, dangling=listed) for key in unlisted}
        for documents in [*(c.documents for c in self.chunks.values()), *(e.documents for e in self.entities.values())]:
            for key in documents:
                self.add_document(key)
        return {"dangling_chunks": len(unlisted) if listed else 0} if unlisted else {}


def _file_and_line(fault: str) -> tuple[str, int]:
    """What faults are sorted by, so that they are listed in the file's order."""
    match = re.match(r"(.*?(?::| row | item ))(\d+)", fault)
    return (match[1], int(match[2])) if match else (fault, 0)


def _next_chunks(chunks: Iterable[SourceChunk]) -> list[tuple[str, str]]:
    """Consecutive chunks of each document, by index. Chunks of unknown order are left out."""
    orders: dict[str, list[tuple[int, str]]] = {}
    for chunk in chunks:
        if chunk.index is not None and chunk.documents:
            orders.setdefault(chunk.documents[0], []).append((chunk.index, chunk.id))
    sorted_keys = ([key for _, key in sorted(order, key=lambda pair: pair[0])] for order in orders.values())
    return [pair for keys in sorted_keys for pair in itertools.pairwise(keys)]


class _Places:
    """Which of several entities with one name is meant in some chunks. Looked up by chunk: a name may have thousands of bearers, and each
    of thousands of relations would be compared with all of them."""

    def __init__(self, bearers: dict[str, list[int]], entities: Sequence[Entity]) -> None:
        """`bearers`: positions in `entities` by name, ascending."""
        self._bearers, self._entities = bearers, entities
        self._in_chunk: dict[str, dict[str, list[int]]] = {}
        self._known: dict[tuple[str, frozenset[str]], int] = {}

    def nearest(self, name: str, chunks: frozenset[str]) -> int:
        """The position of the one that shares most of the chunks; of several as near, the first."""
        positions = self._positions(name)
        held = frozenset(chunk for chunk in chunks if chunk in positions)  # a relation's own chunks say nothing
        if (found := self._known.get((name, held))) is None:
            shared = Counter(position for chunk in held for position in positions[chunk])
            found = min(shared, key=lambda position: (-shared[position], position), default=self._bearers[name][0])
            self._known[name, held] = found
        return found

    def _positions(self, name: str) -> dict[str, list[int]]:
        """Of the bearers of this name, by chunk."""
        if (known := self._in_chunk.get(name)) is None:
            known = self._in_chunk[name] = {}
            for position in self._bearers[name]:
                for chunk in set(self._entities[position].chunks):
                    known.setdefault(chunk, []).append(position)
        return known
