"""`command:...`: a system that is a process. It reads one JSON object a line and writes one a line (kgeval help
system-protocol)."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pydantic import JsonValue

from kgeval.errors import IncompleteError, UsageError
from kgeval.records import Answer
from kgeval.systems.outside.process import EndedError, Notes, Process, SlowError
from kgeval.systems.outside.reply import answer_from, failed, signature_of
from kgeval.systems.system import SHOWN, Ask, ClosedAtEnd, Opening, name_with
from kgeval.tables import cells

LONGEST_NAME = 100
MOST_AT_A_TIME = 64
HELLO_SECONDS = 60.0  # a system may load models and an index before it reads its first line
SAID_AFTER = 5.0  # a command that knows no hello looks as if it hung
MOST_CRASHES = 5  # in a row, for each process: a program that cannot work shall not be started a thousand times
FIX = "run the command by hand and give it a line (kgeval help system-protocol), and fix what it says; the same command goes on"


@dataclass(frozen=True)
class Declared:
    """What a process declares in its hello. `parallel`: questions that one process takes at a time. `card`:
    configuration, index."""

    name: str = ""
    version: str = ""
    adjusts: bool = False
    parallel: int = 1
    card: Mapping[str, JsonValue] = field(default_factory=dict)


def declared(said: Mapping[str, Any], name: str) -> Declared:
    """The hello as a record. Raises: UsageError for what does not fit."""
    try:
        parallel = cells.whole(said.get("parallel"))
        if not 1 <= (parallel if parallel is not None else 1) <= MOST_AT_A_TIME:
            raise cells.Misfit(f"parallel is not between 1 and {MOST_AT_A_TIME}")
        if not isinstance(said.get("adjusts", False), bool):
            raise cells.Misfit("adjusts is neither true nor false")
        called = cells.name(said.get("name")) or ""
        if not called.isprintable() or len(called) > LONGEST_NAME:
            raise cells.Misfit(f"name is longer than {LONGEST_NAME} characters, or has some that cannot be printed")
        return Declared(
            called, cells.name(said.get("version")) or "", said.get("adjusts", False), parallel or 1,
            cells.mapping(said.get("card")) or {},
        )
    except cells.Misfit as misfit:
        raise UsageError(
            f"{name}: its hello does not fit: {misfit}", fix="kgeval help system-protocol shows what a hello says",
        ) from misfit


def argv_of(text: str) -> tuple[str, ...]:
    """The words of a command line, as a shell takes them apart; no shell runs it. Raises: UsageError."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as cause:
        raise UsageError(f"command:{text}: {cause}", fix="close the quotes") from cause
    if not words:
        raise UsageError("command: is followed by no command", fix="write for example command:'python my_system.py'")
    return words


def open_command(
    argv: Sequence[str], opening: Opening, *, name: str = "", folder: Path | None = None,
    hello_seconds: float = HELLO_SECONDS,
    said_after: float = SAID_AFTER,
) -> CommandSystem:
    """The system, its first process started and greeted; in a dry run nothing is started. `name`: its own (empty: what
    it declares, else its file's stem); `folder`: in which it runs (None: this process's). `hello_seconds`: how long its
    hello may take, where nothing depends on it; `opening.say` is told when it takes longer than `said_after` seconds.

    Raises: UsageError where it cannot be started, or does not take the settings that it was given.
    """
    system = CommandSystem(argv, opening, name, folder)
    try:
        if not opening.dry:
            system.greet(hello_seconds, said_after)
    except BaseException:
        system.close()
        raise
    return system


