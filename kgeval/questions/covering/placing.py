"""Where questions stand in a graph: by what their file records, else by the names that their texts mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from kgeval.auditing.accuracy.population import Passages, PopulationReader, read_passages
from kgeval.auditing.accuracy.sample import SampleSpec as Reading
from kgeval.graph.connect import Row
from kgeval.graph.keys import Keys
from kgeval.graph.queries import all_queries
from kgeval.names.mentions import mentions_of, name_spans
from kgeval.questions.covering.graph_groups import HOPS, GraphGroups
from kgeval.questions.gold_triples import depth_of, gold_of, relation_parts
from kgeval.questions.graph_facts import facts_of
from kgeval.records import GraphRef, Question
from kgeval.records.question_coverage import Facet
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

BATCH = 200  # questions that are looked up together: a handful of queries
MOST_NAMED = 20  # entities that the texts of one question name
MOST_OF_A_NAME = 20  # a name of more entities says nothing
LONGEST_TEXTS = 10_000  # characters of a question's texts that are looked at
MOST_CHUNKS = 50  # sources of one relation


@dataclass
class PlacedQuestion:
    """One question in the graph.

    `refs`, `triples`: the entities and relations that its file records, each once. `entities`, `predicates`,
    `relations`: what it touches (element ids, the graph's predicates, element ids). `way`: how that was found:
    recorded, by_names or nowhere; `references`: recorded ones by how they were found. `groups`: what it touches, and
    whether its file records that. `documents`, `hops`: by what these were found. """

    question: Question
    refs: list[GraphRef] = field(default_factory=list)
    triples: list[tuple[GraphRef, tuple[str, str, str]]] = field(default_factory=list)
    entities: set[str] = field(default_factory=set)
    predicates: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    way: str = "nowhere"
    references: Counter[str] = field(default_factory=Counter)
    groups: dict[tuple[Facet, str], bool] = field(default_factory=dict)
    documents: str = "nothing"
    hops: str = "nothing"

    @property
    def names(self) -> Iterator[str]:
        """Every name that its file records."""
        yield from (ref.name for ref in self.refs)
        for _, (start, _, end) in self.triples:
            yield from (start, end)


def _recorded(question: Question) -> PlacedQuestion:
    """What a question's structure and path record, each reference once."""
    path, placed = question.path, PlacedQuestion(question)
    refs = [*question.structure, *(path.nodes if path else ()), *(path.relations if path else ())]
    for ref in {(ref.kind, ref.key, ref.name): ref for ref in refs}.values():
        if ref.kind == "entity":
            placed.refs.append(ref)
        elif ref.kind == "relation" and (parts := relation_parts(ref)) is not None:
            placed.triples.append((ref, parts))
        elif ref.kind == "relation":
            placed.references["lost"] += 1
    return placed


class QuestionPlacer:
    """Finds questions in one graph; keeps what it has read of it."""

    def __init__(self, profile: GraphGroups) -> None:
        self._profile = profile
        self._facts = facts_of(profile.graph, profile.layout)

    def of(self, questions: Iterable[Question]) -> Iterator[PlacedQuestion]:
        """Where each question stands, in order and lazily. Raises: QueryError, QueryTimeout, ConnectionLost."""
        rest = iter(questions)
        while batch := [_recorded(question) for question in islice(rest, BATCH)]:
            self._by_records(batch)
            self._by_names([placed for placed in batch if placed.way == "nowhere"])
            self._documents(batch)
            for placed in batch:
                self._fill_groups(placed)
            yield from batch

    def _by_records(self, batch: Sequence[PlacedQuestion]) -> None:
        """Recorded entities by element id, else by key, name and type; recorded relations by their ends and
        predicate."""
        called = self._facts.entities(name for placed in batch for name in placed.names)
        lookups: list[tuple[PlacedQuestion, GraphRef, str]] = []
        rows: list[dict[str, object]] = []
        for placed in batch:
            for ref in placed.refs:
                way, element_id = self._entity(ref, called.get(identity_key(ref.name), ()))
                placed.references[way] += 1
                if element_id is not None:
                    placed.entities.add(element_id)
            for ref, (start, predicate, end) in placed.triples:
                start_ids, end_ids = (list(called.get(identity_key(name), ()))[:MOST_OF_A_NAME] for name in (start, end))
                if start_ids and end_ids:
                    rows.append({"n": len(lookups), "one": start_ids, "other": end_ids})
                    lookups.append((placed, ref, normalise(predicate)))
                else:
                    placed.references["lost"] += 1
        relations = self._relations(rows)
        for n, (placed, ref, predicate) in enumerate(lookups):
            # the same ends by name, in either direction, and the same predicate or type
            same = [row for row in relations.get(n, ()) if predicate in (normalise(row["predicate"]), normalise(row["type"]))]
            own = next((row for row in same if row["element_id"] == ref.element_id), None)
            placed.references["lost" if not same else "name" if own is None else "element_id"] += 1
            for row in [own] if own is not None else same[:1]:
                placed.predicates.add(row["predicate"])
                placed.relations.add(row["element_id"])
                placed.entities |= {row["start"], row["end"]}
        for placed in batch:
            if placed.entities or placed.relations:
                placed.way = "recorded"

    def _entity(self, ref: GraphRef, ids: Sequence[str]) -> tuple[str, str | None]:
        """A recorded entity: how it was found, and its element id. `ids`: the entities of its name."""
        profile = self._profile

        def is_of_its_type(element_id: str) -> bool:
            return profile.types[profile.place[element_id]] == ref.type

        ids = [element_id for element_id in ids if element_id in profile.place]
        if ref.element_id in ids:
            return "element_id", ref.element_id
        same_key = [
            element_id for element_id in (self._own_keys.find([ref.key]).get(ref.key, ()) if ref.key else ())
            if element_id in profile.place and (
                element_id in ids or (not ids and ref.type and is_of_its_type(element_id))
            )
        ]
        if same_key and normalise(ref.key) != normalise(ref.name):
            return "key", profile.best(same_key)
        if not ids:
            return "lost", None
        return "name", profile.best(list(filter(is_of_its_type, ids)) or ids)

    def _by_names(self, batch: Sequence[PlacedQuestion]) -> None:
        """Entities that the texts name, the longest name at each place; relations between two of them."""
        rows: list[dict[str, object]] = []
        for n, placed in enumerate(batch):
            placed.entities = set(self._named(_texts(placed.question)))
            if placed.entities:
                placed.way = "by_names"
            if len(placed.entities) > 1:
                ids = sorted(placed.entities)
                rows.append({"n": n, "one": ids, "other": ids})
        for n, relations in self._relations(rows).items():
            batch[n].predicates = {row["predicate"] for row in relations}

    def _named(self, texts: Sequence[str]) -> Iterator[str]:
        spots = [name_spans(text) for text in texts]
        known = self._facts.entities(dict.fromkeys(spot.key for own in spots for spot in own))
        few = {key: (self._profile.best(ids),) for key, ids in known.items() if len(ids) <= MOST_OF_A_NAME}
        hits = (hit.element_id for own in spots for hit in mentions_of(own, few) if not hit.within)
        yield from islice((hit for hit in dict.fromkeys(hits) if hit in self._profile.place), MOST_NAMED)

    def _relations(self, rows: Sequence[dict[str, object]]) -> dict[int, list[Row]]:
        relations: dict[int, list[Row]] = {}
        for row in self._ask("coverage-relations", rows=list(rows)) if rows else ():
            relations.setdefault(row["n"], []).append(row)
        return relations

    def _ask(self, query: str, **params: object) -> list[Row]:
        profile = self._profile
        return profile.graph.read(
            all_queries()[query], {"layout": profile.layout.model_dump(), **params}, timeout=profile.timeout,
        )

    @cached_property
    def _own_keys(self) -> Keys:
        """The layout's own keys of all entities."""
        profile, layout = self._profile, self._profile.layout.model_dump()
        rows = profile.graph.stream(all_queries()["entity-keys"], {"layout": layout}, timeout=profile.timeout)
        return Keys((row["key"], row["element_id"]) for row in rows)

    @cached_property
    def _passages(self) -> Passages:
        profile = self._profile
        return read_passages(PopulationReader(profile.graph, profile.layout, Reading(timeout=profile.timeout)))

    def _documents(self, batch: Sequence[PlacedQuestion]) -> None:
        """The documents of questions: of the chunks of their evidence, else those that they name, else where their
        relations come from."""
        if not self._profile.sizes["documents"]:
            return
        lacking = []
        for placed in batch:
            question = placed.question
            names = filter(None, (question.document, *(passage.document for passage in question.evidence)))
            if by_chunk := self._documents_of({chunk for group in question.evidence_groups for chunk in group}):
                _add_documents(placed, by_chunk, "chunk_ids")
            elif by_name := {document for name in names if (document := self._profile.document(name)) is not None}:
                _add_documents(placed, by_name, "document")
            elif placed.relations:
                lacking.append(placed)
        ids = sorted({element_id for placed in lacking for element_id in placed.relations})
        rows = self._ask("structure-relations", ids=ids, most=MOST_CHUNKS) if ids else []
        sources = {row["element_id"]: row["chunks"] for row in rows}
        for placed in lacking:
            if by_source := self._documents_of({chunk for name in placed.relations for chunk in sources.get(name, ())}):
                _add_documents(placed, by_source, "relations")

    def _documents_of(self, chunks: set[str]) -> set[str]:
        if not chunks:
            return set()
        return {name for place in self._passages.known(chunks) if (name := self._passages.documents[place]) is not None}

    def _fill_groups(self, placed: PlacedQuestion) -> None:
        """The groups of the entities and relations that were found, and the question's hop count."""
        recorded = placed.way == "recorded"
        for element_id in placed.entities:
            placed.groups |= dict.fromkeys(self._profile.groups_of(element_id), recorded)
        known = self._profile.sizes["predicates"]
        placed.groups |= {("predicates", name): recorded for name in placed.predicates if name in known}
        depth = depth_of(placed.question, gold_of(placed.question))
        if depth is not None and depth[0] > 0:
            placed.hops = depth[1]
            placed.groups["hops", HOPS[min(depth[0], len(HOPS)) - 1]] = True


def _add_documents(placed: PlacedQuestion, documents: Iterable[str], way: str) -> None:
    placed.documents = way
    placed.groups |= {("documents", name): True for name in documents}


def _texts(question: Question) -> list[str]:
    """The texts of a question, the first LONGEST_TEXTS characters of them."""
    left, texts = LONGEST_TEXTS, []
    for text in (question.question, *question.right_answers, *question.evidence_texts):
        if left > 0:
            texts.append(text[:left])
            left -= len(text)
    return texts
