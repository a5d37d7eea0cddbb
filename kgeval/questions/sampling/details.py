"""Structures with all that is known of them: names, types, descriptions, and the passages that they come from. A batch
of structures is a few queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from kgeval.auditing.accuracy.drawing import NAMELESS
from kgeval.graph.connect import Row
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import BATCH, DrawnStructure, GraphLink
from kgeval.records import Passage, Structure, StructureNode, StructureRelation

if TYPE_CHECKING:
    from kgeval.questions.sampling.sampled_graph import SampledGraph

NO_LIMIT = 2**31 - 1


def structures(graph: SampledGraph, wanted: DrawSpec, drawn: Sequence[DrawnStructure]) -> list[Structure]:
    """The structures, in order, all with `number` 0. One whose entity or relation is gone from the graph by now is left
    out."""
    most = NO_LIMIT if wanted.most_passages is None else wanted.most_passages
    ids = {
        "structure-nodes": [name for structure_drawn in drawn for name in structure_drawn.nodes],
        "structure-relations": [link.relation for structure_drawn in drawn for link in structure_drawn.links],
    }
    nodes, relations = graph.graph.side_by_side(lambda query: _rows(graph, query, ids[query], most // 2), ids)
    complete = [
        Structure(
            kind=wanted.kind, number=0, seed=graph.seed, nodes=[_node(graph, nodes[name]) for name in structure_drawn.nodes],
            relations=[_relation(graph, relations[link.relation], link, nodes) for link in structure_drawn.links],
            stratum=structure_drawn.stratum, parts=[list(part) for part in structure_drawn.parts],
        )
        for structure_drawn in drawn
        if all(name in nodes for name in structure_drawn.nodes) and all(link.relation in relations for link in structure_drawn.links)
    ]
    passages = graph.passages
    places = [_passage_numbers(graph, structure, most) for structure in complete]
    texts = graph.texts(sorted({passages.element_ids[passage] for own in places for passage in own}))  # each read once
    return [
        structure.model_copy(update={"passages": [
            Passage(
                text=texts.get(passages.element_ids[passage], ""), chunk_id=passages.ids[passage], document=passages.documents[passage]
            )
            for passage in own
        ]})
        for structure, own in zip(complete, places, strict=True)
    ]


def _rows(graph: SampledGraph, query: str, ids: Iterable[str], most: int) -> dict[str, Row]:
    listed = list(dict.fromkeys(ids))
    return {
        row["element_id"]: row
        for start in range(0, len(listed), BATCH) for row in graph.ask(
            query, ids=listed[start : start + BATCH], most=most,
        )
    }


def _node(graph: SampledGraph, row: Row) -> StructureNode:
    name = (row["name"] or "").strip() or NAMELESS
    aliases = dict.fromkeys(text.strip() for text in row["aliases"] if text.strip())
    known = row["element_id"] in graph.entities.place
    return StructureNode(
        element_id=row["element_id"], key=row["key"] or name, name=name, type=row["type"],
        description=(row["description"] or "").strip() or None, aliases=[text for text in aliases if text != name],
        degree=graph.degree(row["element_id"]) if known else None, chunk_ids=row["chunks"],
        documents=graph.documents(row["chunks"]),
    )


def _relation(graph: SampledGraph, row: Row, link: GraphLink, nodes: Mapping[str, Row]) -> StructureRelation:
    """Without chunks of its own, and where mentions are lists on the entities, it comes from the chunks that both ends
    name."""
    chunks = row["chunks"]
    if not chunks:
        other = set(nodes[link.target]["chunks"])
        chunks = [name for name in nodes[link.source]["chunks"] if name in other]
    return StructureRelation(
        element_id=link.relation, source=row["source"], target=row["target"], predicate=row["predicate"] or row["type"],
        type=row["type"], description=(row["description"] or "").strip() or None, chunk_ids=chunks,
        documents=graph.documents(chunks),
    )


def _passage_numbers(graph: SampledGraph, structure: Structure, most: int) -> list[int]:
    """Of every relation and entity the first passage before of any the second; those of relations first."""
    number = graph.passages.number
    lists = [*(relation.chunk_ids for relation in structure.relations), *(node.chunk_ids for node in structure.nodes)]
    fair = (name for rank in zip_longest(*lists) for name in rank if name is not None)
    return list(dict.fromkeys(number[name] for name in fair if name in number))[:most]
