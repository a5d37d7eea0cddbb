"""Triples of a row's texts: from the file, from the stored graph, or from a model that is asked once a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import model_validator

from kgeval.errors import QueryError, first_line
from kgeval.graph.connect import ConnectionLost, Graph
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Failure, Reply
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import Triples
from kgeval.metrics.judge.asker import Asker
from kgeval.metrics.judge.desk import Desk, failure_of, said
from kgeval.records import Passage, Row, Triple

if TYPE_CHECKING:
    from kgeval.metrics.engine import Tools
    from kgeval.metrics.select import Selection
    from kgeval.records import Layout

FACTS = ("triples:question", "triples:answer", "triples:reference", "triples:contexts")
NO_MODEL = Failure("missing_item", "no model is named, and neither the file nor a stored graph has these triples")


class Stated(Reply):
    """One triple as a model gives it."""

    head: str
    relation: str
    tail: str


class StatedTriples(Reply):
    """The triples of a text. None at all only if the reply says so: an empty list alone is taken for a failure to answer."""

    triples: list[Stated]
    nothing_stated: bool

    @model_validator(mode="after")
    def _empty_on_purpose(self) -> StatedTriples:
        if not self.triples and not self.nothing_stated:
            raise ValueError("the list is empty, and the reply does not say that nothing is stated")
        return self


def ask_triples(subject: Subject, wanted: frozenset[str], asker: Asker | None, tools: Tools) -> None:
    """Fills `facts.triples` with those wanted facts that are not there yet. `asker` null: no model is asked.

    The answer's triples come from the file if it has them. Contexts with chunk ids come from the stored graph where a layout is given
    and the graph knows the chunk. Everything else is asked of the model, one call a text; nothing but the text is in the request.
    Raises: ConnectionLost, and what the asker raises.
    """
    for fact in FACTS:
        if fact in wanted and fact not in subject.facts.triples:
            subject.facts.triples[fact] = _triples(subject, fact, asker, tools.graph, tools.layout)


def given_triples(subjects: Sequence[Subject], selection: Selection, graph: Graph | None, layout: Layout | None) -> None:
    """Fills what no model was asked for: triples of the file and of the stored graph; the rest fails, because there is no model."""
    for subject in subjects:
        wanted = selection.facts_of(subject.row)
        for fact in FACTS:
            if fact in wanted and fact not in subject.facts.triples:
                subject.facts.triples[fact] = _triples(subject, fact, None, graph, layout)


def cleaned(triples: Iterable[Triple], origin: str) -> Triples:
    """The triples with names trimmed; those without a head or a tail are dropped and counted."""
    trimmed = [
        one.model_copy(update={"subject": one.subject.strip(), "predicate": one.predicate.strip(), "object": one.object.strip()})
        for one in triples
    ]
    kept = tuple(one for one in trimmed if one.subject and one.object)
    return Triples(kept, origin, dropped=len(trimmed) - len(kept))


def _triples(subject: Subject, fact: str, asker: Asker | None, graph: Graph | None, layout: Layout | None) -> Triples:
    row = subject.row
    if fact == "triples:contexts":
        return _of_contexts(subject, asker, graph, layout)
    if fact == "triples:answer" and row.answer.triples is not None:
        return cleaned(row.answer.triples, "file")
    return _stated(subject, asker, _text(row, fact))


def _text(row: Row, fact: str) -> str:
    if fact == "triples:question":
        return row.question.question
    return said(row) if fact == "triples:answer" else next(iter(row.question.right_answers), "")


def _stated(subject: Subject, asker: Asker | None, text: str) -> Triples:
    """The triples that a model finds in a text; none for an empty text, which nobody is asked about."""
    if not text.strip():
        return Triples(origin="none")
    if asker is None:
        return Triples(failure=NO_MODEL)
    outcome = Desk(subject, asker).ask("triples", "triples", {"text": text}, StatedTriples)
    if outcome.value is None:
        return Triples(failure=failure_of(outcome))
    return cleaned((Triple(subject=one.head, predicate=one.relation, object=one.tail) for one in outcome.value.triples), "model")


def _of_contexts(subject: Subject, asker: Asker | None, graph: Graph | None, layout: Layout | None) -> Triples:
    """The triples of all contexts in their order; each context, and each relation of the stored graph, counts once."""
    contexts = {(one.chunk_id, one.text): one for one in subject.row.answer.contexts or ()}
    try:
        known = stored_triples(graph, layout, [one.chunk_id for one in contexts.values() if one.chunk_id]) if graph and layout else {}
    except QueryError as cause:
        if isinstance(cause, ConnectionLost):
            raise
        return Triples(failure=Failure("graph_error", first_line(cause)))
    seen: set[str | None] = set()
    parts = []
    for one in contexts.values():
        part = _of_context(subject, asker, one, known)
        if part.failure is not None:
            return part
        fresh = tuple(t for t in part.triples if t.element_id is None or t.element_id not in seen)
        seen |= {t.element_id for t in fresh}
        parts.append(Triples(fresh, part.origin, dropped=part.dropped))
    origin = "+".join(sorted({part.origin for part in parts if part.triples})) or "none"
    return Triples(tuple(t for part in parts for t in part.triples), origin, dropped=sum(part.dropped for part in parts))


def _of_context(subject: Subject, asker: Asker | None, context: Passage, known: Mapping[str, list[Triple]]) -> Triples:
    if context.chunk_id is not None and context.chunk_id in known:
        return cleaned(known[context.chunk_id], "graph")
    if not context.text.strip() and context.chunk_id:
        return Triples(failure=Failure("missing_item", "a context has no text, and no stored graph with its chunk is given"))
    return _stated(subject, asker, context.text)


def stored_triples(graph: Graph, layout: Layout, ids: Sequence[str]) -> dict[str, list[Triple]]:
    """Chunk id (as given: a chunk's own id or its element id) -> the relations that the stored graph has from it. A chunk that the
    graph does not know is absent. One query.

    Where entities are joined to chunks, these are the relations of the chunk's entities that name the chunk as their source, or,
    without sources of their own, that join two of its entities. Otherwise all relations are read for those that name the chunk.
    Raises: QueryError, ConnectionLost.
    """
    if not ids:
        return {}
    params = {"layout": layout.model_dump(), "ids": list(ids)}
    found: dict[str, list[Triple]] = {}
    if layout.mention_types:
        for row in graph.read(all_queries()["chunk-triples"], params):
            triples = [Triple(element_id=t[0], subject=t[1], predicate=t[2], object=t[3]) for t in row["triples"] if t[1] and t[3]]
            found |= dict.fromkeys(row["given"], triples)
        return found
    for row in graph.read(all_queries()["sourced-relations"], {"layout": params["layout"], "passages": params["ids"]}):
        head, _, predicate, tail, _ = row["key"]
        if head and tail:
            triple = Triple(element_id=row["element_id"], subject=head, predicate=predicate, object=tail)
            for chunk in set(row["ids"]) & set(ids):
                found.setdefault(chunk, []).append(triple)
    return found
