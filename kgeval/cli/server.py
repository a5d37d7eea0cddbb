"""`kgeval server`: the embedded Neo4j by hand. Other commands start it by themselves when NEO4J_URI is not set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgeval.cli.common import interactive, say
from kgeval.cli.derive import CommandGroup
from kgeval.cli.options import home_option
from kgeval.cli.show import form_option
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.graph.server import ServerStatus

STATUS_FIELDS = ("running", "uri", "username", "password_file", "home", "pid", "neo4j", "gds")


@click.group(cls=CommandGroup)
def server() -> None:
    """The embedded Neo4j: start, stop, status, logs, remove.

    It listens on this machine only, has a random password, and needs neither Docker nor Java. Other commands start it
    by themselves when NEO4J_URI is not set.
    """


@server.command()
@home_option
@click.option(
    "--neo4j", metavar="LINE", help="Line of Neo4j: 5.26 or 2026.01 [default: the home's own; of a new one KGEVAL_NEO4J_LINE, else 5.26]."
)
@click.option("--heap", metavar="SIZE", help="Java heap: 512m, 4g [default: 1g]. Large graphs need more.")
@click.option("--port", type=int, help="Bolt port [default: a free one].")
@click.option(
    "--jars", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder with the jars, for machines without network."
)
def start(home: Path | None, neo4j: str | None, heap: str | None, port: int | None, jars: Path | None) -> None:
    """Start the server, if it does not run, and say where it is.

    The first start downloads about 150 MB (Neo4j and GDS), checked and kept for all homes.
    """
    from kgeval.cli.download import download_bar
    from kgeval.graph import server as embedded

    with download_bar() as progress:
        show(embedded.start(home, say=say, neo4j=neo4j, heap=heap, port=port, jars=jars, progress=progress))


@server.command()
@home_option
def stop(home: Path | None) -> None:
    """Stop the server. Its graphs stay."""
    from kgeval.graph import server as embedded

    say("stopped" if embedded.stop(home, say=say, keep_classes=True) else "it does not run")


@server.command()
@home_option
@form_option()
def status(home: Path | None, form: str) -> None:
    """Show where the server is and whether it runs."""
    from kgeval.graph import server as embedded

    state = embedded.status(home)
    if form == "json":
        click.echo(state.model_dump_json(include=set(STATUS_FIELDS), indent=2))
    else:
        show(state)


@server.command()
@home_option
@click.option("-n", "--lines", type=click.IntRange(min=1), default=50, show_default=True, help="How many lines.")
def logs(home: Path | None, lines: int) -> None:
    """Print the last lines that the server wrote."""
    from kgeval.graph import server as embedded

    written = embedded.logs(home, lines)
    for line in written:
        click.echo(line)
    if not written:
        say("no log yet: the server was never started")


@server.command()
@home_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def remove(home: Path | None, yes: bool) -> None:
    """Stop the server and delete its home with all graphs in it. The downloaded jars stay."""
    from kgeval.graph import server as embedded

    where = embedded.status(home).home
    if not yes:
        if not interactive():
            raise UsageError(f"{where} and all graphs in it would be deleted", fix="add --yes, or run it in a terminal")
        if not click.confirm(f"Delete {where} and all graphs in it?", err=True):
            say("nothing was removed")
            return
    embedded.remove(home, say=say)
    say(f"removed {where}")


def show(found: ServerStatus) -> None:
    """The status in words."""
    versions = f"Neo4j {found.neo4j} with GDS {found.gds}" if found.neo4j else "the embedded Neo4j"
    if not found.running:
        click.echo(f"{versions} does not run\nhome      {found.home}")
        return
    click.echo(f"{versions} runs")
    for name, value in (
        ("address", found.uri), ("user", found.username), ("password", f"in {found.password_file}"),
        ("home", found.home), ("pid", found.pid), ("log", found.log),
    ):
        click.echo(f"{name:<9} {value}")
