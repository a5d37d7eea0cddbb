"""Things of the stored graph by what people call them: element ids, keys, names, and relations written as A -[TYPE]-> B."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgeval.graph.connect import Row
from kgeval.llm.characters import whole
from kgeval.metrics.stored.candidates import MOST_BETWEEN, MOST_IDS, StoredGraph
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

LONGEST = 2_000  # characters of a name
# element ids of Neo4j 5: 4 is a node, 5 a relation, then the database's UUID and the number in it
_NODE_ID = re.compile(r"4:[0-9a-fA-F-]{1,64}:\d{1,19}")
_RELATION_ID = re.compile(r"5:[0-9a-fA-F-]{1,64}:\d{1,19}")
_ARROW = re.compile(r"\A(.+?)\s*-+\s*\[:?(.*?)\]\s*-+>\s*(.+)\Z", re.DOTALL)
_BARE_ARROW = re.compile(r"\A(.+?)\s*(?:-+|=+)>\s*(.+)\Z", re.DOTALL)


@dataclass(frozen=True)
class Arrow:
    """A relation as text: names of its ends, and its type or predicate, if it is told."""

    start: str
    kind: str | None
    end: str


@dataclass(frozen=True)
class RelationsAmong:
    """Relations among some entities, as rows of relations-between."""

    rows: tuple[Row, ...]

    def between(self, one: Sequence[str], other: Sequence[str]) -> list[Row]:
        """The relations between two sets of entities, in either direction."""
        a, b = frozenset(one), frozenset(other)
        return [row for row in self.rows if (row["start"] in a and row["end"] in b) or (row["start"] in b and row["end"] in a)]


def is_node_id(text: str) -> bool:
    """Whether a text has the form of a node's element id."""
    return _NODE_ID.fullmatch(text) is not None


def is_relation_id(text: str) -> bool:
    """Whether a text has the form of a relation's element id."""
    return _RELATION_ID.fullmatch(text) is not None


def arrow(text: str) -> Arrow | None:
    """The relation that a text writes as A -[TYPE]-> B or A -> B; None if it writes none."""
    if match := _ARROW.match(text[:LONGEST]):
        return Arrow(match[1].strip(), match[2].strip() or None, match[3].strip())
    if match := _BARE_ARROW.match(text[:LONGEST]):
        return Arrow(match[1].strip(), None, match[2].strip())
    return None


def relations_among(ids: Iterable[str], store: StoredGraph) -> RelationsAmong:
    """The relations among these entities (the first MOST_IDS of them). Raises: QueryError."""
    element_ids = list(dict.fromkeys(ids))[:MOST_IDS]
    return RelationsAmong(tuple(store.ask("relations-between", ids=element_ids, most=MOST_BETWEEN)) if len(element_ids) > 1 else ())


def by_names(names: Iterable[str], store: StoredGraph) -> dict[str, tuple[str, ...]]:
    """Name as given -> element ids of the entities that are called so, once normalised. Raises: QueryError."""
    keys = {name: identity_key(whole(name[:LONGEST])) for name in dict.fromkeys(names)}
    element_ids = store.names.find([key for key in dict.fromkeys(keys.values()) if key], timeout=store.settings.query_timeout, names=keys)
    return {name: element_ids[key] for name, key in keys.items() if key in element_ids}


def same_kind(row: Row, kind: str | None) -> bool:
    """Whether a relation is of this type, or has this predicate, once normalised (BORN_IN is "born in"). No kind: any is."""
    return kind is None or normalise(kind) in (normalise(row["type"]), normalise(row["predicate"] or ""))


def relation_text(row: Row) -> str:
    """A relation as text."""
    return f"{row['subject'] or '?'} -[{row['predicate']}]-> {row['object'] or '?'}"
