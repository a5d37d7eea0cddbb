"""Calls of the session's client: with a time limit that it does not have, and with errors that say what to do."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from kgeval.errors import ConnectError, QueryError, first_line
from kgeval.graph.failures import QueryTimeout, refuse_if_over, translated

T = TypeVar("T")
HTTP_WAYS_OUT = {
    401: "the key is wrong or was deleted: check AURA_CLIENT_ID and AURA_CLIENT_SECRET",
    403: "no right to it: is Graph Analytics enabled for the organisation, and may the key's user create sessions?",
    404: "is it the right project? set AURA_PROJECT_ID",
    429: "too many requests, or too many sessions at once: wait, or delete sessions in the Aura console",
}


class _Carried:
    """Carries whatever is raised inside over to the thread that waits for the result."""

    def __init__(self, result: Future[Any]) -> None:
        self._result = result

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if error is not None:
            self._result.set_exception(error)
        # swallowed in this thread; `limited` raises it in the one that waits
        return True


def limited(work: Callable[[], T], timeout: float | None) -> T:
    """What the work gives, if it does within `timeout` seconds (None = no limit).

    It runs in a thread of its own, so that the limit and Ctrl-C hold while the client polls; what it left running ends with the session.
    Raises: QueryTimeout; QueryError for what the session or the database refuses.
    """
    refuse_if_over()
    result: Future[T] = Future()

    def run() -> None:
        with _Carried(result):
            result.set_result(work())

    threading.Thread(target=run, name="kgeval-session-call", daemon=True).start()
    with refused(), translated():
        try:
            return result.result(timeout)
        except Late as cause:
            if result.done():  # the client's own time-out, or it was ready just now
                return result.result()
            raise QueryTimeout(f"the session did not answer in {timeout:g} s", fix="raise --timeout") from cause


@contextmanager
def refused() -> Iterator[None]:
    """Errors of the session's client become QueryError."""
    from graphdatascience.session import AuraApiError, SessionStatusError
    from pyarrow import ArrowException
    from requests import RequestException

    try:
        yield
    except (AuraApiError, SessionStatusError, RequestException, ArrowException, TimeoutError) as cause:
        raise QueryError(f"the session: {first_line(cause)}", fix="see the session in the Aura console") from cause


@contextmanager
def asked_of_aura(what: str) -> Iterator[None]:
    """Errors of the Aura API become ConnectError with a way out. `what`: what was asked, for the message. Warnings of the client are silent
    (what matters of them is said by us)."""
    from graphdatascience.session import AuraApiError, SessionStatusError
    from neo4j.exceptions import DriverError, Neo4jError
    from pyarrow import ArrowException
    from requests import RequestException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except AuraApiError as cause:
        fix = HTTP_WAYS_OUT.get(cause.status_code, "the Aura console may say more; kgeval help gds-sessions")
        raise ConnectError(f"Aura: {what} failed: {_short(cause)}", fix=fix) from cause
    except RequestException as cause:
        fix = "does this machine reach api.neo4j.io (a proxy? a firewall?)"
        raise ConnectError(f"Aura cannot be reached: {what} failed: {_short(cause)}", fix=fix) from cause
    except (
        SessionStatusError, RuntimeError, ValueError, KeyError, ArrowException, Neo4jError, DriverError, OSError,
    ) as cause:  # the client's words for the rest
        # the client raises a bare RuntimeError or ValueError for a key of several projects: only its words tell
        several = "multiple" in str(cause)
        fix = "set AURA_PROJECT_ID to the project to use" if several else "see the session in the Aura console; kgeval help gds-sessions"
        raise ConnectError(f"Aura: {what} failed: {_short(cause)}", fix=fix) from cause


def _short(cause: BaseException) -> str:
    return first_line(cause)[:500]
