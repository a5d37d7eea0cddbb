"""Which entities of the stored graph a text names. The names are read once a run, as a stream, and kept as 8-byte hashes beside their
element ids; a text is looked up by the hashes of its word sequences. In kgeval's own layout the database's index is asked instead.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from kgeval.auditing.completeness.candidates import has_own_index
from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.keys import MOST_OF_A_NAME, Keys
from kgeval.graph.load.naming import name_key
from kgeval.graph.queries import all_queries
from kgeval.graph.retries import once_more
from kgeval.names.mentions import EntityMention, mentions_of, name_spans
from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

READ_ONCE = 3600.0  # seconds that reading all names may take
KeyKind = Literal["names", "aliases", "entity-keys", "relation-keys", "chunk-keys", "relation-sources"]  # but `names` a query's name each


class GraphNames:
    """The names of a graph's entities. The first look-up reads them; every thread that comes meanwhile waits for it."""

    def __init__(self, graph: Graph, layout: Layout) -> None:
        self._graph, self._layout = graph, layout.model_copy()  # a copy: the shelf below forgets names when its owner is gone
        self._lock = threading.Lock()
        self._read: dict[str, Keys | QueryError] = {}
        self.own_index = has_own_index(layout)

    def in_texts(self, texts: Sequence[str], *, timeout: float) -> list[list[EntityMention]]:
        """For each text the entities that it names, longest names first; a name within a longer one comes after all that stand alone.

        Raises: QueryError, QueryTimeout, ConnectionLost.
        """
        spans = [name_spans(text) for text in texts]
        element_ids = self.find(list(dict.fromkeys(span.key for own in spans for span in own)), timeout=timeout)
        return [mentions_of(own, element_ids) for own in spans]

    def find(self, keys: Sequence[str], *, timeout: float, names: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
        """Identity of a name or alias (kgeval.text.signs) -> element ids of entities, of those that are there. `names`: as they are
        written, for the index of normalised names. Raises as in_texts."""
        if not self.own_index:
            return self._keys("names").find(keys)
        element_ids = self._keys("aliases").find(keys)
        wanted = frozenset(keys)
        indexed = sorted({cut for key in (*keys, *names) if (cut := name_key(key, normalise))})
        params = {"keys": indexed, "scope_label": self._layout.scope_label}
        for row in self._graph.read(all_queries()["gold-names-by-key"], params, timeout=timeout):
            key = identity_key(row["name"] or "")
            if key not in wanted:  # the index tells C and C# not apart
                continue
            element_ids_of_name = element_ids.get(key, ())
            if row["element_id"] not in element_ids_of_name and len(element_ids_of_name) < MOST_OF_A_NAME:
                element_ids[key] = (*element_ids_of_name, row["element_id"])
        return element_ids

    def lookup(self, what: KeyKind, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Keys, as they are written -> element ids. `entity-keys`: the layout's own key (a uuid, an id) of entities; `relation-keys`: that
        of relations, or a description in normal form; `chunk-keys`: id or element id; `relation-sources`: a source -> all relations that
        name it. Raises: QueryError, ConnectionLost."""
        if what == "relation-sources":
            return self._keys(what).find(keys, most=None)  # a name may mean few things; a chunk is the source of many
        return self._keys(what).find(keys)

    def _keys(self, what: KeyKind) -> Keys:
        """The keys of one kind, read at the first call. A reading that failed is not tried again for every row."""
        with self._lock:
            if what not in self._read:
                try:
                    self._read[what] = once_more(lambda: Keys(self._pairs(what)))
                except QueryError as cause:
                    self._read[what] = cause
            read = self._read[what]
        if isinstance(read, QueryError):
            raise read
        return read

    def _pairs(self, what: KeyKind) -> Iterator[tuple[str, str]]:
        query = "gold-names" if what == "names" else what
        params = {"layout": self._layout.model_dump()}
        for row in self._graph.stream(all_queries()[query], params, timeout=READ_ONCE):
            element_id = row["element_id"]
            spelled = [row.get("name"), *(row.get("aliases") or ()), row.get("description")]
            keys = dict.fromkeys([*(identity_key(text) for text in spelled if text), row.get("key") or ""])  # keys as they are
            yield from ((key, element_id) for key in keys if key)


class NamesCache:
    """The names of the runs under way. `owner` stands for a run: when it is gone, its names are too, so no run sees an old graph."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[int, int], GraphNames] = {}

    def names(self, owner: object, graph: Graph, layout: Layout) -> GraphNames:
        """The names of a graph for this owner, made at the first call."""
        key = (id(owner), id(graph))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = GraphNames(graph, layout)
                weakref.finalize(owner, self._kept.pop, key, None)
            return self._kept[key]
