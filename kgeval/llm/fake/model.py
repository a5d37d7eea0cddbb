"""The scripted model behind the server: from a request to what is sent, when, and what goes wrong with it. No sockets here."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.parser import BytesParser
from email.policy import HTTP
from hmac import compare_digest
from typing import Any

from pydantic import JsonValue

from kgeval.llm.fake.faults import KINDS, STATUS, pick, spoil
from kgeval.llm.fake.log import Log, Logged
from kgeval.llm.fake.reply import answer, written
from kgeval.llm.fake.request import Chat, draw
from kgeval.llm.fake.script import Rule, Script

# Embeddings without a model: hashed character trigrams, so that similar texts have similar vectors.


def embed(text: str, dimensions: int) -> list[float]:
    """A vector of unit length. Texts that share most trigrams point the same way; an empty text has a vector of its own."""
    padded = f"  {' '.join(text.casefold().split())} "
    vector = [0.0] * dimensions
    for start in range(len(padded) - 2):
        code = zlib.crc32(padded[start : start + 3].encode("utf-8", "surrogatepass"))
        vector[code % dimensions] += 1.0 if code & 0x80000000 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0:
        return [1.0, *[0.0] * (dimensions - 1)]
    return [value / length for value in vector]


def packed(vector: list[float]) -> str:
    """The vector as base64 of little-endian float32, the form that the openai client asks for."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


# /v1/files and /v1/batches of the fake server: files in memory, batches that are done when somebody has looked often
# enough.

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
                batches = [self._batch(batch) for batch in reversed(self.batches.values())]
                return 200, {"object": "list", "data": batches[:LISTED], "has_more": False}
            case ["GET", "batches", name] if name in self.batches:
                self._looked(self.batches[name])
                return 200, self._batch(self.batches[name])
            case ["POST", "batches", name, "cancel"] if name in self.batches:
                return self._cancel(self.batches[name])
        return 404, _batch_error(f"No such file or batch: {method} {path}.")

    def _upload(self, kind: str, body: bytes) -> tuple[int, Any]:
        parts = BytesParser(policy=HTTP).parsebytes(b"content-type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
        fields = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts.iter_parts()}
        if fields.get("purpose") != b"batch" or not isinstance(fields.get("file"), bytes):
            return 400, _batch_error("'purpose' must be batch, and 'file' a file")
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
            order = json.loads(body)
            file, window = str(order["input_file_id"]), str(order["completion_window"])
        except (ValueError, KeyError, TypeError):
            return 400, _batch_error("input_file_id and completion_window are needed")
        if file not in self.files:
            return 400, _batch_error(f"No such file: {file}.")
        if order.get("endpoint") != "/v1/chat/completions" or window != "24h":
            return 400, _batch_error("the endpoint must be /v1/chat/completions and the window 24h")
        self._made += 1
        batch = Running(f"batch-{self._made}", file, window, order.get("metadata"))
        self.batches[batch.id] = batch
        lines = self.files[file].splitlines()
        batch.total = len(lines)
        if len(lines) > MOST_LINES or self._refuse:
            self._refuse = max(self._refuse - 1, 0)
            batch.status, batch.code = "failed", "token_limit_exceeded"
        return 200, self._batch(batch)

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
        for index, raw in enumerate(self.files.get(batch.file, b"").splitlines()):
            self._line(batch, raw, None if index < count else f"batch_{status}")
        for lines in (batch.results, batch.errors):
            lines.sort(key=draw)  # not in the order of the requests
        batch.output = self._keep("file", "".join(batch.results).encode()) if batch.results else None
        batch.failed = self._keep("file", "".join(batch.errors).encode()) if batch.errors else None

    def _line(self, batch: Running, raw: bytes, code: str | None) -> None:
        line = json.loads(raw)
        name = {"id": f"req-{draw(batch.id, line['custom_id'])}", "custom_id": line["custom_id"]}
        if code is not None:
            result = {**name, "response": None, "error": {"code": code, "message": "This request was not asked."}}
        else:
            status, body = self._ask(line["body"])
            result = {**name, "response": {"status_code": status, "request_id": name["id"], "body": body}, "error": None}
            if status == 200:
                batch.results.append(json.dumps(result) + "\n")
                return
        batch.errors.append(json.dumps(result) + "\n")

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


def _batch_error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


RETRY_AFTER = 0.05


@dataclass(frozen=True)
class Options:
    """How the fake model behaves. `faults`: share of replies that go wrong, in 0..1, in one of the ways `kinds`.

    `delay`: seconds a reply; `jitter`: up to so many more, differently for each request. `key`: the only key that is let in
    (None: any, or none). `models`: the known models (empty: any name). `json_schema`, `json_object`: what response_format may
    be. `usage`: replies carry token counts. `dimensions`: of embeddings. `batch_looks`: how often a batch is looked at before it is
    done; `batch_expire`, `batch_refuse`: so many batches end half way, and are refused as a whole; `batches`: there are such endpoints.
    """

    seed: int = 0
    faults: float = 0.0
    kinds: tuple[str, ...] = KINDS
    delay: float = 0.0
    jitter: float = 0.0
    key: str | None = None
    models: tuple[str, ...] = ()
    json_schema: bool = True
    json_object: bool = True
    usage: bool = True
    dimensions: int = 64
    retry_after: float = RETRY_AFTER
    batches: bool = True
    batch_looks: int = 1
    batch_expire: int = 0
    batch_refuse: int = 0


