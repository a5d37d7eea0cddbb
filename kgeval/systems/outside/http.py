"""`http:URL`: a system behind an endpoint: one that speaks OpenAI's chat, or any that takes and gives JSON."""

from __future__ import annotations

import importlib
import json
import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from pydantic import JsonValue

from kgeval.config import environment
from kgeval.errors import ConfigError, ModelError, UsageError
from kgeval.llm import tokens
from kgeval.llm.budget import SpentError
from kgeval.llm.client import CallError, asked_wait, read_answer, unreachable
from kgeval.llm.endpoints import address, api_key, key_fix
from kgeval.llm.plan import PlannedStage, guessed_output
from kgeval.llm.rates import backoff
from kgeval.llm.shared import Shared
from kgeval.llm.transport import library_of, open_http
from kgeval.llm.turns import FirstRequest
from kgeval.records import Answer
from kgeval.systems.outside.reply import TAKEN, answer_from, failed, signature_of
from kgeval.systems.system import SHOWN, Ask, ClosedAtEnd, Opening, name_with
from kgeval.tables import cells
from kgeval.tables.fields import ROWS
from kgeval.tables.plain import loads

# How a JSON endpoint is asked and read: a request with slots, and paths to the parts of its reply.

SLOTS = tuple("id" if field == "question_id" else field for field in SHOWN)
READABLE = ("answer", "error", *TAKEN)
_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_STEP = re.compile(r"([^.\[\]]+)((?:\[\d*\])*)(?:\.|$)")
_PATH = re.compile(r"[^.\[\]]+(?:\[\d*\])*(?:\.[^.\[\]]+(?:\[\d*\])*)*")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
MISSING = object()


def chat_template(settings: Mapping[str, JsonValue]) -> JsonValue:
    """The request to an endpoint of OpenAI's kind. Raises: UsageError without a model."""
    model, parameters, prompt = settings.get("model"), settings.get("parameters", {}), settings.get("system_prompt")
    if not isinstance(model, str) or not model.strip():
        fix = "--setting model=NAME for a chat endpoint, --setting 'request.NAME={{question}}' for others"
        raise UsageError("http: needs a model, or a request", fix=fix)
    if not isinstance(parameters, Mapping):
        raise UsageError("http: parameters have names in them", fix="write for example parameters.temperature=0")
    first: list[JsonValue] = [{"role": "system", "content": prompt}] if prompt else []
    return {"temperature": 0, **parameters, "model": model.strip(), "messages": [*first, {"role": "user", "content": "{{question}}"}]}


