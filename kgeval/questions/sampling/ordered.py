"""Hierarchies and dependencies: relations that say what is above what, or what depends on what [X C.2]. No GDS needed.

The law: the start is drawn uniformly from the entities from which a way of `hops` such relations leads upwards (from
causes to effects); each step takes every relation alike that leads on. What else leads along the same steps is added in
a random order, until there are `most_relations`: other parts of the same whole, other causes of the same effect. Where
that are fewer than `min_relations`, the way goes on upwards, as far as it can. """

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import DrawnStructure, GraphLink, only_new
from kgeval.text.relation_kinds import Ordering, direction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCH = 64
MOST_READ = 500_000  # relations of such kinds that are kept in memory
MOST_STEPS = 1_000  # that are tried for one way
MOST_BESIDE = 50_000  # relations beside a way that are drawn from: more than a structure may have, those said twice counted in

Step = tuple[str, GraphLink]  # the entity that a relation leads to, and the relation


@dataclass(frozen=True)
class OrderedRelations:
    """The relations of one ordering. `up`, `down`: entity -> where they lead from it, in either sense; `counts`: predicate -> how
    many relations have it, of those of this ordering; `whole`: whether all of them are here."""

    up: dict[str, list[Step]]
    down: dict[str, list[Step]]
    counts: dict[str, int]
    whole: bool

    def starts(self, hops: int) -> set[str]:
        """The entities from which so many relations lead upwards, one after another."""
        reached = set(self.up)
        for _ in range(hops - 1):
            reached = {name for name in reached if any(other in reached for other, _ in self.up[name])}
        return reached

    def way(self, start: str, hops: int, rng: np.random.Generator) -> list[Step]:
        """A random way upwards of so many relations, no entity twice; nothing where none is found."""
        waiting, way, on_way, steps = [self._shuffled(start, rng)], list[Step](), {start}, 0
        while waiting and len(way) < hops and steps < MOST_STEPS:
            steps += 1
            if not waiting[-1]:
                waiting.pop()
                if way:
                    on_way.discard(way.pop()[0])
                continue
            other, link = waiting[-1].pop()
            if other not in on_way:
                way.append((other, link))
                on_way.add(other)
                waiting.append(self._shuffled(other, rng))
        return way if len(way) == hops else []

    def widened(self, start: str, way: Sequence[Step], most: int, rng: np.random.Generator) -> list[list[GraphLink]]:
        """The relations of each step of a way, its own first: then, in a random order, others that lead to the step's upper
        end or away from its lower one, `most` in all."""
        on_way = [start, *(name for name, _ in way)]
        steps = [[link] for _, link in way]
        taken = {link.relation for _, link in way}
        # drawn by place, and not shuffled: a whole of 200,000 parts is in every way that leads through it
        beside = [
            (number, at_end) for number in range(len(way))
            for at_end in (self.down.get(on_way[number + 1], []), self.up.get(on_way[number], []))
        ]
        ends = list(accumulate(len(at_end) for _, at_end in beside))
        total = ends[-1] if ends else 0
        for place in rng.choice(total, size=min(total, MOST_BESIDE), replace=False) if len(taken) < most else ():
            index = bisect_right(ends, place)
            number, at_end = beside[index]
            link = at_end[place - ends[index]][1]
            if link.relation not in taken:
                taken.add(link.relation)
                steps[number].append(link)
            if len(taken) >= most:
                break
        return steps

    def _shuffled(self, name: str, rng: np.random.Generator) -> list[Step]:
        steps = self.up.get(name, [])
        return [steps[index] for index in rng.permutation(len(steps))]


def read_ordered(graph: SampledGraph, ordering: Ordering) -> OrderedRelations:
    """The relations of an ordering between named entities, in an order that does not hang on ids. Raises: QueryError."""
    counts = {
        row["predicate"]: row["relations"] for row in graph.ask("coverage-predicates", covered=[])
        if direction(row["predicate"], ordering, graph.layout)
    }
    place, steps = graph.entities.place, []
    read = 0
    for row in graph.stream("relations-of-predicates", predicates=list(counts), most=MOST_READ) if counts else ():
        read += 1
        if row["source"] in place and row["target"] in place and row["source"] != row["target"]:
            ends = (row["source"], row["target"])
            low, high = ends if direction(row["predicate"], ordering, graph.layout) > 0 else ends[::-1]
            steps.append((place[low], place[high], row["predicate"], row["relation"], low, high, GraphLink(row["relation"], *ends)))
    up, down = dict[str, list[Step]](), dict[str, list[Step]]()
    for *_, low, high, link in sorted(steps, key=lambda step: step[:4]):
        up.setdefault(low, []).append((high, link))
        down.setdefault(high, []).append((low, link))
    return OrderedRelations(up, down, counts, read < MOST_READ)


def starts_of_ways(graph: SampledGraph, wanted: DrawSpec) -> NDArray[np.int64]:
    """The places of entities from which a way of `hops` relations of the ordering begins."""
    import numpy as np

    return np.array(sorted(graph.entities.place[name] for name in _relations(graph, wanted).starts(wanted.hops)), dtype=np.int64)


def ordered(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Ways of `hops` relations of a hierarchy or dependency, with what else leads along the same steps. `parts`: the
    relations of each step, the lowest first."""
    relations, name = _relations(graph, wanted), f"{wanted.kind} {wanted.hops} {wanted.most_relations}"
    rng, seen = graph.rng(name), set[frozenset[str]]()
    turns = graph.turns(name, starts_of_ways(graph, wanted), wanted.stratify, again=True)
    while seeds := turns.take(BATCH):
        drawn = []
        for seed in seeds:
            start = graph.entities.ids[seed.at]
            way = relations.way(start, wanted.hops, rng)
            drawn.append((seed, _structure(relations, start, way, wanted, rng, seed.stratum) if way else None))
        yield only_new(turns, drawn, seen)


def _structure(
    relations: OrderedRelations, start: str, way: list[Step], wanted: DrawSpec, rng: np.random.Generator, stratum: str | None,
) -> DrawnStructure:
    """The way, with other relations into and out of its entities that are of the same steps, and longer where these are few."""
    steps = relations.widened(start, way, wanted.most_relations, rng)
    while sum(map(len, steps)) < min(wanted.min_relations, wanted.most_relations):
        on_way = {start, *(name for name, _ in way)}
        further = [step for step in relations.up.get(way[-1][0], ()) if step[0] not in on_way]
        if not further:
            break
        way = [*way, further[int(rng.integers(len(further)))]]
        steps = relations.widened(start, way, wanted.most_relations, rng)
    links = tuple(link for step in steps for link in step)
    nodes = dict.fromkeys((start, *(name for name, _ in way), *(end for link in links for end in (link.source, link.target))))
    return DrawnStructure(tuple(nodes), links, stratum, tuple(tuple(link.relation for link in step) for step in steps))


def _relations(graph: SampledGraph, wanted: DrawSpec) -> OrderedRelations:
    ordering: Ordering = "hierarchy" if wanted.kind == "hierarchy" else "dependency"
    if ordering not in graph.ordered:
        graph.ordered[ordering] = read_ordered(graph, ordering)
    return graph.ordered[ordering]
