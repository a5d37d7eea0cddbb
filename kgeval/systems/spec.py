"""Which system, and opening it: a built-in one, `command:...`, `http:URL`, `file:PATH`, or a ready adapter,
`NAME[:MODE]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from kgeval.errors import UsageError
from kgeval.systems.adapters import ADAPTERS
from kgeval.systems.builtin.tools import NEEDS
from kgeval.systems.system import Opening, System, name_with

_NAMED = re.compile(r"([\w.@+-]+)=(.*)", re.DOTALL)
_ADAPTER = re.compile(r"([a-z0-9][a-z0-9_.-]*)(?::([\w-]+))?")


SystemKind = Literal["builtin", "command", "http", "file", "adapter", "function"]


@dataclass(frozen=True)
class SystemSpec:
    """A system by its kind. `name`: built-in's or adapter's own; `argument`: the command line, address or path; `mode`:
    of an adapter; `label`: what the user calls it (NAME=SPEC), empty where nobody says. No text names a function: it is
    in the Opening."""

    kind: SystemKind
    name: str
    argument: str = ""
    mode: str | None = None
    label: str = ""


def parse_spec(text: str) -> SystemSpec:
    """The system that a text names; `NAME=SPEC` gives it a name of its own. Raises: UsageError for what is none, with
    the way out."""
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
            raise UsageError(
                f"--system {text}: something must follow the colon", fix="command:'python my.py', http:URL or file:PATH"
            )
        return SystemSpec(kind, kind, rest.strip())  # type: ignore[arg-type]
    adapter = _ADAPTER.fullmatch(text)
    if adapter is not None and adapter[1] in ADAPTERS:
        return SystemSpec("adapter", adapter[1], mode=adapter[2])
    known = [*NEEDS, *ADAPTERS]
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


def open_system(spec: SystemSpec, opening: Opening) -> System:
    """The system, open. Raises: UsageError, InputError, ConfigError and others for what does not fit, before anything
    is asked."""
    if spec.kind == "builtin":
        from kgeval.systems.builtin import open_builtin

        if opening.tools is None:
            raise UsageError(f"{spec.name}: its tools are not there", fix="open it with tools")
        system: System = open_builtin(spec.name, opening.settings, opening.tools(spec))
        if spec.label:
            system.name = name_with(spec.label, opening.variant)
        return system
    if spec.kind == "command":
        from kgeval.systems.outside.command import argv_of, open_command

        return open_command(argv_of(spec.argument), opening, name=spec.label)
    if spec.kind == "http":
        from kgeval.systems.outside.http import HttpSystem

        return HttpSystem(spec.argument, opening, name=spec.label)
    if spec.kind == "file":
        from kgeval.systems.outside.file import FileSystem

        return FileSystem(Path(spec.argument).expanduser(), opening, name=spec.label)
    if opening.function is not None:
        from kgeval.systems.outside.function import FunctionSystem

        return FunctionSystem(opening.function, opening, name=spec.label)
    from kgeval.systems.adapters.launch import open_adapter

    return open_adapter(spec, opening)


def nested(pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Settings with dots in their names as objects: `response.answer` is the answer of response. Raises: UsageError
    where a name is both a value and an object."""
    settings: dict[str, Any] = {}
    for name, value in pairs:
        *path, last = name.split(".")
        inner = settings
        for step in path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise UsageError(f"--setting {name}: {step} has a value already", fix="give one of both")
        inner[last] = value
    return settings


def merged(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Both settings, `other` over `one`, objects inside too."""
    both: dict[str, JsonValue] = dict(one)
    for name, value in other.items():
        before = both.get(name)
        both[name] = merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return both


def ablated(
    settings: Mapping[str, JsonValue], ablations: Mapping[str, Sequence[JsonValue]],
) -> list[tuple[str | None, dict[str, JsonValue]]]:
    """The settings as they are, then one variant for each value of each ablation, with its name: one thing is changed
    at a time. A value that changes nothing makes no variant."""
    variants_made: list[tuple[str | None, dict[str, JsonValue]]] = [(None, dict(settings))]
    for name, values in ablations.items():
        variants = ((value, merged(settings, nested([(name, value)]))) for value in values)
        variants_made += [(f"{name}={value}", changed) for value, changed in variants if changed != settings]
    return variants_made
