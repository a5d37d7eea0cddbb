"""Opens a built-in system by name and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.llm import tokens
from kgeval.llm.rerank import reranker
from kgeval.llm.text_table import Hit, TextTable
from kgeval.records import Passage
from kgeval.systems.builtin.graph_rag import GraphRetriever
from kgeval.systems.builtin.readers import open_reader
from kgeval.systems.builtin.retrieval import Clock, Retrieved, Retriever, SearchedGraph, open_place, window_place
from kgeval.systems.builtin.settings import Settings, read_settings
from kgeval.systems.builtin.system import BuiltinSystem, PlannedSystem
from kgeval.systems.builtin.tools import BuiltinTools
from kgeval.text.windows import excerpt, shares

if TYPE_CHECKING:
    import numpy as np

# Vector RAG: the chunks of highest cosine with the question, optionally ordered by a cross-encoder [K 3.2].

WIDER = 4
"""How many times more windows are searched than chunks are wanted; as many times more again where too few chunks are among them."""
SHORTEST = 50
"""Tokens that a part of a window has at the least: where less of the budget is left there are fewer chunks, no shreds."""


class VectorRetriever:
    """Searches the chunks. `table` null: made for a plan only, which retrieves nothing."""

    def __init__(self, settings: Settings, place: SearchedGraph, *, planned: bool) -> None:
        self._settings, self._place = settings, place
        place.need_chunks(settings.system)
        self._reranker = reranker(settings.rerank) if settings.rerank else None
        self.table: TextTable | None = None
        self.signature = f"embedding={place.embedder.identity}"
        if not planned:
            self.table = place.table("chunks")
            self.signature += f"|index={self.table.about.digest[:12]}|windows={self.table.about.rows}"
            if self._reranker is not None:
                self._reranker.load()

    def retrieve(self, question: str, clock: Clock) -> Retrieved:
        """The best `k` chunks, best first, within `l_max` tokens."""
        vector = self._place.vector(question, clock)
        most = max(self._settings.k, self._settings.candidates) if self._reranker else self._settings.k
        with clock.stage("entry"):
            hits = self._best_windows(vector, most)
        if self._reranker is not None:
            with self._reranker.lock, clock.stage("rerank"):
                hits = _ordered(hits, self._reranker.scores(question, [hit.item.text for hit in hits]))
        with clock.stage("entry"):
            contexts = self._shown(hits[: self._settings.k])
        return Retrieved(contexts, sum(tokens.count(one.text) for one in contexts))

    def bounds(self) -> tuple[int, int]:
        """The tokens of the k shortest and of the k longest chunks; nothing and the budget where that is smaller."""
        counts = sorted(tokens.count(one.text) for one in self._place.reader.chunks())
        low, high = sum(counts[: self._settings.k]), sum(counts[-self._settings.k :])
        return (low, high) if high <= self._settings.l_max else (0, self._settings.l_max)

    def size(self) -> tuple[int, int]:
        """None: only texts are searched."""
        return 0, 0

    def _best_windows(self, vector: np.ndarray, most: int) -> list[Hit]:
        """The best window of each of the best `most` chunks, best first."""
        if self.table is None:
            raise RuntimeError("a plan retrieves nothing")
        asked = WIDER * most
        while True:
            hits = self.table.nearest(vector, asked)
            best: dict[str, Hit] = {}
            for hit in hits:
                best.setdefault(window_place(hit.item)[0], hit)
            if len(best) >= most or len(hits) < asked:
                return list(best.values())[:most]
            asked *= WIDER

    def _shown(self, hits: list[Hit]) -> tuple[Passage, ...]:
        """The chunks of these windows: whole where the budget holds them. Else each its window, best first, as far as the budget goes, and
        around it what it leaves over, the same for all."""
        left, windows = self._settings.l_max, list[int]()
        for hit in hits:
            whole_size = tokens.count(hit.item.text)
            size = min(whole_size, left)
            if windows and size < whole_size and size < SHORTEST:
                break
            windows.append(size)
            left -= size
        hits = hits[: len(windows)]
        places = [window_place(hit.item) for hit in hits]
        parts = [element_id for element_id, _, whole in places if not whole]
        texts = self._place.reader.texts(parts) if parts else {}
        found = [
            hit.item.text if whole else texts.get(element_id, hit.item.text)
            for hit, (element_id, _, whole) in zip(hits, places, strict=True)
        ]
        more = shares([max(0, tokens.count(text) - size) for text, size in zip(found, windows, strict=True)], left)
        return tuple(
            Passage(text=excerpt(text, at, size + extra, tokens.count), chunk_id=hit.item.key, document=hit.item.group, score=hit.score)
            for hit, text, (_, at, _), size, extra in zip(hits, found, places, windows, more, strict=True)
        )


def _ordered(hits: list[Hit], scores: list[float]) -> list[Hit]:
    """The hits by the cross-encoder's scores, which replace the cosines; equal ones stay in their order."""
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)


def open_builtin(name: str, settings: Mapping[str, JsonValue], tools: BuiltinTools) -> BuiltinSystem:
    """The system `closed-book`, `vector`, `graph` or `graph+text`, open. Its index is built now, if the cache has none that fits.

    In a dry run (`tools.planned`) nothing is built, embedded or asked: its answers only count the reader's calls.

    Raises: UsageError for an unknown name, settings (all at once) or a missing tool; LayoutError where the graph has no chunks and the
    system needs them, or no vector index that fits; ConfigError, ModelError where the index cannot be built.
    """
    return open_variant(read_settings(name, settings), tools)


def open_variant(settings: Settings, tools: BuiltinTools) -> BuiltinSystem:
    """As open_builtin, with settings that were read before (`variants`)."""
    planned = tools.planned
    retriever: Retriever | None = None
    if settings.system != "closed-book":
        place = open_place(settings.system, tools)
        kind = VectorRetriever if settings.system == "vector" else GraphRetriever
        retriever = kind(settings, place, planned=planned)
    reader = open_reader(tools)
    if planned:
        return PlannedSystem(settings, reader, retriever, tools.asker)
    return BuiltinSystem(settings, reader, retriever)
