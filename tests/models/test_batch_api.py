"""Scores by a provider's batch endpoints: the same as live, each request sent once, whatever the batches do."""

from __future__ import annotations

import json
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_world import batched, lines_sent, live, nothing_is_left, world, written
from compare_world import UNDECIDED, PairJudge
from compare_world import files as compared_files
from scripted_judge import Judge
from shard_world import score
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer, Rule

Start = Callable[..., FakeServer]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts fake servers, and stops them at the end."""
    running: list[FakeServer] = []

    def make(judge: Callable[[Chat], Any] | None = None, **options: Any) -> FakeServer:
        running.append(FakeServer(judge or Judge(), **options).start())
        return running[-1]

    yield make
    for server in running:
        server.stop()


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-on-disk")


@pytest.mark.long
def test_scores_by_batches_are_those_of_a_live_run_and_each_request_is_sent_once(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = start()
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl", "--batch-size", "7") == 0
    sent = lines_sent(server)
    assert server.stats().repeated_successes == 0
    assert server.stats().successes == sent
    assert len(server.model.batches.batches) > 2, "several files a round, and a round more for what depends on replies"
    said = capsys.readouterr().err
    assert "requests sent: 7" in said and "asked live now" not in said
    server.reset()
    assert written() == live(arguments)
    assert lines_sent(server) == sent, "a live run sends as many"
    nothing_is_left(server)


def test_the_manifest_counts_calls_of_batches_like_others(start: Start) -> None:
    server = start()
    assert batched(world(server), "-o", "batch.jsonl") == 0
    use = json.loads(Path("batch.run.json").read_text())["run"]["model_use"]
    assert sum(stage["calls"] for stage in use) == lines_sent(server)
    assert sum(stage["input_tokens"] for stage in use) > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["server_error", "hang", "prose", "cut"])
def test_lines_that_fail_or_cannot_be_used_are_asked_again(start: Start, kind: str) -> None:
    failed: set[str] = set()

    def once(chat: Chat, reply: Any) -> Any:
        """Every other request fails when it is asked for the first time."""
        if int(chat.hash, 16) % 2 or chat.hash in failed:
            return reply
        failed.add(chat.hash)
        return Rule(fault=kind)

    server = start(Judge(once))
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    stats = server.stats()
    assert stats.faults[kind] > 2
    assert stats.repeated_successes == 0
    assert lines_sent(server) == stats.successes + stats.faults[kind]
    live(arguments)  # what failed once is well now
    assert Path("batch.jsonl").read_bytes() == Path("live.jsonl").read_bytes()
    nothing_is_left(server)


@pytest.mark.long
def test_items_that_a_reply_lacks_are_asked_for_in_the_next_round(start: Start) -> None:
    def half(chat: Chat, reply: Any) -> Any:
        return {**reply, "items": reply["items"][:1]} if len(chat.items) > 1 else reply

    server = start(Judge(half))
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    server.reset()
    assert written() == live(arguments)
    nothing_is_left(server)


def test_what_no_batch_answers_is_left_to_a_live_run_and_has_its_cause(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    def stubborn(chat: Chat, reply: Any) -> Any:
        return Rule(fault="refusal") if "mill 2" in chat.text else reply

    server = start(Judge(stubborn))
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl", "--max-error-rate", "1") == 0
    assert "requests that batches did not answer, asked live now" in capsys.readouterr().err
    unscored = [one for line in Path("batch.jsonl").read_text().splitlines() if (one := json.loads(line))["reason"] is not None]
    assert {one["question_id"] for one in unscored if one["reason"].startswith("refused")} == {"q2"}


@pytest.mark.long
def test_what_an_expired_batch_did_not_ask_is_asked_in_the_next_one(start: Start) -> None:
    server = start(batch_expire=2, batch_looks=2)
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert sorted(one.status for one in server.model.batches.batches.values())[:2] == ["completed", "completed"]
    assert [one.status for one in server.model.batches.batches.values()].count("expired") == 2
    assert written() == live(arguments)
    nothing_is_left(server)


@pytest.mark.long
def test_a_batch_that_is_refused_because_too_much_waits_is_sent_again(start: Start) -> None:
    server = start(batch_refuse=1, batch_looks=3)
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl", "--batch-size", "5") == 0
    assert written() == live(arguments)


@pytest.mark.long
def test_a_batch_that_is_refused_though_nothing_else_waits_ends_the_run(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = start(batch_refuse=1)
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 2
    assert "token_limit_exceeded" in (said := capsys.readouterr().err) and "--batch-size" in said
    assert batched(arguments, "-o", "batch.jsonl") == 0, "the requests are free again"
    assert written() == live(arguments)


@pytest.mark.long
def test_a_run_that_is_killed_while_it_waits_picks_its_batch_up(start: Start, tmp_path: Path) -> None:
    server = start(batch_looks=1_000_000)
    arguments = world(server)
    command = [sys.executable, "-m", "kgeval", "score", *arguments, "--batch", "--batch-poll", "0.01", "-q"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_until(lambda: any(one.looks > 3 for one in list(server.model.batches.batches.values())))
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = Path("batch.sqlite.batches")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b"sk-never" not in kept.read_bytes()
    server.model.batches._looks = 1
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)
    nothing_is_left(server)


def test_an_answer_lost_while_a_batch_is_started_starts_no_second_one(start: Start) -> None:
    server = start()
    arguments = world(server)
    create, lost = server.model.batches.answer, []

    def losing(method: str, path: str, *rest: Any) -> tuple[int, Any]:
        found = create(method, path, *rest)
        if (method, path) == ("POST", "/v1/batches") and not lost:
            lost.append(path)
            return 500, {"error": {"message": "lost", "type": "server_error", "param": None, "code": None}}
        return found

    server.model.batches.answer = losing  # type: ignore[method-assign]
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert lost
    assert server.stats().repeated_successes == 0
    server.model.batches.answer = create  # type: ignore[method-assign]
    assert written() == live(arguments)


@pytest.mark.long
@pytest.mark.parametrize("step", ["uploaded", "created", "finish"])
def test_a_run_that_dies_between_two_steps_pays_nothing_twice(start: Start, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As kill -9 right before a step is written down: the provider has done it already, only we do not know."""
    from kgeval.llm.batch.store import Store

    server = start()
    arguments = world(server)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, step, die)
        assert batched(arguments, "-o", "batch.jsonl") == 130
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


