"""The functions of `import kgeval`. Each does what its command does: it reads kgeval.toml of the working directory (`config=False`: no
file) and NEO4J_URI, NEO4J_USERNAME, NEO4J_DATABASE, NEO4J_PASSWORD from the environment. It prints nothing and ends nothing: messages go
to the log `kgeval`, faults are raised as KgevalError."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from pydantic import ConfigDict, Field, ValidationError

from kgeval.config import AuditOptions, Config, Flag, Section, environment, explain
from kgeval.errors import KgevalError, UsageError
from kgeval.workflows.progress import steps_bar
from kgeval.workflows.session import EmbeddingChoice, Session

if TYPE_CHECKING:
    import neo4j

    from kgeval.workflows.audit import AuditPlan, AuditResult
    from kgeval.workflows.audit_several import GraphsResult

_FLAG = re.compile(r"(kgeval [a-z][^;,()]*)|(?<![\w-])--([a-z][a-z-]*)")  # a command that is to be typed, or a flag


class _Connection(Section):
    """What `connect` takes, for its faults to be told all at once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: str | None = None
    layout: str | Path | None = None
    layout_keys: Mapping[str, Any] = Field(default_factory=dict)
    username: str | None = None
    database: str | None = None
    home: str | Path | None = None
    config: Config | Path | str | Literal[False] | None = None
    embedding_model: str | None = None
    embedding_url: str | None = None
    embedding_device: str | None = None
    embedding_batch: int = Field(default=64, ge=1, le=4096)
    cache_dir: str | Path | None = None
    gds_session: bool | Mapping[str, Any] = False
    progress: bool | None = None


def connect(connection: neo4j.Driver | str | None = None, **settings: Any) -> Session:
    """A session with a graph, for one or several tasks: `with kgeval.connect(driver, graph="novels") as session: kgeval.audit(session)`.

    Nothing is opened before it is needed; closing closes what the session opened, never a driver that was handed over.

    Args:
        connection: an open `neo4j.Driver`, an address (bolt://..., neo4j+s://...), or None: NEO4J_URI, else that of kgeval.toml, else the
            embedded server, started if need be. The password of an address comes from NEO4J_PASSWORD.
        graph: name of the graph, where a database holds several.
        layout: how the graph is stored: "auto" (recognised), the name of a layout, or a TOML file. `layout_keys`: keys of it, replaced.
        username, database: of an address; `database` of a driver too. `home`: folder of an embedded server.
        config: a file or a Config; False: none.
        embedding_model, embedding_url, embedding_device, embedding_batch, cache_dir: what embeds, where that is asked for.
        gds_session: the graph algorithms run in a session of Aura Graph Analytics; a mapping of memory, ttl, cloud, name.
        progress: True: a bar; False: none; None: a bar in a notebook.

    Raises: UsageError with everything that is wrong with the arguments; ConfigError for a faulty file.
    """
    with _in_python():
        return _session("connect", connection, settings)


@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> AuditResult: ...
@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., dry_run: Literal[True], **options: Any,
) -> AuditPlan: ...
@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: Sequence[str], dry_run: Literal[False] = ..., **options: Any,
) -> GraphsResult: ...


