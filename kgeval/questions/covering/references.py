"""What a question's file records of the graph: entities and relations, found again by element id, else by key, name and type.

An element id is believed only where the entity that has it is called as the record says: ids die when a graph is rebuilt, and may then
be another entity's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.questions.covering.land import Land
from kgeval.records import GraphRef, Question
from kgeval.text.names import normalise

_RELATION = re.compile(r"(.*?) -\[(.*?)\]-> (.*)", re.DOTALL)
Called = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Triple:
    """A recorded relation by its parts."""

    ref: GraphRef
    start: str
    predicate: str
    end: str


@dataclass
class Recorded:
    """What one question's file records. `entities`, `predicates`, `relations`: what of it is in the graph (element ids, the graph's
    predicates, element ids). `ways`: references by how they were found."""

    refs: list[GraphRef] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    entities: set[str] = field(default_factory=set)
    predicates: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    ways: Counter[str] = field(default_factory=Counter)

    @property
    def names(self) -> Iterator[str]:
        """Every name that it has."""
        yield from (ref.name for ref in self.refs)
        for triple in self.triples:
            yield from (triple.start, triple.end)

    @property
    def found(self) -> bool:
        """Whether any of it is in the graph."""
        return bool(self.entities or self.relations)


def recorded_of(question: Question) -> Recorded:
    """What a question's structure and path record, each reference once."""
    path = question.path
    given = [*question.structure, *(path.nodes if path else ()), *(path.relations if path else ())]
    made = Recorded()
    for ref in {(ref.kind, ref.key, ref.name): ref for ref in given}.values():
        if ref.kind == "relation":
            triple = _triple(ref)
            if triple is None:
                made.ways["lost"] += 1
            else:
                made.triples.append(triple)
        elif ref.kind == "entity":
            made.refs.append(ref)
    return made


def _triple(ref: GraphRef) -> Triple | None:
    if ref.type and len(parts := ref.name.split(f" -[{ref.type}]-> ")) == 2:
        return Triple(ref, parts[0], ref.type, parts[1])
    found = _RELATION.fullmatch(ref.name)
    return None if found is None else Triple(ref, found[1], found[2], found[3])


def place_entities(recorded: Recorded, land: Land, called: Called, keys: Callable[[str], Sequence[str]]) -> None:
    """Finds the recorded entities. `called`: normalised name -> element ids; `keys`: the layout's own key -> element ids."""
    for ref in recorded.refs:
        way, element_id = _entity(ref, land, called.get(normalise(ref.name), ()), keys)
        recorded.ways[way] += 1
        if element_id is not None:
            recorded.entities.add(element_id)


def _entity(ref: GraphRef, land: Land, ids: Sequence[str], keys: Callable[[str], Sequence[str]]) -> tuple[str, str | None]:
    ids = [one for one in ids if one in land.place]
    if ref.element_id in ids:
        return "element_id", ref.element_id
    by_key = [one for one in keys(ref.key) if one in land.place]
    same_key = [one for one in by_key if one in ids or (not ids and _type(land, one) == ref.type and ref.type)]
    if same_key and normalise(ref.key) != normalise(ref.name):
        return "key", land.best(same_key)
    if not ids:
        return "lost", None
    return "name", land.best([one for one in ids if _type(land, one) == ref.type] or ids)


def _type(land: Land, element_id: str) -> str | None:
    return land.types[land.place[element_id]]


def wanted_rows(recorded: Recorded, called: Called) -> Iterator[tuple[Triple, dict[str, object]]]:
    """Each recorded relation with what to ask the graph for: the entities that its ends may be."""
    for triple in recorded.triples:
        one, other = (list(called.get(normalise(name), ()))[:20] for name in (triple.start, triple.end))
        if one and other:
            yield triple, {"one": one, "other": other}


def place_relation(recorded: Recorded, triple: Triple | None, rows: Iterable[Mapping[str, str]]) -> None:
    """Takes the relations of the graph that are the recorded one: same ends by name (either direction), same predicate or type."""
    if triple is None:
        return
    said = normalise(triple.predicate)
    same = [row for row in rows if said in (normalise(row["predicate"]), normalise(row["type"]))]
    if not same:
        recorded.ways["lost"] += 1
        return
    own = [row for row in same if row["element_id"] == triple.ref.element_id]
    recorded.ways["element_id" if own else "name"] += 1
    chosen = own[0] if own else same[0]
    recorded.predicates.add(chosen["predicate"])
    recorded.relations.add(chosen["element_id"])
    recorded.entities |= {chosen["start"], chosen["end"]}