@pytest.mark.long
def test_the_budget_is_checked_before_anything_is_sent(start: Start) -> None:
    server = start()
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl", "--max-calls", "5") == 3
    assert lines_sent(server) == 5
    assert batched(arguments, "-o", "batch.jsonl", "--retry-errors") == 0
    assert server.stats().repeated_successes == 0
    assert Path("batch.jsonl").read_bytes() == live(arguments)[: Path("batch.jsonl").stat().st_size]


@pytest.mark.long
def test_a_cost_limit_counts_all_that_a_batch_can_cost_and_the_factor_lowers_it(start: Start) -> None:
    server = start()
    prices = Path("prices.toml")
    prices.write_text('[[model]]\nname = "m"\ninput = 1.0\noutput = 1.0\nmax_output = 1000\n')
    arguments = world(server, "--prices", str(prices), "--cost-limit", "0.03")
    assert batched(arguments, "-o", "batch.jsonl") == 0, "what a batch did not cost is there for the next one"
    sizes = [one.total for one in server.model.batches.batches.values()]
    server.model.batches.batches.clear()
    Path("batch.sqlite").unlink()
    assert batched(arguments, "-o", "batch.jsonl", "--batch-price-factor", "0.5") == 0
    halves = [one.total for one in server.model.batches.batches.values()]
    assert 0 < sizes[0] < halves[0], "more of them fit at half the price"
    assert sum(sizes) == sum(halves)
    use = json.loads(Path("batch.run.json").read_text())["run"]["model_use"]
    cost = sum(stage["cost"] for stage in use)
    assert cost == pytest.approx(sum(stage["input_tokens"] + stage["output_tokens"] for stage in use) * 0.5 / 1e6, rel=1e-3)
    assert cost <= 0.03


def test_a_dry_run_sends_nothing(start: Start) -> None:
    server = start()
    assert batched(world(server), "--dry-run") == 0
    assert server.stats().requests == 0


