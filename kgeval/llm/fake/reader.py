"""What the fake model replies to a prompt that shows a question and contexts: an answer by the question's words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from kgeval.llm.extractive import extract_answer
from kgeval.llm.fake.request import Chat

_DATA = r'<data name="{}">\n(.*?)\n</data>'


def reads(chat: Chat) -> dict[str, JsonValue] | None:
    """The reply of a reader to one of kgeval's prompts that show a question (and contexts) and want an `answer`; None for others."""
    properties: Mapping[str, Any] = (chat.schema or {}).get("properties", {})
    question = _shown(chat.text, "question")
    if set(properties) != {"answer"} or not isinstance(question, str):
        return None
    contexts = _shown(chat.text, "contexts")
    texts = [_context(context) for context in contexts] if isinstance(contexts, list) else []
    return {"answer": extract_answer(question, texts)}


def _shown(text: str, slot: str) -> JsonValue:
    """The value of a slot of kgeval's prompts, or None."""
    fenced = re.search(_DATA.format(slot), text, re.DOTALL)
    try:
        return json.loads(fenced[1]) if fenced else None
    except json.JSONDecodeError:
        return None


def _context(context: JsonValue) -> str:
    return str(context.get("text", "")) if isinstance(context, dict) else str(context)
