"""What entities are joined to, for some of them: neighbours with the relation's name and direction, and chunks."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from kgeval.auditing.check import CheckRun
from kgeval.auditing.graph_reader import batched
from kgeval.auditing.same_names import code

BATCH = 2_000  # entities a query; its rows come one by one
MOST = 200  # of each, so that hubs do not fill the memory


@dataclass(frozen=True)
class SharedContext:
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
        text = ", ".join(part for part in parts if part) or "nothing shared"
        return f"{text}; typed-neighbourhood Jaccard {self.jaccard:.2f}" if self.neighbours else text


class Contexts:
    """Neighbours and chunks of the given entities (number -> element id), read in batches; at most `MOST` of each.

    Ids stand as 64-bit codes in flat arrays, some 12 bytes a neighbour: among a million ids two share a code with a chance of 1 in 10^7.
    """

    def __init__(self, check: CheckRun, ids: Mapping[int, str]) -> None:
        self._ids = ids
        self._labels: dict[str, int] = {}
        self._near: dict[int, tuple[array[int], array[int]]] = {}  # codes of neighbours, and with each the number of a label
        self._chunks: dict[int, array[int]] = {}
        numbers = {element_id: number for number, element_id in ids.items()}
        for batch in batched(sorted(numbers), BATCH):
            for row in check.stream("entity-contexts", ids=batch, most=MOST):
                number, near = numbers[row["element_id"]], row["neighbours"]
                labels = array("I", (self._labels.setdefault(label, len(self._labels)) for _, label in near))
                self._near[number] = array("Q", (code(neighbour) for neighbour, _ in near)), labels
                self._chunks[number] = array("Q", {code(chunk) for chunk in row["chunks"]})

    def codes(self, number: int) -> set[int]:
        """Codes (64 bits) of what the entity is joined to, and its own: two entities with one of them in common are near."""
        if number not in self._near:
            return set()
        return {code(self._ids[number]), *self._near[number][0], *self._chunks[number]}

    def shared(self, a: int, b: int) -> SharedContext:
        """What two entities share; nothing where one was not read."""
        if a not in self._near or b not in self._near:
            return SharedContext()
        mine, yours = self._without(a, b), self._without(b, a)
        common = len({neighbour for neighbour, _ in mine} & {neighbour for neighbour, _ in yours})
        union = len(mine | yours)
        return SharedContext(
            neighbours=common, jaccard=len(mine & yours) / union if union else 0.0,
            chunks=len(set(self._chunks[a]) & set(self._chunks[b])), related=code(self._ids[b]) in self._near[a][0],
        )

    def between(self, a: int, b: int) -> list[str]:
        """The names of the relations between two entities, as the first sees them."""
        if a not in self._near:
            return []
        other, names = code(self._ids[b]), list(self._labels)
        return [names[label][1:] for neighbour, label in zip(*self._near[a], strict=True) if neighbour == other]

    def _without(self, number: int, other: int) -> set[tuple[int, int]]:
        """The typed neighbours of one entity but another."""
        left_out = code(self._ids[other])
        return {(neighbour, label) for neighbour, label in zip(*self._near[number], strict=True) if neighbour != left_out}
