"""Options as words of a command line; and from the keys of `[run.options]` and the variables of the environment, which are named by flags.

`given` is what was said of options: field -> value, in the order in which it was said. A value is as it was said (a text may hold several
values with commas between them); those of fields that take several are tuples, pairs are mappings.
"""

from __future__ import annotations

import os
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from kgeval.config.base import OptionValue, Section
from kgeval.config.flags import Flag
from kgeval.config.reading import explain
from kgeval.errors import did_you_mean

SHORT = ("outputs", "config_file", "max_concurrency")  # what is written by its letter: -o, -c, -j


@dataclass(frozen=True)
class Option:
    """A flag, without dashes, and what it is: the field that it sets, and `value`, what it sets it to where it takes none."""

    flag: str
    name: str
    field: FieldInfo
    value: Any = None

    @property
    def kind(self) -> Any:
        """tuple and dict for fields of several values, else the type without None."""
        plain = plain_type(self.field.annotation)
        return get_origin(plain) if get_origin(plain) in (tuple, dict) else plain


def options_in(kinds: Iterable[type[Section]], names: Iterable[str] | None = None) -> Iterator[Option]:
    """The flags of options classes, each field's first to last. `names`: of these fields only."""
    wanted = None if names is None else set(names)
    for kind in kinds:
        for name, field in kind.model_fields.items():
            if wanted is not None and name not in wanted:
                continue
            flag = next((mark for mark in field.metadata if isinstance(mark, Flag)), Flag())
            for word, (value, _) in flag.values.items():
                yield Option(word.removeprefix("--"), name, field, value)
            for word in [] if flag.values else (flag.name or "--" + name.replace("_", "-")).split():
                yes, _, no = word.partition("/")
                switch = plain_type(field.annotation) is bool
                yield Option(yes.removeprefix("--"), name, field, True if switch else None)
                if no:
                    yield Option(no.removeprefix("--"), name, field, False)


def plain_type(annotation: Any) -> Any:
    """The type without None."""
    if get_origin(annotation) in (Union, types.UnionType):
        left = [member for member in get_args(annotation) if member is not type(None)]
        return left[0] if len(left) == 1 else annotation
    return annotation


def words_of(options: Sequence[Option], given: Mapping[str, Any]) -> tuple[str, ...]:
    """What was said as words of a command line. A field that is no option stands there under its own name."""
    by_name: dict[str, list[Option]] = {}
    for option in options:
        by_name.setdefault(option.name, []).append(option)
    words: list[str] = []
    for name, value in given.items():
        known = by_name.get(name, [])
        switch = next((item for item in reversed(known) if item.value is not None and item.value == value), None)
        if switch is not None:
            words.append(f"--{switch.flag}")
            continue
        flag = next((item.short for item in known[-1].field.metadata if isinstance(item, Flag)), "") if known and name in SHORT else ""
        flag = flag or "--" + (known[-1].flag if known else name.replace("_", "-"))
        several = [f"{key}={part}" for key, part in value.items()] if isinstance(value, Mapping) else value
        for item in several if isinstance(several, tuple | list) else [several]:
            words += [flag] if item is True else [] if item is False else [flag, str(item)]
    return tuple(words)


def from_flags(options: Sequence[Option], said: Mapping[str, OptionValue]) -> tuple[dict[str, Any], list[str]]:
    """What keys that are flags without dashes say, and a line for each that cannot be: `true` is the flag alone, `false` is no flag, a list
    repeats the flag. A key that is unknown stays under its own name."""
    table = {option.flag: option for option in options}
    values: dict[str, Any] = {}
    faults = []
    for key, value in said.items():
        option = table.get(key.replace("_", "-"))
        if option is None:
            flag = f"--{key.replace('_', '-')}"
            faults.append(f"no such option: {flag}{did_you_mean(flag, (f'--{known}' for known in table))}")
            values[key.replace("-", "_")] = tuple(value) if isinstance(value, list) else value
            continue
        if value is False:
            continue
        if option.value is not None:
            values[option.name] = option.value
            if value is not True:
                faults.append(f"--{option.flag} takes no value: true sets it")
        else:
            if value is True:
                faults.append(f"--{option.flag} needs a value")
            if isinstance(value, list) and option.kind not in (tuple, dict):
                faults.append(f"--{option.flag} takes one value")
            values = merged(values, {option.name: _shaped(option, value)})
    return values, faults


