"""Systems behind an endpoint: a chat of OpenAI's kind, and any JSON; what goes wrong is an error in the record."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answer_world import endpoint

from kgeval.errors import ConfigError, ModelError, UsageError
from kgeval.llm.calls import Limits
from kgeval.llm.fake import FakeServer, Rule
from kgeval.llm.prices import Price
from kgeval.records import Answer
from kgeval.systems.outside.http import HttpSystem, check_paths, request_of, walk
from kgeval.systems.system import Ask, Opening

QUICK = Limits(concurrency=4, max_retries=1)
JSON: dict[str, Any] = {
    "request": {"query": "{{question}}", "about": ["id {{id}}", "{{target_words}}"]},
    "response": {"answer": "data.answer", "contexts": "data.sources[].text", "input_tokens": "usage.in"},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    yield


def asked(url: str, name: str = "", **wanted: Any) -> Answer:
    """The answer of an endpoint to one question."""
    with HttpSystem(url, Opening(**{"settings": JSON, "limits": QUICK, "timeout": 20.0, **wanted}), name=name) as system:
        return system.answer(Ask("q1", 'Who "is"\nit?'))


def ok(body: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return 200, headers, body if isinstance(body, bytes) else json.dumps(body).encode()


def test_a_chat_endpoint_needs_a_model_and_nothing_else() -> None:
    with FakeServer([Rule(match="Who", reply="Ada built it.")]) as server:
        said = asked(server.base_url, settings={"model": "m", "system_prompt": "Be short."}, price=lambda *_: Price(1.0, 2.0))
        with HttpSystem(server.base_url, Opening(settings={"model": "m"})) as system:
            assert system.adjusts and system.name == "m"
            longer = system.answer(Ask("q1", "Who?", target_words=40))
    assert (said.answer, said.error, said.model, said.calls, said.system, said.contexts) == ("Ada built it.", None, "m", 1, "m", None)
    assert said.input_tokens and said.output_tokens
    assert said.cost == pytest.approx((said.input_tokens + 2 * said.output_tokens) / 1e6)
    assert longer.error is None and (longer.input_tokens or 0) > said.input_tokens // 2


def test_a_json_endpoint_is_asked_by_a_template_and_read_by_paths() -> None:
    seen: list[Any] = []

    def serve(_: BaseHTTPRequestHandler, body: Any) -> tuple[int, dict[str, str], bytes]:
        seen.append(body)
        return ok({"data": {"answer": "Ada", "sources": [{"text": "one"}, {"no": 1}, {"text": "two"}]}, "usage": {"in": 12}})

    with endpoint(serve) as url:
        said = asked(f"{url}/ask?lang=en", name="mine")
    assert seen == [{"query": 'Who "is"\nit?', "about": ["id q1", None]}], "a question is a value, whatever stands in it"
    assert (said.system, said.answer, said.input_tokens) == ("mine", "Ada", 12)
    assert [context.text for context in said.contexts or ()] == ["one", "two"]


@pytest.mark.parametrize(("status", "body", "error"), [
    (200, b"<html>", "bad_reply: not JSON: '<html>'"),
    (200, b'{"data": {"text": "Ada"}}', "bad_reply: the reply has no data.answer (it has: data)"),
    (200, b"[1]", "bad_reply: the reply has no data.answer (it has: list)"),
    (200, b'{"data": {"answer": null}}', "bad_reply: answer: null, and no error beside it"),
    (200, b'{"data": {"answer": "A", "sources": 3}}', None),
    (400, b"{}", "rejected: HTTP 400"), (403, b"{}", "rejected: HTTP 403"), (404, b"{}", "rejected: HTTP 404"),
    (500, b"{}", "server_error: HTTP 500 (2 times)"), (429, b"{}", "rate_limited: HTTP 429 (2 times)"),
])
def test_what_is_no_answer_is_an_error_with_its_cause(status: int, body: bytes, error: str | None) -> None:
    with endpoint(lambda *_: (status, {"retry-after": "0"}, body)) as url:
        assert asked(url).error == error


def test_what_passes_is_tried_again_after_the_wait_that_was_asked_for() -> None:
    times: list[float] = []

    def serve(*_: Any) -> tuple[int, dict[str, str], bytes]:
        times.append(time.monotonic())
        return (429, {"retry-after": "0.4"}, b"") if len(times) == 1 else ok({"data": {"answer": "A"}})

    with endpoint(serve) as url:
        began = time.monotonic()
        said = asked(url)
        whole = time.monotonic() - began
    assert said.answer == "A" and len(times) == 2 and times[1] - times[0] >= 0.4
    assert said.latency_s is not None and said.latency_s <= whole - 0.4, "waiting for a turn is not the system's time"


def test_silence_and_drops_end_within_the_time_of_a_question() -> None:
    given_up = threading.Event()

    def drip(handler: BaseHTTPRequestHandler, _: Any) -> tuple[int, dict[str, str], bytes]:
        handler.send_response(200)
        handler.end_headers()
        while not given_up.wait(0.1):
            handler.wfile.write(b" ")
            handler.wfile.flush()
        return ok(b"")

    for serve in (drip, lambda *_: given_up.wait() and ok({})):
        given_up.clear()
        with endpoint(serve) as url:
            assert asked(url, timeout=0.7).error == "timeout: no reply in 0.7 s"
            given_up.set()


def test_a_broken_connection_is_tried_again_and_a_server_that_is_not_there_ends_the_run() -> None:
    calls: list[int] = []

    def serve(handler: BaseHTTPRequestHandler, _: Any) -> tuple[int, dict[str, str], bytes]:
        calls.append(1)
        if len(calls) == 1:
            handler.connection.shutdown(socket.SHUT_RDWR)
        return ok({"data": {"answer": "A"}})

    with endpoint(serve) as url:
        assert asked(url).answer == "A" and len(calls) == 2
    with pytest.raises(ModelError, match="cannot be reached"):
        asked(url)


def test_a_refused_key_ends_the_run_and_is_not_shown() -> None:
    with endpoint(lambda *_: (401, {}, b"sk-test is wrong")) as url, pytest.raises(ModelError, match="refuses the key") as told:
        asked(url)
    assert "sk-test" not in str(told.value)


def test_a_refused_key_costs_one_request_however_many_ask() -> None:
    seen: list[int] = []

    def serve(*_: Any) -> tuple[int, dict[str, str], bytes]:
        seen.append(1)
        time.sleep(0.2)
        return 401, {}, b""

    with endpoint(serve) as url, HttpSystem(url, Opening(settings=JSON, limits=QUICK)) as system, ThreadPoolExecutor(8) as pool:
        refused = [pool.submit(system.answer, Ask(f"q{n}", "Who?")) for n in range(16)]
        assert all(isinstance(one.exception(), ModelError) for one in refused)
    assert len(seen) == 1


def test_redirects_stay_on_the_host_and_keep_the_question() -> None:
    def serve(handler: BaseHTTPRequestHandler, body: Any) -> tuple[int, dict[str, str], bytes]:
        if handler.path == "/new":
            return ok({"data": {"answer": body["query"]}})
        there = {"/old": "/new", "/away": "http://localhost.localdomain:1/x", "/loop": "/loop", "/see": "/new"}[handler.path]
        return (303 if handler.path == "/see" else 307), {"location": there}, b""

    with endpoint(serve) as url:
        assert asked(f"{url}/old").answer == 'Who "is"\nit?'
        assert asked(f"{url}/away").error == (
            "rejected: HTTP 307: redirected to another host (localhost.localdomain:1), which is refused"
        )
        assert asked(f"{url}/loop").error == "rejected: redirected more than 3 times"
        assert asked(f"{url}/see").error == "rejected: HTTP 303: redirected to /new; give that address"


def test_keys_come_from_the_environment_and_stay_out_of_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def serve(handler: BaseHTTPRequestHandler, _: Any) -> tuple[int, dict[str, str], bytes]:
        seen.append(handler.headers.get("X-Api-Key"))
        return ok({"data": {"answer": "A"}})

    given = {**JSON, "headers": {"X-Api-Key": "${MY_KEY}"}}
    signatures = set()
    with endpoint(serve) as url:
        for key in ("first", "second"):
            monkeypatch.setenv("MY_KEY", key)
            signatures.add(asked(url, settings=given).signature)
        assert seen == ["first", "second"] and len(signatures) == 1
        monkeypatch.delenv("MY_KEY")
        with pytest.raises(ConfigError, match="the environment has no MY_KEY"):
            asked(url, settings=given)
        with pytest.raises(ConfigError, match="a secret is not written into settings"):
            asked(url, settings={**JSON, "headers": {"Authorization": "Bearer abc"}})


@pytest.mark.long
def test_the_wait_for_a_turn_is_not_the_time_of_a_question() -> None:
    given: dict[str, Any] = {"settings": JSON, "limits": Limits(rpm=30), "timeout": 1.8}
    answering = endpoint(lambda *_: ok({"data": {"answer": "A"}}))
    with answering as url, HttpSystem(url, Opening(**given)) as system, ThreadPoolExecutor(2) as threads:
        said = list(threads.map(system.answer, [Ask(f"q{n}", "Who?") for n in range(2)]))
    assert [answer.error for answer in said] == [None] * 2, "the second waits for two seconds, and is then answered at once"
    assert all((answer.latency_s or 9) < 1.8 for answer in said)


def test_a_cost_that_is_no_number_is_a_fault_of_the_reply() -> None:
    given = {**JSON, "response": {"answer": "a", "cost": "c"}}
    for cost in ("much", [1], {"usd": 1}, -1, True):
        with endpoint(lambda *_, cost=cost: ok({"a": "A", "c": cost})) as url:  # type: ignore[misc]
            assert (asked(url, settings=given).error or "").startswith("bad_reply: cost: "), cost


def test_a_chat_asked_again_for_a_length_is_shown_its_answer_before() -> None:
    with FakeServer([Rule(match="Who", reply="Ada.")]) as server:
        with HttpSystem(server.base_url, Opening(settings={"model": "m"})) as system:
            system.answer(Ask("q1", "Who?", target_words=40, attempt=2, previous="Ada Marsh, {{id}}."))
        text = server.requests[0].body["messages"][-1]["content"]
    assert text.startswith("Who?\n\nAnswer in about 40 words.") and text.endswith("Ada Marsh, {{id}}.")


def test_a_cost_limit_on_a_chat_without_a_price_is_refused() -> None:
    with pytest.raises(ModelError, match="so a cost limit cannot be kept"):
        HttpSystem("http://127.0.0.1:9/v1", Opening(settings={"model": "m"}, limits=Limits(cost_limit=1.0)))


def test_the_budget_stops_a_chat_before_the_call_that_would_break_it() -> None:
    with FakeServer([Rule(match="Who", reply="Ada.")]) as server:
        with HttpSystem(server.base_url, Opening(settings={"model": "m"}, limits=Limits(max_calls=2))) as system:
            errors = [system.answer(Ask(f"q{n}", "Who?")).error for n in range(3)]
        assert errors == [None, None, "budget: the limit of 2 calls is reached"] and server.stats().requests == 2


@pytest.mark.parametrize(("settings", "url", "said"), [
    ({}, "http://h/v1", "needs a model, or a request"),
    ({"request": {"q": "x"}}, "http://h", "the question is nowhere in it"),
    ({"request": "{{question}} {{gold}}"}, "http://h", "no slot gold"),
    ({**JSON, "response": {"anwser": "x"}}, "http://h", "no field anwser"),
    ({**JSON, "response": {"answer": "a..b"}}, "http://h", "no path for answer"),
    ({"modle": "m"}, "http://h", "no setting modle"),
    (JSON, "ftp://h", "no address"), (JSON, "http://me:pw@h", "must not hold"), (JSON, "http://h?api_key=x", "must not hold"),
])
def test_settings_that_do_not_fit_are_told_before_anything_is_asked(settings: Any, url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as told:
        HttpSystem(url, Opening(settings=settings))
    assert told.value.fix


def test_paths_lead_through_objects_lists_and_places() -> None:
    body = {"a": [{"b": [1, 2]}, {"b": [3]}, {"c": 4}], "d.e": 5}
    assert walk(body, "a[].b") == [[1, 2], [3]] and walk(body, "a[1].b[0]") == 3 and walk(body, "a[]") == body["a"]
    assert not check_paths({}) and request_of(["{{ question }}"], Ask("i", "{{id}}")) == ["{{id}}"], "what stands in a question is no slot"
