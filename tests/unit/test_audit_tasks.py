"""The parts of an audit, one by one or several at once: what holds the same never meets, and what one raises ends all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from waiting import LONGEST

from kgeval.auditing.engine import _held
from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.tasks import CLIENT, GDS, Task, run_tasks


def nothing() -> None:
    raise AssertionError("nothing was to be ended")


def does(work: Callable[[], object], *holds: str) -> Task:
    return Task(lambda: bool(work() and False), frozenset(holds))


def test_one_at_a_time_runs_in_their_order_on_this_thread() -> None:
    ran: list[tuple[int, threading.Thread]] = []
    run_tasks([does(lambda n=n: ran.append((n, threading.current_thread()))) for n in range(5)], 1, ending=nothing)  # type: ignore[misc]
    assert ran == [(n, threading.main_thread()) for n in range(5)]


def test_two_run_at_once_and_this_thread_is_one_of_them() -> None:
    meeting, threads = threading.Barrier(2), set[threading.Thread]()

    def meet() -> None:
        threads.add(threading.current_thread())
        meeting.wait(LONGEST)

    run_tasks([does(meet) for _ in range(6)], 2, ending=nothing)
    assert len(threads) == 2 and threading.main_thread() in threads


def test_what_holds_the_same_never_runs_at_once_and_what_stands_first_goes_first() -> None:
    running, met, order, lock = [0], [0], list[int](), threading.Lock()

    def alone(n: int) -> None:
        with lock:
            running[0] += 1
            met[0] = max(met[0], running[0])
            order.append(n)
        time.sleep(0.01)
        with lock:
            running[0] -= 1

    held = [does(lambda n=n: alone(n), GDS, *([CLIENT] if n % 2 else [])) for n in range(8)]  # type: ignore[misc]
    run_tasks([*held, *(does(lambda: time.sleep(0.01)) for _ in range(8))], 3, ending=nothing)
    assert (met, order) == ([1], list(range(8)))


def test_what_asks_for_it_is_run_again_when_all_others_are_done() -> None:
    ran: list[str] = []

    def crowded() -> bool:
        ran.append("crowded")
        return True

    run_tasks([Task(crowded), *(does(lambda: ran.append("other")) for _ in range(4))], 2, ending=nothing)
    assert sorted(ran[:-1]) == ["crowded", *["other"] * 4] and ran[-1] == "crowded"


def test_what_a_task_raises_on_another_thread_is_raised_here_and_no_other_is_begun() -> None:
    begun, ended = list[threading.Thread](), list[str]()
    both = threading.Barrier(2)

    def broken() -> None:
        begun.append(threading.current_thread())
        both.wait(LONGEST)
        other = next(thread for thread in begun if thread is not threading.main_thread())
        if threading.current_thread() is other:
            raise ZeroDivisionError
        other.join(LONGEST)  # what it raised is known by then

    with pytest.raises(ZeroDivisionError):
        run_tasks([does(broken) for _ in range(20)], 2, ending=lambda: ended.append("once"))
    assert (len(begun), ended) == (2, ["once"])


@pytest.mark.slow
def test_an_interrupt_ends_the_others_and_waits_for_none_that_goes_on() -> None:
    asked, both, begun = threading.Event(), threading.Barrier(2), list[str]()

    def work() -> None:
        begun.append(threading.current_thread().name)
        both.wait(LONGEST)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        asked.wait(LONGEST)

    with pytest.raises(KeyboardInterrupt):
        run_tasks([does(work) for _ in range(20)], 2, ending=asked.set)
    assert len(begun) == 2
    deaf, both, asked_to_end, through = threading.Event(), threading.Barrier(2), list[str](), list[str]()

    def unheard() -> None:
        both.wait(LONGEST)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        deaf.wait(LONGEST)
        through.append(threading.current_thread().name)

    with pytest.raises(KeyboardInterrupt):
        run_tasks([does(unheard) for _ in range(20)], 2, ending=lambda: asked_to_end.append("again"))
    assert not through
    deaf.set()
    assert len(asked_to_end) == 2  # its query may have been on its way to the server the first time


def test_checks_hold_gds_where_they_need_it_and_the_client_where_python_goes_through_the_entities() -> None:
    rules = load_rules()
    held = {name: _held(rules[name]) for name in ("bridge-only-access", "similar-entity", "fragmented-entity", "self-loop")}
    assert held == {
        "bridge-only-access": {GDS, CLIENT}, "similar-entity": {GDS, CLIENT}, "fragmented-entity": {CLIENT}, "self-loop": frozenset(),
    }
