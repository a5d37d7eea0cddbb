"""What the fake model says to each writer's requests, in the form that this writer reads. Requests are told apart by the model's name."""

from __future__ import annotations

import json
from typing import Any

from pydantic import JsonValue
from world import TIMES, TYPES, Found, found_in, type_of

from kgeval.llm.fake import Chat


def reply(chat: Chat) -> JsonValue:
    """The reply to the writer whose name the request's model bears; null: whatever fits the request's schema."""
    shown = "\n".join(text for role, text in chat.messages if role == "user") or chat.text
    made: JsonValue = REPLIES[chat.model](chat, found_in(shown), shown)
    return made


def neo4j_graphrag(_chat: Chat, found: Found, _shown: str) -> str:
    """Nodes with ids that hold within the reply, and relations between them."""
    ids = {name: str(at) for at, name in enumerate(found.entities)}
    nodes = [{"id": ids[name], "label": kind, "properties": {"name": name}} for name, kind in found.entities.items()]
    relations = [
        {"type": predicate, "start_node_id": ids[head], "end_node_id": ids.get(tail, "none"), "properties": {"details": why}}
        for head, predicate, tail, why in found.relations
    ]
    return json.dumps({"nodes": nodes, "relationships": relations})


def langchain(_chat: Chat, found: Found, _shown: str) -> str:
    nodes = [{"id": name, "type": kind} for name, kind in found.entities.items()]
    relations = [
        {
            "source_node_id": head, "source_node_type": type_of(head, found), "target_node_id": tail,
            "target_node_type": type_of(tail, found), "type": predicate,
        }
        for head, predicate, tail, _ in found.relations
    ]
    return json.dumps({"nodes": nodes, "relationships": relations})


def llamaindex_simple(_chat: Chat, found: Found, _shown: str) -> str:
    return "\n".join(f"({head}, {_words(predicate)}, {tail})" for head, predicate, tail, _ in found.relations)


def llamaindex(_chat: Chat, found: Found, _shown: str) -> str:
    return json.dumps([
        {"head": head, "head_type": type_of(head, found), "relation": predicate, "tail": tail, "tail_type": type_of(tail, found)}
        for head, predicate, tail, _ in found.relations
    ])


def lightrag(chat: Chat, found: Found, shown: str) -> str:
    """The tuples of LightRAG; nothing more when it asks whether something was missed."""
    if "assistant" in [role for role, _ in chat.messages]:
        return "<|COMPLETE|>"
    rows = [f"entity<|#|>{name}<|#|>{kind}<|#|>{_about(name, found)}" for name, kind in found.entities.items()]
    rows += [f"relation<|#|>{head}<|#|>{tail}<|#|>{_words(predicate)}<|#|>{why}" for head, predicate, tail, why in found.relations]
    return "\n".join([*rows, "<|COMPLETE|>"])


def nano_graphrag(chat: Chat, found: Found, _shown: str) -> JsonValue:
    """The tuples of nano-graphrag, and a report on any community."""
    if chat.format == "json_object":
        return json.dumps({"title": "Harrowmere", "summary": "About it.", "rating": 1.0, "rating_explanation": "Small.", "findings": []})
    if "assistant" in [role for role, _ in chat.messages]:
        return "no" if len(chat.messages) > 3 else "<|COMPLETE|>"
    rows = [f'("entity"<|>"{name}"<|>"{kind}"<|>"{_about(name, found)}")' for name, kind in found.entities.items()]
    rows += [f'("relationship"<|>"{head}"<|>"{tail}"<|>"{why}"<|>5)' for head, _, tail, why in found.relations]
    return "##\n".join(rows) + "<|COMPLETE|>"


def graphiti(chat: Chat, found: Found, shown: str) -> JsonValue:
    """By the name of the wanted structure. No entity is taken for another one, and no fact for a repetition."""
    wanted = str((chat.schema or {}).get("title"))
    made: dict[str, Any] = {
        "ExtractedEntities": {"extracted_entities": [
            {"name": name, "entity_type_id": TYPES.index(kind) + 1, "episode_indices": [0]} for name, kind in found.entities.items()
        ]},
        "ExtractedEdges": {"edges": [_edge(one) for one in found.relations]},
        "NodeResolutions": {"entity_resolutions": []},
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
        "EdgeTimestamps": {"valid_at": None, "invalid_at": None},
        "SummarizedEntities": {"summaries": []},
    }
    return made.get(wanted, {})


def _edge(relation: tuple[str, str, str, str]) -> dict[str, Any]:
    head, predicate, tail, why = relation
    start, end = TIMES.get(predicate, (None, None))
    named = {"source_entity_name": head, "target_entity_name": tail, "relation_type": predicate, "fact": why}
    return {**named, "valid_at": start, "invalid_at": end, "episode_indices": [0]}


def _words(predicate: str) -> str:
    return predicate.lower().replace("_", " ")


def _about(name: str, found: Found) -> str:
    """A description: the sentences of its relations."""
    return " ".join(why for head, _, tail, why in found.relations if name in (head, tail)) or f"{name} is mentioned."


REPLIES = {
    "neo4j-graphrag": neo4j_graphrag, "langchain": langchain, "llamaindex": llamaindex, "llamaindex-simple": llamaindex_simple,
    "lightrag": lightrag, "nano-graphrag": nano_graphrag, "graphiti": graphiti,
}
