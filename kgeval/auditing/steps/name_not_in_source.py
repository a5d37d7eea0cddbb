"""name-not-in-source: entities whose name stands in none of the chunks that they are said to come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from heapq import nsmallest

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.source_names import SourcedNames, cannot_judge, other_texts_of, sourced_names
from kgeval.format import plural
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities of which no name or alias is in any of their chunks; `total`: entities with a chunk that has text. Names that
    cannot stand there, in another script or language, are in neither."""
    found = sourced_names(check)
    if cannot := cannot_judge(found):
        return CheckOutcome(0, 0, cannot=cannot)
    others = other_texts_of(check)
    examples = [
        Example(items=[found.sources.known.roll.reference(at)], why=_why(found, at, others or {}))
        for at in first_of_names(found, found.missed, check.sample)
    ]
    note = "; ".join(_notes(found, others)) or None
    return CheckOutcome(len(found.missed), found.testable - len(found.elsewhere), examples, note=note)


def first_of_names(found: SourcedNames, hits: array[int], most: int) -> list[int]:
    """The hits that are shown: those with most chunks, then by name."""
    known = found.sources.known
    return nsmallest(most, hits, key=lambda i: (-known.chunks.size(i), known.roll.names[i], known.roll.element_id(i)))


def _why(found: SourcedNames, at: int, others: Mapping[int, int]) -> str:
    size = found.sources.known.chunks.size(at)
    missing = f"the name is not in {'its only chunk' if size == 1 else f'any of its {size} chunks'}"
    return f"{missing}; it is in {plural(others[at], 'other')}: the source is wrong, not the name" if at in others else missing


def _notes(found: SourcedNames, others: Mapping[int, int] | None) -> Iterator[str]:
    if found.elsewhere:
        yield f"{len(found.elsewhere):,} names are {found.where}: they cannot be compared (name-in-other-language)"
    if others:
        names = f"{len(others):,} of {plural(len(found.missed), 'name')} that no text of their own holds"
        yield f"{names} stand in other texts of the graph: their sources are wrong, not the names"
