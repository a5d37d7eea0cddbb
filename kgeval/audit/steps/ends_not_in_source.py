"""ends-not-in-source: relations whose chunks contain neither end's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from kgeval.audit.check import Check, Outcome
from kgeval.audit.slices import RELATIONS_OF, rows
from kgeval.audit.sources import Chunks, Entities, chunk_texts, entities, stands_in
from kgeval.graph.connect import Row
from kgeval.records import Example, GraphRef

BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Missed:
    """A relation neither end of which stands in its `chunks` (their number)."""

    element_id: str
    label: str
    name: str
    chunks: int


def run(check: Check) -> Outcome:
    """`count`: relations with neither end in any of their chunks; `total`: relations with named ends and a chunk with text."""
    with chunk_texts(check) as chunks:
        search = _Search(check, chunks, entities(check, chunks))
        first = nsmallest(check.sample, search.missed(), key=lambda one: (-one.chunks, one.name, one.element_id))
    return Outcome(search.count, search.total, [_example(one) for one in first])


class _Search:
    """Looks at every relation as it comes and keeps none. `count` and `total` hold once `missed` has ended."""

    def __init__(self, check: Check, chunks: Chunks, known: Entities) -> None:
        self._check, self._chunks, self._known = check, chunks, known
        self.count = self.total = 0

    def missed(self) -> Iterator[Missed]:
        """The relations that are hits."""
        found = rows(self._check, "relation-source-slices", slice=RELATIONS_OF)
        while batch := list(islice(found, BATCH)):
            ends = self._known.roll.positions([row[end] for row in batch for end in ("source", "target")])
            for row, source, target in zip(batch, ends[::2], ends[1::2], strict=True):
                if source >= 0 and target >= 0 and (hit := self._look(row, source, target)) is not None:
                    yield hit

    def _look(self, row: Row, source: int, target: int) -> Missed | None:
        known = self._known
        numbers = self._chunks.known(row["ids"]) or self._shared(source, target)
        if not numbers:
            return None
        self.total += 1
        forms = [*known.looked_for(source), *known.looked_for(target)]
        if any(stands_in(forms, self._chunks.text(number)) for number in numbers):
            return None
        self.count += 1
        names = known.roll.names
        return Missed(row["element_id"], row["label"], f"{names[source]} -[{row['label']}]-> {names[target]}", len(numbers))

    def _shared(self, source: int, target: int) -> Sequence[int]:
        """The chunks of both ends, else those of either: where writers give relations no sources of their own."""
        a, b = set(self._known.chunks[source]), set(self._known.chunks[target])
        return sorted(a & b or a | b)


def _example(one: Missed) -> Example:
    ref = GraphRef(element_id=one.element_id, key=one.name, name=one.name, type=one.label, kind="relation")
    return Example(items=[ref], why=f"neither name is in {'its chunk' if one.chunks == 1 else f'its {one.chunks} chunks'}")
