"""What the functions of `import kgeval` share: keywords, checked all at once; a session for a call; rows that are objects of Python."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from functools import cached_property
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from kgeval.config import BatchOptions, Config, EmbeddingOptions, Flag, ModelOptions, Section, ServerOptions, environment, explain
from kgeval.errors import Faults, InputError, KgevalError, UsageError, did_you_mean, tried
from kgeval.llm.plan import Plan
from kgeval.tables.plain import plain_value
from kgeval.workflows.result import QuestionsResult, Result
from kgeval.workflows.session import GDS_SESSION_PARTS, Session, log, tried_options

T = TypeVar("T", bound=Result | Plan)

RUNS_ALGORITHMS = ("connect", "audit")  # the functions that take a session of Aura Graph Analytics
# A command that is to be typed; or a flag, with the value that stands for any (NAME) and the blank before a flag that follows
_FLAG = re.compile(
    r"(kgeval [a-z][^;,()]*)|(?<![\w-])-(?:-([a-z][a-z-]*)|o(?![\w-]))(?: ([A-Z]+)(?![\w.-])( (?=--[a-z]))?)?",
)
_TEXTS = ("FILE", "FOLDER", "LABEL", "NAME", "PATH", "URL")  # of these values, those that are texts


class Connection(ServerOptions, EmbeddingOptions):
    """What `connect` takes, for its faults to be told all at once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: str | None = None
    config: Config | Path | str | Literal[False] | None = None
    gds_session: bool | Mapping[str, Any] | None = None
    progress: bool | None = None


