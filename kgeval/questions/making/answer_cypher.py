"""The Cypher that returns a question's answer from the graph: whole, with its values in it, for people who paste it
into Neo4j Browser."""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.graph.connect import Graph
from kgeval.graph.literals import cypher_literal, cypher_name
from kgeval.questions.proof import has_direction
from kgeval.records import Layout, Structure

TIMEOUT = 60.0  # seconds of one proof


def path_query(layout: Layout, path: Structure, starts: Sequence[str]) -> str:
    """Returns the names of all entities that a path's predicates lead to from the entities of these names. Raises:
    ValueError for text that Cypher cannot hold."""
    nodes = ["s", *(f"n{hop}" for hop in range(1, len(path.relations))), "a"]
    pattern, conditions = _node(layout, "s"), []
    for hop, relation in enumerate(path.relations):
        before, after = ("-", "->") if relation.source == path.nodes[hop].element_id else ("<-", "-")
        if not has_direction(layout, relation.predicate):
            before = after = "-"
        pattern += f"{before}[r{hop + 1}{_type(relation.type)}]{after}{_node(layout, nodes[hop + 1])}"
        conditions += _predicate(layout, f"r{hop + 1}", [relation.predicate])
    # Cypher may come back to an entity over another relation: a path of the question does not
    apart = [f"{first} <> {second}" for hop, first in enumerate(nodes) for second in nodes[hop + 1 :]]
    return _query(
        pattern, [_named(layout, "s", starts), *conditions, *_scopes(layout, nodes), *apart], _name(layout, "a"),
    )


def either_query(layout: Layout, starts: Sequence[str], predicates: Sequence[str]) -> str:
    """Returns the names of all entities that one of the predicates joins, in either direction, to the entities of these
    names."""
    conditions = _predicate(layout, "r", predicates) or [f"type(r) IN {cypher_literal(predicates)}"]
    pattern = f"{_node(layout, 's')}-[r]-{_node(layout, 'a')}"
    return _query(pattern, [_named(layout, "s", starts), *conditions, *_scopes(layout, ["s", "a"])], _name(layout, "a"))


def answers(graph: Graph, query: str, *, timeout: float = TIMEOUT) -> list[str]:
    """What such a query returns. Raises: QueryError, QueryTimeout, ConnectionLost."""
    return [str(row["answer"]) for row in graph.read(query, timeout=timeout)]


def _query(pattern: str, conditions: Sequence[str], answer: str) -> str:
    return f"MATCH {pattern}\nWHERE " + "\n  AND ".join(conditions) + f"\nRETURN DISTINCT {answer} AS answer"


def _node(layout: Layout, name: str) -> str:
    """A node of the pattern with the labels of entities; without where the relations tell that it is one."""
    if layout.relations_join_entities_only and name != "s":
        return f"({name})"
    labels = "|".join(map(cypher_name, layout.entity_labels))
    parts = [f"({labels})" if len(layout.entity_labels) > 1 else labels]
    parts += [f"!{cypher_name(label)}" for label in layout.entity_excluded_labels if not label.startswith("__Kgeval")]
    if layout.scope_label is not None:
        parts.append(cypher_name(layout.scope_label))
    expression = "&".join(filter(None, parts))
    return f"({name}:{expression})" if expression else f"({name})"


def _type(kind: str | None) -> str:
    return "" if kind is None else f":{cypher_name(kind)}"


def _predicate(layout: Layout, name: str, predicates: Sequence[str]) -> list[str]:
    """What a relation must say; nothing where its type says it all."""
    if layout.relation_label_key is None:
        return []
    label = f"coalesce({name}.{cypher_name(layout.relation_label_key)}, type({name}))"
    return [f"{label} = {cypher_literal(predicates[0])}" if len(predicates) == 1 else f"{label} IN {cypher_literal(predicates)}"]


def _scopes(layout: Layout, nodes: Sequence[str]) -> list[str]:
    """That the nodes are of the graph, where a property says so."""
    if layout.scope_property is None:
        return []
    return [f"{node}.{cypher_name(layout.scope_property)} = {cypher_literal(layout.scope_value)}" for node in nodes]


def _name(layout: Layout, node: str) -> str:
    if layout.label_names:
        return _label_name(layout, node)
    keys = [f"{node}.{cypher_name(key)}" for key in layout.name_keys]
    return keys[0] if len(keys) == 1 else f"coalesce({', '.join(keys)})"


def _label_name(layout: Layout, node: str) -> str:
    """The first name or id that the node's labels have, as the readings of Cypher files say it
    (kgeval.graph.queries)."""
    cases = []
    for label_name in layout.label_names:
        keys = [f"toString({node}.{cypher_name(key)})" for key in label_name.keys]
        if not keys:
            continue
        joined = " + ".join(f"coalesce({key} + ' ', '')" for key in keys) if len(keys) > 1 else keys[0]
        conditions = [f"{node}:{cypher_name(label_name.label)}"] if label_name.label else []
        conditions.append("(" + " OR ".join(f"{key} IS NOT NULL" for key in keys) + ")")
        mark = f"{cypher_literal(label_name.label + ' ')} + " if label_name.is_id and label_name.label else ""
        cases.append(f"WHEN {' AND '.join(conditions)} THEN {mark}trim({joined})")
    return f"CASE {' '.join(cases)} END" if cases else "null"


def _named(layout: Layout, node: str, names: Sequence[str]) -> str:
    chosen = list(dict.fromkeys(names))
    return f"{_name(layout, node)} " + (
        f"= {cypher_literal(chosen[0])}" if len(chosen) == 1 else f"IN {cypher_literal(chosen)}"
    )
