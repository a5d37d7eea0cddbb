"""The fake server over real HTTP, with the real openai client: protocol, faults, counts, and as a process of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from waiting import wait_until

from kgeval.errors import ModelError
from kgeval.llm.fake import KINDS, FakeProcess, FakeServer, Rule


class Answer(BaseModel):
    text: str


def client(server: FakeServer | FakeProcess, *, key: str = "k", timeout: float = 60.0) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0, timeout=timeout)


def ask(server: FakeServer | FakeProcess, text: str = "hello", **options: Any) -> Any:
    with client(server, timeout=options.pop("timeout", 60.0), key=options.pop("key", "k")) as opened:
        return opened.chat.completions.create(model=options.pop("model", "m"), messages=[{"role": "user", "content": text}], **options)


def test_the_openai_client_gets_a_parsed_reply_with_its_usage() -> None:
    with FakeServer() as server, client(server) as opened:
        made = opened.chat.completions.parse(model="m", messages=[{"role": "user", "content": "hi"}], response_format=Answer)
    assert isinstance(made.choices[0].message.parsed, Answer)
    assert made.usage is not None and made.usage.total_tokens > 0


def test_what_an_endpoint_cannot_do_is_refused() -> None:
    with FakeServer(json_schema=False, json_object=False, usage=False, models=("m",), key="right") as server:
        with pytest.raises(openai.AuthenticationError):
            ask(server, key="wrong")
        with pytest.raises(openai.NotFoundError):
            ask(server, key="right", model="n")
        for form in ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}, {"type": "json_object"}):
            with pytest.raises(openai.BadRequestError, match="response_format"):
                ask(server, key="right", response_format=form)
        assert ask(server, key="right").usage is None
        assert server.stats().by_status == {"401": 1, "404": 1, "400": 2, "200": 1}
        assert "right" not in json.dumps([vars(entry) for entry in server.requests])


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_does_what_its_name_says(kind: str) -> None:
    items = '<data name="items">\n{"tag": "k7", "item": "a"}\n{"tag": "w3", "item": "b"}\n</data>'
    statuses = {"rate_limit": openai.RateLimitError, "server_error": openai.InternalServerError, "overloaded": openai.InternalServerError}
    broken = statuses | {"hang": openai.APITimeoutError, "disconnect": openai.APIConnectionError}
    with FakeServer(faults=1.0, kinds=(kind,)) as server:
        if kind in broken:
            with pytest.raises(broken[kind]):
                ask(server, items, timeout=0.5 if kind == "hang" else 30)
            wait_until(lambda: server.stats().faults == {kind: 1})  # until the server has seen that the client left
        else:
            choice = ask(server, items).choices[0]
            assert choice.finish_reason == ("length" if kind == "cut" else "stop")
            assert spoiled(kind, choice.message)
        stats = server.stats()
    assert (stats.faults, stats.successes) == ({kind: 1}, 0)
    assert stats.aborted == (kind == "hang")


def spoiled(kind: str, message: Any) -> bool:
    if kind in ("empty", "refusal"):
        return not message.content and bool(message.refusal) == (kind == "refusal")
    if kind in ("cut", "prose"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(message.content)
        return True
    if kind == "wrong_type":
        return json.loads(message.content) == {"items": {"unexpected": [{"tag": "k7"}, {"tag": "w3"}]}}
    tags = [entry["tag"] for entry in json.loads(message.content)["items"]]
    return tags == {"missing": ["k7"], "doubled": ["k7", "w3", "w3"], "extra": ["k7", "w3", "none1"], "shifted": ["k8", "w4"]}[kind]


def test_a_429_carries_retry_after_and_the_next_try_is_another_draw() -> None:
    with FakeServer([Rule(match="x", status=429, retry_after=7, times=1)]) as server:
        with pytest.raises(openai.RateLimitError) as caught:
            ask(server, "x")
        assert caught.value.response.headers["retry-after"] == "7"
        assert ask(server, "x").choices


def test_a_function_can_be_the_script() -> None:
    with FakeServer(lambda chat: f"{chat.text}!" if "a" in chat.text else None) as server:
        assert ask(server, "a").choices[0].message.content == "a!"
        assert ask(server, "b").choices[0].message.content.startswith("The fake model answers")


def test_repeated_successes_are_counted() -> None:
    with FakeServer() as server:
        for n in range(8):
            ask(server, f"text {n % 4}")
        stats = server.stats()
        assert (stats.requests, stats.successes, stats.repeated_successes, stats.most_in_flight) == (8, 8, 4, 1)
        assert sorted(stats.by_request.values()) == [2, 2, 2, 2]
        server.reset()
        assert server.stats().requests == 0


def test_requests_in_flight_are_counted() -> None:
    with ThreadPoolExecutor(4) as pool, FakeServer(delay=600) as server:
        asked = [pool.submit(ask, server, f"text {n}", timeout=600) for n in range(4)]
        wait_until(lambda: server.stats().requests == 4)
        assert server.stats().most_in_flight == 4
        server.stop()
        assert all(isinstance(one.exception(), openai.APIConnectionError) for one in asked)


def test_a_client_that_is_gone_got_no_success() -> None:
    with FakeServer(delay=60) as server:
        with pytest.raises(openai.APITimeoutError):
            ask(server, timeout=0.2)
        wait_until(lambda: server.stats().aborted == 1)
        stats = server.stats()
    assert (stats.requests, stats.successes, stats.aborted) == (1, 0, 1)


def test_a_stopped_server_drops_its_clients_and_comes_back_on_its_port() -> None:
    server = FakeServer(delay=30).start()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server)
        wait_until(lambda: server.stats().requests == 1)
        server.stop()
        with pytest.raises(openai.APIConnectionError):
            asked.result()
    with pytest.raises(openai.APIConnectionError):
        ask(server)
    with server, pytest.raises(openai.APITimeoutError):
        ask(server, timeout=0.1)


def test_one_connection_serves_many_requests_and_a_body_in_pieces() -> None:
    with FakeServer() as server:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 100_000}]}).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            for _ in range(3):
                for piece in (head[:20], head[20:] + body[:7], body[7:]):
                    raw.sendall(piece)
                    time.sleep(0.01)
                assert raw.recv(65_536).startswith(b"HTTP/1.1 200 OK")
            raw.sendall(b"nonsense\r\n\r\n")
            assert raw.recv(10) == b""


def test_embeddings_come_in_both_encodings_and_any_length() -> None:
    with FakeServer() as server, client(server) as opened:
        packed = opened.embeddings.create(model="e", input=["one", "two"], dimensions=16).data
        plain = opened.embeddings.create(model="e", input=["one", "two"], dimensions=16, encoding_format="float").data
        with pytest.raises(openai.BadRequestError):
            opened.embeddings.create(model="e", input=[""])
    for one, other in zip(packed, plain, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
        assert len(one.embedding) == 16


def test_the_command_starts_a_server_that_stops_at_sigterm(tmp_path: Path) -> None:
    script = tmp_path / "rules.jsonl"
    script.write_text('{"match": "colour", "reply": "blue"}\n')
    with FakeProcess("--script", str(script), "--model", "m", "--seed", "3") as server:
        assert ask(server, "what colour?").choices[0].message.content == "blue"
        assert [model.id for model in client(server).models.list()] == ["m"]
        assert server.stats().by_path == {"/v1/chat/completions": 1, "/v1/models": 1}
        assert [entry.path for entry in server.requests()] == ["/v1/chat/completions", "/v1/models"]
        server.reset()
        assert server.stats().requests == 0
        process = server._process
    assert process is not None and process.returncode == 0


@pytest.mark.long
@pytest.mark.parametrize(("arguments", "words"), [
    (["--fault-kinds", "cut,crash"], "unknown faults: crash"), (["--faults", "2"], "--faults"),
    (["--script", "nowhere.jsonl"], "no such file"),
])
def test_the_command_says_what_is_wrong_with_its_options(arguments: list[str], words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "kgeval.llm.fake", *arguments], capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode != 0
    assert words in done.stderr and "Traceback" not in done.stderr


def test_a_taken_port_is_an_error_with_a_way_out() -> None:
    with FakeServer() as server, pytest.raises(ModelError, match="choose another port"):
        FakeServer(port=server.port).start()


@pytest.mark.long
def test_a_number_of_clients_is_served_fast_enough_for_benches() -> None:
    """Compared with the openai client on the same machine: the server takes less CPU time a call than the client does."""
    import os

    import psutil

    with FakeProcess() as server:
        process = psutil.Process(server._process.pid)  # type: ignore[union-attr]
        before, own = process.cpu_times(), os.times()
        with client(server) as opened:
            for n in range(200):
                opened.chat.completions.create(model="m", messages=[{"role": "user", "content": f"text {n}"}])
        after, spent = process.cpu_times(), os.times()
        served = after.user + after.system - before.user - before.system
        asked = spent.user + spent.system - own.user - own.system
    assert served < asked / 2


def test_interrupting_the_command_ends_it_quietly() -> None:
    process = subprocess.Popen([sys.executable, "-m", "kgeval.llm.fake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip().removeprefix("http://").removesuffix("/v1")
    HTTPConnection(address).connect()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out, err) == (0, "", "")
