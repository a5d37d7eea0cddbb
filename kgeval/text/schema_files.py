"""Reads schema files: neo4j-graphrag's GraphSchema as JSON or YAML, and kgeval's TOML. Every fault of a file at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from kgeval.config import explain
from kgeval.errors import InputError, named_again
from kgeval.limits import parse_json, parse_toml
from kgeval.tables.plain import parse_yaml
from kgeval.text.schema_types import property_types

LARGEST = 10_000_000
DOCS = "kgeval help schema-files shows the three forms"
Data = dict[str, Any]


class _Part(BaseModel):
    """neo4j-graphrag adds keys from version to version: unknown ones are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FileProperty(_Part):
    """A property as declared: `type` is one name, or several joined by `|`."""

    name: str = Field(min_length=1)
    type: str = "ANY"
    required: bool = False

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        property_types(value)
        return value


class FileType(_Part):
    """A node type or a relationship type."""

    label: str = Field(min_length=1)
    description: str | None = None
    properties: list[FileProperty] = Field(default_factory=list)


class FilePattern(_Part):
    """Source type, relationship type, target type."""

    source: str
    relationship: str
    target: str


class FileConstraint(_Part):
    """A constraint of neo4j-graphrag: EXISTENCE and KEY make their properties required."""

    type: str
    node_type: str | None = None
    relationship_type: str | None = None
    property_name: str | None = None
    property_names: list[str] = Field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """The constrained properties."""
        return set(self.property_names or ([self.property_name] if self.property_name else []))


def _labelled(value: Any) -> Any:
    return {"label": value} if isinstance(value, str) else value


def _triple(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 3:
        return {"source": value[0], "relationship": value[1], "target": value[2]}
    return value


_Type = Annotated[FileType, BeforeValidator(_labelled)]
_Pattern = Annotated[FilePattern, BeforeValidator(_triple)]


class SchemaFile(_Part):
    """neo4j-graphrag's GraphSchema; the TOML form is turned into it."""

    node_types: list[_Type]
    relationship_types: list[_Type] = Field(default_factory=list)
    patterns: list[_Pattern] = Field(default_factory=list)
    constraints: list[FileConstraint] = Field(default_factory=list)
    additional_node_types: bool | None = None
    additional_relationship_types: bool | None = None
    additional_patterns: bool | None = None

    def required(self, *, node: str | None = None, relation: str | None = None) -> set[str]:
        """The properties that constraints require of a node type or a relationship type."""
        return {
            name for c in self.constraints if c.type in ("EXISTENCE", "KEY")
            and ((node and c.node_type == node) or (relation and c.relationship_type == relation)) for name in c.names
        }


class _TomlProperty(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: str = "ANY"
    required: bool = False


def _typed(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


_Properties = dict[str, Annotated[_TomlProperty, BeforeValidator(_typed)]]


class _TomlType(BaseModel):
    model_config = ConfigDict(extra="forbid")

    description: str = ""
    properties: _Properties = Field(default_factory=dict)


class _TomlRelation(_TomlType):
    joins: list[tuple[str, str]] = Field(default_factory=list)


class _Toml(BaseModel):
    """Our own form. Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["1"] = "1"
    types: dict[str, _TomlType]
    relations: dict[str, _TomlRelation] = Field(default_factory=dict)
    open_types: bool | None = None
    open_relations: bool | None = None
    open_patterns: bool | None = None


def read_schema_file(path: Path) -> SchemaFile:
    """The declarations of a .json, .yaml, .yml or .toml file; what they name is declared, and only once.

    Raises: InputError that names the file and every fault.
    """
    schema = _read(path)
    nodes, relations = (Counter(declared.label for declared in kinds) for kinds in (schema.node_types, schema.relationship_types))
    faults = [
        f"{where}: '{label}' is declared {labels[label]} times"
        for where, labels in (("node_types", nodes), ("relationship_types", relations)) for label in named_again(labels.elements())
    ]
    for number, pattern in enumerate(schema.patterns):
        ends = dict.fromkeys((pattern.source, pattern.target))
        faults += [f"patterns.{number}: there is no node type '{end}'" for end in ends if end not in nodes]
        if pattern.relationship not in relations:
            faults.append(f"patterns.{number}: there is no relationship type '{pattern.relationship}'")
    for number, constraint in enumerate(schema.constraints):
        name = constraint.node_type or constraint.relationship_type
        if name and name not in (nodes if constraint.node_type else relations):
            faults.append(f"constraints.{number}: '{name}' is not declared")
    if faults:
        raise InputError(f"{path}: the schema contradicts itself", fix="see kgeval help schema-files", faults=faults)
    return schema


def is_open(said: bool | None, declared: Sequence[object]) -> bool:
    """Whether more than what is declared is fine: what the file says, else neo4j-graphrag's rule: exactly if nothing is declared."""
    return said if said is not None else not declared


def _read(path: Path) -> SchemaFile:
    text = _text(path)
    kind = path.suffix.lower()
    readers: dict[str, Callable[[str], Any]] = {".json": parse_json, ".yaml": parse_yaml, ".yml": parse_yaml, ".toml": parse_toml}
    if kind not in readers:
        raise InputError(f"{path}: a schema file ends in .json, .yaml, .yml or .toml", fix=DOCS)
    try:
        data = readers[kind](text)
    # What json and tomllib raise is a ValueError, as is what `parse_yaml` makes of a fault.
    except ValueError as cause:
        raise InputError(f"{path}: not {kind[1:].upper()}: {_one_line(cause)}", fix=DOCS) from cause
    if not isinstance(data, dict):
        raise InputError(f"{path}: the file must hold one object with node_types", fix=DOCS)
    try:
        return SchemaFile.model_validate(_from_toml(data) if kind == ".toml" else data)
    except ValidationError as cause:
        raise InputError(f"{path}: not a schema", fix=DOCS, faults=[f"{path.name}: {line}" for line in explain(cause)]) from cause


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: larger than {LARGEST // 1_000_000} MB", fix="is it a schema file?")
        # Editors on Windows begin a file with a byte order mark, which is no JSON.
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as cause:
        raise InputError(f"{path}: no such file", fix="give a schema file, or 'database' for the database's constraints") from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(f"{path}: cannot be read: {_one_line(cause)}", fix="the file must be text in UTF-8") from cause


def _from_toml(data: Data) -> Data:
    """Our TOML in the shape of neo4j-graphrag's schema. Raises ValidationError with our own key names."""
    own = _Toml.model_validate(data)
    return {
        "node_types": [_as_type(label, spec) for label, spec in own.types.items()],
        "relationship_types": [_as_type(label, spec) for label, spec in own.relations.items()],
        "patterns": [[source, label, target] for label, spec in own.relations.items() for source, target in spec.joins],
        "additional_node_types": own.open_types, "additional_relationship_types": own.open_relations,
        "additional_patterns": own.open_patterns,
    }


def _as_type(label: str, spec: _TomlType) -> Data:
    properties = [{"name": name, **p.model_dump()} for name, p in spec.properties.items()]
    return {"label": label, "description": spec.description, "properties": properties}


def _one_line(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:300] or type(cause).__name__