@dataclass(frozen=True)
class Function:
    """A function of `import kgeval`: what its keywords are. `options`: the class of its own, but those in `without`; beside them are those
    of `connect` and, where models are asked, those of ModelOptions and BatchOptions. `role`: of the model that is asked; `model`: the
    keyword that names it. `words`: flags whose keyword is not the field's name. `task`: the module of workflows with
    `names`, where it checks names in options."""

    name: str
    options: type[Section]
    without: frozenset[str] = frozenset()
    role: str = ""
    model: str = "model"
    words: tuple[tuple[str, str], ...] = ()
    task: str = ""

    @property
    def kinds(self) -> tuple[type[Section], ...]:
        """The classes that its keywords are fields of."""
        return (self.options, *((ModelOptions, BatchOptions) if self.role else ()), Connection)

    @contextmanager
    def called(
        self, given: Mapping[str, Any], *, connection: Any = None, graph: object = None, dry: bool = False, faults: Sequence[str] = (),
        **fields: Any,
    ) -> Iterator[ApiCall]:
        """A call with these keywords: checked, with a session that is closed at the end. `graph`: a name, or what `connection` may be.
        `faults`: what is known to be wrong already. `fields`: others of the session. Errors name keywords, not flags.

        Raises: UsageError with everything that is wrong.
        """
        with ExitStack() as stack:
            files = SpooledRows(stack)
            say = connection.say if isinstance(connection, Session) else log
            fields["say"] = lambda text: say(files.named(self.worded(text)))
            with self.errors(files):
                yield self._checked(stack, files, dict(given), connection, graph, dry, list(faults), fields)

    @contextmanager
    def errors(self, files: SpooledRows | None = None) -> Iterator[None]:
        """Errors name keywords where the command line has flags, and what was given for its file."""
        def worded(text: str) -> str:
            return files.named(self.worded(text)) if files else self.worded(text)

        try:
            yield
        except KgevalError as fault:
            fault.message, fault.fix = worded(fault.message), worded(fault.fix)
            fault.args = (fault.message,)
            if isinstance(fault, InputError):
                fault.faults = tuple(map(worded, fault.faults))
            raise

    def unknown(self, given: Iterable[str]) -> dict[str, str]:
        """The names that are no keywords, with a line for each, and the nearest that there is."""
        keywords = [keyword for keyword, _ in self.fields()]
        return {name: f"{name}: unknown{did_you_mean(name, keywords)}" for name in given if name not in keywords}

    def worded(self, text: str) -> str:
        """The text with keywords for the flags that it names; commands in it stay as they are typed."""
        names = self._keywords
        plain = text.replace("the same command", "the same call")

        def keyword(match: re.Match[str]) -> str:
            name, value = names.get(match[2] or "output"), match[3]
            if match[1] or name is None:
                return match[0]
            if value is None:
                return name
            return f"{name}=" + (f'"{value}"' if value in _TEXTS else value) + (", " if match[4] else "")

        return _FLAG.sub(keyword, plain)

    @cached_property
    def _keywords(self) -> dict[str, str]:
        """Flag, without dashes -> keyword."""
        names = {"uri": "connection", "output": "output", "set": "layout_keys", "dry-run": "dry_run"}
        kinds: Iterable[type[Section]] = (Connection, *self.kinds)
        for kind in kinds:
            for name, field in kind.model_fields.items():
                flag = next((flag_mark for flag_mark in field.metadata if isinstance(flag_mark, Flag)), Flag())
                keyword = self.model if self.role and name == "model" else name
                for word in flag.name.split() or [name.replace("_", "-")]:
                    names[word.removeprefix("--")] = keyword
                names |= {word.removeprefix("--"): f"{name}={value!r}" for word, (value, _) in flag.values.items()}
        return names | dict(self.words)

    def fields(self) -> Iterator[tuple[str, FieldInfo]]:
        """The keywords, with the fields that they are; each once."""
        seen = set(self.without) | ({"graph"} if self.name != "connect" else set())
        if self.name not in RUNS_ALGORITHMS:
            seen.add("gds_session")
        for kind in self.kinds:
            for name, field in kind.model_fields.items():
                keyword = self.model if kind is ModelOptions and name == "model" else name
                if keyword not in seen:
                    seen.add(keyword)
                    yield keyword, field

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Of each keyword but those of `connect` its name, type, default and description."""
        for name, field in self.fields():
            if Connection.model_fields.get(name) is field:
                continue
            values = [repr(value) for flag in field.metadata if isinstance(flag, Flag) for value, _ in flag.values.values()]
            shown = re.sub(r"\b(?:pathlib|typing|kgeval(?:\.\w+)*)\.", "", inspect.formatannotation(field.annotation))
            shown = re.sub(r"Annotated\[([\w.]+), FieldInfo\(.+?\]\)\]", r"\1", shown)  # bounds of the members of a list
            shown = re.sub(r"Optional\[(.+)\]$", r"\1 | None", shown)
            shown = " | ".join(["False", *values]) if values else re.sub(r"Literal\[(.+?)\]", lambda m: m[1].replace(", ", " | "), shown)
            text = self.worded((field.description or "").replace("{role}", self.role))
            yield name, shown, repr(field.get_default(call_default_factory=True)), text if text.endswith((".", ")", "?")) else text + "."

    def describe(self, function: Any) -> None:
        """Puts the keywords into a function's docstring and signature, for `help()` and notebooks."""
        lines = [f"{name} ({shown}, default {default}): {text}" for name, shown, default, text in self.rows()]
        function.__doc__ = (function.__doc__ or "").replace("{options}", "\n        ".join(lines).lstrip())
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=field.get_default(call_default_factory=True), annotation=field.annotation,
            )
            for name, field in self.fields() if name not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*own, *more])

    def _checked(
        self, stack: ExitStack, files: SpooledRows, given: dict[str, Any], connection: Any, graph: object, dry: bool, faults: list[str],
        fields: dict[str, Any],
    ) -> ApiCall:
        if graph is not None and not isinstance(graph, str):
            if connection is not None:
                faults.append("graph: a name is needed where connection is given")
            connection, graph = graph, None
        own, asking, batches, settings, unknown = {}, {}, {}, {}, self.unknown(given)
        faults += unknown.values()
        for name, value in _given(given).items():
            field = "model" if self.role and name == self.model else name
            if name in unknown:
                continue
            if name in self.options.model_fields:
                own[name] = files.report(value, name) if isinstance(value, Result) else value
            elif self.role and field in ModelOptions.model_fields:
                asking[field] = value
                if name in Connection.model_fields and not isinstance(connection, Session):
                    settings[name] = value
            elif self.role and name in BatchOptions.model_fields:
                batches[name] = value
            else:
                settings[name] = value
        if self.role and not asking.get("base_url") and (url := environment("OPENAI_BASE_URL")):
            asking["base_url"] = url
        if graph is not None:
            settings["graph"] = graph
        for kind, values in ((self.options, own), (ModelOptions, asking), (BatchOptions, batches)):
            faults += [re.sub("^model:", f"{self.model}:", line) for line in _faults(kind, values)]
        if faults:
            config = connection.config if isinstance(connection, Session) else settings.get("config")
            faults += self._wrong_names(own, config, fields.get("functions", {}))
        if not isinstance(connection, Session):
            session = stack.enter_context(new_session(self, connection, settings, faults, dry=dry, **fields))
        else:
            if theirs := settings.keys() - {"graph", "layout", "layout_keys"}:
                faults.append(f"{', '.join(sorted(theirs))}: the session has its own; give them to kgeval.connect")
            if faults := [*faults, *_faults(Connection, settings)]:
                raise self.unusable(faults)
            session = stack.enter_context(connection.task(self.name, dry=dry, **fields, **_renamed(settings)))
        if self.role:
            session.asking, session.batches = ModelOptions.model_validate(_given(asking)), BatchOptions.model_validate(_given(batches))
        session.spooled = files.names
        return ApiCall(session, own, files, self)

    def _wrong_names(self, own: Mapping[str, Any], config: Any, functions: Mapping[str, Any]) -> list[str]:
        """What is wrong with names in the options, those of metrics and checks, where other options are wrong, too: all is told at once."""
        options, name_faults = tried_options(self.options, _given(own), lambda _: None), list[KgevalError]()
        names = getattr(import_module(f"kgeval.workflows.{self.task}"), "names", None) if self.task else None
        if names is None or options is None:
            return []
        loaded = config if isinstance(config, Config) else tried(lambda: _config(config), name_faults)
        if loaded is not None:
            for check in names(Session(self.name, config=loaded, functions=functions), options):
                tried(check, name_faults)
        return [fault.message for fault in name_faults]

    def unusable(self, faults: Sequence[str]) -> UsageError:
        """What is raised for arguments that cannot be used."""
        return UsageError("these options cannot be used: " + "; ".join(faults), fix=f"help(kgeval.{self.name}) lists them")


