"""What was meant by a command or an option that is not there."""

from __future__ import annotations

from difflib import get_close_matches

import click

ALIKE = 0.7  # '--version' is not '--gds-session', '--limt' is '--limit'


def suggested(wrong: click.ClickException) -> click.ClickException:
    """The error, with the nearest command or option of where it was met; an option of kgeval itself stands before the command."""
    context = getattr(wrong, "ctx", None)
    if context is None or not isinstance(wrong, click.UsageError):
        return wrong
    if isinstance(wrong, click.NoSuchOption):
        root, what = context.find_root(), f"No such option '{wrong.option_name}'."
        if context is not root and wrong.option_name in _options(root.command):
            return click.UsageError(f"{what} It stands before the command: {root.info_name} {wrong.option_name}", context)
        return click.UsageError(what + _hint(wrong.option_name, _options(context.command)), context)
    if wrong.message.startswith("No such command") and isinstance(context.command, click.Group):
        name = wrong.message.partition("'")[2].partition("'")[0]
        return click.UsageError(f"No such command '{name}'." + _hint(name, context.command.list_commands(context)), context)
    return wrong


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, cutoff=ALIKE)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _options(command: click.Command) -> list[str]:
    return [name for option in command.params for name in (*option.opts, *option.secondary_opts) if name.startswith("-")] + ["--help"]
