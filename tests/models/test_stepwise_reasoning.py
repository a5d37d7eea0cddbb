"""The system's own reasoning, judged apart from its contexts [M 5]."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from judged import by_name, judged, planned, row
from room import session
from scripted_judge import Judge

from kgeval.llm.fake import Chat, FakeServer
from kgeval.metrics.judge.lists import reasoning_steps
from kgeval.metrics.signature import prompts_of
from kgeval.records import Answer, Row, Score
from kgeval.systems.outside.reply import answer_from
from kgeval.systems.system import Ask
from kgeval.tables.answers import read_answers, write_answers
from kgeval.tables.row_selection import RowSelection
from kgeval.tables.rows import open_rows

STEPS = ["Ada built the mill.", "The mill is in Poole.", "Poole is in Dorset."]
METRICS = ("stepwise_accuracy", "stepwise_reasoning", "reasoning_support")


def told(n: int, reasoning: list[str] | None, contexts: list[str], answer: str = "In Dorset.") -> Row:
    made = row(n, answer, contexts=contexts, evidence=[], steps=STEPS)
    return made.model_copy(update={"answer": made.answer.model_copy(update={"reasoning": reasoning})})


def scores(rows: list[Row], folder: Path, judge: Judge | None = None) -> list[dict[str, Score]]:
    with FakeServer(judge or Judge()) as server, session(server.base_url, folder / "j.sqlite") as models:
        plan = planned(models, rows, METRICS)
        made = [by_name(result) for result in judged(models, rows, METRICS)]
        if judge is None:
            assert plan.calls == (server.stats().requests, server.stats().requests), "the dry run counts what is asked"
    return made


@pytest.mark.parametrize(("reasoning", "contexts", "taken", "supported"), [
    # a step that was retrieved and not taken: right to stepwise_accuracy, not to the reasoning
    (["Ada built the mill.", "Poole is in Dorset."], ["Ada built the mill. The mill is in Poole."], 2 / 3, 1 / 2),
    # a chain that is right and made up
    (STEPS, ["Nothing of it."], 1.0, 0.0),
    (["I look for the builder."], [" ".join(STEPS)], 0.0, 0.0),
    (STEPS, [], 1.0, 0.0),
])
def test_steps_taken_and_steps_supported_are_what_counting_gives(
    reasoning: list[str], contexts: list[str], taken: float, supported: float, tmp_path: Path,
) -> None:
    made = scores([told(0, reasoning, contexts)], tmp_path)[0]
    assert (made["stepwise_reasoning"].value, made["reasoning_support"].value) == (pytest.approx(taken), pytest.approx(supported))
    # by counting: which gold steps stand in what was told, which told steps stand in what was retrieved
    assert taken == sum(any(step in line for line in reasoning) for step in STEPS) / len(STEPS)
    assert supported == sum(any(line in text for text in contexts) for line in reasoning) / len(reasoning)
    steps: Any = made["stepwise_reasoning"].detail["steps"]
    assert [step["right"] for step in steps] == [any(step in line for line in reasoning) for step in STEPS]
    assert made["stepwise_accuracy"].value == sum(any(step in text for text in contexts) for step in STEPS) / len(STEPS)


def test_the_answer_is_the_end_of_its_reasoning_and_an_empty_one_is_0(tmp_path: Path) -> None:
    ended, empty, silent = scores(
        [told(0, STEPS[:2], ["x"], answer=STEPS[2]), told(1, STEPS, ["x"], answer=" "), told(2, None, ["x"])], tmp_path,
    )
    assert ended["stepwise_reasoning"].value == 1.0
    assert empty["stepwise_reasoning"].value == 0.0
    for metric in ("stepwise_reasoning", "reasoning_support"):
        assert (silent[metric].status, silent[metric].reason) == ("not_applicable", "the answer tells no reasoning")


def test_a_step_without_a_verdict_leaves_the_row_unscored(tmp_path: Path) -> None:
    def lose(chat: Chat, reply: Any) -> Any:
        return {"items": reply["items"][:-1]} if chat.items else reply

    made = scores([told(0, STEPS, ["x"])], tmp_path, Judge(lose))[0]
    assert {made[metric].status for metric in ("stepwise_reasoning", "reasoning_support")} == {"unscored"}


def test_reasoning_is_read_from_files_and_replies_as_a_list_or_as_lines(tmp_path: Path) -> None:
    for name, given in (("text", "\n".join(STEPS)), ("json", json.dumps(STEPS))):
        file = tmp_path / f"{name}.csv"
        with file.open("w", newline="") as out:
            csv.writer(out).writerows([("id", "question", "system", "answer", "reasoning"), ("1", "q", "s", "a", given)])
        with open_rows(RowSelection((file,))) as rows:
            assert [one.answer.reasoning for one in rows] == [STEPS], name

    class System:
        name, variant, signature = "s", None, "s:1"

    reply = answer_from({"answer": "a", "reasoning_steps": "First.\nSecond."}, Ask("1", "q"), System(), seconds=0.1)  # type: ignore[arg-type]
    assert reply.reasoning == ["First.", "Second."]
    write_answers(tmp_path / "out.parquet", [reply])
    assert next(iter(read_answers(tmp_path / "out.parquet"))).reasoning == ["First.", "Second."]
    assert reasoning_steps(Answer(question_id="1", system="s", answer="a", reasoning=["Ada built it. It is in Poole."])) == (
        "Ada built it.", "It is in Poole.",
    )
    assert prompts_of(["steps@reasoning"]) == ("judge-against-answer",)
