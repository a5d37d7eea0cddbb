"""What opens the way to Neo4j and to models beside a password and a key: commands that print a secret,
certificates.

All of it comes from flags of `kgeval` itself, or from variables of the environment, never from a kgeval.toml:
that may come from somebody else, and a command is code. A flag sets the variable for this process and those
that it starts, as `kgeval --file-limit` does.
"""

from __future__ import annotations

import shlex
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from kgeval.config import environment
from kgeval.errors import ConfigError
from kgeval.limits import variables_set

CA_FILE = "KGEVAL_CA_FILE"
KEY_COMMAND = "KGEVAL_KEY_COMMAND"
NEO4J_KEY_COMMAND = "KGEVAL_NEO4J_KEY_COMMAND"
NEO4J_AUTH = "KGEVAL_NEO4J_AUTH"
CLIENT_CERTIFICATE, CLIENT_KEY, CLIENT_KEY_PASSWORD = (
    "NEO4J_CLIENT_CERTIFICATE",
    "NEO4J_CLIENT_KEY",
    "NEO4J_CLIENT_KEY_PASSWORD",
)
SECONDS = 60.0  # that a command may take: some ask a person
LONGEST = 32_768  # characters of a secret

AuthKind = Literal["password", "bearer", "kerberos", "none"]
SECRETS: Mapping[AuthKind, str] = {
    "password": "NEO4J_PASSWORD",
    "bearer": "NEO4J_BEARER_TOKEN",
    "kerberos": "NEO4J_KERBEROS_TICKET",
}
_printed: set[str] = set()  # what commands have printed: it is taken out of servers' words


@dataclass
class CommandKey:
    """The secret that a command prints. It runs at the first `get`, and in `renew`. Thread-safe. `option`:
    for messages."""

    option: str
    command: str = field(repr=False)
    _secret: str | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def get(self) -> str:
        """The secret. Raises: ConfigError where the command prints none."""
        with self._lock:
            if self._secret is None:
                self._secret = self._run()
            return self._secret

    def renew(self, refused: str) -> bool:
        """After a server has refused this secret: whether there is another one now. The command runs again,
        unless it has since then. Raises: as `get`."""
        with self._lock:
            if self._secret in (refused, None):
                self._secret = self._run()
            return self._secret != refused

    def _run(self) -> str:
        """What the command prints. Its stderr is this process's: it may have to tell a person what to do. No
        shell; no input."""
        fix = "run it by hand: it must print the secret, and nothing else, on one line of stdout"
        try:
            words = shlex.split(self.command)
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise ConfigError(
                f"{self.option}: the command did not end within {SECONDS:g} s", fix=fix
            ) from None
        except (OSError, ValueError, IndexError) as cause:  # their words hold no part of the line
            why = cause.strerror if isinstance(cause, OSError) else str(cause)
            raise ConfigError(f"{self.option}: the command cannot be run: {why}", fix=fix) from None
        if done.returncode:
            raise ConfigError(f"{self.option}: the command ended with exit code {done.returncode}", fix=fix)
        secret = done.stdout.decode("utf-8", errors="replace").strip()
        if not secret or len(secret) > LONGEST or not secret.isascii() or not secret.isprintable():
            what = "nothing" if not secret else "something else than one line of printable ASCII"
            raise ConfigError(f"{self.option}: the command printed {what}", fix=fix)
        _printed.add(secret)
        return secret


def model_key() -> CommandKey | None:
    """The command that prints the key of models; None where there is none."""
    return _command_key("--key-command", KEY_COMMAND)


def neo4j_key() -> CommandKey | None:
    """The command that prints what Neo4j is logged in with; None where there is none."""
    return _command_key("--neo4j-key-command", NEO4J_KEY_COMMAND)


def _command_key(option: str, variable: str) -> CommandKey | None:
    command = environment(variable)
    return None if command is None else _kept_key(f"{option} ({variable})", command)


@cache
def _kept_key(option: str, command: str) -> CommandKey:
    return CommandKey(option, command)


def printed_secrets() -> list[str]:
    """What commands have printed so far, the longest first."""
    return sorted(_printed, key=len, reverse=True)


