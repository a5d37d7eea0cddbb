"""What a task works with: the graph and its layout, models, settings, and whom to tell. Opened when it is first asked for."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from kgeval.config import BatchOptions, Config, EmbeddingOptions, ModelOptions, Section, SessionOptions, explain
from kgeval.errors import KgevalError, LayoutError, UsageError, together, tried
from kgeval.format import for_terminal
from kgeval.llm.endpoints import address
from kgeval.manifest import Started
from kgeval.workflows.layouts import Asking, configured_layout, layout_settings
from kgeval.workflows.progress import shows_progress

if TYPE_CHECKING:
    import neo4j
    from pydantic import JsonValue

    from kgeval.config import ModelChoice
    from kgeval.graph.aura import AuraOptions
    from kgeval.graph.connect import Address, Graph
    from kgeval.llm.asker import Asker
    from kgeval.llm.calls import Endpoint, Limits
    from kgeval.llm.embed import Embedder
    from kgeval.llm.paid import Run
    from kgeval.llm.progress import Progress
    from kgeval.llm.session import Models
    from kgeval.llm.shared import Shared
    from kgeval.metrics.own import OwnMetric
    from kgeval.records import Layout, Role, RunManifest

T = TypeVar("T")
S = TypeVar("S", bound=Section)
GDS_SESSION_PARTS = ("memory", "ttl", "cloud", "name")
_PLAIN = ("command", "connection", "username", "database", "pause", "graph_name", "layout", "redact", "source")  # what JSON has as it is
# what may differ between two starts of one run
_NOT_THE_RUN = {
    *(name for name in ModelOptions.model_fields if name not in ("model", "base_url", "language")), *BatchOptions.model_fields,
    "outputs", "output", "redact", "resume", "retry_errors", "fresh_answers", "workers", "thresholds", "embedding_device", "pause",
}
_logger = logging.getLogger("kgeval")


def log(text: str) -> None:
    """Where a library says what it does: the log, warnings as warnings. Names of users cannot steer a terminal there."""
    warning = text.startswith("warning: ")
    _logger.log(logging.WARNING if warning else logging.INFO, "%s", for_terminal(text.removeprefix("warning: ")))


@dataclass
class Session:
    """What a task works with; a context manager that closes what it opened, never a driver that was handed over.

    `connection`: an open `neo4j.Driver`, an address, or None: that of kgeval.toml, else the embedded server, started if need be. The
    password of an address comes from NEO4J_PASSWORD, else `ask` is asked. `layout`: auto, the name of a layout, or a file. `dry`: nothing
    large is read and nothing is sent. `pause`: seconds after each query; None: as kgeval.toml says. `say`: gets every message for people.
    `ask`: a person who can answer, where there is one. `outputs`: the files that the task will write. `announce`: says which of several
    graphs is at work.
    `show`: progress: on a terminal and in a notebook, None: only in a notebook. `downloads`: shows what is fetched. `asking`: which model
    is asked and its limits; `batches`: by the provider's batches. `arguments`: what the manifest keeps beside the options.
    `source`: where the address came from, for messages. `keep_rows`: makers of rows keep them for their result where no output is named.
    `spooled`: of files with rows that were handed over as objects, how the manifest calls them. `functions`: metrics that
    were handed over as functions, by the names that the options have for them. `parent`: whose connection it works with.
    """

    command: str
    connection: neo4j.Driver | str | None = None
    username: str | None = None
    database: str | None = None
    pause: float | None = None
    home: Path | None = None
    config: Config = field(default_factory=Config)
    config_file: Path | None = None
    graph_name: str | None = None
    layout: str | None = None
    layout_keys: Mapping[str, Any] = field(default_factory=dict)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    gds_session: AuraOptions | None = None
    asking: ModelOptions = field(default_factory=ModelOptions)
    batches: BatchOptions = field(default_factory=BatchOptions)
    dry: bool = False
    redact: bool = False
    outputs: tuple[Path, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = log
    ask: Asking | None = None
    announce: bool = True
    show: bool | None = None
    downloads: Callable[[], AbstractContextManager[Any]] = nullcontext
    source: str = "the call"
    keep_rows: bool = False
    spooled: Mapping[Path, str] = field(default_factory=dict)
    functions: Mapping[str, OwnMetric] = field(default_factory=dict)
    parent: Session | None = None
    started: Started = field(init=False)
    _stack: ExitStack = field(default_factory=ExitStack, init=False)
    _cautions: set[str] = field(default_factory=set, init=False)
    _asked: list[Models] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.started = Started(self.command, dict(self.arguments))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            for models in self._asked if kind is None else ():
                models.told()
        finally:
            self._asked.clear()
            self._stack.__exit__(kind, error, trace)
        for opened in ("graph", "embedder", "_algorithms"):
            self.__dict__.pop(opened, None)

    def close(self) -> None:
        """Closes what was opened, as the end of a `with` does."""
        self.__exit__(None, None, None)

    def task(self, command: str, *, dry: bool = False, **changes: Any) -> Session:
        """A session for one task over the connection of this one, which is not closed with it. `changes`: other fields."""
        return replace(self, command=command, dry=dry, parent=self, **changes)

    def portable(self) -> dict[str, Any]:
        """This session as JSON has it, for a worker: without what is open, and without secrets. Of one with an address, not a driver."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        paths = {name: path and str(path) for name in ("home", "config_file") if (path := getattr(self, name)) is not None}
        return {
            **plain, **paths, "layout_keys": dict(self.layout_keys), "outputs": [str(path) for path in self.outputs],
            "embedding": self.embedding.model_dump(mode="json"),
            "asking": self.asking.model_dump(mode="json"), "batches": self.batches.model_dump(mode="json"),
            "config": self.config.model_dump(mode="json", exclude_unset=True),
        }

    @classmethod
    def from_portable(cls, data: Mapping[str, Any], say: Callable[[str], None]) -> Session:
        """The session that `portable` described. Its configuration came along: a file may be another one by now, or on another machine."""
        file, home = data.get("config_file"), data.get("home")
        return cls(
            **{name: data[name] for name in _PLAIN}, config_file=Path(file) if file else None, home=Path(home) if home else None,
            config=Config.model_validate(data["config"]), layout_keys=data["layout_keys"], outputs=tuple(map(Path, data["outputs"])),
            embedding=EmbeddingOptions.model_validate(data["embedding"]),
            asking=ModelOptions.model_validate(data["asking"]), batches=BatchOptions.model_validate(data["batches"]), say=say, show=False,
        )

    @cached_property
    def graph(self) -> Graph:
        """The open graph; its algorithms in a session of Aura where one is asked for. A dry run asks nothing of Aura.

        Raises: ConnectError, ConfigError, ServerError, UsageError.
        """
        from kgeval.graph.project import clear
        from kgeval.graph.server_info import gds_warning, view_notes

        if self.parent is not None:
            return self.parent.graph
        graph = self._stack.enter_context(self._opened())
        graph.pace.seconds = self.config.graph.pause if self.pause is None else self.pause
        # projections that killed runs left would hold the server's memory for ever
        for what in clear(graph):
            self.say(f"cleared on the server: {what}")
        if self.gds_session is None and (warning := gds_warning(graph.info)):
            self.say(f"warning: {warning}")
        for note in view_notes(graph.info):
            self.say(f"warning: {note}")
        return graph

    def open_algorithms(self) -> None:
        """Opens the session of Aura that is asked for, once for all tasks of this session. It costs money: only a task that runs
        algorithms asks for it, and no dry run. Raises: ConnectError, ConfigError."""
        if self.gds_session is None or self.dry:
            return
        owner = self if self.parent is None or self.parent.gds_session is None else self.parent
        _ = owner._algorithms

    @cached_property
    def _algorithms(self) -> None:
        from kgeval.graph.aura import in_session

        if self.gds_session is not None:
            self._stack.enter_context(in_session(self.graph, self.gds_session, say=self.say))

    @property
    def driver(self) -> neo4j.Driver:
        """The open driver, of the embedded server too: for queries of your own, which may write. It is closed with this session, unless
        it was handed over. Raises: as `graph`."""
        return self.graph.driver

    def bound_layout(self, graph_name: str | None = None) -> Layout:
        """The layout of a graph: that of this session over `[graph.layout]` over what is recognised. Of a graph that is not loaded to its
        end, says so. Raises: LayoutError, ConfigError."""
        return self.bind(graph_name)[0]

    def bind(self, graph_name: str | None = None) -> tuple[Layout, str | None]:
        """As `bound_layout`, with what `half_loaded` says of the graph, for a report that has to hold it. Raises: as `bound_layout`."""
        name = graph_name or self.graph_name
        with self.graph.remembering():
            try:
                layout = configured_layout(self.graph, self.config, name, self.layout, self.layout_keys, ask=self.ask, say=self.say)
            except LayoutError:  # where nothing is loaded yet, that is why nothing fits
                self.half_loaded(name or self.config.graph.name)
                raise
            return layout, self.half_loaded(layout.scope_value, layout.entity_labels)

    @property
    def layout_settings(self) -> dict[str, JsonValue]:
        """What of the layout is set for this session, as `layouts.layout_settings` gives it. Raises: ConfigError."""
        return layout_settings(self.config, self.layout, self.layout_keys)

    def half_loaded(self, name: str | None, labels: Sequence[str] = ()) -> str | None:
        """As `graph.load.mark.half_loaded`; what must be known is said too, once."""
        from kgeval.graph.load.mark import half_loaded

        caution = half_loaded(self.graph, name, labels)
        if caution is not None and caution not in self._cautions:
            self._cautions.add(caution)
            self.say(f"warning: {caution}")
        return caution

    @cached_property
    def embedder(self) -> Embedder:
        """What embeds: `embedding` over `[model.embedding]` over all-MiniLM-L6-v2 on this machine. Nothing is loaded or sent yet. At
        the end of this session what is new goes into the cache."""
        parent = self.parent
        if parent is None or parent.embedding != self.embedding or parent.config is not self.config:
            return self.open_embedder()
        self._stack.callback(parent.embedder.close)  # the model stays loaded for the next task
        return parent.embedder

    def open_embedder(self, model: str | None = None) -> Embedder:
        """Another embedder, of this model where one is named; at the end of this session what is new goes into the cache."""
        from kgeval.llm.embed import open_embedder
        from kgeval.llm.endpoints import endpoint_in_use

        options, choice = self.embedding, self.config.model.embedding
        url = options.embedding_url or choice.base_url
        return self._stack.enter_context(open_embedder(
            model or options.embedding_model or choice.name, base_url=url, endpoint=endpoint_in_use(choice.base_url, choice.endpoint, url),
            cache_dir=options.cache_dir, batch=options.embedding_batch, device=options.embedding_device, say=self.say,
        ))

    @property
    def limits(self) -> Limits:
        """The limits in force: those of `asking` over `[limits]` of kgeval.toml over the defaults."""
        from kgeval.llm.calls import Limits

        options, section = self.asking, self.config.limits

        def chosen(own: T | None, configured: T) -> T:
            return configured if own is None else own

        return Limits(
            concurrency=chosen(options.max_concurrency, section.concurrency), rpm=chosen(options.rpm, section.rpm),
            tpm=chosen(options.tpm, section.tpm), max_retries=chosen(options.max_retries, section.retries),
            max_reasks=chosen(options.max_reasks, section.reasks), timeout=chosen(options.call_timeout, section.timeout),
            cost_limit=chosen(options.cost_limit, section.cost), max_calls=chosen(options.max_calls, section.calls),
            max_error_rate=chosen(options.max_error_rate, section.error_rate),
        )

    @cached_property
    def shared(self) -> Shared:
        """The budget and the rates of this task: its models take part in them together."""
        from kgeval.llm.shared import Shared

        return Shared(self.limits)

    @cached_property
    def call_progress(self) -> Progress:
        """The progress lines of model calls."""
        from kgeval.llm.progress import Progress

        return Progress(shown=shows_progress(self.show))

    def names_model(self, role: Role) -> bool:
        """Whether a model is named for the role, in the call or in kgeval.toml."""
        return bool((self.asking.model or "").strip() or self._choice(role).name)

    def models(self, role: Role, options: Section, *, name: str | None = None, **parameters: JsonValue) -> Models:
        """An open way to the model that plays the role, closed with this session: `name` over `asking` over `[model.ROLE]`. `options`: of
        the task, which say which run it is. `parameters`: of its requests, over those of kgeval.toml. Nothing is sent yet.

        Raises: UsageError without a model's name; ModelError where the model cannot be used so (no price for a cost limit).
        """
        from kgeval.llm.calls import Endpoint
        from kgeval.llm.endpoints import endpoint_in_use
        from kgeval.llm.places import journal_file
        from kgeval.llm.session import open_models

        choice, own = self._choice(role), self.asking
        model = (name or own.model or choice.name or "").strip()
        if not model:
            raise UsageError(f"no model is named for the {role}", fix=f"give --model NAME, or name = ... in [model.{role}] of kgeval.toml")
        url = own.base_url or choice.base_url
        endpoint = Endpoint(
            model=model, base_url=url, parameters={**choice.parameters, **parameters},
            name=endpoint_in_use(choice.base_url, choice.endpoint, url),
        )
        models = self._stack.enter_context(open_models(
            endpoint, self.limits, role=role, journal=journal_file(own.journal, own.cache_dir), prices=own.prices,
            language=own.language, progress=self.call_progress, shared=self.shared,
            run=None if self.dry else self._run_of(role, endpoint, options),
        ))
        self._asked.append(models)
        if models.price_is_unchecked and not self.dry:
            self.say(f"warning: {models.price_note}")
        return models

    def batch_first(self, models: Models | None, walk: Callable[[Asker], object]) -> None:
        """With `batches.batch`: brings all that `walk` asks for into the journal by batches, round after round; the run that follows finds
        it there and asks live only what is left. Else, in a dry run, or where no model is asked: nothing.

        `walk` goes through all work of the task once, asking the asker that it is given, as for a dry run (`asker.dry` is true).
        Raises: as llm.batch.rounds.ask_in_batches.
        """
        chosen = self.batches
        if models is None or self.dry or not chosen.batch:
            return
        from kgeval.llm.batch.rounds import ask_in_batches
        from kgeval.llm.batch.settings import BatchSettings

        defaults = BatchSettings()
        settings = BatchSettings(
            window=chosen.batch_window or defaults.window, poll=chosen.batch_poll or defaults.poll,
            requests=chosen.batch_size or defaults.requests, factor=chosen.batch_price_factor,
        )
        if settings.factor is None and models.priced:
            self.say("what a batch call costs is not known: costs are counted as if it were live (--batch-price-factor says how much less "
                     "it is)")
        try:
            left = ask_in_batches(models, walk, settings, self.say)
        except KeyboardInterrupt:
            self.say("batches that were sent go on at the provider; the same command picks them up, kgeval cache batches cancel stops them")
            raise
        if left and models.stopped is None:
            self.say(f"requests that batches did not answer, asked live now: {left:,}")

    def check_batches(self) -> None:
        """Raises: UsageError for options of batches without --batch."""
        chosen = self.batches
        given = [f"--{name.replace('_', '-')}" for name, value in chosen.model_dump().items() if name != "batch" and value is not None]
        if given and not chosen.batch:
            raise UsageError(f"{', '.join(given)}: for --batch only", fix="add --batch, or leave it out")

    def _choice(self, role: Role) -> ModelChoice:
        choice: ModelChoice = getattr(self.config.model, role)
        return choice

    def begun(self, options: Section) -> Started:
        """What the manifest of a task is made from: what this session and the options are, save what only concerns the screen."""
        own = {
            "graph_name": self.graph_name, "layout": self.layout, "layout_keys": dict(self.layout_keys),
            "config_file": self.config_file and str(self.config_file), "database": self.database, "home": self.home and str(self.home),
            "outputs": [str(path) for path in self.outputs], "redact": self.redact, **self.arguments,
        }
        if isinstance(self.connection, str):
            from kgeval.graph.connect import shown_uri

            own |= {"uri": shown_uri(self.connection), "username": self.username}
        for part in (self.asking, self.batches):
            own |= {name: value for name, value in part.model_dump(mode="json").items() if name in part.model_fields_set}
        own |= self.embedding.model_dump(include={"embedding_model", "embedding_url", "embedding_device"})
        for name in ("base_url", "embedding_url"):
            if own.get(name):
                own[name] = _without_secrets(str(own[name]))
        names = {str(path): name for path, name in self.spooled.items()}
        return replace(self.started, arguments=own | options.model_dump(mode="json"), names=names)

    def _run_of(self, role: Role, endpoint: Endpoint, options: Section) -> Run:
        """Which run asks: the same command with the same options and contents of files, wherever it writes and whatever limits it keeps."""
        from kgeval.llm.paid import Run
        from kgeval.manifest import input_file

        def content(value: object) -> object:
            if isinstance(value, list | tuple):
                return [content(part) for part in value]
            # not Path.is_file, which raises for a text that is longer than a name may be
            is_path = isinstance(value, str | Path) and os.path.isfile(value)  # noqa: PTH113
            return input_file(Path(str(value))).sha256 if is_path else value

        told = self.begun(options).arguments
        what = {key: content(value) for key, value in sorted(told.items()) if key not in _NOT_THE_RUN}
        asked = [self.command, role, endpoint.model, endpoint.base_url, dict(endpoint.parameters), what]
        name = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()
        return Run(name, any(getattr(options, flag, False) for flag in ("resume", "retry_errors")))

    def manifest(self, options: Section, **more: Any) -> RunManifest:
        """The manifest of a task that ran now."""
        return self.begun(options).manifest(**more)

    def named(self, text: str) -> str:
        """The text with the names of rows that were handed over as objects for their files."""
        for path, name in self.spooled.items():
            text = text.replace(str(path), name)
        return text

    @contextmanager
    def embedded_graph(self) -> Iterator[Graph]:
        """The embedded server, for what kgeval writes for people to look at: this session's own graph where it works
        there, else opened for the block. Nothing of the kind goes to a database that somebody named.

        Raises: ConnectError, ServerError.
        """
        from kgeval.graph.connect import open_graph

        if self.graph.info.embedded:
            yield self.graph
        else:
            with open_graph(self._start_embedded()) as graph:
                yield graph

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
        from kgeval.graph.login import find_secret

        where = given or self.config.graph.uri
        if not where or self.home is not None:
            return self._embedded(given)
        person = self.ask
        kind, secret, command = find_secret((lambda: person.password("Neo4j password")) if person else None)
        return Address(
            where, self.username or self.config.graph.username or "neo4j", secret, self.database or self.config.graph.database,
            self.source if given else "kgeval.toml", auth=kind, key_command=command,
        )

    def _embedded(self, given: str | None) -> Address:
        if given:
            raise UsageError("--uri and --home exclude each other", fix="--home means the embedded server; leave one of them out")
        if self.username not in (None, "neo4j") or self.database not in (None, "neo4j"):
            raise UsageError(
                "the embedded server has one user and one database, both called neo4j",
                fix="leave out --username and --database (NEO4J_USERNAME, NEO4J_DATABASE), or give --uri",
            )
        return self._start_embedded()

    def _start_embedded(self) -> Address:
        from kgeval.graph.server import ensure_started

        with self.downloads() as progress:
            return ensure_started(home=self.home, say=self.say, progress=progress)


