"""Which system, and opening it: a built-in one, `command:...`, `http:URL`, `file:PATH`, or a ready adapter, `NAME[:MODE]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from kgeval.errors import UsageError
from kgeval.llm.calls import Limits
from kgeval.systems.builtin.tools import NEEDS
from kgeval.systems.system import System

if TYPE_CHECKING:
    from kgeval.llm.prices import Price
    from kgeval.llm.shared import Shared
    from kgeval.systems.builtin.tools import BuiltinTools

Kind = Literal["builtin", "command", "http", "file", "adapter", "function"]
_NAMED = re.compile(r"([\w.@+-]+)=(.*)", re.DOTALL)
_ADAPTER = re.compile(r"([a-z0-9][a-z0-9_.-]*)(?::([\w-]+))?")


@dataclass(frozen=True)
class SystemSpec:
    """A system by its kind. `name`: built-in's or adapter's own; `argument`: the command line, address or path; `mode`: of an adapter;
    `label`: what the user calls it (NAME=SPEC), empty where nobody says. No text names a function: it is in the Opening."""

    kind: Kind
    name: str
    argument: str = ""
    mode: str | None = None
    label: str = ""


@dataclass(frozen=True)
class Opening:
    """What systems are opened with. `settings`: of this one; `variant`: what differs from them in an ablation. `timeout`: seconds a
    question; `processes`: of a command (of a function: calls), at a time; `function`: the one that is the system. `tools`: makes what
    built-in systems need, when one is opened. `folder`: an adapter's index. `questions`, `asked`, `maps`, `allow_*`,
    `max_bad_rows`, `trials`: for a file of answers. `dry`: nothing is started or sent. `say`: is told what takes long.
    """

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    variant: str | None = None
    timeout: float = 300.0
    processes: int = 1
    function: Callable[..., Any] | None = None
    limits: Limits = field(default_factory=Limits)
    shared: Shared | None = None
    price: Callable[[str, str], Price | None] = lambda model, url: None
    tools: Callable[[SystemSpec], BuiltinTools] | None = None
    folder: Path | None = None
    environment: Mapping[str, str] | None = None
    questions: Path = Path("-")
    asked: Callable[[], Iterable[str]] = tuple
    maps: Mapping[str, str] = field(default_factory=dict)
    allow_missing: bool = False
    allow_duplicates: bool = False
    max_bad_rows: float = 0.0
    trials: int = 1
    dry: bool = False
    say: Callable[[str], None] = lambda text: None


def parse_spec(text: str) -> SystemSpec:
    """The system that a text names; `NAME=SPEC` gives it a name of its own. Raises: UsageError for what is none, with the way out."""
    text = text.strip()
    named = _NAMED.fullmatch(text)
    if named is not None and _known(named[2].strip()):
        return replace(parse_spec(named[2]), label=named[1])
    if text in NEEDS:
        return SystemSpec("builtin", text)
    if text.startswith(("http://", "https://")):
        return SystemSpec("http", "http", text)
    kind, colon, rest = text.partition(":")
    if colon and kind in ("command", "http", "file"):
        if not rest.strip():
            raise UsageError(f"--system {text}: something must follow the colon", fix="command:'python my.py', http:URL or file:PATH")
        return SystemSpec(kind, kind, rest.strip())  # type: ignore[arg-type]
    adapter = _ADAPTER.fullmatch(text)
    if adapter is not None and adapter[1] in adapter_names():
        return SystemSpec("adapter", adapter[1], mode=adapter[2])
    known = [*NEEDS, *adapter_names()]
    near = get_close_matches(kind, known, 1)
    raise UsageError(
        f"--system {text}: there is no such system" + (f"; did you mean {near[0]}?" if near else ""),
        fix=f"one of {', '.join(known)}, command:..., http:URL, file:PATH (kgeval help answer)",
    )


def _known(text: str) -> bool:
    try:
        parse_spec(text)
    except UsageError:
        return False
    return True


def adapter_names() -> tuple[str, ...]:
    """The names of the ready adapters."""
    try:
        from kgeval.systems.adapters import ADAPTERS
    except ImportError:
        return ()
    return tuple(ADAPTERS)


def open_system(spec: SystemSpec, opening: Opening) -> System:
    """The system, open. Raises: UsageError, InputError, ConfigError and others for what does not fit, before anything is asked."""
    if spec.kind == "builtin":
        return _open_builtin(spec, opening)
    if spec.kind == "command":
        return _open_command(spec, opening)
    if spec.kind == "http":
        return _open_http(spec, opening)
    if spec.kind == "file":
        return _open_file(spec, opening)
    if opening.function is not None:
        from kgeval.systems.outside.function import FunctionSystem, FunctionWanted

        return FunctionSystem(FunctionWanted(
            opening.function, spec.label, opening.variant, opening.settings, opening.timeout, opening.processes,
        ))
    from kgeval.systems.adapters import open_adapter

    system: System = open_adapter(spec, opening)
    return system


def _open_builtin(spec: SystemSpec, opening: Opening) -> System:
    from kgeval.systems.builtin import open_builtin

    if opening.tools is None:
        raise UsageError(f"{spec.name}: its tools are not there", fix="open it with tools")
    system: System = open_builtin(spec.name, opening.settings, opening.tools(spec))
    if spec.label:
        system.name = f"{spec.label}@{opening.variant}" if opening.variant else spec.label
    return system


def _open_command(spec: SystemSpec, opening: Opening) -> System:
    from kgeval.systems.outside.command import CommandWanted, argv_of, open_command

    return open_command(CommandWanted(
        argv_of(spec.argument), name=spec.label, variant=opening.variant, settings=opening.settings, timeout=opening.timeout,
        processes=opening.processes, environment=opening.environment, say=opening.say,
    ), started=not opening.dry)


def _open_http(spec: SystemSpec, opening: Opening) -> System:
    from kgeval.systems.outside.http import HttpSystem, HttpWanted

    model = opening.settings.get("model")
    price = opening.price(model, spec.argument) if isinstance(model, str) and "request" not in opening.settings else None
    return HttpSystem(HttpWanted(
        spec.argument, name=spec.label, variant=opening.variant, settings=opening.settings, timeout=opening.timeout,
        limits=opening.limits, price=price, shared=opening.shared,
    ))


def _open_file(spec: SystemSpec, opening: Opening) -> System:
    from kgeval.systems.outside.file import FileSystem, FileWanted

    return FileSystem(FileWanted(
        Path(spec.argument).expanduser(), opening.questions, opening.asked, name=spec.label, settings=opening.settings,
        maps=opening.maps, allow_missing=opening.allow_missing, allow_duplicates=opening.allow_duplicates, trials=opening.trials,
        max_bad_rows=opening.max_bad_rows,
    ))


def nested(pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Settings with dots in their names as objects: `response.answer` is the answer of response. Raises: UsageError where a name is
    both a value and an object."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        *path, last = name.split(".")
        inner = found
        for step in path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise UsageError(f"--setting {name}: {step} has a value already", fix="give one of both")
        inner[last] = value
    return found


def merged(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Both settings, `other` over `one`, objects inside too."""
    found: dict[str, JsonValue] = dict(one)
    for name, value in other.items():
        before = found.get(name)
        found[name] = merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return found


def ablated(
    settings: Mapping[str, JsonValue], ablations: Mapping[str, Sequence[JsonValue]],
) -> list[tuple[str | None, dict[str, JsonValue]]]:
    """The settings as they are, then one variant for each value of each ablation, with its name: one thing is changed at a time. A value
    that changes nothing makes no variant."""
    found: list[tuple[str | None, dict[str, JsonValue]]] = [(None, dict(settings))]
    for name, values in ablations.items():
        variants = ((value, merged(settings, nested([(name, value)]))) for value in values)
        found += [(f"{name}={value}", changed) for value, changed in variants if changed != settings]
    return found