def neo4j_auth() -> AuthKind:
    """How Neo4j is logged in to: as KGEVAL_NEO4J_AUTH says, else by the secret that is set. Raises:
    ConfigError where several are."""
    said = environment(NEO4J_AUTH)
    if said is not None:
        found = next((kind for kind in get_args(AuthKind) if kind == said.strip().lower()), None)
        if found is None:
            raise ConfigError(
                f"--neo4j-auth ({NEO4J_AUTH}): there is no kind {said!r}",
                fix=f"one of {', '.join(get_args(AuthKind))}",
            )
        return found  # type: ignore[no-any-return]
    kinds = [kind for kind, variable in SECRETS.items() if environment(variable) is not None]
    if len(kinds) > 1:
        names = " and ".join(SECRETS[kind] for kind in kinds)
        raise ConfigError(
            f"{names} are set, and Neo4j takes one",
            fix=f"unset the others, or choose: kgeval --neo4j-auth {kinds[-1]} ...",
        )
    return kinds[0] if kinds else "password"


def names_ca_file() -> bool:
    """Whether KGEVAL_CA_FILE is set: else libraries trust what they trust by themselves."""
    return environment(CA_FILE) is not None


def tls_context(*, verify: bool = True) -> ssl.SSLContext:
    """What TLS connections trust: the system's certificates and those of KGEVAL_CA_FILE. `verify`: false
    trusts whatever comes. Raises: ConfigError for a file that is not there or holds no certificate."""
    context, file = ssl.create_default_context(), environment(CA_FILE)
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if not verify or file is None:
        return context
    try:
        _add_bundled(context)
        context.load_verify_locations(file)
    except OSError as cause:  # an SSLError is one
        fix = "a file of certificates in PEM form is needed"
        raise _unusable(f"--ca-file ({CA_FILE})", file, cause, fix) from None
    return context


def _add_bundled(context: ssl.SSLContext) -> None:
    """Adds the certificates that the http client brings: a container may have none of its own."""
    try:
        import certifi
    except ImportError:
        return
    context.load_verify_locations(certifi.where())


def has_client_certificate() -> bool:
    """Whether NEO4J_CLIENT_CERTIFICATE is set."""
    return environment(CLIENT_CERTIFICATE) is not None


def load_client_certificate(context: ssl.SSLContext) -> None:
    """Puts the certificate and key that the environment names into the context. Raises: ConfigError for what
    cannot be loaded."""
    certificate, key = environment(CLIENT_CERTIFICATE), environment(CLIENT_KEY)
    for variable, file in ((CLIENT_CERTIFICATE, certificate), (CLIENT_KEY, key)):
        if file is not None and not Path(file).is_file():
            raise ConfigError(f"{variable}: {file}: no such file", fix="give the path of a file in PEM form")
    password = environment(CLIENT_KEY_PASSWORD) or ""  # without one, OpenSSL would ask on the terminal
    try:
        context.load_cert_chain(str(certificate), key, password=lambda: password)
    except OSError as cause:
        fix = f"{CLIENT_CERTIFICATE} and {CLIENT_KEY} must belong together; {CLIENT_KEY_PASSWORD} opens the key"
        both = f"{certificate} with {key or 'the key in it'}"
        raise _unusable(CLIENT_CERTIFICATE, both, cause, fix) from None


def _unusable(option: str, file: str, cause: OSError, fix: str) -> ConfigError:
    reason = cause.reason if isinstance(cause, ssl.SSLError) else None
    why = reason or cause.strerror or type(cause).__name__
    return ConfigError(f"{option}: {file} cannot be used: {why}", fix=fix)


def is_distrusted(cause: BaseException | None) -> bool:
    """Whether a connection did not come about because nobody vouches for the other end's certificate."""
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


TRUST_FIX = f"name the file of the authority that signed it: kgeval --ca-file FILE COMMAND ..., or {CA_FILE}"


@contextmanager
def access_in_force(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Sets variables of this process and of those that it starts, as far as they are given. Raises:
    ConfigError for what cannot be used."""
    given = {name: value for name, value in variables.items() if value is not None}
    with variables_set(given):
        tls_context()
        yield
