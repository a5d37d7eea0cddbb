"""Whether the steps of a gold chain are in the stored graph: by element id, by the ends' names and the type, or by the names in a step.

This tells about the graph, not about the answer: a step that the graph lacks is one that no system could have found in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kgeval.graph.connect import Row
from kgeval.llm.calls import Failure
from kgeval.metrics.facts import ItemVerdicts, JudgedItem
from kgeval.metrics.stored.candidates import StoredGraph, from_graph
from kgeval.metrics.stored.joins import (
    Arrow,
    RelationsAmong,
    arrow,
    by_names,
    is_node_id,
    is_relation_id,
    relation_text,
    relations_among,
    same_kind,
)
from kgeval.records import GraphRef, Question
from kgeval.text.names import normalise


@dataclass(frozen=True)
class StepQuery:
    """What a step asks of the graph. `ref`: the gold relation. `ends`: entities of either end, as element ids. `kind`: type or
    predicate. `loose`: a step in prose; any relation between two of `ends` will do."""

    text: str
    ref: GraphRef | None = None
    arrow: Arrow | None = None
    ends: tuple[tuple[str, ...], ...] = ()
    loose: bool = False

    @property
    def kind(self) -> str | None:
        """The type or predicate that the relation must have; None: any."""
        return (self.ref.type if self.ref else None) or (self.arrow.kind if self.arrow else None)


def step_texts(question: Question) -> tuple[str, ...]:
    """The steps of the gold chain in words: `steps`, else the path's."""
    texts = question.steps or (question.path.text if question.path else [])
    return tuple(text for text in texts if text.strip())


def step_relations(question: Question) -> tuple[GraphRef | None, ...]:
    """The gold relation of each step, where the path has as many relations as there are steps."""
    steps = step_texts(question)
    relations = question.path.relations if question.path else []
    return tuple(relations) if len(relations) == len(steps) else (None,) * len(steps)


def step_kinds(question: Question) -> tuple[str | None, ...]:
    """The relation type of each step: of its gold relation, or as the step writes it (A -[TYPE]-> B)."""
    kinds = []
    for text, ref in zip(step_texts(question), step_relations(question), strict=True):
        written = arrow(ref.name if ref else text) or arrow(text)
        kinds.append((ref.type if ref else None) or (written.kind if written else None))
    return tuple(kinds)


def steps_in_graph(question: Question, store: StoredGraph) -> ItemVerdicts:
    """The fact "steps@graph": supported where the graph holds the step, else not_stated; with what was found as the reason.

    Raises: ConnectionLost.
    """
    def read() -> ItemVerdicts:
        wanted = _wanted(question, store)
        ids = [ref.element_id for step in wanted if (ref := step.ref) and ref.element_id and is_relation_id(ref.element_id)]
        by_id = {row["element_id"]: row for row in store.ask("relations-by-id", ids=ids)} if ids else {}
        relations = relations_among((element_id for step in wanted for end in step.ends for element_id in end), store)
        return ItemVerdicts(tuple(_item(number, step, by_id, relations) for number, step in enumerate(wanted, start=1)))

    verdicts = from_graph(read)
    return ItemVerdicts(failure=verdicts) if isinstance(verdicts, Failure) else verdicts


def _item(number: int, step: StepQuery, by_id: dict[str, Row], relations: RelationsAmong) -> JudgedItem:
    known = by_id.get(step.ref.element_id or "") if step.ref else None
    if known is not None and same_kind(known, step.kind) and _same_ends(known, step):
        return JudgedItem(number, step.text, "supported", reason=f"by element id: {relation_text(known)}")
    if step.loose:
        rows = [row for row in relations.rows if {row["start"], row["end"]} <= {element_id for end in step.ends for element_id in end}]
        if rows:
            return JudgedItem(number, step.text, "supported", reason=f"two things that it names are joined: {relation_text(rows[0])}")
        return JudgedItem(number, step.text, "not_stated", reason="no relation joins two things that it names")
    if len(step.ends) < 2 or not all(step.ends):
        return JudgedItem(number, step.text, "not_stated", reason="the graph does not know both ends")
    rows = relations.between(*step.ends[:2])
    right = [row for row in rows if same_kind(row, step.kind)]
    if right:
        return JudgedItem(number, step.text, "supported", reason=f"by its ends: {relation_text(right[0])}")
    why = f"joined otherwise: {relation_text(rows[0])}" if rows else "its ends are not joined"
    return JudgedItem(number, step.text, "not_stated", reason=why)


def _same_ends(row: Row, step: StepQuery) -> bool:
    """Whether the relation with the gold element id joins what the gold one joins: ids are given out anew when a graph is rebuilt."""
    if step.arrow is None:
        return True
    names = {normalise(row["subject"] or ""), normalise(row["object"] or "")}
    return names == {normalise(step.arrow.start), normalise(step.arrow.end)}


def _wanted(question: Question, store: StoredGraph) -> list[StepQuery]:
    """Each step with the entities of its ends, looked up together."""
    texts, refs = step_texts(question), step_relations(question)
    arrows = [arrow(ref.name if ref else text) for text, ref in zip(texts, refs, strict=True)]
    # the nodes before and after each relation, where the path has one node more than relations
    nodes = question.path.nodes if question.path and any(refs) else []
    ends: list[tuple[GraphRef, GraphRef] | None] = [*pairwise(nodes)] if len(nodes) == len(texts) + 1 else [None] * len(texts)
    names = [name for written in arrows if written for name in (written.start, written.end)]
    names += [name for pair in ends if pair for ref in pair for name in (ref.name, ref.key)]
    known = by_names(names, store)
    prose = [text for text, ref, written in zip(texts, refs, arrows, strict=True) if ref is None and written is None]
    named = dict(zip(prose, store.names.in_texts(prose, timeout=store.settings.query_timeout), strict=True)) if prose else {}
    queries = []
    for text, ref, written, pair in zip(texts, refs, arrows, ends, strict=True):
        if ref is None and written is None:
            loose = tuple((thing.element_id,) for thing in named[text] if not thing.within)
            queries.append(StepQuery(text, ends=loose, loose=True))
        else:
            queries.append(StepQuery(text, ref, written, _ends(written, pair, known)))
    return queries


def _ends(written: Arrow | None, pair: tuple[GraphRef, GraphRef] | None, known: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Entities that either end may be: by the nodes of the path, else by the names in the relation's own name."""
    if pair is not None:
        return tuple(_of_ref(ref, known) for ref in pair)
    return (known.get(written.start, ()), known.get(written.end, ())) if written is not None else ()


def _of_ref(ref: GraphRef, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """By name and key; the element id alone is believed only where neither is known, because it may be another graph's."""
    element_ids = tuple(dict.fromkeys((*known.get(ref.name, ()), *known.get(ref.key, ()))))
    if ref.element_id in element_ids:
        return (ref.element_id,) if ref.element_id else element_ids
    return element_ids or ((ref.element_id,) if ref.element_id and is_node_id(ref.element_id) else ())
