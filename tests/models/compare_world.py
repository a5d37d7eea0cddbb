"""Answers of known worth, and a judge who reads it off them: with a known taste for what stands first, and gullible outside of fences."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripted_judge import ORDER, Judge

from kgeval.llm.fake import Chat

_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)
_WORTH = re.compile(r"worth (\d)")
UNDECIDED = 3  # what a comparison of so few questions ends with: they decide nothing


class PairJudge:
    """A script for the fake server. An answer with "worth N" has N points in every aspect. `first`: points more for the answer that stands
    first. `spoil`: what becomes of a reply (chat, reply) before it is sent. `obeyed`: orders that stood outside of the fences."""

    def __init__(self, *, first: int = 0, spoil: Callable[[Chat, Any], Any] | None = None) -> None:
        self.first, self.spoil, self.obeyed, self.lock = first, spoil, 0, threading.Lock()

    def __call__(self, chat: Chat) -> Any:
        asked = [text for role, text in chat.messages if role != "assistant"]
        gullible = any(ORDER in _DATA.sub("", text).casefold() for text in asked)
        with self.lock:
            self.obeyed += gullible
        if chat.items or "statements" in (chat.schema or {}).get("properties", {}):
            return Judge()(chat)  # whether an aligned answer keeps its meaning
        blocks = {name: json.loads(body) for name, body in _DATA.findall(chat.subject)}
        reply = self._reply(blocks, list((chat.schema or {})["properties"]), gullible)
        return reply if self.spoil is None else self.spoil(chat, reply)

    def _reply(self, blocks: Mapping[str, Any], fields: Sequence[str], gullible: bool) -> Any:
        if "only_first" in fields:
            return {"common": [], "only_first": [blocks["first"]], "only_second": [blocks["second"]]}
        if "answer" in blocks:
            return {name: {"reason": "r", "score": 5 if gullible else worth(blocks["answer"])} for name in fields}
        told = blocks.get("first", blocks.get("only_first")), blocks.get("second", blocks.get("only_second"))
        one, other = (worth(json.dumps(text)) for text in told)
        one = 9 if gullible else one + self.first
        if "overall" in fields:
            winner = {"winner": "first" if one >= other else "second", "explanation": "e"}
            return dict.fromkeys(fields, winner)
        if "first" in blocks and "grades" in blocks["aspects"][0]:
            points = {"first": {"reason": "f", "score": min(one, 5)}, "second": {"reason": "s", "score": min(other, 5)}}
            return dict.fromkeys(fields, points)
        winner = {"winner": "tie" if one == other else "first" if one > other else "second", "reason": "r"}
        return dict.fromkeys(fields, winner)


def worth(text: str) -> int:
    """What this judge holds an answer to be worth."""
    found = _WORTH.search(text)
    return int(found[1]) if found else 0


def files(folder: Path, systems: Mapping[str, Sequence[int] | Callable[[int], str]], n: int = 4) -> list[Path]:
    """questions.jsonl, and a file of answers of each system: of this worth (question by question, over again), or as a function says."""
    levels = ("node", "edge")
    questions = [{"id": f"q{i}", "question": f"Who built mill {i}?", "level": levels[i % 2]} for i in range(n)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    made = []
    for name, given in systems.items():
        def text(i: int, given: Any = given, name: str = name) -> str:
            return str(given(i)) if callable(given) else f"Mill {i}, says {name}: worth {given[i % len(given)]}."

        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"question_id": f"q{i}", "answer": text(i)}) + "\n" for i in range(n)))
        made.append(path)
    return made
