"""GraphRAG as [K 3.3.2] describes it: entry entities by cosine, expansion in Cypher, relations as sentences within a
budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from kgeval.graph.entry import Around, ChunkPlace, EntityText, VectorIndex
from kgeval.llm import tokens
from kgeval.llm.rerank import Reranker, reranker
from kgeval.llm.text_table import TextTable
from kgeval.records import Layout, Passage
from kgeval.systems.builtin.retrieval import Clock, Retrieved, SearchedGraph
from kgeval.systems.builtin.settings import Settings
from kgeval.text.predicates import is_placeholder, is_predicate, keywords, uncamel
from kgeval.text.windows import excerpt
from kgeval.text.wordlists import word_list

LONGEST = 1_000  # characters of a name or description in a sentence
FRONT = 1_000  # entities that one hop goes on from, at most
# chunks whose texts are read, at most: that many, or as many of so few tokens as the budget could hold
MOST_CHUNKS, SHORTEST = 100, 10


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation that was reached. `score`: cosine of the entry entity that it was reached from; `hop`: how far from
    it, from 1."""

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
    """The relations within `hops` of the entry entities, each once, those of the best entry first [K 3.3.2 step 3],
    then nearer ones, then in the order in which the graph gave them. `near`: entity -> the relations around it; an
    entity that is not in it was not looked at."""
    edges_by_id: dict[str, Edge] = {}
    for entry in sorted(entries, key=lambda one: (-one.score, one.name, one.element_id)):
        front, seen = [entry.element_id], {entry.element_id}
        for hop in range(1, hops + 1):
            following: list[str] = []
            for node in front:
                for relation in near.get(node, ()):
                    edges_by_id.setdefault(relation.element_id, Edge(relation, entry.score, hop))
                    other = relation.end if relation.start == node else relation.start
                    if other not in seen:
                        seen.add(other)
                        following.append(other)
            front = following
    return list(edges_by_id.values())


def sentence(relation: Around, layout: Layout | None = None, *, describe: bool = False) -> str:
    """A relation as a sentence: "Livia Tarrant designed North Breakwater." One line, whatever stands in the names.
    Where its label is no predicate (RELATED, a list of keywords), nothing is said with it: "SCROOGE and FRED: Fred is
    Scrooge's nephew." """
    start, end, about = _plain(relation.subject), _plain(relation.object), _plain(relation.description or "") if describe else ""
    if is_predicate(relation.predicate, layout):
        text = f"{start} {words_of(relation.predicate)} {end}."
        return f"{text} {about}" if about and about.casefold() not in text.casefold() else text
    named = ", ".join(words_of(word) for word in keywords(relation.predicate) if not is_placeholder(word, layout))
    if about:
        return f"{start} and {end}{f' ({named})' if named else ''}: {about}"
    return f"{start} and {end}: {named}." if named else f"{start} and {end} are connected."


def words_of(predicate: str) -> str:
    """A predicate as words: WORKS_AT, worksAt and works_at are "works at". One that is written in words stays as it is
    ("ist Mitglied von"), save for one all in capitals."""
    text = " ".join(predicate.split())
    if " " in text:
        return text.lower() if text.isupper() else text
    split = uncamel(text)
    words = split.replace("_", " ").strip()
    return (words.lower() if words.isupper() or words != text else words) or text


def about(entity: EntityText) -> str:
    """An entity as a sentence: "Livia Tarrant is a Person. An engineer." A type that says that none is known is not
    said."""
    has_type = entity.type and entity.type.strip('" ').casefold() not in word_list("no_type")
    kind = f" is {'an' if entity.type[0] in 'AEIOUaeiou' else 'a'} {_plain(entity.type)}." if entity.type and has_type else "."
    return f"{_plain(entity.name)}{kind} {_plain(entity.description or '')}".strip()