def _without_secrets(url: str) -> str:
    """An address as a manifest may have it: one with a user, a password or a query is not written down. No model was asked there."""
    try:
        address(url)
    except UsageError:
        return "(not an address of an endpoint)"
    return url


def session_with(base: Session, command: str, own: SessionOptions, config: Config, **fields: Any) -> Session:
    """A session for a task as its options say, and where they say nothing as `base` is. `fields`: others of it, such as its connection."""
    embedding = {name: getattr(own, name) for name in own.model_fields_set if name in EmbeddingOptions.model_fields}
    return replace(
        base, command=command, config=config, config_file=own.config_file or base.config_file,
        embedding=base.embedding.model_copy(update=embedding), dry=base.dry or own.dry_run, redact=own.redact, outputs=own.outputs,
        announce=not own.no_progress, show=False if own.no_progress else base.show, keep_rows=False, parent=None, **fields,
    )


def explained(cause: ValidationError) -> str:
    """What is wrong with options, in the names of their fields."""
    return "these options cannot be used: " + "; ".join(explain(cause))


def options_of(
    kind: type[S], given: Mapping[str, Any], section: Section | None = None, *,
    names: Callable[[S], Iterable[Callable[[], object]]] = lambda _: (), worded: Callable[[ValidationError], str] = explained,
    fix: str = "",
) -> S:
    """The options: what is given (and not None) over what the section of kgeval.toml sets over the defaults. A section may have keys that
    are no options. `names`: checks of what only the task knows, such as names of metrics; `worded`, `fix`: how faulty values are told.

    Raises: UsageError with all faults, unknown names among them.
    """
    merged = {name: getattr(section, name) for name in section.model_fields_set if name in kind.model_fields} if section is not None else {}
    merged |= {name: value for name, value in given.items() if value is not None}
    faults: list[KgevalError] = []
    options = tried_options(kind, merged, lambda cause: faults.append(UsageError(worded(cause), fix=fix)))
    for check in names(options) if options is not None else ():
        tried(check, faults)
    if options is None or faults:
        raise together(faults)
    return options


