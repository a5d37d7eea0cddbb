"""What an extractor may give: entity types, relation labels and patterns, from a schema file or from an existing graph."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

from kgeval.errors import InputError
from kgeval.text.clean import normal_form
from kgeval.text.schema_files import is_open, read_schema_file

Pattern = tuple[str, str, str]
MOST_NAMES = 500


@dataclass(frozen=True)
class Allowed:
    """An entity type or a relation label, with what it means where that is said."""

    name: str
    description: str | None = None


@dataclass(frozen=True)
class Schema:
    """Entity types, relation labels, and patterns (subject type, label, object type). An open part allows more than it lists.

    Names are compared without regard to letter case, spaces, hyphens and underscores: models do not keep to one spelling.
    `source`: where it came from, for reports.
    """

    source: str
    entity_types: tuple[Allowed, ...] = ()
    relation_labels: tuple[Allowed, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    open_types: bool = False
    open_relations: bool = False
    open_patterns: bool = True

    def entity_type(self, given: str | None) -> str | None:
        """The type as the schema writes it; as given where the schema is open; None where it is not allowed."""
        return self._types.get(folded(given or "")) or (given if self.open_types else None)

    def relation_label(self, given: str) -> str | None:
        """The label as the schema writes it; as given where the schema is open; None where it is not allowed."""
        return self._labels.get(folded(given)) or (given if self.open_relations else None)

    def fits(self, subject_type: str | None, label: str, object_type: str | None) -> bool:
        """Whether a relation may join these types. A label that the schema lists no pattern for may join any."""
        if self.open_patterns or folded(label) not in self._with_pattern:
            return True
        return (folded(subject_type or ""), folded(label), folded(object_type or "")) in self._joins

    @property
    def types_matter(self) -> bool:
        """Whether an entity can be refused for its type."""
        return not self.open_types

    @property
    def hash(self) -> str:
        """The first 16 hex digits of a SHA-256 over all that decides what is allowed and what is told to the model."""
        return hashlib.sha256(json.dumps(self.as_data(), ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]

    def as_data(self) -> JsonValue:
        """The schema as it is shown to a model."""
        return {
            "entity_types": [_shown(t) for t in self.entity_types], "other_entity_types_allowed": self.open_types,
            "relation_labels": [_shown(t) for t in self.relation_labels], "other_relation_labels_allowed": self.open_relations,
            "patterns": [list(p) for p in self.patterns], "other_patterns_allowed": self.open_patterns,
        }

    @cached_property
    def _types(self) -> dict[str, str]:
        # backwards: of two spellings the first is kept
        return {folded(t.name): t.name for t in reversed(self.entity_types)}

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {folded(t.name): t.name for t in reversed(self.relation_labels)}

    @cached_property
    def _joins(self) -> frozenset[Pattern]:
        return frozenset((folded(a), folded(label), folded(b)) for a, label, b in self.patterns)

    @cached_property
    def _with_pattern(self) -> frozenset[str]:
        return frozenset(folded(label) for _, label, _ in self.patterns)


def folded(name: str) -> str:
    """A type or label without letter case, spaces, hyphens and underscores: "Works at", "WORKS_AT" and "worksAt" are one."""
    plain = normal_form(name, "NFKC").casefold()
    return "".join(c for c in plain if not (c.isspace() or c in "_-"))


def from_file(path: Path) -> Schema:
    """The schema of a TOML, JSON or YAML file, in the forms of docs/schema-files.md.

    A part is open if the file says so, or else if the file declares nothing in it. Properties and constraints do not matter here.

    Raises: InputError that names the file and every fault; two names that differ only in letter case or separators are one, and
    so are more than 500 names.
    """
    raw = read_schema_file(path)
    schema = Schema(
        source=path.name,
        entity_types=tuple(Allowed(t.label, t.description or None) for t in raw.node_types),
        relation_labels=tuple(Allowed(t.label, t.description or None) for t in raw.relationship_types),
        patterns=tuple(dict.fromkeys((p.source, p.relationship, p.target) for p in raw.patterns)),
        open_types=is_open(raw.additional_node_types, raw.node_types),
        open_relations=is_open(raw.additional_relationship_types, raw.relationship_types),
        open_patterns=is_open(raw.additional_patterns, raw.patterns),
    )
    faults = [*_alike("entity types", schema.entity_types), *_alike("relation labels", schema.relation_labels)]
    if faults:
        raise InputError(f"{path}: the schema cannot be used for extraction", fix="rename one of each pair", faults=faults)
    return _small(schema)


def from_graph(name: str, *, types: Iterable[str], labels: Iterable[str], patterns: Iterable[Pattern] = ()) -> Schema:
    """The schema that an existing graph's types, relation labels and patterns make, in their order.

    What it lists is closed; a graph without relations allows any label. Of names that differ only in letter case or separators
    the first is kept, for both.

    Raises: InputError for a graph that has no types, or more types and labels than 500.
    """
    kinds, relations = _distinct(types), _distinct(labels)
    if not kinds:
        raise InputError(f"the graph {name!r} has no entity types to take a schema from", fix="give a schema file, or another graph")
    schema = Schema(f"graph {name}", tuple(map(Allowed, kinds)), tuple(map(Allowed, relations)), open_relations=not relations)
    known = dict.fromkeys(
        (a, label, b) for pattern in patterns
        if (a := schema.entity_type(pattern[0])) and (label := schema.relation_label(pattern[1])) and (b := schema.entity_type(pattern[2]))
    )
    return _small(replace(schema, patterns=tuple(known), open_patterns=not known))


def _small(schema: Schema) -> Schema:
    """The schema itself. Raises: InputError for one that is too long to be shown with every chunk."""
    names = len(schema.entity_types) + len(schema.relation_labels)
    if names > MOST_NAMES:
        raise InputError(
            f"{schema.source}: {names:,} types and relation labels; more than {MOST_NAMES} cannot be shown with every chunk",
            fix="write a schema file with those that you want",
        )
    return schema


def _shown(allowed: Allowed) -> JsonValue:
    return {"name": allowed.name, "meaning": allowed.description} if allowed.description else {"name": allowed.name}


def _distinct(names: Iterable[str]) -> list[str]:
    kept: dict[str, str] = {}
    for name in names:
        if name.strip():
            kept.setdefault(folded(name), name)
    return list(kept.values())


def _alike(what: str, given: Iterable[Allowed]) -> list[str]:
    first: dict[str, str] = {}
    faults = []
    for allowed in given:
        other = first.setdefault(folded(allowed.name), allowed.name)
        if other != allowed.name:
            faults.append(f"{what}: '{other}' and '{allowed.name}' differ only in letter case or separators")
    return faults
