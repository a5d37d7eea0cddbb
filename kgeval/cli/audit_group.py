"""A command with arguments of its own that has sub-commands too: `kgeval audit [GRAPH]...` and `kgeval audit diff A B`."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from kgeval.cli.derive import BRIEF, HeadedCommand, WithShortHelp, format_headed, format_text


class OwnArgument(click.Argument):
    """An argument of such a command; it stands in its own usage line, and not in that of its sub-commands."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return super().get_usage_pieces(ctx) if self in ctx.command.params else []

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = ctx.command.commands if isinstance(ctx.command, click.Group) and not ctx.params.get(str(self.name)) else {}
        return [*(CompletionItem(name) for name in names if name.startswith(incomplete)), *super().shell_complete(ctx, incomplete)]


class CommandWithMore(click.Group, WithShortHelp):
    """A group that is a command itself: a first word that names a sub-command is that sub-command, everything else is the command's own.

    Make it with `invoke_without_command=True`.
    """

    command_class = HeadedCommand
    # a group of click's stops reading flags at the first free word; here flags may follow GRAPH
    allow_interspersed_args = True
    allow_extra_args = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            # the sub-command reads all of it; its own arguments stay unread, and `invoke` sees by this which was meant
            ctx.args = list(args)
            return ctx.args
        ctx.meta[BRIEF] = "-h" in args
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, command, rest = self.resolve_command(ctx, ctx.args)
        if command is None or name is None:  # cannot be: parse_args looked it up
            ctx.fail(f"No such command '{ctx.args[0]}'.")
        with command.make_context(name, rest, parent=ctx) as inner:
            return command.invoke(inner)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_text(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        format_headed(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands of its own"):
            formatter.write_dl([(name, command.get_short_help_str(limit=90)) for name, command in self.commands.items()])
