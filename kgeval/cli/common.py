"""What commands share: kinds of options, messages on stderr, and who sits at the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from kgeval.format import for_terminal

F = TypeVar("F", bound=Callable[..., Any])
visible = for_terminal


def say(text: str) -> None:
    """A message for people, on stderr."""
    click.echo(for_terminal(text), err=True)


def arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """A command's options as the manifest keeps them: JSON values, without what only concerns the screen."""
    return {name: as_json(value) for name, value in options.items() if name not in ("no_progress", "quiet")}


def as_json(value: Any) -> Any:
    """An option's value as JSON has it: a path is text, several values are a list."""
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    return str(value) if isinstance(value, Path) else value


class Seconds(click.ParamType[float]):
    """A time limit: a finite number of seconds above 0, at most a day."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from kgeval.config.flags import DAY  # `kgeval --help` loads no options

        try:
            number = float(value)
        except ValueError:
            # outside of every span, as a NaN that is typed
            number = float("nan")
        if not 0 < number <= DAY:
            self.fail(f"'{value}' is no number of seconds between 0 and {DAY}", param, ctx)
        return number


class Option(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *args: Any, heading: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.heading = heading


def silence_stdout() -> None:
    """After a closed pipe: what is still buffered goes nowhere, without a message at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class OutputPath(click.Path):
    """Where something is written: a name that ends in / is a folder, as `output_path` has it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if ctx is not None and isinstance(path, Path):
            from kgeval.errors import UsageError
            from kgeval.tables.output import output_path

            try:
                ctx.with_resource(output_path(value))
            except UsageError as fault:
                self.fail(fault.message, param, ctx)
        return path


class Person:
    """Whoever sits at the terminal."""

    def password(self, prompt: str) -> str:
        """A password, not shown."""
        answer: str = click.prompt(prompt, hide_input=True, err=True)
        return answer

    def number(self, prompt: str, most: int) -> int:
        """One of 1 to `most`."""
        answer: int = click.prompt(prompt, type=click.IntRange(1, most), err=True)
        return answer


def person() -> Person | None:
    """Who can answer a question; None where nobody can."""
    return Person() if interactive() else None


def coloured(stream: TextIO) -> bool:
    """True for a terminal that takes colours, unless its user wants none (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """True if a person can answer a question: stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()
