"""HTTP/1.1 on asyncio, as little as the fake model needs: keep-alive, bodies with a length, one request of a connection at a time."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

from kgeval.llm.fake.log import Logged
from kgeval.llm.fake.model import FakeModel, FakeRequest, Response

LARGEST_HEAD = 65_536
# above the 200 MB of a batch file
LARGEST_BODY = 256 * 2**20


class FakeConnection(asyncio.Protocol):
    """One client's connection. `open_ones`: all that are open, so that a stopped server can close them."""

    def __init__(self, model: FakeModel, open_ones: set[FakeConnection]) -> None:
        self.model, self.open_ones = model, open_ones
        self.buffer = bytearray()
        self.answering: tuple[FakeRequest, Response, float] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self.transport = transport
        self.open_ones.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.open_ones.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        if self.answering is not None:
            self._count(status=0)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.answering is None:
            self._next()

    def close(self) -> None:
        """Drops the connection at once, whatever is being answered."""
        if self.transport is not None:
            self.transport.abort()

    def _next(self) -> None:
        request = self._request()
        if request is None or self.transport is None:
            return
        response = self.model.answer(request)
        loop = asyncio.get_running_loop()
        self.answering = (request, response, loop.time())
        if response.fault != "hang":
            self.timer = loop.call_later(response.delay, self._send)

    def _request(self) -> FakeRequest | None:
        """The next whole request in the buffer, taken out of it; None while bytes are missing."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self.buffer) > LARGEST_HEAD:
                self.close()
            return None
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY or "transfer-encoding" in headers or first.count(" ") != 2:
            self.close()
            return None
        if headers.get("expect", "").lower() == "100-continue" and self.transport is not None and len(self.buffer) == end + 4:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        whole = end + 4 + int(length)
        if len(self.buffer) < whole:
            return None
        method, target, _ = first.split(" ")
        body = bytes(self.buffer[end + 4 : whole])
        del self.buffer[:whole]
        return FakeRequest(method, target.partition("?")[0].rstrip("/"), headers, body)

    def _send(self) -> None:
        if self.answering is None or self.transport is None:
            return
        request, response, _ = self.answering
        data = wire(response)
        if response.fault == "disconnect":
            self.transport.write(data[: len(data) // 2])
            self._count(status=response.status)
            self.transport.close()
            return
        self.transport.write(data)
        self._count(status=response.status)
        if request.headers.get("connection", "").lower() == "close":
            self.transport.close()
        else:
            self._next()

    def _count(self, *, status: int) -> None:
        if self.answering is None:
            return
        request, response, since = self.answering
        self.answering = None
        if request.path.startswith("/_"):
            return
        now = asyncio.get_running_loop().time()
        self.model.log.left(Logged(
            path=request.path, hash=response.key, status=status, fault=response.fault, good=response.good and status == 200,
            at=round(since, 6), seconds=round(now - since, 6), body=response.request,
        ))


def wire(response: Response) -> bytes:
    """The response as bytes."""
    body = response.body if isinstance(response.body, bytes) else json.dumps(response.body).encode()
    lines = [
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}", "content-type: application/json",
        f"content-length: {len(body)}", *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


async def serve(model: FakeModel, port: int, open_ones: set[FakeConnection]) -> asyncio.Server:
    """A listening server on the loopback address. Port 0: any free one. Raises: OSError if the port is taken."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: FakeConnection(model, open_ones), "127.0.0.1", port, backlog=1024)
