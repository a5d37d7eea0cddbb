"""Pieces of a graph that questions are made from, and what a check said of a question."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Record
from kgeval.records.graph import GraphRef
from kgeval.records.texts import Passage

StructureKind = Literal[
    "node", "edge", "neighbourhood", "path", "chain", "subgraph", "pair", "community", "chains", "disjoint", "hierarchy", "dependency",
]
Stratum = Literal["type", "degree", "document", "community"]


class StructureNode(Record):
    """An entity of a structure. `degree`: its relations in the whole graph. `chunk_ids`, `documents`: where it is mentioned."""

    element_id: str
    key: str
    name: str
    type: str | None = None
    description: str | None = None
    aliases: list[str] = Field(default_factory=list)
    degree: int | None = None
    chunk_ids: list[str] = Field(default_factory=list)
    documents: list[str] = Field(default_factory=list)

    @property
    def ref(self) -> GraphRef:
        """The entity as other records name it."""
        return GraphRef(element_id=self.element_id, key=self.key, name=self.name, type=self.type)


class StructureRelation(Record):
    """A relation of a structure. `source`, `target`: element ids of its ends, in its own direction. `predicate`: what it says, as the
    layout has it; `type`: its type in Neo4j. `chunk_ids`, `documents`: where it is said."""

    element_id: str
    source: str
    target: str
    predicate: str
    type: str | None = None
    description: str | None = None
    chunk_ids: list[str] = Field(default_factory=list)
    documents: list[str] = Field(default_factory=list)


class Structure(Record):
    """One piece of a graph, drawn by a seed. `number`: which draw of its sample, from 0.

    `nodes`: in the order of the walk or path (node: one; edge: source, target; pair: the two). `relations`: in that order too, each
    once by element id. `passages`: the chunks that the nodes and relations come from, each once, with `chunk_id` and `document`.
    `stratum`: the stratum that it was drawn for ("type=PERSON"). `parts`: of structures of several parts the relations of each, by element
    id: chains: each chain; disjoint: each subgraph; hierarchy, dependency: each step, from the lowest, or from the first cause, on.
    """

    kind: StructureKind
    number: int
    seed: int
    nodes: list[StructureNode]
    relations: list[StructureRelation] = Field(default_factory=list)
    passages: list[Passage] = Field(default_factory=list)
    stratum: str | None = None
    parts: list[list[str]] = Field(default_factory=list)

    def node(self, element_id: str) -> StructureNode:
        """The node with this element id. Raises: KeyError."""
        for node in self.nodes:
            if node.element_id == element_id:
                return node
        raise KeyError(element_id)

    def text_of(self, relation: StructureRelation) -> str:
        """The relation in words: `North Light: sails to: Velmouth`, by the names of its ends."""
        return f"{self.node(relation.source).name}: {relation.predicate}: {self.node(relation.target).name}"

    def ref_of(self, relation: StructureRelation) -> GraphRef:
        """The relation as other records name it."""
        source, target = self.node(relation.source), self.node(relation.target)
        return GraphRef(
            element_id=relation.element_id, key=f"{source.key}|{relation.predicate}|{target.key}",
            name=f"{source.name} -[{relation.predicate}]-> {target.name}", type=relation.type, kind="relation",
        )

    @property
    def refs(self) -> list[GraphRef]:
        """Everything that it is made of: nodes, then relations."""
        return [*(node.ref for node in self.nodes), *(self.ref_of(relation) for relation in self.relations)]


class QuestionCheck(Record):
    """What one check said of a question. `passed` null: it could not be decided; `reason` says why.

    `name`: evidence_from_text, answer_from_evidence, answerable (from its evidence), closed_book (passed: not answerable without it),
    unique (in the graph: its Cypher or path leads to one answer), unique_wording (by its words, as a model reads them),
    not_in_one_passage, leak (passed: the question does not say its answer), duplicate (passed: no near twin), no_shortcut, absent (of a
    negative question: nothing in the graph answers it), and what kinds of questions check besides.
    """

    name: str
    passed: bool | None
    reason: str = ""
