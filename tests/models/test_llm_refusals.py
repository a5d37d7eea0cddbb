"""An endpoint that refuses, or says what it should not: each has its own cause or way out, and no word of the server's gets through."""

from __future__ import annotations

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from room import session, telling
from waiting import HoldingModel, wait_until

from kgeval.errors import ModelError
from kgeval.llm.calls import Endpoint, Failure, Limits
from kgeval.llm.fake import FakeServer, Rule
from kgeval.llm.session import open_models

FACT = {"fact": "x", "sure": True}


@pytest.mark.parametrize(("words", "named", "way_out"), [
    ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", 'temperature = "default"'),
    ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens", "max_completion_tokens"),
])
def test_a_parameter_that_a_model_rejects_is_named_with_the_way_out(tmp_path: Path, words: str, named: str, way_out: str) -> None:
    at_once = _refusing(400, {"message": words, "param": named, "code": "unsupported_value"})
    with at_once as url, open_models(
        Endpoint("m", url, {"max_tokens": 9}), Limits(), role="judge", journal=tmp_path / "j.sqlite",
    ) as models, pytest.raises(ModelError, match=f"parameter {named} ") as caught:
        models.ask(telling(1)[0])
    assert way_out in caught.value.fix
    assert "[model.*]" in caught.value.fix


@pytest.mark.long
@pytest.mark.parametrize(("status", "error", "cause"), [
    (400, {"message": "This model's maximum context length is 8192 tokens, passage 0000 is longer"}, "too_long"),
    (413, {"message": "Payload too large"}, "too_long"),
    (400, {"message": "The prompt passage 0000 was filtered by the content management policy", "code": "content_filter"}, "refused"),
    (422, {"message": "body -> messages: passage 0000 is odd"}, "rejected"),
    (418, {"message": "passage 0000", "code": "sk-passage-0000", "type": "passage 0000"}, "rejected"),
    (404, {"message": "No endpoint for passage 0000 supports response_format"}, "rejected"),
])
def test_a_refused_request_has_its_own_cause_and_no_word_of_the_server_s(
    tmp_path: Path, status: int, error: dict[str, Any], cause: str,
) -> None:
    with _refusing(status, error) as url, session(url, tmp_path / "j.sqlite") as models:
        failure = models.ask(telling(1)[0]).failure
    assert failure is not None
    assert failure.cause == cause
    assert "passage" not in failure.detail


@pytest.mark.parametrize(("words", "said"), [
    ("The model `m` does not exist or you do not have access to it.", "knows no model m"),
    ("API key not valid. Please pass a valid key.", "refuses the key"),
])
def test_a_wrong_model_or_key_is_known_by_its_words_too(tmp_path: Path, words: str, said: str) -> None:
    with _refusing(400, {"message": words}) as url, session(url, tmp_path / "j.sqlite") as models, pytest.raises(ModelError, match=said):
        list(models.ask_all(telling(30)))


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_every_request_would_meet_costs_one(tmp_path: Path, status: int) -> None:
    """A wrong key, a key without rights, a model that is not there: the first request goes alone until it is answered."""
    with FakeServer([Rule(status=status, message="no", delay=0.2)]) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        with pytest.raises(ModelError):
            list(models.ask_all(telling(40)))
        assert server.stats().requests == 1


def test_after_the_first_answer_all_places_are_used(tmp_path: Path) -> None:
    """Also where the first request failed in a way of its own."""
    answers = iter([Rule(status=503)])
    holding = HoldingModel(1, lambda _: next(answers))
    limits = {"concurrency": 8, "max_retries": 0}
    with FakeServer(holding) as server, session(server.base_url, tmp_path / "j.sqlite", **limits) as models, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(list, models.ask_all(telling(16)))
        wait_until(lambda: holding.waiting == 8)
        server.stop()
        assert sorted(outcome.failure.cause for outcome in asked.result()) == [*["connection"] * 15, "server_error"]


def test_a_slow_first_reply_holds_nobody_up_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.llm.turns.FIRST_SECONDS", 0.2)
    rules = [Rule(match="passage 0000", delay=600), Rule(reply=FACT)]
    limits = {"concurrency": 4, "max_retries": 0, "timeout": 600}
    with FakeServer(rules) as server, session(server.base_url, tmp_path / "j.sqlite", **limits) as models, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(list, models.ask_all(telling(4)))
        wait_until(lambda: server.stats().successes == 3)
        server.stop()
        assert [outcome.failure is None for outcome in asked.result()] == [False, True, True, True]


