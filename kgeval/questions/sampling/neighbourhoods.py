"""What lies around an entity, and communities: relations are taken outwards, nearest first, until there are enough.

The law: the centre is drawn uniformly from the entities with relations; a community uniformly from all. What is too
large is cut: relations of one distance in a random order, until `most_relations` are taken. """

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import DrawnStructure, GraphLink, links_at, only_new

if TYPE_CHECKING:
    import numpy as np

    from kgeval.questions.sampling.sampled_graph import SampledGraph

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
    links: dict[str, GraphLink] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes[self.centre] = None
        self.waiting.append((self.centre, 0))

    def take(self, link: GraphLink, end: str, distance: int) -> None:
        """Takes a relation at an entity, if it is inside and there is room."""
        other = link.other(end)
        if link.relation in self.links or len(self.links) >= self.most or (
            self.inside is not None and other not in self.inside
        ):
            return
        self.links[link.relation] = link
        if other not in self.nodes:
            self.nodes[other] = None
            if self.radius is None or distance + 1 < self.radius:
                self.waiting.append((other, distance + 1))

    def next_entities(self, graph: SampledGraph) -> list[tuple[str, int]]:
        """The entities to be looked at next: all of one distance, but no more than may give the relations that are
        lacking."""
        room = self.most - len(self.links)
        chosen: list[tuple[str, int]] = []
        while self.waiting and room > 0 and len(chosen) < MOST_BEFORE and (
            not chosen or self.waiting[0][1] == chosen[0][1]
        ):
            chosen.append(self.waiting.popleft())
            if self.inside is None:
                room -= graph.degree(chosen[-1][0])
        return chosen

    def drawn(self) -> DrawnStructure:
        """As it is now."""
        return DrawnStructure(tuple(self.nodes), tuple(self.links.values()), self.stratum)


def neighbourhoods(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """The relations within `hops` of an entity: on a way of so many relations that begins at it. Two entities with one
    relation have one neighbourhood."""
    turns = graph.turns("neighbourhoods", graph.entities.joined, wanted.stratify)
    rng = graph.rng("neighbourhoods", str(wanted.hops))
    seen: set[frozenset[str]] = set()
    while seeds := turns.take(BATCH):
        pieces = [
            Piece(graph.entities.ids[seed.at], wanted.most_relations, radius=wanted.hops, stratum=seed.stratum) for seed in seeds
        ]
        grow(graph, pieces, rng)
        yield only_new(turns, ((seed, piece.drawn()) for seed, piece in zip(seeds, pieces, strict=True)), seen)


def communities(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Leiden communities with the relations inside them, grown from one of their entities."""
    rng = graph.rng("communities")
    several = graph.community_members()
    order = rng.permutation(len(several))
    for start in range(0, len(order), BATCH):
        pieces = [Piece(several[at][0], wanted.most_relations, inside=frozenset(several[at])) for at in order[start : start + BATCH]]
        grow(graph, pieces, rng)
        yield [piece.drawn() for piece in pieces if piece.links]


def grow(graph: SampledGraph, pieces: Sequence[Piece], rng: np.random.Generator) -> None:
    """Grows all pieces, a round of queries at a time, until each is complete or has all that it may have."""
    while True:
        looked_at = [(piece, name, distance) for piece in pieces for name, distance in piece.next_entities(graph)]
        if not looked_at:
            return
        places_of: dict[str, set[int]] = {}
        places = []
        for piece, name, _ in looked_at:
            reach = piece.most if piece.inside is None else MOST_INSIDE
            places.append(graph.some_places(name, reach, rng))
            places_of.setdefault(name, set()).update(places[-1])
        links_of = links_at(graph, {name: sorted(chosen_places) for name, chosen_places in places_of.items()})
        for (piece, name, distance), chosen in zip(looked_at, places, strict=True):
            for place in chosen:
                if place in links_of[name]:
                    piece.take(links_of[name][place], name, distance)
