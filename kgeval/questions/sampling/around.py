"""The relations at entities, by their place in a fixed order: how draws look at a graph without reading more of it than they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.graph.connect import Row

if TYPE_CHECKING:
    from kgeval.questions.sampling.world import World

BATCH = 500
HUB = 500  # relations of an entity from which on they are read as a whole, once
MOST_KEPT = 500_000  # relations of such entities that are kept in memory, all together


@dataclass(frozen=True)
class Link:
    """A relation with its ends, all by element id, in its own direction."""

    relation: str
    source: str
    target: str

    def other(self, end: str) -> str:
        """The end that is not this one."""
        return self.target if self.source == end else self.source


@dataclass(frozen=True)
class Drawn:
    """A structure by element ids, before names and texts are read. `stratum`: the one that it was drawn for."""

    nodes: tuple[str, ...]
    links: tuple[Link, ...] = ()
    stratum: str | None = None


def links_at(world: World, asked: Mapping[str, Sequence[int] | None]) -> dict[str, dict[int, Link]]:
    """For each entity (element id) the relations at these places (from 0) by place, in the order asked; null: all of them.

    The server goes through all relations of each entity once, however many are asked for. So those of an entity that has very many are
    read once and kept, as long as there is room.
    """
    hubs = _hubs(world, asked)
    out = {name: dict[int, Link]() if name not in hubs else _of(hubs[name], asked[name]) for name in asked}
    out |= _read(world, {name: places for name, places in asked.items() if name not in hubs})
    return out


def _hubs(world: World, asked: Iterable[str]) -> Mapping[str, list[Link]]:
    """The entities of very many relations that are kept, with all of them; those that were not known are read."""
    room = MOST_KEPT - sum(map(len, world.kept.values()))
    new = []
    for name in asked:
        degree = int(world.entities.degrees[world.entities.place[name]])
        if name not in world.kept and HUB <= degree <= room:
            new.append(name)
            room -= degree
    for name in new:
        world.kept[name] = list(_read(world, {name: None})[name].values())
    return world.kept


def _of(links: Sequence[Link], places: Sequence[int] | None) -> dict[int, Link]:
    return dict(enumerate(links)) if places is None else {at: links[at] for at in places if at < len(links)}


def _read(world: World, asked: Mapping[str, Sequence[int] | None]) -> dict[str, dict[int, Link]]:
    listed, out = list(asked), {name: dict[int, Link]() for name in asked}
    for start in range(0, len(listed), BATCH):
        part = [{"id": name, "places": _plain(asked[name])} for name in listed[start : start + BATCH]]
        for row in world.ask("relations-at", asked=part):
            out[row["element_id"]][row["place"]] = _link(row)
    return out


def links_joining(world: World, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[Link]]:
    """For each pair of entities the relations that join them, in either direction, in a fixed order."""
    out: dict[tuple[str, str], list[Link]] = {}
    for start in range(0, len(pairs), BATCH * 4):
        part = pairs[start : start + BATCH * 4]
        for row in world.ask("relations-joining", pairs=[list(pair) for pair in part]):
            out[part[row["pair"]]] = [Link(*told) for told in row["relations"]]
    return out


def _plain(places: Sequence[int] | None) -> list[int] | None:
    return None if places is None else list(places)


def _link(row: Row) -> Link:
    return Link(row["relation"], row["source"], row["target"])