def tried_options(kind: type[S], values: Mapping[str, Any], fault: Callable[[ValidationError], None]) -> S | None:
    """The options; without their faulty values, of which `fault` is told; None where they cannot be at all."""
    try:
        return kind.model_validate(values)
    except ValidationError as cause:
        fault(cause)
        wrong = {str(error["loc"][0]) for error in cause.errors() if error["loc"]}
        return tried_options(kind, {n: v for n, v in values.items() if n not in wrong}, lambda _: None) if wrong & values.keys() else None


def refuse(faults: Sequence[tuple[str, str]]) -> None:
    """Raises: UsageError with all faults and their ways out; nothing where there are none. `faults`: what is wrong, and the way out."""
    if faults:
        raise UsageError("; ".join(fault for fault, _ in faults), fix="; ".join(dict.fromkeys(fix for _, fix in faults)))


def gds_session_parts(own: SessionOptions) -> dict[str, Any]:
    """What options say of a session of Aura Graph Analytics."""
    return {part: getattr(own, f"gds_session_{part}") for part in GDS_SESSION_PARTS}


def gds_session_of(config: Config, *, use: bool, parts: Mapping[str, Any]) -> AuraOptions | None:
    """The session of Aura Graph Analytics that is asked for, completed from `[graph.session]`; None if none is. The key must be there.

    Raises: UsageError for parts without a session or values that cannot be meant; ConfigError without a key.
    """
    section = config.graph.session
    if not use and not section.use:
        if named := [f"--gds-session-{part}" for part, value in parts.items() if value is not None]:
            raise UsageError(f"{', '.join(named)} without a session", fix="add --gds-session, or leave it out")
        return None
    from kgeval.graph.aura import AuraOptions, credentials

    credentials(os.environ)
    return AuraOptions(**{part: getattr(section, part) if value is None else value for part, value in parts.items()})
