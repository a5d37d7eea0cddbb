"""A relay between a package and the model endpoint, on this machine: it counts what every package asks, in one way, and
keeps the key.

The package is given the relay's address and a random key that is worth nothing elsewhere; only the relay knows the
endpoint's own. Standard library only: this runs in the environment of the wrapped package. """

from __future__ import annotations

import hmac
import http.client
import json
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, Any

LARGEST = 64 * 2**20
# hundreds of vectors a reply, as JSON
LARGEST_REPLY = 512 * 2**20
POLL_SECONDS = 0.05  # how often the server looks whether it is to end
# what the packages' own clients wait and retry by
KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-should-retry", "x-request-id")


@dataclass(frozen=True)
class RelayCounts:
    """What was asked since the last reset. Tokens are None where a reply did not say how many it took: never guessed.

    `calls`, `input_tokens`, `output_tokens`, `seconds` (a sum): of chat requests, failed ones counted in `calls`.
    `embedding_calls`, `embedding_tokens`: of requests for vectors. `failed`: replies that were no success. """

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    seconds: float = 0.0
    embedding_calls: int = 0
    embedding_tokens: int | None = 0
    failed: int = 0


@dataclass(frozen=True)
class Upstream:
    """Where requests go. `embeddings`: another address for vectors (None: the same). `parameters`: set in every chat
    request."""

    base_url: str
    key: str
    embeddings: str | None = None
    embeddings_key: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 600.0