class CommandSystem(ClosedAtEnd):
    """A System. Each slot of the queue is room for one question; several slots may share a process. Of the opening:
    `settings` are sent in the hello; `processes`: how many run at a time."""

    def __init__(self, argv: Sequence[str], opening: Opening, name: str, folder: Path | None) -> None:
        self._argv, self._opening, self._label, self._folder = tuple(argv), opening, name, folder
        self._noted = Notes()
        self._lock = threading.Lock()
        self._slots: SimpleQueue[_ProcessPlace] = SimpleQueue()
        self._places = [_ProcessPlace(self) for _ in range(opening.processes)]
        self._crashes = self._restarts = 0
        self.closed = False
        self.says_hello = False
        self.declared = Declared()
        self._settle()

    def _settle(self) -> None:
        """Name, signature and slots, as far as they are known."""
        opening, declared = self._opening, self.declared
        # where nobody says: the stem of the first file that the command is given, else its own
        file = next((word for word in self._argv[1:] if Path(word).is_file()), self._argv[0])
        base = self._label or declared.name or Path(file).stem or self._argv[0]
        self.name, self.variant = name_with(base, opening.variant), opening.variant
        self.adjusts, self.parallel = declared.adjusts, declared.parallel * opening.processes
        self.signature = signature_of(
            "command", self._argv, dict(opening.settings), declared.version, dict(declared.card),
        )
        # before the first question: nobody holds a slot yet
        while not self._slots.empty():
            self._slots.get()
        for _ in range(declared.parallel):
            for place in self._places:
                self._slots.put(place)

    def greet(self, hello_seconds: float, said_after: float) -> None:
        """Starts the first process and asks what it is. Raises: UsageError."""
        process = self.start()
        needed = bool(self._opening.settings)
        most = self._opening.timeout if needed else hello_seconds
        waiting = threading.Timer(said_after, self._opening.say, (
            f"{self.name}: no reply to the hello yet; waiting for it up to {most:g} s. A command that knows no hello answers it with "
            "any line, for example an error (kgeval help system-protocol)",
        ))
        waiting.daemon = True
        waiting.start()
        try:
            hello = process.hello(self.hello_message(), most)
        except EndedError as end:
            process.kill()
            if needed:
                raise UsageError(f"{self.name}: was given settings and did not say hello: {end}", fix=FIX) from end
            process, hello = self.start(), None  # a system of the simplest kind: it knows questions only
        except SlowError:
            hello = None
            if not needed:
                self._opening.say(f"{self.name}: did not say hello within {most:g} s; it is taken for a system that knows questions only")
        finally:
            waiting.cancel()
        self._places[0].process = process
        if hello is None and needed:
            what = f"{self.name}: was given settings ({', '.join(self._opening.settings)}), but its process does not say hello"
            raise UsageError(
                what, fix="put them on its command line, or answer the hello (kgeval help system-protocol)",
            )
        if hello is not None:
            self.says_hello, self.declared = True, declared(hello, self.name)
            self._settle()

    def hello_message(self) -> dict[str, Any]:
        """The first line that a process gets."""
        return {"hello": 1, "settings": dict(self._opening.settings)}

    def start(self) -> Process:
        """A new process. Raises: UsageError."""
        return Process(self._argv, environment=self._opening.environment, folder=self._folder, notes=self._noted)

    def answer(self, ask: Ask) -> Answer:
        """The answer. A question during which the process ends is asked once more, in a new one, and alone: it may have
        been another question that ended it.

        Raises: IncompleteError where processes end again and again without an answer between.
        """
        end = ""
        # alone the second time: what ends a process then is this question, and innocent ones do not fail with it
        for alone in (False, True):
            place = self._slots.get()
            try:
                with place.room(alone=alone):
                    return self._asked(place, ask)
            except EndedError as cause:
                end = str(cause)
            finally:
                self._slots.put(place)
        return failed(ask, self, "cancelled" if self.closed else "crashed", end)

    def _asked(self, place: _ProcessPlace, ask: Ask) -> Answer:
        """The answer of the process there. Raises: EndedError; IncompleteError."""
        # the request's id: the question's own, unless it is asked more than once
        again = ask.trial is not None or ask.attempt is not None
        request_id = f"{ask.question_id}#{ask.trial or 0}.{ask.attempt or 0}" if again else ask.question_id
        message = {"id": request_id, **{field: value for field in SHOWN if (value := getattr(ask, field)) is not None}}
        process = None
        try:
            process = place.ready(self._opening.timeout)
            started = time.monotonic()
            reply = process.ask(request_id, message, self._opening.timeout)
        except SlowError:
            garbage = place.stop(process)
            return failed(ask, self, "timeout", f"no reply in {self._opening.timeout:g} s{garbage}")
        except EndedError as cause:
            self._crashed(process or place.process, str(cause))
            raise
        # in a row: one answer shows that the program can work
        self._crashes = 0
        if reply is None:
            return failed(ask, self, "bad_reply", "the reply has no id: a reply carries the id of its request")
        return answer_from(reply, ask, self, seconds=time.monotonic() - started)

    def _crashed(self, process: Process | None, end: str) -> None:
        """Counts a process that ended by itself, once, however many questions it was at."""
        with self._lock:
            if process is None or process.blamed:
                return
            process.blamed = True
            self._crashes += 1
            self._restarts += 1
            # `closed`: processes that close() ends did not crash
            if not self.closed and self._crashes > MOST_CRASHES * len(self._places):
                raise IncompleteError(f"{self.name}: {self._crashes} times in a row without an answer: {end}", fix=FIX)

    @property
    def card(self) -> dict[str, JsonValue]:
        """What the process declares of itself: configuration, index."""
        return dict(self.declared.card)

    @property
    def notes(self) -> list[str]:
        """What a reader of the answers should know."""
        restarted = [f"{self.name}: processes that ended during a question: {self._restarts:,}"] if self._restarts else []
        return [*restarted, *(f"{self.name}: {line}" for line in self._noted.listed())]

    def close(self) -> None:
        """Ends all processes. May be called twice."""
        self.closed = True
        for place in self._places:  # all are told first that nothing more comes, so that they end at the same time
            if place.process is not None:
                place.process.end_input()
        for place in self._places:
            process, place.process = place.process, None
            if process is not None:
                process.close()


