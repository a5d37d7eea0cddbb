"""Turns on the wire: never more than the places, given back whatever happens, one call however often it is redirected."""

from __future__ import annotations

import threading

import pytest

from kgeval.errors import ModelError
from kgeval.llm.turns import Turn


def refuse() -> None:
    raise ModelError("the session has ended")


def test_a_place_is_free_again_when_the_reply_begins_and_only_once() -> None:
    places = threading.BoundedSemaphore(1)
    turn = Turn(places, lambda: None)
    assert turn.seconds == 0.0
    turn.begin()
    assert not places.acquire(blocking=False)
    turn.end()
    turn.end()
    assert places.acquire(blocking=False) and turn.seconds > 0.0


def test_a_turn_that_may_not_begin_gives_its_place_back_and_was_never_sent() -> None:
    places = threading.BoundedSemaphore(1)
    turn = Turn(places, refuse)
    with pytest.raises(ModelError):
        turn.begin()
    assert turn.began is None and places.acquire(blocking=False)


def test_a_redirected_request_is_one_call() -> None:
    asked = []
    turn = Turn(threading.BoundedSemaphore(1), lambda: asked.append(1))
    for _ in range(3):
        turn.begin()
        turn.end()
    assert len(asked) == 1
