"""What a hit is called, so that it is known again when the graph is rebuilt: type and normalised name. Element ids never are part of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from kgeval.auditing.identity import lasting_name
from kgeval.auditing.rulebook import Hit
from kgeval.auditing.structure import NO_TYPE
from kgeval.records import Example, GraphRef


def key_of(item: GraphRef) -> str:
    """`type: normalised name`; of a relation both ends are normalised: `type: a -> b`. Without a name or with an id for one: `type: `."""
    kind = (item.type or item.kind).strip().casefold()
    return f"{kind}: {lasting_name(item)}"


def keys_of(example: Example, hit: Hit) -> list[tuple[str, int]]:
    """The keys of an example, each with the hits that it stands for. `hit`: as the rule has it."""
    if hit == "first" or not example.items:
        return [(key_of(example.items[0]) if example.items else "", example.counts)]
    if hit == "items":
        rest = max(0, example.counts - len(example.items))
        return [(key_of(item), 1 + (rest if index == 0 else 0)) for index, item in enumerate(example.items)]
    return [(" | ".join(sorted({key_of(item) for item in example.items})), 1 if hit == "pairs" else example.counts)]


def hashed(rule_id: str, key: str) -> str:
    """The key unreadable: who guesses a name can still confirm it."""
    # the rule is part of it, so that one name under two checks gives two hashes
    return hashlib.sha256(f"{rule_id}\0{key}".encode("utf-8", "replace")).hexdigest()[:32]


def recounted(examples: Iterable[Example]) -> list[Example]:
    """Examples of pairs, each counting the things that no example before it has."""
    seen: set[str] = set()
    counted = []
    for example in examples:
        fresh = {_identity(item) for item in example.items} - seen
        seen |= fresh
        counted.append(example if example.counts == len(fresh) else example.model_copy(update={"counts": len(fresh)}))
    return counted


def by_type(examples: Iterable[Example], hit: Hit) -> dict[str, int] | None:
    """Hits by type, most first; None where the things are no things of a type (types, relation names)."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for example in examples:
        first = example.items[0] if example.items else None
        if hit == "pairs":  # each thing once, whatever the number of its pairs
            fresh = {_identity(item): item for item in example.items if _identity(item) not in seen}
            seen.update(fresh)
            things: list[tuple[GraphRef | None, int]] = [(item, 1) for item in fresh.values()]
        elif hit == "items":
            rest = example.counts - len(example.items)
            things = [*((item, 1) for item in example.items), *([(first, rest)] if rest else [])]
        else:
            things = [(first, example.counts)]
        for item, count in things:
            if item is not None and item.kind == "type":
                return None
            counts[item.type or NO_TYPE if item is not None else NO_TYPE] += count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _identity(item: GraphRef) -> str:
    return item.element_id or f"{item.type}:{item.key}"
