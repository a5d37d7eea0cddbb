"""What a hit is called, so that it is known again when the graph is rebuilt: type and normalised name. Element ids never are part of it."""

from __future__ import annotations

import hashlib
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
        return [(key_of(item), 1 + (rest if at == 0 else 0)) for at, item in enumerate(example.items)]
    return [(" | ".join(sorted({key_of(item) for item in example.items})), 1 if hit == "pairs" else example.counts)]


def hashed(rule_id: str, key: str) -> str:
    """The key unreadable: who guesses a name can still confirm it."""
    return hashlib.sha256(f"{rule_id}\0{key}".encode("utf-8", "replace")).hexdigest()[:32]


def recounted(examples: Iterable[Example]) -> list[Example]:
    """Examples of pairs, each counting the things that no example before it has."""
    seen: set[str] = set()
    found = []
    for example in examples:
        fresh = {_identity(item) for item in example.items} - seen
        seen |= fresh
        found.append(example if example.counts == len(fresh) else example.model_copy(update={"counts": len(fresh)}))
    return found


def by_type(examples: Iterable[Example], hit: Hit) -> dict[str, int] | None:
    """Hits by type, most first; null where the things are no things of a type (types, relation names)."""
    found: dict[str, int] = {}
    seen: set[str] = set()
    for example in examples:
        for item, count in _typed(example, hit, seen):
            if item is not None and item.kind == "type":
                return None
            name = (item.type if item is not None else None) or NO_TYPE
            found[name] = found.get(name, 0) + count
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _typed(example: Example, hit: Hit, seen: set[str]) -> Iterable[tuple[GraphRef | None, int]]:
    """The things that an example counts, with how much."""
    first = example.items[0] if example.items else None
    if hit == "pairs":
        fresh = {_identity(item): item for item in example.items if _identity(item) not in seen}
        seen.update(fresh)
        yield from ((item, 1) for item in fresh.values())
    elif hit == "items":
        yield from ((item, 1) for item in example.items)
        if rest := example.counts - len(example.items):
            yield first, rest
    else:
        yield first, example.counts


def _identity(item: GraphRef) -> str:
    return item.element_id or f"{item.type}:{item.key}"
