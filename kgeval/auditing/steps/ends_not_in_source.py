"""ends-not-in-source: relations whose chunks contain neither end's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Any

from kgeval.auditing.check import RELATIONS_OF, CheckOutcome, CheckRun
from kgeval.auditing.source_texts import ChunkTexts, Form, SourcedEntities, sources, stands_in
from kgeval.records import Example, GraphRef


@dataclass(frozen=True, slots=True)
class Missed:
    """A relation neither end of which stands in its `chunks` (their number)."""

    element_id: str
    label: str
    name: str
    chunks: int


def run(check: CheckRun) -> CheckOutcome:
    """`count`: relations with neither end in any of their chunks; `total`: relations with named ends and a chunk with text."""
    read = sources(check)
    search = _SourceSearch(check, read.chunks, read.known)
    examples = []
    for hit in nsmallest(check.sample, search.missed(), key=lambda hit: (-hit.chunks, hit.name, hit.element_id)):
        relation = GraphRef(element_id=hit.element_id, key=hit.name, name=hit.name, type=hit.label, kind="relation")
        why = f"neither name is in {'its chunk' if hit.chunks == 1 else f'its {hit.chunks} chunks'}"
        examples.append(Example(items=[relation], why=why))
    return CheckOutcome(search.count, search.total, examples)


class _SourceSearch:
    """Looks at every relation as it comes and keeps none. `count` and `total` hold once `missed` has ended."""

    def __init__(self, check: CheckRun, chunks: ChunkTexts, known: SourcedEntities) -> None:
        self._check, self._chunks, self._known = check, chunks, known
        self._forms: Callable[[int], list[Form]] = lru_cache(maxsize=10_000)(known.looked_for)  # a few entities have most relations
        self._text: Callable[[int], bytes] = lru_cache(maxsize=4_000)(chunks.text)
        self.count = self.total = 0

    def missed(self) -> Iterator[Missed]:
        """The relations that are hits."""
        for batch in self._check.slices("relation-source-slices", slice=RELATIONS_OF):
            sources = self._known.roll.positions([element_id for element_id, _ in batch])
            targets = iter(self._known.roll.positions([relation[1] for _, relations in batch for relation in relations]))
            for source, (_, relations) in zip(sources, batch, strict=True):
                for relation, target in zip(relations, targets, strict=False):  # takes as many of the targets as there are relations
                    if source >= 0 and target >= 0 and (hit := self._look(relation, source, target)) is not None:
                        yield hit

    def _look(self, relation: Sequence[Any], source: int, target: int) -> Missed | None:
        element_id, _, label, ids = relation
        numbers = self._chunks.known(ids) if ids else []
        if not numbers:  # a writer that gives relations no sources of their own: the chunks of both ends, else those of either
            a, b = set(self._known.chunks[source]), set(self._known.chunks[target])
            numbers = sorted(a & b or a | b)
        if not numbers:
            return None
        self.total += 1
        for number in numbers:
            text = self._text(number)
            if stands_in(self._forms(source), text) or stands_in(self._forms(target), text):
                return None
        self.count += 1
        names = self._known.roll.names
        return Missed(element_id, label, f"{names[source]} -[{label}]-> {names[target]}", len(numbers))