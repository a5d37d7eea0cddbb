"""`http:URL`: a system behind an endpoint: one that speaks OpenAI's chat, or any that takes and gives JSON."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace, TracebackType
from typing import Any
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from kgeval.errors import ModelError, UsageError
from kgeval.files import cells
from kgeval.files.plain import loads
from kgeval.llm import tokens
from kgeval.llm.budget import SpentError
from kgeval.llm.calls import Limits
from kgeval.llm.client import CallError, asked_wait, read_answer
from kgeval.llm.endpoints import address, api_key, is_loopback
from kgeval.llm.plan import PlannedStage, guessed_output
from kgeval.llm.prices import Price
from kgeval.llm.rates import backoff
from kgeval.llm.shared import Shared
from kgeval.llm.turns import FirstRequest
from kgeval.records import Answer
from kgeval.systems.outside.reply import Stamp, answer_from, failed, signature_of
from kgeval.systems.outside.template import (
    chat_template,
    check_paths,
    check_request,
    checked_url,
    fields_of,
    headers_of,
    reply_of,
    request_of,
)
from kgeval.systems.system import Ask

SETTINGS = ("model", "system_prompt", "parameters", "request", "response", "headers")
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
MOST_REDIRECTS = 3
FIRST_ANSWER = 1000  # tokens
LARGEST_REPLY = 64 * 2**20


@dataclass(frozen=True)
class HttpWanted:
    """An endpoint. `name`: of the system (empty: the model's, else the host's); `timeout`: seconds a question, retries and all.

    `settings`: SETTINGS. With `request` the address is asked as it is, else it is one of OpenAI's kind and `model` is needed.
    `price`: of the model, where it is known; `shared`: budget and rates of the command.
    """

    url: str
    name: str = ""
    variant: str | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    timeout: float = 300.0
    limits: Limits = field(default_factory=Limits)
    price: Price | None = None
    shared: Shared | None = None


class _RefusedError(Exception):
    """A request that came to nothing: its cause and words. `again`: worth a retry, after `wait` seconds if the endpoint said so."""

    def __init__(self, cause: str, detail: str, *, again: bool = False, wait: float | None = None, billed: bool = False) -> None:
        super().__init__(detail)
        self.cause, self.detail, self.again, self.wait, self.billed = cause, detail, again, wait, billed


class HttpSystem:
    """A System. Raises: UsageError for settings that do not fit, ConfigError for headers whose variables are not set,
    ModelError for a cost limit on a chat whose price is not known."""

    def __init__(self, wanted: HttpWanted) -> None:
        settings, self._wanted = dict(wanted.settings), wanted
        if unknown := sorted(set(settings) - set(SETTINGS)):
            raise UsageError(f"http: has no setting {', '.join(unknown)}", fix=f"it has {', '.join(SETTINGS)}: kgeval help answer")
        self._chat = "request" not in settings
        self._template: JsonValue = chat_template(settings) if self._chat else settings["request"]
        check_request(self._template)
        self._url = f"{address(wanted.url)}/chat/completions" if self._chat else checked_url(wanted.url)
        response = settings.get("response", {})
        if not isinstance(response, Mapping) or not isinstance(settings.get("headers", {}), Mapping):
            raise UsageError("http: response and headers have names in them", fix="write response.answer=PATH, headers.NAME=VALUE")
        self._paths = check_paths(response if self._chat else {"answer": "answer", **response})
        given: Any = settings.get("headers", {})
        self._headers = headers_of(given)
        self._model = str(settings["model"]) if self._chat else None
        base = wanted.name or self._model or urlsplit(self._url).hostname or "http"
        self.name, self.variant = f"{base}@{wanted.variant}" if wanted.variant else base, wanted.variant
        self.signature = signature_of("http", self._url, self._template, self._paths, sorted(self._headers))
        self.adjusts = self._chat or "target_words" in json.dumps(self._template)
        self.parallel = wanted.limits.concurrency
        self._stamp = Stamp(self.name, self.variant, self.signature)
        if self._chat and wanted.limits.cost_limit is not None and wanted.price is None:
            what = f"no price is known for {self._model} at {wanted.url}, so a cost limit cannot be kept"
            raise ModelError(what, fix="give a price file with --prices (kgeval help models), or limit the calls with --max-calls instead")
        self._shared = wanted.shared or Shared(wanted.limits)
        self._rates = self._shared.rates(self._url)
        self._lock, self._halt = threading.Lock(), threading.Event()
        self._client: tuple[Any, Any] | None = None
        self._first = FirstRequest()
        self._reached = False
        self._dearest = 0.0

    def answer(self, ask: Ask) -> Answer:
        """The answer. Raises: ModelError where the endpoint refuses the key, or cannot be reached at all."""
        self._opened()  # loading the client takes a second, once, which is not the question's
        body, until, tried = self._request(ask), 0.0, 0
        most = tokens.most(json.dumps(body)) if self._rates.counts_tokens else 0
        while True:
            try:
                if self._rates.wait(most, sleep=self._halt.wait):
                    return failed(ask, self._stamp, "cancelled", "the run was interrupted")
                with self._first.first(self._halt.is_set):
                    until = until or time.monotonic() + self._wanted.timeout  # the wait for its first turn is not the question's
                    reply, seconds = self._once(body, until)
                return answer_from(reply, ask, self._stamp, seconds=seconds)
            except _RefusedError as refused:
                tried += 1
                wait = backoff(tried, asked=refused.wait)
                if not refused.again or tried > self._wanted.limits.max_retries or time.monotonic() + wait >= until:
                    again = f" ({tried} times)" if tried > 1 else ""
                    return failed(ask, self._stamp, refused.cause, refused.detail + again)
                if self._halt.wait(wait):
                    return failed(ask, self._stamp, "cancelled", "the run was interrupted")

    def _request(self, ask: Ask) -> JsonValue:
        """What is sent for a question. A chat is told the length that is wanted in words."""
        if self._chat and ask.target_words is not None:
            before = f" Your answer before did not have that length:\n\n{ask.previous}" if ask.previous else ""
            ask = replace(ask, question=f"{ask.question}\n\nAnswer in about {ask.target_words} words.{before}")
        return request_of(self._template, ask)

    def _once(self, body: JsonValue, until: float) -> tuple[dict[str, Any], float]:
        """The fields of one reply and its seconds, within the budget."""
        bound = self._bound(body)
        expected = min(bound, self._dearest or self._guess(body))
        try:
            self._shared.budget.reserve(expected, most=bound, ended=self._halt.is_set)
        except SpentError as spent:
            raise _RefusedError("budget", spent.failure.detail) from None
        cost, began, broken = expected, time.monotonic(), True
        try:
            text = self._post(body, until)
            seconds = time.monotonic() - began
            reply = self._read(text)
            cost, broken = _cost(reply), False
            self._dearest = max(self._dearest, cost)
        except _RefusedError as refused:
            cost = expected if refused.billed else 0.0
            raise
        finally:
            self._shared.budget.settle(expected, cost, most=bound, stage=self.name, broken=broken)
        return reply, seconds

    def _bound(self, body: JsonValue) -> float:
        price = self._wanted.price
        return price.cost(tokens.most(json.dumps(body)), price.max_output) if price is not None else 0.0

    def _guess(self, body: JsonValue) -> float:
        """What a first answer should cost; later ones as much as the dearest so far."""
        price = self._wanted.price
        return price.cost(tokens.count(json.dumps(body)), FIRST_ANSWER) if price is not None else 0.0

    def _read(self, text: str) -> dict[str, Any]:
        """The fields that a body tells. Raises: _RefusedError for one that is none."""
        try:
            body = loads(text)
        except (ValueError, RecursionError):
            raise _RefusedError("bad_reply", f"not JSON: {text[:80]!r}", billed=True) from None
        if not self._chat:
            try:
                return reply_of(body, self._paths)
            except ValueError as cause:
                raise _RefusedError("bad_reply", str(cause), billed=True) from None
        try:
            said = read_answer(text)
        except CallError as error:
            raise _RefusedError("bad_reply", error.failure.detail, billed=True) from None
        if said.refused:
            raise _RefusedError("refused", "the model refused", billed=True)
        found: dict[str, Any] = {"calls": 1, "model": self._model, "answer": said.text}
        if said.input_tokens is not None and said.output_tokens is not None:
            found |= {"input_tokens": said.input_tokens, "output_tokens": said.output_tokens}
            if self._wanted.price is not None:
                found["cost"] = self._wanted.price.cost(said.input_tokens, said.output_tokens)
        return found | fields_of(body, self._paths)

    def _post(self, body: JsonValue, until: float) -> str:
        """The text of a good reply. Redirects are followed on the same host only. Raises: _RefusedError, ModelError."""
        url = self._url
        for _ in range(MOST_REDIRECTS + 1):
            reply, text = self._sent(url, body, until)
            if not 300 <= reply.status_code < 400:
                self._check(reply)
                return text
            url = _same_host(url, reply)
        raise _RefusedError("rejected", f"redirected more than {MOST_REDIRECTS} times")

    def _sent(self, url: str, body: JsonValue, until: float) -> tuple[Any, str]:
        """One request: the head of the reply, and its text. Raises: _RefusedError; ModelError where nothing listens there at all."""
        client, errors = self._opened()
        slow = f"no reply in {self._wanted.timeout:g} s"
        if (left := until - time.monotonic()) <= 0:
            raise _RefusedError("timeout", slow)
        try:
            with client.stream("POST", url, json=body, timeout=left, headers=self._headers) as reply:
                self._reached = True
                return reply, _text(reply, until, slow)
        except errors.TimeoutException:
            raise _RefusedError("timeout", slow, billed=True) from None
        except errors.ConnectError as error:
            if not self._reached:
                what = f"{self.name}: {self._url} cannot be reached"
                raise ModelError(what, fix="check the address, and that the server runs") from error
            raise _RefusedError("connection", "no connection", again=True) from None
        except errors.TransportError:
            raise _RefusedError("connection", "the connection broke", again=True, billed=True) from None
        except (errors.HTTPError, ValueError) as error:
            raise _RefusedError("connection", type(error).__name__) from None

    def _check(self, reply: Any) -> None:
        """Raises what a status of 400 and more means: _RefusedError, or ModelError where every further request would get the same."""
        status = reply.status_code
        if status == 401:
            raise ModelError(f"{self._url} refuses the key (HTTP 401)", fix="check OPENAI_API_KEY, or the variables in the headers")
        if status >= 400:
            cause = "rate_limited" if status == 429 else "timeout" if status == 408 else "server_error" if status >= 500 else "rejected"
            wait = asked_wait(SimpleNamespace(response=reply))
            if status == 429 and wait is not None and wait < self._wanted.timeout:
                self._rates.pause(wait)
            raise _RefusedError(cause, f"HTTP {status}", again=status in AGAIN, wait=wait, billed=status in (408, 504))

    def _opened(self) -> tuple[Any, Any]:
        """The client, made at the first request, and the library with its errors. The key is in the client and nowhere else."""
        with self._lock:
            if self._client is None:
                import openai

                headers = {"authorization": f"Bearer {api_key(self._url)}"} if self._chat and not _has_key(self._headers) else {}
                made = openai.DefaultHttpxClient(
                    trust_env=not is_loopback(self._url), follow_redirects=False, headers=headers, timeout=self._wanted.timeout,
                )
                library = next(base.__module__.partition(".")[0] for base in type(made).__mro__ if base.__module__.startswith("httpx"))
                self._client = (made, importlib.import_module(library))
            return self._client

    def plan(self, asks: Iterable[Ask]) -> PlannedStage:
        """What these questions would take: one request each; its tokens are counted for a chat, and not known for other endpoints."""
        count = used = 0
        for ask in asks:
            count += 1
            used += tokens.count(json.dumps(self._request(ask), ensure_ascii=False)) if self._chat else 0
        return PlannedStage(
            stage=self.name, calls_low=count, calls_high=count, input_tokens_low=used, input_tokens_high=used,
            output_tokens_high=count * guessed_output(0) if self._chat else 0, price=self._wanted.price,
        )

    def close(self) -> None:
        """Ends waits and closes connections. May be called twice."""
        self._halt.set()
        self._shared.budget.wake()
        client, self._client = self._client, None
        if client is not None:
            client[0].close()

    def __enter__(self) -> HttpSystem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _text(reply: Any, until: float, slow: str) -> str:
    """The body of a reply. Raises: _RefusedError for one that is larger than any answer, or that drips in beyond `until`."""
    parts, size = [], 0
    for part in reply.iter_bytes():
        parts.append(part)
        size += len(part)
        if time.monotonic() > until:
            raise _RefusedError("timeout", slow, billed=True)
        if size > LARGEST_REPLY:
            raise _RefusedError("bad_reply", f"the reply is larger than {LARGEST_REPLY // 2**20} MB", billed=True)
    return b"".join(parts).decode("utf-8", "replace")


def _same_host(url: str, reply: Any) -> str:
    """Where a redirect leads. Raises: _RefusedError for another host, and for one that would drop the question."""
    target = urljoin(url, str(reply.headers.get("location", "")))
    before, after = urlsplit(url), urlsplit(target)
    if (before.scheme, before.netloc) != (after.scheme, after.netloc):
        raise _RefusedError("rejected", f"HTTP {reply.status_code}: redirected to another host ({after.netloc}), which is refused")
    if reply.status_code not in (307, 308):
        raise _RefusedError("rejected", f"HTTP {reply.status_code}: redirected to {after.path}; give that address")
    return target


def _cost(reply: Mapping[str, Any]) -> float:
    """What a reply says that it cost; 0 where it does not say, and for what is no number, which is told as a fault of the reply."""
    try:
        return cells.number(reply.get("cost")) or 0.0
    except cells.Misfit:
        return 0.0


def _has_key(headers: Mapping[str, str]) -> bool:
    return any(name.lower() == "authorization" for name in headers)
