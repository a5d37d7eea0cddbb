"""The http client of every request to a model: whom it trusts, past which proxy, and what it does when the
endpoint refuses a key that a command has printed."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kgeval.access import CommandKey, model_key, names_ca_file, tls_context
from kgeval.errors import KgevalError
from kgeval.llm.endpoints import is_loopback

if TYPE_CHECKING:
    import openai


def open_http(url: str, *, with_key: bool = True, **more: Any) -> openai.DefaultHttpxClient:
    """A client for the endpoint at this address. `with_key`: its requests carry the key of models; false
    where they have another login. `more`: of the client. Raises: ConfigError for a CA file that cannot be
    used."""
    import openai

    if names_ca_file():
        more["verify"] = tls_context()
    command = model_key()
    if command is not None and with_key:
        more["auth"] = _renewing(library_of(openai.DefaultHttpxClient))(command)
    # a server on this machine is never behind a proxy, whatever the environment says
    return openai.DefaultHttpxClient(trust_env=not is_loopback(url), **more)


def library_of(client: type) -> str:
    """The library that the openai client asks with: httpx, or its successor in newer ones, whose own class is
    made from its client."""
    return next(
        base.__module__.partition(".")[0] for base in client.__mro__ if base.__module__.startswith("httpx")
    )


def raise_key_fault(error: Exception) -> None:
    """Raises: the KgevalError of the command that prints the key, where it is what ended this request: the client
    wraps it."""
    if isinstance(error.__cause__, KgevalError):
        raise error.__cause__ from None


@cache
def _renewing(library: str) -> type[Any]:
    base: Any = import_module(library).Auth

    class RenewingKey(base):  # type: ignore[misc]
        """Puts the key that a command prints into each request. After a 401 the command runs again, once, and
        so does the request, if there is another key now. A redirect to another host carries none: the library
        takes it out."""

        def __init__(self, command: CommandKey) -> None:
            self._command = command

        def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
            key = self._command.get()
            request.headers["authorization"] = f"Bearer {key}"
            response = yield request
            if response.status_code == 401 and self._command.renew(key):
                request.headers["authorization"] = f"Bearer {self._command.get()}"
                yield request

    return RenewingKey
