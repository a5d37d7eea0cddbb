"""One request over the wire, through the openai client, and what each way of failing means."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kgeval.access import TRUST_FIX, is_distrusted
from kgeval.errors import ModelError
from kgeval.llm import tokens
from kgeval.llm.calls import Cause, Endpoint, Failure
from kgeval.llm.characters import whole
from kgeval.llm.deadline import hooks
from kgeval.llm.endpoints import api_key, key_fix, scrub
from kgeval.llm.replies import UnusableError
from kgeval.llm.transport import library_of, open_http, raise_key_fault
from kgeval.llm.turns import Turn

if TYPE_CHECKING:
    import openai

log = logging.getLogger("kgeval.llm")
# daily quotas ask for hours: waiting for that would hang a run, so the item fails (docs/models.md)
LONGEST_ASKED_WAIT = 600.0
# a reply may take long, a connection does not: an address where nobody listens is known early
CONNECT_SECONDS = 10.0
# OpenAI-compatible servers share the protocol but neither status codes nor error codes: words tell them apart
_TOO_LONG = re.compile(r"context[ _]?(?:length|window|size)|maximum context|too long|too many tokens|exceed\w* .{0,40}token", re.IGNORECASE)
_FORM = re.compile(r"response_format|json_schema|json_object|json mode|structured output|guided|grammar", re.IGNORECASE)
_FILTERED = re.compile(r"content[ _]?(?:filter|policy|management)|moderation|safety", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"unsupported|not support|unrecognized|unknown|unexpected|invalid|only the default|extra", re.IGNORECASE)
_NO_MODEL = re.compile(r"model_not_found|invalid[_ ]model|\bmodel\b.{0,80}?\b(?:not found|not exist|unknown model)", re.IGNORECASE)
_NO_KEY = re.compile(r"api[ _-]?key.{0,40}(?:not valid|invalid|incorrect|missing)|invalid[_ ]api[_ ]?key", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|insufficient (?:balance|credit|funds)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What came over the wire: text, why the model ended, tokens if the endpoint told, seconds it took; of a stream, those to its first
    token."""

    text: str
    finish: str
    refused: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    estimated: bool = False
    seconds: float = 0.0
    first: float | None = None

    def counted(self, *messages: str) -> ModelAnswer:
        """With its tokens counted here (o200k_base) where the endpoint gave none."""
        if self.input_tokens is not None and self.output_tokens is not None:
            return self
        input_tokens = tokens.count_messages(*messages) if self.input_tokens is None else self.input_tokens
        output_tokens = tokens.count(self.text) if self.output_tokens is None else self.output_tokens
        return replace(self, input_tokens=input_tokens, output_tokens=output_tokens, estimated=True)


class CallError(Exception):
    """A request that failed. `again`: worth a retry, after `wait` seconds if the endpoint said so; `form`: the endpoint does not
    know this form of structured reply; `billed`: it may have cost something all the same."""

    def __init__(
        self, failure: Failure, *, again: bool = False, wait: float | None = None, form: bool = False, quota: bool = False,
        billed: bool = False,
    ) -> None:
        super().__init__(failure.detail)
        self.failure, self.again, self.wait, self.form, self.quota, self.billed = failure, again, wait, form, quota, billed


