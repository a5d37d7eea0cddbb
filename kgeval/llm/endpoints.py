"""Where a model is: the address in its one written form, the parameters of a request, the key. The key lives in the client only."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from pydantic import JsonValue

from kgeval.access import KEY_COMMAND, model_key, printed_secrets
from kgeval.config import environment
from kgeval.errors import ModelError, UsageError
from kgeval.llm.calls import Endpoint

DEFAULT_URL = "https://api.openai.com/v1"
SAME_MACHINE = ("localhost", "127.0.0.1", "::1")  # one endpoint under three addresses
_OWN = re.compile(r"[^.]*|.*\.(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)")  # hosts that no public name is
_VERSION = re.compile(r"/v\d+[a-z0-9]*")
LONGEST_NAME = 200
# set by kgeval: a second value would break what is counted, read and kept in the journal
OURS = ("model", "messages", "response_format", "stream", "n", "tools")
_SECRET = re.compile(r"api[-_]?key|secret|password|authorization|header", re.IGNORECASE)
_KEYS = re.compile(r"(?:\bsk-|\bBearer\s+)[^\s\"',}]+", re.IGNORECASE)


def settled(endpoint: Endpoint) -> Endpoint:
    """The endpoint with its address resolved (OPENAI_BASE_URL, else the default), its name, and temperature 0 where none is set.

    `temperature = "default"` leaves the parameter out, for models that accept only their own.

    Raises: UsageError for an address that is none or holds a secret, and for parameters that kgeval sets itself.
    """
    if not endpoint.model.strip() or not endpoint.model.isprintable():
        raise UsageError("the model has no usable name", fix="give it with --model, or as name in [model.*] of kgeval.toml")
    _check_parameters(endpoint.parameters)
    parameters: dict[str, JsonValue] = {"temperature": 0, **endpoint.parameters}
    if parameters["temperature"] == "default":
        del parameters["temperature"]
    url = address(endpoint.base_url or environment("OPENAI_BASE_URL") or DEFAULT_URL)
    return Endpoint(endpoint.model, url, parameters, _checked_name(endpoint.name) or endpoint_name(url))


def _check_parameters(given: Mapping[str, JsonValue]) -> None:
    taken = sorted(set(given) & set(OURS))
    if taken:
        raise UsageError(f"kgeval sets {', '.join(taken)} itself", fix="take it out of parameters in [model.*] of kgeval.toml")
    secret = sorted(name for name in given if _SECRET.search(name))
    if secret:
        raise UsageError(
            f"{', '.join(secret)} cannot be a parameter: parameters are kept in journals and reports",
            fix="take it out of [model.*] of kgeval.toml; the key goes into OPENAI_API_KEY",
        )
    try:
        json.dumps(dict(given), allow_nan=False)
    except ValueError as cause:
        what = "a parameter is nan or inf, which no endpoint takes"
        raise UsageError(what, fix="give a number in parameters in [model.*] of kgeval.toml") from cause


def address(url: str) -> str:
    """An endpoint's address in one form: lower-case scheme and host, no slash at the end."""
    try:
        parts = urlsplit(url.strip())
        wrong = parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong:
        raise UsageError(f"{_shown(url)} is no address of an endpoint", fix="it looks like http://127.0.0.1:8080/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("an endpoint's address must not hold a user, a password or a query", fix="the key goes into OPENAI_API_KEY")
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), "", ""))


def endpoint_in_use(configured_url: str | None, configured_name: str | None, url: str | None) -> str | None:
    """The name that kgeval.toml gives the endpoint at `url`: not where it gives it to another address."""
    other = configured_url is not None and url is not None and endpoint_name(configured_url) != endpoint_name(url)
    return None if other else configured_name


def endpoint_name(url: str) -> str:
    """What an endpoint without a name of its own is called: its host, and what follows it in the address beside the version ("/v1").

    A public host has no port in it. One of one's own (this machine, a private network) keeps it, unless it is the scheme's own: two ports
    are two servers there, often with models of one name. localhost, 127.0.0.1 and ::1 are "localhost".
    """
    parts = urlsplit(address(url))
    host = (parts.hostname or "").rstrip(".")
    port = parts.port if _is_own(host) and parts.port != {"http": 80, "https": 443}[parts.scheme] else None
    named = "localhost" if host in SAME_MACHINE else f"[{host}]" if ":" in host else host
    path = _VERSION.sub("", parts.path) if _VERSION.fullmatch(parts.path[parts.path.rfind("/"):]) else parts.path
    return named + (f":{port}" if port is not None else "") + path


def _is_own(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return _OWN.fullmatch(host) is not None


def _checked_name(name: str | None) -> str | None:
    if name is None:
        return None
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        what = f"endpoint = {name[:50]!r}: no usable name of an endpoint"
        raise UsageError(what, fix=f"give 1 to {LONGEST_NAME} printable characters in [model.*] of kgeval.toml")
    return name.strip()


def is_loopback(url: str | None) -> bool:
    """True for a server on this machine: it needs no key and costs nothing."""
    host = urlsplit(url or "").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def api_key(url: str) -> str:
    """The key for the endpoint: what --key-command prints, else OPENAI_API_KEY. A server on this machine gets a placeholder if there is
    none.

    Raises: ModelError where one is needed and not set; ConfigError where the command prints none.
    """
    command = model_key()
    key = environment("OPENAI_API_KEY") if command is None else command.get()
    if key is None and not is_loopback(url):
        raise ModelError(
            f"{url} needs a key and OPENAI_API_KEY is not set",
            fix=f"set OPENAI_API_KEY (a server of your own that wants none takes any value), or {KEY_COMMAND}: a command that prints it",
        )
    return key or "none-needed"


def key_fix() -> str:
    """The way out where an endpoint refuses its key."""
    command = model_key()
    return "check OPENAI_API_KEY" if command is None else f"run the command of {command.option} by hand: check what it prints"


def scrub(text: str, key: str) -> str:
    """A server's words with anything that looks like a key taken out, in one line of at most 300 characters."""
    for secret in (key, *printed_secrets()):
        text = text.replace(secret, "***") if len(secret) > 3 else text
    return " ".join(_KEYS.sub("***", text).split())[:300]


def _shown(url: str) -> str:
    """An address without its query, and nothing of one with a user or password: both may be secrets."""
    return "(an address with a user or password)" if "@" in url else repr(url.partition("?")[0].partition("#")[0][:100])
