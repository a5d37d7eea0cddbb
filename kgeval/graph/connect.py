"""Connects to Neo4j and says at once and clearly what is wrong. Reads are routed READ: the server refuses writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgeval.errors import ConnectError, QueryError, first_line
from kgeval.records import ServerInfo

if TYPE_CHECKING:
    import neo4j
    from graphdatascience import GraphDataScience

    from kgeval.graph.queries import Query
    from kgeval.graph.reading import ReadingDriver

OLDEST_NEO4J = (5, 26)
GDS_LINES = {"5.26": "2.13", "2026.01": "2.26"}
SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
Row = dict[str, Any]


@dataclass(frozen=True)
class Address:
    """Where Neo4j is and how to log in. `source` says where the address came from, for messages."""

    uri: str
    username: str
    password: str
    database: str | None = None
    source: str = "the command line"
    embedded: bool = False

    def __repr__(self) -> str:
        return f"Address({self.uri!r}, {self.username!r}, database={self.database!r})"


class QueryTimeout(QueryError):
    """The server stopped a query at its time limit."""


class ConnectionLost(QueryError):
    """The server went away in the middle; nothing more can be asked."""


class Graph:
    """An open connection to one database. `read` can never write: the server itself refuses it (READ routing)."""

    def __init__(self, driver: neo4j.Driver, info: ServerInfo, address: Address) -> None:
        self._driver = driver
        self._address = address
        self._gds: GraphDataScience | None = None
        self._reading: ReadingDriver | None = None
        self.info = info

    def read(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> list[Row]:
        """The rows of a query as dicts, in a READ transaction.

        Raises: QueryTimeout at the time limit (seconds), QueryError with the server's words otherwise.
        """
        import neo4j

        with self._driver.session(database=self.info.database, default_access_mode=neo4j.READ_ACCESS) as session:
            return _run(session.execute_read, _text(query), dict(params or {}), timeout)

    def read_lists(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Row:
        """The one row of a query whose columns are long lists of numbers, in a READ transaction. The lists come as the driver made
        them: `read` would look at each number once more, which takes longer than the query.

        Raises: as `read`; QueryError if there is not exactly one row.
        """
        import neo4j

        with self._driver.session(database=self.info.database, default_access_mode=neo4j.READ_ACCESS) as session:
            rows = _run(session.execute_read, _text(query), dict(params or {}), timeout, convert=dict)
        if len(rows) != 1:
            raise QueryError(f"{len(rows)} rows came back where there must be one", fix="see the server's log")
        return rows[0]

    def stream(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Iterator[Row]:
        """The rows of a query one by one, in a READ transaction, in flat memory. Not retried."""
        import neo4j

        with self._driver.session(
            database=self.info.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=5000
        ) as session, translated(), session.begin_transaction(timeout=timeout) as tx:
            for record in tx.run(_text(query), dict(params or {})):
                yield record.data()

    def write(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> list[Row]:
        """The rows of a writing query. Only importers and an explicit write-back call this."""
        with self._driver.session(database=self.info.database) as session:
            return _run(session.execute_write, _text(query), dict(params or {}), timeout)

    def schema_command(self, query: str | Query) -> None:
        """Runs an index or constraint command of our own layout. Only importers call this."""
        with self._driver.session(database=self.info.database) as session, translated():
            session.run(_text(query)).consume()

    @property
    def gds(self) -> GraphDataScience:
        """The graphdatascience client on this connection. Raises ConnectError where the server has no GDS."""
        self.need_gds()
        if self._gds is None:
            from graphdatascience import GraphDataScience

            from kgeval.graph.reading import ReadingDriver

            self._reading = ReadingDriver(self._driver)
            self._gds = GraphDataScience(self._reading, database=self.info.database, arrow=False)
        return self._gds

    def need_gds(self) -> None:
        """Raises: ConnectError where the server has no GDS."""
        if self.info.gds is None:
            raise ConnectError("this server has no Graph Data Science plugin", fix=NO_GDS_FIX)

    def limit_gds(self, timeout: float | None) -> None:
        """Gives every later call of the GDS client this time limit in seconds (null = none)."""
        if self.gds and self._reading:
            self._reading.timeout = timeout

    def close(self) -> None:
        """Closes the driver."""
        self._driver.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


INSTALL_GDS = "install the GDS plugin that fits this Neo4j (5.26 needs 2.13), or unset NEO4J_URI to use the embedded server"
NO_GDS_FIX = (
    f"{INSTALL_GDS}; "
    "without GDS the checks and figures named by `kgeval doctor` are skipped"
)


def open_graph(address: Address, *, timeout: float = 10.0) -> Graph:
    """A checked connection.

    Raises: ConnectError: not reachable, wrong password, database missing, Neo4j older than 5.26.
    """
    import neo4j

    if "@" in address.uri:
        raise ConnectError(
            "the address holds a user or password",
            fix="write the address without them; set NEO4J_USERNAME and NEO4J_PASSWORD",
        )
    if address.uri.partition("://")[0] not in SCHEMES:
        raise ConnectError(f"{address.uri}: not a Neo4j address", fix="use neo4j://, neo4j+s:// or bolt://host:port")
    try:
        driver = neo4j.GraphDatabase.driver(
            address.uri, auth=(address.username, address.password), notifications_min_severity="OFF",
            connection_timeout=timeout, user_agent="kgeval", max_transaction_retry_time=5.0,
        )
    except (ValueError, neo4j.exceptions.DriverError) as cause:
        raise ConnectError(f"{address.uri}: not a Neo4j address: {cause}", fix="use neo4j://, neo4j+s:// or bolt://host:port") from cause
    try:
        return Graph(driver, _inspect(driver, address), address)
    except BaseException:
        driver.close()
        raise


def _inspect(driver: neo4j.Driver, address: Address) -> ServerInfo:
    """What the server is; every reason why it cannot be used becomes a ConnectError."""
    import neo4j
    from neo4j.exceptions import AuthError, ClientError, ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

    who = f"{address.uri} (from {address.source})"
    try:
        with driver.session(database=address.database, default_access_mode=neo4j.READ_ACCESS) as session:
            row = session.run(
                "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' "
                "RETURN versions[0] AS version, edition"
            ).single(strict=True)
            database = session.run("CALL db.info() YIELD name RETURN name").single(strict=True)["name"]
            gds = _gds_version(session)
    except AuthError as cause:
        message = f"{who}: Neo4j refuses user '{address.username}' or the password"
        raise ConnectError(message, fix="set NEO4J_USERNAME and NEO4J_PASSWORD") from cause
    except ClientError as cause:
        if "DatabaseNotFound" in (cause.code or ""):
            message = f"{who}: there is no database '{address.database}'"
            raise ConnectError(message, fix="set --database or NEO4J_DATABASE; SHOW DATABASES lists them") from cause
        raise ConnectError(f"{who}: {cause.message}", fix="is it a user database? see the server's log") from cause
    except Neo4jError as cause:
        raise ConnectError(f"{who}: {cause.message}", fix="the database may be starting or down: SHOW DATABASES tells") from cause
    except (ServiceUnavailable, ConfigurationError, DriverError, OSError, ValueError) as cause:
        raise ConnectError(f"{who}: Neo4j cannot be reached: {first_line(cause)}", fix=_reach_fix(address)) from cause
    version = str(row["version"])
    if _numbers(version) < OLDEST_NEO4J:
        raise ConnectError(f"{who}: Neo4j {version} is too old", fix="kgeval needs Neo4j 5.26 or later")
    return ServerInfo(
        uri=address.uri, database=database, neo4j=version, edition=str(row["edition"]), gds=gds,
        aura="aura" in version.lower() or "databases.neo4j.io" in address.uri, embedded=address.embedded,
    )


def _gds_version(session: neo4j.Session) -> str | None:
    from neo4j.exceptions import ClientError

    try:
        row = session.run("RETURN gds.version() AS v").single()
    except ClientError:
        return None
    return str(row["v"]) if row else None


def gds_warning(info: ServerInfo) -> str | None:
    """What is wrong with the server's GDS: missing, or of another line than Neo4j's. Null if nothing is."""
    if info.gds is None:
        where = " (Aura: switch on Graph Analytics, or use a session)" if info.aura else ""
        return f"GDS is missing{where}: components, clustering, communities and the checks that need them are skipped"
    line = ".".join(info.neo4j.split(".")[:2])
    fits = GDS_LINES.get(line)
    if fits and not info.gds.startswith(fits + "."):
        return f"GDS {info.gds} is not of the line made for Neo4j {line} ({fits}.x): figures that need GDS may fail"
    return None


def _run(execute: Any, text: str, params: Row, timeout: float | None, convert: Callable[[neo4j.Record], Row] | None = None) -> list[Row]:
    """One managed transaction, rows as dicts."""
    from neo4j import unit_of_work

    @unit_of_work(timeout=timeout)
    def work(tx: neo4j.ManagedTransaction) -> list[Row]:
        return [convert(record) if convert else record.data() for record in tx.run(text, params)]

    with translated():
        rows: list[Row] = execute(work)
        return rows


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors become QueryError, QueryTimeout or ConnectionLost. Ctrl-C stays Ctrl-C."""
    from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable, SessionExpired

    try:
        yield
    except Neo4jError as cause:
        code = cause.code or ""
        if "TransactionTimedOut" in code or "Terminated" in code or "TerminatedException" in (cause.message or ""):  # the last: GDS
            raise QueryTimeout(f"stopped at its time limit ({first_line(cause)})", fix="raise --timeout, or --skip the check") from cause
        raise QueryError(f"{code}: {cause.message}", fix="see the server's log") from cause
    except (ServiceUnavailable, SessionExpired) as cause:
        fix = "see whether the server still runs (kgeval server status, kgeval server logs), then run the command again"
        raise ConnectionLost(f"the server went away: {first_line(cause)}", fix=fix) from cause
    except BufferError as cause:  # what the driver says when its clean-up meets the half of a message that an interrupt left
        if _interrupted(cause):
            raise KeyboardInterrupt from cause
        raise
    except DriverError as cause:
        fix = "run the command again; kgeval server logs shows the server's side"
        raise QueryError(f"the connection broke: {first_line(cause)}", fix=fix) from cause


def _interrupted(cause: BaseException | None) -> bool:
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _text(query: str | Query) -> str:
    return query if isinstance(query, str) else query.text


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])


def _reach_fix(address: Address) -> str:
    if address.embedded:
        return "kgeval server status; kgeval server logs; kgeval server stop and start"
    return "check that the server runs and that the address and scheme are right; unset NEO4J_URI to use the embedded server"
