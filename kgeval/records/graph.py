"""Things in a graph, and how a graph is stored."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import SCHEMA_VERSION, Public, PublicRecord, Record
from kgeval.records.manifest import RunManifest


class GraphRef(Record):
    """A thing in a graph. `element_id` dies when a graph is rebuilt; key, name and type survive.

    A relation's name is `A -[TYPE]-> B`.
    """

    element_id: Public | None = None
    key: str
    name: str
    type: Public | None = None
    kind: Literal["entity", "relation", "chunk", "document", "community", "type", "property", "index"] = "entity"


class LabelName(PublicRecord):
    """How nodes with a label (null: all) are named: by the values of `keys`, joined by a space. `is_id`: that is an id and no name; without
    keys, they have neither."""

    label: str | None = None
    keys: list[str] = Field(default_factory=list)
    is_id: bool = False


class Layout(PublicRecord):
    """How a graph is stored: which labels, types and properties play which role. Cypher files are written for a graph by it.

    Always complete, so that queries need no case distinctions: an empty list or null means "there is none".
    In a profile file `entity_labels = ["*"]` means every label that is not excluded and not a chunk's or document's;
    `relation_types = []` means every type but `relation_excluded_types`. `kgeval.graph.layouts.bind` replaces both with
    the database's real names before a query sees the map. It also computes `type_label_rank` (which of a node's labels is its type:
    the one of the lowest rank), `label_names` (how the nodes of each label are named; the first that fits counts; empty: by
    `name_keys`), `label_details` (by label, "" for none, what describes a node that has neither name nor id), and where the layout
    leaves `relations_undirected` open, what the import that wrote the graph saw.
    """

    name: str
    description: str = ""
    scope_label: str | None = None
    scope_property: str | None = None
    scope_value: str | None = None
    entity_labels: list[str] = Field(default_factory=list)
    entity_excluded_labels: list[str] = Field(default_factory=list)
    name_keys: list[str] = Field(default_factory=list)
    label_names: list[LabelName] = Field(default_factory=list)
    label_details: dict[str, list[str]] = Field(default_factory=dict)
    key_property: str | None = None
    alias_keys: list[str] = Field(default_factory=list)
    description_key: str | None = None
    type_key: str | None = None
    type_label_ignored: list[str] = Field(default_factory=list)
    type_label_rank: dict[str, int] = Field(default_factory=dict)
    relation_types: list[str] = Field(default_factory=list)
    relation_excluded_types: list[str] = Field(default_factory=list)
    relation_label_key: str | None = None
    relation_description_key: str | None = None
    relations_undirected: bool | None = None
    hierarchy_relations: list[str] = Field(default_factory=list)
    dependency_relations: list[str] = Field(default_factory=list)
    weight_key: str | None = None
    confidence_key: str | None = None
    valid_from_key: str | None = None
    valid_to_key: str | None = None
    expired_key: str | None = None
    chunk_labels: list[str] = Field(default_factory=list)
    chunk_text_keys: list[str] = Field(default_factory=list)
    chunk_id_keys: list[str] = Field(default_factory=list)
    chunk_index_key: str | None = None
    document_labels: list[str] = Field(default_factory=list)
    document_key: str | None = None
    document_status_key: str | None = None
    document_done_values: list[str] = Field(default_factory=list)
    document_total_key: str | None = None
    document_processed_key: str | None = None
    chunk_document_types: list[str] = Field(default_factory=list)
    next_chunk_types: list[str] = Field(default_factory=list)
    mention_types: list[str] = Field(default_factory=list)
    entity_source_key: str | None = None
    relation_source_key: str | None = None
    source_separator: str | None = None
    source_limit: int | None = None
    embedding_key: str | None = None
    chunk_embedding_key: str | None = None
    community_labels: list[str] = Field(default_factory=list)
    community_key: str | None = None
    community_level_key: str | None = None
    community_report_keys: list[str] = Field(default_factory=list)
    community_members_key: str | None = None
    community_parent_key: str | None = None
    community_member_types: list[str] = Field(default_factory=list)
    community_parent_types: list[str] = Field(default_factory=list)
    memory_labels: list[str] = Field(default_factory=list)
    placeholder_values: list[str] = Field(default_factory=list)
    expected_indexes: list[str] = Field(default_factory=list)
    relations_join_entities_only: bool = False


class GraphReport(Record):
    """A report on one graph, as a layout reads it, and the run that it came of."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    graph: Public | None = None
    run: RunManifest
    layout: Layout
