"""Where questions stand in a graph: by what their file records, else by the names that their texts mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from kgeval.auditing.accuracy.population import Passages, Reader, read_passages
from kgeval.auditing.accuracy.sample import Wanted as Reading
from kgeval.graph.connect import Row
from kgeval.graph.keys import Keys
from kgeval.graph.queries import all_queries
from kgeval.questions.covering.land import HOPS, Land
from kgeval.questions.covering.references import Recorded, Triple, place_entities, place_relation, recorded_of, wanted_rows
from kgeval.questions.figures import depth_of, gold_of
from kgeval.questions.known import known
from kgeval.records import Question
from kgeval.records.question_coverage import Facet
from kgeval.text.spots import Place, named, places

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

    def __init__(self, land: Land) -> None:
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
        spots: list[list[Place]] = [places(text) for text in texts]
        found = self._known.entities(dict.fromkeys(spot.key for own in spots for spot in own))
        few = {key: (self._land.best(ids),) for key, ids in found.items() if len(ids) <= MOST_OF_A_NAME}
        hits = (one.element_id for own in spots for one in named(own, few) if not one.within)
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
