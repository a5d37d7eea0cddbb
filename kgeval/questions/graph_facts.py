"""What a run must know of the whole graph to prove a question: all names, whether there are chunks, which predicates
and names each type has.

Read once a run, as streams, and kept in flat memory; in kgeval's own layout names come from the database's index.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgeval.auditing.completeness.candidates import has_own_index
from kgeval.graph.connect import Graph
from kgeval.graph.keys import Keys
from kgeval.graph.load.naming import name_key
from kgeval.graph.queries import all_queries
from kgeval.questions.word_index import TooLongError, WordIndex
from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

MOST_NAMES = 2_000  # of one type that are kept
READ_ONCE = 3600.0  # seconds that one reading of the whole graph may take


@dataclass(frozen=True)
class PredicateUsage:
    """How a type uses a predicate: `entities` of the type have it, out of them (`outgoing`) or into them; `other`: the
    most common type at its other end."""

    predicate: str
    outgoing: bool
    entities: int
    other: str | None


class GraphFacts:
    """What was read of a graph so far. The first question reads; every thread that comes meanwhile waits for it."""

    def __init__(self, graph: Graph, layout: Layout) -> None:
        # a copy of the layout: `facts_of` forgets this object when the layout that it was made for is gone
        self._graph, self._layout = graph, layout.model_copy()
        self._lock = threading.Lock()
        self._keys: Keys | None = None
        self._chunks: bool | None = None
        self._usage: dict[str, list[PredicateUsage]] | None = None
        self._indexes: dict[str, WordIndex | None] = {}
        self._names: dict[tuple[str, int], list[str]] = {}

    def entities(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Normalised name or alias -> element ids of the entities that are called so, of the names that are there.

        Raises: QueryError, QueryTimeout, ConnectionLost.
        """
        called = list(names)
        keys = sorted({key for name in called if (key := identity_key(name))})
        ids = self._aliases_or_names().find(keys, most=None)
        if has_own_index(self._layout):
            for key, element_id in self._by_index(called, set(keys)):
                ids[key] = tuple(dict.fromkeys((*ids.get(key, ()), element_id)))
        return ids

    def has_chunks(self) -> bool:
        """Whether the graph has a chunk with text."""
        with self._lock:
            if self._chunks is None:
                rows = self._graph.read(all_queries()["prove-chunks"], self._params(), timeout=READ_ONCE)
                self._chunks = bool(rows[0]["found"])
            return self._chunks

    def text_words(self) -> WordIndex | None:
        """The words of all chunk texts; None where there is too much text to be kept."""
        return self._words("told-texts")

    def name_words(self) -> WordIndex | None:
        """The words of all names and aliases; None as above."""
        return self._words("told-names")

    def _words(self, query: str) -> WordIndex | None:
        with self._lock:
            if query not in self._indexes:
                rows = self._graph.stream(all_queries()[query], self._params(), timeout=READ_ONCE)
                try:
                    self._indexes[query] = WordIndex((row["element_id"], row["id"], row["text"]) for row in rows)
                except TooLongError:
                    # remembered too: where there is too much text, it is not read again for each question
                    self._indexes[query] = None
            return self._indexes[query]

    def usage(self, kind: str) -> Sequence[PredicateUsage]:
        """How entities of a type use predicates, the most used first."""
        with self._lock:
            if self._usage is None:
                self._usage = {}
                for row in self._graph.stream(all_queries()["answers-predicates"], self._params(), timeout=READ_ONCE):
                    self._usage.setdefault(row["type"] or "", []).append(
                        PredicateUsage(row["predicate"], row["outgoing"], row["entities"], row["other"])
                    )
            return self._usage.get(kind, ())

    def names(self, kind: str, seed: int) -> Sequence[str]:
        """Names of several words of entities of a type, MOST_NAMES of them that the seed decides."""
        with self._lock:
            if (kind, seed) not in self._names:
                params = {**self._params(), "type": kind, "seed": seed, "most": MOST_NAMES}
                rows = self._graph.read(all_queries()["answers-names-of-type"], params, timeout=READ_ONCE)
                self._names[kind, seed] = [row["name"] for row in rows]
            return self._names[kind, seed]

    def _params(self) -> Mapping[str, object]:
        return {"layout": self._layout.model_dump()}

    def _aliases_or_names(self) -> Keys:
        """All names and aliases; where an index has the names, the aliases."""
        with self._lock:
            if self._keys is None:
                query = all_queries()["aliases" if has_own_index(self._layout) else "gold-names"]
                self._keys = Keys(self._spelled(query.name))
            return self._keys

    def _spelled(self, query: str) -> Iterator[tuple[str, str]]:
        for row in self._graph.stream(all_queries()[query], self._params(), timeout=READ_ONCE):
            spelled = {identity_key(text) for text in (row.get("name"), *row["aliases"]) if text}
            yield from ((key, row["element_id"]) for key in sorted(spelled) if key)

    def _by_index(self, names: Sequence[str], wanted: Collection[str]) -> Iterator[tuple[str, str]]:
        """By the index of normalised names, which tells C and C# not apart."""
        keys = sorted({key for name in names if (key := name_key(name, normalise))})
        params = {"keys": keys, "scope_label": self._layout.scope_label}
        for row in self._graph.read(all_queries()["gold-names-by-key"], params, timeout=READ_ONCE):
            if (key := identity_key(row["name"] or "")) in wanted:
                yield key, row["element_id"]


_LOCK = threading.Lock()
_KEPT: dict[tuple[int, int], GraphFacts] = {}


def facts_of(graph: Graph, layout: Layout) -> GraphFacts:
    """What is known of a graph, for one run: kept as long as this layout object lives, so that no later run sees an old
    graph."""
    key = (id(graph), id(layout))
    with _LOCK:
        if key not in _KEPT:
            _KEPT[key] = GraphFacts(graph, layout)
            weakref.finalize(layout, _KEPT.pop, key, None)
        return _KEPT[key]
