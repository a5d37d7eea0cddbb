"""Where questions stand in a graph: by what their file records, else by the names that their texts mention."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from kgeval.auditing.accuracy.population import Passages, Reader, read_passages
from kgeval.auditing.accuracy.sample import SampleSpec as Reading
from kgeval.graph.connect import Row
from kgeval.graph.keys import Keys
from kgeval.graph.queries import all_queries
from kgeval.questions.covering.graph_profile import HOPS, GraphProfile
from kgeval.questions.figures import depth_of, gold_of
from kgeval.questions.graph_facts import known
from kgeval.records import GraphRef, Question
from kgeval.records.question_coverage import Facet
from kgeval.text.name_matching import NameSpan, mentions_of, name_spans
from kgeval.text.names import normalise

# What a question's file records of the graph: entities and relations, found again by element id, else by key, name
# and type.

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


def place_entities(recorded: Recorded, land: GraphProfile, called: Called, keys: Callable[[str], Sequence[str]]) -> None:
    """Finds the recorded entities. `called`: normalised name -> element ids; `keys`: the layout's own key -> element ids."""
    for ref in recorded.refs:
        way, element_id = _entity(ref, land, called.get(normalise(ref.name), ()), keys)
        recorded.ways[way] += 1
        if element_id is not None:
            recorded.entities.add(element_id)


def _entity(ref: GraphRef, land: GraphProfile, ids: Sequence[str], keys: Callable[[str], Sequence[str]]) -> tuple[str, str | None]:
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


def _type(land: GraphProfile, element_id: str) -> str | None:
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


BATCH = 200
MOST_NAMED = 20  # entities that the texts of one question name
MOST_OF_A_NAME = 20  # a name of more entities says nothing
LONGEST_TEXTS = 10_000  # characters of a question's texts that are looked at
MOST_CHUNKS = 50


@dataclass
class Placed:
    """One question in the graph. `way`: recorded, by_names or nowhere. `groups`: what it touches, and whether its file records that."""

    way: str = "nowhere"
    groups: dict[tuple[Facet, str], bool] = field(default_factory=dict)
    references: dict[str, int] = field(default_factory=dict)
    documents: str = "nothing"
    hops: str = "nothing"


@dataclass
class _Open:
    """A question under way."""

    question: Question
    recorded: Recorded
    placed: Placed = field(default_factory=Placed)
    entities: set[str] = field(default_factory=set)
    predicates: set[str] = field(default_factory=set)


