"""What the database proves of a question's gold path: its answer is the only one, and no shorter way joins its ends.

The path is found again by names, never by element ids alone: those die when a graph is rebuilt, and may then be another
entity's. """

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kgeval.questions.checking.check_table import QuestionCheckOutcome, decided, is_negative, is_open, not_applicable
from kgeval.questions.gold_triples import relation_parts
from kgeval.records import Question, Structure, StructureNode, StructureRelation
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.proof import PathProof
    from kgeval.records import Layout

BATCH = 1_000
SHOWN = 5


@dataclass(frozen=True)
class PathChecks:
    """What was proved of one question's path. `unique` None: nothing could be proved of it."""

    unique: QuestionCheckOutcome | None
    no_shortcut: QuestionCheckOutcome


def path_checks(
    questions: Iterable[Question], graph: Graph, layout: Layout, *, timeout: float | None = None,
) -> dict[str, PathChecks]:
    """The checks of each question with a gold path that is a chain, by the question's id. In batches: a few queries for
    a thousand.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    from kgeval.questions.graph_facts import facts_of
    from kgeval.questions.proof import prove

    checks: dict[str, PathChecks] = {}
    chains = ((question, chain) for question in questions if (chain := chain_of(question)) is not None)
    while part := list(islice(chains, BATCH)):
        called = facts_of(graph, layout).entities(
            node.name for _, chain in part for node in (chain.nodes[0], chain.nodes[-1])
        )
        placed = [(question, here) for question, chain in part if (here := _placed(chain, called)) is not None]
        proofs = prove(graph, layout, [chain for _, chain in placed], timeout=timeout)
        for (question, chain), proof in zip(placed, proofs, strict=True):
            checks[question.id] = PathChecks(_unique(question, chain, proof), _no_shortcut(chain, proof))
        for question, _ in part:
            checks.setdefault(
                question.id, PathChecks(None, not_applicable("no_shortcut", "an end of its path is not in this graph")),
            )
    return checks


def chain_of(question: Question) -> Structure | None:
    """The gold path as a path structure; None where it is no chain: relations in order, each joined to the next."""
    path = question.path
    if path is None or not path.relations or len(path.nodes) != len(path.relations) + 1 or is_negative(question):
        return None
    nodes = [StructureNode(element_id=node.element_id or f"node {n}", key=node.key, name=node.name) for n, node in enumerate(path.nodes)]
    relations = []
    for n, ref in enumerate(path.relations):
        if (parts := relation_parts(ref)) is None:
            return None
        ends, here = (identity_key(parts[0]), identity_key(parts[2])), (identity_key(nodes[n].name), identity_key(nodes[n + 1].name))
        if ends not in (here, here[::-1]):
            return None
        source, target = (nodes[n], nodes[n + 1]) if ends == here else (nodes[n + 1], nodes[n])
        relations.append(StructureRelation(
            element_id=ref.element_id or f"relation {n}", source=source.element_id, target=target.element_id,
            predicate=parts[1],
            type=ref.type,
        ))
    return Structure(kind="path", number=0, seed=0, nodes=nodes, relations=relations)


def _placed(chain: Structure, called: Mapping[str, Sequence[str]]) -> Structure | None:
    """The chain with the element ids that its ends have in this graph; None where one of them is not there."""
    new: dict[str, str] = {}
    for node in (chain.nodes[0], chain.nodes[-1]):
        ids = called.get(identity_key(node.name), ())
        if not ids:
            return None
        new[node.element_id] = node.element_id if node.element_id in ids else ids[0]
    return chain.model_copy(update={
        "nodes": [
            node.model_copy(update={"element_id": new.get(node.element_id, node.element_id)}) for node in chain.nodes
        ],
        "relations": [
            r.model_copy(update={"source": new.get(r.source, r.source), "target": new.get(r.target, r.target)}) for r in chain.relations
        ],
    })


def _unique(question: Question, chain: Structure, proof: PathProof) -> QuestionCheckOutcome | None:
    if is_open(question):
        return None
    if not proof.followed:
        return QuestionCheckOutcome("unique", "unscored", "too many ways lead along its path to follow them all", "graph_error")
    if not proof.ends:
        return decided("unique", False, "its path is not in this graph")
    names = list(dict.fromkeys(proof.ends.values()))
    right = {identity_key(text) for text in (*question.right_answers, chain.nodes[-1].name)}
    wrong = [name for name in names if identity_key(name) not in right]
    if wrong:
        listed = "; ".join(name[:60] for name in names[:SHOWN]) + ("; ..." if len(names) > SHOWN else "")
        many = f"{len(names):,} answers: " if len(names) > 1 else ""
        return decided("unique", False, f"its path leads to {many}{listed}")
    return decided("unique", True, "proved by its path in this graph")


def _no_shortcut(chain: Structure, proof: PathProof) -> QuestionCheckOutcome:
    hops = len(chain.relations)
    if hops < 2:
        return not_applicable("no_shortcut", "the path has one hop")
    if not proof.followed:
        return QuestionCheckOutcome(
            "no_shortcut", "unscored", "too many ways lead along its path to follow them all", "graph_error",
        )
    if proof.shortcut is None:
        return decided("no_shortcut", True)
    return decided("no_shortcut", False, f"{proof.shortcut} of {hops} hops are enough to join its ends")