def budgeted(
    edges: Iterable[Edge], budget: int, count: Callable[[str], int], *, describe: bool, lead: Sequence[str] = (),
    layout: Layout | None = None,
) -> Linear:
    """The relations that fit into the budget in their order (one that does not fit is left out, shorter ones after it
    still come in), as passages: the sentences that come from one chunk stand together, parallel relations that say the
    same there once. `lead`: sentences that come before them, with half of the budget at most where there are
    relations."""
    edges, used, shown, groups = list(edges), 0, [], dict[str, dict[str, None]]()
    places: dict[str, tuple[ChunkPlace | None, float | None]] = {}
    for text in lead:
        # one more a line: the line end, which the counter does not see in a single line
        if used + (cost := count(text) + 1) <= (budget // 2 if edges else budget):
            used += cost
            groups.setdefault("", {})[text] = None
            places.setdefault("", (None, None))
    for edge in edges:
        line, chunks = sentence(edge.relation, layout, describe=describe), edge.relation.chunks
        # it is shown under a chunk that already has relations, else under its first
        chunk = next((chunk for chunk in chunks if chunk.id in groups), chunks[0] if chunks else None)
        key = chunk.id if chunk else ""
        fresh = line not in groups.get(key, ())
        if fresh and used + (cost := count(line) + 1) > budget:
            continue
        shown.append(edge)
        if fresh:
            used += cost
            groups.setdefault(key, {})[line] = None
            places.setdefault(key, (chunk, edge.score))
    passages = []
    for key, lines in groups.items():
        chunk, score = places[key]
        passages.append(Passage(
            text="\n".join(lines), chunk_id=chunk.id if chunk else None, document=chunk.document if chunk else None,
            score=score,
        ))
    return Linear(tuple(passages), tuple(shown), used)


def _plain(text: str) -> str:
    """The text on one line, cut."""
    return " ".join(text.split())[:LONGEST]


@dataclass(frozen=True)
class GraphPieces:
    """What the graph gave for a question, before the budget. `near`: entity -> the relations around it."""

    entries: tuple[EntityText, ...]
    near: dict[str, list[Around]]


class GraphRetriever:
    """Searches the entities and walks the graph. `table` None: the database's own vector index is searched, or nothing
    (a plan)."""

    def __init__(self, settings: Settings, searched: SearchedGraph, *, planned: bool) -> None:
        self._settings, self._searched = settings, searched
        self._with_text = settings.system == "graph+text"
        if self._with_text:
            searched.need_chunks(settings.system)
        self._reranker = reranker(settings.rerank) if settings.rerank else None
        self.table: TextTable | None = None
        self._index: VectorIndex | None = None
        self.signature = f"embedding={searched.embedder.identity}"
        if planned:
            return
        if settings.entry == "neo4j":
            with searched.embedder.lock:
                self._index = searched.reader.index(settings.index, len(searched.embedder.fresh("ready")))
            self.signature += f"|neo4j={self._index.name}"
        else:
            self.table = searched.table("entities")
            self.signature += f"|index={self.table.about.digest[:12]}"
        self.signature += "|graph={}/{}".format(*self.size())  # the index's digest knows nothing of relations
        searched.reader.around([""], 1)  # the server plans the query now, not while the first question waits
        if self._reranker is not None:
            self._reranker.load()

    def set_to(self, settings: Settings) -> GraphRetriever:
        """The same with other settings of the walk and the budget; the index stays."""
        other = copy(self)
        other._settings = settings
        return other

    def retrieve(self, question: str, clock: Clock, trial: int = 0) -> Retrieved:
        """The relations around the entry entities as passages, and with graph+text the chunks that they come from."""
        return self.shown(question, self.found(question, clock), clock)

    def bounds(self) -> tuple[int, int]:
        """Nothing, or the whole budget."""
        return 0, self._settings.l_max

    def size(self) -> tuple[int, int]:
        """Entities and relations of the graph."""
        return self._searched.reader.size()

    def found(self, question: str, clock: Clock) -> GraphPieces:
        """The entry entities, best first, and the relations around them, hop by hop."""
        vector = self._searched.vector(question, clock)
        with clock.stage("entry"):
            entries = [entity for entity in self._nearest(vector.tolist()) if entity.score > self._settings.theta]
        with clock.stage("expand"):
            near: dict[str, list[Around]] = {}
            front = [entity.element_id for entity in entries]
            for _ in range(self._settings.hops):
                rows = self._searched.reader.around(front[:FRONT], self._settings.most)
                near |= {entity: [] for entity in front[:FRONT]}
                for row in rows:
                    near[row.at].append(row)
                front = list(dict.fromkeys(end for row in rows for end in (row.start, row.end) if end not in near))
        return GraphPieces(tuple(entries), near)

    def shown(self, question: str, found: GraphPieces, clock: Clock) -> Retrieved:
        """What of it fits into the budget, as passages. The nodes: entry entities, and the ends of the relations that
        are shown."""
        edges = reached(found.entries, found.near, self._settings.hops)
        if self._reranker is not None:
            with self._reranker.lock, clock.stage("rerank"):
                edges = self._reranked(question, edges, self._reranker)
        lead = [about(node) for node in found.entries if node.description or (node.type and not edges)] if self._settings.describe else []
        with clock.stage("expand"):
            share = self._settings.text_share if self._with_text else 0.0
            linear = budgeted(
                edges, round(self._settings.l_max * (1 - share)), tokens.count, describe=self._settings.describe,
                lead=lead,
                layout=self._searched.reader.layout,
            )
            texts, used = self._texts(linear) if self._with_text else ([], 0)
        shown = [edge.relation for edge in linear.edges]
        if self._settings.elements == "names":
            nodes = [*(node.name for node in found.entries), *(end for one in shown for end in (one.subject, one.object))]
            relations = [f"{one.subject} -[{one.predicate}]-> {one.object}" for one in shown]
        else:
            nodes = [*(node.element_id for node in found.entries), *(end for one in shown for end in (one.start, one.end))]
            relations = [one.element_id for one in shown]
        return Retrieved(
            (*linear.passages, *texts), linear.tokens + used, nodes=tuple(dict.fromkeys(nodes)), relations=tuple(relations),
        )

    def _nearest(self, vector: list[float]) -> list[EntityText]:
        most, types = self._settings.k, self._settings.entity_types
        if self._index is not None:
            return self._searched.reader.nearest(self._index, vector, most, types)
        if self.table is None:
            raise RuntimeError("a plan retrieves nothing")
        import numpy as np

        hits = self.table.nearest(np.asarray(vector, dtype=np.float32), most, types)
        return [_entity(hit.item.id, hit.item.key, hit.item.text, hit.item.group, hit.score) for hit in hits]

    def _reranked(self, question: str, edges: Sequence[Edge], reranker: Reranker) -> list[Edge]:
        """The first `candidates` relations by the cross-encoder's score of their sentences; the others after them, as
        they were."""
        first, others = list(edges[: self._settings.candidates]), list(edges[self._settings.candidates :])
        layout, describe = self._searched.reader.layout, self._settings.describe
        scores = reranker.scores(question, [sentence(edge.relation, layout, describe=describe) for edge in first])
        ordered = sorted(zip(first, scores, strict=True), key=lambda pair: -pair[1])
        return [*(replace(edge, score=score) for edge, score in ordered), *others]

    def _texts(self, linear: Linear) -> tuple[list[Passage], int]:
        """The chunks that the shown relations come from, in the relations' order, as far as the rest of the budget
        goes."""
        # reversed: of the relations of one chunk the first, with the best score, is written last and stays
        chunks = {chunk.element_id: (chunk, edge.score) for edge in reversed(linear.edges) for chunk in edge.relation.chunks[::-1]}
        order = list(dict.fromkeys(chunk.element_id for edge in linear.edges for chunk in edge.relation.chunks if chunk.element_id))
        left, passages = self._settings.l_max - linear.tokens, list[Passage]()
        texts = self._searched.reader.texts(order[:max(MOST_CHUNKS, left // SHORTEST)])
        for element_id in order:
            text = texts.get(element_id, "")
            # a first chunk longer than the budget is cut: with none at all the reader would see relations only
            if text and not passages and tokens.count(text) > left:
                text = excerpt(text, (0, 1), left, tokens.count)
            if not text or (cost := tokens.count(text)) > left:
                continue
            left -= cost
            chunk, score = chunks[element_id]
            passages.append(Passage(text=text, chunk_id=chunk.id, document=chunk.document, score=score))
        return passages, self._settings.l_max - linear.tokens - left


def _entity(element_id: str, name: str, text: str, kind: str | None, score: float) -> EntityText:
    """An entity from its row: the text is the name, then the description."""
    return EntityText(element_id, name, kind, text.removeprefix(name).removeprefix(": ") or None, score)
