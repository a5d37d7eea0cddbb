"""A provider's batch endpoints that fail, lie or forget: nothing is lost, nothing is paid twice, and there is a way out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import openai
import pytest
from batch_world import batched, live, nothing_is_left, world, written
from scripted_judge import Judge

from kgeval.cli.main import run
from kgeval.llm.batch import rounds
from kgeval.llm.batch.rounds import Files
from kgeval.llm.batch.settings import BatchSettings
from kgeval.llm.batch.store import Store
from kgeval.llm.batch.wire import request_line
from kgeval.llm.fake import FakeServer

Answered = tuple[int, Any]
FAULT = 500, {"error": {"message": "trouble", "type": "server_error", "param": None, "code": None}}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-on-disk")
    with FakeServer(Judge()) as running:
        yield running


def between(server: FakeServer, change: Callable[[str, str, Answered], Answered]) -> None:
    """Has `change` (method, path, what would be answered) say what is answered under /v1/files and /v1/batches."""
    usual = server.model.batches.answer

    def answer(method: str, path: str, *rest: Any) -> Answered:
        return change(method, path, usual(method, path, *rest))

    server.model.batches.answer = answer  # type: ignore[method-assign]


def is_look(method: str, path: str) -> bool:
    return method == "GET" and path.startswith("/v1/batches/")


def is_output(method: str, path: str) -> bool:
    return method == "GET" and path.endswith("/content")


def test_a_provider_that_does_not_answer_for_a_while_is_looked_at_again(
    server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    looks: list[str] = []

    def change(method: str, path: str, usual: Answered) -> Answered:
        looks.extend([path] * is_look(method, path))
        return FAULT if is_look(method, path) and len(looks) < 8 else usual

    between(server, change)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert capsys.readouterr().err.count("does not answer; looking again") == 1
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


def test_one_that_never_answers_ends_the_run_and_the_next_one_picks_the_batches_up(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "MOST_AWAY", 3)
    away = [True]
    between(server, lambda method, path, usual: FAULT if away[0] and is_look(method, path) else usual)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 2
    assert "the same command picks them up" in capsys.readouterr().err
    away.clear()
    away.append(False)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)
    nothing_is_left(server)


def test_a_batch_that_the_provider_forgot_is_named_and_can_be_forgotten_here(
    server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    server.model.batches._looks = 2
    lost = [True]
    gone = 404, {"error": {"message": "No such batch.", "type": "invalid_request_error", "param": None, "code": None}}
    between(server, lambda method, path, usual: gone if lost[0] and is_look(method, path) else usual)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 2
    said = capsys.readouterr().err
    assert "does not know batch" in said and "kgeval cache batches cancel" in said
    assert run(["cache", "batches", "cancel", "--journal", "batch.sqlite"]) == 0
    assert "it is forgotten" in capsys.readouterr().err
    lost[0] = False
    server.model.batches.batches.clear()
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert written() == live(arguments)


def test_a_file_of_results_that_is_cut_is_fetched_again_and_kept_where_it_stays_cut(
    server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    fetched: list[str] = []

    def change(method: str, path: str, usual: Answered) -> Answered:
        if not is_output(method, path):
            return usual
        fetched.append(path)
        whole: bytes = usual[1]
        return 200, whole[: len(whole) * 2 // 3] if path == fetched[0] else whole

    between(server, change)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert fetched[:2] == [fetched[0]] * 2, "the first one was fetched again"
    assert "is cut: lines" in capsys.readouterr().err
    assert list(server.model.batches.files) == [fetched[0].split("/")[-2]], "what could not be read is still there"
    assert written() == live(arguments)


def test_a_download_that_breaks_off_is_tried_again(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    httpx = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])  # or its successor
    whole, broken = httpx.Response.iter_bytes, list[str]()

    def breaking(self: Any, size: int | None = None) -> Iterator[bytes]:
        if str(self.url).endswith("/content") and not broken:
            broken.append(str(self.url))
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")
        return whole(self, size)  # type: ignore[no-any-return]

    monkeypatch.setattr(httpx.Response, "iter_bytes", breaking)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert broken
    assert server.stats().repeated_successes == 0


def test_the_first_of_two_results_of_one_request_counts_and_strangers_are_passed_over(server: FakeServer) -> None:
    def change(method: str, path: str, usual: Answered) -> Answered:
        if not is_output(method, path):
            return usual
        lines = usual[1].splitlines(keepends=True)
        second = [line.replace(b"supported", b"contradicted") for line in lines]
        stranger = json.dumps({**json.loads(lines[0]), "custom_id": "0" * 64}).encode() + b"\n"
        return 200, b"".join([stranger, *lines, *second])

    between(server, change)
    arguments = world(server, n=3)
    assert batched(arguments, "-o", "batch.jsonl") == 0
    assert server.stats().repeated_successes == 0
    assert written() == live(arguments)


def test_files_hold_as_many_requests_and_bytes_as_the_provider_takes(tmp_path: Path) -> None:
    line = request_line("k" * 64, {"model": "m", "messages": []})
    with Store(tmp_path / "j.sqlite") as store:
        files = Files(store, BatchSettings(requests=3, bytes=len(line) * 2), ("http://x", "m"))
        for number in range(5):
            files.add(_Asked(f"{number:064x}"), line, "json_schema")  # type: ignore[arg-type]
        files.done()
        assert sorted(one.requests for one in store.batches()) == [1, 2, 2]
        for one in store.batches():
            path = store.lines_of(one.name)
            assert path.stat().st_size <= 2 * len(line)
            assert path.stat().st_mode & 0o077 == 0
    assert (BatchSettings().requests, BatchSettings().bytes) == (50_000, 200_000_000)


class _Asked:
    """A request, as far as a file looks at it."""

    def __init__(self, key: str) -> None:
        self.key = key