def checked_url(url: str) -> str:
    """An address as it is. Raises: UsageError for one that is none, or that holds a secret."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url[:100]}: no address", fix="it looks like http:https://host/path")
    if parts.username or parts.password or any(
        "key" in name.lower() or "token" in name.lower() for name, _ in parse_qsl(parts.query)
    ):
        raise UsageError(
            "an address must not hold a user, a password or a key", fix="give it as a header: headers.NAME=${VARIABLE}",
        )
    return url.strip()


def check_request(template: JsonValue) -> None:
    """Raises: UsageError for slots that do not exist, and where the question is not in the request at all."""
    used = set(_slots(template))
    if unknown := sorted(used - set(SLOTS)):
        raise UsageError(f"request: there is no slot {', '.join(unknown)}", fix=f"slots are {', '.join(SLOTS)}, written {{{{question}}}}")
    if "question" not in used:
        raise UsageError("request: the question is nowhere in it", fix="put {{question}} where the endpoint expects it")


def _slots(template: JsonValue) -> list[str]:
    if isinstance(template, Mapping):
        return [name for value in template.values() for name in _slots(value)]
    if isinstance(template, list):
        return [name for value in template for name in _slots(value)]
    return _SLOT.findall(template) if isinstance(template, str) else []


def request_of(template: JsonValue, ask: Ask) -> JsonValue:
    """The request for a question: a text that is one slot becomes the slot's value (null where there is none), and
    slots inside a text are written into it. The question is a JSON value in the end: no text of it can become a part of
    the request."""
    return _filled(template, {"id": ask.question_id, **{name: getattr(ask, name) for name in SLOTS if name != "id"}})


def _filled(template: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(template, Mapping):
        return {name: _filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if (only := _SLOT.fullmatch(template)) is not None:
        return values[only[1]]
    return _SLOT.sub(lambda found: "" if values[found[1]] is None else str(values[found[1]]), template)


def check_paths(paths: Mapping[str, Any]) -> dict[str, str]:
    """The paths of a reply by kgeval's names. Raises: UsageError for a name that is no field of an answer, and for no
    path."""
    unknown = sorted(set(paths) - set(READABLE))
    if unknown:
        fix = f"fields are {', '.join(one for one in READABLE if one == 'error' or one in ROWS)}"
        raise UsageError(f"response: an answer has no field {', '.join(unknown)}", fix=fix)
    wrong = sorted(name for name, path in paths.items() if not isinstance(path, str) or not _PATH.fullmatch(path))
    if wrong:
        raise UsageError(f"response: no path for {', '.join(wrong)}", fix="write for example data.answer, sources[].text or items[0].text")
    return {name: str(path) for name, path in paths.items()}


def walk(value: Any, path: str) -> Any:
    """The value at a path: `a.b`; `a[].b` is the b of each item, those without one left out; `a[0]` is one item.
    MISSING: not there."""
    for found in _STEP.finditer(path):
        if not isinstance(value, Mapping) or found[1] not in value:
            return MISSING
        value = value[found[1]]
        for place in re.findall(r"\[(\d*)\]", found[2]):
            if not isinstance(value, list):
                return MISSING
            if not place:
                rest = path[found.end():]
                items = [walk(item, rest) if rest else item for item in value]
                return [item for item in items if item is not MISSING]
            if int(place) >= len(value):
                return MISSING
            value = value[int(place)]
    return value


def fields_of(body: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """The fields that a reply has, where `paths` say."""
    return {name: value for name, path in paths.items() if (value := walk(body, path)) is not MISSING}


def reply_of(body: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a reply that answers. Raises: ValueError where neither an answer nor an error is there."""
    fields = fields_of(body, paths)
    if "answer" not in fields and "error" not in fields:
        has = ", ".join(map(str, list(body)[:10])) if isinstance(body, Mapping) else type(body).__name__
        raise ValueError(f"the reply has no {paths['answer']} (it has: {has})")
    return fields


def headers_of(given: Mapping[str, Any]) -> dict[str, str]:
    """The headers, `${NAME}` replaced by the environment variable.

    Raises: ConfigError for variables that are not set, and for secrets that are written out: they would stand in files.
    """
    bare = sorted(name for name, value in given.items() if _SECRET.search(name) and not _VARIABLE.search(str(value)))
    if bare:
        fix = f"put it into an environment variable and write for example {bare[0]} = \"${{MY_KEY}}\""
        raise ConfigError(f"headers: {', '.join(bare)}: a secret is not written into settings", fix=fix)
    missing = sorted(
        {name for value in given.values() for name in _VARIABLE.findall(str(value)) if environment(name) is None},
    )
    if missing:
        raise ConfigError(
            f"headers: the environment has no {', '.join(missing)}", fix=f"set it: export {missing[0]}=...",
        )
    return {name: _VARIABLE.sub(lambda found: environment(found[1]) or "", str(value)) for name, value in given.items()}


SETTINGS = ("model", "system_prompt", "parameters", "request", "response", "headers")
# worth a retry: the endpoint was busy, slow or down, and may have another answer the next time
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
MOST_REDIRECTS = 3  # a loop of them shall end
FIRST_ANSWER = 1000  # tokens
LARGEST_REPLY = 64 * 2**20  # bytes: an endpoint is a stranger, and its reply is held in memory


class _RefusedError(Exception):
    """A request that came to nothing: its cause and words. `again`: worth a retry, after `wait` seconds if the endpoint
    said so."""

    def __init__(
        self, cause: str, detail: str, *, again: bool = False, wait: float | None = None, billed: bool = False,
    ) -> None:
        super().__init__(detail)
        self.cause, self.detail, self.again, self.wait, self.billed = cause, detail, again, wait, billed


