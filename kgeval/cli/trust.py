"""`kgeval trust`: lets a kgeval.toml that is found, and not named, do what it says."""

from __future__ import annotations

from pathlib import Path

import click

from kgeval.cli.common import visible
from kgeval.cli.derive import HeadedCommand
from kgeval.config.reading import DEFAULT_FILE
from kgeval.config.trust import ConfigFile, revoke, trusted_files
from kgeval.errors import UsageError


@click.command(cls=HeadedCommand)
@click.argument("file", required=False, default=Path(DEFAULT_FILE), type=click.Path(path_type=Path))
@click.option("--list", "lists", is_flag=True, help="List the files that were trusted, and whether they have changed since.")
@click.option("--revoke", "revokes", is_flag=True, help="Trust FILE no longer.")
def trust(file: Path, lists: bool, revokes: bool) -> int:
    """Trust FILE [default: kgeval.toml], after you have read it: print what it does beside computing in its folder, and remember it.

    A kgeval.toml that is found, and not named with --config, is refused without trust where it runs code, sends keys or texts to an
    address, leaves its folder, deletes graphs or opens paid sessions. A change of FILE, or of a .py file or script that it names, takes
    the trust back. Not looked at: what such code imports, packages, models, indexes.

    Exit codes: 0 done, 2 FILE is faulty, or was not trusted and cannot be revoked.
    """
    if lists and revokes:
        raise UsageError("--list and --revoke exclude each other", fix="leave one of them out")
    if lists:
        for path, state in trusted_files():
            click.echo(f"{state:8} {visible(str(path))}")
        return 0
    if revokes:
        if not revoke(file.parent.resolve() / file.name):
            raise UsageError(f"{file} was not trusted", fix="kgeval trust --list names the files that are")
        click.echo(f"no longer trusted: {visible(str(file))}")
        return 0
    found = ConfigFile.read(file)
    found.sound()
    click.echo(f"What {visible(str(file))} does:{found.told() or ' it only computes, in its folder'}")
    found.trust()
    files = ", ".join(map(str, [file, *found.code]))
    click.echo(f"trusted until one of these changes: {visible(files)}")
    return 0