class Relay:
    """A context manager. `base_url` and `key` are what a package is given."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream, self.key = upstream, f"relay-{secrets.token_urlsafe(24)}"
        self._counted, self._lock = RelayCounts(), threading.Lock()
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._server = _RelayHttpServer(("127.0.0.1", 0), _handler(self))
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Relay:
        threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), name="relay", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> None:
        """Counts anew."""
        with self._lock:
            self._counted = RelayCounts()

    def counted(self) -> RelayCounts:
        """What was asked since the last reset."""
        with self._lock:
            return self._counted

    def dimensions(self, model: str) -> int:
        """The length of the embedding model's vectors, by asking for one. Not counted. Raises: RuntimeError with the
        endpoint's words."""
        status, _, body = self.send("/embeddings", {"model": model, "input": "How long is a vector?"})
        try:
            return len(json.loads(body)["data"][0]["embedding"])
        except (ValueError, LookupError, TypeError):
            raise RuntimeError(
                f"the endpoint gave no vector of {model!r}: {status} {body[:200].decode(errors='replace')}",
            ) from None

    def send(self, path: str, body: Mapping[str, Any] | None) -> tuple[int, Mapping[str, str], bytes]:
        """(status, headers, body) of the endpoint's reply; 502 where it cannot be reached."""
        request = self._request(path, body)
        try:
            with self._open(request) as reply:
                return int(reply.status), dict(reply.headers.items()), _whole(reply)
        except (OSError, http.client.HTTPException) as broken:
            return 502, {}, json.dumps(
                {"error": {"message": f"the endpoint cannot be reached: {broken}", "type": "relay"}},
            ).encode()

    def _open(self, request: urllib.request.Request) -> Any:
        try:
            return self._opener.open(request, timeout=self.upstream.timeout)
        except urllib.error.HTTPError as refused:  # a reply like any other
            return refused

    def _request(self, path: str, body: Mapping[str, Any] | None) -> urllib.request.Request:
        upstream = self.upstream
        base, key = upstream.base_url, upstream.key
        if path == "/embeddings" and upstream.embeddings:
            base, key = upstream.embeddings, upstream.embeddings_key
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        # kgeval has checked that the address is one of http or https
        return urllib.request.Request(base + path, data, headers, method="GET" if body is None else "POST")  # noqa: S310

    def relay(self, path: str, body: dict[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Sends it on and counts it. A reply is always asked for as a whole, so that it says its tokens."""
        started = time.perf_counter()
        if path == "/embeddings":
            body.pop("dimensions", None)  # adapters use the model's own length, and many endpoints refuse the parameter
        if path == "/chat/completions":
            whole = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
            body = {**whole, **self.upstream.parameters}
        status, headers, reply = self.send(path, body)
        self._count(path, status, reply, time.perf_counter() - started)
        return status, headers, reply

    def _count(self, path: str, status: int, reply: bytes, seconds: float) -> None:
        usage = _usage(reply) if status == 200 else {"prompt_tokens": 0, "completion_tokens": 0}
        with self._lock:
            old = self._counted
            more = replace(old, failed=old.failed + (status != 200))
            if path == "/embeddings":
                tokens = _sum(old.embedding_tokens, usage.get("prompt_tokens"))
                self._counted = replace(more, embedding_calls=old.embedding_calls + 1, embedding_tokens=tokens)
            elif path in ("/chat/completions", "/completions", "/responses"):
                self._counted = replace(
                    more, calls=old.calls + 1, seconds=old.seconds + seconds,
                    input_tokens=_sum(old.input_tokens, usage.get("prompt_tokens", usage.get("input_tokens"))),
                    output_tokens=_sum(old.output_tokens, usage.get("completion_tokens", usage.get("output_tokens"))),
                )


class _RelayHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # packages open dozens of connections at once; what finds no place in the queue waits for a second and more


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host: it comes back as the error that it is."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _handler(relay: Relay) -> type[BaseHTTPRequestHandler]:
    class RelayHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve(None)

        def do_POST(self) -> None:
            body = _read(self)
            if body is not None:
                self._serve(body)
            else:
                self.close_connection = True  # what was not read of it is no request
                self._reply(400, {}, b'{"error": {"message": "the body is no JSON object"}}')

        def _serve(self, body: dict[str, Any] | None) -> None:
            given = self.headers.get("authorization", "").encode("latin-1")
            path = self.path.split("?")[0].removeprefix("/v1")
            if not hmac.compare_digest(given, f"Bearer {relay.key}".encode()):
                self._reply(401, {}, b'{"error": {"message": "this key is not the relay\'s"}}')
            elif not path.startswith("/"):  # put behind the endpoint's address it could name another host, which would get the key
                self._reply(404, {}, b'{"error": {"message": "no such path"}}')
            elif body is None:
                self._reply(*relay.send(path, None))
            else:
                streamed = bool(body.get("stream"))
                status, headers, reply = relay.relay(path, body)
                self._reply(status, headers, reply, streamed=streamed and status == 200)

        def _reply(self, status: int, headers: Mapping[str, str], body: bytes, *, streamed: bool = False) -> None:
            data = b"".join(_events(body)) if streamed else body
            self.send_response(status)
            self.send_header("content-type", "text/event-stream" if streamed else "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in headers.items():
                if name.lower() in KEPT_HEADERS:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing: what is asked is the user's."""

    return RelayHandler


def _whole(reply: IO[bytes]) -> bytes:
    """The body. Raises: OSError for one that is larger than any reply: a part of it would be another reply."""
    body = reply.read(LARGEST_REPLY + 1)
    if len(body) > LARGEST_REPLY:
        raise OSError(f"its reply is longer than {LARGEST_REPLY // 2**20} MB")
    return body


def _read(handler: BaseHTTPRequestHandler) -> dict[str, Any] | None:
    """The body of a request, or None where it is no JSON object."""
    length = handler.headers.get("content-length", "")
    raw = handler.rfile.read(int(length)) if length.isdecimal() and int(length) <= LARGEST else b""
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _events(body: bytes) -> Iterator[bytes]:
    """A whole reply as a stream of one piece, for packages that ask for one."""
    whole = json.loads(body)
    shared = {name: whole.get(name) for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for choice in whole.get("choices", []):
        message = choice.get("message", {})
        delta, end = {
            "role": "assistant", "content": message.get("content") or "",
        }, choice.get("finish_reason") or "stop"
        parts: tuple[dict[str, Any], ...] = (
            {"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": end},
        )
        for part in parts:
            piece = {**shared, "choices": [{"index": choice.get("index", 0), **part}]}
            yield b"data: " + json.dumps(piece).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def _usage(reply: bytes) -> Mapping[str, Any]:
    try:
        usage = json.loads(reply).get("usage")
    except (ValueError, AttributeError):
        usage = None
    return usage if isinstance(usage, dict) else {}


def _sum(old: int | None, more: Any) -> int | None:
    """The sum; None once one part is not known."""
    return None if old is None or not isinstance(more, int) or isinstance(more, bool) else old + more
