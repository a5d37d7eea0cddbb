"""Retrieved nodes and relations against gold ones: by element id, else key, else normalised name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kgeval.records import GraphRef, Question
from kgeval.text.signs import identity_key

Level = Literal["id", "key", "name", "mention"]
_SIGNS = str.maketrans("<>|", "   ")


@dataclass(frozen=True)
class Matched:
    """`found`: place of a gold element -> the level at which it was first found. `hits`: retrieved elements that are gold ones.
    `retrieved`: distinct retrieved elements."""

    found: dict[int, Level] = field(default_factory=dict)
    hits: int = 0
    retrieved: int = 0

    def levels(self) -> dict[str, int]:
        """Gold elements found, by level."""
        levels = list(self.found.values())
        return {level: levels.count(level) for level in ("id", "key", "name") if level in levels}


def gold_nodes(question: Question) -> list[GraphRef]:
    """The distinct nodes of the gold path; where there is none, the entities that the question was made from."""
    refs = question.path.nodes if question.path and question.path.nodes else [r for r in question.structure if r.kind == "entity"]
    return distinct(refs)


def gold_relations(question: Question) -> list[GraphRef]:
    """The distinct relations of the gold path; where there is none, those that the question was made from."""
    refs = question.path.relations if question.path and question.path.relations else [
        r for r in question.structure if r.kind == "relation"
    ]
    return distinct(refs)


def distinct(refs: Iterable[GraphRef]) -> list[GraphRef]:
    """Each element once: the same element id, or without one the same key and name, is the same element."""
    by_identity: dict[tuple[str, ...], GraphRef] = {}
    for ref in refs:
        by_identity.setdefault(_identity(ref), ref)
    return list(by_identity.values())


def same(one: GraphRef, other: GraphRef) -> bool:
    """Whether both mean the same element."""
    return _identity(one) == _identity(other)


def _identity(ref: GraphRef) -> tuple[str, ...]:
    return (ref.element_id,) if ref.element_id else (ref.key, ref.name)


def match(gold: Sequence[GraphRef], retrieved: Iterable[str]) -> Matched:
    """Which gold elements were retrieved. Repeated entries of `retrieved` count once (names by their normal form), blank ones do not count.

    Each retrieved text is looked up as an element id, then as a key, then by its normal form (relations: `A -[TYPE]-> B`, also written
    the other way round); the first level that fits counts. A name that several gold elements have finds all of them.
    """
    tables: tuple[tuple[Level, dict[str, list[int]]], ...] = (
        ("id", _table((n, ref.element_id or "") for n, ref in enumerate(gold))),
        ("key", _table((n, ref.key) for n, ref in enumerate(gold))),
        ("name", _table((n, plain(ref.name)) for n, ref in enumerate(gold))),
    )
    levels: dict[int, Level] = {}
    hits: set[tuple[str, str]] = set()
    seen: set[tuple[str, str]] = set()
    order: dict[Level, int] = {"id": 0, "key": 1, "name": 2}
    for text in dict.fromkeys(text for given in retrieved if (text := given.strip())):
        forms = ((level, table, plain(text) if level == "name" else text) for level, table in tables)
        hit = next(((level, form, table[form]) for level, table, form in forms if form in table), None)
        if hit is None:
            seen.add(("name", plain(text) or text))
            continue
        hits.add(hit[:2])
        for place in hit[2]:
            if place not in levels or order[hit[0]] < order[levels[place]]:
                levels[place] = hit[0]
    return Matched(levels, len(hits), len(seen | hits))


def _table(entries: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, text in entries:
        if text:
            places.setdefault(text, []).append(place)
    return places


def plain(name: str) -> str:
    """The normal form of a node's or relation's name; a relation that points back is turned."""
    ends = ends_of(name)
    return identity_key(" ".join(ends) if ends else name.translate(_SIGNS))


def ends_of(name: str) -> tuple[str, str, str] | None:
    """Subject, type and object of `A -[TYPE]-> B` (or `B <-[TYPE]- A`); None for any other text."""
    start, opened, rest = name.partition("-[")
    kind, closed, end = rest.partition("]-")
    if not opened or not closed:
        return None
    back, forth = start.endswith("<"), end.startswith(">")
    start, kind, end = start.removesuffix("<").strip(), kind.strip().removeprefix(":"), end.removeprefix(">").strip()
    return (end, kind, start) if back and not forth else (start, kind, end)
