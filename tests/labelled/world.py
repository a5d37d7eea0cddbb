"""The graph in which the labelled pairs stand, made from pairs.csv in kgeval's own layout; the same every time.

One node for every type and name that the file mentions, two for a pair of the class same-name. The two ends of a row are joined to
`shared` things in common, each end in the same way, and each end to one or two things of its own. The same things stand in many rows, as
in a real graph. They are called by two ordinary words, which no check can join.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import Layout
from kgeval.text.names import normalise

PAIRS = Path(__file__).with_name("pairs.csv")
GRAPH = "labelled"
COLLISION = "same-name"
PREDICATES = ("met", "wrote about", "was found near", "depends on", "paid for", "was kept in")
THING = "Thing"
FIRST = (
    "amber", "brittle", "copper", "dusty", "elastic", "feathered", "gloomy", "hollow", "knitted", "lavender", "noisy", "oval", "quilted",
    "tangled",
)
SECOND = (
    "anchor", "basket", "candle", "envelope", "guitar", "hammer", "kettle", "ladder", "mirror", "needle", "oven", "pillow", "saddle",
    "trumpet", "umbrella",
)


@dataclass(frozen=True)
class Row:
    """One labelled pair: the ids of its two nodes, its class, whether both are the same, how many neighbours they share."""

    failure_class: str
    a: str
    b: str
    same: bool
    shared: int


@dataclass(frozen=True)
class World:
    """The rows of pairs.csv, the nodes (id, name, name_key, type) and the relations (start, predicate, end)."""

    rows: list[Row]
    nodes: list[dict[str, str]]
    relations: list[dict[str, str]]


def read() -> World:
    """The world of pairs.csv."""
    ids: dict[tuple[str, str, int], str] = {}
    rows = []
    with PAIRS.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            a, b = (line["type_a"], line["name_a"]), (line["type_b"], line["name_b"])
            keys = (*a, 0), (*b, int(a == b and line["class"] == COLLISION))
            one, other = (ids.setdefault(key, f"e{len(ids):04}") for key in keys)
            rows.append(Row(line["class"], one, other, line["label"] == "same", int(line["shared"])))
    nodes = [{"id": known, "name": name, "name_key": normalise(name), "type": kind} for (kind, name, _), known in ids.items()]
    called = [f"{first} {second}" for first, second in product(FIRST, SECOND)]
    things = [{"id": f"t{at:03}", "name": name, "name_key": name, "type": THING} for at, name in enumerate(called)]
    return World(rows, [*nodes, *things], list(_relations(rows, [thing["id"] for thing in things])))


def _relations(rows: list[Row], things: list[str]) -> Iterator[dict[str, str]]:
    """Each row's ends joined to things: `shared` to both in the same way, one or two to each alone. No thing joins two ends of a row
    that is not meant to."""
    partners: dict[str, set[str]] = {}
    for row in rows:
        partners.setdefault(row.a, {row.a}).add(row.b)
        partners.setdefault(row.b, {row.b}).add(row.a)
    taken: dict[str, set[str]] = {thing: set() for thing in things}
    for number, row in enumerate(rows):
        for turn, ends in enumerate(_wanted(number, row)):
            near = set().union(*(partners[end] for end in ends))
            at = _chance(f"{number} {turn}")
            thing = next(t for step in range(len(things)) if taken[t := things[(at + step) % len(things)]].isdisjoint(near))
            taken[thing].update(ends)
            predicate, outward = PREDICATES[at // 512 % len(PREDICATES)], at // 8192 % 2
            for end in ends:
                yield {"start": end if outward else thing, "predicate": predicate, "end": thing if outward else end}


def _wanted(number: int, row: Row) -> Iterator[tuple[str, ...]]:
    """To which ends things of a row are joined."""
    yield from [(row.a, row.b)] * row.shared
    for end in (row.a, row.b):
        yield from [(end,)] * (1 + _chance(f"{number} {end}") % 2)


def _chance(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


def write(graph: Graph, world: World) -> Layout:
    """Writes the world into an empty database; its bound layout."""
    graph.write(
        f"UNWIND $rows AS row CREATE (e:__Entity__:{GRAPH}) SET e = row", {"rows": world.nodes},
    )
    graph.write(
        f"""UNWIND $rows AS row MATCH (a:__Entity__:{GRAPH} {{id: row.start}}), (b:__Entity__:{GRAPH} {{id: row.end}})
        CREATE (a)-[:RELATED_TO {{predicate: row.predicate}}]->(b)""", {"rows": world.relations},
    )
    return bind(graph, load_profile("kgeval").layout, GRAPH)
