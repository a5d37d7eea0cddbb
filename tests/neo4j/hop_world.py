"""A small drawn graph of people, firms and cities, and path structures read from it by names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgeval.graph.connect import Graph
from kgeval.llm.calls import Outcome, Reply, Task
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.questions.kinds import MakingContext, MakingOptions, RejectedError
from kgeval.records import Layout, Passage, Question, Structure, StructureNode, StructureRelation

T = TypeVar("T", bound=Reply)

WORLD = """
CREATE (ada:Person {name: 'Ada', aliases: ['A. Byron']}), (bo:Person {name: 'Bo'}), (cy:Person {name: 'Cy'}), (di:Person {name: 'Dora'}),
  (acme:Firm {name: 'Acme'}), (brick:Firm {name: 'Brick'}),
  (ulm:City {name: 'Ulm'}), (rom:City {name: 'Rom'}), (land:City {name: 'Norland'}),
  (ada)-[:WORKS_FOR {chunks: ['c1']}]->(acme), (bo)-[:WORKS_FOR {chunks: ['c1']}]->(acme), (cy)-[:WORKS_FOR {chunks: ['c2']}]->(brick),
  (di)-[:FOUNDED {chunks: ['c2']}]->(acme), (di)-[:FOUNDED {chunks: ['c2']}]->(brick), (acme)-[:LOCATED_IN {chunks: ['c3']}]->(ulm),
  (brick)-[:LOCATED_IN {chunks: ['c3']}]->(rom), (ulm)-[:PART_OF {chunks: ['c3']}]->(land), (bo)-[:BORN_IN {chunks: ['c1']}]->(ulm),
  (:Chunk {id: 'c1', text: 'Ada and Bo work for Acme. Bo was born in Ulm.'}),
  (:Chunk {id: 'c2', text: 'Dora founded Acme and Brick, where Cy works.'}),
  (:Chunk {id: 'c3', text: 'Acme is in Ulm, Brick is in Rom. Ulm is a part of Norland.'})
"""
LAYOUT = Layout(
    name="drawn", entity_labels=["Person", "Firm", "City"], name_keys=["name"], alias_keys=["aliases"], type_label_ignored=["Chunk"],
    relation_types=["WORKS_FOR", "FOUNDED", "LOCATED_IN", "PART_OF", "BORN_IN", "KNOWS"], chunk_labels=["Chunk"], chunk_text_keys=["text"],
    chunk_id_keys=["id"], relation_source_key="chunks",
)


def outcome(maker: Callable[[MakingContext], Question], context: MakingContext) -> Question | RejectedError:
    """What a maker makes, or why it makes nothing."""
    try:
        return maker(context)
    except RejectedError as error:
        return error


def layout() -> Layout:
    """The layout as an object of its own, so that nothing that was read of another test's graph is used."""
    return LAYOUT.model_copy()


def path(graph: Graph, *names: str, types: Sequence[str] = (), number: int = 0, seed: int = 1) -> Structure:
    """The path over the entities of these names; `types`: of its relations, where two entities have several."""
    nodes, relations, passages = [], [], dict[str, Passage]()
    for name in names:
        row = graph.read(
            "MATCH (e) WHERE e.name = $name RETURN elementId(e) AS id, labels(e)[0] AS type, e.aliases AS aliases ORDER BY id",
            {"name": name},
        )[0]
        nodes.append(StructureNode(element_id=row["id"], key=name, name=name, type=row["type"], aliases=row["aliases"] or []))
    for at in range(len(names) - 1):
        rows = graph.read(
            "MATCH (a)-[r]-(b) WHERE elementId(a) = $a AND elementId(b) = $b RETURN elementId(r) AS id, type(r) AS type,"
            " r.chunks AS chunks, elementId(startNode(r)) AS source, elementId(endNode(r)) AS target ORDER BY id",
            {"a": nodes[at].element_id, "b": nodes[at + 1].element_id},
        )
        row = next(row for row in rows if not types or row["type"] == types[at])
        relations.append(StructureRelation(
            element_id=row["id"], source=row["source"], target=row["target"], predicate=row["type"], type=row["type"],
            chunk_ids=row["chunks"] or [],
        ))
    for row in graph.read("MATCH (c:Chunk) RETURN c.id AS id, c.text AS text ORDER BY id"):
        if any(row["id"] in relation.chunk_ids for relation in relations):
            passages[row["id"]] = Passage(chunk_id=row["id"], document=f"doc-{row['id']}", text=row["text"])
    return Structure(kind="path", number=number, seed=seed, nodes=nodes, relations=relations, passages=list(passages.values()))


def desk(graph: Graph, structure: Structure, own: Layout | None = None, *, asker: SaysAsker | None = None) -> MakingContext:
    """A desk for the template form, or for a model that is played."""
    options = MakingOptions(seed=3, template=asker is None)
    return MakingContext(structure, options, asker=asker, graph=graph, layout=own or layout())


@dataclass
class SaysAsker:
    """Plays a model that always says the same; keeps what it was asked."""

    question: str
    dry: bool = False
    asked: list[dict[str, object]] = field(default_factory=list)

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def ask(self, task: Task[T]) -> Outcome[T]:
        self.asked.append(dict(task.slots))
        return Outcome(task.id, task.reply.model_validate({"question": self.question}))

    def later(self, call: object) -> None:
        raise AssertionError(call)