class HttpSystem(ClosedAtEnd):
    """A System. `name`: its own (empty: the model's, else the host's). Of the opening: SETTINGS; `timeout`: seconds a
    question, retries and all. With `request` the address is asked as it is, else it is one of OpenAI's kind and `model`
    is needed.

    Raises: UsageError for settings that do not fit, ConfigError for headers whose variables are not set, ModelError for
    a cost limit on a chat whose price is not known."""

    def __init__(self, url: str, opening: Opening, *, name: str = "") -> None:
        settings, self._timeout, self._limits = dict(opening.settings), opening.timeout, opening.limits
        if unknown := sorted(set(settings) - set(SETTINGS)):
            raise UsageError(
                f"http: has no setting {', '.join(unknown)}", fix=f"it has {', '.join(SETTINGS)}: kgeval help answer",
            )
        self._chat = "request" not in settings
        self._template: JsonValue = chat_template(settings) if self._chat else settings["request"]
        check_request(self._template)
        self._url = f"{address(url)}/chat/completions" if self._chat else checked_url(url)
        response = settings.get("response", {})
        if not isinstance(response, Mapping) or not isinstance(settings.get("headers", {}), Mapping):
            raise UsageError(
                "http: response and headers have names in them", fix="write response.answer=PATH, headers.NAME=VALUE",
            )
        self._paths = check_paths(response if self._chat else {"answer": "answer", **response})
        headers: Any = settings.get("headers", {})
        self._headers = headers_of(headers)
        self._model = str(settings["model"]) if self._chat else None
        self._price = opening.price(self._model, url) if self._model is not None else None
        base = name or self._model or urlsplit(self._url).hostname or "http"
        self.name, self.variant = name_with(base, opening.variant), opening.variant
        self.signature = signature_of("http", self._url, self._template, self._paths, sorted(self._headers))
        self.adjusts = self._chat or "target_words" in json.dumps(self._template)
        self.parallel = self._limits.concurrency
        if self._chat and self._limits.cost_limit is not None and self._price is None:
            what = f"no price is known for {self._model} at {url}, so a cost limit cannot be kept"
            raise ModelError(what, fix="give a price file with --prices (kgeval help models), or limit the calls with --max-calls instead")
        self._shared = opening.shared or Shared(self._limits)
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
                    return failed(ask, self, "cancelled", "the run was interrupted")
                with self._first.first(self._halt.is_set):
                    until = until or time.monotonic() + self._timeout  # the wait for its first turn is not the question's
                    reply, seconds = self._once(body, until)
                return answer_from(reply, ask, self, seconds=seconds)
            except _RefusedError as refused:
                tried += 1
                wait = backoff(tried, asked=refused.wait)
                if not refused.again or tried > self._limits.max_retries or time.monotonic() + wait >= until:
                    again = f" ({tried} times)" if tried > 1 else ""
                    return failed(ask, self, refused.cause, refused.detail + again)
                if self._halt.wait(wait):
                    return failed(ask, self, "cancelled", "the run was interrupted")

    def _request(self, ask: Ask) -> JsonValue:
        """What is sent for a question. A chat is told the length that is wanted in words."""
        if self._chat and ask.target_words is not None:
            before = f" Your answer before did not have that length:\n\n{ask.previous}" if ask.previous else ""
            ask = replace(ask, question=f"{ask.question}\n\nAnswer in about {ask.target_words} words.{before}")
        return request_of(self._template, ask)

    def _once(self, body: JsonValue, until: float) -> tuple[dict[str, Any], float]:
        """The fields of one reply and its seconds, within the budget."""
        price, shown = self._price, json.dumps(body)
        bound = price.cost(tokens.most(shown), price.max_output) if price is not None else 0.0
        # what a first answer should cost; later ones as much as the dearest so far. Reserving the most that a reply can cost let a
        # run of 0.76 USD make no call under a limit of 1 USD
        guess = price.cost(tokens.count(shown), FIRST_ANSWER) if price is not None and not self._dearest else self._dearest
        expected = min(bound, guess)
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
            reply = read_answer(text)
        except CallError as error:
            raise _RefusedError("bad_reply", error.failure.detail, billed=True) from None
        if reply.refused:
            raise _RefusedError("refused", "the model refused", billed=True)
        fields: dict[str, Any] = {"calls": 1, "model": self._model, "answer": reply.text}
        if reply.input_tokens is not None and reply.output_tokens is not None:
            fields |= {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
            if self._price is not None:
                fields["cost"] = self._price.cost(reply.input_tokens, reply.output_tokens)
        return fields | fields_of(body, self._paths)

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
        """One request: the head of the reply, and its text. Raises: _RefusedError; ModelError where nothing listens
        there at all."""
        client, errors = self._opened()
        slow = f"no reply in {self._timeout:g} s"
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
                where = f"{self.name}: {self._url}"
                raise unreachable(where, error, "check the address, and that the server runs") from error
            raise _RefusedError("connection", "no connection", again=True) from None
        except errors.TransportError:
            raise _RefusedError("connection", "the connection broke", again=True, billed=True) from None
        except (errors.HTTPError, ValueError) as error:
            raise _RefusedError("connection", type(error).__name__) from None

    def _check(self, reply: Any) -> None:
        """Raises what a status of 400 and more means: _RefusedError, or ModelError where every further request would
        get the same."""
        status = reply.status_code
        # not 403, as for models: an endpoint of the user's may refuse a single question with it
        if status == 401:
            raise ModelError(
                f"{self._url} refuses the key (HTTP 401)", fix=f"{key_fix()}, or the variables in the headers",
            )
        if status >= 400:
            cause = "rate_limited" if status == 429 else "timeout" if status == 408 else "server_error" if status >= 500 else "rejected"
            wait = asked_wait(SimpleNamespace(response=reply))
            if status == 429 and wait is not None and wait < self._timeout:
                self._rates.pause(wait)
            raise _RefusedError(cause, f"HTTP {status}", again=status in AGAIN, wait=wait, billed=status in (408, 504))

    def _opened(self) -> tuple[Any, Any]:
        """The client, made at the first request, and the library with its errors. The key is in the client and nowhere
        else."""
        with self._lock:
            if self._client is None:
                with_key = self._chat and not any(name.lower() == "authorization" for name in self._headers)
                headers = {"authorization": f"Bearer {api_key(self._url)}"} if with_key else {}
                client = open_http(
                    self._url, with_key=with_key, follow_redirects=False, headers=headers, timeout=self._timeout,
                )
                # errors are caught as classes of the library in use
                self._client = (client, importlib.import_module(library_of(type(client))))
            return self._client

    def plan(self, asks: Iterable[Ask]) -> PlannedStage:
        """What these questions would take: one request each; its tokens are counted for a chat, and not known for other
        endpoints."""
        count = used = 0
        for ask in asks:
            count += 1
            used += tokens.count(json.dumps(self._request(ask), ensure_ascii=False)) if self._chat else 0
        return PlannedStage(
            stage=self.name, calls_low=count, calls_high=count, input_tokens_low=used, input_tokens_high=used,
            output_tokens_high=count * guessed_output(0) if self._chat else 0, price=self._price,
        )

    def close(self) -> None:
        """Ends waits and closes connections. May be called twice."""
        self._halt.set()
        self._shared.budget.wake()
        client, self._client = self._client, None
        if client is not None:
            client[0].close()


def _text(reply: Any, until: float, slow: str) -> str:
    """The body of a reply. Raises: _RefusedError for one that is larger than any answer, or that drips in beyond
    `until`."""
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
    # headers with keys would go along
    if (before.scheme, before.netloc) != (after.scheme, after.netloc):
        raise _RefusedError(
            "rejected", f"HTTP {reply.status_code}: redirected to another host ({after.netloc}), which is refused",
        )
    # other redirects are followed with GET, without the question
    if reply.status_code not in (307, 308):
        raise _RefusedError("rejected", f"HTTP {reply.status_code}: redirected to {after.path}; give that address")
    return target


def _cost(reply: Mapping[str, Any]) -> float:
    """What a reply says that it cost; 0 where it does not say, and for what is no number, which is told as a fault of
    the reply."""
    try:
        return cells.number(reply.get("cost")) or 0.0
    except cells.Misfit:
        return 0.0
