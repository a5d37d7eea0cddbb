"""What reports say was paid is what the endpoint served, however often a run was killed, stopped and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer

PRICES = "[[model]]\nname = 'm'\ninput = 1.0\noutput = 2.0\n"
SCORE = "score a.jsonl --metrics faithfulness,token_f1 --model m -j 1 --no-progress --journal j.sqlite"


class Served:
    """Counts requests, and kills whoever asks at the one that is told: it was served, and nobody has its reply."""

    def __init__(self) -> None:
        self.count, self.kill_at, self.victim = 0, 0, 0

    def __call__(self, chat: Chat) -> None:
        self.count += 1
        if self.count == self.kill_at:
            os.kill(self.victim, signal.SIGKILL)


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
def server(served: Served, alone: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    with FakeServer(served) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def answers(server: FakeServer) -> None:
    write("a.jsonl", [
        {
            "id": f"q{n}", "question": f"Who built mill {n}?", "answer": f"Ada built mill {n} in 18{n + 10}.", "system": "a",
            "reference": f"Ada built mill {n}.", "contexts": [f"Ada built mill {n}."],
        } for n in range(8)
    ])
    write("q.jsonl", [{"id": f"q{n}", "question": f"Who built mill {n}?"} for n in range(8)])


def killed(words: str, served: Served, after: int) -> None:
    """Starts the command, which is killed while the endpoint has its request of that number."""
    process = subprocess.Popen([sys.executable, "-m", "kgeval", *words.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    served.victim, served.kill_at = process.pid, served.count + after
    assert process.wait(60) == -signal.SIGKILL


def uses(name: str) -> list[dict[str, Any]]:
    use: list[dict[str, Any]] = json.loads(Path(name).read_text())["run"]["model_use"]
    return use


def total(name: str, what: str = "calls") -> tuple[float, float]:
    """What was asked by this start, and by earlier ones."""
    return sum(use[what] for use in uses(name)), sum(use[f"earlier_{what}"] or 0 for use in uses(name))


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(("words", "again", "after"), [
    pytest.param(f"{SCORE} -o s.jsonl", " --resume", (3, 4), id="score"),
    pytest.param("answer q.jsonl --system closed-book --model m -j 1 --no-progress --journal j.sqlite -o s.jsonl", "", (2, 3), id="answer",
                 marks=pytest.mark.long),
])
def test_after_kills_the_report_says_what_was_served(words: str, again: str, after: tuple[int, int], served: Served) -> None:
    for number in after:
        killed(words, served, number)
        words = words.removesuffix(again) + again
    before = served.count
    assert run(words.split()) == 0
    now, earlier = total("s.run.json")
    assert (now, earlier) == (served.count - before, before) and now > 0 and earlier == sum(after)


@pytest.mark.usefixtures("answers")
def test_a_run_that_stops_goes_on_and_is_resumed_is_told_once(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    Path("prices.toml").write_text(PRICES)
    words = f"{SCORE} --prices prices.toml -o s.jsonl"
    starts = 0
    while run([*words.split(), "--max-calls", "5", *(["--resume"] if starts else [])]) == 3:
        starts += 1
        assert sum(total("s.run.json")) == served.count == 5 * starts
    assert starts >= 2 and sum(total("s.run.json")) == served.count
    paid = (*total("s.run.json", "cost"), *total("s.run.json", "input_tokens"))
    assert paid[1] > paid[0] > 0, "money and tokens, too"
    assert f"{served.count} calls ({5 * starts} of them in earlier starts of this run)" in capsys.readouterr().out
    whole = sum(paid[:2])
    assert run([*words.split(), "--resume"]) == 0  # all rows are taken over
    assert total("s.run.json") == (0, served.count) and sum(total("s.run.json", "cost")) == pytest.approx(whole)
    assert run([*words.replace("s.jsonl", "t.jsonl").split()]) == 0  # begun anew: its replies are in the journal, and were told
    assert total("t.run.json") == (0, 0) and sum(use["from_journal"] for use in uses("t.run.json")) == served.count


@pytest.mark.usefixtures("answers")
def test_an_option_that_is_longer_than_the_name_of_a_file_may_be_is_no_file(served: Served) -> None:
    name = "q" * 300
    row = json.loads(Path("a.jsonl").read_text().partition("\n")[0])
    write("a.jsonl", [{**row, "id": name}])
    assert run([*SCORE.split(), "--filter-id", name, "-o", "s.jsonl"]) == 0
    assert total("s.run.json") == (served.count, 0) and served.count > 0
