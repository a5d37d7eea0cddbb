"""`kgeval init`: a kgeval.toml to start from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say, visible
from kgeval.cli.derive import HeadedCommand, flags_of
from kgeval.config import SessionOptions
from kgeval.errors import UsageError
from kgeval.format import first_of

if TYPE_CHECKING:
    from kgeval.workflows.pipeline.start import Surroundings


ADDRESS = "Neo4j's address, to look at what it holds; read only."


@click.command(cls=HeadedCommand)
@click.argument("folder", required=False, default=Path(), type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--for", "case", type=click.Choice(["graph", "documents", "answers"]), help="What you have [default: what is found].")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("kgeval.toml"), show_default=True, help="- is stdout.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@flags_of(SessionOptions, only=("uri", "username", "database"), heading="", texts={"uri": ADDRESS})
@click.option("--judge", metavar="NAME", help="Model that judges, to be set in the file.")
def init(folder: Path, case: str | None, output: Path, force: bool, judge: str | None, **connection: Any) -> int:
    """Look at FOLDER [default: the current one] and at Neo4j, where an address is given, and write a commented kgeval.toml.

    Files are told by their first rows: answers, questions, documents, gold, graph files. Nothing is started, asked or changed.

    Exit codes: 0 written, 2 a file is there already, or no connection.
    """
    from kgeval.tables.output import write_text
    from kgeval.workflows.pipeline.discover import look
    from kgeval.workflows.pipeline.start import CASES, case_of, text_of

    if output != Path("-") and output.exists() and not force:
        raise UsageError(f"{output} is there already", fix="name another with -o, or replace it with --force")
    looked, known = look(folder), replace(_known(judge, connection), project=_project(folder))
    if case == "documents" and looked.documents:
        looked = replace(looked, graphs=())
    chosen = case or case_of(looked, known)
    for name, paths in (("answers", looked.answers), ("questions", looked.questions), ("documents", looked.documents),
                        ("graph files", looked.graphs), ("gold", looked.gold)):
        if paths:
            say(f"{name}: " + first_of([*map(str, paths)], 5))
    if looked.more:
        say("there are more files than were looked at: name what is missing in the file yourself")
    for note in known.notes:
        say(note)
    if not (looked.answers or looked.documents or looked.graphs or known.nodes):
        say("nothing was found to work on: set [source], [answers] or the address in [graph] before you run it")
    text = text_of(chosen, looked, known)  # type: ignore[arg-type]
    if output == Path("-"):
        click.echo(text, nl=False)
        return 0
    write_text(output, text, shared=True, kept=False)
    _trust(output)
    say(visible(f"wrote {output}: {CASES[chosen]}"))  # type: ignore[index]
    say(f"next: kgeval run {'' if output == Path('kgeval.toml') else f'{output} '}--list, then without --list")
    return 0


def _trust(output: Path) -> None:
    """Trusts the file, which says what this user's command found."""
    from kgeval.config.trust import ConfigFile
    from kgeval.errors import ConfigError

    try:
        ConfigFile.read(output).trust()
    except ConfigError as cause:  # the file is there all the same
        say(f"warning: not written down as trusted: {cause.message}")


def _project(folder: Path) -> str | None:
    """A graph's name after the folder, so that two projects do not write one graph."""
    from kgeval.errors import KgevalError
    from kgeval.graph.load.naming import check_graph_name

    name = re.sub(r"[^\w]+", "-", folder.resolve().name).strip("-_").lower()
    try:
        check_graph_name(name)
    except KgevalError:
        return None
    return name


def _known(judge: str | None, connection: dict[str, Any]) -> Surroundings:
    """What the database and the environment say. Raises: ConnectError for an address that was given and does not answer."""
    from kgeval.access import KEY_COMMAND
    from kgeval.config import environment
    from kgeval.workflows.pipeline.start import Surroundings

    endpoint, key = environment("OPENAI_BASE_URL"), (environment("OPENAI_API_KEY") or environment(KEY_COMMAND)) is not None
    if not connection["uri"]:
        return Surroundings(judge=judge, endpoint=endpoint, key=key)
    from kgeval.cli.options import session_from
    from kgeval.graph.layouts import catalogue, detect

    with session_from("init", connection) as session:
        seen = catalogue(session.graph)
        detection = detect(session.graph, seen=seen)
    what = detection.choice or " or ".join(candidate.name for candidate in detection.tied) or "none"
    return Surroundings(
        uri=connection["uri"], layout=detection.choice, nodes=seen.nodes, judge=judge, endpoint=endpoint, key=key,
        notes=(f"Neo4j: {seen.nodes:,} nodes; layout: {what} ({detection.reason})",),
    )
