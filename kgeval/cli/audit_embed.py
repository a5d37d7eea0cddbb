"""`--embed`: vectors for the checks that hold entities against each other by meaning, made beside the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, say
from kgeval.cli.models import embedding_options, open_embedder_from_options
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.auditing.check import Embedding
    from kgeval.config import Config
    from kgeval.manifest import Asked

BELONGING = ("embedding_model", "embedding_url", "embedding_device")


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
    """What makes the vectors; null without --embed (or `embed` in [audit] of kgeval.toml). The model is loaded and tried here, so that
    a wrong one is told at once.

    Raises: UsageError for options without --embed; ModelError for a model or endpoint that cannot be used.
    """
    anew = bool(options["embed_anew"]) or config.audit.embed == "anew"
    if not (anew or options["embed"] or config.audit.embed):
        given = [f"--{name.replace('_', '-')}" for name in BELONGING if options.get(name)]
        if given:
            raise UsageError(f"{', '.join(given)} without --embed", fix="add --embed, or --embed-anew where the graph has embeddings")
        return None
    from kgeval.auditing.check import Embedding

    embedder = open_embedder_from_options(config, options)
    if not options.get("dry_run"):
        embedder.fresh("ready")
    return Embedding(embedder, anew=anew, cache_dir=options["cache_dir"], say=say)


def asked_of(embedding: Embedding | None) -> Asked | None:
    """The embedding model, for the manifest; null where none was used."""
    if embedding is None:
        return None
    from kgeval.manifest import Asked
    from kgeval.records import ModelRef

    made = embedding.embedder
    return Asked(models=[ModelRef(role="embedding", name=made.name, base_url=made.base_url)])
