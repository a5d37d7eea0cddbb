"""Flags from an options class: each field is a click option with its name, type, default and description."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from kgeval.cli.common import F, Option, OutputPath, Seconds
from kgeval.config import Flag, Section, Unit
from kgeval.config.flags import Folder, Written
from kgeval.config.words import flag_of, flagged, plain_type, split_at_commas
from kgeval.errors import UsageError

S = TypeVar("S", bound=Section)


def flags_of(
    kind: type[Section], *, only: Sequence[str] | None = None, without: Collection[str] = (), heading: str | None = None,
    texts: Mapping[str, str] | None = None, choices: Sequence[str] = (), required: Collection[str] = (),
    **words: str,
) -> Callable[[F], F]:
    """A decorator that gives a command the flags of an options class. What is not given is None, so that a file may say it; but a field
    with `choices` (fewer than its own) has its default.

    `only`: of these fields, in this order; `without`: not of these. What this command says otherwise than the class: `heading` of all of
    them in the help, `texts`: field -> description, `words`: what stands in braces in the descriptions, `required`: fields.
    """

    def decorate(command: F) -> F:
        # click turns the options of a command round when it makes it, as decorators stand: the last to come is the first
        for name in reversed([name for name in only or kind.model_fields if name not in without]):
            field = kind.model_fields[name]
            text = (texts or {}).get(name, field.description or "")
            click_options = _options(name, field, text.format_map(words) if words else text, choices, required=name in required)
            for option in reversed(list(click_options)):
                command = option(command)
                if heading is not None:
                    # until the command is made, its options wait in this list; the last is the one just added
                    command.__click_params__[-1].heading = heading  # type: ignore[attr-defined]
        return command

    return decorate


def given_of(kind: type[Section], options: Mapping[str, Any]) -> dict[str, Any]:
    """What a command was given of the fields of an options class, as the class takes it. Raises: UsageError for a pair without =."""
    values = {name: options[name] for name in kind.model_fields if name in options}
    values = {
        name: value for name, value in values.items()  # 0 is given, and so is the no of a yes-or-no flag
        if value is not None and value != () and (value is not False or kind.model_fields[name].default is None)
    }
    for name, value in values.items():
        field = kind.model_fields[name]
        flag = next((mark for mark in field.metadata if isinstance(mark, Flag)), Flag())
        if get_origin(field.annotation) is dict:
            if wrong := [text for text in value if "=" not in text]:
                raise UsageError(f"{flag_of(kind, name)} {', '.join(wrong)}: write {flag.metavar}", fix="--help describes each option")
            pairs = (text.partition("=") for text in value)
            values[name] = {key.strip(): part.strip() for key, _, part in pairs}
        elif flag.commas:
            values[name] = tuple(split_at_commas(value))
    return values


def options_from(
    kind: type[S], options: Mapping[str, Any], section: Section | None = None, *,
    names: Callable[[S], Iterable[Callable[[], object]]] = lambda _: (),
) -> S:
    """The options of a command over those of its section of kgeval.toml. `names`: checks of what only the task knows.

    Raises: UsageError that names every faulty flag.
    """
    from kgeval.workflows.session import options_of

    def worded(cause: ValidationError) -> str:
        return "; ".join(flagged(kind, cause))

    return options_of(kind, given_of(kind, options), section, names=names, worded=worded, fix="--help describes each option")


BRIEF = "kgeval.brief"  # in a context's meta: -h was asked for, the page of one screen


class WithShortHelp(click.Command):
    """A command that has -h too, also where it is called alone: click remembers the first answer for all later calls."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return ["-h", "--help"]


