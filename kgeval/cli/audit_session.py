"""`kgeval audit --gds-session`: the graph algorithms of an audit run in a session of Aura Graph Analytics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, open_from_options, open_without_gds, say
from kgeval.cli.interrupts import patient

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.algorithms import Algorithms
    from kgeval.graph.aura import SessionOptions
    from kgeval.graph.connect import Graph

SESSION_SECONDS = 30.0


def session_options(command: F) -> F:
    """--gds-session and what the session shall be. The key comes from AURA_CLIENT_ID and AURA_CLIENT_SECRET."""
    for option in reversed((
        click.option(
            "--gds-session", is_flag=True,
            help="Run the graph algorithms in a session of Aura Graph Analytics (it costs; key: AURA_CLIENT_ID, AURA_CLIENT_SECRET).",
        ),
        click.option("--gds-session-memory", metavar="SIZE", help="Memory of the session, 2GB to 512GB [default: Aura's estimate]."),
        click.option(
            "--gds-session-ttl", type=int, metavar="MINUTES", help="Minutes without work after which Aura ends it [default: 60].",
        ),
        click.option(
            "--gds-session-cloud", metavar="PROVIDER:REGION", help="Where it runs, for a database that is not in Aura (gcp:europe-west1).",
        ),
        click.option("--gds-session-name", metavar="NAME", help="Use this session; left alone at the end if it was there before."),
    )):
        command = option(command)
    return command


def planned_session(config: Config, given: Mapping[str, Any]) -> SessionOptions | None:
    """What is asked for by flags, completed from `[graph.session]`; null if no session is. The key must be there.

    Raises: UsageError for flags that do not fit together or values that cannot be meant; ConfigError without a key.
    """
    import os

    from kgeval.errors import UsageError

    parts = {part: given[f"gds_session_{part}"] for part in ("memory", "ttl", "cloud", "name")}
    section = config.graph.session
    if not given["gds_session"] and not section.use:
        if named := [f"--gds-session-{part}" for part, value in parts.items() if value is not None]:
            raise UsageError(f"{', '.join(named)} without a session", fix="add --gds-session, or leave it out")
        return None
    from kgeval.graph.aura import SessionOptions, credentials

    credentials(os.environ)
    chosen = {part: getattr(section, part) if value is None else value for part, value in parts.items()}
    return SessionOptions(**chosen)


@contextmanager
def graph_for_audit(config: Config, options: Mapping[str, Any], session: SessionOptions | None) -> Iterator[Graph]:
    """The open graph, its algorithms in a session for the time of the block if one is asked for. A dry run asks nothing of Aura.

    Raises: ConfigError, ConnectError, UsageError before anything is paid.
    """
    where = {key: options[key] for key in ("uri", "username", "database", "home")}
    if session is None or options["dry_run"]:
        with (open_from_options if session is None else open_without_gds)(config, **where) as graph:
            yield graph
        return
    from kgeval.graph.aura import in_session

    # a session that is not deleted costs money until Aura ends it
    with patient(SESSION_SECONDS), open_without_gds(config, **where) as graph, in_session(graph, session, say=say):
        yield graph


def session_notes(where: Algorithms | None) -> list[str]:
    """What a reader must know of where the algorithms ran. `where`: as Graph.algorithms."""
    from kgeval.graph.aura.session import Session

    if not isinstance(where, Session):
        return []
    if not where.used:
        return ["a session of Aura Graph Analytics was asked for; none was used"]
    return ["the graph algorithms ran in a session of Aura Graph Analytics, not in the database"]
