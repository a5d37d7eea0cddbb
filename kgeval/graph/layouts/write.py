"""Layouts as TOML files for people: every key with what it means; keys that are not set are commented out."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kgeval.records import Layout

KEYS: dict[str, str] = {
    "name": "what reports call this layout",
    "description": "one line for `kgeval layout list`",
    "scope_label": 'label that parts several graphs in one database; "*" = find it, --graph NAME chooses',
    "scope_property": "property that parts several graphs; --graph NAME is its value",
    "scope_value": "value of scope_property, if it is always the same",
    "entity_labels": 'labels of entities, any of them; ["*"] = every label that is not excluded, a chunk\'s or a document\'s',
    "entity_excluded_labels": "nodes with one of these labels are never entities (a trailing * is a pattern, a trailing ? needs proof)",
    "name_keys": "properties that hold an entity's name; the first that is there counts. Also: first+last, Label.property, * = find them",
    "key_property": "property that identifies an entity",
    "alias_keys": "properties with other names of the entity",
    "description_key": "property with the entity's description",
    "type_key": "property with the entity's type; without it the type is a label",
    "type_label_ignored": "labels that are no types (base labels); labels of all entities are found by themselves",
    "relation_types": "types that are relations between entities; [] = every type that joins two entities",
    "relation_excluded_types": "types that are never relations between entities",
    "relation_label_key": "property with the relation's name, where the type is always the same",
    "relation_description_key": "property with the relation's description",
    "relations_undirected": "true where start and end of a relation mean nothing (LightRAG, Microsoft GraphRAG): its labels are keywords",
    "hierarchy_relations": 'predicates that say what is a kind or part of what; "<CONTAINS": subject above object; [] = words of kgeval',
    "dependency_relations": 'predicates that say what depends on what; "<REQUIRES": subject on object; [] = words of kgeval',
    "weight_key": "property with the relation's weight",
    "confidence_key": "property with the relation's confidence",
    "valid_from_key": "property with the time from which a relation holds",
    "valid_to_key": "property with the time until which it holds",
    "expired_key": "property with the time at which it was retired",
    "chunk_labels": "labels of the pieces of text that the graph was made from; with a trailing ? only where texts or links prove it",
    "chunk_text_keys": "properties with a chunk's text",
    "chunk_id_keys": "properties with a chunk's id, as source lists name it",
    "chunk_index_key": "property with a chunk's place in its document",
    "document_labels": "labels of documents; a trailing ? as above",
    "document_key": "property that identifies a document",
    "document_status_key": "property that says how far a document's extraction has come",
    "document_done_values": "values of it that say that all was done; [] = none of the values says it",
    "document_total_key": "property with the number of chunks that a document was cut into",
    "document_processed_key": "property with the number of these that were extracted from",
    "chunk_document_types": "types that join chunks and documents, in either direction",
    "next_chunk_types": "types that lead from a chunk to the next one of its document",
    "mention_types": "types that join entities and chunks, in either direction",
    "entity_source_key": "property of an entity that lists its chunks' ids (a list, or text split by source_separator)",
    "relation_source_key": "property of a relation that lists its chunks' ids",
    "source_separator": "what separates ids in such a text",
    "source_limit": "where the writer cuts such a list off",
    "embedding_key": "property with an entity's embedding",
    "chunk_embedding_key": "property with a chunk's embedding",
    "community_labels": "labels of communities that are stored",
    "community_key": "property that identifies a community",
    "community_level_key": "property with a community's level",
    "community_report_keys": "properties with a community's report or summary, any of them",
    "community_members_key": "property of a community that lists its members' keys (key_property of entities)",
    "community_parent_key": "property of a community with the community_key of its parent",
    "community_member_types": "types that join communities and their members, in either direction",
    "community_parent_types": "types that lead from a community to its parent",
    "memory_labels": "labels of what an agent remembers beside entities (facts, preferences, steps), each linked to something",
    "placeholder_values": "names and types that stand for 'unknown'",
    "expected_indexes": 'indexes that readers of this layout rely on: "Label.key", "vector:Label.key", "*" = any label',
}


def to_toml(layout: Layout, notes: Sequence[str] = ()) -> str:
    """The layout as a TOML file, each key explained; `notes` stand at the top as comments."""
    lines = [f"# {note}".rstrip() for text in notes for note in text.splitlines() or [""]]
    lines += [""] if lines else []
    for key, meaning in KEYS.items():
        value = getattr(layout, key)
        lines.append(f"# {meaning}")
        lines.append(f"# {key} =" if value is None else f"{key} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, list):
        short = "[" + ", ".join(_value(v) for v in value) + "]"
        return short if len(short) <= 100 else "[\n" + "".join(f"  {_value(v)},\n" for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    # TOML allows no DEL in a text, and JSON leaves it as it is
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")