class Places:
    """Finds questions in one graph; keeps what it has read of it."""

    def __init__(self, land: GraphProfile) -> None:
        self._land = land
        self._known = known(land.graph, land.layout)
        self._own_keys: Keys | None = None
        self._passages: Passages | None = None

    def of(self, questions: Iterable[Question]) -> Iterator[Placed]:
        """Where each question stands, in order and lazily. Raises: QueryError, QueryTimeout, ConnectionLost."""
        rest = iter(questions)
        while batch := list(islice(rest, BATCH)):
            yield from self._batch([_Open(question, recorded_of(question)) for question in batch])

    def _batch(self, opened: list[_Open]) -> list[Placed]:
        self._by_records(opened)
        self._by_names([one for one in opened if one.placed.way == "nowhere"])
        self._documents(opened)
        for one in opened:
            self._fill(one)
        return [one.placed for one in opened]

    def _by_records(self, opened: Sequence[_Open]) -> None:
        called = self._known.entities(name for one in opened for name in one.recorded.names)
        asked: list[tuple[Recorded, Triple]] = []
        rows: list[dict[str, object]] = []
        for one in opened:
            place_entities(one.recorded, self._land, called, self._by_key)
            wanted = list(wanted_rows(one.recorded, called))
            one.recorded.ways["lost"] += len(one.recorded.triples) - len(wanted)
            for triple, row in wanted:
                rows.append({"n": len(asked), **row})
                asked.append((one.recorded, triple))
        found = self._relations(rows)
        for n, (recorded, triple) in enumerate(asked):
            place_relation(recorded, triple, found.get(n, ()))
        for one in opened:
            one.placed.references = dict(one.recorded.ways)
            if one.recorded.found:
                one.placed.way, one.entities, one.predicates = "recorded", one.recorded.entities, one.recorded.predicates

    def _by_names(self, opened: Sequence[_Open]) -> None:
        """Entities that the texts name, the longest name at each place; relations between two of them."""
        rows: list[dict[str, object]] = []
        for n, one in enumerate(opened):
            one.entities = set(self._named(_texts(one.question)))
            if one.entities:
                one.placed.way = "by_names"
            if len(one.entities) > 1:
                ids = sorted(one.entities)
                rows.append({"n": n, "one": ids, "other": ids})
        for n, found in self._relations(rows).items():
            opened[n].predicates = {row["predicate"] for row in found}

    def _named(self, texts: Sequence[str]) -> Iterator[str]:
        spots: list[list[NameSpan]] = [name_spans(text) for text in texts]
        found = self._known.entities(dict.fromkeys(spot.key for own in spots for spot in own))
        few = {key: (self._land.best(ids),) for key, ids in found.items() if len(ids) <= MOST_OF_A_NAME}
        hits = (one.element_id for own in spots for one in mentions_of(own, few) if not one.within)
        yield from islice((one for one in dict.fromkeys(hits) if one in self._land.place), MOST_NAMED)

    def _relations(self, rows: Sequence[dict[str, object]]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self._ask("coverage-relations", rows=list(rows)) if rows else ():
            found.setdefault(row["n"], []).append(row)
        return found

    def _ask(self, query: str, **params: object) -> list[Row]:
        given = {"layout": self._land.layout.model_dump(), **params}
        return self._land.graph.read(all_queries()[query], given, timeout=self._land.timeout)

    def _by_key(self, key: str) -> Sequence[str]:
        if not key:
            return ()
        if self._own_keys is None:
            rows = self._land.graph.stream(
                all_queries()["entity-keys"], {"layout": self._land.layout.model_dump()}, timeout=self._land.timeout,
            )
            self._own_keys = Keys((row["key"], row["element_id"]) for row in rows)
        return self._own_keys.find([key]).get(key, ())

    def _documents(self, opened: Sequence[_Open]) -> None:
        """The documents of questions: of the chunks of their evidence, else those that they name, else where their relations come from."""
        if not self._land.sizes["documents"]:
            return
        lacking = []
        for one in opened:
            asked = one.question
            chunks = {name for group in asked.gold_ids for name in group}
            names = filter(None, (asked.document, *(passage.document for passage in asked.evidence)))
            told = {name for called in names if (name := self._land.document(called)) is not None}
            if chunks and (by_chunk := self._of_chunks(chunks)):
                self._add_documents(one, by_chunk, "chunk_ids")
            elif told:
                self._add_documents(one, told, "document")
            elif one.recorded.relations:
                lacking.append(one)
        ids = sorted({name for one in lacking for name in one.recorded.relations})
        rows = self._ask("structure-relations", ids=ids, most=MOST_CHUNKS) if ids else []
        sources = {row["element_id"]: row["chunks"] for row in rows}
        for one in lacking:
            if by_source := self._of_chunks(chunk for name in one.recorded.relations for chunk in sources.get(name, ())):
                self._add_documents(one, by_source, "relations")

    def _of_chunks(self, chunks: Iterable[str]) -> set[str]:
        if self._passages is None:
            self._passages = read_passages(Reader(self._land.graph, self._land.layout, Reading(timeout=self._land.timeout)))
        known_chunks = self._passages.known(chunks)
        return {name for at in known_chunks if (name := self._passages.documents[at]) is not None}

    @staticmethod
    def _add_documents(one: _Open, found: Iterable[str], way: str) -> None:
        one.placed.documents = way
        one.placed.groups |= {("documents", name): True for name in found}

    def _fill(self, one: _Open) -> None:
        """The groups of the entities and relations that were found, and the question's hop count."""
        recorded = one.placed.way == "recorded"
        for element_id in one.entities:
            one.placed.groups |= dict.fromkeys(self._land.groups_of(element_id), recorded)
        one.placed.groups |= {("predicates", name): recorded for name in one.predicates if name in self._land.sizes["predicates"]}
        depth = depth_of(one.question, gold_of(one.question))
        if depth is not None and depth[0] > 0:
            one.placed.hops = depth[1]
            one.placed.groups[("hops", HOPS[min(depth[0], len(HOPS)) - 1])] = True


def _texts(question: Question) -> list[str]:
    """The texts of a question, the first LONGEST_TEXTS characters of them."""
    left, texts = LONGEST_TEXTS, []
    for text in (question.question, *question.right_answers, *question.evidence_texts):
        if left > 0:
            texts.append(text[:left])
            left -= len(text)
    return texts
