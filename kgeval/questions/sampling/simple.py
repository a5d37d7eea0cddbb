"""Single entities, single relations, and pairs of entities to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.sampling.around import Drawn, Link, links_at, links_joining
from kgeval.questions.sampling.strata import NONE
from kgeval.questions.sampling.turns import Lane, Seed, Turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.world import World

BATCH = 128
MOST_LISTED = 2_000_000  # pairs that are put into a random order; of more, numbers are drawn


def nodes(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Entities: each has the same chance."""
    import numpy as np

    turns, ids = world.turns("nodes", np.arange(len(world.entities)), wanted.stratify), world.entities.ids
    while seeds := turns.take(BATCH):
        yield [Drawn((ids[seed.at],), stratum=seed.stratum) for seed in seeds]
        turns.came_back((seed, True) for seed in seeds)


def edges(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Relations between two different entities: each has the same chance (stratified: each of those at the entities of a stratum).

    What is drawn is one end of a relation: an entity and a place among its relations. Every relation has two of them.
    """
    import numpy as np

    known = world.entities
    first = np.concatenate(([0], np.cumsum(known.degrees)))
    ends = {name: _ends(first, places) for name, places in world.lanes(known.joined, wanted.stratify).items()}
    rng = {name: world.rng("edges", name or "") for name in ends}
    turns = Turns({name: Lane(rng[name].permutation(items), rng[name]) for name, items in ends.items()})
    seen: set[str] = set()
    while seeds := turns.take(BATCH):
        found, came = [], []
        links = _links(world, first, seeds)
        for seed in seeds:
            link = links.get(seed.at)
            new = link is not None and link.relation not in seen
            came.append((seed, new))
            if link is not None and new:
                seen.add(link.relation)
                found.append(Drawn((link.source, link.target), (link,), seed.stratum))
        turns.came_back(came)
        yield found


def _ends(first: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all ends of relations at these entities; the ends of entity p are first[p] .. first[p + 1]."""
    import numpy as np

    if len(places) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.arange(first[at], first[at + 1]) for at in places])


def _links(world: World, first: NDArray[np.int64], seeds: list[Seed]) -> dict[int, Link]:
    """Number of an end -> its relation."""
    import numpy as np

    owners = np.searchsorted(first, [seed.at for seed in seeds], side="right") - 1
    asked: dict[str, list[int]] = {}
    for seed, owner in zip(seeds, owners, strict=True):
        asked.setdefault(world.entities.ids[owner], []).append(int(seed.at - first[owner]))
    found = links_at(world, asked)
    begin = {name: int(first[world.entities.place[name]]) for name in asked}
    out: dict[int, Link] = {}
    for name in asked:
        out |= {begin[name] + place: link for place, link in found[name].items()}
    return out


def pairs(world: World, wanted: DrawSpec) -> Iterator[list[Drawn]]:
    """Two entities of one type: each such pair has the same chance (stratified: both are of one stratum too)."""
    groups = pair_groups(world, wanted)
    by_lane: dict[str | None, list[NDArray[np.int64]]] = {}
    for (stratum, _), places in groups.items():
        by_lane.setdefault(stratum, []).append(places)
    drawers = {name: _PairLane(own, world.rng("pairs", name or "")) for name, own in by_lane.items()}
    given = _in_turn(drawers)
    while part := list(islice(given, BATCH)):
        ids = [(world.entities.ids[a], world.entities.ids[b]) for _, (a, b) in part]
        joined = links_joining(world, ids)
        yield [Drawn(pair, tuple(joined.get(pair, ())), name) for (name, _), pair in zip(part, ids, strict=True)]


def _in_turn(drawers: dict[str | None, _PairLane]) -> Iterator[tuple[str | None, tuple[int, int]]]:
    while drawers:
        for name in list(drawers):
            pair = drawers[name].take()
            if pair is None:
                del drawers[name]
            else:
                yield name, pair


def pair_groups(world: World, wanted: DrawSpec) -> Mapping[tuple[str | None, str], NDArray[np.int64]]:
    """Entities (places) that may be compared with one another: by stratum and type, at least two each. Entities without a type are
    compared only where no entity has one."""
    import numpy as np

    types, found = world.entities.types, dict[tuple[str | None, str], list[int]]()
    typed = any(types)
    for stratum, places in world.lanes(np.arange(len(world.entities)), wanted.stratify).items():
        for at in places:
            if types[at] or not typed:
                found.setdefault((stratum, types[at] or NONE), []).append(int(at))
    return {key: np.array(places, dtype=np.int64) for key, places in found.items() if len(places) > 1}


class _PairLane:
    """The pairs of some groups, each once, in a seeded order. The pairs of all groups are numbered through."""

    def __init__(self, groups: list[NDArray[np.int64]], rng: np.random.Generator) -> None:
        import numpy as np

        self._groups, self._rng = groups, rng
        self._until = np.cumsum([len(group) * (len(group) - 1) // 2 for group in groups])
        self._total = int(self._until[-1])
        self._numbers = self._few() if self._total <= MOST_LISTED else self._many()

    def take(self) -> tuple[int, int] | None:
        """The next pair (places); null when all were given."""
        number = next(self._numbers, None)
        return None if number is None else self._pair(number)

    def _few(self) -> Iterator[int]:
        yield from (int(number) for number in self._rng.permutation(self._total))

    def _many(self) -> Iterator[int]:
        seen: set[int] = set()
        while len(seen) < self._total // 2:
            number = int(self._rng.integers(self._total))
            if number not in seen:
                seen.add(number)
                yield number

    def _pair(self, number: int) -> tuple[int, int]:
        import numpy as np

        at = int(np.searchsorted(self._until, number, side="right"))
        group, rest = self._groups[at], number - (int(self._until[at - 1]) if at else 0)
        high = int((1 + np.sqrt(1 + 8 * rest)) // 2)
        high += (high + 1) * high // 2 <= rest  # the root may be a little too small or too large
        high -= high * (high - 1) // 2 > rest
        low = rest - high * (high - 1) // 2
        return (int(group[low]), int(group[high])) if self._rng.integers(2) else (int(group[high]), int(group[low]))
