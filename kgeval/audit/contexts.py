"""What entities are joined to, for some of them: neighbours with the relation's name and direction, and chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from kgeval.audit.check import Check
from kgeval.graph.queries import all_queries

BATCH = 500
MOST = 200
LABEL_BITS = 32  # of a typed neighbour: the number of its id above, that of the relation name below


@dataclass(frozen=True)
class Shared:
    """What two entities share. `jaccard`: typed neighbourhoods (neighbour, relation, direction), each other left out, 0..1."""

    neighbours: int = 0
    jaccard: float = 0.0
    chunks: int = 0
    related: bool = False

    @property
    def strength(self) -> float:
        """For ranking: the Jaccard first, then how much is shared."""
        return self.jaccard + 0.1 * min(self.neighbours, 5) + 0.02 * min(self.chunks, 5)

    def __str__(self) -> str:
        parts = [f"{self.neighbours} shared neighbours" if self.neighbours else "", f"{self.chunks} shared chunks" if self.chunks else ""]
        told = ", ".join(part for part in parts if part) or "nothing shared"
        return f"{told}; typed-neighbourhood Jaccard {self.jaccard:.2f}" if self.neighbours else told


class Contexts:
    """Neighbours and chunks of the given entities (number -> element id), read in batches; at most `MOST` of each.

    Ids and relation names are kept once, and stand as numbers everywhere else.
    """

    def __init__(self, check: Check, ids: Mapping[int, str]) -> None:
        self._ids = ids
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._near: dict[int, frozenset[int]] = {}
        self._chunks: dict[int, frozenset[int]] = {}
        self._read(check)

    def of(self, number: int) -> Sequence[str]:
        """The ids of what the entity is joined to, and its own: two entities with one of them in common are near."""
        if number not in self._near:
            return ()
        return [self._ids[number], *(self._names[at] for at in (*_neighbours(self._near[number]), *self._chunks[number]))]

    def marks(self, number: int) -> Sequence[int]:
        """As `of`, with a number for each id."""
        if number not in self._near:
            return ()
        return [self._number(self._ids[number]), *_neighbours(self._near[number]), *self._chunks[number]]

    def shared(self, a: int, b: int) -> Shared:
        """What two entities share; nothing where one was not read."""
        if a not in self._near or b not in self._near:
            return Shared()
        mine, yours = self._without(a, b), self._without(b, a)
        common = len(_neighbours(mine) & _neighbours(yours))
        union = len(mine | yours)
        return Shared(
            neighbours=common, jaccard=len(mine & yours) / union if union else 0.0,
            chunks=len(self._chunks[a] & self._chunks[b]), related=len(mine) < len(self._near[a]),
        )

    def _without(self, number: int, other: int) -> frozenset[int]:
        """The typed neighbours of one entity but another."""
        left_out = self._numbers.get(self._ids[other])
        near = self._near[number]
        return near if left_out is None else frozenset(pair for pair in near if pair >> LABEL_BITS != left_out)

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self._names)
            self._names.append(text)
        return self._numbers[text]

    def _read(self, check: Check) -> None:
        numbers = {element_id: number for number, element_id in self._ids.items()}
        listed = list(numbers)
        query = all_queries()["entity-contexts"]
        for start in range(0, len(listed), BATCH):
            params = {"layout": check.layout.model_dump(), "ids": listed[start : start + BATCH], "most": MOST}
            with closing(check.graph.stream(query, params, timeout=check.timeout)) as rows:
                for row in rows:
                    number = numbers[row["element_id"]]
                    self._near[number] = frozenset(
                        self._number(neighbour) << LABEL_BITS | self._number(label) for neighbour, label in row["neighbours"]
                    )
                    self._chunks[number] = frozenset(map(self._number, row["chunks"]))


def _neighbours(near: frozenset[int]) -> set[int]:
    return {pair >> LABEL_BITS for pair in near}