def merged(given: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both; several values of one field add up, of one value the later counts."""
    whole = dict(given)
    for name, value in more.items():
        if isinstance(value, tuple) and isinstance(whole.get(name), tuple):
            whole[name] = (*whole[name], *value)
        elif isinstance(value, Mapping) and isinstance(whole.get(name), Mapping):
            whole[name] = {**whole[name], **value}
        else:
            whole[name] = value
    return whole


def from_environment(options: Sequence[Option], prefix: str) -> dict[str, Any]:
    """What variables say: that of the flag, else PREFIX_FLAG, as the command itself reads them. Several values have spaces between them,
    files the separator of paths."""
    values: dict[str, Any] = {}
    longest = {option.name: max((opt.flag for opt in options if opt.name == option.name), key=len) for option in options}
    for option in options:
        if option.value is False or (option.value is None and option.flag != longest[option.name]):
            continue
        own = next((opt.envvar for opt in option.field.metadata if isinstance(opt, Flag) and opt.envvar), None)
        name = f"{prefix}_{option.flag}".upper().replace("-", "_")
        text = (own and os.environ.get(own)) or os.environ.get(name)
        if not text:
            continue
        if option.value is not None:
            # A plain switch takes the text, which pydantic reads; each of the others takes click's words for true.
            switch = text if option.value is True else option.value if text.lower() in ("1", "true", "t", "yes", "y", "on") else None
            values |= {} if switch is None else {option.name: switch}
        elif option.kind in (tuple, dict):
            files = get_args(plain_type(option.field.annotation))[:1] == (Path,)
            values[option.name] = _shaped(option, list(text.split(os.pathsep) if files else text.split()))
        else:
            values[option.name] = text
    return values


def split_at_commas(values: Iterable[str]) -> list[str]:
    """The parts of values that may hold several each, with commas between them."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def values_of(kind: type[Section], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of the fields of an options class, as the class takes it: where commas separate values, they are taken apart."""
    values = {name: value for name, value in given.items() if name in kind.model_fields}
    for name, value in values.items():
        if isinstance(value, tuple):
            commas = any(isinstance(flag, Flag) and flag.commas for flag in kind.model_fields[name].metadata)
            values[name] = tuple(split_at_commas(map(str, value)) if commas else map(str, value))
    return values


def faults_in(kind: type[Section], given: Mapping[str, Any]) -> list[str]:
    """What is wrong with what was said of the fields of an options class: a line a fault, with the flag."""
    try:
        kind.model_validate(values_of(kind, given))
    except ValidationError as cause:
        return flagged(kind, cause)
    return []


def flagged(kind: type[Section], cause: ValidationError) -> list[str]:
    """What is wrong with options, a line a fault, with flags for fields."""
    lines = [line.partition(":") for line in explain(cause)]
    return [f"{flag_of(kind, name.partition('.')[0])}:{text}" for name, _, text in lines]


def flag_of(kind: type[Section], name: str) -> str:
    """How a field is written on the command line."""
    flags = [option.flag for option in options_in([kind], [name]) if option.value is not False]
    return f"--{flags[-1]}" if flags else name


def _shaped(option: Option, value: Any) -> Any:
    """A value in the form that the field takes."""
    if option.kind is dict:
        pairs = (str(text).partition("=") for text in (value if isinstance(value, list) else [value]))
        return {key.strip(): part.strip() for key, _, part in pairs}
    if option.kind is tuple:
        return tuple(value) if isinstance(value, list) else (value,)
    if option.kind is str:
        return str(value)
    return int(value) if option.kind is int and isinstance(value, float) and value.is_integer() else value
