"""ends-not-in-source: relations whose chunks contain neither end's name.

All relations are read once without element ids and labels, which nobody needs to know of those that are no hits; then once more, with both,
those that go out from the entities of the hits that are shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice, repeat

from kgeval.auditing.check import RELATIONS_OF, CheckOutcome, CheckRun
from kgeval.auditing.source_names import FEW
from kgeval.auditing.source_texts import Form, Sources, sources
from kgeval.records import Example, GraphRef


@dataclass(frozen=True, slots=True)
class Missed:
    """A relation neither end of which stands in its `chunks` (their number). `source`, `target`: positions of its ends. Element id and
    label are empty where they were not read."""

    source: int
    target: int
    chunks: int
    element_id: str = ""
    label: str = ""


def run(check: CheckRun) -> CheckOutcome:
    """`count`: relations with neither end in any of their chunks; `total`: relations with named ends and a chunk with text."""
    read = sources(check)
    names, search = read.known.roll.names, _SourceSearch(check, read)
    hit_sources, hit_chunks = array("I"), array("I")
    for hit in search.missed():
        hit_sources.append(hit.source)
        hit_chunks.append(hit.chunks)
    shown = [read.known.roll.element_id(source) for source in _first(hit_sources, hit_chunks, names.__getitem__, check.sample)]
    if search.elsewhere and search.elsewhere > FEW * (search.total + search.elsewhere):
        several = f"{search.elsewhere:,} of {search.total + search.elsewhere:,} relations"
        return CheckOutcome(0, 0, cannot=f"cannot be judged: of {several} an end is in another script than their texts")
    note = None
    if search.elsewhere:
        note = f"{search.elsewhere:,} relations have an end in another script than their texts: not compared (name-in-other-language)"
    outcome = CheckOutcome(len(hit_sources), search.total, note=note)
    named = (
        (-hit.chunks, f"{names[hit.source]} -[{hit.label}]-> {names[hit.target]}", hit.element_id, hit.label)
        for hit in (search.missed(shown) if shown else ())
    )
    for fewer, name, element_id, label in nsmallest(check.sample, named):
        relation = GraphRef(element_id=element_id, key=name, name=name, type=label, kind="relation")
        why = f"neither name is in {'its chunk' if fewer == -1 else f'its {-fewer} chunks'}"
        outcome.examples.append(Example(items=[relation], why=why))
    return outcome


def _first(hit_sources: array[int], hit_chunks: array[int], name_of: Callable[[int], str], most: int) -> set[int]:
    """The entities from which the hits go out that are shown: those with most chunks, then by name, which begins with the source's."""
    begins: Callable[[int], str] = lru_cache(maxsize=10_000)(lambda source: f"{name_of(source)} -[")

    def keys() -> Iterator[tuple[int, str]]:
        return ((-chunks, begins(source)) for source, chunks in zip(hit_sources, hit_chunks, strict=True))

    last = nsmallest(most, keys())[-1:]
    # several entities may be called as the last one: which relation comes first is known when they have been read
    return {source for source, key in zip(hit_sources, keys(), strict=True) if key <= last[0]} if last else set()


class _SourceSearch:
    """Looks at every relation as it comes and keeps none. When `missed` has ended, `total`: how many had named ends and a chunk with text;
    `elsewhere`: how many more have neither end in their chunks, and one that could not stand there."""

    def __init__(self, check: CheckRun, read: Sources) -> None:
        self._check, self._read, self._chunks, self._known = check, read, read.chunks, read.known
        # a few entities have most relations
        self._forms: Callable[[int], list[Form]] = lru_cache(maxsize=10_000)(read.known.looked_for)
        self._text: Callable[[int], bytes] = lru_cache(maxsize=4_000)(read.chunks.text)
        self._near: Callable[[int], frozenset[int]] = lru_cache(maxsize=10_000)(lambda at: frozenset(read.known.chunks[at]))
        self.total = self.elsewhere = 0

    def missed(self, only: Sequence[str] | None = None) -> Iterator[Missed]:
        """The relations that are hits. `only`: those that go out from these entities, with their element ids and labels."""
        self.total, self.elsewhere, positions = 0, 0, self._known.roll.positions
        for batch in self._check.slices("relation-source-slices", slice=RELATIONS_OF, ids=only, details=only is not None):
            targets = iter(positions([end for _, ends, _, _ in batch for end in ends]))
            for source, (_, ends, keys, details) in zip(positions([row[0] for row in batch]), batch, strict=True):
                own_targets = list(islice(targets, len(ends)))
                if source >= 0:
                    yield from self._missed_of(source, zip(own_targets, keys, details or repeat(("", "")), strict=False))

    def _missed_of(self, source: int, rows: Iterable[tuple[int, Sequence[str], Sequence[str]]]) -> Iterator[Missed]:
        """The hits among the relations of one entity: target, ids of chunks, element id and label of each."""
        stands: dict[int, bool] = {}  # whether the source stands in a chunk: by far most of its relations come from few
        for target, keys, (element_id, label) in rows:
            if target < 0:
                continue
            numbers: Sequence[int] | frozenset[int] = self._chunks.known(keys) if keys else ()
            if not numbers:  # a writer that gives relations no sources of their own: the chunks of both ends, else those of either
                mine, yours = self._near(source), self._near(target)
                numbers = mine & yours or mine | yours
            for number in numbers:
                if number not in stands:
                    stands[number] = self._stands(source, number)
                if stands[number] or self._stands(target, number):
                    break
            else:
                if numbers and not all(self._read.is_comparable(end, numbers) for end in (source, target)):
                    self.elsewhere += 1
                    continue
                if numbers:
                    yield Missed(source, target, len(numbers), element_id, label)
            self.total += bool(numbers)

    def _stands(self, at: int, number: int) -> bool:
        return self._read.holds(number, self._text(number), self._forms(at))