def audit(
    connection: neo4j.Driver | str | Session | None = None, *, graph: str | Sequence[str] | None = None, dry_run: bool = False,
    **options: Any,
) -> AuditResult | AuditPlan | GraphsResult:
    """What is wrong with a graph in Neo4j, whatever wrote it. Reads only: the server refuses every write.

    Args:
        connection: as for `connect`, or a session that `connect` gave.
        graph: name of the graph, where a database holds several. A list of names and of JSON reports of earlier audits: they are put side
            by side.
        dry_run: True: only what it would take, as an AuditPlan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: an AuditResult: `findings` and `figures`, `to_pandas()` (a row a check), `gates` and `raise_for_gates()`, `save(path)`; a
    notebook shows the report. A list gives a GraphsResult.
    Raises: UsageError with everything that is wrong with the options; ConnectError, LayoutError, InputError, ConfigError, ModelError. A
    gate that is missed raises nothing.
    """
    from kgeval.workflows import audit as workflow
    from kgeval.workflows import audit_several

    with _in_python(AuditOptions):
        own = {name: value for name, value in options.items() if name in AuditOptions.model_fields or name not in _Connection.model_fields}
        settings = {name: value for name, value in options.items() if name not in own}
        faults = _faults(AuditOptions, own)
        several = None if graph is None or isinstance(graph, str) else graph
        if isinstance(graph, str):
            settings["graph"] = graph
        elif several is not None and not (isinstance(several, list | tuple) and all(isinstance(one, str | Path) for one in several)):
            faults.append(f"graph: a name or a list of names is needed, not {type(graph).__name__}")
        elif several is not None and not several:
            faults.append("graph: an empty list")
        with _task(connection, "audit", settings, faults, dry=dry_run) as session:
            chosen = workflow.audit_options(session.config, own)
            if several is not None:
                columns = audit_several.columns_of([str(one) for one in several], limited=bool(own.get("thresholds")))
                return audit_several.run(session, chosen, columns)
            if dry_run:
                return workflow.plan(session, chosen)
            result = workflow.run(session, chosen)
            if result.fault:
                session.say(f"warning: {result.fault.message}")  # the audit is there all the same
            return result


@contextmanager
def _task(
    connection: neo4j.Driver | str | Session | None, command: str, settings: Mapping[str, Any], faults: Sequence[str], *, dry: bool,
) -> Iterator[Session]:
    """A session for one task: a new one, closed at its end, or one over the caller's."""
    if not isinstance(connection, Session):
        with _session(command, connection, settings, faults, dry=dry) as session:
            yield session
        return
    if settings.keys() - {"graph", "layout", "layout_keys"}:
        named = ", ".join(sorted(settings.keys() - {"graph", "layout", "layout_keys"}))
        faults = [*faults, f"{named}: the session has its own; give them to kgeval.connect"]
    faults = [*faults, *_faults(_Connection, settings)]
    if faults:
        raise _unusable(faults)
    yield connection.task(command, dry=dry, **_renamed(settings))


