"""name-not-in-source: entities whose name stands in none of the chunks that they are said to come from."""

from __future__ import annotations

from array import array
from heapq import nsmallest

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.source_texts import ChunkTexts, SourcedEntities, sources, stands_in
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities of which no name or alias is in any of their chunks; `total`: entities with a chunk that has text."""
    read = sources(check, check.part)
    chunks, known = read.chunks, read.known
    testable = array("I", (i for i in range(len(known.roll)) if known.chunks.size(i)))
    missed = array("I", (i for i in testable if not _found(known, i, chunks)))
    examples = []
    for i in nsmallest(check.sample, missed, key=lambda i: (-known.chunks.size(i), known.roll.names[i], known.roll.element_id(i))):
        n = known.chunks.size(i)
        where = "its only chunk" if n == 1 else f"any of its {n} chunks"
        examples.append(Example(items=[known.roll.reference(i)], why=f"the name is not in {where}"))
    return CheckOutcome(len(missed), len(testable), examples)


def _found(known: SourcedEntities, at: int, chunks: ChunkTexts) -> bool:
    forms = known.looked_for(at)
    return any(stands_in(forms, chunks.text(number)) for number in known.chunks[at])
