"""ends-not-in-source: relations whose chunks contain neither end's name."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from heapq import nsmallest

from kgeval.audit.check import Check, Outcome
from kgeval.audit.sources import Chunks, Entities, by_chunk, chunk_numbers, entities, texts
from kgeval.records import Example, GraphRef


@dataclass
class Relations:
    """Relations with two named ends and a chunk with text; `ends` holds source and target in turn."""

    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    ends: array[int] = field(default_factory=lambda: array("L"))
    chunks: list[array[int]] = field(default_factory=list)


def run(check: Check) -> Outcome:
    """`count`: relations with neither end in any of their chunks; `total`: relations with named ends and a chunk with text."""
    chunks = chunk_numbers(check)
    known = entities(check, chunks)
    relations = _relations(check, chunks, known)
    waiting = by_chunk(relations.chunks)
    found = bytearray(len(relations.ids))
    for number, text in texts(check, chunks):
        seen: dict[int, bool] = {}
        for at in waiting.pop(number, ()):
            if not found[at] and any(_seen(known, end, text, seen) for end in relations.ends[2 * at : 2 * at + 2]):
                found[at] = 1
    missed = [at for at in range(len(found)) if not found[at]]
    first = nsmallest(check.sample, missed, key=lambda at: (-len(relations.chunks[at]), _name(relations, known, at), relations.ids[at]))
    return Outcome(len(missed), len(found), [_example(relations, _name(relations, known, at), at) for at in first])


def _relations(check: Check, chunks: Chunks, known: Entities) -> Relations:
    out = Relations()
    labels: dict[str, str] = {}
    for row in check.graph.stream(check.query, check.params(), timeout=check.timeout):
        source, target = known.number.get(row["source"]), known.number.get(row["target"])
        if source is None or target is None:
            continue
        numbers = chunks.known(row["ids"]) or _shared(known, source, target)
        if numbers:
            out.ids.append(row["element_id"])
            out.labels.append(labels.setdefault(row["label"], row["label"]))
            out.ends.extend((source, target))
            out.chunks.append(numbers)
    return out


def _shared(known: Entities, source: int, target: int) -> array[int]:
    """The chunks of both ends, else those of either: where writers give relations no sources of their own."""
    a, b = set(known.chunks[source]), set(known.chunks[target])
    return array("L", sorted(a & b or a | b))


def _seen(known: Entities, end: int, text: str, seen: dict[int, bool]) -> bool:
    if end not in seen:
        seen[end] = known.stands_in(end, text)
    return seen[end]


def _name(relations: Relations, known: Entities, at: int) -> str:
    source, target = relations.ends[2 * at], relations.ends[2 * at + 1]
    return f"{known.rows[source][2]} -[{relations.labels[at]}]-> {known.rows[target][2]}"


def _example(relations: Relations, name: str, at: int) -> Example:
    n = len(relations.chunks[at])
    ref = GraphRef(element_id=relations.ids[at], key=name, name=name, type=relations.labels[at], kind="relation")
    return Example(items=[ref], why=f"neither name is in {'its chunk' if n == 1 else f'its {n} chunks'}")
