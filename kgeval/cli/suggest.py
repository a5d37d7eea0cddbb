"""What was meant by a command or an option that is not there."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

ALIKE = 0.7  # '--version' is not '--gds-session', '--exampels' is '--examples'


def suggested(wrong: click.ClickException) -> click.ClickException:
    """The error, with the nearest command or option of where it was met; an option of kgeval itself stands before the command."""
    context = getattr(wrong, "ctx", None)
    if context is None or not isinstance(wrong, click.UsageError):
        return wrong
    if isinstance(wrong, click.NoSuchOption):
        root, what = context.find_root(), f"No such option '{wrong.option_name}'."
        if context is not root and wrong.option_name in _options(root.command):
            return click.UsageError(f"{what} It stands before the command: {root.info_name} {wrong.option_name}", context)
        known = _options(context.command)
        if wrong.option_name == "--json" and "--format" not in known and not isinstance(context.command, click.Group):
            return click.UsageError(f"{what} {context.command_path} prints text only.", context)
        return click.UsageError(what + _hint(wrong.option_name, known), context)
    if wrong.message.startswith("No such command") and isinstance(context.command, click.Group):
        name = wrong.message.partition("'")[2].partition("'")[0]
        return click.UsageError(f"No such command '{name}'." + _hint(name, _commands(context)), context)
    return wrong


def _hint(name: str, known: Mapping[str, str]) -> str:
    near = dict.fromkeys(known[word] for word in get_close_matches(name, known, cutoff=ALIKE))
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _commands(context: click.Context) -> dict[str, str]:
    """The commands of a group, under their names."""
    return {name: name for name in context.command.list_commands(context)} if isinstance(context.command, click.Group) else {}


def _options(command: click.Command) -> dict[str, str]:
    """The flags of a command, and what is written for those of other tools."""
    flags = {
        name: name for option in command.params for name in (*option.opts, *option.secondary_opts) if name.startswith("-")
    }
    if "--format" in flags:
        flags.setdefault("--json", "--format json")  # as in other tools
    return {**flags, "--help": "--help"}
