"""Vector RAG: the chunks of highest cosine with the question, optionally ordered by a cross-encoder [K 3.2]."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kgeval.llm import tokens
from kgeval.llm.rerank import reranker
from kgeval.llm.text_table import Hit, TextTable
from kgeval.records import Passage
from kgeval.systems.builtin.retrieval import Clock, Retrieved, SearchedGraph, window_place
from kgeval.systems.builtin.settings import Settings
from kgeval.text.windows import excerpt, shares

if TYPE_CHECKING:
    import numpy as np

WIDER = 4  # times more windows are searched than chunks are wanted; as many times more again where too few chunks are among them
SHORTEST = 50  # tokens that a part of a window has at the least: where less of the budget is left there are fewer chunks, no shreds


class VectorRetriever:
    """Searches the chunks. `table` None: made for a plan only, which retrieves nothing."""

    def __init__(self, settings: Settings, searched: SearchedGraph, *, planned: bool) -> None:
        self._settings, self._searched = settings, searched
        searched.need_chunks(settings.system)
        self._reranker = reranker(settings.rerank) if settings.rerank else None
        self.table: TextTable | None = None
        self.signature = f"embedding={searched.embedder.identity}"
        if not planned:
            self.table = searched.table("chunks", settings.chunk_tokens)
            self.signature += f"|index={self.table.about.digest[:12]}|windows={self.table.about.rows}"
            if self._reranker is not None:
                self._reranker.load()

    def retrieve(self, question: str, clock: Clock, trial: int = 0) -> Retrieved:
        """The best `k` chunks, best first, within `l_max` tokens."""
        vector = self._searched.vector(question, clock)
        most = max(self._settings.k, self._settings.candidates) if self._reranker else self._settings.k
        with clock.stage("entry"):
            hits = self._best_windows(vector, most)
        if self._reranker is not None:
            with self._reranker.lock, clock.stage("rerank"):
                scores = self._reranker.scores(question, [hit.item.text for hit in hits])
                # they replace the cosines; sorting is stable: equal ones stay in their order
                scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
                hits = sorted(scored, key=lambda hit: -hit.score)
        with clock.stage("entry"):
            contexts = self._shown(hits[: self._settings.k])
        return Retrieved(contexts, sum(tokens.count(passage.text) for passage in contexts))

    def bounds(self) -> tuple[int, int]:
        """The tokens of the k shortest and of the k longest chunks; nothing and the budget where that is smaller, and where pieces of
        chunks are retrieved."""
        counts = sorted(tokens.count(chunk.text) for chunk in self._searched.reader.chunks())
        low, high = sum(counts[: self._settings.k]), sum(counts[-self._settings.k :])
        return (low, high) if high <= self._settings.l_max and not self._settings.chunk_tokens else (0, self._settings.l_max)

    def size(self) -> tuple[int, int]:
        """None: only texts are searched."""
        return 0, 0

    def _best_windows(self, vector: np.ndarray, most: int) -> list[Hit]:
        """The best window of each of the best `most` chunks, best first; the best pieces, where these are retrieved."""
        if self.table is None:
            raise RuntimeError("a plan retrieves nothing")
        if self._settings.chunk_tokens:
            return self.table.nearest(vector, most)
        count = WIDER * most
        while True:
            hits = self.table.nearest(vector, count)
            best: dict[str, Hit] = {}
            for hit in hits:
                best.setdefault(window_place(hit.item)[0], hit)
            if len(best) >= most or len(hits) < count:
                return list(best.values())[:most]
            count *= WIDER

    def _shown(self, hits: list[Hit]) -> tuple[Passage, ...]:
        """The chunks of these windows: whole where the budget holds them. Else each its window, best first, as far as
        the budget goes, and around it what it leaves over, the same for all. Pieces stand for themselves."""
        left, windows = self._settings.l_max, list[int]()
        for hit in hits:
            whole_size = tokens.count(hit.item.text)
            size = min(whole_size, left)
            if windows and size < whole_size and size < SHORTEST:
                break
            windows.append(size)
            left -= size
        hits = hits[: len(windows)]
        pieces = self._settings.chunk_tokens > 0
        places = [("", (0, len(hit.item.text)), True) if pieces else window_place(hit.item) for hit in hits]
        parts = [element_id for element_id, _, whole in places if not whole]
        texts = self._searched.reader.texts(parts) if parts else {}
        chunks = [
            hit.item.text if whole else texts.get(element_id, hit.item.text)
            for hit, (element_id, _, whole) in zip(hits, places, strict=True)
        ]
        more = shares([max(0, tokens.count(text) - size) for text, size in zip(chunks, windows, strict=True)], left)
        return tuple(
            Passage(text=excerpt(text, at, size + extra, tokens.count), chunk_id=hit.item.key, document=hit.item.group, score=hit.score)
            for hit, text, (_, at, _), size, extra in zip(hits, chunks, places, windows, more, strict=True)
        )