class _ProcessPlace:
    """Where a process runs, one after the other."""

    def __init__(self, system: CommandSystem) -> None:
        self._system = system
        self._lock, self._free = threading.Lock(), threading.Condition()
        self._inside, self._reserved = 0, False
        self.process: Process | None = None

    @contextmanager
    def room(self, *, alone: bool) -> Iterator[None]:
        """Around a question: several at a time, or one that waits until the others are done and keeps new ones out."""
        with self._free:
            self._free.wait_for(lambda: not self._reserved)
            self._reserved = alone
            self._free.wait_for(lambda: not alone or not self._inside)
            self._inside += 1
        try:
            yield
        finally:
            with self._free:
                self._inside -= 1
                self._reserved = self._reserved and not alone
                self._free.notify_all()

    def ready(self, seconds: float) -> Process:
        """The running process, or a new one that was greeted, which may take so long. Raises: EndedError, SlowError."""
        with self._lock:
            if self._system.closed:
                raise EndedError("the run was interrupted")
            if self.process is None or not self.process.running:
                if self.process is not None:
                    self.process.kill()
                self.process = self._system.start()
                if self._system.closed:  # while it was starting, so that close() has not seen it
                    self.process.kill()
                    raise EndedError("the run was interrupted")
                if self._system.says_hello:
                    self.process.hello(self._system.hello_message(), seconds)
            return self.process

    def stop(self, process: Process | None) -> str:
        """Kills a process that does not answer (None: the one that is here). Returns what it wrote instead of a
        reply."""
        with self._lock:
            process = process or self.process
            # another thread may have started the next one already
            if process is self.process:
                self.process = None
        if process is None:
            return ""
        process.blamed = True  # it did not end by itself, which other questions that it was at will think
        process.kill()
        return f"; on stdout instead: {process.garbage}" if process.garbage else ""
