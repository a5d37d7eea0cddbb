"""One line for people while calls are made: done of total, rate, cost, failures, time left. On stderr; quiet on a pipe."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """The progress line of a command; several sessions may share it. `shown` None: only where stderr is a terminal."""

    def __init__(self, *, shown: bool | None = None) -> None:
        self.shown = sys.stderr.isatty() if shown is None else shown
        self._lock = threading.Lock()
        self._bar: Bar | None = None
        self._open = 0
        self._started: dict[TaskID, tuple[float, int]] = {}

    def start(self, what: str, total: int | None) -> TaskID | None:
        """A new line, `what` before it. None where nothing is shown."""
        if not self.shown:
            return None
        with self._lock:
            self._open += 1
            if self._bar is None:
                self._bar = _bar()
                self._bar.start()
            line = self._bar.add_task(what, total=total, state="")
            self._started[line] = (time.monotonic(), 0)
            return line

    def advance(self, line: TaskID | None, *, state: str) -> None:
        """One more is done. `state`: cost and failures so far."""
        if line is None:
            return
        with self._lock:
            if self._bar is not None and line in self._started:
                since, done = self._started[line]
                self._started[line] = (since, done + 1)
                rate = (done + 1) / max(time.monotonic() - since, 1e-3)
                self._bar.update(line, advance=1, state=f"{rate:.1f}/s, {state}")

    def end(self, line: TaskID | None) -> None:
        """The line is over; with the last one the display ends."""
        if line is None:
            return
        with self._lock:
            self._open -= 1
            self._started.pop(line, None)
            if self._open == 0 and self._bar is not None:
                self._bar.stop()
                self._bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar, self._open = None, 0


def _bar() -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from kgeval.llm.bars import bars

    return bars(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), MofNCompleteColumn(),
        TextColumn("{task.fields[state]}", markup=False), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        transient=True,
    )
