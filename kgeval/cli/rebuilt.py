"""A command's options from its manifest, and its argument list from its options: for whoever goes on with a run, or starts parts of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any

import click

from kgeval.errors import InputError


def options_from(command: click.Command, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command as a manifest's arguments name them; the rest have their defaults (never the environment's).

    Raises: InputError with every argument that cannot be taken (a file that is no longer there).
    """
    context, found, faults = click.Context(command), dict[str, Any](), []
    for option in command.params:
        name = str(option.name)
        given = arguments.get(name)
        try:
            found[name] = option.type_cast_value(context, _default(option, context) if given is None else given)
        except click.BadParameter as cause:
            faults.append(f"{flag_of(option)}: {cause.message}")
    if faults:
        raise InputError("what the parts were made with cannot be used here", faults=faults, fix="name files that have moved")
    return found


def _default(option: click.Parameter, context: click.Context) -> Any:
    """The default; null where there is none (click has a word of an enumeration of its own for that)."""
    default = option.get_default(context)
    return None if isinstance(default, Enum) else default


def argv_of(command: click.Command, options: Mapping[str, Any], *, without: Collection[str] = ()) -> list[str]:
    """The argument list that gives a command these options. `without`: names of options that are left to their defaults."""
    named, bare = [], []
    for option in command.params:
        name = str(option.name)
        value = options.get(name)
        if name in without or value is None or value is False or value == ():
            continue
        values = [str(one) for one in (value if isinstance(value, tuple) else (value,))]
        if isinstance(option, click.Argument):
            bare += values
        elif isinstance(option, click.Option) and option.is_flag:
            named.append(flag_of(option))
        else:
            named += [f"{flag_of(option)}={one}" for one in values]
    return [*named, "--", *bare]


def flag_of(option: click.Parameter) -> str:
    """How an option is written in full; of an argument, its name."""
    return max(option.opts, key=len) if isinstance(option, click.Option) else str(option.name).upper()