def _session(
    command: str, connection: Any, settings: Mapping[str, Any], faults: Sequence[str] = (), *, dry: bool = False,
) -> Session:
    from kgeval.workflows.audit_gates import load_config
    from kgeval.workflows.session import gds_session_of

    wrong = [*faults, *_faults(_Connection, settings)]
    if not (connection is None or isinstance(connection, str) or hasattr(connection, "execute_query")):
        wrong.append(f"connection: a neo4j.Driver, an address, a session or None is needed, not {type(connection).__name__}")
    if wrong:
        raise _unusable(wrong)
    given = _Connection.model_validate(dict(settings))
    file = Path(given.config) if isinstance(given.config, str | Path) else None
    config = given.config if isinstance(given.config, Config) else Config() if given.config is False else load_config(file)
    remote = connection is None or isinstance(connection, str)
    parts = dict(given.gds_session) if isinstance(given.gds_session, Mapping) else {}
    if unknown := parts.keys() - {"memory", "ttl", "cloud", "name"}:
        raise _unusable([f"gds_session.{name}: unknown" for name in sorted(unknown)])
    home = None if given.home is None else Path(given.home)
    return Session(
        command, connection or (environment("NEO4J_URI") if home is None else None),
        username=given.username or (environment("NEO4J_USERNAME") if remote else None),
        database=given.database or (environment("NEO4J_DATABASE") if remote else None),
        home=home, config=config, config_file=file, dry=dry,
        embedding=EmbeddingChoice(
            given.embedding_model, given.embedding_url, given.embedding_device, given.embedding_batch,
            None if given.cache_dir is None else Path(given.cache_dir),
        ),
        gds_session=gds_session_of(
            config, use=bool(given.gds_session), parts={name: parts.get(name) for name in ("memory", "ttl", "cloud", "name")},
        ),
        progress=partial(steps_bar, show=given.progress), downloads=nullcontext, source="the call or NEO4J_URI",
        **_renamed({name: value for name, value in settings.items() if name in ("graph", "layout", "layout_keys")}),
    )


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As the fields of a session are called."""
    made = dict(settings)
    if "graph" in made:
        made["graph_name"] = made.pop("graph")
    if made.get("layout") is not None:
        made["layout"] = str(made["layout"])
    return made


def _faults(kind: type[Section], given: Mapping[str, Any]) -> list[str]:
    """What is wrong with the values, one line a field, and names that there are not, with the nearest that there is."""
    from difflib import get_close_matches

    faults: dict[str, str] = {}
    for name in given:
        if name not in kind.model_fields:
            near = get_close_matches(name, [*kind.model_fields, *_Connection.model_fields], 1)
            faults[name] = f"{name}: unknown" + (f" (did you mean {near[0]}?)" if near else "")
    try:
        kind.model_validate({name: value for name, value in given.items() if name not in faults and value is not None})
    except ValidationError as cause:
        for line in explain(cause):
            faults.setdefault(line.partition(":")[0].partition(".")[0], line)  # a union has a fault for each of its parts
    return list(faults.values())


def _unusable(faults: Sequence[str]) -> UsageError:
    return UsageError("these options cannot be used: " + "; ".join(faults), fix="help(kgeval.audit) lists them")


@contextmanager
def _in_python(*kinds: type[Section]) -> Iterator[None]:
    """Errors name keywords where the command line has flags."""
    try:
        yield
    except KgevalError as fault:
        fault.message, fault.fix = _with_keywords(fault.message, *kinds), _with_keywords(fault.fix, *kinds)
        fault.args = (fault.message,)
        raise


def _with_keywords(text: str, *kinds: type[Section]) -> str:
    """The text with keywords for the flags that it names; commands in it stay as they are typed."""
    names = {"uri": "connection", "set": "layout_keys", "dry-run": "dry_run"}
    known: tuple[type[Section], ...] = (_Connection, *kinds)
    for kind in known:
        for name, field in kind.model_fields.items():
            flag = next((one for one in field.metadata if isinstance(one, Flag)), Flag())
            names[flag.name.removeprefix("--") or name.replace("_", "-")] = name
            names |= {word.removeprefix("--"): f"{name}={value!r}" for word, (value, _) in flag.values.items()}
    return _FLAG.sub(lambda match: match[1] or names.get(match[2], match[0]), text)


def option_rows(kind: type[Section]) -> Iterator[tuple[str, str, str, str]]:
    """Of each option of a class its keyword, type, default and description."""
    for name, field in kind.model_fields.items():
        values = [repr(value) for flag in field.metadata if isinstance(flag, Flag) for value, _ in flag.values.values()]
        shown = inspect.formatannotation(field.annotation).replace("pathlib.", "").replace("typing.", "")
        shown = re.sub(r"Optional\[(.+)\]$", r"\1 | None", shown)
        shown = " | ".join(["False", *values]) if values else re.sub(r"Literal\[(.+?)\]", lambda m: m[1].replace(", ", " | "), shown)
        text = _with_keywords(field.description or "", kind)
        yield name, shown, repr(field.get_default(call_default_factory=True)), text if text.endswith((".", ")")) else text + "."


def _described(function: Any, kind: type[Section]) -> None:
    """Puts the fields of an options class into a function's docstring and signature, for `help()` and notebooks."""
    lines = [f"{name} ({shown}, default {default}): {text}" for name, shown, default, text in option_rows(kind)]
    function.__doc__ = (function.__doc__ or "").replace("{options}", "\n        ".join(lines).lstrip())
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    fields = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=field.get_default(call_default_factory=True), annotation=field.annotation,
        )
        for name, field in [*kind.model_fields.items(), *((n, f) for n, f in _Connection.model_fields.items() if n != "graph")]
        if name not in signature.parameters
    ]
    function.__signature__ = signature.replace(parameters=[*own, *fields])


_described(audit, AuditOptions)
