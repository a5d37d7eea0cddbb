"""The life of a session: what it needs is checked before it costs anything, and it is deleted whatever happens."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from kgeval.errors import ConnectError, KgevalError, QueryError, UsageError
from kgeval.graph.algorithms import Expected
from kgeval.graph.aura.calls import asked_of_aura
from kgeval.graph.aura.options import AuraOptions, Credentials, credentials
from kgeval.graph.aura.view import ProjectionSpec, SessionView, open_view
from kgeval.graph.connect import Graph
from kgeval.graph.failures import refuse_if_over
from kgeval.graph.login import password_of
from kgeval.graph.processes import abandoned, mark
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

if TYPE_CHECKING:
    from graphdatascience.session import CloudLocation, DbmsConnectionInfo

PROTOCOLS = {"v3", "v4"}  # what the client speaks; older ways to send a graph it no longer does
READY_WITHIN = 900  # seconds that a new session may take to start
_COUNTER = itertools.count(1)
Say = Callable[[str], None]


class Sessions(Protocol):
    """What is used of graphdatascience's GdsSessions. The one place where an account is needed: tests put a stand-in here."""

    def list(self) -> Any: ...

    def delete(self, *, session_name: str | None = None, session_id: str | None = None) -> bool: ...

    def get_or_create(self, session_name: str, memory: Any, **more: Any) -> Any: ...

    def estimate(self, node_count: int, relationship_count: int, **more: Any) -> Any: ...

    def available_cloud_locations(self) -> Any: ...


Connect = Callable[[Credentials], Sessions]


def aura(key: Credentials) -> Sessions:
    """The Aura API. Asks Aura for the key's project if none is given."""
    from graphdatascience.session import AuraAPICredentials, GdsSessions

    sessions: Sessions = GdsSessions(api_credentials=AuraAPICredentials(key.client_id, key.client_secret, key.project))
    return sessions


@contextmanager
def in_session(
    graph: Graph, options: AuraOptions, *, say: Say, connect: Connect = aura, environ: Mapping[str, str] = os.environ,
) -> Iterator[AuraSession]:
    """Within the block the graph's algorithms run in a session of Aura Graph Analytics. It is created when the first one is asked for,
    after its cost is told (`say`), and deleted at the end, on errors and on Ctrl-C too.

    Raises, before anything is paid: ConfigError (no key in the environment), ConnectError (key refused, no right, Aura not reachable,
    the database cannot send graphs to sessions), UsageError (cloud location missing or not fitting).
    """
    key = credentials(environ)
    _check_database(graph)
    with asked_of_aura("asking for the sessions of the project"):
        api = connect(key)
        known = list(api.list())
    session = AuraSession(graph, options, api, say, instance=environ.get("AURA_INSTANCEID"))
    session.check(known)
    graph.algorithms = session
    try:
        yield session
    finally:
        graph.algorithms = None
        session.end()


def _check_database(graph: Graph) -> None:
    """Raises: ConnectError where the database has no remote projection, UsageError for the embedded server."""
    if graph.info.embedded:
        raise UsageError("the embedded server runs the algorithms itself", fix="leave out --gds-session, or give --uri of a database")
    way_out = "sessions need Aura or a Neo4j whose gds.session and gds.arrow procedures are there (kgeval help gds-sessions)"
    try:
        versions = set(graph.read(all_queries()["session-protocols"])[0]["versions"])
    except QueryError as cause:
        raise ConnectError(f"this database cannot send a graph to a session: {cause.message}", fix=way_out) from cause
    if not versions & PROTOCOLS:
        spoken = ", ".join(sorted(versions)) or "none"
        raise ConnectError(f"this database sends graphs in ways that the client does not know ({spoken}; known: v3, v4)", fix=way_out)


