"""What lies around an entity, and communities: relations are taken outwards, nearest first, until there are enough.

The law: the centre is drawn uniformly from the entities with relations; a community uniformly from all. What is too large is cut:
relations of one distance in a random order, until `most_relations` are taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.graph.algorithms import node_number
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.around import Drawn, Link, links_at

if TYPE_CHECKING:
    import numpy as np

    from kgeval.questions.sampling.world import World

BATCH = 16
MOST_INSIDE = 2_000  # relations of one entity that are looked at for those that stay inside a community
MOST_BEFORE = 500  # entities of one piece that are looked at in one query


@dataclass
class Piece:
    """What is being grown from a centre: entities still to be looked at with their distance, relations taken so far."""

    centre: str
    most: int
    radius: int | None = None
    inside: Container[str] | None = None
    stratum: str | None = None
    waiting: deque[tuple[str, int]] = field(default_factory=deque)
    nodes: dict[str, None] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes[self.centre] = None
        self.waiting.append((self.centre, 0))

    def take(self, link: Link, end: str, distance: int) -> None:
        """Takes a relation at an entity, if it is inside and there is room."""
        other = link.other(end)
        if link.relation in self.links or len(self.links) >= self.most or (self.inside is not None and other not in self.inside):
            return
        self.links[link.relation] = link
        if other not in self.nodes:
            self.nodes[other] = None
            if self.radius is None or distance + 1 < self.radius:
                self.waiting.append((other, distance + 1))

    def drawn(self) -> Drawn:
        """As it is now."""
        return Drawn(tuple(self.nodes), tuple(self.links.values()), self.stratum)


def neighbourhoods(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """The relations within `hops` of an entity: on a way of so many relations that begins at it."""
    turns = world.turns("neighbourhoods", world.entities.joined, wanted.stratify)
    rng = world.rng("neighbourhoods", str(wanted.hops))
    seen: set[frozenset[str]] = set()
    while seeds := turns.take(BATCH):
        pieces = [
            Piece(world.entities.ids[seed.at], wanted.most_relations, radius=wanted.hops, stratum=seed.stratum) for seed in seeds
        ]
        grow(world, pieces, rng)
        new = [_first(seen, piece) for piece in pieces]
        turns.came_back(zip(seeds, new, strict=True))
        yield [piece.drawn() for piece, kept in zip(pieces, new, strict=True) if kept]


def _first(seen: set[frozenset[str]], piece: Piece) -> bool:
    """Whether no piece of the same relations was there before (two entities with one relation have one neighbourhood)."""
    key = frozenset(piece.links)
    if not key or key in seen:
        return False
    seen.add(key)
    return True


def communities(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Leiden communities with the relations inside them, grown from one of their entities."""
    members: dict[int, list[str]] = {}
    for at in world.entities.joined:
        name = world.entities.ids[at]
        if (found := world.communities.get(node_number(name))) is not None:
            members.setdefault(found, []).append(name)
    rng = world.rng("communities")
    several = [names for names in members.values() if len(names) > 1]
    order = rng.permutation(len(several))
    for start in range(0, len(order), BATCH):
        pieces = [Piece(several[at][0], wanted.most_relations, inside=frozenset(several[at])) for at in order[start : start + BATCH]]
        grow(world, pieces, rng)
        yield [piece.drawn() for piece in pieces if piece.links]


def grow(world: World, pieces: Sequence[Piece], rng: np.random.Generator) -> None:
    """Grows all pieces, a round of queries at a time, until each is complete or has all that it may have."""
    while True:
        looked_at = [(piece, name, distance) for piece in pieces for name, distance in _next(world, piece)]
        if not looked_at:
            return
        asked: dict[str, set[int]] = {}
        places = []
        for piece, name, _ in looked_at:
            degree = int(world.entities.degrees[world.entities.place[name]])
            reach = piece.most if piece.inside is None else MOST_INSIDE
            places.append([int(place) for place in rng.choice(degree, size=min(degree, reach), replace=False)])
            asked.setdefault(name, set()).update(places[-1])
        found = links_at(world, {name: sorted(wanted) for name, wanted in asked.items()})
        for (piece, name, distance), chosen in zip(looked_at, places, strict=True):
            for place in chosen:
                if place in found[name]:
                    piece.take(found[name][place], name, distance)


def _next(world: World, piece: Piece) -> list[tuple[str, int]]:
    """The entities that a piece looks at next: all of one distance, but no more than may give the relations that it lacks."""
    room = piece.most - len(piece.links)
    if room <= 0:
        return []
    chosen: list[tuple[str, int]] = []
    while piece.waiting and room > 0 and len(chosen) < MOST_BEFORE and (not chosen or piece.waiting[0][1] == chosen[0][1]):
        chosen.append(piece.waiting.popleft())
        if piece.inside is None:
            room -= int(world.entities.degrees[world.entities.place[chosen[-1][0]]])
    return chosen
