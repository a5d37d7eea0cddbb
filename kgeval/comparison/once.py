"""Each thing asked once: under which key an answer is kept, and one thread at a time for a key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kgeval.comparison.sources import Length, Source
from kgeval.comparison.store import key_of
from kgeval.records import Answer, Question


class Once:
    """One thread at a time for a key; others wait. Keys are forgotten when nobody holds or wants them."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def only(self, key: str) -> Iterator[None]:
        """The key is this thread's inside."""
        with self._guard:
            lock, wanting = self._held.get(key, (threading.Lock(), 0))
            self._held[key] = lock, wanting + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, wanting = self._held.pop(key)
                if wanting > 1:
                    self._held[key] = lock, wanting - 1


def free_key(source: Source, question: Question, number: int) -> str:
    """What a free answer is kept under."""
    return key_of("free", source.signature, question.id, question.question, number)


def again_key(source: Source, question: Question, number: int, previous: Answer, wish: Length) -> str:
    """What an answer of a wanted length is kept under."""
    return key_of("again", source.signature, question.id, question.question, number, wish.target, wish.attempt, previous.answer)
