"""The schema that a graph should follow: from a file of neo4j-graphrag, a TOML file, or the database's constraints.

The three forms and their meaning: docs/schema-files.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from kgeval.errors import InputError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.records import Record
from kgeval.text.schema_files import is_open, read_schema_file
from kgeval.text.schema_types import property_types

DATABASE = "database"
Parameters = dict[str, Any]


class PropertySpec(Record):
    """A declared property. `types`: the value types that fit, in Neo4j's words; empty = any."""

    name: str
    types: list[str] = Field(default_factory=list)
    required: bool = False


class TypeSpec(Record):
    """A declared entity type or relation type."""

    label: str
    properties: list[PropertySpec] = Field(default_factory=list)


class GraphSchema(Record):
    """What a graph may hold. An `open_` flag says that more than the declared types, relations or patterns is fine.

    `patterns`: (type, relation, type) triples that may occur. `source`: where the schema came from, for reports.
    """

    source: str
    node_types: list[TypeSpec] = Field(default_factory=list)
    relation_types: list[TypeSpec] = Field(default_factory=list)
    patterns: list[tuple[str, str, str]] = Field(default_factory=list)
    open_types: bool = False
    open_relations: bool = False
    open_patterns: bool = False

    def parameters(self) -> Parameters:
        """The `$schema` map of the Cypher files."""
        parameters: Parameters = {
            "node_types": [t.label for t in self.node_types],
            "relation_types": [t.label for t in self.relation_types],
            "patterns": [list(pattern) for pattern in self.patterns],
            "open_types": self.open_types, "open_relations": self.open_relations, "open_patterns": self.open_patterns,
        }
        for kind, specs in (("node", self.node_types), ("relation", self.relation_types)):
            declared = [(t.label, spec) for t in specs for spec in t.properties]
            typed = [{"label": label, "property": spec.name, "types": spec.types} for label, spec in declared if spec.types]
            required = [{"label": label, "property": spec.name} for label, spec in declared if spec.required]
            parameters |= {f"{kind}_properties": typed, f"{kind}_required": required}
        return parameters

    def unanswered(self) -> dict[str, str]:
        """Reason by rule id for each schema check that this schema cannot answer, so that it is skipped and not passed."""
        parts = self.parameters()
        has_types = parts["node_properties"] or parts["relation_properties"]
        has_required = parts["node_required"] or parts["relation_required"]
        reasons = {
            "undeclared-type": self.open_types and f"{self.source} allows further entity types",
            "undeclared-relation": self.open_relations and f"{self.source} allows further relation types",
            "pattern-violation": self.open_patterns and f"{self.source} does not say which types a relation may join",
            "missing-required-property": not has_required and f"{self.source} requires no property",
            "property-type-mismatch": not has_types and f"{self.source} declares no property types",
        }
        return {rule: reason for rule, reason in reasons.items() if reason}


def read_schema(given: str, graph: Graph | None = None) -> GraphSchema:
    """The schema named by `--schema`: a file's path, or `database` for the connected database's own constraints.

    Raises: InputError that lists every fault; QueryError where the constraints cannot be read.
    """
    if given != DATABASE:
        return from_file(Path(given))
    if graph is None:
        raise InputError("--schema database needs a connected database", fix="give a schema file")
    return from_constraints(graph.read(all_queries()["database-constraints"]))


def from_file(path: Path) -> GraphSchema:
    """The schema of a JSON, YAML or TOML file.

    Raises: InputError that names the file and every fault.
    """
    raw = read_schema_file(path)
    nodes = {t.label: t for t in raw.node_types}
    relations = {t.label: t for t in raw.relationship_types}
    return GraphSchema(
        source=path.name,
        node_types=[_spec(t, raw.required(node=t.label)) for t in nodes.values()],
        relation_types=[_spec(t, raw.required(relation=t.label)) for t in relations.values()],
        patterns=list(dict.fromkeys((p.source, p.relationship, p.target) for p in raw.patterns)),
        open_types=is_open(raw.additional_node_types, raw.node_types),
        open_relations=is_open(raw.additional_relationship_types, raw.relationship_types),
        open_patterns=is_open(raw.additional_patterns, raw.patterns),
    )


def _spec(declared: Any, required: set[str]) -> TypeSpec:
    properties = [
        PropertySpec(name=p.name, types=property_types(p.type), required=p.required or p.name in required)
        for p in declared.properties
    ]
    undeclared = sorted(required - {p.name for p in declared.properties})
    return TypeSpec(label=declared.label, properties=[*properties, *(PropertySpec(name=n, required=True) for n in undeclared)])


def from_constraints(rows: Iterable[Mapping[str, Any]]) -> GraphSchema:
    """The schema in a database's constraints (rows of SHOW CONSTRAINTS). Further types and relations are always fine.

    The properties of uniqueness and key constraints count as required: they are what a label's nodes are found by.
    """
    nodes: dict[str, dict[str, PropertySpec]] = {}
    relations: dict[str, dict[str, PropertySpec]] = {}
    ends: dict[str, dict[str, str]] = {}
    for row in rows:
        for name in row["labelsOrTypes"] or []:
            specs = (nodes if row["entityType"] == "NODE" else relations).setdefault(name, {})
            kind = str(row["type"])
            # graph types (Cypher 25) have constraints on labels too, such as NODE_LABEL_EXISTENCE: they require no property
            required = any(word in kind for word in ("EXISTENCE", "KEY", "UNIQUENESS")) and "LABEL" not in kind
            for key in row["properties"] or []:
                known = specs.get(key, PropertySpec(name=key))
                types = property_types(row["propertyType"], checked=False) if row.get("propertyType") else known.types
                specs[key] = PropertySpec(name=key, types=types, required=known.required or required)
            if kind in ("RELATIONSHIP_SOURCE_LABEL", "RELATIONSHIP_TARGET_LABEL") and row.get("enforcedLabel"):
                ends.setdefault(name, {})[kind] = str(row["enforcedLabel"])
    patterns = [
        (labels_of["RELATIONSHIP_SOURCE_LABEL"], name, labels_of["RELATIONSHIP_TARGET_LABEL"])
        for name, labels_of in sorted(ends.items()) if len(labels_of) == 2
    ]
    labels = sorted({*nodes, *(end for pattern in patterns for end in (pattern[0], pattern[2]))})
    return GraphSchema(
        source="the database's constraints", open_types=True, open_relations=True, open_patterns=not patterns, patterns=patterns,
        node_types=[TypeSpec(label=label, properties=list(nodes.get(label, {}).values())) for label in labels],
        relation_types=[TypeSpec(label=label, properties=list(specs.values())) for label, specs in sorted(relations.items())],
    )
