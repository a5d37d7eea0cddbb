"""/v1/files and /v1/batches of the fake server: files in memory, batches that are done when somebody has looked often enough.

Lines are answered by the same model, with the same faults, as live requests; results come in an order of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from kgeval.llm.fake.request import draw

MOST_LINES = 50_000
LISTED = 100
OPEN = ("validating", "in_progress", "finalizing")
Answered = tuple[int, Any]


@dataclass
class Running:
    """A batch. `looks`: how often somebody asked for it; `results`, `errors`: lines to give out."""

    id: str
    file: str
    window: str
    metadata: Any
    status: str = "validating"
    looks: int = 0
    results: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    total: int = 0
    code: str | None = None
    output: str | None = None
    failed: str | None = None


class Batches:
    """The endpoints. `ask`: the status and body of one request's answer. `looks`: until a batch is done; `expire`: so many batches, the
    first ones, end half way; `refuse`: so many are refused as a whole, as if too much was waiting."""

    def __init__(self, ask: Callable[[Mapping[str, Any]], Answered], *, looks: int, expire: int, refuse: int) -> None:
        self._ask, self._looks, self._expire, self._refuse = ask, looks, expire, refuse
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Running] = {}
        self._made = 0

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Status and body; a body of bytes is sent as it is."""
        match [method, *path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                return self._upload(headers.get("content-type", ""), body)
            case ["GET", "files", name, "content"] if name in self.files:
                return 200, self.files[name]
            case ["GET", "files", name] if name in self.files:
                return 200, self._file(name)
            case ["DELETE", "files", name] if name in self.files:
                del self.files[name]
                return 200, {"id": name, "object": "file", "deleted": True}
            case ["POST", "batches"]:
                return self._create(body)
            case ["GET", "batches"]:
                found = [self._batch(one) for one in reversed(self.batches.values())]
                return 200, {"object": "list", "data": found[:LISTED], "has_more": False}
            case ["GET", "batches", name] if name in self.batches:
                self._looked(self.batches[name])
                return 200, self._batch(self.batches[name])
            case ["POST", "batches", name, "cancel"] if name in self.batches:
                return self._cancel(self.batches[name])
        return 404, _error(f"No such file or batch: {method} {path}.")

    def _upload(self, kind: str, body: bytes) -> tuple[int, Any]:
        parts = BytesParser(policy=HTTP).parsebytes(b"content-type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
        fields = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts.iter_parts()}
        if fields.get("purpose") != b"batch" or not isinstance(fields.get("file"), bytes):
            return 400, _error("'purpose' must be batch, and 'file' a file")
        return 200, self._file(self._keep("file", bytes(fields["file"])))

    def _keep(self, kind: str, data: bytes) -> str:
        self._made += 1
        name = f"{kind}-{self._made}"
        self.files[name] = data
        return name

    def _file(self, name: str) -> dict[str, Any]:
        size = len(self.files[name])
        return {
            "id": name, "object": "file", "bytes": size, "created_at": 0, "filename": "requests.jsonl", "purpose": "batch",
            "status": "processed",
        }

    def _create(self, body: bytes) -> tuple[int, Any]:
        try:
            wanted = json.loads(body)
            file, window = str(wanted["input_file_id"]), str(wanted["completion_window"])
        except (ValueError, KeyError, TypeError):
            return 400, _error("input_file_id and completion_window are needed")
        if file not in self.files:
            return 400, _error(f"No such file: {file}.")
        if wanted.get("endpoint") != "/v1/chat/completions" or window != "24h":
            return 400, _error("the endpoint must be /v1/chat/completions and the window 24h")
        self._made += 1
        made = Running(f"batch-{self._made}", file, window, wanted.get("metadata"))
        self.batches[made.id] = made
        lines = self.files[file].splitlines()
        made.total = len(lines)
        if len(lines) > MOST_LINES or self._refuse:
            self._refuse = max(self._refuse - 1, 0)
            made.status, made.code = "failed", "token_limit_exceeded"
        return 200, self._batch(made)

    def _looked(self, batch: Running) -> None:
        if batch.status not in (*OPEN, "cancelling"):
            return
        batch.looks += 1
        if batch.status == "cancelling":
            self._end(batch, "cancelled", 0)
        elif batch.looks <= self._looks:
            batch.status = "in_progress"
        elif self._expire:
            self._expire -= 1
            self._end(batch, "expired", batch.total // 2)
        else:
            self._end(batch, "completed", batch.total)

    def _end(self, batch: Running, status: str, count: int) -> None:
        """Answers the first `count` lines; of the others it is said that they were never asked."""
        batch.status = status
        for at, raw in enumerate(self.files.get(batch.file, b"").splitlines()):
            self._line(batch, raw, None if at < count else f"batch_{status}")
        for lines in (batch.results, batch.errors):
            lines.sort(key=draw)  # not in the order of the requests
        batch.output = self._keep("file", "".join(batch.results).encode()) if batch.results else None
        batch.failed = self._keep("file", "".join(batch.errors).encode()) if batch.errors else None

    def _line(self, batch: Running, raw: bytes, code: str | None) -> None:
        line = json.loads(raw)
        name = {"id": f"req-{draw(batch.id, line['custom_id'])}", "custom_id": line["custom_id"]}
        if code is not None:
            said = {**name, "response": None, "error": {"code": code, "message": "This request was not asked."}}
        else:
            status, body = self._ask(line["body"])
            said = {**name, "response": {"status_code": status, "request_id": name["id"], "body": body}, "error": None}
            if status == 200:
                batch.results.append(json.dumps(said) + "\n")
                return
        batch.errors.append(json.dumps(said) + "\n")

    def _cancel(self, batch: Running) -> tuple[int, Any]:
        if batch.status in OPEN:
            batch.status = "cancelling"
        return 200, self._batch(batch)

    def _batch(self, batch: Running) -> dict[str, Any]:
        faults = [{"code": batch.code, "message": "Too much is waiting.", "line": None, "param": None}] if batch.code else []
        return {
            "id": batch.id, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": batch.file, "created_at": 0,
            "completion_window": batch.window, "status": batch.status, "output_file_id": batch.output, "error_file_id": batch.failed,
            "errors": {"object": "list", "data": faults} if faults else None, "metadata": batch.metadata,
            "request_counts": {"total": batch.total, "completed": len(batch.results), "failed": len(batch.errors)},
        }


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
