"""What a kgeval.toml can do to whoever uses it: run code, send secrets, leave its folder, delete, cost money.

A field by which a file can do so has a Power (config/flags.py). A path needs none: it must stay in the folder. What is found here is what
`kgeval trust` shows; a file that nobody named and nobody trusts may do none of it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kgeval.config.base import Section
from kgeval.config.flags import Power, PowerKind
from kgeval.config.reading import Config, environment
from kgeval.config.words import options_in

BUILT_IN_SYSTEMS = ("closed-book", "vector", "graph", "graph+text", "communities")
# The whole text must fit: libraries read what is left of an odd address in different ways
_THIS_MACHINE = re.compile(
    r"[a-z][a-z0-9+]*://(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\])(?::\d{1,5})?(?:/[\w./-]*)?",
    re.IGNORECASE | re.ASCII,
)
_PROVIDER = re.compile(r"https://api\.openai\.com(?::443)?(?:/[\w./-]*)?", re.IGNORECASE | re.ASCII)
_NAMED_SYSTEM = re.compile(r"([\w.@+-]+)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{\w*")
_PIPELINE = re.compile(r"\w+")


@dataclass(frozen=True)
class Deed:
    """What a key of a file would do. `files`: those whose code it would run, as far as it names them."""

    key: str
    what: str
    files: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return f"{self.key}: {self.what}"


@dataclass(frozen=True)
class _Place:
    """Where a file is. `owned`: by whoever runs kgeval, or by the system; `systems`: names of its [[systems]]."""

    folder: Path
    owned: bool
    systems: frozenset[str]


def deeds_of(config: Config, folder: Path, *, owned: bool) -> list[Deed]:
    """All that the configuration would do beside computing in its folder, in the order of its sections. `folder`: of the file; `owned`:
    whether the file belongs to this user or to the system. An address on this machine is none of it in a file of one's own: on a machine
    of several people anybody can listen there and lay a file for others."""
    place = _Place(folder, owned, frozenset(system.name for system in config.systems))
    return [deed for key, value, field in _fields(config) for deed in _judged(key, value, field, place)]


def is_known_address(url: str, *, owned: bool, variable: str = "OPENAI_BASE_URL") -> bool:
    """Whether secrets may be sent to an address that a file names: the one that the environment gives for them in `variable`
    (OPENAI_BASE_URL for keys, then also the default provider's; NEO4J_URI for the password), or one on this machine in a
    file that is `owned` (as of `deeds_of`)."""
    here = owned and _THIS_MACHINE.fullmatch(url) is not None
    provider = variable == "OPENAI_BASE_URL" and _PROVIDER.fullmatch(url) is not None
    named = environment(variable)
    return here or provider or (bool(named) and url.rstrip("/") == str(named).rstrip("/"))


def is_owned(status: os.stat_result) -> bool:
    """Whether a file belongs to this user or to the system."""
    return status.st_uid in (0, os.getuid())


def names_folder(text: str) -> bool:
    """Whether the name of a model is written as a path: ./model, ../model, ~/model, /model. Anything else is a name, whatever lies in the
    working directory."""
    return text.startswith((".", "/", "~")) or text.count("/") > 1


def _fields(section: BaseModel, place: str = "") -> Iterator[tuple[str, Any, FieldInfo]]:
    for name, field in type(section).model_fields.items():
        key, value = f"{place}{name}", getattr(section, name)
        parts = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{key}.")
        elif parts and all(isinstance(part, BaseModel) for part in parts):
            for number, part in enumerate(parts):
                yield from _fields(part, f"{key}.{number}.")
        else:
            yield key, value, field


def _judged(key: str, value: Any, field: FieldInfo, place: _Place) -> Iterator[Deed]:
    power = power_of(field)
    if power.kind == "flags":
        yield from _judged_flags(key, value, place)
        return
    for text in _texts(value):
        found = _JUDGES[power.kind](_Said(text, power, place))
        if found is not None:
            what, *files = found
            yield Deed(key, what, tuple(map(Path, files)))


def power_of(field: FieldInfo) -> Power:
    """The power of a field: as it is marked; of a path that it must stay in the folder; else none."""
    marked = next((mark for mark in field.metadata if isinstance(mark, Power)), None)
    return marked or Power("path" if _holds_path(field.annotation) else "word")


def _holds_path(annotation: Any) -> bool:
    return annotation is Path or any(_holds_path(part) for part in get_args(annotation))


def _judged_flags(key: str, value: Mapping[str, Any], place: _Place) -> Iterator[Deed]:
    """What flags of commands would do, written without dashes: those of one command, or command by command."""
    for flag, given in value.items():
        if isinstance(given, Mapping):
            yield from _judged_flags(f"{key}.{flag}", given, place)
            continue
        for field in _flags().get(flag.replace("_", "-"), ()):
            yield from _judged(f"{key}.{flag}", given, field, place)


@cache
def _flags() -> Mapping[str, Sequence[FieldInfo]]:
    """Each flag of any command -> the fields that it may be, one a power: a section may say any flag, and the worst counts."""
    fields: dict[str, dict[Power, FieldInfo]] = defaultdict(dict)
    for kind in _option_classes(Section):
        for option in options_in([kind]):
            fields[option.flag].setdefault(power_of(option.field), option.field)
    return {flag: tuple(found.values()) for flag, found in fields.items()}


def _option_classes(base: type[Section]) -> Iterator[type[Section]]:
    for kind in base.__subclasses__():
        if kind.__name__.endswith("Options"):
            yield kind
        yield from _option_classes(kind)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a value, and a word for a switch that is on."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, str | Path):
        yield str(value).strip()
    elif value is True:
        yield "true"


@dataclass(frozen=True)
class _Said:
    """A text that a key says."""

    text: str
    power: Power
    place: _Place


_Found = tuple[str, *tuple[str, ...]] | None  # what it does, and the files whose code it runs


def _judge_path(said: _Said) -> _Found:
    """A path leads out of the folder, also by a link, or to what is hidden there: .git/config is read by other programs."""
    if not said.text:
        return None
    bases = [Path.cwd().resolve(), said.place.folder.resolve()]
    try:
        path = bases[0].joinpath(said.text).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, half of a character
        return (f"{said.text!r} is no path that can be followed",)
    inside = next((path.relative_to(base) for base in bases if path.is_relative_to(base)), None)
    if inside is None or said.text.startswith("~"):
        return (f"reads or writes {said.text}, which is outside of this folder",)
    return (f"reads or writes {said.text}, which is hidden",) if any(part.startswith(".") for part in inside.parts) else None


def _judge_metric(said: _Said) -> _Found:
    file = said.text.rpartition(":")[0]
    runs = [file] if file.endswith(".py") or "/" in file else []
    return (f"runs the code of {said.text}", *runs) if ":" in said.text else None


def _judge_system(said: _Said) -> _Found:
    text = said.text
    while (named := _NAMED_SYSTEM.fullmatch(text)) is not None:
        text = named[2].strip()
    kind, _, rest = text.partition(":")
    if text in BUILT_IN_SYSTEMS or text in said.place.systems:
        return None
    if kind == "command":
        return (f"runs the command {rest.strip()}", *_files_in(rest, said.place.folder))
    if kind == "file":
        return _judge_path(replace(said, text=rest.strip()))
    if kind in ("http", "https"):
        url = rest.strip() if kind == "http" and not rest.startswith("//") else text
        return _judge_address(replace(said, text=url, power=Power("address", "questions, and OPENAI_API_KEY where it is a chat,")))
    return (f"opens {text}, a package and an index with code of their own",)


def _files_in(command: str, folder: Path) -> list[str]:
    """The words of a command line that are files."""
    try:
        return [word for word in shlex.split(command) if (folder / word).is_file()]
    except (ValueError, OSError):
        return []


def _judge_address(said: _Said) -> _Found:
    variable = "NEO4J_URI" if said.power.what == "NEO4J_PASSWORD" else "OPENAI_BASE_URL"
    if not said.text or is_known_address(said.text, owned=said.place.owned, variable=variable):
        return None
    return (f"sends {said.power.what} to {_shown_address(said.text)}",)


def _shown_address(url: str) -> str:
    """An address; of one with a user, a password or a query, which may be secrets, the host alone. Nothing is ever sent there."""
    if not re.search("[@?#]", url):
        return url
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return f"{host or 'an unknown host'} (its address holds a user, a password or a query, which are not shown)"


def _judge_folder(said: _Said) -> _Found:
    return (f"loads {said.text}, which may hold code",) if names_folder(said.text) else None


def _judge_pipeline(said: _Said) -> _Found:
    return None if _PIPELINE.fullmatch(said.text) else (f"loads {said.text}, which may hold code",)


def _judge_settings(said: _Said) -> _Found:
    """A value by itself, as NAME=VALUE, or as NAME=VALUE,VALUE; each may be written as JSON."""
    value = said.text.partition("=")[2]
    written = [text for part in (said.text, value, *value.split(",")) for text in _decoded(part)]
    for text in written:
        if found := _VARIABLE.search(text):
            return (f"sends {found[0]}}}, a variable of your environment, to a system",)
        if names_folder(text) and " " not in text:
            return (f"loads {text}, which may hold code",)
    return None


def _decoded(text: str) -> Iterator[str]:
    yield text.strip()
    try:
        yield from _texts(json.loads(text))
    except (ValueError, RecursionError):
        return


def _judge_switch(said: _Said) -> _Found:
    return (said.power.what,) if said.text else None


_JUDGES: Mapping[PowerKind, Callable[[_Said], _Found]] = {
    "word": lambda said: None, "path": _judge_path, "metric": _judge_metric, "system": _judge_system, "address": _judge_address,
    "model": _judge_folder, "pipeline": _judge_pipeline, "settings": _judge_settings, "switch": _judge_switch,
}
