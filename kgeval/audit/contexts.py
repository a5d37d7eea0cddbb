"""What entities are joined to, for some of them: neighbours with the relation's name and direction, and chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgeval.audit.check import Check
from kgeval.graph.queries import all_queries

BATCH = 500
MOST = 200


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
    """Neighbours and chunks of the given entities (number -> element id), read in batches; at most `MOST` of each."""

    def __init__(self, check: Check, ids: Mapping[int, str]) -> None:
        self._ids = ids
        self._near: dict[int, frozenset[tuple[str, str]]] = {}
        self._chunks: dict[int, frozenset[str]] = {}
        self._read(check)

    def of(self, number: int) -> Sequence[str]:
        """The ids of what the entity is joined to, and its own: two entities with one of them in common are near."""
        if number not in self._near:
            return ()
        return [self._ids[number], *{neighbour for neighbour, _ in self._near[number]}, *self._chunks[number]]

    def shared(self, a: int, b: int) -> Shared:
        """What two entities share; nothing where one was not read."""
        if a not in self._near or b not in self._near:
            return Shared()
        mine = {pair for pair in self._near[a] if pair[0] != self._ids[b]}
        yours = {pair for pair in self._near[b] if pair[0] != self._ids[a]}
        common = len({n for n, _ in mine} & {n for n, _ in yours})
        union = len(mine | yours)
        return Shared(
            neighbours=common, jaccard=len(mine & yours) / union if union else 0.0,
            chunks=len(self._chunks[a] & self._chunks[b]), related=len(mine) < len(self._near[a]),
        )

    def _read(self, check: Check) -> None:
        numbers = {element_id: number for number, element_id in self._ids.items()}
        listed = list(numbers)
        query = all_queries()["entity-contexts"]
        for start in range(0, len(listed), BATCH):
            params = {"layout": check.layout.model_dump(), "ids": listed[start : start + BATCH], "most": MOST}
            for row in check.graph.read(query, params, timeout=check.timeout):
                number = numbers[row["element_id"]]
                self._near[number] = frozenset((neighbour, label) for neighbour, label in row["neighbours"])
                self._chunks[number] = frozenset(row["chunks"])
