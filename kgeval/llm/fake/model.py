"""The scripted model behind the server: from a request to what is sent, when, and what goes wrong with it. No sockets here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import Any

from pydantic import JsonValue

from kgeval.llm.fake.batches import Batches
from kgeval.llm.fake.faults import KINDS, STATUS, pick, spoil
from kgeval.llm.fake.log import Log, Logged
from kgeval.llm.fake.reply import answer, written
from kgeval.llm.fake.request import Chat, draw
from kgeval.llm.fake.script import Rule, Script
from kgeval.llm.fake.vectors import embed, packed

RETRY_AFTER = 0.05


@dataclass(frozen=True)
class Options:
    """How the fake model behaves. `faults`: share of replies that go wrong, in 0..1, in one of the ways `kinds`.

    `delay`: seconds a reply; `jitter`: up to so many more, differently for each request. `key`: the only key that is let in
    (null: any, or none). `models`: the known models (empty: any name). `json_schema`, `json_object`: what response_format may
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
class Request:
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

    def answer(self, request: Request) -> Response:
        """The response to any request; what is under /v1 is counted in the log."""
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
        made = served[request.path](body, key, tries)
        return replace(made, key=key, request=body)

    def _batched(self, request: Request) -> Response:
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
        made = self._unknown(body) or self._chat(body, key, tries)
        broken = made.fault in ("hang", "disconnect")
        status = 500 if broken else made.status
        good = made.good and not broken
        self.log.left(Logged("/v1/chat/completions", key, status, made.fault, good, at=0.0, seconds=0.0, body=body))
        return status, _error(500, "a fault on demand").body if broken else made.body

    def _about(self, call: str) -> Any:
        """The answer to a call about the server itself, or null."""
        if call == "GET /_stats":
            return self.log.stats().as_json()
        if call == "GET /_requests":
            return [vars(entry) for entry in self.log.entries]
        if call == "POST /_reset":
            self.log.reset()
            self.script.reset()
            return {"reset": True}
        return None

    def _refusal(self, request: Request, body: Mapping[str, Any] | None, posts: tuple[str, ...]) -> Response | None:
        """What the protocol refuses: a wrong key, path, method, body or model."""
        if (wrong := self._wrong_key(request)) is not None:
            return wrong
        if request.path not in (*posts, "/v1/models"):
            return _error(404, f"Unknown request URL: {request.method} {request.path}.", code="unknown_url")
        if request.method != ("POST" if request.path in posts else "GET"):
            return _error(405, f"Not allowed to {request.method} on {request.path}.")
        return None if request.path == "/v1/models" or body is None else self._unknown(body)

    def _wrong_key(self, request: Request) -> Response | None:
        given = request.headers.get("authorization", "").encode()
        if self.options.key is not None and not compare_digest(given, f"Bearer {self.options.key}".encode()):
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
        fault = rule.fault if rule is not None and decided else self._fault(key, tries, numbered=bool(chat.items))
        if fault in STATUS:
            return replace(self._failed(fault), delay=delay)
        made = self._content(chat, rule)
        content, reason = spoil(fault, made, chat) if fault not in (None, "hang", "disconnect") else (written(made), "stop")
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
        made = answer(chat, self.options.seed, self.script.each(chat, rule))
        if rule is not None and not chat.items and isinstance(made, dict):
            return {**made, **rule.each}
        return made

    def _completion(self, chat: Chat, content: str, reason: str, *, refused: bool) -> JsonValue:
        message: dict[str, JsonValue] = {"role": "assistant", "content": None if refused else content}
        message["refusal"] = "I cannot help with that." if refused else None
        made: dict[str, JsonValue] = {
            "id": f"chatcmpl-{chat.hash}", "object": "chat.completion", "created": 0, "model": chat.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        }
        if self.options.usage:
            made["usage"] = _usage(len(chat.text) // 4 + 1, len(content) // 4 + 1)
        return made

    def _embeddings(self, body: Mapping[str, Any], key: str, tries: int) -> Response:
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            return _error(400, "'input' must be a text or a list of texts, none of them empty")
        fault = self._fault(key, tries, numbered=False, kinds=("hang", "disconnect", *STATUS))
        if fault in STATUS:
            return replace(self._failed(fault), delay=self._delay(key))
        wanted = body.get("dimensions")
        size = wanted if isinstance(wanted, int) and 0 < wanted <= 8192 else self.options.dimensions
        vectors = [embed(text, size) for text in texts]
        shown: list[Any] = [packed(v) for v in vectors] if body.get("encoding_format") == "base64" else vectors
        data: JsonValue = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(shown)]
        tokens = sum(len(text) // 4 + 1 for text in texts)
        usage: JsonValue = {"prompt_tokens": tokens, "total_tokens": tokens}
        made: dict[str, JsonValue] = {"object": "list", "data": data, "model": str(body["model"])}
        return Response(200, {**made, "usage": usage} if self.options.usage else made, delay=self._delay(key), fault=fault)

    def _fault(self, key: str, tries: int, *, numbered: bool, kinds: tuple[str, ...] = KINDS) -> str | None:
        allowed = [kind for kind in self.options.kinds if kind in kinds]
        return pick(self.options.faults, allowed, f"{self.options.seed}\0{key}\0{tries}", numbered=numbered)

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


