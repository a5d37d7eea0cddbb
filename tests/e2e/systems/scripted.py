"""What the fake model says to the prompts of the wrapped packages: what stands in three tiny documents, in each package's own format.

A question is answered only from what the prompt shows: a right answer proves that the package brought the right passage to the model.
"""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from kgeval.llm.fake import Chat

DOCUMENTS = {
    "curie.txt": "Marie Curie was born in Warsaw. She worked with Pierre Curie in Paris.",
    "becquerel.txt": "Henri Becquerel discovered radioactivity in Paris. He shared the Nobel Prize with Marie Curie and Pierre Curie.",
    "polonium.txt": "Marie Curie and Pierre Curie discovered polonium. Polonium is named after Poland.",
}
# question -> (text that must be in the prompt, answer)
QUESTIONS = {
    "Where was Marie Curie born?": ("born in Warsaw", "Warsaw"),
    "What is polonium named after?": ("named after Poland", "Poland"),
}
ENTITIES = {
    "Marie Curie": "person", "Pierre Curie": "person", "Henri Becquerel": "person", "Warsaw": "geo", "Paris": "geo", "Poland": "geo",
    "radioactivity": "event", "polonium": "event", "Nobel Prize": "event",
}
RELATIONS = [
    ("Marie Curie", "Warsaw", "Marie Curie was born in Warsaw"), ("Marie Curie", "Pierre Curie", "Marie Curie worked with Pierre Curie"),
    ("Henri Becquerel", "radioactivity", "Henri Becquerel discovered radioactivity"),
    ("Henri Becquerel", "Nobel Prize", "Henri Becquerel shared the Nobel Prize"),
    ("Marie Curie", "polonium", "Marie Curie discovered polonium"), ("polonium", "Poland", "polonium is named after Poland"),
]
UNKNOWN = "I do not know."


def reply(chat: Chat) -> JsonValue:
    """The reply to any prompt of a package; null: whatever fits the JSON schema that the request carries."""
    for wanted, say in (
        ("high_level_keywords", _keywords), ("<|#|>", _lightrag), ("MANY entities", lambda _: "<|COMPLETE|>"), ("<|>", _tuples),
        ("named_entities", _names), ('"triples"', _triples), ("fact_before_filter", _facts), ("Cypher", _cypher),
        ('"relationships"', _graph), ('"findings"', _report), ('"points"', _points), ("intermediate_answer", _drift),
        ("follow_up_queries", _drift), ('"named"', _query_names), ('"answer"', lambda shown: {"answer": _answer(shown)}),
    ):
        if wanted in chat.text:
            return say(chat)  # type: ignore[no-any-return, operator]
    return _answer(chat) if chat.schema is None else None


def shown_text(chat: Chat) -> str:
    """The last message of the user: the examples of a system prompt do not count as what is shown."""
    return chat.messages[-1][1] if chat.messages else ""


