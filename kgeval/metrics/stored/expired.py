"""Which of the retrieved nodes and relations the stored graph marks as no longer valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.errors import QueryError
from kgeval.graph.failures import ConnectionLost
from kgeval.llm.calls import Failure
from kgeval.metrics.facts import Expired
from kgeval.metrics.stored.candidates import Store
from kgeval.metrics.stored.joins import arrow, by_names, is_node_id, is_relation_id, joined, same_kind
from kgeval.records import Row
from kgeval.text.names import normalise

MOST = 5_000  # retrieved things that are looked up

Places = Mapping[str, tuple[str, ...]]  # what was retrieved, as told -> element ids of what it may be


def expired(row: Row, store: Store) -> Expired | None:
    """The fact "expired"; null where the answer does not tell what it retrieved.

    A thing counts if the graph knows it and it can expire: every relation, and nodes that carry one of the layout's properties of
    time. It is expired if everything that it may be is: of two facts of one name one may be the current one. Raises: ConnectionLost.
    """
    nodes, relations = row.answer.retrieved_nodes, row.answer.retrieved_relations
    if nodes is None and relations is None:
        return None
    told = [list(dict.fromkeys(given or ()))[:MOST] for given in (nodes, relations)]
    count = sum(map(len, told))
    if not (store.layout.expired_key or store.layout.valid_to_key):
        return Expired(retrieved=count, nothing=f"layout {store.layout.name} has no property that says when a fact ends")
    try:
        marks = _marks(_nodes(told[0], store), "node-validity", store) + _marks(_relations(told[1], store), "relation-validity", store)
    except ConnectionLost:
        raise
    except QueryError as cause:
        return Expired(retrieved=count, failure=Failure("graph_error", cause.message))
    old = [ids for ids, ended in marks if ended]
    ids = tuple(dict.fromkeys(element_id for group in old for element_id in group))
    return Expired(count, len(marks), len(old), ids, None if marks else "the graph knows none of them that could expire")


def _marks(places: Places, query: str, store: Store) -> list[tuple[tuple[str, ...], bool]]:
    """For each thing that can expire: what it may be, and whether all of that has ended."""
    asked = sorted({element_id for ids in places.values() for element_id in ids})
    ended = {row["element_id"]: row["expired"] for row in store.ask(query, ids=asked)} if asked else {}
    found = [tuple(element_id for element_id in ids if element_id in ended) for ids in places.values()]
    return [(ids, all(ended[element_id] for element_id in ids)) for ids in found if ids]


def _nodes(told: Sequence[str], store: Store) -> Places:
    places = {text: (text,) for text in told if is_node_id(text)}
    others = [text for text in told if text not in places]
    if not others:
        return places
    return places | by_names(others, store) | store.names.by_key(others)


def _relations(told: Sequence[str], store: Store) -> Places:
    """By element id, by A -[TYPE]-> B, by the layout's own key, or by the words of the fact."""
    places: dict[str, tuple[str, ...]] = {text: (text,) for text in told if is_relation_id(text)}
    arrows = {text: one for text in told if text not in places and (one := arrow(text)) is not None}
    ends = by_names([name for one in arrows.values() for name in (one.start, one.end)], store) if arrows else {}
    among = joined((element_id for ids in ends.values() for element_id in ids), store)
    for text, one in arrows.items():
        rows = among.between(ends.get(one.start, ()), ends.get(one.end, ()))
        if ids := tuple(row["element_id"] for row in rows if same_kind(row, one.kind)):
            places[text] = ids
    others = [text for text in told if text not in places]
    if not others:
        return places
    words = {text: normalise(text) for text in others}
    by_key = store.names.relations_by_key([*others, *(key for key in words.values() if key)])
    return places | {text: known for text in others if (known := by_key.get(text) or by_key.get(words[text], ()))}
