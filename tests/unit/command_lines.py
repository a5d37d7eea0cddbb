"""Lines of pages that a reader would type: does kgeval take them?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from kgeval.cli.main import cli


def faults(line: str) -> list[str]:
    """What click says of a command line; the files in it are made first."""
    words = [word.replace("$MODEL", "judge") for word in shlex.split(line, comments=True)[1:]]
    for word in words:
        if re.fullmatch(r"[\w./-]+\.(jsonl?|toml|csv)", word):
            Path(word).parent.mkdir(parents=True, exist_ok=True)
            Path(word).touch()
    command = command_of(words)
    if command is None:
        return [f"{line}: no such command"]
    try:
        command.make_context("kgeval", words[depth(words):], parent=click.Context(cli))
    except click.ClickException as wrong:
        return [f"{line}: {wrong.format_message()}"]
    return []


def words_of(name: str) -> list[str]:
    """The command's words in a code span: `kgeval stats paired` -> stats, paired."""
    return [word for word in shlex.split(name)[1:] if not word.startswith("-")]


def depth(words: list[str]) -> int:
    """How many of the words name the command."""
    at, command = 0, cli
    while isinstance(command, click.Group) and at < len(words):
        found = command.get_command(click.Context(command), words[at])
        if found is None:
            break
        command, at = found, at + 1
    return at


def command_of(words: list[str]) -> click.Command | None:
    """The command that the words begin with; null if there is none, or if only a group of commands is named before another word."""
    command: click.Command = cli
    for word in words[:depth(words)]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word) or command
    unknown = isinstance(command, click.Group) and not command.invoke_without_command and depth(words) < len(words)
    return None if command is cli or unknown else command
