"""Single entities, single relations, and pairs of entities to compare: each with the same chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.links import DrawnStructure, GraphLink, links_at, links_joining, only_new
from kgeval.questions.sampling.strata import NONE
from kgeval.questions.sampling.turns import Lane, Seed, Turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.sampled_graph import SampledGraph

BATCH = 128
MOST_LISTED = 2_000_000  # pairs that are put into a random order; of more, numbers are drawn


def nodes(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Entities: each has the same chance."""
    import numpy as np

    turns, ids = graph.turns("nodes", np.arange(len(graph.entities)), wanted.stratify), graph.entities.ids
    while seeds := turns.take(BATCH):
        yield [DrawnStructure((ids[seed.at],), stratum=seed.stratum) for seed in seeds]
        turns.came_back((seed, True) for seed in seeds)


def edges(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Relations between two different entities: each has the same chance (stratified: each of those at the entities of
    a stratum).

    What is drawn is one end of a relation: an entity and a place among its relations. Every relation has two of them.
    """
    import numpy as np

    # the ends of all relations are numbered through: those of the entity at place p are first[p] .. first[p + 1]
    first = np.concatenate(([0], np.cumsum(graph.entities.degrees)))
    lanes = {}
    for name, places in graph.lanes(graph.entities.joined, wanted.stratify).items():
        rng = graph.rng("edges", name or "")
        ends = [np.zeros(0, dtype=np.int64), *(np.arange(first[place], first[place + 1]) for place in places)]
        lanes[name] = Lane(rng.permutation(np.concatenate(ends)), rng)
    turns, seen = Turns(lanes), set[frozenset[str]]()
    while seeds := turns.take(BATCH):
        links = ((seed, link) for seed, link in zip(seeds, _links(graph, first, seeds), strict=True))
        yield only_new(turns, (
            (seed, DrawnStructure((link.source, link.target), (link,), seed.stratum) if link is not None else None)
            for seed, link in links
        ), seen)


def _links(graph: SampledGraph, first: NDArray[np.int64], seeds: list[Seed]) -> list[GraphLink | None]:
    """The relation of each end; None where it is gone."""
    import numpy as np

    owners = [int(owner) for owner in np.searchsorted(first, [seed.at for seed in seeds], side="right") - 1]
    ends = [(graph.entities.ids[owner], int(seed.at - first[owner])) for seed, owner in zip(seeds, owners, strict=True)]
    places_of: dict[str, list[int]] = {}
    for element_id, place in ends:
        places_of.setdefault(element_id, []).append(place)
    links = links_at(graph, places_of)
    return [links[element_id].get(place) for element_id, place in ends]


def pairs(graph: SampledGraph, wanted: DrawSpec) -> Iterator[list[DrawnStructure]]:
    """Two entities of one type: each such pair has the same chance (stratified: both are of one stratum too)."""
    turns = pairs_in_turn(graph, wanted)
    while part := list(islice(turns, BATCH)):
        ids = [(graph.entities.ids[a], graph.entities.ids[b]) for _, (a, b) in part]
        joined = links_joining(graph, ids)
        yield [
            DrawnStructure(pair, tuple(joined.get(pair, ())), name) for (name, _), pair in zip(part, ids, strict=True)
        ]


def pairs_in_turn(graph: SampledGraph, wanted: DrawSpec) -> Iterator[tuple[str | None, tuple[int, int]]]:
    """Pairs of entities (places) of one type in a seeded order, of each stratum in turn, each with its stratum."""
    by_lane: dict[str | None, list[NDArray[np.int64]]] = {}
    for (stratum, _), places in pair_groups(graph, wanted).items():
        by_lane.setdefault(stratum, []).append(places)
    yield from _by_turns({name: _PairLane(own, graph.rng(f"{wanted.kind}s", name or "")) for name, own in by_lane.items()})


def _by_turns(lanes: dict[str | None, _PairLane]) -> Iterator[tuple[str | None, tuple[int, int]]]:
    while lanes:
        for name in list(lanes):
            pair = lanes[name].take()
            if pair is None:
                del lanes[name]
            else:
                yield name, pair


def pair_groups(graph: SampledGraph, wanted: DrawSpec) -> Mapping[tuple[str | None, str], NDArray[np.int64]]:
    """Entities (places) that may be compared with one another: by stratum and type, at least two each; for disjoint
    subgraphs only those with relations. Entities without a type are compared only where no entity has one."""
    import numpy as np

    types, groups = graph.entities.types, dict[tuple[str | None, str], list[int]]()
    typed = any(types)
    eligible = graph.entities.joined if wanted.kind == "disjoint" else np.arange(len(graph.entities))
    for stratum, places in graph.lanes(eligible, wanted.stratify).items():
        for place in places:
            if types[place] or not typed:
                groups.setdefault((stratum, types[place] or NONE), []).append(int(place))
    return {key: np.array(places, dtype=np.int64) for key, places in groups.items() if len(places) > 1}


class _PairLane:
    """The pairs of some groups, each once, in a seeded order. The pairs of all groups are numbered through."""

    def __init__(self, groups: list[NDArray[np.int64]], rng: np.random.Generator) -> None:
        import numpy as np

        self._groups, self._rng = groups, rng
        self._until = np.cumsum([len(group) * (len(group) - 1) // 2 for group in groups])
        self._total = int(self._until[-1])
        self._numbers: Iterator[int] = map(int, rng.permutation(self._total)) if self._total <= MOST_LISTED else self._many()

    def take(self) -> tuple[int, int] | None:
        """The next pair (places); None when all were given."""
        number = next(self._numbers, None)
        return None if number is None else self._pair(number)

    def _many(self) -> Iterator[int]:
        seen: set[int] = set()
        while len(seen) < self._total // 2:
            number = int(self._rng.integers(self._total))
            if number not in seen:
                seen.add(number)
                yield number

    def _pair(self, number: int) -> tuple[int, int]:
        import numpy as np

        of_group = int(np.searchsorted(self._until, number, side="right"))
        group, rest = self._groups[of_group], number - (int(self._until[of_group - 1]) if of_group else 0)
        # pair number n is (low, high) with n = high (high - 1) / 2 + low: so no list of all pairs is needed
        high = int((1 + np.sqrt(1 + 8 * rest)) // 2)
        high += (high + 1) * high // 2 <= rest  # the root may be a little too small or too large
        high -= high * (high - 1) // 2 > rest
        low = rest - high * (high - 1) // 2
        # either order: who is named first in a question should not be who was read first
        return (int(group[low]), int(group[high])) if self._rng.integers(2) else (int(group[high]), int(group[low]))
