"""Connects to Neo4j and says at once and clearly what is wrong. Reads are routed READ: the server refuses writes."""

from __future__ import annotations

import json
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval import __version__
from kgeval.access import AuthKind, CommandKey
from kgeval.errors import ConnectError, QueryError, first_line
from kgeval.graph.binding import bind_query
from kgeval.graph.failures import (
    BreaksConnection,
    ConnectionLost,
    QueryTimeout,
    ResultTooLarge,
    broke,
    has_spoken,
    is_away,
    refuse_if_over,
    transient,
    translated,
)
from kgeval.graph.gathering import AT_ONCE, Gathering
from kgeval.graph.login import auth_of, transport_of
from kgeval.graph.pace import Pace
from kgeval.graph.pipelining import ReadAnswer, ReadRequest, send_together
from kgeval.graph.retries import Retries
from kgeval.graph.server_info import DRIVER, NO_GDS_FIX, inspect
from kgeval.graph.sessions import (
    RUNNING,
    SECONDS,
    TIDYING,
    after_an_interrupt,
    cut,
    drop_own,
    ending,
    left_behind,
    marks,
    part_of_work,
    reading,
    stop,
    stop_signed,
    sweep_transactions,
    writing,
)
from kgeval.llm.pool import Pool
from kgeval.records import ServerInfo
from kgeval_toolkit import DISTRIBUTION

if TYPE_CHECKING:
    import neo4j
    from graphdatascience import GraphDataScience

    from kgeval.graph.algorithms import Algorithms
    from kgeval.graph.queries import Query
    from kgeval.graph.views import SharedViews

OPENINGS = 3  # attempts to open a connection that breaks
IDLE = 30.0  # seconds after which a connection is tried before it is used: balancers close those that are idle for a minute
SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
LEFT_BEHIND = ReadRequest(RUNNING, {"older": 0})  # what runs on the server, of whatever process
Row = dict[str, Any]
A = TypeVar("A")
T = TypeVar("T")
_streams = count()  # a name for each
# weak: `stop_queries` must not keep open what nobody holds any more
_graphs: weakref.WeakSet[Graph] = weakref.WeakSet()


@dataclass(frozen=True)
class Address:
    """Where Neo4j is and how to log in. `password`: the secret of that kind of login (`auth`), where no `key_command` prints it. `source`
    says where the address came from, for messages."""

    uri: str
    username: str
    password: str
    database: str | None = None
    source: str = "the command line"
    embedded: bool = False
    auth: AuthKind = "password"
    key_command: CommandKey | None = None

    @property
    def shown(self) -> str:
        """The address as messages and records have it."""
        return shown_uri(self.uri)

    def __repr__(self) -> str:
        return f"Address({self.shown!r}, {self.username!r}, database={self.database!r})"


def shown_uri(uri: str) -> str:
    """An address without its query, which may be a secret; nothing of one with a user or password but the scheme: where these
    end cannot be told for sure."""
    if "@" in uri:
        return f"{uri.partition('://')[0]}://***" if "://" in uri else "***"
    return uri.partition("?")[0].partition("#")[0]