class Client:
    """The openai client of one session, made at the first request. Thread-safe. The key is in the client and nowhere else."""

    def __init__(self, endpoint: Endpoint, *, timeout: float) -> None:
        self.endpoint = endpoint
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._faults: Faults | None = None
        self.reached = False
        self._local = threading.local()

    def send(self, body: Mapping[str, Any], turn: Turn) -> ModelAnswer:
        """Posts one chat completion, on the wire for one turn.

        Raises CallError for what concerns this call, ModelError for what concerns every call, and what the turn's begin raises.
        """
        client, faults = self._made()
        self._local.turn = turn
        turn.streams = bool(body.get("stream"))
        try:
            if turn.streams:
                streamed = self._streamed(client, body, turn)
                self.reached = True
                return streamed
            # not chat.completions.create: that makes a pydantic object of each reply; read_answer takes what servers really send
            text = client.post("/chat/completions", cast_to=str, body=body)
        except faults.family as error:
            raise_key_fault(error)
            # raised in our own hook: the client wraps whatever is raised there in a connection error
            if turn.began is None and isinstance(error.__cause__, UnusableError):
                raise error.__cause__ from None
            # an endpoint that answered once is there: what breaks later is worth a retry and no wrong address
            self.reached = self.reached or hasattr(error, "status_code")
            fault = faults.explain(error, reached=self.reached, parameters=self.endpoint.parameters)
            log.info("a request to %s failed: %s", self.endpoint.model, fault)
            raise fault from None
        finally:
            turn.end()
        self.reached = True
        return read_answer(text)

    def _streamed(self, client: openai.OpenAI, body: Mapping[str, Any], turn: Turn) -> ModelAnswer:
        """A chat completion that comes piece by piece, put together. Raises: as `send`."""
        import openai

        library: Any = import_module(library_of(type(client._client)))
        pieces: list[Any] = []
        first: float | None = None
        try:
            for piece in client.post("/chat/completions", cast_to=object, body=body, stream=True, stream_cls=openai.Stream[object]):
                if first is None and _content(piece):
                    first = round(turn.seconds, 4)
                pieces.append(piece)
        except (openai.APIStatusError, openai.APIConnectionError):
            raise
        except openai.APIError:  # an error in place of a piece: its status was sent before it was known
            raise CallError(Failure("server_error", "the endpoint broke its stream off with an error"), again=True, billed=True) from None
        except library.HTTPError as broken:  # once it has begun, the openai client leaves its library's errors as they are
            if type(broken).__name__ == "DecodingError":
                raise CallError(Failure("server_error", str(broken)), billed=True) from None
            cause: Cause = "timeout" if "Timeout" in type(broken).__name__ else "connection"
            raise CallError(Failure(cause, "the stream broke before its end"), again=True, billed=True) from None
        except ValueError:
            raise CallError(Failure("server_error", "a piece of the stream is no JSON"), again=True, billed=True) from None
        return replace(read_stream(pieces), first=first)

    def _hooks(self) -> dict[str, list[Callable[[Any], None]]]:
        return hooks(self._timeout, before=lambda: self._local.turn.begin(), answered=lambda: self._local.turn.answered())

    def prepare(self) -> None:
        """Loads the library and makes the client, if that was not done yet. Raises: ModelError where a key is needed and not set."""
        self._made()

    def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            self._client.close()

    def _made(self) -> tuple[openai.OpenAI, Faults]:
        with self._lock:
            if self._client is None or self._faults is None:
                import openai

                url = self.endpoint.base_url or ""
                # read at the first request: a run that finds all in the journal needs no key
                key = api_key(url)
                self._faults = Faults(openai.APIError, self.endpoint, lambda words: scrub(words, key))
                self._client = openai.OpenAI(
                    # retries are the caller's: it must count them, and give the claim and the budget back between them
                    api_key=key, base_url=url, max_retries=0,
                    timeout=openai.Timeout(self._timeout, connect=min(self._timeout, CONNECT_SECONDS)),
                    http_client=open_http(url, event_hooks=self._hooks()),
                )
            return self._client, self._faults


def read_answer(text: str) -> ModelAnswer:
    """The one choice of a chat completion. Raises CallError (worth a retry) for a body that is none."""
    try:
        body = json.loads(text)
        choice = body["choices"][0]
        message, usage = choice["message"], body.get("usage") or {}
        content = message.get("content")
        finish = str(choice.get("finish_reason") or "stop")
        # models say it in `refusal`, content filters by the finish reason
        refused = bool(message.get("refusal")) or finish == "content_filter"
        used = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise CallError(Failure("server_error", "the endpoint's answer is no chat completion"), again=True, billed=True) from None
    if isinstance(content, list):  # some servers send parts
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ModelAnswer(whole(content) if isinstance(content, str) else "", finish, refused, used[0], used[1])


