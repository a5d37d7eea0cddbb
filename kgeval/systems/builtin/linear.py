"""The graph around entry entities as text: which relations come first, what fits into a budget, passages with their chunks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgeval.graph.entry import Around, ChunkPlace, EntityText
from kgeval.records import Layout, Passage
from kgeval.text.predicates import is_placeholder, is_predicate, keywords, uncamel
from kgeval.text.wordlists import word_list

LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation that was reached. `score`: cosine of the entry entity that it was reached from; `hop`: how far from it, from 1."""

    relation: Around
    score: float
    hop: int


@dataclass(frozen=True)
class Linear:
    """What goes to the reader: passages, the relations in them, tokens by the counter that was given."""

    passages: tuple[Passage, ...]
    edges: tuple[Edge, ...]
    tokens: int


def reached(entries: Sequence[EntityText], near: Mapping[str, Sequence[Around]], hops: int) -> list[Edge]:
    """The relations within `hops` of the entry entities, each once, those of the best entry first [K 3.3.2 step 3], then nearer ones,
    then in the order in which the graph gave them. `near`: entity -> the relations around it; an entity that is not in it was not
    looked at."""
    found: dict[str, Edge] = {}
    for entry in sorted(entries, key=lambda one: (-one.score, one.name, one.element_id)):
        front, seen = [entry.element_id], {entry.element_id}
        for hop in range(1, hops + 1):
            following: list[str] = []
            for node in front:
                for relation in near.get(node, ()):
                    found.setdefault(relation.element_id, Edge(relation, entry.score, hop))
                    other = relation.end if relation.start == node else relation.start
                    if other not in seen:
                        seen.add(other)
                        following.append(other)
            front = following
    return list(found.values())


def sentence(relation: Around, layout: Layout | None = None, *, describe: bool = False) -> str:
    """A relation as a sentence: "Livia Tarrant designed North Breakwater." One line, whatever stands in the names. Where its label is no
    predicate (RELATED, a list of keywords), nothing is said with it: "SCROOGE and FRED: Fred is Scrooge's nephew." """
    start, end, about = _plain(relation.subject), _plain(relation.object), _plain(relation.description or "") if describe else ""
    if is_predicate(relation.predicate, layout):
        said = f"{start} {words_of(relation.predicate)} {end}."
        return f"{said} {about}" if about and about.casefold() not in said.casefold() else said
    named = ", ".join(words_of(word) for word in keywords(relation.predicate) if not is_placeholder(word))
    if about:
        return f"{start} and {end}{f' ({named})' if named else ''}: {about}"
    return f"{start} and {end}: {named}." if named else f"{start} and {end} are connected."


def words_of(predicate: str) -> str:
    """A predicate as words: WORKS_AT, worksAt and works_at are "works at". One that is written in words stays as it is ("ist Mitglied
    von"), save for one all in capitals."""
    said = " ".join(predicate.split())
    if " " in said:
        return said.lower() if said.isupper() else said
    split = uncamel(said)
    words = split.replace("_", " ").strip()
    return (words.lower() if words.isupper() or words != said else words) or said


def about(entity: EntityText) -> str:
    """An entity as a sentence: "Livia Tarrant is a Person. An engineer." A type that says that none is known is not said."""
    known = entity.type and entity.type.strip('" ').casefold() not in word_list("no_type")
    kind = f" is {'an' if entity.type[0] in 'AEIOUaeiou' else 'a'} {_plain(entity.type)}." if entity.type and known else "."
    return f"{_plain(entity.name)}{kind} {_plain(entity.description or '')}".strip()


def budgeted(
    edges: Iterable[Edge], budget: int, count: Callable[[str], int], *, describe: bool, lead: Sequence[str] = (),
    layout: Layout | None = None,
) -> Linear:
    """The relations that fit into the budget in their order (one that does not fit is left out, shorter ones after it still come in),
    as passages: the sentences that come from one chunk stand together, parallel relations that say the same there once. `lead`:
    sentences that come before them, with half of the budget at most where there are relations."""
    edges, used, kept, groups = list(edges), 0, [], dict[str, dict[str, None]]()
    places: dict[str, tuple[ChunkPlace | None, float | None]] = {}
    for text in lead:
        if used + (cost := count(text) + 1) <= (budget // 2 if edges else budget):
            used += cost
            groups.setdefault("", {})[text] = None
            places.setdefault("", (None, None))
    for edge in edges:
        said, chunk = sentence(edge.relation, layout, describe=describe), _chunk_of(edge.relation, groups)
        key = chunk.id if chunk else ""
        fresh = said not in groups.get(key, ())
        if fresh and used + (cost := count(said) + 1) > budget:
            continue
        kept.append(edge)
        if fresh:
            used += cost
            groups.setdefault(key, {})[said] = None
            places.setdefault(key, (chunk, edge.score))
    passages = [_passage(lines, *places[key]) for key, lines in groups.items()]
    return Linear(tuple(passages), tuple(kept), used)


def _chunk_of(relation: Around, groups: Mapping[str, object]) -> ChunkPlace | None:
    """The chunk that a relation is shown under: one that already has relations, else its first."""
    return next((chunk for chunk in relation.chunks if chunk.id in groups), relation.chunks[0] if relation.chunks else None)


def _passage(lines: Iterable[str], chunk: ChunkPlace | None, score: float | None) -> Passage:
    return Passage(
        text="\n".join(lines), chunk_id=chunk.id if chunk else None, document=chunk.document if chunk else None, score=score,
    )


def _plain(text: str) -> str:
    """The text on one line, cut."""
    return " ".join(text.split())[:LONGEST]