class SpooledRows:
    """Rows that are objects of Python, each set in a private file that is gone at the end of the call. `names`: file -> what it holds."""

    def __init__(self, stack: ExitStack) -> None:
        self.names: dict[Path, str] = {}
        self._stack = stack

    def path(self, data: Any, name: str) -> Path:
        """The file with the rows: a path as it is; that of questions which this library made; the rows of its other results, a
        DataFrame, a list or an iterator of mappings or records are written, once. What an iterator raises goes through.

        Raises: InputError with every row that is no mapping, or holds what JSON has no form for; UsageError for data of another kind.
        """
        if isinstance(data, str | Path):
            return Path(data)
        if isinstance(data, QuestionsResult):
            self.names[data.kept()] = name
            return data.kept()
        if isinstance(data, Result):
            return self.saved(data, name)
        rows, faults, number = _rows_of(data, name), Faults(), 0
        path = self.folder() / f"{name}.jsonl"
        self.names[path] = name
        with path.open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows, 1):
                try:
                    file.write(json.dumps(_plain_row(row), ensure_ascii=False, default=plain_value) + "\n")
                except (TypeError, ValueError) as cause:
                    faults.add(f"{name}:{number}: {cause}")
        if faults.count:
            what = f"{name}: rows that cannot be read: {faults.count:,}"
            raise InputError(what, faults=faults.lines(), fix="give rows as mappings of plain values")
        if not number:
            raise InputError(f"{name}: there are no rows", fix="give at least one; an iterator can be gone through only once")
        return path

    def paths(self, data: Any, name: str) -> tuple[Path, ...] | None:
        """Rows of one kind or several (a list of files and DataFrames), each as `path` has it; None for an empty list or tuple, so that
        kgeval.toml may name files."""
        if data is None or (isinstance(data, list | tuple) and not data):
            return None
        return tuple(self.path(part, part_name) for part_name, part in named_parts(data, name))

    def report(self, data: Any, name: str) -> Path:
        """A result of this library as a file; a path as it is. Raises: UsageError for data of another kind."""
        if isinstance(data, str | Path):
            return Path(data)
        if not isinstance(data, Result):
            raise UsageError(
                f"{name}: a result of kgeval, a report file or a folder is needed, not {type(data).__name__}",
                fix=f"give what kgeval.audit, kgeval.score ... gave as {name}",
            )
        path = self.folder() / "kgeval-result.json"  # no name that stands in an advice
        path.write_text(data.rendered("json", redact=False), encoding="utf-8")
        self.names[path] = f"{name}-{len(self.names) + 1}"
        return path

    def folder(self) -> Path:
        """A private folder that is gone at the end of the call."""
        from kgeval.tables.temporary import private_folder

        return self._stack.enter_context(private_folder("rows"))

    def saved(self, result: Result, name: str) -> Path:
        """The rows of a result as a file."""
        path = result.save(self.folder() / f"{name}.jsonl", redact=False)
        self.names[path] = name
        return path

    def table(self, data: Any, name: str) -> Any:
        """A DataFrame as a file of Parquet; all else as it is. Raises: InputError for columns that a table cannot hold."""
        if not _is_frame(data):
            return data
        _checked_columns(data, name)
        path = self.folder() / f"{name}.parquet"
        self.names[path] = name
        try:
            data.to_parquet(path, index=False)
        except (TypeError, ValueError, OverflowError) as cause:  # of pyarrow: a column with values of several kinds
            what = "; ".join(str(part) for part in cause.args)
            raise InputError(f"{name}: {what}", fix="give every column values of one kind") from cause
        return path

    def named(self, text: str) -> str:
        """The text with the names of what was given for its files."""
        for path, name in self.names.items():
            text = text.replace(str(path), name)
        for path, name in self.names.items():
            text = text.replace(path.name, name)
        return text


