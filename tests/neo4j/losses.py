"""What a statement did to a graph: all nodes and relations before and after, held against each other. It knows nothing of the Cypher that
it judges: what a merge must leave is worked out here once more, in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.graph.connect import Row

SEPARATOR = "<SEP>"


@dataclass(frozen=True)
class State:
    """`nodes`: labels and properties by element id; `relations`: start, type, end and properties by element id."""

    nodes: dict[str, tuple[frozenset[str], dict[str, Any]]]
    relations: dict[str, tuple[str, str, str, dict[str, Any]]]


def state(read: Callable[[str], list[Row]]) -> State:
    nodes = read("MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS own")
    links = read(
        "MATCH (a)-[r]->(b) RETURN elementId(r) AS id, elementId(a) AS a, type(r) AS type, elementId(b) AS b, properties(r) AS own"
    )
    return State(
        {row["id"]: (frozenset(row["labels"]), row["own"]) for row in nodes},
        {row["id"]: (row["a"], row["type"], row["b"], row["own"]) for row in links},
    )


def exact(value: Any) -> Any:
    """The value and its type, to be compared and counted: 1 is not 1.0."""
    if isinstance(value, Mapping):
        return tuple(sorted((key, exact(one)) for key, one in value.items()))
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return (type(value).__name__, *map(exact, value))
    return type(value).__name__, str(value)


def multiset(relations: Iterable[tuple[str, str, str, dict[str, Any]]]) -> Counter[Any]:
    return Counter((a, type_, b, exact(own)) for a, type_, b, own in relations)


def values(own: Mapping[str, Any], *, keys: bool = False) -> Counter[str]:
    """Each value of a thing as text, those of lists and of joined texts one by one."""
    every = [one for value in own.values() for one in (value if isinstance(value, list) else [value])]
    found = Counter(part.strip() for one in every for part in text(one).split(SEPARATOR))
    return found + Counter(own) if keys else found


def text(value: Any) -> str:
    """The value as Cypher writes it where values of several types are kept in one list."""
    return str(value).replace(".000000000", "").replace("+00:00", "Z")


def kept(own: Mapping[str, Any]) -> int:
    """How many values stand in the lists former_KEY."""
    lists = [value for key, value in own.items() if key.startswith("former_")]
    return sum(len(value) if isinstance(value, list) else 1 for value in lists)


def lost(before: State, after: State, *, retyped: bool = False) -> list[str]:
    """Values, labels and names of types of a node or relation that stayed, which are not there any more: not in it, and not in a list
    former_KEY. For statements that merge nothing; relations that were made anew are found by what they join and say. `retyped`: texts may
    have become numbers."""
    faults = []
    for id_, (labels, own) in before.nodes.items():
        if id_ not in after.nodes:
            faults.append(f"node {own} is gone")
            continue
        now_labels, now = after.nodes[id_]
        there = set(values(now)) | now_labels
        faults += [f"{own}: {value}" for value in {*values(own), *labels} - there]
        same = [key for key in own if key in now and str(own[key]) == str(now[key]) and not retyped]
        faults += [f"{own}: type of {key}" for key in same if exact(own[key]) != exact(now[key])]
    gone = [before.relations[id_] for id_ in before.relations.keys() - after.relations.keys()]
    made = [after.relations[id_] for id_ in after.relations.keys() - before.relations.keys()]
    stayed = [(before.relations[id_], after.relations[id_]) for id_ in before.relations.keys() & after.relations.keys()]
    for a, type_, b, own in gone:
        heirs = [at for at, one in enumerate(made) if {one[0], one[2]} == {a, b} and {*values(own), type_} <= {*values(one[3]), one[1]}]
        if heirs:  # of several the one that says just the same
            del made[min(heirs, key=lambda at: exact(made[at][3]) != exact(own))]
        else:
            faults.append(f"relation {type_} {own} is gone")
    faults += [f"{old} is {new}" for old, new in stayed if old[:3] != new[:3] or {*values(old[3])} - {*values(new[3])}]
    return faults + [f"relation {one} is new" for one in made]


def counted(before: State, after: State, query: str) -> dict[str, int]:
    """What a repair must say that it did, by what is seen of it."""
    changed = sum(before.nodes[id_] != after.nodes[id_] for id_ in before.nodes if id_ in after.nodes)
    edited = sum(exact(before.relations[id_][3]) != exact(after.relations[id_][3]) for id_ in before.relations if id_ in after.relations)
    made = len(after.relations.keys() - before.relations.keys())
    gone = len(before.relations.keys() - after.relations.keys())
    grown = sum(kept(after.relations[id_][3]) - kept(own) for id_, (*_, own) in before.relations.items() if id_ in after.relations)
    return {
        "delete-parallel-relations": {"deleted": gone - made}, "infer-sources": {"changed": edited},
        "fill-property": {"filled": changed + edited}, "text-to-number": {"changed": changed + edited},
        "name-relations": {"renamed": edited + made}, "rename-relation": {"renamed": edited + made}, "rename-type": {"renamed": changed},
        "restore-relations": {"restored": edited, "times": grown}, "restore-second": {"restored": edited, "times": grown},
        "set-type": {"typed": changed}, "shorten-description": {"changed": changed}, "shorten-name": {"renamed": changed},
        "swap-validity": {"swapped": edited}, "turn-relations": {"turned": made}, "look-at": {},
    }[query]


def merged(before: State, after: State, groups: Sequence[Sequence[str]]) -> tuple[dict[str, int], list[str]]:
    """What a merge of these groups (the first of each stays) must have counted, and what it lost or made up."""
    keep_of = {copy: keep for keep, *copies in groups for copy in copies}
    faults = []
    expected = [one for one in before.relations.values() if not {one[0], one[2]} & keep_of.keys()]
    touched = [one for one in before.relations.values() if {one[0], one[2]} & keep_of.keys()]
    stands, moved = multiset(expected), 0
    for a, type_, b, own in touched:
        one = (keep_of.get(a, a), type_, keep_of.get(b, b), own)
        ((key, _),) = multiset([one]).items()
        if key not in stands:
            stands[key] += 1
            moved += 1
    now = multiset(after.relations.values())
    faults += [f"relation {key} x {n} is gone" for key, n in (stands - now).items()]
    faults += [f"relation {key} x {n} is made up" for key, n in (now - stands).items()]
    if before.nodes.keys() - after.nodes.keys() != keep_of.keys() or after.nodes.keys() - before.nodes.keys():
        faults.append("other nodes are gone than copies")
    kept_ones = {keep for keep, *_ in groups}
    same = before.nodes.keys() - keep_of.keys() - kept_ones
    faults += [f"{before.nodes[id_]} is {after.nodes.get(id_)}" for id_ in same if _node(before, id_) != _node(after, id_)]
    taken = former = 0
    for keep, *copies in groups:
        (labels, own), (now_labels, now_own) = before.nodes[keep], after.nodes[keep]
        there = set(values(now_own)) | now_labels
        for one in (keep, *copies):
            had_labels, had = before.nodes[one]
            faults += [f"{value} of {had} is gone" for value in {*values(had), *had_labels} - there]
            faults += [f"no trace of {key} of {had}" for key in had if not {key, f"former_{key}"} & now_own.keys() and had[key] != []]
        changed = {key for key in own if exact(own[key]) != exact(now_own.get(key)) and not key.startswith("former_")}
        lists = {key for key in changed if not {*values({key: own[key]})} <= {*values({key: now_own.get(key)})}}
        faults += [f"{key} of the kept one was {own[key]} and is {now_own.get(key)}" for key in lists]
        faults += ["labels of the kept one changed"] if labels != now_labels else []
        taken += sum(key not in own and not key.startswith("former_") for key in now_own)
        former += kept(now_own) - kept(own)
    counts = {
        "groups": len(groups), "merged": len(keep_of), "moved": moved, "joined": len(touched) - moved, "taken": taken, "former": former,
    }
    return counts, faults


def _node(of: State, id_: str) -> Any:
    labels, own = of.nodes.get(id_, (frozenset(), {}))
    return labels, exact(own)
