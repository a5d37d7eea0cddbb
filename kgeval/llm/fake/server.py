"""The fake server for tests: in a thread of the test's own process, or as a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import JsonValue

from kgeval.errors import ModelError
from kgeval.llm.fake.http import FakeConnection, serve
from kgeval.llm.fake.log import Logged, Stats
from kgeval.llm.fake.model import FakeModel, FakeRequest, Options
from kgeval.llm.fake.request import Chat
from kgeval.llm.fake.script import Rule, Script, make_script

START_SECONDS = 30.0


class FakeServer:
    """The fake model behind HTTP in a thread. `with FakeServer(faults=0.3) as server:` ... `server.base_url`.

    `script`: a file of rules, a list of Rule, a Script, or a function Chat -> reply (None: the model's own); the function runs
    in the server's thread. Other options: see `Options`. `port` 0: any free one; after `stop()`, `start()` listens on the same
    port again.
    """

    def __init__(
        self, script: Script | Path | list[Rule] | Callable[[Chat], JsonValue | Rule] | None = None, *, port: int = 0, **options: Any,
    ) -> None:
        self.model = FakeModel(Options(**options), make_script(script))
        self.port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self._open: set[FakeConnection] = set()

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[Logged]:
        """The answered requests since the last reset, oldest first (at most the last 20,000)."""
        return self._run(lambda: list(self.model.log.entries))  # type: ignore[no-any-return]

    def stats(self) -> Stats:
        """The counts since the last reset. Also to be had after stop()."""
        return self._run(self.model.log.stats)  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Counts anew; rules that were used up answer again."""
        self._run(lambda: self.model.answer(FakeRequest("POST", "/_reset", {}, b"")))

    def start(self) -> Self:
        """Listens. Raises: ModelError if the port is taken."""
        loop = asyncio.new_event_loop()
        try:
            self._server = loop.run_until_complete(serve(self.model, self.port, self._open))
        except OSError as cause:
            loop.close()
            raise ModelError(f"port {self.port} of the fake server: {cause.strerror or cause}", fix="choose another port, or 0") from cause
        self.port = self._server.sockets[0].getsockname()[1]
        self._loop = loop
        self._thread = threading.Thread(target=loop.run_forever, name="kgeval-fake", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Closes the port and drops every connection at once, as a server that dies does."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._close(), loop).result(START_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_SECONDS)
        loop.close()
        self._loop = self._thread = self._server = None

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._open):
            connection.close()
        # connection_lost runs in the next turns of the loop: a test that counts aborted requests must find them counted
        while self._open:
            await asyncio.sleep(0)
        if self._server is not None:
            await self._server.wait_closed()

    def _run(self, call: Callable[[], Any]) -> Any:
        """The value of the call, made in the server's thread while there is one."""
        if self._loop is None:
            return call()

        async def inside() -> Any:
            return call()

        return asyncio.run_coroutine_threadsafe(inside(), self._loop).result(START_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class FakeProcess:
    """`python -m kgeval.llm.fake` as a process of its own, for benches and for tests that must not share a CPU lock with it.

    `arguments`: those of the command line. `stats()` and `reset()` go over HTTP.
    """

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self.base_url = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Starts it and waits until it listens. Raises: ModelError with what it said if it does not."""
        command = [sys.executable, "-P", "-m", "kgeval.llm.fake", *self.arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        # its first line is printed when it listens; an end of file means that it died
        line = self._process.stdout.readline() if self._process.stdout else ""
        self.base_url = line.strip()
        if not self.base_url.startswith("http://"):
            self.stop()
            raise ModelError("the fake server did not start", fix="its message on stderr says why")
        return self

    def stats(self) -> Stats:
        return Stats(**self._call("GET", "/_stats"))

    def requests(self) -> list[Logged]:
        return [Logged(**entry) for entry in self._call("GET", "/_requests")]

    def reset(self) -> None:
        self._call("POST", "/_reset")

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        process.wait(START_SECONDS)
        if process.stdout:
            process.stdout.close()

    def _call(self, method: str, path: str) -> Any:
        import json
        from http.client import HTTPConnection

        connection = HTTPConnection(self.base_url.removeprefix("http://").removesuffix("/v1"), timeout=START_SECONDS)
        try:
            connection.request(method, path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
