"""How the driver logs in to Neo4j, and whom it trusts: user and password, a bearer token, a Kerberos ticket
or nothing; a secret that expires and is printed anew by a command; a client certificate; a CA file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgeval.access import (
    CLIENT_CERTIFICATE,
    NEO4J_AUTH,
    SECRETS,
    TRUST_FIX,
    AuthKind,
    CommandKey,
    has_client_certificate,
    is_distrusted,
    load_client_certificate,
    names_ca_file,
    neo4j_auth,
    neo4j_key,
    tls_context,
)
from kgeval.config import environment
from kgeval.errors import ConfigError, ConnectError

if TYPE_CHECKING:
    from collections.abc import Callable

    import neo4j
    from neo4j.auth_management import AuthManager

    from kgeval.graph.connect import Address

NAMES = {
    "password": "password",
    "bearer": "bearer token",
    "kerberos": "Kerberos ticket",
    "none": "login without a secret",
}


def find_secret(ask: Callable[[], str] | None) -> tuple[AuthKind, str, CommandKey | None]:
    """How a database that a user names is logged in to: the kind; the secret, "" where there is none; the
    command that prints it. `ask`: asks a person for a password. Raises: ConfigError for settings that exclude
    each other, or lack the secret."""
    kind, command = neo4j_auth(), neo4j_key()
    if command is not None and kind == "none":
        raise ConfigError(
            f"{command.option} prints a secret, and --neo4j-auth ({NEO4J_AUTH}) none wants none",
            fix="leave one of them out",
        )
    if command is not None or kind == "none":
        return kind, "", command
    secret = environment(SECRETS[kind])
    if secret is None and kind != "password":
        raise ConfigError(
            f"--neo4j-auth ({NEO4J_AUTH}) is {kind}, and there is no {NAMES[kind]}",
            fix=f"set {SECRETS[kind]}",
        )
    if secret is None:
        secret = ask() if ask is not None else ""
    return kind, secret, None


def auth_of(address: Address) -> neo4j.Auth | AuthManager | None:
    """What the driver logs in with. A secret that a command prints is asked for anew when the server refuses
    it, or says that it expired; the driver then logs in again, open connections too."""
    from neo4j.auth_management import AuthManagers, ExpiringAuth

    command = address.key_command
    if command is None:
        return _auth(address, address.password)
    last: list[str] = []

    def provide() -> ExpiringAuth:
        """Called by the driver, one thread at a time: at first, and for each refusal."""
        if last:
            command.renew(last[0])
        last[:] = [command.get()]
        return ExpiringAuth(_auth(address, last[0]))

    return AuthManagers.bearer(provide)  # of all kinds: it knows both ways in which a server refuses a secret


def _auth(address: Address, secret: str) -> neo4j.Auth | None:
    import neo4j

    match address.auth:
        case "bearer":
            return neo4j.bearer_auth(secret)
        case "kerberos":
            return neo4j.kerberos_auth(secret)
        case "none":
            return None
        case _:
            return neo4j.basic_auth(address.username, secret)


def password_of(address: Address) -> str:
    """The password, for a client that takes nothing else. Raises: ConnectError for another kind of login;
    ConfigError where the command prints none."""
    if address.auth != "password":
        raise ConnectError(
            f"a session of Aura needs user and password, not a {NAMES[address.auth]}",
            fix="leave --gds-session out",
        )
    return address.password if address.key_command is None else address.key_command.get()


def transport_of(address: Address) -> tuple[str, dict[str, Any]]:
    """The address for the driver, and what it is told of TLS: nothing, unless a CA file or a client
    certificate is named. Raises: ConfigError for files that cannot be used; ConnectError for a certificate
    that would never be shown."""
    scheme, _, rest = address.uri.partition("://")
    plain, _, security = scheme.partition("+")
    if not security and has_client_certificate() and not address.embedded:
        raise ConnectError(
            f"{address.uri}: {CLIENT_CERTIFICATE} is set, and this address is not encrypted: nobody would see it",
            fix=f"use {plain}+s://, or unset {CLIENT_CERTIFICATE}",
        )
    if not security or not (names_ca_file() or has_client_certificate()):
        return address.uri, {}
    context = tls_context(verify=security == "s")
    if has_client_certificate():
        load_client_certificate(context)
    # the driver takes a context of one's own with the plain schemes only
    return f"{plain}://{rest}", {"encrypted": True, "ssl_context": context}


def refused_login(address: Address) -> tuple[str, str]:
    """What a server says no to, and the way out, for messages."""
    name, command = NAMES[address.auth], address.key_command
    if address.auth == "none":
        return (
            "Neo4j wants a login, and --neo4j-auth none gives it none",
            f"set NEO4J_PASSWORD, and unset {NEO4J_AUTH}",
        )
    if command is not None:
        return (
            f"Neo4j refuses the {name} that {command.option} prints",
            "run the command by hand: what it prints must hold now",
        )
    if address.auth != "password":
        return (
            f"Neo4j refuses the {name}",
            f"set {SECRETS[address.auth]} to one that holds, or name a command: kgeval --neo4j-key-command",
        )
    if not address.password:
        return "no password is given, and Neo4j wants one", "set NEO4J_PASSWORD"
    return f"Neo4j refuses user '{address.username}' or the password", "set NEO4J_USERNAME and NEO4J_PASSWORD"


def trust_fix(cause: BaseException) -> str | None:
    """The way out where nobody vouches for the server's certificate; None where that is not it."""
    if not is_distrusted(cause):
        return None
    return f"{TRUST_FIX}; or use neo4j+ssc://, which trusts whatever certificate comes"