class AuraSession:
    """As algorithms.Algorithms. One session for one audit; a projected graph is kept in it and used again."""

    def __init__(self, graph: Graph, options: AuraOptions, api: Sessions, say: Say, *, instance: str | None = None) -> None:
        self.graph, self.options = graph, options
        self.name = options.name or f"{mark()}_{next(_COUNTER)}"
        self.memory = options.memory
        self._api, self._say = api, say
        self._instance = _instance(graph.info.uri, instance) if graph.info.aura else None
        self._ours = True  # it is ours to delete
        self._asked_for = False
        self._client: Any = None
        self._failed: KgevalError | None = None
        self._views: dict[str, SessionView] = {}

    def check(self, known: list[Any]) -> None:
        """Deletes sessions that killed runs of this machine left behind; finds out whether the session is there already.

        Raises: UsageError if the cloud location does not fit; ConnectError if Aura refuses to say which there are.
        """
        for other in known:
            if abandoned(other.name):
                with asked_of_aura("deleting a leftover session"):
                    self._api.delete(session_id=other.id)
                self._say(f"deleted the session {other.name}, left behind by a run that was killed")
        self._ours = not any(other.name == self.name for other in known)
        if self._instance and self.options.cloud:
            raise UsageError("a database in Aura has its session beside it, not where you choose", fix="leave out --gds-session-cloud")
        if not self._instance and not self.options.cloud:
            with asked_of_aura("asking for the cloud locations"):
                offered = sorted(f"{place.provider}:{place.region}" for place in self._api.available_cloud_locations())
            raise UsageError(
                "this database is not in Aura: where shall the session run?",
                fix=f"--gds-session-cloud PROVIDER:REGION; Aura offers {', '.join(offered) or 'none'}",
            )

    @property
    def used(self) -> bool:
        """Whether algorithms could run in it: false as long as none was asked for, and where it could not be created."""
        return self._client is not None

    @contextmanager
    def projected(self, layout: Layout, expected: Expected, *, timeout: float | None) -> Iterator[SessionView]:
        """As Algorithms.projected. The first call creates the session; a creation that failed is not tried again.

        Raises: ConnectError (the session could not be created), QueryError, QueryTimeout.
        """
        client = self._connected(expected)
        key = layout.model_dump_json()
        if key not in self._views:
            wanted = ProjectionSpec(layout, f"{self.name}_g{len(self._views)}", expected.entities)
            self._views[key] = open_view(client, self.graph, wanted, timeout)
        view = self._views[key]
        view.timeout = timeout
        yield view

    def end(self) -> None:
        """Deletes the session, unless it is the user's own. Never raises: it says what is left and how it ends."""
        if self._asked_for and self._ours:
            self._delete()
        if self._client is not None:
            with suppress(ConnectError), asked_of_aura("closing the connection to the session"):
                self._client.close()

    def _delete(self) -> None:
        """Deletes the session and says what became of it, on an interrupt too."""
        fault: str | None = "the deletion was interrupted"
        try:
            with asked_of_aura("deleting the session"):
                deleted = self._api.delete(session_name=self.name)
            fault = None if deleted or self._client is None else "Aura finds no session of this name"
        except ConnectError as cause:
            fault = cause.message
        finally:
            if fault is None:
                self._say(f"deleted the session {self.name}" if deleted else f"Aura has no session {self.name}: nothing to delete")
            else:
                self._say(
                    f"warning: {fault}. The session {self.name} goes on to cost: delete it in the Aura console; "
                    f"it ends by itself after {self.options.ttl} minutes without work",
                )

    def _connected(self, expected: Expected) -> Any:
        """The session's client, created once."""
        refuse_if_over()  # a session that is begun after an interrupt would cost, and nobody would end it
        if self._failed:
            raise self._failed
        if self._client is None:
            try:
                self._client = self._create(expected)
            except KgevalError as cause:
                self._failed = cause
                raise
        return self._client

    def _create(self, expected: Expected) -> Any:
        from datetime import timedelta

        self.memory = self.memory or self._estimated(expected)
        self._say(self._cost())
        # before the call: a creation that is interrupted may have made a session all the same, and that costs until it is deleted
        self._asked_for = True
        with asked_of_aura(f"creating a session of {self.memory}"):
            return self._api.get_or_create(
                session_name=self.name, memory=self.memory, db_connection=self._database(), ttl=timedelta(minutes=self.options.ttl),
                cloud_location=self._location(), timeout=READY_WITHIN, show_progress=False,
            )

    def _estimated(self, expected: Expected) -> str:
        with asked_of_aura("estimating the memory of the session"):
            memory = self._api.estimate(
                node_count=expected.entities, relationship_count=expected.relations,
                algorithm_categories=["centrality", "community-detection", "path-finding"],
            )
        return str(memory.value)

    def _cost(self) -> str:
        where = f"beside the Aura instance {self._instance}" if self._instance else f"in {self.options.cloud}"
        if not self._ours:
            return f"using the session {self.name} {where}; it was there before and is left alone at the end"
        return (
            f"creating the session {self.name} {where}, {self.memory} of memory: Aura charges for it until it is deleted, "
            f"at the end of this audit or after {self.options.ttl} minutes without work"
        )

    def _database(self) -> DbmsConnectionInfo:
        """Where the client finds the database: the instance's own address where it is in Aura."""
        from graphdatascience.session import DbmsConnectionInfo

        address = self.graph.address
        return DbmsConnectionInfo(
            uri=None if self._instance else address.uri, username=address.username, password=password_of(address),
            database=self.graph.info.database, aura_instance_id=self._instance,
        )

    def _location(self) -> CloudLocation | None:
        from graphdatascience.session import CloudLocation

        return CloudLocation(*self.options.location) if self.options.location else None


def _instance(uri: str, named: str | None) -> str:
    """The id of the Aura instance in its address, neo4j+s://ID.databases.neo4j.io; under another address that which the environment
    names. The address counts first: the environment may hold another instance's, and the session would show another graph."""
    from urllib.parse import urlparse

    host = urlparse(uri).hostname or ""
    if named and not host.endswith(".databases.neo4j.io"):
        return named
    return host.split(".")[0].split("-")[0]
