"""A limit for a whole call. The http client's own limit is between two signs of life: a server that drips would never reach it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

_UNTIL = "kgeval_until"


def _nothing() -> None:
    """No one waits for this moment."""


def hooks(
    seconds: float, *, before: Callable[[], None] = _nothing, answered: Callable[[], None] = _nothing,
) -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks for an httpx client: a body that is still coming `seconds` after its request began is a read time-out.

    `before` is called in the requesting thread just before the request leaves, `answered` when the head of a reply is there.
    """

    def begin(request: Any) -> None:
        before()
        request.extensions[_UNTIL] = time.monotonic() + seconds

    def limit(response: Any) -> None:
        answered()
        library = type(response).__module__.partition(".")[0]  # httpx, or its successor in newer openai clients
        response.stream = _timed(library)(response.stream, response.request)

    return {"request": [begin], "response": [limit]}


# the base class is known only when the client's http library is; made once, as it wraps every response
@cache
def _timed(library: str) -> type[Any]:
    http: Any = import_module(library)
    base: Any = http.SyncByteStream

    class Timed(base):  # type: ignore[misc]
        """A response's stream that ends with an error when its time is over."""

        def __init__(self, stream: Any, request: Any) -> None:
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            for part in self._stream:
                if time.monotonic() > self._request.extensions[_UNTIL]:
                    raise http.ReadTimeout("the reply did not end in time", request=self._request)
                yield part

        def close(self) -> None:
            self._stream.close()

    return Timed