class HeadedCommand(WithShortHelp):
    """A command whose rare options stand under headings of their own in the help; `-h` only names these."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[BRIEF] = "-h" in args
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_text(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_headed(self, ctx, formatter)


class CommandGroup(click.Group, WithShortHelp):
    """A group of such commands."""

    command_class = HeadedCommand


def format_text(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """What a command does; with -h its first paragraph and its examples."""
    text = inspect.cleandoc(command.help or "")
    if context.meta.get(BRIEF):
        first, *others = text.split("\n\n")
        text = "\n\n".join([first, *(part for part in others if part.startswith("\b"))])
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(text)


def format_headed(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a command: those without a heading first, then heading by heading; with -h of these the names alone."""
    brief = bool(context.meta.get(BRIEF))
    parts: dict[str, list[tuple[str, str]]] = {"": []}
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            parts.setdefault(getattr(param, "heading", ""), []).append(record)
    for heading, records in parts.items():
        if records and not (brief and heading):
            with formatter.section(heading or "Options"):
                formatter.write_dl(records)
    named = [
        (heading, ", ".join(next(word.rstrip(",") for word in flags.split() if word.startswith("--")) for flags, _ in records))
        for heading, records in parts.items() if heading
    ]
    if brief and named:
        with formatter.section(f"More, which {context.command_path} --help describes"):
            for heading, flags in named:  # no line breaks within the name of a flag
                lines = textwrap.wrap(f"{heading}: {flags}", formatter.width - 4, break_on_hyphens=False)
                formatter.write("  " + "\n    ".join(lines) + "\n")


def _options(
    name: str, field: FieldInfo, text: str, choices: Sequence[str], *, required: bool,
) -> Iterator[Callable[[F], F]]:
    flag = next((mark for mark in field.metadata if isinstance(mark, Flag)), Flag())
    if flag.values:
        for word, (value, help_) in flag.values.items():
            # both flags of a field get what either was given: no type of its own may refuse the other's value
            yield click.option(
                word, name, cls=Option, heading=flag.heading, flag_value=value, default=None, help=help_, type=click.UNPROCESSED,
            )
        return
    words = [*([flag.short] if flag.short else []), *(flag.name or "--" + name.replace("_", "-")).split(), name]
    shape: dict[str, Any] = {"cls": Option, "heading": flag.heading}
    shape |= {"required": True} if required else {"default": None}  # to newer clicks a default of None is a value that was given
    if flag.envvar:
        shape |= {"envvar": flag.envvar, "show_envvar": True}
    inner = plain_type(field.annotation)
    if inner is bool:
        shape["is_flag"] = True
    elif get_origin(inner) in (tuple, dict):
        plain = get_origin(inner) is dict or flag.commas
        shape |= {"multiple": True, "type": str if plain else _type(get_args(inner)[0], field)}
    elif choices and get_origin(inner) is Literal:
        shape |= {"type": click.Choice(choices), "default": field.default, "show_default": True}
    else:
        shape["type"] = _type(inner, field)
        if field.default is not None and not text.endswith("."):
            text += f" [default: {field.default:g}]." if isinstance(field.default, float) else f" [default: {field.default}]."
    if flag.metavar:
        shape["metavar"] = flag.metavar
    yield click.option(*words, help=text, **shape)


def _type(kind: Any, field: FieldInfo) -> Any:
    """How click reads a value: choices, ranges and paths as the field has them."""
    if any(isinstance(mark, Unit) and mark.name == "seconds" for mark in field.metadata):
        return Seconds()
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        if any(isinstance(mark, Folder) for mark in field.metadata):
            return click.Path(path_type=Path, file_okay=False)
        return (OutputPath if any(isinstance(mark, Written) for mark in field.metadata) else click.Path)(path_type=Path)
    if kind in (int, float):
        return _range(kind, field)
    return str


def _range(kind: type, field: FieldInfo) -> click.ParamType[Any]:
    ends = {name: end for mark in field.metadata for name in ("ge", "gt", "le", "lt") if (end := getattr(mark, name, None)) is not None}
    low, high = ends.get("ge", ends.get("gt")), ends.get("le", ends.get("lt"))
    if low is None and high is None:
        return click.INT if kind is int else click.FLOAT
    return (click.IntRange if kind is int else click.FloatRange)(low, high, min_open="gt" in ends, max_open="lt" in ends)