def _found(text: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Entities and relations whose names stand in one of the documents that the text holds."""
    own = " ".join(document for document in DOCUMENTS.values() if document[:40] in text) or text
    names = [name for name in ENTITIES if re.search(rf"\b{name}\b", own, re.IGNORECASE)]
    return names, [(a, b, why) for a, b, why in RELATIONS if a in names and b in names]


def _lightrag(chat: Chat) -> str:
    names, relations = _found(chat.text)
    if "---Input Text---" not in shown_text(chat):
        return "<|COMPLETE|>"
    rows = [f"entity<|#|>{name}<|#|>{ENTITIES[name]}<|#|>{name} of the documents" for name in names]
    rows += [f"relation<|#|>{a}<|#|>{b}<|#|>link<|#|>{why}" for a, b, why in relations]
    return "\n".join([*rows, "<|COMPLETE|>"])


def _tuples(chat: Chat) -> str:
    names, relations = _found(shown_text(chat)[-2000:])
    rows = [f'("entity"<|>"{name.upper()}"<|>"{ENTITIES[name]}"<|>"{name} of the documents")' for name in names]
    rows += [f'("relationship"<|>"{a.upper()}"<|>"{b.upper()}"<|>"{why}"<|>8)' for a, b, why in relations]
    return "##\n".join(rows) + "<|COMPLETE|>"


def _keywords(chat: Chat) -> JsonValue:
    query = chat.text.rpartition("User Query:")[2]
    return {"high_level_keywords": ["origin", "discovery"], "low_level_keywords": [name for name in ENTITIES if name in query] or ["Curie"]}


def _graph(chat: Chat) -> JsonValue:
    """Entities and relations as JSON: fast-graphrag's keys, or neo4j-graphrag's."""
    names, relations = _found(shown_text(chat))
    if '"nodes"' in chat.text:
        nodes = [{"id": str(at), "label": "Entity", "properties": {"name": name}} for at, name in enumerate(names)]
        edges = [
            {"type": "LINK", "start_node_id": str(names.index(a)), "end_node_id": str(names.index(b)), "properties": {"text": why}}
            for a, b, why in relations
        ]
        return json.dumps({"nodes": nodes, "relationships": edges})
    return {
        "entities": [{"name": name, "type": ENTITIES[name], "desc": f"{name} of the documents"} for name in names],
        "relationships": [{"source": a, "target": b, "desc": why} for a, b, why in relations], "other_relationships": [],
    }


def _names(chat: Chat) -> JsonValue:
    names, _ = _found(shown_text(chat))
    if '"triples"' in chat.text or "triples" in shown_text(chat):
        return _triples(chat)
    return {"named_entities": names}


def _triples(chat: Chat) -> JsonValue:
    _, relations = _found(shown_text(chat))
    return {"triples": [[a, why.removeprefix(a).removesuffix(b).strip() or "with", b] for a, b, why in relations]}


def _facts(chat: Chat) -> str:
    before = shown_text(chat).partition("[[ ## fact_before_filter ## ]]")[2].partition("Respond with")[0].strip()
    return f"[[ ## fact_after_filter ## ]]\n{before}\n\n[[ ## completed ## ]]"


def _query_names(chat: Chat) -> JsonValue:
    names, _ = _found(shown_text(chat))
    return {"named": names, "generic": ["birth place"]}


def _report(chat: Chat) -> JsonValue:
    _, relations = _found(shown_text(chat))
    findings = [{"summary": why, "explanation": f"{why}."} for _, _, why in relations]
    about = {"title": "The Curies", "summary": "About the Curies.", "rating": 5.0, "rating_explanation": "They matter."}
    return json.dumps({**about, "findings": findings})


def _points(chat: Chat) -> JsonValue:
    proved = _proved(chat)
    return json.dumps({"points": [{"description": proved, "score": 0 if proved == UNKNOWN else 80}]})


def _drift(chat: Chat) -> JsonValue:
    key = "intermediate_answer" if "intermediate_answer" in chat.text else "response"
    return json.dumps({key: _proved(chat), "score": 80, "follow_up_queries": ["Who was Marie Curie?"]})


def _cypher(chat: Chat) -> str:
    named = "Poland" if "polonium" in shown_text(chat).rpartition("input")[2] else "Warsaw"
    return f"MATCH (a)-[r:LINK]->(b {{name: '{named}'}}) RETURN a.name AS from, r.text AS text, b.name AS to"


def _proved(chat: Chat) -> str:
    """The answer with what it rests on, for systems that read their own partial answers."""
    said = _answer(chat)
    proof = next((needed for needed, answer in QUESTIONS.values() if answer in said), "")
    return f"{proof}: {said}" if proof else said


def _answer(chat: Chat) -> str:
    """The answer to whichever question is in the prompt, if what it rests on is shown too."""
    for question, (needed, answer) in QUESTIONS.items():
        if question in chat.text and re.search(needed, chat.text, re.IGNORECASE):
            return f"The answer is {answer}."
    return UNKNOWN
