"""Flags from an options class: each field is a click option with its name, type, default and description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from annotated_types import Ge, Gt, Le, Lt
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from kgeval.cli.common import F, Option, Seconds, listed
from kgeval.config import Flag, Section, Unit
from kgeval.config.words import flagged, plain_type
from kgeval.errors import UsageError

S = TypeVar("S", bound=Section)


def under(heading: str) -> Callable[..., Callable[[F], F]]:
    """`click.option` for options under a heading of their own in the help of commands that have headings."""
    return partial(click.option, cls=Option, heading=heading)


def headed(heading: str, *decorators: Callable[[F], F]) -> Callable[[F], F]:
    """The options of some decorators, in their order, under a heading of their own in the help of commands that have headings."""

    def decorate(command: F) -> F:
        before = len(getattr(command, "__click_params__", ()))
        for decorator in reversed(decorators):
            command = decorator(command)
        for option in getattr(command, "__click_params__", ())[before:]:
            option.heading = heading
        return command

    return decorate


def flags_of(kind: type[Section], *, without: Collection[str] = (), **words: str) -> Callable[[F], F]:
    """A decorator that gives a command the flags of an options class, but those of the fields in `without`. What is not given is None, so
    that a file may say it. `words`: what stands in braces in the descriptions."""

    def decorate(command: F) -> F:
        fields = {name: field for name, field in kind.model_fields.items() if name not in without}
        for option in reversed([option for name, field in fields.items() for option in _options(name, field, words)]):
            command = option(command)
        return command

    return decorate


def given_of(kind: type[Section], options: Mapping[str, Any]) -> dict[str, Any]:
    """What a command was given of the fields of an options class, as the class takes it."""
    found = {name: options[name] for name in kind.model_fields if name in options}
    found = {
        name: value for name, value in found.items()  # 0 is given, and so is the no of a yes-or-no flag
        if value is not None and value != () and (value is not False or kind.model_fields[name].default is None)
    }
    for name, value in found.items():
        field = kind.model_fields[name]
        if get_origin(field.annotation) is dict:
            pairs = (text.partition("=") for text in value)
            found[name] = {key.strip(): part.strip() for key, _, part in pairs}
        elif any(isinstance(flag, Flag) and flag.commas for flag in field.metadata):
            found[name] = tuple(listed(value))
    return found


def options_from(kind: type[S], options: Mapping[str, Any], section: Section | None = None) -> S:
    """The options of a command over those of its section of kgeval.toml. Raises: UsageError that names every faulty flag."""
    from kgeval.workflows.session import options_of

    try:
        return options_of(kind, given_of(kind, options), section)
    except UsageError as fault:
        cause = fault.__cause__
        if not isinstance(cause, ValidationError):
            raise
        raise UsageError("; ".join(flagged(kind, cause)), fix="--help describes each option") from cause


class HeadedCommand(click.Command):
    """A command whose rare options stand under headings of their own in the help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_headed(self, ctx, formatter)


def format_headed(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a command: those without a heading first, then heading by heading."""
    parts: dict[str, list[tuple[str, str]]] = {"": []}
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            parts.setdefault(getattr(param, "heading", ""), []).append(record)
    for heading, records in parts.items():
        if records:
            with formatter.section(heading or "Options"):
                formatter.write_dl(records)


def _options(name: str, field: FieldInfo, described: Mapping[str, str]) -> Iterator[Callable[[F], F]]:
    flag = next((one for one in field.metadata if isinstance(one, Flag)), Flag())
    if flag.values:
        for word, (value, text) in flag.values.items():
            # both flags of a field get what either was given: no type of its own may refuse the other's value
            yield click.option(
                word, name, cls=Option, heading=flag.heading, flag_value=value, default=None, help=text, type=click.UNPROCESSED,
            )
        return
    words = [*([flag.short] if flag.short else []), *(flag.name or "--" + name.replace("_", "-")).split(), name]
    text = field.description or ""
    text = text.format_map(described) if described else text
    shape: dict[str, Any] = {"cls": Option, "heading": flag.heading, "old": flag.old, "default": None}
    if flag.envvar:
        shape |= {"envvar": flag.envvar, "show_envvar": True}
    inner = plain_type(field.annotation)
    if inner is bool:
        shape["is_flag"] = True
    elif get_origin(inner) in (tuple, dict):
        plain = get_origin(inner) is dict or flag.commas
        shape |= {"multiple": True, "type": str if plain else _type(get_args(inner)[0], field)}
    else:
        shape["type"] = _type(inner, field)
        if field.default is not None and not text.endswith("."):
            text += f" [default: {field.default:g}]." if isinstance(field.default, float) else f" [default: {field.default}]."
    if flag.metavar:
        shape["metavar"] = flag.metavar
    yield click.option(*words, help=text, **shape)


def _type(kind: Any, field: FieldInfo) -> Any:
    """How click reads a value: choices, ranges and paths as the field has them."""
    if any(isinstance(one, Unit) and one.name == "seconds" for one in field.metadata):
        return Seconds()
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    if kind in (int, float):
        return _range(kind, field)
    return str


def _range(kind: type, field: FieldInfo) -> click.ParamType[Any]:
    low: Any = None
    high: Any = None
    low_open = high_open = False
    for one in field.metadata:
        if isinstance(one, Ge | Gt):
            low, low_open = (one.ge, False) if isinstance(one, Ge) else (one.gt, True)
        elif isinstance(one, Le | Lt):
            high, high_open = (one.le, False) if isinstance(one, Le) else (one.lt, True)
    if low is None and high is None:
        return click.INT if kind is int else click.FLOAT
    return (click.IntRange if kind is int else click.FloatRange)(low, high, min_open=low_open, max_open=high_open)
