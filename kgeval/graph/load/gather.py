"""Gathers what a reader finds, joins relations to entities, and counts what did not fit. Nothing is merged silently."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kgeval.graph.load.model import Chunk, Document, Entity, Loaded, Relation
from kgeval.graph.load.values import Misfit, one_a_line

MOST_EXTRA_KEYS = 200


class Gather:
    """Collects one input. `by_name`: relations name their ends by the entity's name (then, failing that, by its id).
    `undirected`: start and end of a relation mean nothing in it."""

    def __init__(self, form: str, *, by_name: bool = False) -> None:
        self.form = form
        self.undirected = False
        self.rows = 0
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.inputs: list[Path] = []
        self.entities: dict[str, Entity] = {}
        self.chunks: dict[str, Chunk] = {}
        self.documents: dict[str, Document] = {}
        self._by_name = by_name
        self._where: dict[tuple[str, str], str] = {}
        self._relations: list[tuple[str, str, Relation]] = []
        self._counts: Counter[str] = Counter()

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
        document = self.documents.setdefault(key, Document(key))
        document.title = document.title or title

    def add_chunk(self, chunk: Chunk, where: str) -> None:
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
        first = self._where.setdefault((kind, key), where)
        if first != where:
            raise Misfit(f"the {kind} id {key[:80]!r} was already given at {first}; ids must be unique")

    def finish(self) -> Loaded:
        """All of it, ends joined, dangling ends made into entities, every named chunk and document present."""
        self._complete_chunks()
        for entity in self.entities.values():
            entity.description = one_a_line(entity.description)
        for _, _, relation in self._relations:
            relation.description = one_a_line(relation.description)
        self._fold_extra("entities", self.entities.values())
        self._fold_extra("relations", [relation for _, _, relation in self._relations])
        names = self._names()
        ends = _Ends(list(self.entities.values()), names if self._by_name else {})
        for source, target, relation in self._relations:
            relation.source = ends.find(source, relation.chunks)
            relation.target = ends.find(target, relation.chunks)
        self._counts["ambiguous_ends"] = ends.ambiguous
        return self._loaded(ends.entities)

    def _fold_extra(self, what: str, holders: Iterable[Entity | Relation]) -> None:
        """More than 200 different property names would bloat the database for good: they become one JSON text, `extra`."""
        keys = {key for holder in holders for key in holder.extra}
        if len(keys) > MOST_EXTRA_KEYS:
            self.notes.append(f"{len(keys)} different further properties on {what}: kept as JSON text in the property `extra`")
            for holder in holders:
                holder.extra = {"extra": json.dumps(holder.extra, ensure_ascii=False)} if holder.extra else {}

    def _names(self) -> dict[str, list[int]]:
        """Where each name stands; counts names that several entities share and entities without one."""
        names: dict[str, list[int]] = {}
        for at, entity in enumerate(self.entities.values()):
            if entity.name is not None:
                names.setdefault(entity.name, []).append(at)
        self._counts["same_names"] = sum(len(found) for found in names.values() if len(found) > 1)
        shared, named = self._counts["same_names"], sum(map(len, names.values()))
        if 2 * shared > named > 2:
            self.notes.append(
                f"warning: {shared} of {named} entities have a name that others have too: is that the property that holds their names?"
            )
        self._counts["unnamed"] = sum(entity.name is None for entity in self.entities.values())
        return names

    def _complete_chunks(self) -> None:
        """Chunks that entities name but nothing lists; where the source has no list at all, relations' chunks too."""
        listed = bool(self.chunks)
        named: dict[str, None] = {c: None for entity in self.entities.values() for c in entity.chunks}
        if not listed:
            named.update({c: None for _, _, relation in self._relations for c in relation.chunks})
        for key in named:
            if key not in self.chunks:
                self.chunks[key] = Chunk(key, dangling=listed)
                self._counts["dangling_chunks"] += listed
        holders = [*(c.documents for c in self.chunks.values()), *(e.documents for e in self.entities.values())]
        for key in itertools.chain.from_iterable(holders):
            self.add_document(key)

    def _loaded(self, entities: list[Entity]) -> Loaded:
        relations = [relation for _, _, relation in self._relations]
        self._counts["dangling_entities"] = sum(entity.dangling for entity in entities)
        self._counts["dangling_relations"] = sum(entities[r.source].dangling or entities[r.target].dangling for r in relations)
        return Loaded(
            self.form, list(self.documents.values()), list(self.chunks.values()), _next_chunks(self.chunks.values()),
            entities, relations, dict(self._counts), self.rows, sorted(self.faults, key=_place), self.notes, self.inputs, self.undirected,
        )


def _place(fault: str) -> tuple[str, int]:
    """File and line of a fault, so that they are listed in the file's order."""
    found = re.match(r"(.*?(?::| row | item ))(\d+)", fault)
    return (found[1], int(found[2])) if found else (fault, 0)


class _Ends:
    """Finds the entity that a relation's end means; makes a dangling one where there is none."""

    def __init__(self, entities: list[Entity], names: dict[str, list[int]]) -> None:
        self.entities = entities
        self.ambiguous = 0
        self._names = names
        self._places = {entity.id: at for at, entity in enumerate(entities)}

    def find(self, key: str, chunks: list[str]) -> int:
        """The position of the entity. Of several with that name: the one sharing most chunks, else the first."""
        found = self._names.get(key, [])
        if len(found) > 1:
            self.ambiguous += 1
            return max(found, key=lambda at: (len(set(chunks).intersection(self.entities[at].chunks)), -at))
        if found:
            return found[0]
        if key not in self._places:
            self._places[key] = len(self.entities)
            self.entities.append(Entity(key, name=key, dangling=True))
        return self._places[key]


def _next_chunks(chunks: Iterable[Chunk]) -> list[tuple[str, str]]:
    """Consecutive chunks of each document, by index. Chunks of unknown order are left out."""
    orders: dict[str, list[tuple[int, str]]] = {}
    for chunk in chunks:
        if chunk.index is not None and chunk.documents:
            orders.setdefault(chunk.documents[0], []).append((chunk.index, chunk.id))
    pairs: list[tuple[str, str]] = []
    for order in orders.values():
        keys = [key for _, key in sorted(order, key=lambda pair: pair[0])]
        pairs += itertools.pairwise(keys)
    return pairs
