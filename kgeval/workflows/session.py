"""What a task works with: the graph and its layout, models, settings, and whom to tell. Opened when it is first asked for."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from kgeval.config import Config, Section, environment, explain
from kgeval.errors import UsageError
from kgeval.manifest import Started
from kgeval.workflows.layouts import Asking, configured_layout

if TYPE_CHECKING:
    import neo4j

    from kgeval.graph.aura import SessionOptions
    from kgeval.graph.connect import Address, Graph
    from kgeval.llm.embed import Embedder
    from kgeval.records import Layout, RunManifest

S = TypeVar("S", bound=Section)
_logger = logging.getLogger("kgeval")


def log(text: str) -> None:
    """Where a library says what it does: the log, warnings as warnings."""
    warning = text.startswith("warning: ")
    _logger.log(logging.WARNING if warning else logging.INFO, "%s", text.removeprefix("warning: "))


def _silent(kind: str, name: str) -> None:
    """Shows no progress."""


@dataclass(frozen=True)
class EmbeddingChoice:
    """Which model embeds, and where; what is None comes from `[model.embedding]` of kgeval.toml. `batch`: texts at a time."""

    model: str | None = None
    url: str | None = None
    device: str | None = None
    batch: int = 64
    cache_dir: Path | None = None


@dataclass
class Session:
    """What a task works with; a context manager that closes what it opened, never a driver that was handed over.

    `connection`: an open `neo4j.Driver`, an address, or None: that of kgeval.toml, else the embedded server, started if need be. The
    password of an address comes from NEO4J_PASSWORD, else `ask` is asked. `layout`: auto, the name of a layout, or a file. `dry`: nothing
    large is read and nothing is sent. `say`: gets every message for people. `ask`: a person who can answer, where there is one.
    `outputs`: the files that the task will write. `announce`: says which of several graphs is at work.
    `progress`: shows so many steps, `downloads` what is fetched. `arguments`: what the
    manifest keeps beside the options. `source`: where the address came from, for messages. `parent`: whose connection it works with.
    """

    command: str
    connection: neo4j.Driver | str | None = None
    username: str | None = None
    database: str | None = None
    home: Path | None = None
    config: Config = field(default_factory=Config)
    config_file: Path | None = None
    graph_name: str | None = None
    layout: str | None = None
    layout_keys: Mapping[str, Any] = field(default_factory=dict)
    embedding: EmbeddingChoice = field(default_factory=EmbeddingChoice)
    gds_session: SessionOptions | None = None
    dry: bool = False
    redact: bool = False
    outputs: tuple[Path, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = log
    ask: Asking | None = None
    announce: bool = True
    progress: Callable[[int], AbstractContextManager[Callable[[str, str], None]]] = lambda steps: nullcontext(_silent)
    downloads: Callable[[], AbstractContextManager[Any]] = nullcontext
    source: str = "the call"
    parent: Session | None = None
    started: Started = field(init=False)
    _stack: ExitStack = field(default_factory=ExitStack, init=False)

    def __post_init__(self) -> None:
        self.started = Started(self.command, dict(self.arguments))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)
        self.__dict__.pop("graph", None)

    def task(self, command: str, *, dry: bool = False, **changes: Any) -> Session:
        """A session for one task over the connection of this one, which is not closed with it. `changes`: other fields."""
        return replace(self, command=command, dry=dry, parent=self, **changes)

    @cached_property
    def graph(self) -> Graph:
        """The open graph; its algorithms in a session of Aura where one is asked for. A dry run asks nothing of Aura.

        Raises: ConnectError, ConfigError, ServerError, UsageError.
        """
        from kgeval.graph.project import clear
        from kgeval.graph.server_info import gds_warning

        if self.parent is not None:
            return self.parent.graph
        graph = self._stack.enter_context(self._opened())
        for what in clear(graph):
            self.say(f"cleared on the server: {what}")
        if self.gds_session is None:
            if warning := gds_warning(graph.info):
                self.say(f"warning: {warning}")
        elif not self.dry:
            from kgeval.graph.aura import in_session

            self._stack.enter_context(in_session(graph, self.gds_session, say=self.say))
        return graph

    def bound_layout(self, graph_name: str | None = None) -> Layout:
        """The layout of a graph: that of this session over `[graph.layout]` over what is recognised. Raises: LayoutError, ConfigError."""
        name = graph_name or self.graph_name
        return configured_layout(self.graph, self.config, name, self.layout, self.layout_keys, ask=self.ask, say=self.say)

    @cached_property
    def embedder(self) -> Embedder:
        """What embeds: `embedding` over `[model.embedding]` over all-MiniLM-L6-v2 on this machine. Nothing is loaded or sent yet."""
        from kgeval.llm.embed import open_embedder
        from kgeval.llm.endpoints import endpoint_in_use

        wanted, choice = self.embedding, self.config.model.embedding
        url = wanted.url or choice.base_url
        return open_embedder(
            wanted.model or choice.name, base_url=url, endpoint=endpoint_in_use(choice.base_url, choice.endpoint, url),
            cache_dir=wanted.cache_dir, batch=wanted.batch, device=wanted.device, say=self.say,
        )

    def manifest(self, options: Section, **more: Any) -> RunManifest:
        """The manifest of a task that ran now: what this session and the options are, save what only concerns the screen."""
        own = {
            "graph_name": self.graph_name, "layout_option": self.layout, "overrides": [f"{k}={v}" for k, v in self.layout_keys.items()],
            "config_file": self.config_file and str(self.config_file), "database": self.database, "home": self.home and str(self.home),
            "outputs": [str(path) for path in self.outputs], "redact": self.redact, **self.arguments,
        }
        if isinstance(self.connection, str):
            own |= {"uri": self.connection, "username": self.username}
        own |= {f"embedding_{name}": value for name, value in vars(self.embedding).items() if name in ("model", "url", "device")}
        return replace(self.started, arguments=own | options.model_dump(mode="json")).manifest(**more)

    def _opened(self) -> Graph:
        from kgeval.graph.connect import driver_graph, open_graph

        if self.connection is None or isinstance(self.connection, str):
            return open_graph(self._address(self.connection))
        if self.username or self.home:
            raise UsageError("an open driver has its user and its server", fix="leave username and home out")
        return driver_graph(self.connection, self.database)

    def _address(self, given: str | None) -> Address:
        """Where Neo4j is: what is given, kgeval.toml, or the embedded server, which is started."""
        from kgeval.graph.connect import Address

        where = given or self.config.graph.uri
        if not where or self.home is not None:
            return self._embedded(given)
        password = environment("NEO4J_PASSWORD")
        if password is None:
            password = self.ask.password("Neo4j password") if self.ask else ""
        source = self.source if given else "kgeval.toml"
        return Address(
            where, self.username or self.config.graph.username or "neo4j", password, self.database or self.config.graph.database, source,
        )

    def _embedded(self, given: str | None) -> Address:
        from kgeval.graph.server import ensure_started

        if given:
            raise UsageError("--uri and --home exclude each other", fix="--home means the embedded server; leave one of them out")
        if self.username not in (None, "neo4j") or self.database not in (None, "neo4j"):
            raise UsageError(
                "the embedded server has one user and one database, both called neo4j",
                fix="leave out --username and --database (NEO4J_USERNAME, NEO4J_DATABASE), or give --uri",
            )
        with self.downloads() as progress:
            return ensure_started(home=self.home, say=self.say, progress=progress)


def options_of(kind: type[S], given: Mapping[str, Any], section: Section | None = None) -> S:
    """The options: what is given (and not None) over what the section of kgeval.toml sets over the defaults.

    Raises: UsageError with all faults, unknown names among them.
    """

    merged = {name: getattr(section, name) for name in section.model_fields_set} if section is not None else {}
    merged |= {name: value for name, value in given.items() if value is not None}
    try:
        return kind.model_validate(merged)
    except ValidationError as cause:
        raise UsageError("these options cannot be used: " + "; ".join(explain(cause)), fix="") from cause


def gds_session_of(config: Config, *, use: bool, parts: Mapping[str, Any]) -> SessionOptions | None:
    """The session of Aura Graph Analytics that is asked for, completed from `[graph.session]`; None if none is. The key must be there.

    Raises: UsageError for parts without a session or values that cannot be meant; ConfigError without a key.
    """
    section = config.graph.session
    if not use and not section.use:
        if named := [f"--gds-session-{part}" for part, value in parts.items() if value is not None]:
            raise UsageError(f"{', '.join(named)} without a session", fix="add --gds-session, or leave it out")
        return None
    from kgeval.graph.aura import SessionOptions, credentials

    credentials(os.environ)
    return SessionOptions(**{part: getattr(section, part) if value is None else value for part, value in parts.items()})