@dataclass(frozen=True)
class ApiCall:
    """A call that is checked: its session, the options of its own that were given, and where rows of Python's go."""

    session: Session
    given: dict[str, Any]
    files: SpooledRows
    function: Function

    def worded(self, made: T) -> T:
        """What came of the call, a result or a plan, with keywords in its messages where the command line has flags.
        Raises: what went wrong after a result was made."""
        if isinstance(made, Result) and made.fault is not None:
            raise made.fault
        changes = {}
        for name in {field.name for field in fields_of(made)} & {"messages", "lines", "notes"}:
            texts = getattr(made, name)
            changes[name] = type(texts)(self.files.named(self.function.worded(text)) for text in texts)
        return replace(made, **changes)


def named_parts(data: Any, name: str = "answers") -> list[tuple[str, Any]]:
    """Rows part by part, each with a name: a list of files, DataFrames and results is several parts, all else is one."""
    if isinstance(data, list | tuple) and data and all(isinstance(part, str | Path | Result) or _is_frame(part) for part in data):
        return [(f"{name}-{number}", part) for number, part in enumerate(data, 1)]
    return [(name, data)]


def file_name(name: object) -> str:
    """A name as a file may be called."""
    return re.sub(r"[^\w.+-]+", "_", str(name)).encode()[:100].decode(errors="ignore")


def _is_frame(data: Any) -> bool:
    """Whether the data is a DataFrame; said without loading pandas."""
    return hasattr(data, "columns") and hasattr(data, "itertuples")


def _checked_columns(frame: Any, name: str) -> list[str]:
    """The names of the columns. Raises: InputError for names that come twice, or are no text."""
    columns = list(frame.columns)
    if twice := sorted({str(column) for column in columns if columns.count(column) > 1}):
        raise InputError(f"{name}: columns of the same name: {', '.join(twice)}", fix="rename them, or drop one")
    if other := [str(column) for column in columns if not isinstance(column, str)]:
        raise InputError(f"{name}: names of columns that are no text: {', '.join(other)}", fix="df.columns = [...] with names")
    return columns


