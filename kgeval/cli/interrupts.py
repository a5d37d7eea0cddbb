"""Ctrl-C, SIGTERM and SIGHUP end a command: the first as KeyboardInterrupt and after some seconds in any case, the second at once.

Python hands a signal to the main thread between two of its instructions. A thread that waits in a library (a driver, a model in C, another
thread's end) may come to that late, and a KeyboardInterrupt may be lost in a finalizer, or lead to a clean-up that waits for a server that
is busy. So a thread of its own reads from the pipe into which Python's handler in C writes each signal when it comes. It ends our queries
on the server and drops our projections over connections of their own, and ends the process, if that has not ended by itself.

Only `main` listens: a program that uses kgeval as a library has signals of its own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from kgeval.ending import interrupted, undo_all

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS = 1.8  # in which a command saves and ends by itself: three, less what a busy machine needs to end it
LONGER = 2.4  # for one that waits for workers, or has a stage to write down
TOGETHER = 0.1  # signals that come together are one: some programs send them to a process and to its group
TIDY_SECONDS = 0.25
STOPS = (0.0, 0.5, 1.2)  # a query may be on its way to the server when the first look finds none


class Listener:
    """What came so far, and how long it is waited for."""

    def __init__(self) -> None:
        self.first: float | None = None
        self.seconds = SECONDS
        self.raised = False
        self.listening: list[signal.Signals] = []
        self.modes: Any = None

    def raise_once(self, number: int, frame: FrameType | None) -> None:
        """The handler in the main thread."""
        if not self.raised:
            self.raised = True
            raise KeyboardInterrupt

    def watch(self, pipe: int) -> None:
        """The thread: reads signals as they come, whatever the main thread does."""
        while data := os.read(pipe, 64):
            if not set(data) & set(self.listening):
                continue
            if self.first is None:
                self.first = time.monotonic()
                for work in (self.wait, self.stop_queries):
                    threading.Thread(target=work, name="kgeval-interrupt", daemon=True).start()
            elif time.monotonic() - self.first > TOGETHER:
                self.leave()

    def wait(self) -> None:
        """Ends the process when its time is over."""
        while self.first is not None and (left := self.first + self.seconds - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))
        self.leave()

    def stop_queries(self) -> None:
        """Ends the queries of this process on servers that began before the signal: threads that wait for them go on, and clean up. What
        they have projected is dropped here too, some time later: on a busy machine their time is over before they come to it."""
        began = time.monotonic()
        for wait in STOPS:
            time.sleep(max(began + wait - time.monotonic(), 0.0))
            if (connect := sys.modules.get("kgeval.graph.connect")) is not None:
                if wait:
                    connect.drop_projections()
                connect.stop_queries(older=time.monotonic() - began)

    def leave(self, word: bytes = b"interrupted\n") -> None:
        """Ends the process now, with a last word. What tidies up may wait for a terminal that is held, so it has little time for it.
        Python's own way out is not taken: no thread runs any more while it waits for threads and for what libraries do at exit."""
        tidying = threading.Thread(target=self.tidy, args=(word,), name="kgeval-tidy", daemon=True)
        tidying.start()
        tidying.join(TIDY_SECONDS)
        os._exit(INTERRUPTED)

    def tidy(self, word: bytes) -> None:
        """Nothing half-written, the terminal as it was."""
        undo_all()
        restore_terminal(self.modes)
        with suppress(OSError, ValueError):
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        with suppress(OSError):
            os.write(2, word)


_listener: Listener | None = None


def listen() -> None:
    """From here on the signals of this process end it as this module says. One that was ignored from the start (nohup, a background job
    of a script) stays ignored. Does nothing outside of the main thread, and the second time."""
    global _listener
    if _listener is not None or threading.current_thread() is not threading.main_thread():
        return
    listener = Listener()
    reading, writing = os.pipe()
    # Python's handler may not wait for a full pipe, and set_wakeup_fd refuses a descriptor that would
    os.set_blocking(writing, False)
    threading.Thread(target=listener.watch, args=(reading,), name="kgeval-signals", daemon=True).start()
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # before the handlers are set: `received` must know of a signal that comes in between
    _listener = listener
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            listener.listening.append(number)
            signal.signal(number, listener.raise_once)
    listener.modes = terminal_modes()
    os.register_at_fork(after_in_child=_forget)  # a child that is forked has a life of its own
    # what an interruption broke in a finalizer or in another thread is nothing that Python should tell of
    lost, thrown = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = lambda args: None if received() else lost(args)
    threading.excepthook = lambda args: None if received() else thrown(args)


def done() -> None:
    """The command has come to its end, and nothing is left to save: a signal now ends the process itself."""
    if _listener is not None:
        for number in _listener.listening:
            signal.signal(number, signal.SIG_DFL)


def leave_if_received() -> None:
    """After an interruption, and when the command has cleaned up: ends the process."""
    if _listener is not None and received():
        _listener.leave(b"")


def received() -> bool:
    """Whether a signal came."""
    return _listener is not None and (_listener.raised or _listener.first is not None)


@contextmanager
def patient(seconds: float = LONGER) -> Iterator[None]:
    """Within the block an interruption has so many seconds: where leaving early would cost the user more than waiting."""
    listener = _listener
    if listener is None:
        yield
        return
    before, listener.seconds = listener.seconds, max(seconds, listener.seconds)
    try:
        yield
    finally:
        if listener.first is None:
            listener.seconds = before


@contextmanager
def one_interruption() -> Iterator[None]:
    """Whatever is raised after an interruption is the interruption: libraries stumble over what it has left behind."""
    try:
        yield
    except BaseException as end:
        if received() or interrupted(end):
            raise KeyboardInterrupt from end
        raise


def _forget() -> None:
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            if _listener is not None and signal.getsignal(number) == _listener.raise_once:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def terminal_modes() -> Any:
    """How the terminal is set, where stdin is one; else None."""
    import termios

    with suppress(OSError, ValueError, termios.error):
        return termios.tcgetattr(0) if os.isatty(0) else None
    return None


def restore_terminal(modes: Any) -> None:
    """Sets the terminal as it was (a password prompt hides what is typed), and shows the cursor that a progress line hid."""
    import termios

    if modes is not None:
        with suppress(OSError, termios.error):
            termios.tcsetattr(0, termios.TCSANOW, modes)
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\r\x1b[K\x1b[?25h")


