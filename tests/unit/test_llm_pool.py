"""The pool's threads when an interrupt meets their start."""

from __future__ import annotations

import threading

import pytest

from kgeval.llm.pool import Pool


def test_an_interrupt_as_a_thread_is_started_stays_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    begun: list[threading.Thread] = []

    def interrupted(thread: threading.Thread) -> None:
        begun.append(thread)
        if len(begun) == 2:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    pool = Pool(3)
    with pytest.raises(KeyboardInterrupt):
        list(pool.run(str, range(10)))
    assert pool.close() is True
    assert [thread.is_alive() for thread in begun] == [False, False]
