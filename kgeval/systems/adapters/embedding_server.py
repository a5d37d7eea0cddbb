"""kgeval's own embedding model behind an OpenAI-compatible /embeddings on this machine: packages without one of their
own use it."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kgeval.errors import KgevalError

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

LARGEST = 64 * 2**20
POLL_SECONDS = 0.05  # how often the server looks whether it is to end


class _EmbeddingHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    # packages open dozens of connections at once: what finds no place in the queue waits for a second and more
    request_queue_size = 128


class EmbeddingServer:
    """A context manager. `base_url` and `key` go to the adapter's process. Texts are embedded one request at a time,
    and cached."""

    def __init__(self, embedder: Embedder) -> None:
        self.key = f"local-{secrets.token_urlsafe(24)}"
        self._embedder, self._lock = embedder, threading.Lock()
        self._server = _EmbeddingHttpServer(("127.0.0.1", 0), _handler(self))
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), name="kgeval-embeddings", daemon=True,
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops listening and writes new vectors to the cache. May be called twice."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        with self._lock:
            self._embedder.close()

    def vectors(self, texts: list[str]) -> list[list[float]]:
        """One vector a text."""
        with self._lock:
            vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class EmbeddingHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            raw = self.rfile.read(int(length)) if length.isdecimal() and int(length) <= LARGEST else b""
            header = self.headers.get("authorization", "").encode("latin-1")
            # every process of this machine can reach the port: only the adapter's knows the key
            if not hmac.compare_digest(header, f"Bearer {server.key}".encode()):
                self._reply(401, _error("this key is not the server's"))
                return
            try:
                self._reply(200, _embedded(server, json.loads(raw)))
            except (ValueError, TypeError, AttributeError) as wrong:
                self._reply(400, _error(str(wrong)))
            except KgevalError as wrong:
                self._reply(500, _error(wrong.message))

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing: the texts are the user's."""

    return EmbeddingHandler


def _embedded(server: EmbeddingServer, body: dict[str, Any]) -> dict[str, Any]:
    """The protocol's reply. Raises: ValueError for an input that is no text and no list of texts."""
    text_or_list = body.get("input")
    texts = [text_or_list] if isinstance(text_or_list, str) else text_or_list
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("'input' must be a text or a list of texts")
    shown: list[Any] = server.vectors(texts)
    if body.get("encoding_format") == "base64":
        # little-endian float32, the form that OpenAI's client asks for
        shown = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in shown]
    # no tokens are counted: nothing is paid for here
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(shown)]
    return {"object": "list", "data": data, "model": str(body.get("model")), "usage": {"prompt_tokens": 0, "total_tokens": 0}}


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "local"}}
