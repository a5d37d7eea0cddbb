"""One life of a process that speaks JSONL: started, asked, listened to, ended. Whatever it does, nobody waits longer
than was said."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from kgeval.ending import register
from kgeval.errors import UsageError
from kgeval.tables.plain import loads

LONGEST_LINE = 64 * 2**20  # bytes: whatever a process writes, memory stays bounded
TAIL = 4_000  # bytes of stderr that are kept to say how it ended
CHUNK = 1 << 16
POLL_SECONDS = 0.25
GRACE_SECONDS = 2.0
REMEMBERED = 1_000  # ids that were answered: a second reply to one is named as such


class EndedError(Exception):
    """The process is over: how it ended, and the end of what it wrote to stderr."""


class SlowError(Exception):
    """No reply came in time."""


class Notes:
    """Oddities of a system's replies: how often each came, with the beginning of the first. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, what: str, example: str = "") -> None:
        """One more of a kind."""
        with self._lock:
            self._counts[what] += 1
            self._first.setdefault(what, example)

    def listed(self) -> list[str]:
        """A line a kind."""
        with self._lock:
            return [f"{what}: {count:,}" + (f" (the first: {self._first[what]})" if self._first[what] else "")
                    for what, count in self._counts.items()]


class Process:
    """A running process. `ask` may be called from several threads; replies are matched by id.

    Raises: UsageError where it cannot be started.
    """

    def __init__(
        self, argv: Sequence[str], *, environment: Mapping[str, str] | None, folder: Path | None, notes: Notes,
    ) -> None:
        self._notes = notes
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._pending: dict[str, SimpleQueue[dict[str, Any] | None]] = {}
        self._answered: deque[str] = deque(maxlen=REMEMBERED)
        self._hello: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._tail, self.garbage, self._over = b"", "", ""  # garbage: the last line on stdout that was no reply, as it is shown
        self._deaf = self.blamed = False  # blamed: its end was counted already, or was our doing
        try:
            self._popen = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                # a group of its own: what it starts ends with it, and Ctrl-C in the terminal is for kgeval to pass on
                start_new_session=True, env=None if environment is None else dict(environment), cwd=folder,
            )
        except (OSError, ValueError) as cause:
            why = getattr(cause, "strerror", None) or str(cause)
            raise UsageError(
                f"{argv[0]}: cannot be started: {why}", fix="check the command; it is run without a shell",
            ) from cause
        # at the end of this process, also by a signal, so that no child is left running
        self._forget = register(self._kill_group)
        # a full pipe would block the write for as long as the process does not read: no time limit ends that
        os.set_blocking(self._pipe("stdin"), False)
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._listen_to_errors)]
        for thread in self._threads:
            thread.start()

    def _pipe(self, name: str) -> int:
        pipe = getattr(self._popen, name)
        return int(pipe.fileno())

    @property
    def running(self) -> bool:
        """Whether it can still be asked."""
        return not self._over and self._popen.poll() is None

    def hello(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        """What it declares; None where it does not say hello. Raises: EndedError, SlowError."""
        until = time.monotonic() + seconds
        try:
            self._send(message, until)
            return self._wait(self._hello, until)
        except SlowError:
            self._deaf = True
            raise

    def ask(self, name: str, message: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        """The reply to a message with this id; None: it came without its id. Raises: EndedError, SlowError."""
        until = time.monotonic() + seconds
        box: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        with self._lock:
            self._pending[name] = box
        try:
            self._send(message, until)
            return self._wait(box, until)
        finally:
            with self._lock:
                self._pending.pop(name, None)

    def _send(self, message: Mapping[str, Any], until: float) -> None:
        """Writes a line. A process that does not read does not hold anybody up for longer than `until`."""
        # ASCII: a process may read its stdin in any encoding
        line = memoryview(json.dumps(message, ensure_ascii=True).encode() + b"\n")
        # one line at a time: a long one is written in pieces, between which another thread's would land
        if not self._writing.acquire(timeout=max(until - time.monotonic(), 0.0)):
            raise SlowError
        try:
            pipe = self._pipe("stdin")
            while line:
                if not select.select([], [pipe], [], max(until - time.monotonic(), 0.0))[1]:
                    raise SlowError
                with suppress(BlockingIOError):
                    line = line[os.write(pipe, line):]
        except (OSError, ValueError) as cause:  # it has closed its stdin, or is over
            raise self._ended() from cause
        finally:
            self._writing.release()

    def _wait(self, box: SimpleQueue[dict[str, Any] | None], until: float) -> dict[str, Any] | None:
        while True:
            try:
                # woken now and then: a process that dies puts nothing into the box
                return box.get(timeout=max(min(until - time.monotonic(), POLL_SECONDS), 0.0))
            except Empty:
                pass
            if self._over or self._popen.poll() is not None:
                self._threads[0].join(2 * POLL_SECONDS)  # what it said last may still be in the pipe
                with suppress(Empty):
                    return box.get_nowait()
                raise self._ended()
            if time.monotonic() >= until:
                raise SlowError

    def _ended(self) -> EndedError:
        """How it ended, for people."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(2 * POLL_SECONDS)
        self._threads[1].join(POLL_SECONDS)
        code = self._popen.poll()
        how = "closed its pipes" if code is None else f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        stderr = self._tail.decode("utf-8", "replace").strip()
        return EndedError(
            f"the process {how}" + (f"; {self._over}" if self._over else "") + (f"; stdout: {self.garbage}" if self.garbage else "")
            + (f"; stderr: ...{stderr[-240:]}" if len(stderr) > 240 else f"; stderr: {stderr}" if stderr else ""),
        )

    def _listen(self) -> None:
        """Reads stdout to its end. Lines are never kept beyond LONGEST_LINE."""
        parts, size = list[bytes](), 0
        with suppress(OSError, ValueError):
            while data := os.read(self._pipe("stdout"), CHUNK):
                *lines, rest = data.split(b"\n")
                for line in lines:
                    self._line(b"".join([*parts, line]))
                    parts, size = [], 0
                parts.append(rest)
                size += len(rest)
                if size > LONGEST_LINE:
                    self._over = f"a line of its stdout is longer than {LONGEST_LINE // 2**20} MB"
                    self._kill()
                    return
        if size and not self._over:
            self._over = f"its last line is cut: {_shown(b''.join(parts))}"
        self._over = self._over or "its stdout is closed"

    def _listen_to_errors(self) -> None:
        with suppress(OSError, ValueError):
            while data := os.read(self._pipe("stderr"), CHUNK):
                self._tail = (self._tail + data)[-TAIL:]

    def _line(self, raw: bytes) -> None:
        """One line: a reply, or something else, which is noted and passed over."""
        if not raw.strip():
            return
        try:
            value = loads(raw)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not value.keys() & {"id", "answer", "error", "hello"}:
            self.garbage = _shown(raw)
            self._notes.add("lines on stdout that are no reply, passed over", self.garbage)
        elif "hello" in value and "id" not in value and self._deaf:
            self._notes.add("hellos that came too late, passed over: its name, version and settings are not known")
        elif "hello" in value and "id" not in value:
            self._hello.put(value["hello"] if isinstance(value["hello"], dict) else None)
        else:
            self._deliver(value, raw)

    def _deliver(self, value: dict[str, Any], raw: bytes) -> None:
        name = str(value["id"]) if value.get("id") is not None else None
        with self._lock:
            if name is None:
                boxes = list(self._pending.values())
                if not boxes and not self._answered:
                    self._hello.put(None)  # it took the hello for a question
                    return
                if len(boxes) == 1:
                    boxes[0].put(None)
                self._notes.add("replies without an id", _shown(raw))
            elif (box := self._pending.pop(name, None)) is not None:
                self._answered.append(name)
                box.put(value)
            else:
                what = "that was answered already, passed over" if name in self._answered else "that was not asked, passed over"
                self._notes.add(f"replies to an id {what}", _shown(name.encode("utf-8", "replace")))

    def end_input(self) -> None:
        """Closes its stdin: a process that is well made then ends. One that does not read is killed."""
        if not self._writing.acquire(timeout=POLL_SECONDS):
            self._kill()  # whoever writes now gets an error: a descriptor is never closed while it is written to
            self._writing.acquire()
        try:
            with suppress(OSError, ValueError, AttributeError):
                self._popen.stdin.close()  # type: ignore[union-attr]
        finally:
            self._writing.release()

    def close(self) -> None:
        """Ends it: its stdin is closed, then, where it goes on, it and all that it started is killed. May be called
        twice."""
        self.end_input()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Ends it and all that it started at once."""
        self._kill()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        self.end_input()
        for name in ("stdout", "stderr"):
            with suppress(OSError, ValueError):
                getattr(self._popen, name).close()

    def _kill(self) -> None:
        self._kill_group()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_SECONDS)
        self._forget()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)


def _shown(raw: bytes) -> str:
    """The beginning of a line, printable."""
    text = raw[:80].decode("utf-8", "replace").strip()
    return repr(text + ("..." if len(raw) > 80 else ""))
