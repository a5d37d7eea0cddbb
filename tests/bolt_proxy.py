"""A proxy between kgeval and a healthy Neo4j: it counts round trips, makes the server far away, and breaks connections at a chosen moment.

    with BoltProxy("127.0.0.1", port, round_trip=0.2) as proxy:
        graph = open_graph(Address(proxy.uri, "neo4j", password))
        proxy.expect(Weather("drop", at=3))
        graph.read("RETURN 1")

A moment is the number of a message burst that the client sends, over all connections: what is sent before anything comes back is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

Fault = Literal["drop", "swallow", "truncate", "delay", "restart"]


@dataclass(frozen=True)
class Weather:
    """One fault. `at`: the burst that meets it, counted from 1. `seconds`: how long a delay, or the server's absence, lasts."""

    fault: Fault
    at: int
    seconds: float = 1.0


class BoltProxy:
    """Listens on a port of the loopback while the `with` block lasts. `round_trip`: seconds that each takes. `hurt`: how many bursts have
    met the fault that was last expected. `trips`: how many there were since then."""

    def __init__(self, host: str, port: int, *, round_trip: float = 0.0) -> None:
        self._server = host, port
        self._half = round_trip / 2
        self._expected: Weather | Callable[[bytes], bool] | None = None
        self._loop = asyncio.new_event_loop()
        self._lines: set[_Line] = set()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="bolt-proxy", daemon=True)
        self._away_until = 0.0
        self.port = 0
        self.trips = 0
        self.connections = 0
        self.hurt = 0

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._listening.wait(10):
            raise RuntimeError("the proxy does not listen")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def expect(self, fault: Weather | Callable[[bytes], bool] | None) -> None:
        """From now on bursts are counted anew, and meet this: a fault, or a drop of each message for which this is true."""
        self._expected, self.trips, self.hurt = fault, 0, 0

    def come_back(self) -> None:
        """The server that was away is there."""
        self._away_until = 0.0

    def break_all(self) -> None:
        """Resets every connection that is open."""
        self._loop.call_soon_threadsafe(self._reset)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        self._loop.run_forever()
        server.close()
        self._reset()
        waiting = asyncio.all_tasks(self._loop)
        for task in waiting:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
        self._loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._loop.time() < self._away_until:
            _abort(writer)
            return
        self.connections += 1
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._server)
        except OSError:
            _abort(writer)
            return
        line = _Line(self, reader, writer, far_reader, far_writer)
        self._lines.add(line)
        try:
            with contextlib.suppress(asyncio.CancelledError):  # the end of the block
                await line.carry()
        finally:
            self._lines.discard(line)
            line.abort()

    def sent(self, line: _Line, data: bytes) -> float:
        """A burst has begun on this connection with these bytes. How many seconds it has to wait besides."""
        self.trips += 1
        weather = self._expected
        if callable(weather):
            weather = Weather("drop", self.trips) if weather(data) else None
        if weather is None or weather.at != self.trips:
            return 0.0
        self.hurt += 1
        if weather.fault == "delay":
            return weather.seconds
        if weather.fault == "restart":
            self._away_until = self._loop.time() + weather.seconds
            self._reset()
        line.fault = weather.fault
        return 0.0

    def _reset(self) -> None:
        for line in list(self._lines):
            line.abort()

    def later(self, seconds: float, work: Callable[[], object]) -> None:
        """Does it after half a round trip and so many seconds."""
        self._loop.call_later(self._half + seconds, work)


class _Line:
    """One connection of a client, and the one to the server that belongs to it."""

    def __init__(
        self, proxy: BoltProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader, far_writer: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._near, self._far = (reader, writer), (far_reader, far_writer)
        self._asked = False  # the last to speak was the client
        self.fault: Fault | None = None

    async def carry(self) -> None:
        back = asyncio.ensure_future(self._backward())
        try:
            await self._forward()
        finally:
            back.cancel()

    async def _forward(self) -> None:
        while data := await _read(self._near[0]):
            more = 0.0
            if not self._asked:
                self._asked = True
                more = self._proxy.sent(self, data)
            if self.fault == "drop":
                self.abort()
            if self.fault in ("drop", "restart"):
                return
            if self.fault != "swallow":
                self._proxy.later(more, lambda data=data: self._far[1].write(data))  # type: ignore[misc]
        self._far[1].close()

    async def _backward(self) -> None:
        while data := await _read(self._far[0]):
            self._asked = False
            if self.fault == "truncate":
                self._near[1].write(data[: len(data) // 2])
                with contextlib.suppress(OSError):
                    await self._near[1].drain()
                self.abort()
                return
            if self.fault != "swallow":
                self._proxy.later(0.0, lambda data=data: self._near[1].write(data))  # type: ignore[misc]
        if self.fault != "swallow":
            self._proxy.later(0.0, self._near[1].close)

    def abort(self) -> None:
        for _, writer in (self._near, self._far):
            _abort(writer)


async def _read(reader: asyncio.StreamReader) -> bytes:
    with contextlib.suppress(OSError):
        return await reader.read(1 << 16)
    return b""


def _abort(writer: asyncio.StreamWriter) -> None:
    """Resets the connection: its other end sees that it broke, and not that it ended."""
    own = writer.get_extra_info("socket")
    if own is not None:
        with contextlib.suppress(OSError):
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
