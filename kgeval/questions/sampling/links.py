"""The relations at entities, by their place in a fixed order: how draws look at a graph without reading more of it than
they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.questions.sampling.turns import Seed, Turns

if TYPE_CHECKING:
    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCH = 500
SMALL = 5_000  # relations of a graph that are all read at once
HUB = 500  # relations of an entity from which on they are read as a whole, once
MOST_KEPT = 500_000  # relations of such entities that are kept in memory, all together


@dataclass(frozen=True)
class GraphLink:
    """A relation with its ends, all by element id, in its own direction."""

    relation: str
    source: str
    target: str

    def other(self, end: str) -> str:
        """The end that is not this one."""
        return self.target if self.source == end else self.source


@dataclass(frozen=True)
class DrawnStructure:
    """A structure by element ids, before names and texts are read. `stratum`: the one that it was drawn for;
    `parts`: as Structure has them."""

    nodes: tuple[str, ...]
    links: tuple[GraphLink, ...] = ()
    stratum: str | None = None
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> frozenset[str]:
        """Its relations: two structures of the same ones are one, whatever they were drawn from."""
        return frozenset(link.relation for link in self.links)


def only_new(
    turns: Turns, drawn: Iterable[tuple[Seed, DrawnStructure | None]], seen: set[frozenset[str]],
) -> list[DrawnStructure]:
    """The structures with relations that were not there before (`seen` grows); `turns` learns which seeds gave one.
    None: no structure came of the seed."""
    new, outcomes = [], []
    for seed, structure in drawn:
        is_new = structure is not None and bool(structure.links) and structure.key not in seen
        outcomes.append((seed, is_new))
        if structure is not None and is_new:
            seen.add(structure.key)
            new.append(structure)
    turns.came_back(outcomes)
    return new


def links_at(graph: SampledGraph, asked: Mapping[str, Sequence[int] | None]) -> dict[str, dict[int, GraphLink]]:
    """For each entity (element id) the relations at these places (from 0) by place, in the order asked; None: all of
    them.

    The server goes through all relations of each entity once, however many are asked for. So those of an entity that
    has very many are read once and kept, as long as there is room; and those of a small graph, all together. """
    if graph.entities.relations <= SMALL and not graph.kept:
        ids = graph.entities.ids
        graph.kept |= {name: list(links.values()) for name, links in _read(graph, {ids[at]: None for at in graph.entities.joined}).items()}
    room = MOST_KEPT - sum(map(len, graph.kept.values()))
    for name in asked:
        degree = graph.degree(name)
        if name not in graph.kept and HUB <= degree <= room:
            graph.kept[name] = list(_read(graph, {name: None})[name].values())
            room -= degree
    out: dict[str, dict[int, GraphLink]] = {name: {} for name in asked}
    for name in graph.kept.keys() & asked.keys():
        links, places = graph.kept[name], asked[name]
        out[name] = {place: links[place] for place in (range(len(links)) if places is None else places) if place < len(links)}
    out |= _read(graph, {name: places for name, places in asked.items() if name not in graph.kept})
    return out


def _read(graph: SampledGraph, asked: Mapping[str, Sequence[int] | None]) -> dict[str, dict[int, GraphLink]]:
    listed, out = list(asked), {name: dict[int, GraphLink]() for name in asked}
    for start in range(0, len(listed), BATCH):
        part = [{"id": name, "places": asked[name]} for name in listed[start : start + BATCH]]
        for row in graph.ask("relations-at", asked=part):
            out[row["element_id"]][row["place"]] = GraphLink(row["relation"], row["source"], row["target"])
    return out


def links_joining(graph: SampledGraph, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[GraphLink]]:
    """For each pair of entities the relations that join them, in either direction, in a fixed order."""
    out: dict[tuple[str, str], list[GraphLink]] = {}
    for start in range(0, len(pairs), BATCH * 4):
        part = pairs[start : start + BATCH * 4]
        for row in graph.ask("relations-joining", pairs=[list(pair) for pair in part]):
            out[part[row["pair"]]] = [GraphLink(*relation) for relation in row["relations"]]
    return out