@pytest.mark.parametrize(("status", "error"), [
    (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}), (402, {"message": "Insufficient balance"}),
])
def test_a_used_up_account_ends_the_run_as_incomplete(tmp_path: Path, status: int, error: dict[str, Any]) -> None:
    with _refusing(status, error) as url, session(url, tmp_path / "j.sqlite", concurrency=2) as models:
        outcomes = list(models.ask_all(telling(30)))
        assert {outcome.failure.cause for outcome in outcomes if outcome.failure} == {"budget"}
        assert len(outcomes) == 30
        assert models.exit_code == 3
        assert sum(use.calls for use in models.asked().use) <= 4  # two in flight, and two more that began before the first reply was read


def test_a_request_that_an_endpoint_moderates_with_403_does_not_end_the_run(tmp_path: Path) -> None:
    error = {"message": "This model requires moderation and your input was flagged: passage 0000"}
    with _refusing(403, error) as url, session(url, tmp_path / "j.sqlite") as models:
        outcomes = list(models.ask_all(telling(3)))
    assert [outcome.failure and outcome.failure.cause for outcome in outcomes] == ["refused"] * 3


@pytest.mark.long
def test_a_reply_that_drips_in_is_a_time_out_though_the_line_is_never_silent(tmp_path: Path) -> None:
    """A space every tenth of a second, as some servers send while a model thinks, and no end."""
    with _dripping() as url, session(url, tmp_path / "j.sqlite", timeout=0.5, max_retries=0) as models:
        outcomes = list(models.ask_all(telling(2)))
    assert [outcome.failure and outcome.failure.cause for outcome in outcomes] == ["timeout"] * 2


def test_even_debug_messages_hold_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-secret-0123456789")
    caplog.set_level(logging.DEBUG, "kgeval.llm")
    error = {"message": "odd key sk-the-secret-0123456789 in Bearer sk-the-secret-0123456789"}
    with _refusing(400, error) as url, session(url, tmp_path / "j.sqlite") as models:
        outcome = models.ask(telling(1)[0])
        seen = f"{outcome!r} {models!r} {models._caller!r} {models.asked()!r} {caplog.text}"
    assert "odd key" in caplog.text
    assert "the-secret" not in seen


@pytest.mark.long
def test_usage_that_is_no_number_breaks_nothing(tmp_path: Path) -> None:
    odd = ({"prompt_tokens": 10**30, "completion_tokens": -1}, {"prompt_tokens": "7", "completion_tokens": True})
    for number, usage in enumerate((None, {}, [], *odd)):
        body = {"choices": [{"message": {"content": json.dumps(FACT)}, "finish_reason": "stop"}], "usage": usage}
        with _saying(body) as url, session(url, tmp_path / f"{number}.sqlite") as models:
            assert models.ask(telling(1)[0]).value is not None
            assert 0 < models.asked().use[0].input_tokens < 1000


@pytest.mark.long
@pytest.mark.parametrize("body", [
    "no JSON", [], {}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}, {"choices": "x"}, {"error": {}}, None,
])
def test_an_answer_that_is_no_chat_completion_is_a_server_error(tmp_path: Path, body: Any) -> None:
    with _saying(body) as url, session(url, tmp_path / "j.sqlite", max_retries=1) as models:
        failure = models.ask(telling(1)[0]).failure
    assert failure == Failure("server_error", "the endpoint's answer is no chat completion")


class _refusing:
    """A server that answers everything with one error."""

    pauses = 0

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        self._body, self._status = json.dumps({"error": error}), status

    def __enter__(self) -> str:
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        status, body, pauses = self._status, self._body.encode(), self.pauses

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body) + pauses))
                self.end_headers()
                with suppress(OSError):  # who waits may go away
                    for _ in range(pauses):
                        self.wfile.write(b" ")
                        time.sleep(0.1)
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _saying(_refusing):
    """A server that answers everything with one body."""

    def __init__(self, body: Any) -> None:
        self._body, self._status = json.dumps(body), 200


class _dripping(_refusing):
    """A server whose reply is a space every tenth of a second for ten seconds, and then a good one."""

    def __init__(self) -> None:
        body = {"choices": [{"message": {"content": json.dumps(FACT)}, "finish_reason": "stop"}]}
        super().__init__(200, {})
        self._body, self.pauses = json.dumps(body), 100
