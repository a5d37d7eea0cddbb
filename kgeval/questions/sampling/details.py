"""Structures with all that is known of them: names, types, descriptions, and the passages that they come from. A batch of structures
is a few queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from kgeval.auditing.accuracy.drawing import NAMELESS
from kgeval.graph.connect import Row
from kgeval.questions.sampling.around import BATCH, Drawn, Link
from kgeval.records import Passage, Structure, StructureKind, StructureNode, StructureRelation

if TYPE_CHECKING:
    from kgeval.questions.sampling.world import World

MOST_CHUNKS = 50  # of one entity or relation
MOST_PASSAGES = 100  # of one structure


@dataclass(frozen=True)
class _Read:
    """Rows of structure-nodes and structure-relations by element id."""

    nodes: Mapping[str, Row]
    relations: Mapping[str, Row]


def structures(world: World, kind: StructureKind, drawn: Sequence[Drawn]) -> list[Structure]:
    """The structures, in order, all with `number` 0. One whose entity or relation is gone from the graph by now is left out."""
    read = _Read(
        _rows(world, "structure-nodes", (name for one in drawn for name in one.nodes)),
        _rows(world, "structure-relations", (link.relation for one in drawn for link in one.links)),
    )
    found = []
    for one in drawn:
        if all(name in read.nodes for name in one.nodes) and all(link.relation in read.relations for link in one.links):
            nodes = [_node(world, read.nodes[name]) for name in one.nodes]
            relations = [_relation(world, read, link) for link in one.links]
            found.append(Structure(kind=kind, number=0, seed=world.seed, nodes=nodes, relations=relations, stratum=one.stratum))
    return _with_passages(world, found)


def _rows(world: World, query: str, ids: Iterable[str]) -> dict[str, Row]:
    listed = list(dict.fromkeys(ids))
    return {
        row["element_id"]: row
        for start in range(0, len(listed), BATCH) for row in world.ask(query, ids=listed[start : start + BATCH], most=MOST_CHUNKS)
    }


def _node(world: World, row: Row) -> StructureNode:
    name = (row["name"] or "").strip() or NAMELESS
    aliases = dict.fromkeys(text.strip() for text in row["aliases"] if text.strip())
    return StructureNode(
        element_id=row["element_id"], key=row["key"] or name, name=name, type=row["type"], description=_said(row),
        aliases=[text for text in aliases if text != name], degree=_degree(world, row["element_id"]), chunk_ids=row["chunks"],
        documents=world.documents(row["chunks"]),
    )


def _degree(world: World, element_id: str) -> int | None:
    at = world.entities.place.get(element_id)
    return None if at is None else int(world.entities.degrees[at])


def _relation(world: World, read: _Read, link: Link) -> StructureRelation:
    """Without chunks of its own, and where mentions are lists on the entities, it comes from the chunks that both ends name."""
    row = read.relations[link.relation]
    chunks = row["chunks"]
    if not chunks:
        other = set(read.nodes[link.target]["chunks"])
        chunks = [name for name in read.nodes[link.source]["chunks"] if name in other]
    return StructureRelation(
        element_id=link.relation, source=row["source"], target=row["target"], predicate=row["predicate"] or row["type"], type=row["type"],
        description=_said(row), chunk_ids=chunks, documents=world.documents(chunks),
    )


def _said(row: Row) -> str | None:
    return (row["description"] or "").strip() or None


def _with_passages(world: World, found: Sequence[Structure]) -> list[Structure]:
    """The structures with the texts of their chunks, each read once."""
    passages = world.passages
    known = [_chunks(world, structure) for structure in found]
    texts = world.texts(sorted({passages.element_ids[at] for own in known for at in own}))
    return [
        structure.model_copy(update={"passages": [
            Passage(text=texts.get(passages.element_ids[at], ""), chunk_id=passages.ids[at], document=passages.documents[at]) for at in own
        ]})
        for structure, own in zip(found, known, strict=True)
    ]


def _chunks(world: World, structure: Structure) -> list[int]:
    """Numbers of passages: of every relation and entity the first before of any the second; those of relations first."""
    number = world.passages.number
    lists = [*(relation.chunk_ids for relation in structure.relations), *(node.chunk_ids for node in structure.nodes)]
    fair = (name for rank in zip_longest(*lists) for name in rank if name is not None)
    return list(dict.fromkeys(number[name] for name in fair if name in number))[:MOST_PASSAGES]
