"""Every named entity of a graph, in the order that the seed decides: by names and keys, never by element ids where it can be helped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.graph.connect import Row
from kgeval.stats.sampling import keys_of, random_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Entities:
    """Entities by place: element ids, types, and degrees (relations with other named entities). Places follow the seed's order."""

    ids: list[str]
    types: list[str | None]
    degrees: NDArray[np.int64]
    place: dict[str, int]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def relations(self) -> int:
        """Relations between two different named entities."""
        return int(self.degrees.sum()) // 2

    @property
    def joined(self) -> NDArray[np.int64]:
        """The places of entities that have a relation."""
        import numpy as np

        return np.flatnonzero(self.degrees)


def in_seeded_order(rows: Iterable[Row], seed: int) -> Entities:
    """The entities of sample-entities, by a random number of their name and type; those that are called alike, by key, then element id.

    So a graph that is rebuilt has the same order, as far as its names and keys are the same.
    """
    import numpy as np

    found = sorted(rows, key=lambda row: (
        random_number(seed, "entity", *keys_of((row["name"], row["type"]))), row["key"] or "", len(row["element_id"]), row["element_id"],
    ))
    ids = [row["element_id"] for row in found]
    degrees = np.array([row["degree"] for row in found], dtype=np.int64)
    return Entities(ids, [row["type"] for row in found], degrees, {name: at for at, name in enumerate(ids)})
