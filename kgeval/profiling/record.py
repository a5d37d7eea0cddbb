"""What a graph is, as a record: labels, relation types and the whole, each decision with its evidence."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, PublicRecord
from kgeval.records.graph import GraphReport

Kind = Literal["extracted", "hand-made", "RDF", "code", "memory"]
Role = Literal["entity", "passage", "document", "community", "record", "value", "technical"]
Says = Literal["type", "property", "keywords", "nothing"]
Part = Literal["value", "year", "letters", "last part", "presence", "outgoing", "incoming"]
PRESENCES: frozenset[Part] = frozenset(("presence", "outgoing", "incoming"))
FROM_TEXTS: frozenset[Kind] = frozenset(("extracted", "memory"))  # what a writer made of texts


class PropertyProfile(PublicRecord):
    """A property of the nodes of a label or of the relations of a type, in the sample. `filled`: share that has it; `types`: shares of the
    stored types; `distinct`: share of values that differ; `length`: median characters of a text; `formats`: shares of texts that are
    something else (number, date, time of day, null word, address, HTML, list in brackets)."""

    key: Public
    filled: float
    types: dict[Public, float] = Field(default_factory=dict)
    distinct: float = 0.0
    length: float | None = None
    formats: dict[Public, float] = Field(default_factory=dict)


class LabelProfile(PublicRecord):
    """The nodes of one type. `label`: the type; "" for nodes without a label. `with_it`: labels on all of them too; `subtypes`: labels on
    some of them that have properties or relations of their own; `markers`: labels on some that have none.

    `keys`: properties that tell the nodes apart, the surest first. `name`: the properties that make up a name, best first (empty: none,
    then the key stands for it). `names_identify`: whether two nodes of one name are one thing; null where no name is repeated, or
    there is none. `sampled`: nodes that were looked at.
    """

    label: Public
    nodes: int
    sampled: int
    role: Role
    role_because: Public
    kind: Kind
    with_it: list[Public] = Field(default_factory=list)
    subtypes: list[Public] = Field(default_factory=list)
    markers: list[Public] = Field(default_factory=list)
    type_property: Public | None = None
    properties: list[PropertyProfile] = Field(default_factory=list)
    keys: list[Public] = Field(default_factory=list)
    keys_because: Public = ""
    name: list[Public] = Field(default_factory=list)
    name_because: Public = ""
    names_identify: bool | None = None
    names_because: Public = ""
    embeddings: list[Public] = Field(default_factory=list)

    @property
    def is_from_texts(self) -> bool:
        """Whether a writer made its nodes of texts; else people keep them."""
        return self.kind in FROM_TEXTS


class RelationEnds(PublicRecord):
    """Labels at the two ends of a relation type, and the share of the sampled relations between them."""

    start: Public
    end: Public
    share: float


class RelationProfile(PublicRecord):
    """A relation type. `directed`: whether its direction says something. `says`: where its meaning is: its type, a property, keywords in a
    property, or nowhere (`nothing`: only that two things are connected). `most_per_start`, `most_per_end`: the most that a sampled node
    has at that end. `tells_apart`: properties whose values differ between two relations of one pair."""

    type: Public
    count: int
    sampled: int
    ends: list[RelationEnds] = Field(default_factory=list)
    directed: bool = True
    directed_because: Public = ""
    says: Says = "type"
    says_because: Public = ""
    most_per_start: int | None = None
    most_per_end: int | None = None
    properties: list[PropertyProfile] = Field(default_factory=list)
    tells_apart: list[Public] = Field(default_factory=list)
    repeated_pairs: int = 0


class ValueAt(PublicRecord):
    """What stands on a node, on a relation, or on the node at its start or end. `owner`: the label or type. `key`: the property, or the
    type of a relation; None: which node it is. `part`: the value, the year or the letters it begins with or the last part of a code in it,
    or whether there is one (of relations: out from the node, or into it)."""

    side: Literal["node", "start", "relation", "end"]
    owner: Public
    key: Public | None = None
    part: Part = "value"

    @property
    def is_presence(self) -> bool:
        """Whether it says only that there is one."""
        return self.part in PRESENCES


class Dependency(PublicRecord):
    """Two values that go with each other in nearly all rows of the sample: the first `says` what the last is (`only`: where it is this),
    `equals` it, or is `at most` it. Rows: nodes of a label (`start`), or relations of a type from a label to another one (`end`).
    `rows`: that have both; `groups`: values of the first that stand in several of them."""

    kind: Literal["says", "equals", "at most"]
    type: Public | None = None
    start: Public
    end: Public | None = None
    first: ValueAt
    last: ValueAt
    only: str | None = None
    rows: int
    groups: int


class GraphProfile(PublicRecord):
    """What a graph is. `kind`: of most of its entities; `labels` has it by label. `written_by`: the layout. `scripts`: of names, in shares.
    `sampled`: nodes that were looked at, of `nodes`; counts of labels and types are of all."""

    written_by: Public
    kind: Kind
    kind_because: Public
    nodes: int
    relations: int
    sampled: int
    seed: int
    labels: list[LabelProfile] = Field(default_factory=list)
    types: list[RelationProfile] = Field(default_factory=list)
    dependencies: list[Dependency] = Field(default_factory=list)
    constraints: list[Public] = Field(default_factory=list)
    indexes: list[Public] = Field(default_factory=list)
    scripts: dict[Public, float] = Field(default_factory=dict)
    notes: list[Public] = Field(default_factory=list)

    @property
    def is_from_texts(self) -> bool:
        """Whether a writer made most of it of texts; else people keep it."""
        return self.kind in FROM_TEXTS

    def without_properties(self) -> GraphProfile:
        """What an audit keeps of it: decisions and their evidence."""
        labels = [one.model_copy(update={"properties": []}) for one in self.labels]
        types = [one.model_copy(update={"properties": []}) for one in self.types]
        return self.model_copy(update={"labels": labels, "types": types, "dependencies": []})


class ProfileReport(GraphReport):
    """`kgeval profile`: what a graph is."""

    profile: GraphProfile
