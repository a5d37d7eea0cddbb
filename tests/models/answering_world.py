"""The answers' side of a comparison for tests: systems that answer with a given number of words, and a model that adds words. As a script:
answers all pairs of two such systems, to be killed in the middle.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answer_world import hold_after, script
from room import session
from scripted_judge import Judge

from kgeval.comparison.align.force import Forcer
from kgeval.comparison.answering import AlignedAnswers, AnsweringSettings
from kgeval.comparison.pairs import PairSelection, pair_up
from kgeval.comparison.sources import AnswerSource, LiveSource, filed, second_run
from kgeval.llm.answer_store import AnswerStore
from kgeval.llm.asker import Dry, Live
from kgeval.llm.calls import Limits
from kgeval.llm.fake import Chat
from kgeval.systems.outside.command import open_command
from kgeval.systems.system import Opening
from kgeval.tables.question_rows import open_questions
from kgeval.tables.rows import RowSelection, open_rows

BODY = """
import hashlib
for r in requests():
    if "hello" in r:
        say(hello={"name": NAME, "adjusts": ADJUSTS, "parallel": 1})
        continue
    with open(mark, "a") as file:
        file.write(json.dumps([r["question_id"], r.get("trial"), r.get("target_words"), r.get("attempt"), r.get("previous")]) + "\\n")
    target, attempt, trial, n = r.get("target_words"), r.get("attempt"), r.get("trial") or 0, int(r["question_id"][1:])
    count = FREE if target is None else AGAIN
    SLOW
    if isinstance(count, str):
        say(id=r["id"], error=count)
        continue
    say(id=r["id"], answer=" ".join([NAME + str(trial)] * count), input_tokens=10, output_tokens=count, calls=1, cost=0.5, latency_s=2.0)
"""
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)


def command(
    folder: Path, name: str, *, free: str = "20", again: str = "target", slow: str = "pass", adjusts: bool = True,
) -> tuple[str, ...]:
    """A system that answers with so many words (Python, with n, trial, target and attempt known; a text is an error), and notes what it
    is asked."""
    body = BODY.replace("NAME", repr(name)).replace("FREE", free).replace("AGAIN", again).replace("SLOW", slow)
    return script(folder, body.replace("ADJUSTS", str(adjusts)), name)


def asked(folder: Path, name: str) -> list[list[Any]]:
    """What a system was asked: [id, trial, target, attempt, previous]."""
    mark = folder / f"{name}.mark"
    return [json.loads(line) for line in mark.read_text().splitlines()] if mark.exists() else []


def questions(folder: Path, n: int) -> Path:
    path = folder / "questions.jsonl"
    rows = [{"id": f"q{i}", "question": f"Question {i}?", "level": "node" if i % 2 else "edge"} for i in range(n)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answers(folder: Path, system: str, texts: list[str], trial: int | None = None, mode: str = "w") -> Path:
    """A file of answers to q0, q1, ..."""
    path = folder / f"{system}.jsonl"
    with path.open(mode) as file:
        for at, text in enumerate(texts):
            row = {"id": f"q{at}", "system": system, "answer": text, **({"trial": trial} if trial is not None else {})}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


class Writer:
    """A model that adds or takes away as many words as it is told, `off` by some; claims and verdicts go to the scripted judge."""

    def __init__(self, off: Callable[[int], int] = lambda attempt: 0) -> None:
        self.off, self.judge, self.changes = off, Judge(), list[dict[str, Any]]()

    def __call__(self, chat: Chat) -> Any:
        blocks = {name: json.loads(body) for name, body in _DATA.findall(chat.subject) if name != "items"}
        if "change" not in blocks:
            return self.judge(chat)
        change = blocks["change"]
        self.changes.append(change)
        now, wanted = change["now_words"], change.get("add_words", -change.get("remove_words", 0))
        words = max(1, now + wanted + self.off(change["attempt"]))
        kept = blocks["answer"].split()[:words]
        return {"answer": " ".join([*kept, *["more"] * (words - len(kept))])}


@dataclass(frozen=True)
class Given:
    """What an Answering is made of. `systems`: name -> command; `files`: of answers. `url`: of the model, empty: no words are added."""

    folder: Path
    n: int
    systems: dict[str, tuple[str, ...]]
    files: tuple[Path, ...] = ()
    url: str = ""
    hooks: tuple[str, ...] = ()  # names of files that have a system of that name as their hook
    self_checks: tuple[str, ...] = ()
    dry: bool = False
    fresh: bool = False
    limits: Limits | None = None


@contextmanager
def opened(given: Given, **settings: Any) -> Iterator[AlignedAnswers]:
    """An Answering over q0..qn, with store and journal in the folder."""
    with ExitStack() as stack:
        systems = {
            name: stack.enter_context(open_command(argv, Opening(timeout=30.0, processes=2), name=name))
            for name, argv in given.systems.items()
        }
        wanted = RowSelection(given.files, questions=questions(given.folder, given.n))
        rows = stack.enter_context(open_rows(wanted) if given.files else open_questions(wanted))
        calls = {name: system for name, system in systems.items() if name not in given.hooks}
        second = [(name, f"{name} (second run)") for name in given.self_checks]
        paired = pair_up(rows, PairSelection(allow_missing=True), asked=tuple(calls), second_runs=second)
        names = tuple(info.system for info in getattr(rows, "systems", ()))
        hooks = {name: systems[name] for name in given.hooks}
        sources: dict[str, AnswerSource] = filed(paired.sharing, names, hooks)
        sources |= {name: LiveSource(system) for name, system in calls.items()}
        models = stack.enter_context(session(given.url, given.folder / "j.sqlite")) if given.url else None
        asker = None if models is None else Dry(models) if given.dry else Live(models)
        store = stack.enter_context(AnswerStore(given.folder / "answers.sqlite", fresh=given.fresh))
        yield stack.enter_context(AlignedAnswers(
            paired, sources, AnsweringSettings(**settings), store=store,
            forcer=Forcer(asker) if asker else None, judge=asker, second_runs=[second_run(sources[name]) for name in given.self_checks],
        ))


def all_pairs(answering: AlignedAnswers, threads: int = 4) -> list[Any]:
    """Every pair, question and trial, from several threads, in order."""
    from concurrent.futures import ThreadPoolExecutor

    jobs = [
        (question, a, b, trial) for a, b in answering.paired.pairs for question in answering.paired.questions(a, b)
        for trial in range(1, answering.settings.trials + 1)
    ]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda job: answering.pair(*job), jobs))


def main(folder: Path, url: str) -> None:
    """Two systems, one of which never comes to the length by itself, over 10 questions in 2 trials, and holds after 30 of its answers."""
    with opened(killed(folder, url), trials=2) as answering:
        made = all_pairs(answering)
        print(json.dumps([[one.how, one.words_a, one.words_b] for one in made]))


def killed(folder: Path, url: str) -> Given:
    """What is killed in the middle, and run again."""
    systems = {
        "A": command(folder, "A", free="60 + n"),
        "B": command(folder, "B", free="20", again="target - 15 + attempt", slow=hold_after(30)),
    }
    return Given(folder, 10, systems, url=url)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
