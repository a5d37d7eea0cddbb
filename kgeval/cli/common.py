"""What commands share: connection options, opening a graph, messages on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Address, Graph

DAY = 86_400
F = TypeVar("F", bound=Callable[..., Any])


def say(text: str) -> None:
    """A message for people, on stderr."""
    click.echo(visible(text), err=True)


def visible(text: str) -> str:
    """The text with control and direction characters (but line ends and tabs) written out: no name, file or reply steers a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listed(values: Iterable[str]) -> list[str]:
    """The parts of a list option: comma or repeated."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


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
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not 0 < number <= DAY:
            self.fail(f"'{value}' is no number of seconds between 0 and {DAY}", param, ctx)
        return number


def silence_stdout() -> None:
    """After a closed pipe: what is still buffered goes nowhere, without a message at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


bad_rows_option = click.option(
    "--max-bad-rows", type=click.FloatRange(0, 1), default=0.0, show_default=True,
    help="Share of bad rows that are left out and counted; where there are more, nothing is done.",
)


class OutputPath(click.Path):
    """Where something is written. A name that ends in / is a folder, whatever is in it (`run.v1/`): pathlib forgets the sign, so the
    folder is made before anybody has to tell, and goes again if nothing came into it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if isinstance(value, str) and value.endswith(os.sep) and isinstance(path, Path) and path.suffix and not path.is_dir():
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                self.fail(f"{value}: is a file, and a name that ends in {os.sep} is a folder", param, ctx)
            except OSError as cause:
                self.fail(f"{value}: the folder cannot be made: {cause.strerror}", param, ctx)
            if ctx is not None:
                ctx.call_on_close(lambda: _remove_empty(path))
        return path


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def connection_options(command: F) -> F:
    """--uri, --username, --database, --home, --config. The password comes from NEO4J_PASSWORD or a prompt."""
    for option in reversed((
        click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml)."),
        click.option("--uri", envvar="NEO4J_URI", show_envvar=True, help="Neo4j's address; without it the embedded server is used."),
        click.option(
            "--username", envvar="NEO4J_USERNAME", show_envvar=True,
            help="User [default: neo4j]. The password comes from NEO4J_PASSWORD or a prompt.",
        ),
        click.option("--database", envvar="NEO4J_DATABASE", show_envvar=True, help="Database [default: the user's home database]."),
        click.option("--home", type=click.Path(path_type=Path), help="Home of the embedded server to use."),
    )):
        command = option(command)
    return command


def open_from_options(config: Config, *, uri: str | None, username: str | None, database: str | None, home: Path | None) -> Graph:
    """An open graph: flag > environment > kgeval.toml > embedded server (started if need be, and said so). Warns where GDS is missing."""
    from kgeval.graph.server_info import gds_warning

    graph = open_without_gds(config, uri=uri, username=username, database=database, home=home)
    if warning := gds_warning(graph.info):
        say(f"warning: {warning}")
    return graph


def open_without_gds(config: Config, *, uri: str | None, username: str | None, database: str | None, home: Path | None) -> Graph:
    """As `open_from_options`, for work that does not need GDS in this database. What killed runs left on the server is cleared first."""
    from kgeval.graph.connect import open_graph
    from kgeval.graph.project import clear

    graph = open_graph(_address(config, uri, username, database, home))
    for what in clear(graph):
        say(f"cleared on the server: {what}")
    return graph


def _address(config: Config, uri: str | None, username: str | None, database: str | None, home: Path | None) -> Address:
    from kgeval.config import environment
    from kgeval.graph.connect import Address

    where = uri or config.graph.uri
    if not where or home is not None:
        from kgeval.cli.download import download_bar
        from kgeval.graph.server import ensure_started

        _embedded_only(username, database)
        with download_bar() as progress:
            return ensure_started(home=home, say=say, progress=progress)
    password = environment("NEO4J_PASSWORD")
    if password is None:
        password = click.prompt("Neo4j password", hide_input=True, err=True) if interactive() else ""
    source = "--uri or NEO4J_URI" if uri else "kgeval.toml"
    return Address(where, username or config.graph.username or "neo4j", password, database or config.graph.database, source)


def _embedded_only(username: str | None, database: str | None) -> None:
    """Refuses flags that the embedded server cannot honour."""
    from kgeval.errors import UsageError

    source = click.get_current_context().get_parameter_source("uri")
    if source == click.core.ParameterSource.COMMANDLINE:
        raise UsageError("--uri and --home exclude each other", fix="--home means the embedded server; leave one of them out")
    if username not in (None, "neo4j") or database not in (None, "neo4j"):
        raise UsageError(
            "the embedded server has one user and one database, both called neo4j",
            fix="leave out --username and --database (NEO4J_USERNAME, NEO4J_DATABASE), or give --uri",
        )


def coloured(stream: TextIO) -> bool:
    """True for a terminal that takes colours, unless its user wants none (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """True if a person can answer a question: stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()
