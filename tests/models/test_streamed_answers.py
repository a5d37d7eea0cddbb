"""Built-in systems that stream: seconds to the first token, kept in the journal; streams that break, and endpoints that send none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from answer_world import lines, questions

from kgeval.cli.main import run
from kgeval.llm.client import CallError, read_stream
from kgeval.llm.fake import FakeServer

WAIT, REST = 0.15, 1.0  # seconds to the first piece, and between it and the last


pytestmark = pytest.mark.usefixtures("alone")


def piece(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}], "usage": None}


USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 4}}
REPLY = [piece(""), piece('{"answer": '), piece('"A mill."}'), piece(finish="stop"), USAGE]


@contextmanager
def streaming(replies: Sequence[Sequence[dict[str, Any]]], rest: float = 0.0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An endpoint that streams these replies one after the other (the last one again and again), and the bodies that it got. `rest`:
    seconds between the first piece and the next."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.flush()
            for number, part in enumerate(replies[min(len(bodies), len(replies)) - 1]):
                time.sleep(WAIT if number == 1 else rest if number == 2 else 0)
                self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
    finally:
        server.shutdown()
        server.server_close()


def answer(url: str, *arguments: object) -> int:
    given = ["answer", "questions.jsonl", "--system", "closed-book", "--model", "m", "--base-url", url, "-q", "--no-progress", *arguments]
    return run([str(argument) for argument in given])


@pytest.mark.long
def test_the_seconds_to_the_first_token_are_of_the_stream_and_are_found_again(tmp_path: Path) -> None:
    questions(tmp_path, 1)
    with streaming([REPLY], REST) as (url, bodies):
        assert answer(url, "--setting", "stream=yes", "-o", "a.jsonl") == 0
        assert bodies[0]["stream"] is True and bodies[0]["stream_options"] == {"include_usage": True}
        (first,) = lines(Path("a.jsonl"))
        assert first["answer"] == "A mill." and (first["input_tokens"], first["output_tokens"]) == (7, 4)
        assert WAIT <= first["ttft_s"] < WAIT + REST <= first["latency_s"]
        assert answer(url, "--setting", "stream=yes", "-o", "b.jsonl") == 0
        (again,) = lines(Path("b.jsonl"))
        assert (again["ttft_s"], again["latency_s"]) == (first["ttft_s"], first["latency_s"]) and len(bodies) == 1
    assert run(["score", "a.jsonl", "--questions", "questions.jsonl", "--metrics", "token_f1", "-o", "s.json", "-q"]) == 0
    assert json.loads(Path("s.json").read_text())["costs"][0]["ttft_s"]["p50"] == first["ttft_s"]


def test_without_the_setting_nothing_is_streamed_and_no_time_is_told(tmp_path: Path) -> None:
    questions(tmp_path, 1)
    with FakeServer(lambda chat: {"answer": "A mill."}) as server:
        assert answer(server.base_url, "-o", "a.jsonl") == 0
        assert lines(Path("a.jsonl"))[0].get("ttft_s") is None


@pytest.mark.long
def test_a_stream_that_breaks_is_asked_again_and_an_endpoint_without_one_is_told(tmp_path: Path) -> None:
    questions(tmp_path, 1)
    with streaming([REPLY[:2], REPLY]) as (url, bodies):
        assert answer(url, "--setting", "stream=yes", "-o", "a.jsonl") == 0
        assert len(bodies) == 2 and lines(Path("a.jsonl"))[0]["answer"] == "A mill."
    with streaming([[*REPLY[:2], {"error": {"message": "overloaded"}}]]) as (url, _):
        assert answer(url, "--setting", "stream=yes", "-o", "c.jsonl", "--max-retries", 0) == 3
        assert lines(Path("c.jsonl"))[0]["error"] == "server_error: the endpoint broke its stream off with an error"
    with FakeServer(lambda chat: {"answer": "x"}) as server:
        assert answer(server.base_url, "--setting", "stream=yes", "-o", "b.jsonl", "--max-retries", 0) == 3
        assert lines(Path("b.jsonl"))[0]["error"].startswith("rejected")


@pytest.mark.parametrize("pieces", [[], [None, 3, {"choices": {}}], [{"choices": [7]}], [piece("half")]])
def test_what_is_no_stream_or_no_whole_one_is_no_answer(pieces: list[Any]) -> None:
    with pytest.raises(CallError):
        read_stream(pieces)
