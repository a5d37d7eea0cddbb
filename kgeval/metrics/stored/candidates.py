"""What the stored graph says of the entities that claims name: the triples that a judge is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph, Row
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import SettingsView
from kgeval.metrics.stored.names import GraphNames
from kgeval.names.mentions import EntityMention
from kgeval.records import Layout

# Bounds of what is read for one answer: a claim that names a hub ("London") must not read half of the graph
MOST_NAMED = 20  # entities of one claim
MOST_IDS = 100  # entities of one answer
MOST_BETWEEN = 2_000  # relations between these entities
MOST_AROUND = 100  # further relations of one entity
LONGEST_DESCRIPTION = 300  # characters of a description
T = TypeVar("T")


@dataclass(frozen=True)
class GraphLine:
    """What the graph says in one place, as text: a relation with both ends, or an entity with its type and description (no ends)."""

    element_id: str
    text: str
    ends: frozenset[str]

    @property
    def is_relation(self) -> bool:
        """False for a line about an entity."""
        return len(self.ends) > 1


@dataclass(frozen=True)
class StoredGraph:
    """The stored graph as a fact sees it, with the settings that the fact declares."""

    graph: Graph
    layout: Layout
    names: GraphNames
    settings: SettingsView

    def ask(self, query: str, **params: object) -> list[Row]:
        """The rows of one of kgeval's queries, within the time limit. Raises: QueryError, QueryTimeout, ConnectionLost."""
        return self.graph.read(all_queries()[query], {"layout": self.layout.model_dump(), **params}, timeout=self.settings.query_timeout)


def from_graph(read: Callable[[], T]) -> T | Failure:
    """What a row's queries give, or why the database refuses them: that is this row's failure, not the run's.

    Raises: ConnectionLost: without a server no later row could be read either.
    """
    try:
        return read()
    except ConnectionLost:
        raise
    except QueryError as cause:
        return Failure("graph_error", cause.message)


def candidates(claims: Sequence[str], store: StoredGraph) -> list[list[GraphLine]]:
    """For each claim the lines that may support it, best first: relations between two entities that it names, then what is said of
    one of them and its other relations, those that share most words with the claim first. No line where it names nothing.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    named = [own[:MOST_NAMED] for own in store.names.in_texts(claims, timeout=store.settings.query_timeout)]
    # the first entity of every claim, then the second of each ...: a claim that names many cannot crowd out the others
    rounds = max(map(len, named), default=0)
    ids = list(dict.fromkeys(own[index].element_id for index in range(rounds) for own in named if index < len(own)))[:MOST_IDS]
    lines = _lines(ids, store) if ids else []
    return [_ranked(claim, own, lines) for claim, own in zip(claims, named, strict=True)]


def _lines(ids: list[str], store: StoredGraph) -> list[GraphLine]:
    lines = {line.element_id: line for line in map(_entity_line, store.ask("entity-lines", ids=ids)) if line is not None}
    for row in (*store.ask("relations-between", ids=ids, most=MOST_BETWEEN), *store.ask("relations-around", ids=ids, most=MOST_AROUND)):
        description = f": {row['description'][:LONGEST_DESCRIPTION]}" if (row["description"] or "").strip() else ""
        text = f"{row['subject'] or '?'} -[{row['predicate']}]-> {row['object'] or '?'}{description}"
        lines.setdefault(row["element_id"], GraphLine(row["element_id"], text, frozenset((row["start"], row["end"]))))
    return list(lines.values())


def _entity_line(row: Row) -> GraphLine | None:
    """None for an entity of which the graph says nothing but its name."""
    kind, description = row["type"] or "", (row["description"] or "").strip()[:LONGEST_DESCRIPTION]
    if not kind and not description:
        return None
    text = f"{row['name'] or '?'}" + (f" (a {kind})" if kind else "") + (f": {description}" if description else "")
    return GraphLine(row["element_id"], text, frozenset((row["element_id"],)))


def _ranked(claim: str, named: Sequence[EntityMention], lines: Sequence[GraphLine]) -> list[GraphLine]:
    from rapidfuzz import fuzz

    mine = frozenset(mention.element_id for mention in named)
    near = [line for line in lines if line.ends & mine]
    likeness = partial(fuzz.token_set_ratio, claim.casefold())
    order = sorted(near, key=lambda line: (-len(line.ends & mine) if line.is_relation else -1, -likeness(line.text.casefold()), line.text))
    return list({line.text: line for line in reversed(order)}.values())[::-1]  # of equal lines the first


def parts(wanted: Sequence[Sequence[GraphLine]], *, most: int, items: int) -> Iterator[tuple[list[int], list[GraphLine]]]:
    """The claims that have lines, in one part, or in two where they want more than `most` lines together, or in as many as it takes
    for `items` claims each: positions of claims, and the lines that they are shown, at most `most`.

    Every claim gets its best line before any gets its second.
    """
    places = [place for place, own in enumerate(wanted) if own]
    together = {line.text for place in places for line in wanted[place][:most]}
    count = max(-(-len(places) // items), 2 if len(together) > most and len(places) > 1 else 1)
    size = -(-len(places) // count) if places else 1
    for start in range(0, len(places), size):
        part = places[start : start + size]
        yield part, _fair([wanted[place] for place in part], most)


def _fair(wanted: Sequence[Sequence[GraphLine]], most: int) -> list[GraphLine]:
    chosen: dict[str, GraphLine] = {}
    for rank in range(max(map(len, wanted))):
        for own in wanted:
            if rank < len(own):
                chosen.setdefault(own[rank].text, own[rank])
            if len(chosen) == most:
                return list(chosen.values())
    return list(chosen.values())
