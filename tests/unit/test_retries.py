"""What is asked again after the work of its thread is over: what cleans up, and nothing else."""

from __future__ import annotations

import threading

import pytest

from kgeval.graph.failures import ConnectionLost, QueryEnded
from kgeval.graph.retries import Retries
from kgeval.graph.sessions import part_of_work


class Line:
    """A connection that breaks the first time."""

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, left: float | None) -> str:
        self.asked += 1
        if self.asked == 1:
            raise ConnectionLost("the connection broke", fix="")
        return "dropped"


def test_what_cleans_up_is_asked_again_although_the_work_is_over() -> None:
    over, line = threading.Event(), Line()
    over.set()
    with part_of_work(over):
        assert Retries(lambda: True).read(line.ask, None, tidies=True) == "dropped"
        with pytest.raises(QueryEnded):
            Retries(lambda: True).read(Line().ask, None)


def test_a_server_that_is_away_is_not_waited_for_to_clean_up_after_work_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("waited")

    monkeypatch.setattr("kgeval.graph.retries.time.sleep", sleep)
    over, asked = threading.Event(), list[bool]()

    def answers() -> bool:
        asked.append(True)
        return False

    over.set()
    retries = Retries(answers)
    with part_of_work(over), pytest.raises(ConnectionLost):
        retries.read(Line().ask, None, tidies=True)
    assert len(asked) == 1
    with pytest.raises(AssertionError, match="waited"):  # who else asks does wait: nobody did so yet
        retries.read(Line().ask, None)
