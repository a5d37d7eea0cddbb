"""What a retriever is, and what vector search and the graph have in common: the question's vector, the tables, the
clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from kgeval.errors import LayoutError, UsageError
from kgeval.graph.entry import EntryReader
from kgeval.llm.calls import Spent
from kgeval.llm.text_table import About, Item, TextTable, open_table
from kgeval.records import Passage
from kgeval.systems.builtin.tools import NEEDS, BuiltinTools
from kgeval.text.windows import OVERLAP, windows

if TYPE_CHECKING:
    import numpy as np

    from kgeval.llm.embed import Embedder


# tokens (o200k_base) of a chunk's windows where nobody says how much the embedding model reads, as with an endpoint
WINDOW = 256


@dataclass(frozen=True)
class Retrieved:
    """What was found for a question. `nodes`, `relations`: element ids; None: this system retrieves none. `tokens`: of
    the contexts. `spent`: on calls of the model that found them (None: none was asked)."""

    contexts: tuple[Passage, ...]
    tokens: int
    nodes: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    spent: Spent | None = None


class RetrievalFailed(Exception):
    """Nothing could be retrieved for this question: a cause, a colon, and what happened."""


class Retriever(Protocol):
    """Finds contexts. `signature`: what they depend on. `table`: the index that it searches; None: it needs none."""

    signature: str
    table: TextTable | None

    def retrieve(self, question: str, clock: Clock, trial: int = 0) -> Retrieved:
        """The contexts of a question. The seconds of its stages go to the clock. `trial`: with another one a model is asked anew."""

    def bounds(self) -> tuple[int, int]:
        """Tokens of the contexts of one question, low and high."""

    def size(self) -> tuple[int, int]:
        """Entities and relations of the graph that it walks; 0 where it walks none."""


@dataclass
class Clock:
    """Seconds of the stages of one question."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts what is done inside for a stage."""
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + perf_counter() - started, 6)

    @property
    def retrieval(self) -> float:
        """Seconds of all stages so far."""
        return round(sum(self.seconds.values()), 6)


@dataclass(frozen=True)
class SearchedGraph:
    """The graph that is searched and the model that embeds."""

    reader: EntryReader
    embedder: Embedder
    tools: BuiltinTools

    def vector(self, question: str, clock: Clock) -> np.ndarray:
        """The question's vector, made now: the cache would tell a wrong time. Waiting for another question's turn does
        not count."""
        with self.embedder.lock, clock.stage("entry"):
            return self.embedder.fresh(question)

    def table(self, kind: str, chunk_tokens: int = 0) -> TextTable:
        """The index of the graph's chunks or entities, built if need be, and said so. `chunk_tokens`: chunks are cut into pieces of so many
        tokens, which do not overlap; 0: into windows as long as the model reads.

        Raises: UsageError where the model reads less of a text than a piece has.
        """
        info, layout = self.reader.graph.info, self.reader.layout
        with self.embedder.lock:
            reads = self.embedder.window()
        if chunk_tokens and reads is not None and chunk_tokens > reads:
            raise UsageError(
                f"chunk_tokens={chunk_tokens}: {self.embedder.name} reads {reads} tokens of a text, and would find nothing of the rest",
                fix=f"give chunk_tokens={reads} at most, or an embedding model that reads more",
            )
        window, overlap = (chunk_tokens, 0.0) if chunk_tokens else (reads or WINDOW, OVERLAP)
        cut = partial(chunk_windows, most=window, lengths=self.embedder.lengths, overlap=overlap) if kind == "chunks" else None
        source = json.dumps(
            [info.uri, info.database, layout.model_dump(), *([window, overlap] if cut else [])], sort_keys=True,
        )
        name = f"{kind}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"

        def items() -> Iterable[Item]:
            if kind == "chunks":
                return (Item(chunk.element_id, chunk.id, chunk.text, chunk.document) for chunk in self.reader.chunks())
            return (Item(entity.element_id, entity.name, entity.text, entity.type) for entity in self.reader.entities())

        with self.embedder.lock:
            table = open_table(name, items, self.embedder, cache_dir=self.tools.cache_dir, say=self.tools.say, cut=cut)
            # writes the new vectors to the cache now: a run that is killed later does not embed them again
            self.embedder.close()
        about = table.about
        if table.built:
            parts = f" in {about.rows} windows" if about.texts not in (None, about.rows) else ""
            self.tools.say(
                f"index: {about.texts or about.rows} {kind}{parts} embedded with {about.model} in {about.seconds:.1f} s"
            )
        if about.unread:
            self.tools.say(f"caution: {unread(about)}")
        return table

    def need_chunks(self, system: str) -> None:
        """Raises: LayoutError where the graph has no chunk with a text."""
        if next(iter(self.reader.chunks()), None) is None:
            raise LayoutError(
                f"{system} needs the texts of chunks, and this graph has none (layout {self.reader.layout.name})",
                fix="take the system graph, or a layout whose chunk_labels and chunk_text_keys name them: kgeval layout show explains",
            )


def unread(about: About) -> str:
    """What an index does not know, in a sentence."""
    share = min(100 * about.unread, 99.9) if about.unread < 1 else 100.0  # three digits: never 0, and 100 only where nothing is known
    return f"{share:.3g} % of the indexed text is in no vector: {about.model} reads no more of a text; what stands there is not found"


def chunk_windows(
    chunks: Sequence[Item], *, most: int, lengths: Callable[[Sequence[str]], list[int]], overlap: float = OVERLAP,
) -> list[Item]:
    """The windows of chunks, each under the chunk's own key and group; their id says where they stand
    (`window_place`)."""
    items = []
    for chunk in chunks:
        spans = windows(chunk.text, most, lengths, overlap=overlap)
        items += [
            replace(chunk, id=f"{chunk.id}#{start}#{len(spans)}", text=chunk.text[start:end]) for start, end in spans
        ]
    return items


def window_place(item: Item) -> tuple[str, tuple[int, int], bool]:
    """The element id of a window's chunk, where in its text the window stands, and whether it is the whole text."""
    element_id, start, count = item.id.rsplit("#", 2)
    return element_id, (int(start), int(start) + len(item.text)), count == "1"


def search_with(system: str, tools: BuiltinTools) -> SearchedGraph:
    """What a system searches. Raises: UsageError where a tool is missing that the system needs."""
    there = {"reader": True, "chunks": True, "embedder": tools.embedder, "graph": tools.graph and tools.layout}
    missing = sorted(need for need in NEEDS[system] if not there[need])
    if missing or tools.graph is None or tools.layout is None or tools.embedder is None:
        raise UsageError(
            f"the system {system} needs {' and '.join(missing)}", fix="name the graph with --graph, or take closed-book"
        )
    return SearchedGraph(EntryReader(tools.graph, tools.layout, timeout=tools.timeout), tools.embedder, tools)
