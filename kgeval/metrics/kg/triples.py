"""Triples of a row's texts: from the file, from the stored graph, or from a model that is asked once a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import model_validator

from kgeval.errors import QueryError, first_line
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.queries import all_queries
from kgeval.llm.asker import Asker
from kgeval.llm.calls import Failure, Reply
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import Triples
from kgeval.metrics.judge.context import JudgeContext, answer_text, failure_of
from kgeval.metrics.references import facts_for, others
from kgeval.metrics.stored.names import NamesCache
from kgeval.records import Layout, Passage, Triple

if TYPE_CHECKING:
    from kgeval.metrics.engine import Tools
    from kgeval.metrics.select import Selection
    from kgeval.records import Layout

# Triples of chunks of the stored graph, by the chunks' ids. Which ids there are, and which relations name each as
# their source, is read once a run (16 bytes and an element id for each); a row then costs two queries that start at
# what they look for.

_SHELF = NamesCache()  # lives as long as its runs do; see there


def stored_triples(graph: Graph, layout: Layout, ids: Sequence[str], *, owner: object, timeout: float) -> dict[str, list[Triple]]:
    """Chunk id (as given: a chunk's own id or its element id) -> the relations that the stored graph has from it, by element id.

    These are the relations that name the chunk as their source, and those without sources of their own that join two entities of the
    chunk. Absent are chunks that the graph does not know, ids that several chunks have, and all of them where the layout has neither
    mentions nor sources. `owner`: stands for the run, see NamesCache. `timeout`: seconds a query. Raises: QueryError, ConnectionLost.
    """
    if not ids or not (layout.mention_types or layout.relation_source_key):
        return {}
    names = _SHELF.names(owner, graph, layout)
    every = names.lookup("chunk-keys", ids)
    chunks = {given: relation_ids_of[0] for given, relation_ids_of in every.items() if len(relation_ids_of) == 1}
    spelled, relations = _chunks(graph, layout, sorted(set(chunks.values())), timeout)
    sources = dict.fromkeys([*ids, *(name for own in spelled.values() for name in own)])
    sourced = names.lookup("relation-sources", list(sources)) if layout.relation_source_key else {}
    relation_ids_of: dict[str, set[str]] = {}
    for given in ids:
        if given in chunks:
            own = (given, *spelled.get(chunks[given], ()))
            relation_ids_of[given] = {relation for name in own for relation in sourced.get(name, ())} | relations.get(chunks[given], set())
        elif given in sourced and given not in every:
            relation_ids_of[given] = set(sourced[given])  # the graph has no chunk of this id, but relations that name it
    relation_ids = sorted(set().union(*relation_ids_of.values()))
    params = {"layout": layout.model_dump(), "ids": relation_ids}
    rows = graph.read(all_queries()["relations-by-id"], params, timeout=timeout) if relation_ids else []
    triples = {
        row["element_id"]: Triple(element_id=row["element_id"], subject=row["subject"], predicate=row["predicate"], object=row["object"])
        for row in rows if row["subject"] and row["object"]  # an end without a name is nothing to be compared
    }
    return {given: [triples[key] for key in sorted(own) if key in triples] for given, own in relation_ids_of.items()}


def _chunks(graph: Graph, layout: Layout, ids: list[str], timeout: float) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """By element id of a chunk: all that relations may name it by, and its relations without sources of their own."""
    if not ids:
        return {}, {}
    rows = graph.read(all_queries()["chunk-triples"], {"layout": layout.model_dump(), "ids": ids}, timeout=timeout)
    return (
        {row["element_id"]: [name for name in row["names"] if name] for row in rows},
        {row["element_id"]: set(row["relations"]) for row in rows},
    )


FACTS = ("triples:question", "triples:answer", "triples:reference", "triples:contexts")
NO_TEXT = Failure("missing_item", "a context has no text, and no stored graph that knows its chunk is given")
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
    """Fills `facts.triples` with those wanted facts that are not there yet. `asker` None: no model is asked.

    The answer's triples come from the file if it has them. Contexts with chunk ids come from the stored graph where a layout is given
    and the graph knows the chunk. Everything else is asked of the model, one call a text; nothing but the text is in the request.
    Raises: ConnectionLost, and what the asker raises.
    """
    for variant in (subject, *others(subject, wanted)):
        _fill(variant, facts_for(variant, wanted), asker, tools.graph, tools.layout)


def _fill(subject: Subject, wanted: frozenset[str], asker: Asker | None, graph: Graph | None, layout: Layout | None) -> None:
    for fact in FACTS:
        if fact in wanted and fact not in subject.facts.triples:
            subject.facts.triples[fact] = _triples(subject, fact, asker, graph, layout)


def given_triples(subjects: Sequence[Subject], selection: Selection, graph: Graph | None, layout: Layout | None) -> None:
    """Fills what no model was asked for: triples of the file and of the stored graph; the rest fails, because there is no model."""
    for subject in subjects:
        _fill(subject, facts_for(subject, selection.facts_of(subject.row)), None, graph, layout)


def cleaned(triples: Iterable[Triple], origin: str) -> Triples:
    """The triples with names trimmed; those without a head or a tail are dropped and counted."""
    trimmed = [
        triple.model_copy(update={name: getattr(triple, name).strip() for name in ("subject", "predicate", "object")})
        for triple in triples
    ]
    complete = tuple(triple for triple in trimmed if triple.subject and triple.object)
    return Triples(complete, origin, dropped=len(trimmed) - len(complete))


def _triples(subject: Subject, fact: str, asker: Asker | None, graph: Graph | None, layout: Layout | None) -> Triples:
    row = subject.row
    if fact == "triples:contexts":
        return _of_contexts(subject, asker, graph, layout)
    if fact == "triples:question":
        return _extracted_triples(subject, asker, row.question.question)
    if fact == "triples:reference":
        return _extracted_triples(subject, asker, next(iter(row.question.right_answers), ""))
    if row.answer.triples is not None and not row.answer.error:
        return cleaned(row.answer.triples, "file")
    return _extracted_triples(subject, asker, answer_text(row))


def _extracted_triples(subject: Subject, asker: Asker | None, text: str) -> Triples:
    """The triples that a model finds in a text; none for an empty text, which nobody is asked about."""
    if not text.strip():
        return Triples(origin="none")
    if asker is None:
        return Triples(failure=NO_MODEL)
    outcome = JudgeContext(subject, asker).ask("triples", "triples", {"text": text}, StatedTriples)
    if outcome.value is None:
        return Triples(failure=failure_of(outcome))
    stated = (Triple(subject=triple.head, predicate=triple.relation, object=triple.tail) for triple in outcome.value.triples)
    return cleaned(stated, "model")


def _of_contexts(subject: Subject, asker: Asker | None, graph: Graph | None, layout: Layout | None) -> Triples:
    """The triples of all contexts in their order; each chunk, each text, and each relation of the stored graph counts once."""
    try:
        stored_by_chunk = _stored_of_contexts(subject, asker, graph, layout)
    except QueryError as cause:
        if isinstance(cause, ConnectionLost):
            raise
        return Triples(failure=Failure("graph_error", first_line(cause)))
    contexts = _distinct(subject.row.answer.contexts or (), stored_by_chunk)
    if any(context.chunk_id and context.chunk_id not in stored_by_chunk and not context.text.strip() for context in contexts):
        return Triples(failure=NO_TEXT)  # before anybody is paid for the others
    seen: set[str | None] = set()
    parts, failed = [], None
    for context in contexts:
        stored = stored_by_chunk.get(context.chunk_id or "")
        part = cleaned(stored, "graph") if stored is not None else _extracted_triples(subject, asker, context.text)
        if part.failure is not None:
            failed = failed or part
            if asker is not None and asker.dry:
                continue  # the calls for the other contexts are to be counted too
            break
        fresh = tuple(t for t in part.triples if t.element_id is None or t.element_id not in seen)
        seen |= {t.element_id for t in fresh}
        parts.append(Triples(fresh, part.origin, dropped=part.dropped))
    if failed is not None:
        return failed
    origin = "+".join(sorted({part.origin for part in parts if part.triples})) or "none"
    return Triples(tuple(t for part in parts for t in part.triples), origin, dropped=sum(part.dropped for part in parts))


def _stored_of_contexts(subject: Subject, asker: Asker | None, graph: Graph | None, layout: Layout | None) -> Mapping[str, list[Triple]]:
    """Chunk id -> triples, of the row's contexts that the stored graph knows."""
    ids = list(dict.fromkeys(context.chunk_id for context in subject.row.answer.contexts or () if context.chunk_id))
    if graph is None or layout is None:
        return {}
    # the asker stands for the run; without one the layout does, which is loaded anew for each run
    timeout = subject.settings_for("triples:contexts").query_timeout
    return stored_triples(graph, layout, ids, owner=asker or layout, timeout=timeout)


def _distinct(contexts: Sequence[Passage], known: Mapping[str, list[Triple]]) -> list[Passage]:
    """The contexts in their order, without those that stand there twice: the same known chunk, or the same text."""
    distinct: dict[tuple[str | None, str], Passage] = {}
    for context in contexts:
        is_text = context.chunk_id not in known and context.text.strip()
        distinct.setdefault((None, context.text) if is_text else (context.chunk_id, ""), context)
    return list(distinct.values())