def test_an_endpoint_without_batches_is_told_from_others(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = start(batches=False)
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 2
    assert "no batch endpoints" in (said := capsys.readouterr().err) and "leave out --batch" in said
    assert lines_sent(server) == 0


def test_a_wrong_key_or_model_ends_the_run_with_the_usual_words(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = start(key="another")
    assert batched(world(server)) == 2
    assert "refuses the key" in capsys.readouterr().err
    server = start(models=("other",))
    assert batched([*world(server)]) == 2
    assert "knows no model m" in capsys.readouterr().err


@pytest.mark.long
def test_a_form_of_reply_that_the_endpoint_does_not_know_is_left_for_the_next(start: Start) -> None:
    server = start(json_schema=False)
    arguments = world(server)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


def test_batches_are_listed_and_cancelled_and_what_they_did_is_taken_in(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    from kgeval.llm.batch.store import Store

    server = start(batch_looks=1_000_000)
    arguments = world(server)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    finish, Store.created_before = Store.created, None  # type: ignore[attr-defined]

    def created_then_stop(self: Store, name: str, batch: str | None) -> None:
        finish(self, name, batch)
        stop()

    Store.created = created_then_stop  # type: ignore[method-assign]
    try:
        assert batched(arguments, "-o", "batch.jsonl") == 130
    finally:
        Store.created = finish  # type: ignore[method-assign]
    assert "kgeval cache batches cancel" in capsys.readouterr().err
    assert run(["cache", "batches", "list", "--journal", "batch.sqlite"]) == 0
    assert "requests  m at http://127.0.0.1" in capsys.readouterr().out
    assert run(["cache", "batches", "cancel", "--journal", "batch.sqlite"]) == 0
    assert "cancelling" in capsys.readouterr().err
    server.model.batches._looks = 1
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


def test_two_runs_do_not_make_batches_for_one_journal_at_once(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    from kgeval.llm.batch.store import Store

    arguments = world(start())
    with Store(Path("batch.sqlite")):
        assert batched(arguments) == 2
    assert "another run is making batches" in capsys.readouterr().err


def test_results_that_are_no_lines_or_not_ours_are_passed_over(start: Start) -> None:
    server = start()
    arguments = world(server)
    end = server.model.batches._end

    def spoil(batch: Any, status: str, count: int) -> None:
        end(batch, status, count)
        foreign = json.dumps({"custom_id": "0" * 64, "response": {"status_code": 200, "body": {}}})
        broken = b"not json\n[]\n{}\n" + foreign.encode() + b"\n" + b"[" * 5000 + b"\n"
        server.model.batches.files[batch.output] = broken + server.model.batches.files[batch.output]

    server.model.batches._end = spoil  # type: ignore[method-assign]
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


def test_options_of_batches_need_batch_and_fit_no_executor(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = world(start())
    assert score(*arguments, "--batch-size", "3") == 2
    assert "--batch-size: for --batch only" in capsys.readouterr().err
    assert score(*arguments, "--batch", "--executor", "local") == 2
    assert "exclude each other" in capsys.readouterr().err


def test_what_was_kept_of_a_batch_is_gone_once_it_is_in_the_journal(start: Start) -> None:
    assert batched(world(start()), "-o", "batch.jsonl") == 0
    with sqlite3.connect("batch.sqlite.batches") as kept:
        for table in ("batches", "sent", "replies", "tries"):
            assert kept.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.long
@pytest.mark.parametrize("procedure", ["grades", "single"])
def test_a_comparison_by_batches_is_that_of_a_live_run(start: Start, procedure: str) -> None:
    server = start(PairJudge(first=1))
    answers = compared_files(Path(), {"a": (4, 5, 2, 3), "b": (3, 3, 3, 3)}, n=4)
    given = ["compare", *map(str, answers), "--questions", "questions.jsonl", "--model", "m", "--base-url", server.base_url, "-q"]
    given += ["--trials", "2", "--no-progress", "--cache-dir", "cache", *(() if procedure == "grades" else ("--procedure", procedure))]
    assert run([*given, "--journal", "batch.sqlite", "--batch", "--batch-poll", "0.01", "-o", "batch.jsonl"]) == UNDECIDED
    sent = lines_sent(server)
    assert sent == server.stats().successes
    assert server.model.batches.batches
    server.reset()
    assert run([*given, "--journal", "live.sqlite", "-o", "live.jsonl"]) == UNDECIDED
    assert lines_sent(server) == sent
    assert Path("batch.jsonl").read_bytes() == Path("live.jsonl").read_bytes()
