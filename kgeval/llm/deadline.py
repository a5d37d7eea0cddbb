"""Limits for a whole call. The http client's own limit of time is between two signs of life: a server that drips would never reach it. And
it holds a reply whole, however much a few compressed bytes of it unpack to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from kgeval.limits import file_limits, too_large

_UNTIL = "kgeval_until"


def _nothing() -> None:
    """No one waits for this moment."""


def hooks(
    seconds: float, *, before: Callable[[], None] = _nothing, answered: Callable[[], None] = _nothing,
) -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks for an httpx client: a body that is still coming `seconds` after its request began is a read time-out, one that unpacks
    to more than the limit of files a decoding error.

    `before` is called in the requesting thread just before the request leaves, `answered` when the head of a reply is there.
    """

    def begin(request: Any) -> None:
        before()
        request.extensions[_UNTIL] = time.monotonic() + seconds

    def limit(response: Any) -> None:
        answered()
        library = type(response).__module__.partition(".")[0]  # httpx, or its successor in newer openai clients
        response.stream = _bounded(library)(response)
        # it comes unpacked from there
        response.headers.pop("content-encoding", None)

    return {"request": [begin], "response": [limit]}


# the base class is known only when the client's http library is; made once, as it wraps every response
@cache
def _bounded(library: str) -> type[Any]:
    http: Any = import_module(library)
    base: Any = http.SyncByteStream

    class Bounded(base):  # type: ignore[misc]
        """A response's stream, unpacked, that ends with an error when its time is over or too much has come."""

        def __init__(self, response: Any) -> None:
            self._stream, self._request = response.stream, response.request
            # the library's own decoders, which are reached through a response only
            self._packed = http.Response(response.status_code, headers=response.headers, stream=self._stream, request=self._request)

        def __iter__(self) -> Iterator[bytes]:
            most, come = file_limits().unpacked, 0
            for part in self._packed.iter_bytes():
                come += len(part)
                if time.monotonic() > self._request.extensions[_UNTIL]:
                    raise http.ReadTimeout("the reply did not end in time", request=self._request)
                if come > most:
                    raise http.DecodingError(too_large("the reply", "unpacks to more than that", "unpacked").message, request=self._request)
                yield part

        def close(self) -> None:
            self._stream.close()

    return Bounded
