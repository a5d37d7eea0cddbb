"""GraphRAG as [K 3.3.2] describes it: entry entities by cosine, expansion in Cypher, relations as sentences within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

from kgeval.graph.entry import Around, EntityText, VectorIndex
from kgeval.llm import tokens
from kgeval.llm.rerank import Reranker, reranker
from kgeval.llm.text_table import TextTable
from kgeval.records import Passage
from kgeval.systems.builtin.linear import Edge, Linear, about, budgeted, reached, sentence
from kgeval.systems.builtin.retrieval import Clock, Place, Retrieved
from kgeval.systems.builtin.settings import Settings
from kgeval.text.windows import excerpt

FRONT = 1_000
"""Entities that one hop goes on from, at most."""
MOST_CHUNKS, SHORTEST = 100, 10
"""Chunks whose texts are read, at most: that many, or as many of so few tokens as the budget could hold."""


@dataclass(frozen=True)
class Found:
    """What the graph gave for a question, before the budget. `near`: entity -> the relations around it."""

    entries: tuple[EntityText, ...]
    near: dict[str, list[Around]]


class GraphRetriever:
    """Searches the entities and walks the graph. `table` null: the database's own vector index is searched, or nothing (a plan)."""

    def __init__(self, settings: Settings, place: Place, *, planned: bool) -> None:
        self._settings, self._place = settings, place
        self._with_text = settings.system == "graph+text"
        if self._with_text:
            place.need_chunks(settings.system)
        self._reranker = reranker(settings.rerank) if settings.rerank else None
        self.table: TextTable | None = None
        self._index: VectorIndex | None = None
        self.signature = f"embedding={place.embedder.identity}"
        if planned:
            return
        if settings.entry == "neo4j":
            with place.embedder.lock:
                self._index = place.reader.index(settings.index, len(place.embedder.fresh("ready")))
            self.signature += f"|neo4j={self._index.name}"
        else:
            self.table = place.table("entities")
            self.signature += f"|index={self.table.about.digest[:12]}"
        self.signature += "|graph={}/{}".format(*self.size())  # the index's digest knows nothing of relations
        place.reader.around([""], 1)  # the server plans the query now, not while the first question waits
        if self._reranker is not None:
            self._reranker.load()

    def set_to(self, settings: Settings) -> GraphRetriever:
        """The same with other settings of the walk and the budget; the index stays."""
        other = copy(self)
        other._settings = settings
        return other

    def retrieve(self, question: str, clock: Clock) -> Retrieved:
        """The relations around the entry entities as passages, and with graph+text the chunks that they come from."""
        return self.shown(question, self.found(question, clock), clock)

    def bounds(self) -> tuple[int, int]:
        """Nothing, or the whole budget."""
        return 0, self._settings.l_max

    def size(self) -> tuple[int, int]:
        """Entities and relations of the graph."""
        return self._place.reader.size()

    def found(self, question: str, clock: Clock) -> Found:
        """The entry entities, best first, and the relations around them, hop by hop."""
        vector = self._place.vector(question, clock)
        with clock.stage("entry"):
            entries = [one for one in self._nearest(vector.tolist()) if one.score > self._settings.theta]
        with clock.stage("expand"):
            near: dict[str, list[Around]] = {}
            front = [one.element_id for one in entries]
            for _ in range(self._settings.hops):
                rows = self._place.reader.around(front[:FRONT], self._settings.most)
                near |= {one: [] for one in front[:FRONT]}
                for row in rows:
                    near[row.at].append(row)
                front = list(dict.fromkeys(end for row in rows for end in (row.start, row.end) if end not in near))
        return Found(tuple(entries), near)

    def shown(self, question: str, found: Found, clock: Clock) -> Retrieved:
        """What of it fits into the budget, as passages. The nodes: entry entities, and the ends of the relations that are shown."""
        edges = reached(found.entries, found.near, self._settings.hops)
        if self._reranker is not None:
            with self._reranker.lock, clock.stage("rerank"):
                edges = self._reranked(question, edges, self._reranker)
        lead = [about(one) for one in found.entries if one.description or (one.type and not edges)] if self._settings.describe else []
        with clock.stage("expand"):
            share = self._settings.text_share if self._with_text else 0.0
            linear = budgeted(
                edges, round(self._settings.l_max * (1 - share)), tokens.count, describe=self._settings.describe, lead=lead,
                layout=self._place.reader.layout,
            )
            texts, used = self._texts(linear) if self._with_text else ([], 0)
        ends = [end for edge in linear.edges for end in (edge.relation.start, edge.relation.end)]
        return Retrieved(
            (*linear.passages, *texts), linear.tokens + used,
            nodes=tuple(dict.fromkeys([*(one.element_id for one in found.entries), *ends])),
            relations=tuple(edge.relation.element_id for edge in linear.edges),
        )

    def _nearest(self, vector: list[float]) -> list[EntityText]:
        most, types = self._settings.k, self._settings.entity_types
        if self._index is not None:
            return self._place.reader.nearest(self._index, vector, most, types)
        if self.table is None:
            raise RuntimeError("a plan retrieves nothing")
        import numpy as np

        hits = self.table.nearest(np.asarray(vector, dtype=np.float32), most, types)
        return [_entity(hit.item.id, hit.item.key, hit.item.text, hit.item.group, hit.score) for hit in hits]

    def _reranked(self, question: str, edges: Sequence[Edge], reranker: Reranker) -> list[Edge]:
        """The first `candidates` relations by the cross-encoder's score of their sentences; the others after them, as they were."""
        first, others = list(edges[: self._settings.candidates]), list(edges[self._settings.candidates :])
        layout, describe = self._place.reader.layout, self._settings.describe
        scores = reranker.scores(question, [sentence(edge.relation, layout, describe=describe) for edge in first])
        ordered = sorted(zip(first, scores, strict=True), key=lambda pair: -pair[1])
        return [*(replace(edge, score=score) for edge, score in ordered), *others]

    def _texts(self, linear: Linear) -> tuple[list[Passage], int]:
        """The chunks that the shown relations come from, in the relations' order, as far as the rest of the budget goes."""
        chunks = {chunk.element_id: (chunk, edge.score) for edge in reversed(linear.edges) for chunk in edge.relation.chunks[::-1]}
        order = list(dict.fromkeys(chunk.element_id for edge in linear.edges for chunk in edge.relation.chunks if chunk.element_id))
        left, made = self._settings.l_max - linear.tokens, list[Passage]()
        texts = self._place.reader.texts(order[:max(MOST_CHUNKS, left // SHORTEST)])
        for element_id in order:
            text = texts.get(element_id, "")
            if text and not made and tokens.count(text) > left:
                text = excerpt(text, (0, 1), left, tokens.count)
            if not text or (cost := tokens.count(text)) > left:
                continue
            left -= cost
            chunk, score = chunks[element_id]
            made.append(Passage(text=text, chunk_id=chunk.id, document=chunk.document, score=score))
        return made, self._settings.l_max - linear.tokens - left


def _entity(element_id: str, name: str, text: str, kind: str | None, score: float) -> EntityText:
    """An entity from its row: the text is the name, then the description."""
    return EntityText(element_id, name, kind, text.removeprefix(name).removeprefix(": ") or None, score)

