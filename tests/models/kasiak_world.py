"""What the tests of the nine kinds of [K] share: a model that writes what a test tells it to, and answers from what it is shown."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_world import made
from room import session

from kgeval.llm.asker import Live
from kgeval.llm.fake import Chat, FakeServer
from kgeval.questions.generate import QuestionAttempt
from kgeval.questions.making.kasiak import KINDS
from kgeval.records import Question, Structure

KIND = {kind.name: kind for kind in KINDS}
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)


def blocks_of(chat: Chat) -> dict[str, list[Any]]:
    return {name: [json.loads(line) for line in body.split("\n")] for name, body in _DATA.findall(chat.subject)}


class Reader:
    """A script for the fake server. `made`: the reply to the prompt that makes a question. In a trial it gives `answer` where the passages
    hold all of `needs`. `label`: what a judge says of it; `follows`, `stated`, `used`: of facts, relations and conclusions."""

    def __init__(
        self, made: dict[str, Any], *, needs: Sequence[str] = (), answer: str = "", label: str = "correct", follows: bool = True,
        stated: bool = False, used: Sequence[int] = (1, 2, 3, 4),
    ) -> None:
        self.made, self.needs, self.answer, self.label = made, tuple(needs), answer or made.get("answer", ""), label
        self.follows, self.stated, self.used = follows, stated, tuple(used)
        self.trials: list[list[str]] = []
        self.texts: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, chat: Chat) -> Any:
        with self.lock:
            self.texts.append(chat.text)
            return self._reply(set((chat.schema or {})["properties"]), blocks_of(chat))

    def _reply(self, fields: set[str], blocks: dict[str, Any]) -> Any:
        if fields == {"reason", "answered", "answer"}:
            shown = [passage["text"] for passage in blocks["passages"][0]]
            self.trials.append(shown)
            known = all(any(need in text for text in shown) for need in self.needs)
            return {"reason": "as the passages have it", "answered": known, "answer": self.answer if known else ""}
        if fields == {"reason", "label"}:
            return {"reason": "as the script has it", "label": self.label}
        if fields == {"reason", "follows", "stated"}:
            return {"reason": "as the script has it", "follows": self.follows, "stated": self.stated}
        if fields == {"items"}:
            return {"items": [
                {"tag": line["tag"], "reason": "so", "follows": self.follows, "passages": [], "used": place in self.used}
                for place, line in enumerate(blocks["items"], start=1)
            ]}
        return self.made


def attempted(reader: Reader, kind: str, structure: Structure, folder: Path, **options: Any) -> QuestionAttempt:
    with FakeServer(reader) as server, session(server.base_url, folder / "j.sqlite", timeout=30.0) as models:
        return made(Live(models), structure, KIND[kind], **options)


def question_of(found: QuestionAttempt) -> Question:
    assert found.question is not None, (found.rejected, found.failure)
    return found.question


def cause_of(found: QuestionAttempt) -> str:
    assert found.rejected is not None, (found.question, found.failure)
    return found.rejected.cause


def passed(question: Question) -> set[str]:
    """The names of the checks that passed; none of a question's checks is anything else."""
    assert all(one.passed and (one.reason or one.name == "leak") for one in question.checks)
    return {one.name for one in question.checks}
