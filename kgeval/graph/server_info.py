"""What a server is, read once when it is connected to; every reason why it cannot be used is said at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgeval.errors import ConnectError, first_line
from kgeval.graph.login import refused_login, trust_fix
from kgeval.graph.pipelining import ReadAnswer, ReadRequest, send_together
from kgeval.graph.privileges import OWN_PRIVILEGES, hidden_parts
from kgeval.graph.sessions import quiet
from kgeval.records import ServerInfo

if TYPE_CHECKING:
    import neo4j
    from neo4j.exceptions import Neo4jError

    from kgeval.graph.connect import Address

SLOWEST = 50.0  # seconds that a server has to say what it is: one that has just started loads what it is asked for
DRIVER = "the driver"  # where an address came from: a driver of the caller's
OLDEST_NEO4J = (5, 26)
WHAT = (
    "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version, edition",
    "CALL db.info() YIELD name RETURN name", "RETURN gds.version() AS v",
)
GDS_LINES = {"5.26": "2.13", "2026.01": "2.26"}
INSTALL_GDS = "install the GDS plugin that fits this Neo4j (5.26 needs 2.13), or unset NEO4J_URI to use the embedded server"
NO_GDS_FIX = (
    f"{INSTALL_GDS}; "
    "without GDS the checks and figures named by `kgeval doctor` are skipped"
)


def inspect(driver: neo4j.Driver, address: Address) -> ServerInfo:
    """What the server is; every reason why it cannot be used becomes a ConnectError."""
    from neo4j.exceptions import AuthError, ClientError, ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

    who = f"{address.shown} (from {address.source})"
    try:
        with quiet(driver, address.database, limit=SLOWEST) as session:
            kernel, database, *gds = _told(session)
            privileges = _privileges(session) if kernel["edition"] != "community" else []
    except AuthError as cause:
        if address.source == DRIVER:
            raise ConnectError(f"{who}: Neo4j refuses its user or password", fix="open a driver with the right ones") from cause
        what, fix = refused_login(address)
        raise ConnectError(f"{who}: {what}", fix=fix) from cause
    except ClientError as cause:
        if "DatabaseNotFound" in (cause.code or ""):
            message = f"{who}: there is no database '{address.database}'"
            raise ConnectError(message, fix="set --database or NEO4J_DATABASE; SHOW DATABASES lists them") from cause
        if "AuthenticationRateLimit" in (cause.code or ""):
            message = f"{who}: Neo4j takes no password now, for there were too many wrong ones"
            raise ConnectError(message, fix="wait some seconds; then set NEO4J_USERNAME and the right NEO4J_PASSWORD") from cause
        raise ConnectError(f"{who}: {cause.message}", fix="is it a user database? see the server's log") from cause
    except Neo4jError as cause:
        raise ConnectError(f"{who}: {cause.message}", fix="the database may be starting or down: SHOW DATABASES tells") from cause
    except (ServiceUnavailable, ConfigurationError, DriverError, OSError, ValueError) as cause:
        if isinstance(cause, ConfigurationError) and "Bolt Protocol" in str(cause):  # its protocol lacks what the driver shall do
            raise ConnectError(f"{who}: this Neo4j is too old: {first_line(cause)}", fix="kgeval needs Neo4j 5.26 or later") from cause
        message = f"{who}: Neo4j cannot be reached: {first_line(cause).rstrip(' :')}"
        raise ConnectError(message, fix=trust_fix(cause) or _reach_fix(address)) from cause
    version = str(kernel["version"])
    if _numbers(version) < OLDEST_NEO4J:
        raise ConnectError(f"{who}: Neo4j {version} is too old", fix="kgeval needs Neo4j 5.26 or later")
    return ServerInfo(
        uri=address.shown, database=database["name"], neo4j=version, edition=str(kernel["edition"]), gds=str(gds[0]["v"]) if gds else None,
        aura="aura" in version.lower() or "databases.neo4j.io" in address.uri, embedded=address.embedded,
        hidden=hidden_parts(privileges, database["name"]),
    )


def _privileges(session: neo4j.Session) -> list[dict[str, Any]]:
    """What this user may do; nothing where the server does not say it."""
    from neo4j.exceptions import ClientError

    try:
        return session.run(OWN_PRIVILEGES).data()
    except ClientError:
        return []


def _told(session: neo4j.Session) -> list[Mapping[str, Any]]:
    """The row of each query of WHAT; of the last one none where the server knows no such function, or this user may not call it. Raises:
    ClientError for whatever else ends it: a time limit says nothing of what is installed."""
    from neo4j.exceptions import ClientError

    answers: list[ReadAnswer] = []
    try:
        send_together(session, [ReadRequest(text) for text in WHAT], answers)
    except ClientError as cause:
        if len(answers) < len(WHAT) - 1 or not lacks_gds(cause):
            raise
    return [answer.rows()[0] for answer in answers]


def lacks_gds(cause: Neo4jError) -> bool:
    """Whether this answer to `gds.version()` means that there is no GDS here, or none for this user; else the query was ended or failed."""
    return (cause.code or "").startswith(("Neo.ClientError.Statement.", "Neo.ClientError.Security.Forbidden"))


def gds_warning(info: ServerInfo) -> str | None:
    """What is wrong with the server's GDS: missing, or of another line than Neo4j's. None if nothing is."""
    if info.gds is None:
        where = " (Aura: switch on Graph Analytics, or kgeval audit --gds-session)" if info.aura else ""
        return f"GDS is missing{where}: components, clustering, communities and the checks that need them are skipped"
    line = ".".join(info.neo4j.split(".")[:2])
    fits = GDS_LINES.get(line)
    if fits and not info.gds.startswith(fits + "."):
        return f"GDS {info.gds} is not of the line made for Neo4j {line} ({fits}.x): figures that need GDS may fail"
    return None


def view_notes(info: ServerInfo) -> list[str]:
    """What a reader must know where the user sees a part of the database only; nothing where all is seen."""
    if not info.hidden:
        return []
    what = "; ".join(info.hidden)
    return [f"partial view: user rights hide a part of the database ({what}); counts are of the rest, and what looks missing may be hidden"]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])


def _reach_fix(address: Address) -> str:
    if address.source == DRIVER:
        return "open a new driver: see whether this one is closed, and whether its server runs"
    if address.embedded:
        return "kgeval server status; kgeval server logs; kgeval server stop and start"
    return "check that the server runs and that the address and scheme are right; unset NEO4J_URI to use the embedded server"
