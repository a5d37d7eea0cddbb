"""`--embed`: vectors for the checks that hold entities against each other by meaning, made beside the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, say
from kgeval.cli.models import embedding_options

if TYPE_CHECKING:
    from kgeval.auditing.check import Embedding
    from kgeval.config import Config


def embed_options(*, cache: bool = True) -> Callable[[F], F]:
    """--embed, --embed-anew and what belongs to them. `cache`: --cache-dir too, where the command has none yet."""
    own = [
        click.option(
            "--embed", is_flag=True,
            help="Where the graph has no embeddings, make them of the entities' names for similar-entity; the graph stays as it is.",
        ),
        click.option("--embed-anew", is_flag=True, help="As --embed, also where the graph has embeddings of its own."),
    ]
    if cache:
        own.append(click.option("--cache-dir", type=click.Path(path_type=Path), help="Cache of made embeddings [default: the user's]."))

    def decorate(command: F) -> F:
        for option in reversed((*own, embedding_options)):
            command = option(command)
        return command

    return decorate


def embedding_of(config: Config, options: Mapping[str, Any]) -> Embedding | None:
    """What makes the vectors; None without --embed (or `embed` in [audit] of kgeval.toml). The model is loaded and tried here.

    Raises: UsageError for options without --embed; ModelError for a model or endpoint that cannot be used.
    """
    from kgeval.cli.models import embedding_from_options
    from kgeval.config import AuditOptions
    from kgeval.workflows import audit
    from kgeval.workflows.session import Session

    session = Session("", config=config, embedding=embedding_from_options(options), dry=bool(options.get("dry_run")), say=say)
    embed = "anew" if options["embed_anew"] else True if options["embed"] else config.audit.embed
    return audit.embedding_of(session, AuditOptions(embed=embed))
