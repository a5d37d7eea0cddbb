"""Files and batches at the provider, by the openai client."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.errors import ModelError
from kgeval.llm.batch.store import Came
from kgeval.llm.calls import Failure
from kgeval.llm.client import CallError, Faults, read_answer
from kgeval.llm.endpoints import api_key, scrub
from kgeval.llm.rates import backoff
from kgeval.llm.transport import open_http, raise_key_fault

if TYPE_CHECKING:
    import openai
    from openai.types import Batch as Remote

    from kgeval.llm.calls import Endpoint
    from kgeval.llm.schemas import Mode

T = TypeVar("T")
log = logging.getLogger("kgeval.llm")
TRIES = 5
# a file may have 200 MB
UPLOAD_SECONDS = 600.0
MARK = "kgeval"
# newest first: a batch that was just created is not behind so many others
LOOKED_THROUGH = 500
NO_BATCHES = "leave out --batch: the same run asks live"
LATER = "batches that were sent go on at the provider: the same command picks them up"


class AwayError(ModelError):
    """The provider cannot be reached, or has trouble, for now."""


class GoneError(ModelError):
    """The provider knows no such file or batch."""


class Wire:
    """The batch endpoints of one provider. A context manager. Raises: ModelError where a key is needed and not set, and for what
    cannot be fixed by waiting."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, sleep: Callable[[float], object] = time.sleep) -> None:
        import openai

        self._endpoint, self._sleep = endpoint, sleep
        url = endpoint.base_url or ""
        key = api_key(url)
        self._faults = Faults(openai.APIError, endpoint, lambda words: scrub(words, key))
        self._client: openai.OpenAI = openai.OpenAI(
            api_key=key, base_url=url, max_retries=0, timeout=timeout,
            http_client=open_http(url),
        )

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def upload(self, path: Path) -> str:
        """Uploads a file of requests. Returns its id."""
        def send() -> str:
            with path.open("rb") as file:
                return self._client.files.create(file=file, purpose="batch", timeout=UPLOAD_SECONDS).id

        return self._again(send)

    def create(self, file: str, name: str, window: Any) -> str:
        """Starts a batch, once: where the answer to that is lost, the batch is looked for before it is started again."""
        for attempt in range(1, TRIES + 1):
            # first of all, also at the first try: the run that created it may have been killed before it could write down the id
            batch = self.find(file, name)
            if batch is not None:
                return batch
            try:
                return self._once(lambda: self._client.batches.create(
                    input_file_id=file, endpoint="/v1/chat/completions", completion_window=window, metadata={MARK: name},
                )).id
            except CallError as error:
                self._wait(error, attempt)
        raise AwayError(f"{self._endpoint.base_url}: no batch can be started now", fix=LATER)

    def find(self, file: str, name: str) -> str | None:
        """The batch of a file that is there already; one that failed does not count."""
        def look() -> str | None:
            for index, batch in enumerate(self._client.batches.list(limit=100)):
                ours = batch.input_file_id == file or (batch.metadata or {}).get(MARK) == name
                if ours and batch.status != "failed":
                    return batch.id
                if index >= LOOKED_THROUGH:
                    break
            return None

        return self._again(look)

    def look(self, batch: str) -> Remote:
        """The batch as it stands, asked once: who waits looks again. Raises: AwayError, GoneError."""
        try:
            return self._once(lambda: self._client.batches.retrieve(batch))
        except CallError as error:
            raise self._hopeless(error) from None

    def cancel(self, batch: str) -> Remote:
        """Asks the provider to stop; what is done is still given out."""
        return self._again(lambda: self._client.batches.cancel(batch))

    def download(self, file: str, path: Path) -> int:
        """Downloads a file of results to `path`. Returns how many whole lines it has."""
        def get() -> None:
            # the client would make the file readable for all: replies quote the user's texts
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
            with self._client.files.with_streaming_response.content(file, timeout=UPLOAD_SECONDS) as response:
                library = import_module(type(response.http_response).__module__.partition(".")[0])  # httpx, or its successor
                try:
                    response.stream_to_file(path)
                except library.HTTPError:  # after the head of a response the client passes on what broke as it is
                    raise CallError(Failure("connection", "the connection broke"), again=True) from None

        self._again(get)
        with path.open("rb") as results:
            return sum(_whole(line) for line in results)

    def delete(self, file: str) -> None:
        """Deletes a file, if that can be done."""
        try:
            self._once(lambda: self._client.files.delete(file))
        # the replies are taken in already; a file left at the provider is no reason to end a run
        except (CallError, ModelError):
            log.info("the provider's file %s could not be deleted", file)

    def read(self, raw: bytes, mode_of: Callable[[str], Mode | None]) -> Came | ModelError | None:
        """One line of results; None for one that is none, or whose request is not ours. A ModelError: what every request would get."""
        try:
            line = json.loads(raw)
            # the provider may write anything here: one strange line must not lose the others
            key, response, error = str(line["custom_id"]), line.get("response") or {}, line.get("error")
            status, body = int(response.get("status_code") or 0), response.get("body")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        mode = mode_of(key)
        if mode is None:
            return None
        if status == 200 and not error:
            try:
                answer = read_answer(json.dumps(body))
            except CallError:
                return Came(key, mode, cause="server_error", again=True)
            return Came(key, mode, answer.text, answer.finish, answer.refused, answer.input_tokens, answer.output_tokens)
        if not status:  # the provider never sent it: the batch expired or was cancelled
            return Came(key, mode, cause="server_error", again=True)
        fault = self._explained(status, body)
        if isinstance(fault, ModelError):
            return fault
        return Came(key, mode, cause=fault.failure.cause, again=fault.again, form=fault.form)

    def _explained(self, status: int, body: Any) -> CallError | ModelError:
        """An error of one line, told apart as one of a live call is."""
        error_body = body.get("error") if isinstance(body, dict) else None
        words = error_body if isinstance(error_body, dict) else {}
        # what Faults reads of the openai client's errors: one rule tells faults apart, live or in a batch
        error = SimpleNamespace(
            status_code=status, body=body, message=str(words.get("message", "")), response=SimpleNamespace(headers={}),
            **{name: words.get(name) for name in ("code", "type", "param")},
        )
        return self._faults.explain(error, reached=True, parameters=self._endpoint.parameters)

    def _again(self, call: Callable[[], T]) -> T:
        for attempt in range(1, TRIES):
            try:
                return self._once(call)
            except CallError as error:
                self._wait(error, attempt)
        try:
            return self._once(call)
        except CallError as error:
            raise self._hopeless(error) from None

    def _wait(self, error: CallError, attempt: int) -> None:
        if not error.again:
            raise self._hopeless(error)
        self._sleep(backoff(attempt, asked=error.wait))

    def _once(self, call: Callable[[], T]) -> T:
        import openai

        try:
            return call()
        except openai.APIError as error:
            raise_key_fault(error)
            # before Faults: it takes 404 for an unknown model
            if getattr(error, "status_code", None) in (404, 405, 501):
                raise GoneError(f"{self._endpoint.base_url} has no such file or batch, or no batch endpoints", fix=NO_BATCHES) from None
            fault = self._faults.explain(error, reached=True, parameters=self._endpoint.parameters)
            log.info("a request for batches failed: %s", fault)
            raise fault from None

    def _hopeless(self, error: CallError) -> ModelError:
        if error.again:
            return AwayError(f"{self._endpoint.base_url}: batches cannot be used now: {error.failure.detail}", fix=LATER)
        return ModelError(f"{self._endpoint.base_url}: batches cannot be used: {error.failure.detail}", fix=NO_BATCHES)


def _whole(line: bytes) -> bool:
    """Whether a line came to its end; the last one may have no newline, but then it is JSON."""
    if line.endswith(b"\n"):
        return True
    try:
        return bool(json.loads(line))
    except (ValueError, RecursionError):
        return False


def request_line(key: str, body: dict[str, Any]) -> bytes:
    """One line of a file of requests."""
    line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"
