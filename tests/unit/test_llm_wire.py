"""What comes over the wire: the one choice of a chat completion, and how long an endpoint asks to be left alone."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest

from kgeval.llm.calls import Endpoint
from kgeval.llm.client import CallError, ModelAnswer, asked_wait, read_answer
from kgeval.llm.endpoints import settled


def body(message: Any, finish: Any = "stop", usage: Any = None) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


@pytest.mark.parametrize(("text", "answer"), [
    (body({"content": "x"}, usage={"prompt_tokens": 3, "completion_tokens": 1}), ModelAnswer("x", "stop", False, 3, 1)),
    (body({"content": "x"}), ModelAnswer("x", "stop")),
    (body({"content": "x"}, None), ModelAnswer("x", "stop")),
    (body({"content": "x"}, "length"), ModelAnswer("x", "length")),
    (body({"content": None, "refusal": "I cannot"}), ModelAnswer("", "stop", refused=True)),
    (body({"content": ""}, "content_filter"), ModelAnswer("", "content_filter", refused=True)),
    (body({"content": None, "tool_calls": []}, "tool_calls"), ModelAnswer("", "tool_calls")),
    (body({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7]}), ModelAnswer("ab", "stop")),
    (body({"content": {"a": 1}}), ModelAnswer("", "stop")),
    (body({"content": "half \ud800"}), ModelAnswer("half \ufffd", "stop")),
])
def test_the_first_choice_is_read_whatever_servers_leave_out(text: str, answer: ModelAnswer) -> None:
    assert read_answer(text) == answer


@pytest.mark.parametrize("text", ["", "<html>", "[]", "{}", '{"choices": []}', '{"choices": [null]}', "[" * 100_000])
def test_what_is_no_chat_completion_is_worth_a_retry(text: str) -> None:
    with pytest.raises(CallError) as caught:
        read_answer(text)
    assert caught.value.again
    assert caught.value.failure.cause == "server_error"


def test_tokens_are_counted_where_the_endpoint_does_not() -> None:
    counted = read_answer(body({"content": "hello world"})).counted("a", "b")
    assert counted == ModelAnswer("hello world", "stop", False, 18, 2, estimated=True)
    told = ModelAnswer("x", "stop", False, 3, 1)
    assert told.counted("a") is told


@pytest.mark.parametrize(("headers", "seconds"), [
    ({}, None), ({"retry-after": "7"}, 7.0), ({"retry-after": "0.5"}, 0.5), ({"retry-after": "-3"}, None), ({"retry-after": "soon"}, None),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25), ({"retry-after-ms": "-5"}, 0.0),
    ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
])
def test_what_an_endpoint_asks_for_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(SimpleNamespace(response=SimpleNamespace(headers=headers))) == seconds


def test_a_date_to_wait_for_is_seconds_from_now() -> None:
    headers = {"retry-after": formatdate(time.time() + 100, usegmt=True)}
    wait = asked_wait(SimpleNamespace(response=SimpleNamespace(headers=headers)))
    assert wait is not None
    assert 50 < wait <= 101


def test_the_most_that_a_reply_can_have_is_what_the_parameters_say() -> None:
    def most(**parameters: Any) -> int | None:
        return settled(Endpoint("m", "http://127.0.0.1:1/v1", parameters)).max_output

    assert (most(), most(max_tokens=5), most(max_completion_tokens=9), most(max_tokens="5")) == (None, 5, 9, None)
