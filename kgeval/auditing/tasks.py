"""Runs the parts of an audit: one after the other, or several at once, each in a session of its own with the server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kgeval.graph.sessions import part_of_work
from kgeval.llm.pool import join

GDS, CLIENT = "gds", "client"
PATIENCE = 0.5  # seconds that an interrupt waits for parts that are under way; their queries have been ended


@dataclass(frozen=True)
class Task:
    """One part. `work` says whether it is to be run once more, with nothing beside it. `holds`: what no other part uses meanwhile:
    GDS (one projection, one algorithm at a time), CLIENT (much of this process's memory, and so of its time)."""

    work: Callable[[], bool]
    holds: frozenset[str] = frozenset()


class _Board:
    """The tasks that are left, and what those that run hold. Threads take from it what may run beside the others."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.left, self.again = list(tasks), list[Task]()
        self.fault: BaseException | None = None
        self.over = threading.Event()
        self._held: set[str] = set()
        self._running = 0
        self._changed = threading.Condition()

    def take_all(self) -> None:
        """Runs tasks until none is left that this thread could run."""
        try:
            while (task := self._take()) is not None:
                try:
                    if task.work():
                        self.again.append(task)
                finally:
                    self._done(task)
        except BaseException as fault:
            self.stop(fault)
            raise

    def take_quietly(self) -> None:
        """As `take_all`, on another thread: what a task raises is kept for the caller's to raise."""
        with suppress(BaseException), part_of_work(self.over):
            self.take_all()

    def stop(self, fault: BaseException) -> None:
        """No task is begun any more."""
        with self._changed:
            self.fault = self.fault or fault
            self.over.set()
            self._changed.notify_all()

    def wait(self) -> None:
        """Until no task runs."""
        with self._changed:
            while self._running and self.fault is None:
                self._changed.wait()

    def _take(self) -> Task | None:
        with self._changed:
            while self.left and self.fault is None:
                task = next((task for task in self.left if not task.holds & self._held), None)
                if task is not None:
                    self.left.remove(task)
                    self._held |= task.holds
                    self._running += 1
                    return task
                self._changed.wait()
            return None

    def _done(self, task: Task) -> None:
        with self._changed:
            self._held -= task.holds
            self._running -= 1
            self._changed.notify_all()


def run_tasks(tasks: Sequence[Task], at_once: int, *, ending: Callable[[], object]) -> None:
    """Runs all tasks: `at_once` 1: in their order, on this thread; else each of so many threads, this one among them, takes the first that
    holds nothing that a running one holds. What asks for it is then run again, alone.

    What a task raises, and an interrupt, is raised here once the others have ended. `ending`: is called then: it ends the queries of tasks
    that still run, and is called again for those that do not end within half a second: a query may have been on its way to the server.
    Such tasks are left to themselves, on threads that die with the process; what they ask from then on is refused.
    """
    if at_once == 1:
        for task in tasks:
            task.work()
        return
    board = _Board(tasks)
    others = [threading.Thread(target=board.take_quietly, name=f"kgeval-part-{n}", daemon=True) for n in range(1, at_once)]
    try:
        for thread in others:
            thread.start()
        board.take_all()
        board.wait()
        if board.fault is not None:
            raise board.fault
    except BaseException as fault:
        board.stop(fault)
        ending()
        for thread in others:
            join(thread, PATIENCE)
        if any(thread.is_alive() for thread in others):
            ending()
        raise
    for task in board.again:
        task.work()
