"""The gold set: distinct entities and triples, what was given twice, what was broken. Pure; reading files is gold_files.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgeval.errors import UsageError
from kgeval.records import GoldEntity, GoldSet, GoldTriple
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{1,4}$")
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Gold:
    """A gold set. `ends[i]` are the positions of subject and object of `triples[i]` in `entities`.

    `spellings[i]`: every way in which the set writes entity i. Entities are distinct by normalised name, document and type,
    triples by normalised subject, predicate and object, and document. `label` says what kind of gold it is.
    """

    entities: tuple[GoldEntity, ...]
    triples: tuple[GoldTriple, ...]
    ends: tuple[tuple[int, int], ...]
    spellings: tuple[tuple[str, ...], ...]
    label: str = "gold"
    duplicates: int = 0
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()

    @property
    def documents(self) -> list[str]:
        """The documents that items name, in their order."""
        named = [*(entity.document for entity in self.entities), *(triple.document for triple in self.triples)]
        return list(dict.fromkeys(name for name in named if name is not None))

    def summary(self) -> GoldSet:
        """The record of this set."""
        return GoldSet(
            label=self.label, entities=len(self.entities), triples=len(self.triples), duplicates=self.duplicates,
            documents=self.documents, faults=list(self.faults), notes=list(self.notes),
        )


@dataclass
class GoldItems:
    """What readers of gold gather, in the order of the files."""

    entities: list[GoldEntity] = field(default_factory=list)
    triples: list[GoldTriple] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inputs: list[Path] = field(default_factory=list)


def distinct(items: GoldItems, *, label: str = "gold") -> Gold:
    """The gold set of the items: each entity and each triple once, ends of triples are entities too.

    An entity is the same one where normalised name, document and type agree; an end of a triple, and an entity listed without
    a type, joins the first one of its name and document. Aliases of the same entity are put together.
    """
    pool = _Pool()
    for entity in sorted(items.entities, key=lambda e: e.type is None):  # typed ones first: one without a type joins them
        pool.add(entity)
    repeated = len(items.entities) - len(pool.spellings)
    triples: dict[tuple[int, str, int, str], tuple[GoldTriple, tuple[int, int]]] = {}
    for triple in items.triples:
        subject, obj = (
            pool.add(GoldEntity(name=name, document=triple.document, aliases=triple.aliases.get(name, [])))
            for name in (triple.subject, triple.object)
        )
        key = (subject, name_key(triple.predicate or ""), obj, triple.document or "")
        if key in triples:
            repeated += 1
        else:
            triples[key] = (triple, (subject, obj))
    return Gold(
        entities=tuple(pool.entities()), triples=tuple(t for t, _ in triples.values()), ends=tuple(e for _, e in triples.values()),
        spellings=tuple(tuple(s) for s in pool.spellings), label=label, duplicates=repeated, faults=tuple(items.faults),
        notes=tuple(items.notes), inputs=tuple(items.inputs),
    )


def only_documents(gold: Gold, wanted: Sequence[str]) -> Gold:
    """The part of the gold set that names one of these documents (as given, without extension, or normalised).

    Raises: UsageError: the set names no such document.
    """
    known = {key: name for name in gold.documents for key in reversed(document_keys(name))}
    chosen = {name: next((known[k] for k in document_keys(name) if k in known), None) for name in wanted}
    unknown = [name for name, known_name in chosen.items() if known_name is None]
    if unknown:
        raise UsageError(
            f"--filter-document: the gold set has nothing of {', '.join(unknown)}",
            fix=f"its documents are: {', '.join(gold.documents[:20]) or 'none'}",
        )
    kept = set(chosen.values())
    entities = [i for i, entity in enumerate(gold.entities) if entity.document in kept]
    triples = [i for i, triple in enumerate(gold.triples) if triple.document in kept]
    place = {old: new for new, old in enumerate(entities)}
    return replace(
        gold, entities=tuple(gold.entities[i] for i in entities), spellings=tuple(gold.spellings[i] for i in entities),
        triples=tuple(gold.triples[i] for i in triples), ends=tuple((place[a], place[b]) for a, b in (gold.ends[i] for i in triples)),
    )


def name_key(name: str) -> str:
    """The normal form; for a name without a letter or digit the name itself, so that "?" and "!" stay two."""
    return identity_key(name) or name.strip()


def document_keys(name: str) -> list[str]:
    """What a document may be called, strictest first: as given, normalised, file name, file name without extension."""
    base = re.split(r"[/\\]", name.strip())[-1]
    forms = [normalise(name), normalise(base), normalise(_EXTENSION.sub("", base.lower()))]
    return list(dict.fromkeys([f"={name.strip()}", *filter(None, forms)]))


class _Pool:
    """Distinct entities by name, document and type."""

    def __init__(self) -> None:
        self.spellings: list[list[str]] = []
        self._items: list[GoldEntity] = []
        self._aliases: list[dict[str, None]] = []
        self._at: dict[Key, int] = {}
        self._first: dict[tuple[str, str], int] = {}

    def entities(self) -> list[GoldEntity]:
        """Every entity with all its aliases."""
        pairs = zip(self._items, self._aliases, strict=True)
        return [entity.model_copy(update={"aliases": list(aliases)}) for entity, aliases in pairs]

    def add(self, entity: GoldEntity) -> int:
        """Adds an entity or joins it to the one that it is; its position."""
        name, document = name_key(entity.name), entity.document or ""
        kind = (entity.type or "").strip().casefold()
        position = self._at.get((name, document, kind))
        if position is None and not kind:
            position = self._first.get((name, document))
        if position is None:
            position = len(self._items)
            self._items.append(entity)
            self.spellings.append([])
            self._aliases.append({})
            self._first.setdefault((name, document), position)
        self._at[name, document, kind] = position
        if entity.name not in self.spellings[position]:
            self.spellings[position].append(entity.name)
        self._aliases[position].update(dict.fromkeys(entity.aliases))
        return position


def gold_of(
    entities: Iterable[GoldEntity], triples: Iterable[GoldTriple], *, label: str, notes: Sequence[str] = (), faults: Sequence[str] = (),
) -> Gold:
    """A gold set that was made, not read: an ideal graph. `label` is printed beside every figure."""
    return distinct(GoldItems(list(entities), list(triples), list(faults), list(notes)), label=label)
