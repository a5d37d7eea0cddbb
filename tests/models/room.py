"""What the tests of the model room share: a prompt, tasks, a session on a fake server, and what a server's log says about it."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal

from kgeval.llm.calls import Endpoint, Limits, Outcome, Reply, Tagged, Task
from kgeval.llm.fake import KINDS, Logged
from kgeval.llm.prompts import parse_prompt
from kgeval.llm.session import Models, open_models

JUDGE = parse_prompt(
    "# judge: is it true?\n# slots: passage, items\n--- system ---\nYou judge.\n--- user ---\n{{passage}}\n{{items}}\n", name="judge",
)
TELL = parse_prompt("# tell: one fact.\n# slots: passage\n--- system ---\nYou tell.\n--- user ---\n{{passage}}\n", name="tell")
RECOVERABLE = tuple(kind for kind in KINDS if kind not in ("refusal", "hang"))
class Verdict(Tagged):
    verdict: Literal["entailed", "contradicted", "not_stated"]


class Verdicts(Reply):
    items: list[Verdict]


class Fact(Reply):
    fact: str
    sure: bool


def judging(count: int, *, items: int = 5) -> list[Task[Verdicts]]:
    """Tasks with numbered items; each text is of one task only."""
    return [
        Task(
            id=f"judge-{n}", prompt=JUDGE, slots={"passage": f"passage {n:04}"}, reply=Verdicts,
            items=tuple(f"item {n:04}.{i}" for i in range(items)),
        )
        for n in range(count)
    ]


def telling(count: int) -> list[Task[Fact]]:
    """Tasks with one answer each."""
    return [Task(id=f"tell-{n}", prompt=TELL, slots={"passage": f"passage {n:04}"}, reply=Fact) for n in range(count)]


def session(base_url: str, journal: Path, *, model: str = "m", **limits: Any) -> Models:
    """A session in which every item may fail. Its time-out is long: a busy machine must not have a call made twice."""
    chosen = {"timeout": 60.0, "max_error_rate": 1.0, "concurrency": 16, "max_reasks": 6} | limits
    return open_models(Endpoint(model, base_url), Limits(**chosen), role="judge", journal=journal)


def as_text(outcomes: Iterable[Outcome[Any]]) -> str:
    """Everything of the outcomes that must not depend on how the run went, one a line."""
    return "".join(
        json.dumps([
            o.id, None if o.value is None else o.value.model_dump(), None if o.failure is None else o.failure.cause,
            {n: f.cause for n, f in sorted(o.missing.items())},
        ]) + "\n"
        for o in outcomes
    )


def finished(journal: Path) -> list[tuple[float, dict[str, Any], str]]:
    """(when, request, reply) of each finished call, read with SQL of the test's own."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as connection:
        rows = connection.execute("SELECT created, request, reply FROM calls").fetchall()
    connection.close()
    return [(when, json.loads(zlib.decompress(request)), zlib.decompress(reply).decode()) for when, request, reply in rows]


def kept(journal: Path) -> int:
    """How many finished calls a journal holds so far, that of a run in another process, which may not have made it yet."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
    return 0


def asked_after_finished(journal: Path, requests: Iterable[Logged]) -> list[str]:
    """Texts that were sent again after their call stood in the journal. Every task's texts are its own, so the text tells the call."""
    offset = time.time() - time.monotonic()
    done = {request["user"]: when - offset for when, request, _ in finished(journal)}
    asked = [entry for entry in requests if entry.path == "/v1/chat/completions"]
    return [text for entry in asked if (text := user_text(entry)) in done and entry.at > done[text]]


def user_text(entry: Logged) -> str:
    """What the user message of a logged request said."""
    return str(entry.body["messages"][-1]["content"])


def items_shown(entry: Logged) -> list[Any]:
    """The items in a logged request, read with the test's own eyes."""
    lines = user_text(entry).partition('<data name="items">\n')[2].partition("\n</data>")[0].splitlines()
    return [json.loads(line)["item"] for line in lines]
