"""What a profile asks of the server: at most eight queries, whatever the number of labels, and a sample of a size that does not grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgeval.graph.binding import bind_query
from kgeval.graph.connect import Graph
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

NODES_OF_A_SET = 300  # sampled nodes of each set of labels
MOST_NODES = 6_000  # sampled nodes in all
LEAST_OF_A_SET = 20
RELATIONS_OF_A_NODE = 20
MOST_SETS = 5_000
MOST_COUNTED = 300_000  # nodes of a label whose values are counted exactly
LONGEST = 200  # characters of a value
GROUPS_TOLD = 50  # of nodes with one name
Labels = tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """What a property holds on one node or relation. `text`: its first characters; `length`: of a text."""

    type: str
    text: str | None
    length: int | None = None

    @property
    def is_text(self) -> bool:
        return self.type == "STRING"


@dataclass(frozen=True)
class SampledRelation:
    """A relation that goes out from a sampled node. `back`: one of its type leads back; `loop`: it ends where it begins."""

    type: str
    ends: Labels | None
    other: str
    loop: bool
    back: bool
    values: Mapping[str, Value]


@dataclass(frozen=True)
class SampledNode:
    """One node of the sample. `outgoing`, `incoming`: how many relations of each type, up to a thousand in all."""

    labels: Labels
    values: Mapping[str, Value]
    outgoing: Mapping[str, int]
    incoming: Mapping[str, int]
    relations: Sequence[SampledRelation]
    id: str = ""


@dataclass(frozen=True)
class Reading:
    """What was read: the sets of labels with the number of their nodes, and the sample."""

    sets: Mapping[Labels, int]
    nodes: Sequence[SampledNode]
    left_out: int = 0  # nodes of sets that are not looked at, for there are too many sets


@dataclass(frozen=True)
class Counted:
    """How many nodes of a label have a property, and how many values differ."""

    filled: int
    values: int


@dataclass(frozen=True)
class SameNames:
    """Nodes of a label that have a name, those whose name another one has too, and what else some groups of these hold."""

    named: int
    repeated: int
    groups: Sequence[Sequence[Mapping[str, str | None]]] = field(default_factory=list)


def read_sample(graph: Graph, layout: Layout, *, seed: int, timeout: float | None = None) -> Reading:
    """The sets of labels, and a sample of each. Raises: QueryError, QueryTimeout, ConnectError."""
    sets = {tuple(row["labels"]): row["nodes"] for row in graph.answer(label_sets_asked(layout), timeout=timeout).rows()}
    wanted = max(LEAST_OF_A_SET, min(NODES_OF_A_SET, MOST_NODES // max(1, len(sets))))
    looked_at = dict(list(sets.items())[: MOST_NODES // LEAST_OF_A_SET])
    places = list(looked_at)
    params = {
        "layout": layout.model_dump(),
        "places": {"".join(f"\0{label}" for label in labels): at for at, labels in enumerate(places)},
        "shares": [min(1.0, wanted / nodes) for nodes in looked_at.values()], "seed": seed, "most": RELATIONS_OF_A_NODE, "longest": LONGEST,
    }
    nodes = [_node(row, places) for row in graph.stream(all_queries()["profile-nodes"], params, timeout=timeout)]
    return Reading(sets, nodes, left_out=sum(sets.values()) - sum(looked_at.values()))


def _node(row: Mapping[str, Any], places: Sequence[Labels]) -> SampledNode:
    relations = [
        SampledRelation(type_, None if at is None else places[at], other, loop, back, dict(_values(values)))
        for type_, at, other, loop, back, values in row["relations"]
    ]
    return SampledNode(
        places[row["place"]], dict(_values(row["values"])), dict(map(tuple, row["outgoing"])), dict(map(tuple, row["incoming"])), relations,
        row["id"],
    )


def _values(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Value]]:
    for key, type_, text, *length in rows:
        yield key, Value(type_.removesuffix(" NOT NULL"), text, length[0] if length else None)


def _asked(name: str, layout: Layout, **params: Any) -> ReadRequest:
    """A query as `Graph.read_ahead` and `Graph.answer` take it."""
    return ReadRequest(*bind_query(all_queries()[name], {"layout": layout.model_dump(), **params}))


def label_sets_asked(layout: Layout) -> ReadRequest:
    """What `read_sample` asks first."""
    return _asked("profile-label-sets", layout, most=MOST_SETS)


def constraints_asked(layout: Layout) -> ReadRequest:
    """What `read_constraints` asks."""
    return _asked("database-constraints", layout)


def distinct_asked(layout: Layout, candidates: Sequence[tuple[str, str]]) -> list[ReadRequest]:
    """What `read_distinct` asks; nothing without candidates."""
    listed = [{"label": label, "key": key} for label, key in candidates]
    return [_asked("profile-distinct", layout, candidates=listed)] if listed else []


def read_distinct(
    graph: Graph, layout: Layout, candidates: Sequence[tuple[str, str]], *, timeout: float | None = None,
) -> dict[tuple[str, str], Counted]:
    """Of each label and property, how many values there are. A label and property that no node has is left out."""
    rows = [row for request in distinct_asked(layout, candidates) for row in graph.answer(request, timeout=timeout).rows()]
    return {(row["label"], row["key"]): Counted(row["filled"], row["values"]) for row in rows}


def same_names_asked(layout: Layout, names: Mapping[str, Sequence[str]]) -> list[ReadRequest]:
    """What `read_same_names` asks; nothing without names."""
    listed = [{"label": label, "keys": list(keys)} for label, keys in names.items()]
    return [_asked("profile-same-names", layout, names=listed, most=GROUPS_TOLD, longest=LONGEST)] if listed else []


def read_same_names(
    graph: Graph, layout: Layout, names: Mapping[str, Sequence[str]], *, timeout: float | None = None,
) -> dict[str, SameNames]:
    """Of each label, nodes that share a name. `names`: the properties that make it up."""
    rows = [row for request in same_names_asked(layout, names) for row in graph.answer(request, timeout=timeout).rows()]
    return {
        row["label"]: SameNames(row["named"], row["repeated"], [[dict(map(tuple, node)) for node in group] for group in row["groups"]])
        for row in rows
    }


def read_constraints(graph: Graph, layout: Layout, *, timeout: float | None = None) -> list[dict[str, Any]]:
    """The constraints of the database, as it lists them."""
    return graph.answer(constraints_asked(layout), timeout=timeout).rows()