@dataclass(frozen=True)
class FakeRequest:
    """An HTTP request, header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Response:
    """What is sent after `delay` seconds. `fault` hang: never; disconnect: half of it. `key`: the request's hash, for the log. `paid`:
    a good answer is one that costs something."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: str | None = None
    key: str = ""
    request: Any = None
    paid: bool = True

    @property
    def good(self) -> bool:
        return self.status == 200 and self.fault is None and self.paid


class FakeModel:
    """Answers requests by script, by fault, or by making something that fits. `log` counts what was asked under /v1."""

    def __init__(self, options: Options, script: Script) -> None:
        self.options, self.script, self.log = options, script, Log()
        self.batches = Batches(self._line, looks=options.batch_looks, expire=options.batch_expire, refuse=options.batch_refuse)

    def answer(self, request: FakeRequest) -> Response:
        """The response to any request; what is under /v1 is counted in the log."""
        # calls about the server stay out of the log: they are the test's own
        about = self._about(f"{request.method} {request.path}")
        if about is not None:
            return Response(200, about)
        served: Mapping[str, Callable[[Mapping[str, Any], str, int], Response]] = {
            "/v1/chat/completions": self._chat, "/v1/embeddings": self._embeddings,
        }
        if self.options.batches and request.path.startswith(("/v1/files", "/v1/batches")):
            return self._batched(request)
        body = _parsed(request.body)
        key = Chat({"path": request.path, **body}).hash if body is not None else "unreadable"
        tries = self.log.arrived(key)
        wrong = self._refusal(request, body, tuple(served))
        if wrong is not None or body is None:
            return replace(wrong or _error(400, "the body is not a JSON object"), key=key, request=body)
        if request.path == "/v1/models":
            return Response(200, {"object": "list", "data": [_model(name) for name in self.options.models or ("fake-model",)]}, key=key)
        response = served[request.path](body, key, tries)
        return replace(response, key=key, request=body)

    def _batched(self, request: FakeRequest) -> Response:
        """Files and batches: not among the requests that are counted by what they ask; each line of a batch is, when it is answered."""
        key = f"{request.method} {request.path}"
        self.log.arrived(key)
        wrong = self._wrong_key(request)
        status, body = (wrong.status, wrong.body) if wrong is not None else self.batches.answer(
            request.method, request.path, request.headers, request.body,
        )
        return Response(status, body, key=key, delay=self._delay(key), paid=False)

    def _line(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        """One line of a batch, answered and counted as a live request."""
        key = Chat({"path": "/v1/chat/completions", **body}).hash
        tries = self.log.arrived(key)
        response = self._unknown(body) or self._chat(body, key, tries)
        broken = response.fault in ("hang", "disconnect")
        status = 500 if broken else response.status
        good = response.good and not broken
        self.log.left(Logged("/v1/chat/completions", key, status, response.fault, good, at=0.0, seconds=0.0, body=body))
        return status, _error(500, "a fault on demand").body if broken else response.body

    def _about(self, call: str) -> Any:
        """The answer to a call about the server itself, or None."""
        if call == "GET /_stats":
            return self.log.stats().as_json()
        if call == "GET /_requests":
            return [vars(entry) for entry in self.log.entries]
        if call == "POST /_reset":
            self.log.reset()
            self.script.reset()
            return {"reset": True}
        return None

    def _refusal(self, request: FakeRequest, body: Mapping[str, Any] | None, posts: tuple[str, ...]) -> Response | None:
        """What the protocol refuses: a wrong key, path, method, body or model."""
        if (wrong := self._wrong_key(request)) is not None:
            return wrong
        if request.path not in (*posts, "/v1/models"):
            return _error(404, f"Unknown request URL: {request.method} {request.path}.", code="unknown_url")
        if request.method != ("POST" if request.path in posts else "GET"):
            return _error(405, f"Not allowed to {request.method} on {request.path}.")
        return None if request.path == "/v1/models" or body is None else self._unknown(body)

    def _wrong_key(self, request: FakeRequest) -> Response | None:
        header = request.headers.get("authorization", "").encode()
        # bytes: compare_digest refuses texts that are not ASCII, and a header may hold any
        if self.options.key is not None and not compare_digest(header, f"Bearer {self.options.key}".encode()):
            return _error(401, "Incorrect API key provided.", kind="invalid_request_error", code="invalid_api_key")
        return None

    def _unknown(self, body: Mapping[str, Any]) -> Response | None:
        name = body.get("model")
        if not isinstance(name, str) or not name:
            return _error(400, "you must provide a model parameter")
        if self.options.models and name not in self.options.models:
            return _error(404, f"The model `{name}` does not exist or you do not have access to it.", code="model_not_found")
        return None

    def _chat(self, body: Mapping[str, Any], key: str, tries: int) -> Response:
        chat = Chat(body)
        wrong = self._unsupported(chat)
        if wrong is not None:
            return wrong
        rule = self.script.find(chat)
        delay = rule.delay if rule is not None and rule.delay is not None else self._delay(key)
        if rule is not None and rule.status is not None:
            retry = {} if rule.retry_after is None else {"retry-after": f"{rule.retry_after:g}"}
            return replace(_error(rule.status, rule.message), delay=delay, headers=retry)
        decided = rule is not None and (rule.reply is not None or rule.fault is not None)
        fault = rule.fault if rule is not None and decided else self._fault(key, tries, tagged=bool(chat.items))
        if fault in STATUS:
            return replace(self._failed(fault), delay=delay)
        value = self._content(chat, rule)
        content, reason = spoil(fault, value, chat) if fault not in (None, "hang", "disconnect") else (written(value), "stop")
        return Response(200, self._completion(chat, content, reason, refused=fault == "refusal"), delay=delay, fault=fault)

    def _unsupported(self, chat: Chat) -> Response | None:
        if not chat.messages:
            return _error(400, "'messages' must be a list with at least one message")
        if chat.body.get("stream"):
            return _error(400, "streaming is not supported by the fake model")
        if chat.format == "json_schema" and not self.options.json_schema:
            return _error(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")
        if chat.format == "json_object" and not self.options.json_object:
            return _error(400, "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.")
        return None

    def _content(self, chat: Chat, rule: Rule | None) -> JsonValue:
        if rule is not None and rule.reply is not None:
            return rule.reply
        value = answer(chat, self.options.seed, self.script.each(chat, rule))
        if rule is not None and not chat.items and isinstance(value, dict):
            return {**value, **rule.each}
        return value

    def _completion(self, chat: Chat, content: str, reason: str, *, refused: bool) -> JsonValue:
        message: dict[str, JsonValue] = {"role": "assistant", "content": None if refused else content}
        message["refusal"] = "I cannot help with that." if refused else None
        completion: dict[str, JsonValue] = {
            "id": f"chatcmpl-{chat.hash}", "object": "chat.completion", "created": 0, "model": chat.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        }
        if self.options.usage:
            completion["usage"] = _usage(len(chat.text) // 4 + 1, len(content) // 4 + 1)
        return completion

    def _embeddings(self, body: Mapping[str, Any], key: str, tries: int) -> Response:
        text_or_list = body.get("input")
        texts = [text_or_list] if isinstance(text_or_list, str) else text_or_list
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            return _error(400, "'input' must be a text or a list of texts, none of them empty")
        fault = self._fault(key, tries, tagged=False, kinds=("hang", "disconnect", *STATUS))
        if fault in STATUS:
            return replace(self._failed(fault), delay=self._delay(key))
        asked_size = body.get("dimensions")
        size = asked_size if isinstance(asked_size, int) and 0 < asked_size <= 8192 else self.options.dimensions
        vectors = [embed(text, size) for text in texts]
        shown: list[Any] = [packed(v) for v in vectors] if body.get("encoding_format") == "base64" else vectors
        data: JsonValue = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(shown)]
        tokens = sum(len(text) // 4 + 1 for text in texts)
        usage: JsonValue = {"prompt_tokens": tokens, "total_tokens": tokens}
        body_out: dict[str, JsonValue] = {"object": "list", "data": data, "model": str(body["model"])}
        return Response(200, {**body_out, "usage": usage} if self.options.usage else body_out, delay=self._delay(key), fault=fault)

    def _fault(self, key: str, tries: int, *, tagged: bool, kinds: tuple[str, ...] = KINDS) -> str | None:
        allowed = [kind for kind in self.options.kinds if kind in kinds]
        return pick(self.options.faults, allowed, f"{self.options.seed}\0{key}\0{tries}", tagged=tagged)

    def _failed(self, fault: str) -> Response:
        status = STATUS[fault]
        headers = {"retry-after": f"{self.options.retry_after:g}"} if status == 429 else {}
        kind = "rate_limit_error" if status == 429 else "server_error"
        return replace(_error(status, f"a fault on demand: {fault}", kind=kind), headers=headers, fault=fault)

    def _delay(self, key: str) -> float:
        return self.options.delay + self.options.jitter * (draw(key) % 1000) / 1000


def _parsed(body: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _error(status: int, message: str, *, kind: str = "invalid_request_error", code: str | None = None) -> Response:
    """The protocol's error body."""
    return Response(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})


def _model(name: str) -> JsonValue:
    return {"id": name, "object": "model", "created": 0, "owned_by": "kgeval"}


def _usage(asked: int, said: int) -> JsonValue:
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