class Graph:
    """An open connection to one database. `read` can never write: the server itself refuses it (READ routing)."""

    def __init__(self, driver: neo4j.Driver, info: ServerInfo, address: Address | None) -> None:
        """`address`: None for a driver of the caller's, which is never closed."""
        self._driver = driver
        self._drivers: list[neo4j.Driver] = []  # those before it
        self._address = address
        self._clients: dict[float | None, GraphDataScience] = {}  # by the time limit of their queries
        self._loading = threading.Lock()
        self._retries = Retries(self._answers)
        self._memories: dict[int, dict[str, ReadAnswer]] = {}  # by thread
        self._gathering: dict[int, Gathering] = {}  # by thread
        self.info = info
        _graphs.add(self)
        self.algorithms: Algorithms | None = None  # where graph algorithms run, if not by the plugin in this database
        self.shared: SharedViews | None = None  # projections kept for the time of one audit (views.sharing)
        self.pace = Pace()
        self.last_mark: str | None = None  # of the last transaction that the last query saw, as `read_marked` has it
        self.memory_limit: int | None = None  # bytes that algorithms may take of the server's heap

    def read(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> list[Row]:
        """The rows of a query as dicts, in a READ transaction.

        Raises: QueryTimeout at the time limit (seconds), QueryError with the server's words otherwise.
        """
        thread = threading.get_ident()
        if thread not in self._memories and thread not in self._gathering:
            return self._read(query, params, timeout, _dicts)
        return self.answer(ReadRequest(*bind_query(query, params)), timeout=timeout).rows()

    def answer(self, request: ReadRequest, *, timeout: float | None = None) -> ReadAnswer:
        """What comes of a request in a READ transaction, as `read` has it; within `remembering` what came of it before, and from a thread
        that works `side_by_side` with others in one message with theirs. Raises: as `read`; ResultTooLarge for one that does not fit."""
        thread = threading.get_ident()
        if (memory := self._memories.get(thread)) is not None:
            if (key := _key(request.text, request.params)) not in memory:
                memory[key] = self._alone(request, timeout)
            return memory[key].checked()
        gathering = self._gathering.get(thread)
        answer = gathering.answer(request, timeout) if gathering is not None else None
        return (answer or self._alone(request, timeout)).checked()

    def side_by_side(self, work: Callable[[A], T], items: Iterable[A]) -> Iterator[T]:
        """work(item) for each item, in order, AT_ONCE of them at a time on threads whose reads go into common messages: each is asked for
        as it comes to it, and a server far away is waited for once for all. Raises: what `work` raises."""
        pool, over = Pool(AT_ONCE), threading.Event()
        source = iter(items)
        try:
            while part := list(islice(source, AT_ONCE)):
                gathering = Gathering(self._together, len(part))
                yield from pool.run(partial(self._taking_part, gathering, over, work), part)
        finally:
            over.set()
            pool.close(grace=0)

    def _taking_part(self, gathering: Gathering, over: threading.Event, work: Callable[[A], T], item: A) -> T:
        thread = threading.get_ident()
        self._gathering[thread] = gathering
        try:
            with part_of_work(over), gathering.taking_part():
                return work(item)
        finally:
            del self._gathering[thread]

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Within the block a `read` of this thread that was asked before, or ahead, is not asked again. For a look at what nobody changes
        meanwhile."""
        thread = threading.get_ident()
        if thread in self._memories:
            yield
            return
        self._memories[thread] = {}
        try:
            yield
        finally:
            del self._memories[thread]

    def read_ahead(self, queries: Sequence[ReadRequest], *, timeout: float | None = None) -> list[float]:
        """Asks in one message what the block of `remembering` that this is called in will `read`, with this timeout (seconds for each);
        failures are raised there. The seconds that each took. What stands behind one that meets its time limit, and all where the
        connection was lost, is asked when it is read."""
        memory = self._memories[threading.get_ident()]
        wanted = {key: one for one in queries if (key := _key(one.text, one.params)) not in memory}
        with suppress(ConnectionLost):
            memory |= dict(zip(wanted, self._together(list(wanted.values()), timeout), strict=False))
        return [memory[key].seconds if (key := _key(one.text, one.params)) in memory else 0.0 for one in queries]

    def _together(self, queries: Sequence[ReadRequest], timeout: float | None) -> list[ReadAnswer]:
        """The answers in their order, as `read` would give each, up to the first that meets its time limit, and up to where the connection
        breaks each time. Asked in one message, and after one that fails the rest in another. Raises: ConnectionLost, QueryEnded."""
        answers: list[ReadAnswer] = []
        with suppress(BreaksConnection):
            while (left := queries[len(answers):]) and not (answers and isinstance(answers[-1].failure, QueryTimeout)):
                answers += self._asked(partial(self._sent_together, left), timeout)
        return answers

    def _sent_together(self, queries: Sequence[ReadRequest], timeout: float | None) -> list[ReadAnswer]:
        """The answers up to the first failure, at least one."""
        answers: list[ReadAnswer] = []
        try:
            self._send(queries, answers, timeout)
        except ConnectionLost:
            if not answers:
                raise
        except QueryError as failure:
            if transient(failure) and not answers:
                return [self._alone(queries[0], timeout)]
            answers += [] if transient(failure) else [ReadAnswer(failure=failure)]
        return answers

    def _alone(self, query: ReadRequest, timeout: float | None) -> ReadAnswer:
        """The answer to one, or its failure. Raises: ConnectionLost."""

        def ask(left: float | None) -> ReadAnswer:
            answers: list[ReadAnswer] = []
            self._send([query], answers, left)
            return answers[0]

        try:
            return self._asked(ask, timeout)
        except ConnectionLost:
            raise
        except QueryError as failure:
            return ReadAnswer(failure=failure)

    def _send(self, queries: Sequence[ReadRequest], answers: list[ReadAnswer], timeout: float | None) -> None:
        """Adds their answers up to the first failure. Raises: that."""
        with self._session(reading, limit=timeout) as session:
            try:
                send_together(session, queries, answers, metadata=marks(), timeout=timeout)
            except ResultTooLarge:
                cut(session)
                raise

    def tidy(self, query: str | Query, params: Mapping[str, Any] | None = None) -> list[Row]:
        """As `read`, for a query that cleans up: an interrupt that ends this process's queries leaves it alone."""
        return self._read(query, params, None, _dicts, name=TIDYING)

    def read_marked(self, query: str | Query) -> tuple[list[Row], str | None]:
        """As `read`, and with the rows the server's mark of the last transaction that they see (a bookmark): equal marks are of one
        state of the database. None where the server gives none."""
        import neo4j

        def ask(left: float | None) -> tuple[list[Row], str | None]:
            with self._session(reading, limit=left) as session:
                rows = _dicts(session.run(neo4j.Query(_text(query), metadata=marks(), timeout=left)))
                return rows, _mark_of(session)

        return self._asked(ask, None)

    def read_lists(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Row:
        """The one row of a query whose columns are long lists of numbers, in a READ transaction. The lists come as the driver made
        them: `read` would look at each number once more, which takes longer than the query.

        Raises: as `read`; QueryError if there is not exactly one row.
        """
        rows = self._read(query, params, timeout, lambda result: [dict(record) for record in result])
        if len(rows) != 1:
            raise QueryError(f"{len(rows)} rows came back where there must be one", fix="see the server's log")
        return rows[0]

    def stream(
        self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None, fetch_size: int = 5000,
    ) -> Generator[Row, None, None]:
        """The rows of a query one by one, in a READ transaction, in flat memory. Asked again until there is a first row, not after it.
        `fetch_size`: rows that the server sends at a time.

        Raises: as `read`; ConnectionBroke where the connection breaks after that.
        """

        def begin(left: float | None) -> tuple[Generator[Row, None, None], Row | None]:
            rows = self._rows(query, params, left, fetch_size)
            return rows, next(rows, None)

        rows, first = self._asked(begin, timeout)
        with closing(rows):
            if first is not None:
                yield first
            try:
                yield from rows
            except ConnectionLost as cause:
                self._retries.lost(cause)

    def _rows(
        self, query: str | Query, params: Mapping[str, Any] | None, timeout: float | None, fetch_size: int,
    ) -> Generator[Row, None, None]:
        import neo4j

        name, (text, given) = f"stream{next(_streams)}", bind_query(query, params)
        with self._session(reading, limit=timeout, fetch_size=fetch_size) as session:
            result: neo4j.Result | None = None
            try:
                with ending(self._driver, self.info.database, name, session):
                    result = session.run(neo4j.Query(text, metadata=marks(name), timeout=timeout), given)
                    keys = result.keys()
                    for record in result:  # record.data() would look into every value for nodes, which our streamed queries never return
                        yield dict(zip(keys, record, strict=True))
            except GeneratorExit:  # the query is ended; closing the session would do the same, and write a warning to the log
                with suppress(*after_an_interrupt()):
                    if result is not None:
                        result.consume()
                raise

    def _read(
        self, query: str | Query, params: Mapping[str, Any] | None, timeout: float | None, take: Callable[[neo4j.Result], T], *,
        name: str = "",
    ) -> T:
        """What `take` makes of the result of a query: one message to a server that may be far away, where a managed transaction needs
        three. `name`: as `marks` has it."""
        import neo4j

        text, given = bind_query(query, params)

        def ask(left: float | None) -> T:
            with self._session(reading, limit=left) as session:
                return take(session.run(neo4j.Query(text, metadata=marks(name), timeout=left), given))

        return self._retries.read(ask, timeout, tidies=True) if name == TIDYING else self._asked(ask, timeout)

    def _asked(self, ask: Callable[[float | None], T], timeout: float | None) -> T:
        """What `ask` gives, asked after the pause between queries, and again as `Retries.read` has it: every read but one that cleans up.
        Raises: as that; QueryEnded where the work of this thread is over."""

        def begin(left: float | None) -> T:
            refuse_if_over()
            return ask(left)

        self.pace.wait()
        return self._retries.read(begin, timeout)

    def _answers(self) -> bool:
        """Whether the server answers, and this database with it."""
        import neo4j

        try:
            with self._session(reading, limit=1.0) as session:
                session.run(neo4j.Query("RETURN 1", metadata=marks(TIDYING), timeout=SECONDS)).consume()
        except QueryError:
            return False
        return True

    def write(self, query: str | Query, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> list[Row]:
        """The rows of a writing query. Only importers, builders and `score --write-back` call this."""
        from neo4j import unit_of_work

        text, given = bind_query(query, params)

        @unit_of_work(metadata=marks(), timeout=timeout)
        def work(tx: neo4j.ManagedTransaction) -> list[Row]:
            refuse_if_over()
            return _dicts(tx.run(text, given))

        self.pace.wait()
        with self._session(writing, limit=timeout) as session:
            return session.execute_write(work)

    def schema_command(self, query: str | Query) -> None:
        """Runs an index or constraint command of our own layout. Only importers call this."""
        import neo4j

        # a transaction of its own: one that changes the schema must not hold anything else
        with self._session(writing) as session:
            session.run(neo4j.Query(_text(query), metadata=marks())).consume()

    @property
    def address(self) -> Address:
        """Where it was opened, password and all: for a client that must open a connection of its own. Raises: ConnectError where only an
        open driver was given."""
        if self._address is None:
            raise ConnectError("an open driver does not give its password away", fix="give the address, and set NEO4J_PASSWORD")
        return self._address

    @property
    def driver(self) -> neo4j.Driver:
        """The open driver. After an interrupt it is another one, unless it is the caller's."""
        return self._driver

    @property
    def gds(self) -> GraphDataScience:
        """The graphdatascience client on this connection, without a time limit, its errors as they are: for who writes Python against a
        Graph. It reads only. Raises: ConnectError where the server has no GDS."""
        return self._client(None)

    def ask_gds(self, work: Callable[[GraphDataScience], T], *, timeout: float | None) -> T:
        """What the work does with that client; `timeout`: seconds for each of its queries (None: no limit).

        Over Bolt the client makes Python objects of what it is given, some hundred bytes a number: what grows with the graph is read by
        `stream`, in slices. For its listings (`graph.list`, `graph.get`, `handle.node_count()`) GDS counts the degrees of all nodes.
        Not asked again, for a projection cannot be made twice. Raises: as `read`; ConnectError where the server has no GDS.
        """
        try:
            return self._worked(work, timeout)
        except ConnectionLost as cause:
            self._retries.lost(cause)

    def _worked(self, work: Callable[[GraphDataScience], T], timeout: float | None) -> T:
        from pydantic import ValidationError

        with translated():
            try:
                return work(self._client(timeout))
            except ValidationError as cause:
                fix = "install the graphdatascience that fits this GDS, or unset NEO4J_URI to use the embedded server"
                raise QueryError(f"the client of GDS does not understand GDS {self.info.gds}: {first_line(cause)}", fix=fix) from cause
            except ValueError as cause:  # its word for graphs and names that are not there
                raise QueryError(f"the client of GDS: {first_line(cause)}", fix="run the command again") from cause

    def _client(self, timeout: float | None) -> GraphDataScience:
        self.need_gds()
        with self._loading:  # pair metrics ask in two threads, and filters of warnings belong to the process
            return self._clients.get(timeout) or self._new_client(timeout)

    def _new_client(self, timeout: float | None) -> GraphDataScience:
        with warnings.catch_warnings():  # tqdm complains of notebooks without widgets, and nobody asked for its bars
            warnings.simplefilter("ignore")
            from graphdatascience import GraphDataScience  # 30 MB and a second: paid for by the first projection, not before
        from graphdatascience.error.unable_to_connect import UnableToConnectError

        from kgeval.graph.reading import ReadingDriver

        # without Arrow: the free GDS has no Arrow server, and lacks the procedure by which the client asks for it
        driver = ReadingDriver(self._driver, self._renew, timeout, self.pace)
        try:  # no progress: it would be asked for by a thread, on a connection of its own, twice a second
            self._clients[timeout] = GraphDataScience(driver, database=self.info.database, arrow=False, show_progress=False)
        except UnableToConnectError as cause:  # its word for whatever ends its first query, a time limit too
            raise cause.__context__ or cause from None
        return self._clients[timeout]

    def need_gds(self) -> None:
        """Raises: ConnectError where the server has no GDS."""
        if self.info.gds is None:
            raise ConnectError("this server has no Graph Data Science plugin", fix=NO_GDS_FIX)

    def stop(self) -> None:
        """Ends the queries of this process on the server, those of other threads too."""
        stop(self._driver, self.info.database)

    def stop_signed(self, name: str) -> int:
        """Ends a query of this process that another client sent, signed with this name (sessions.signed). How many."""
        return stop_signed(self._driver, self.info.database, name)

    def stop_abandoned(self) -> int:
        """Ends queries of killed kgeval processes of this machine. How many; 0 also where this user may not."""
        try:  # the look alone may be asked ahead
            running = self.read(LEFT_BEHIND.text, LEFT_BEHIND.params, timeout=SECONDS)
        except QueryError:
            return 0
        return sweep_transactions(self._driver, self.info.database) if left_behind(running) else 0

    @contextmanager
    def _session(self, kind: Callable[..., AbstractContextManager[neo4j.Session]], **config: Any) -> Iterator[neo4j.Session]:
        """A session for reading or writing; its errors are ours, and an interrupt gives the graph a new driver."""
        try:
            with translated(), kind(self._driver, self.info.database, **config) as session:
                yield session
                self.last_mark = _mark_of(session) or self.last_mark
        except KeyboardInterrupt:
            self._renew()
            raise
        finally:
            self.pace.end()

    def _renew(self) -> None:
        """An interrupt may leave a connection in the midst of a message, and the driver would ask it again: so there is a new driver. A
        driver of the caller's stays: the connection that was interrupted is cut off (`sessions.cut`), and its pool opens another.

        The old one is closed with the graph, not here: another thread may be reading from it, and may wait for ever for a socket that was
        closed under it. With its query ended on the server it comes to its end by itself."""
        self._clients = {}
        if self._address is not None:
            self._drivers.append(self._driver)
            self._driver = driver_of(self._address)

    def close(self) -> None:
        """Closes the driver, unless it is the caller's."""
        if self._address is not None:
            for driver in (self._driver, *self._drivers):
                _close(driver)
            self._drivers.clear()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):  # while rows were worked on, the interrupt passed no query
            self.stop()
            if self.info.gds is not None:
                drop_own(self._driver, self.info.database)
        self.close()


def stop_queries(*, older: float = 0.0) -> None:
    """Ends all queries of this process that have run for so many seconds, on every server. May be called from any thread."""
    for graph in list(_graphs):
        stop(graph._driver, graph.info.database, older=older)


def drop_projections() -> None:
    """Has all projections of this process dropped, on every server, and waits for none. May be called from any thread."""
    for graph in list(_graphs):
        if graph.info.gds is not None:
            drop_own(graph._driver, graph.info.database, patience=0)


def open_graph(address: Address, *, timeout: float = 10.0) -> Graph:
    """A checked connection. A server that answers and goes away meanwhile is waited for, a minute; an address where none has answered is
    not.

    Raises: ConnectError: not reachable, wrong password, database missing, Neo4j older than 5.26.
    """
    driver = driver_of(address, timeout=timeout)
    try:
        return Graph(driver, _inspected(driver, address, _Ear(driver)), address)
    except BaseException:
        driver.close()
        raise


class _Ear:
    """Listens whether a server answers a driver, also where the driver keeps that for itself: while it looks for the members of a cluster.
    `heard`: a server that speaks Bolt has answered."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self.heard = False
        pool: Any = driver._pool
        self._opener = getattr(pool, "opener", None)
        if self._opener is not None:  # a driver without it says less of what it meets
            pool.opener = self._open

    def _open(self, *address: Any, **more: Any) -> Any:
        try:
            connection = self._opener(*address, **more)  # type: ignore[misc]
        except Exception as cause:
            self.heard |= has_spoken(cause)
            raise
        self.heard = True
        return connection


def _inspected(driver: neo4j.Driver, address: Address, ear: _Ear | None = None) -> ServerInfo:
    """What the server is. A connection that breaks meanwhile is tried again: where nobody listens, that would only take longer. One whose
    server has answered is waited for."""
    lost = heard = False
    for attempt in count(1):
        try:
            return inspect(driver, address)
        except ConnectError as cause:
            lost |= broke(cause)
            heard |= has_spoken(cause) or (ear is not None and ear.heard)
            if not (lost and is_away(cause.__cause__)) or (attempt == OPENINGS and not heard):
                raise
            if attempt == OPENINGS:
                return _awaited(driver, address, cause)
        time.sleep(0.2)
    raise AssertionError("unreachable")


def _awaited(driver: neo4j.Driver, address: Address, cause: ConnectError) -> ServerInfo:
    """What the server is, once it is back. Raises: the cause, if it is not within a minute; ConnectError for what else is wrong then."""
    found: list[ServerInfo] = []

    def answers() -> bool:
        try:
            found.append(inspect(driver, address))
        except ConnectError as failure:
            if not is_away(failure.__cause__):
                raise
        return bool(found)

    Retries(answers).wait(cause)
    return found[-1]


def driver_graph(driver: neo4j.Driver, database: str | None = None) -> Graph:
    """A checked connection over a driver of the caller's, which stays open. Raises: ConnectError, as `open_graph`, or for no driver."""
    import neo4j

    if not isinstance(driver, neo4j.Driver):
        kind = "an asynchronous driver" if isinstance(driver, neo4j.AsyncDriver) else type(driver).__name__
        raise ConnectError(f"a neo4j.Driver is needed, not {kind}", fix="give neo4j.GraphDatabase.driver(...), an address, or None")
    host, port, *_ = driver._pool.address  # for messages; the driver does not tell it otherwise
    return Graph(driver, _inspected(driver, Address(f"bolt://{host}:{port}", "", "", database, source=DRIVER)), None)


def check_uri(uri: str) -> None:
    """Raises: ConnectError for an address that holds a user or a password."""
    if "@" in uri:
        raise ConnectError(
            "the address holds a user or password",
            fix="write the address without them; set NEO4J_USERNAME and NEO4J_PASSWORD",
        )


def driver_of(address: Address, *, timeout: float = 10.0) -> neo4j.Driver:
    """A driver that has not connected yet. Raises: ConnectError for what is no address."""
    import neo4j

    check_uri(address.uri)
    if address.uri.partition("://")[0] not in SCHEMES:
        raise ConnectError(f"{address.shown}: not a Neo4j address", fix="use neo4j://, neo4j+s:// or bolt://host:port")
    uri, security = transport_of(address)
    try:
        # notifications off: looking for labels and properties that a database lacks brings a warning each
        return neo4j.GraphDatabase.driver(
            uri, auth=auth_of(address), notifications_min_severity="OFF",
            connection_timeout=timeout, connection_acquisition_timeout=2 * timeout, liveness_check_timeout=IDLE,
            user_agent=f"{DISTRIBUTION}/{__version__}", max_transaction_retry_time=5.0, **security,
        )
    except (ValueError, neo4j.exceptions.DriverError) as cause:
        why = str(cause).replace(address.uri, address.shown)
        raise ConnectError(f"{address.shown}: not a Neo4j address: {why}", fix="use neo4j://, neo4j+s:// or bolt://host:port") from cause


def _close(driver: neo4j.Driver) -> None:
    """Closes a driver, whatever an interrupt has left of its connections."""
    with suppress(*after_an_interrupt()):
        driver.close()


def _mark_of(session: neo4j.Session) -> str | None:
    """The server's mark of the last transaction that the session's last query saw."""
    return " ".join(sorted(session.last_bookmarks().raw_values)) or None


def _dicts(result: neo4j.Result) -> list[Row]:
    return [record.data() for record in result]


def _key(text: str, params: Mapping[str, Any]) -> str:
    return json.dumps([text, params], sort_keys=True, default=repr)


def _text(query: str | Query) -> str:
    return query if isinstance(query, str) else query.text