def _rows_of(data: Any, name: str) -> Iterable[Any]:
    """The rows of data of any kind that is taken. Raises: UsageError for another; InputError for columns of one name."""
    if _is_frame(data):
        columns = _checked_columns(data, name)
        return (dict(zip(columns, values, strict=True)) for values in data.itertuples(index=False, name=None))
    if isinstance(data, Mapping | bytes) or not isinstance(data, Iterable):
        what = "a path, a DataFrame, a list or an iterator of mappings is needed"
        raise UsageError(f"{name}: {what}, not {type(data).__name__}", fix=f"e.g. {name}=[{{...}}, {{...}}]")
    return data


def _plain_row(row: Any) -> dict[str, Any]:
    """The row as JSON has it; cells without a value are null, as in a file. Raises: TypeError for what is no row."""
    if isinstance(row, BaseModel):
        return row.model_dump(mode="json", exclude_none=True)
    if not isinstance(row, Mapping):
        raise TypeError(f"a row is a mapping, not {type(row).__name__}")
    return {key: None if _is_missing(value) else value for key, value in row.items()}


def _is_missing(value: Any) -> bool:
    """Whether the value is NaN, NaT or NA: pandas has each of them for a cell without a value."""
    return (isinstance(value, float) and isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def new_session(
    function: Function, connection: Any, settings: Mapping[str, Any], faults: Sequence[str] = (), *, dry: bool = False, **fields: Any,
) -> Session:
    """A session of its own. `settings`: the keywords of `connect`. `fields`: others of it. Raises: UsageError, ConfigError."""
    from kgeval.workflows.session import gds_session_of

    wrong = [*faults, *_faults(Connection, settings)]
    if not (connection is None or isinstance(connection, str) or hasattr(connection, "execute_query")):
        wrong.append(f"connection: a neo4j.Driver, an address, a session or None is needed, not {type(connection).__name__}")
    if wrong:
        raise function.unusable(wrong)
    given = Connection.model_validate(dict(settings))
    file, config = Path(given.config) if isinstance(given.config, str | Path) else None, _config(given.config)
    remote = given.home is None and (connection is None or isinstance(connection, str))
    parts = dict(given.gds_session) if isinstance(given.gds_session, Mapping) else {}
    if other := parts.keys() - set(GDS_SESSION_PARTS):
        raise function.unusable([f"gds_session.{name}: unknown" for name in sorted(other)])
    return Session(
        function.name, connection or (environment("NEO4J_URI") if given.home is None else None),
        username=given.username or (environment("NEO4J_USERNAME") if remote else None),
        database=given.database or (environment("NEO4J_DATABASE") if remote else None),
        pause=given.pause, home=given.home, config=config, config_file=file, dry=dry, redact=config.report.redact,
        embedding=EmbeddingOptions.model_validate(given.model_dump(include=set(EmbeddingOptions.model_fields), exclude_unset=True)),
        gds_session=None if given.gds_session is False or function.name not in RUNS_ALGORITHMS else gds_session_of(
            config, use=bool(given.gds_session), parts={name: parts.get(name) for name in GDS_SESSION_PARTS},
        ),
        show=given.progress, downloads=nullcontext, source="the call or NEO4J_URI", **fields,
        **_renamed({name: value for name, value in settings.items() if name in ("graph", "layout", "layout_keys")}),
    )


def _config(given: Config | Path | str | bool | None) -> Config:
    """The configuration that is given, or of the file; False: none. Raises: ConfigError."""
    from kgeval.workflows.audit_gates import load_config

    if isinstance(given, Config):
        return given
    return Config() if given is False else load_config(Path(given) if isinstance(given, str | Path) else None)


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As the fields of a session are called."""
    fields = dict(settings)
    if "graph" in fields:
        fields["graph_name"] = fields.pop("graph")
    if fields.get("layout") is not None:
        fields["layout"] = str(fields["layout"])
    return fields


def _faults(kind: type[Section], given: Mapping[str, Any]) -> list[str]:
    """What is wrong with the values, one line a field."""
    faults: dict[str, str] = {}
    try:
        kind.model_validate(_given(given))
    except ValidationError as cause:
        for line in explain(cause):
            faults.setdefault(line.partition(":")[0].partition(".")[0], line)  # a union has a fault for each of its parts
    return list(faults.values())


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
