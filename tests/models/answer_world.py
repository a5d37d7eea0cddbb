"""Systems that behave and misbehave, as scripts in processes of their own; questions; an HTTP endpoint that does what it is told."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HEAD = """
import json, os, signal, sys, time
def say(**reply):
    print(json.dumps(reply), flush=True)
def requests():
    for line in sys.stdin:
        yield json.loads(line)
"""
SIMPLE = """
for r in requests():
    say(id=r["id"], answer="It was " + r["question"], contexts=["one", {"text": "two", "chunk_id": "c2", "document": "d", "score": 0.5}])
"""


def script(folder: Path, body: str, name: str = "mine") -> tuple[str, ...]:
    """The command of a script; `mark` in it is a file of its own, to remember something between two lives."""
    path = folder / f"{name}.py"
    path.write_text(HEAD + f"mark = {str(folder / (name + '.mark'))!r}\n" + body)
    return (sys.executable, str(path))


def hold_after(asked: int) -> str:
    """What a script does so that all questions after so many (it notes each on a line of `mark`) wait until there is a file `mark`.on."""
    return f"while len(open(mark).readlines()) > {asked} and not os.path.exists(mark + '.on'): time.sleep(0.01)"


def spec(command: tuple[str, ...]) -> str:
    """The command as --system takes it."""
    return "command:" + " ".join(command)


def questions(folder: Path, n: int = 4) -> Path:
    """q0, q1, ..., each with a right answer that no system may see."""
    path = folder / "questions.jsonl"
    rows = [{"id": f"q{i}", "question": f"Who built mill {i}?", "reference": f"SECRET {i}", "hops": 1 + i % 2} for i in range(n)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


Serve = Callable[[BaseHTTPRequestHandler, Any], tuple[int, dict[str, str], bytes]]


@contextmanager
def endpoint(serve: Serve) -> Iterator[str]:
    """An HTTP server on this machine; `serve` gets the request and its JSON body, gives status, headers and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, headers, said = serve(self, json.loads(body) if body else None)
            self.send_response(status)
            for name, value in {"content-length": str(len(said)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