def read_stream(pieces: Sequence[Any]) -> ModelAnswer:
    """The one choice of a chat completion that came in pieces. Raises CallError where nothing of one came, or not its end."""
    choices = [choice for piece in pieces if (choice := _choice(piece))]
    if not choices:
        what = "the endpoint sent no stream: leave the setting stream out, or ask an endpoint that has it"
        raise CallError(Failure("rejected", what), billed=True)
    finish = next((str(choice["finish_reason"]) for choice in reversed(choices) if choice.get("finish_reason")), None)
    if finish is None:
        raise CallError(Failure("connection", "the stream ended before its reply did"), again=True, billed=True)
    refused = finish == "content_filter" or any(_delta(choice).get("refusal") for choice in choices)
    told = [piece["usage"] for piece in pieces if isinstance(piece, dict) and isinstance(piece.get("usage"), dict)]
    usage: Mapping[str, Any] = told[-1] if told else {}  # the last piece has it
    used = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    return ModelAnswer(whole("".join(map(_content, pieces))), finish, refused, used[0], used[1])


def _choice(piece: Any) -> dict[str, Any]:
    """The one choice of a piece; empty where it has none, as the last one, which tells the tokens."""
    choices = piece.get("choices") if isinstance(piece, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _delta(choice: Mapping[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta")
    return delta if isinstance(delta, dict) else {}


def _content(piece: Any) -> str:
    """The text that a piece of a stream adds."""
    text = _delta(_choice(piece)).get("content")
    return text if isinstance(text, str) else ""


def _count(value: object) -> int | None:
    """A number of tokens, or None for what cannot be one."""
    # counts are added up and go into SQLite's 64-bit integers: one absurd number must not spoil the sums
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


@dataclass(frozen=True)
class Faults:
    """Tells errors apart. Servers' words are looked at and logged at debug level, but never passed on: they may echo texts or keys."""

    family: type[openai.APIError]
    endpoint: Endpoint
    clean: Callable[[str], str]

    def explain(self, error: Any, *, reached: bool, parameters: Mapping[str, Any]) -> CallError | ModelError:
        words = self.clean(f"{getattr(error, 'message', '')} {error.body if isinstance(error.body, str) else ''}")
        log.debug("the endpoint said: %s: %s", type(error).__name__, words)
        status = getattr(error, "status_code", None)
        if status is None:
            return self._unanswered(error, reached)
        code = self._token(error, "code") or self._token(error, "type")
        text = f"{words} {code}"
        if status == 403 and _FILTERED.search(text):  # one flagged text must not end the run
            return CallError(Failure("refused", "the endpoint's content filter refused the request"))
        if status in (401, 403) or (status == 404 and not _FORM.search(text)):
            return self._hopeless(status)
        if status == 402 or (status == 429 and _QUOTA.search(text)):
            return CallError(Failure("budget", f"the account at the endpoint is used up (HTTP {status})"), quota=True)
        if status >= 500 and _FORM.search(text):  # llama-cpp-python says 500 to a form of reply that it does not know
            return CallError(Failure("rejected", f"the endpoint does not know this form of reply (HTTP {status})"), form=True)
        if is_passing(status):
            cause: Cause = "rate_limited" if status == 429 else "timeout" if status == 408 else "server_error"
            return CallError(Failure(cause, f"HTTP {status}"), again=True, wait=asked_wait(error), billed=status in (408, 504))
        return self._refused(status, text, self._token(error, "param"), code, parameters)

    def _token(self, error: Any, name: str) -> str:
        """A machine's word of the error (a code, a parameter's name), or nothing."""
        value = getattr(error, name, None)
        return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w.-]{0,59}", value) and self.clean(value) == value else ""

    def _unanswered(self, error: Any, reached: bool) -> CallError | ModelError:
        # by name: the class is of httpx, or of its successor in newer openai clients
        low = type(error.__cause__).__name__
        # before any answer it is a wrong address, which every other call would meet too; later it is an outage
        if low in ("ConnectError", "ConnectTimeout") and not reached:
            fix = "check the address (--base-url, OPENAI_BASE_URL) and that the server runs"
            return unreachable(f"{self.endpoint.base_url}", error, fix)
        if "Timeout" in type(error).__name__ or "Timeout" in low:
            return CallError(Failure("timeout", "no answer in time"), again=True, billed=low != "ConnectTimeout")
        if is_damaged(error):
            return CallError(Failure("server_error", str(error.__cause__)), billed=True)
        return CallError(Failure("connection", "the connection broke"), again=True, billed=low != "ConnectError")

    def _hopeless(self, status: int) -> ModelError:
        where = self.endpoint.base_url
        if status == 404:
            return ModelError(
                f"{where} knows no model {self.endpoint.model}, or is no OpenAI-compatible endpoint",
                fix="check --model and --base-url; the address usually ends in /v1",
            )
        what = "refuses the key" if status == 401 else f"does not allow this key to use {self.endpoint.model}"
        return ModelError(f"{where} {what}", fix=f"{key_fix()}, and that it belongs to this endpoint")

    def _refused(self, status: int, text: str, param: str, code: str, parameters: Mapping[str, Any]) -> CallError | ModelError:
        if _NO_MODEL.search(text) or _NO_KEY.search(text):  # some endpoints say so with another status than 404 and 401
            return self._hopeless(404 if _NO_MODEL.search(text) else 401)
        if status == 413 or _TOO_LONG.search(text):
            return CallError(Failure("too_long", "the request is longer than the model's context"))
        if param.startswith("response_format") or _FORM.search(text):
            return CallError(Failure("rejected", "the endpoint does not know this form of reply"), form=True)
        if _FILTERED.search(text):
            return CallError(Failure("refused", "the endpoint's content filter refused the request"))
        named = [name for name in parameters if name == param or re.search(rf"\b{re.escape(name)}\b", text)]
        if named and (param or _UNSUPPORTED.search(text)):
            return ModelError(
                f"{self.endpoint.model} does not accept the parameter {', '.join(named)} as it is set (HTTP {status})", fix=_change(named),
            )
        words = " ".join(part for part in (code, param) if part)
        return CallError(Failure("rejected", f"HTTP {status}" + (f" ({words})" if words else "")))


def unreachable(where: str, cause: BaseException, fix: str) -> ModelError:
    """The error of an address where no connection comes about. `fix`: where it is not for the server's certificate."""
    if is_distrusted(cause):
        return ModelError(f"{where}: its certificate is of no authority that is known here", fix=TRUST_FIX)
    return ModelError(f"{where} cannot be reached", fix=fix)


def _change(names: list[str]) -> str:
    words = [f"change or remove {name} in parameters of [model.*] in kgeval.toml" for name in names if name != "temperature"]
    if "temperature" in names:
        words.append('set temperature = "default" in parameters of [model.*] in kgeval.toml: it is then left out of requests')
    if "max_tokens" in names:
        words.append("newer models take max_completion_tokens in place of max_tokens")
    return "; ".join(words)


def is_passing(status: int) -> bool:
    """Whether another attempt may meet another status."""
    return status in (408, 409, 425, 429) or status >= 500


def is_damaged(error: BaseException) -> bool:
    """Whether the reply is damaged, or beyond the limit of deadline.hooks, which names the option: the next would be as large."""
    return type(error.__cause__).__name__ == "DecodingError"


def asked_wait(error: Any) -> float | None:
    """Seconds from retry-after-ms or Retry-After (seconds or a date), or None."""
    from email.utils import parsedate_to_datetime
    from time import time

    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return max(float(headers["retry-after-ms"]) / 1000, 0.0)
        header = headers.get("retry-after")
        if header is None:
            return None
        seconds = float(header) if re.fullmatch(r"\s*[\d.]+\s*", header) else parsedate_to_datetime(header).timestamp() - time()
        return max(seconds, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None
