"""Waiting for what happens, not for a time in which it should have happened: how fast a machine is decides no test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from kgeval.llm.fake import Chat

T = TypeVar("T")
LONGEST = 150  # seconds after which a program is given up; no measure of a sound one


def wait_until(condition: Callable[[], T], *, within: float = LONGEST) -> T:
    """What the condition gives as soon as that is true. Raises: AssertionError after `within` seconds."""
    end = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < end, f"not in {within:g} s: {condition}"
        time.sleep(0.01)
    return found


class HoldingModel:
    """A script of the fake server that answers so many requests, by another script or by the server's own replies, and keeps those after
    them waiting until `release`: what a test does next meets a command in the midst of its work, however fast the machine is."""

    def __init__(self, answered: int, script: Callable[[Chat], Any] | None = None) -> None:
        self._left, self._script = answered, script
        self.waiting = 0  # requests that wait, those of clients that are gone too

    def __call__(self, chat: Chat) -> Any:
        from kgeval.llm.fake import Rule

        if self._left <= 0:
            self.waiting += 1
            return Rule(delay=4 * LONGEST)
        self._left -= 1
        return None if self._script is None else self._script(chat)

    def release(self) -> None:
        """From now on all requests are answered; those that wait go on waiting."""
        self._left = 1 << 60
