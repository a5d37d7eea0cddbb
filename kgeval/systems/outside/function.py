"""A function of the user's own, called in this process: `kgeval.answer(questions, system={"mine": my_function})`."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from types import TracebackType
from typing import Any

from pydantic import BaseModel

from kgeval.code_digest import digest_function
from kgeval.errors import UsageError
from kgeval.records import Answer
from kgeval.systems.outside.process import SlowError
from kgeval.systems.outside.reply import answer_from, failed, signature_of
from kgeval.systems.system import SHOWN, Ask, ClosedAtEnd, Opening, name_with
from kgeval.tables.plain import plain_value

SHOWN_OF_ASK = tuple(field for field in SHOWN if field != "question")  # what a function gets where it names it
GRACE_SECONDS = 1.0


class _Outcome:
    """Around a call of users' code: what it raises becomes `error`, so that a question fails and not the run. An
    interrupt goes through."""

    error: BaseException | None = None

    def __enter__(self) -> _Outcome:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> bool:
        self.error = error
        return isinstance(error, Exception | SystemExit)


class FunctionSystem(ClosedAtEnd):
    """A System. The function gets the question's text and gives a text, or a mapping or record with `answer`,
    `contexts` and other fields of an Answer; it may be asynchronous.

    Where one call is made at a time, it is made in the caller's own thread. A call that is not asynchronous cannot be
    ended: `notes` say how many took longer than the limit. Asynchronous ones run in an event loop in a thread of their
    own, beside one that may run already. Raises: UsageError for a function that cannot be called with a question and
    the settings. """

    def __init__(self, function: Callable[..., Any], opening: Opening, *, name: str) -> None:
        settings = dict(opening.settings)
        self._function, self._settings, self._timeout, self.parallel = function, settings, opening.timeout, opening.processes
        self.name, self.variant = name_with(name, opening.variant), opening.variant
        parameters: Mapping[str, inspect.Parameter] = {}
        with suppress(ValueError):  # of a function of C's, whose parameters nobody knows
            signature = inspect.signature(function)
            parameters = signature.parameters
            shown = dict.fromkeys(name for name in SHOWN_OF_ASK if name in parameters)
            try:
                signature.bind("a question", **{**shown, **settings})
            except TypeError as cause:
                what = " and ".join(["a question", *([", ".join(settings)] if settings else [])])
                fix = "a function takes the question's text, and its settings as keywords"
                raise UsageError(f"{self.name}: cannot be called with {what}: {cause}", fix=fix) from cause
        self._shown = tuple(name for name in SHOWN_OF_ASK if name in parameters)
        self.adjusts = "target_words" in parameters
        source = function if inspect.isfunction(function) else type(getattr(function, "__self__", function))
        digest = digest_function(function, by_class=True)  # clients and indexes that it holds are other objects in each run
        self.signature = signature_of("function", source.__module__, source.__qualname__, digest, settings)
        self._lock, self._slow = threading.Lock(), 0
        self._running: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None

    def answer(self, ask: Ask) -> Answer:
        """The answer. What the function raises is the error of this question."""
        reply, started, outcome = None, time.monotonic(), _Outcome()
        with outcome:
            reply = self._called(ask)
        seconds, error = time.monotonic() - started, outcome.error
        if isinstance(error, SlowError):
            return failed(ask, self, "timeout", f"no reply in {self._timeout:g} s")
        if isinstance(error, CancelledError):
            return failed(ask, self, "cancelled", "the run was interrupted")
        if error is not None:
            return failed(ask, self, "system_error", f"{type(error).__name__}: {error}")
        if seconds > self._timeout:
            with self._lock:
                self._slow += 1
        try:
            return answer_from(_fields(reply), ask, self, seconds=seconds)
        except (TypeError, ValueError) as cause:  # values that JSON has no form for
            return failed(ask, self, "bad_reply", str(cause))

    def _called(self, ask: Ask) -> Any:
        """What the call comes to. Raises: SlowError of an asynchronous one; what the function raises itself."""
        shown = {name: getattr(ask, name) for name in self._shown}
        reply = self._function(ask.question, **{**shown, **self._settings})
        if not inspect.isawaitable(reply):
            return reply

        async def awaited() -> Any:  # not every awaitable is a coroutine, which the loop wants
            return await reply

        future = asyncio.run_coroutine_threadsafe(awaited(), self._loop())
        try:
            return future.result(self._timeout)
        except TimeoutError:
            # both are TimeoutError: that of result(), and one that the user's function raised
            if future.done():  # one that the function raised
                raise
            future.cancel()
            raise SlowError from None

    def _loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._running is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=loop.run_forever, name=f"kgeval-{self.name}", daemon=True)
                thread.start()
                self._running = loop, thread
            return self._running[0]

    @property
    def notes(self) -> list[str]:
        """What a reader of the answers should know."""
        if not self._slow:
            return []
        slow = f"answers that took longer than {self._timeout:g} s: {self._slow:,}"
        return [f"{self.name}: {slow}; a call that is not asynchronous cannot be ended, so they count"]

    def close(self) -> None:
        """Ends the event loop, if there is one, and what still runs in it. May be called twice."""
        with self._lock:
            running, self._running = self._running, None
        if running is None:
            return
        loop, thread = running
        with suppress(TimeoutError):  # code that does not let itself be cancelled: its thread is left to itself
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(GRACE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(GRACE_SECONDS)
        if not thread.is_alive():
            loop.close()


def is_asynchronous(function: object) -> bool:
    """Whether calling it gives a coroutine, as far as can be said before it is called."""
    call = getattr(function, "__call__", None)  # noqa: B004 -- the method of an object that is called
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _fields(reply: Any) -> Mapping[str, Any]:
    """A reply as the fields of an answer, as JSON has them. Raises: TypeError, ValueError for what has no such form."""
    if isinstance(reply, str):
        return {"answer": reply}
    if isinstance(reply, BaseModel):
        reply = reply.model_dump(mode="json", exclude_none=True)
    elif dataclasses.is_dataclass(reply) and not isinstance(reply, type):
        reply = dataclasses.asdict(reply)
    if not isinstance(reply, Mapping):
        raise TypeError(f"a text, a mapping or a record is needed, not {type(reply).__name__}")
    fields: dict[str, Any] = json.loads(json.dumps(dict(reply), default=plain_value))
    return fields


async def _cancel_all() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
