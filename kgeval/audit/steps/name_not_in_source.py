"""name-not-in-source: entities whose name stands in none of the chunks that they are said to come from."""

from __future__ import annotations

from kgeval.audit.check import Check, Outcome
from kgeval.audit.sources import Entities, by_chunk, chunk_numbers, entities, texts
from kgeval.records import Example, GraphRef


def run(check: Check) -> Outcome:
    """`count`: entities of which no name or alias is in any of their chunks; `total`: entities with a chunk that has text."""
    chunks = chunk_numbers(check)
    known = entities(check, chunks)
    waiting = by_chunk(known.chunks)
    found = bytearray(len(known.rows))
    for number, text in texts(check, chunks):
        for at in waiting.pop(number, ()):
            if not found[at] and known.stands_in(at, text):
                found[at] = 1
    testable = [at for at, numbers in enumerate(known.chunks) if numbers]
    missed = [at for at in testable if not found[at]]
    missed.sort(key=lambda at: (-len(known.chunks[at]), known.rows[at][2], known.rows[at][0]))
    return Outcome(len(missed), len(testable), [_example(known, at) for at in missed[: check.sample]])


def _example(known: Entities, at: int) -> Example:
    element_id, key, name, kind = known.rows[at]
    n = len(known.chunks[at])
    where = "its only chunk" if n == 1 else f"any of its {n} chunks"
    return Example(items=[GraphRef(element_id=element_id, key=key, name=name, type=kind)], why=f"the name is not in {where}")
