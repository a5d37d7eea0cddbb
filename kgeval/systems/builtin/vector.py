"""Vector RAG: the chunks of highest cosine with the question, optionally ordered by a cross-encoder [K 3.2]."""

from __future__ import annotations

import heapq
from dataclasses import replace

from kgeval.llm import tokens
from kgeval.llm.rerank import reranker
from kgeval.llm.text_table import Hit, TextTable
from kgeval.records import Passage
from kgeval.systems.builtin.retrieval import Clock, Place, Retrieved
from kgeval.systems.builtin.settings import Settings


class VectorRetriever:
    """Searches the chunks. `table` null: made for a plan only, which retrieves nothing."""

    def __init__(self, settings: Settings, place: Place, *, planned: bool) -> None:
        self._settings, self._place = settings, place
        place.need_chunks(settings.system)
        self._reranker = reranker(settings.rerank) if settings.rerank else None
        self.table: TextTable | None = None
        self.signature = f"embedding={place.embedder.identity}"
        if not planned:
            self.table = place.table("chunks")
            self.signature += f"|index={self.table.about.digest[:12]}"
            if self._reranker is not None:
                self._reranker.load()

    def retrieve(self, question: str, clock: Clock) -> Retrieved:
        """The best `k` chunks, best first."""
        if self.table is None:
            raise RuntimeError("a plan retrieves nothing")
        vector = self._place.vector(question, clock)
        most = max(self._settings.k, self._settings.candidates) if self._reranker else self._settings.k
        with clock.stage("entry"):
            hits = self.table.nearest(vector, most)
        if self._reranker is not None:
            with self._reranker.lock, clock.stage("rerank"):
                hits = _ordered(hits, self._reranker.scores(question, [hit.item.text for hit in hits]))
        contexts = tuple(
            Passage(text=hit.item.text, chunk_id=hit.item.key, document=hit.item.group, score=hit.score)
            for hit in hits[: self._settings.k]
        )
        return Retrieved(contexts, sum(tokens.count(one.text) for one in contexts))

    def bounds(self) -> tuple[int, int]:
        """The tokens of the k shortest and of the k longest chunks."""
        counts = [tokens.count(one.text) for one in self._place.reader.chunks()]
        return sum(heapq.nsmallest(self._settings.k, counts)), sum(heapq.nlargest(self._settings.k, counts))

    def size(self) -> tuple[int, int]:
        """None: only texts are searched."""
        return 0, 0


def _ordered(hits: list[Hit], scores: list[float]) -> list[Hit]:
    """The hits by the cross-encoder's scores, which replace the cosines; equal ones stay in their order."""
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)
