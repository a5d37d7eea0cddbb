"""The options that many commands share, and the session that they describe: connection, layout, models, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import HOME, F, person, say
from kgeval.cli.derive import flags_of, options_from, under
from kgeval.config import ModelOptions
from kgeval.config.audit import EMBEDDINGS

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout
    from kgeval.records.model import Role
    from kgeval.workflows.session import EmbeddingChoice, Session


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
        click.option("--home", type=click.Path(path_type=Path), help=HOME),
    )):
        command = option(command)
    return command


def layout_options(command: F) -> F:
    """--graph, --layout, --set: which graph of the database, and how it is stored."""
    for option in reversed((
        click.option("--graph", "graph_name", help="Name of the graph where a database holds several (the layout's scope)."),
        click.option("--layout", "layout_option", help="auto, a layout's name, or a TOML file [default: auto]."),
        click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key of the layout: name_keys=title."),
    )):
        command = option(command)
    return command


def model_flags(role: Role) -> Callable[[F], F]:
    """The flags of ModelOptions for the model that plays `role`, --dry-run and --no-progress."""

    def decorate(command: F) -> F:
        return _with(command, (
            flags_of(ModelOptions, role=role),
            click.option("--dry-run", is_flag=True, help="Say how many calls, tokens and how much money it would take; send nothing."),
            click.option("--no-progress", is_flag=True, help="No progress on stderr."),
        ))

    return decorate


def embedding_options(command: F) -> F:
    """Which model embeds, and where. Default: all-MiniLM-L6-v2 on this machine."""
    option = under(EMBEDDINGS)
    return _with(command, (
        option(
            "--embedding-model", metavar="NAME",
            help="sentence-transformers model (hub name or folder), or the endpoint's model [default: all-MiniLM-L6-v2].",
        ),
        option("--embedding-url", metavar="URL", help="OpenAI-compatible endpoint that embeds [default: this machine does]."),
        option("--embedding-batch", type=click.IntRange(1, 4096), default=64, show_default=True, help="Texts at a time."),
        option("--embedding-device", metavar="NAME", help="cpu, cuda, mps... [default: the best there is]."),
    ))


def embedding_from_options(options: Mapping[str, Any]) -> EmbeddingChoice:
    """What the flags of `embedding_options` choose."""
    from kgeval.workflows.session import EmbeddingChoice

    return EmbeddingChoice(
        options.get("embedding_model"), options.get("embedding_url"), options.get("embedding_device"),
        options.get("embedding_batch") or 64, options.get("cache_dir"),
    )


def session_from_options(config: Config, command: str, options: Mapping[str, Any], **more: Any) -> Session:
    """A session with the connection of the flags. `more`: its other fields."""
    from kgeval.cli.download import download_bar
    from kgeval.workflows.session import Session

    uri, home = options.get("uri"), options.get("home")
    context = click.get_current_context(silent=True)
    if home is not None and context and context.get_parameter_source("uri") is not click.core.ParameterSource.COMMANDLINE:
        uri = None  # what stands in the command counts, not the environment
    return Session(
        command, uri, username=options.get("username"), database=options.get("database"), home=home, config=config, say=say,
        ask=person(), source="--uri or NEO4J_URI", downloads=download_bar, **more,
    )


def common_session(
    command: str, options: dict[str, Any], *, outputs: tuple[Path, ...] | None = None, **arguments: Any,
) -> Session:
    """A session with all that commands share: configuration, connection, graph, models, embedding, outputs, redaction, progress. `options`:
    those of the command; its `redact` is set as it holds. `outputs`: of a command that has no reports. `arguments`: what the manifest keeps
    beside the options.

    Raises: ConfigError, UsageError.
    """
    from kgeval.config import BatchOptions, ModelOptions, load
    from kgeval.graph.layouts import parse_overrides

    config = load(options["config_file"])
    options["redact"] = options.get("redact") or (outputs is None and config.report.redact)
    if outputs is None:
        outputs = tuple(options["outputs"]) or tuple(Path(name) for name in config.report.outputs)
    return session_from_options(
        config, command, options, config_file=options["config_file"], graph_name=options.get("graph_name"),
        layout=options.get("layout_option"), layout_keys=parse_overrides(list(options.get("overrides", ()))),
        embedding=embedding_from_options(options), asking=options_from(ModelOptions, options),
        batches=options_from(BatchOptions, options), dry=options.get("dry_run", False), redact=options["redact"],
        outputs=outputs, show=not options.get("no_progress"),
        arguments={"form": options.get("form"), **arguments},
    )


def open_from_options(config: Config, *, uri: str | None, username: str | None, database: str | None, home: Path | None) -> Graph:
    """An open graph: flag > environment > kgeval.toml > embedded server (started if need be, and said so). Warns where GDS is missing."""
    return session_from_options(config, "", {"uri": uri, "username": username, "database": database, "home": home}).graph


def layout_from_options(
    graph: Graph, config: Config, *, graph_name: str | None, layout_option: str | None, overrides: tuple[str, ...],
) -> Layout:
    """The bound layout: --layout and --set over `[graph.layout]` over detection. Asks where two fit and a person can answer."""
    from kgeval.graph.layouts import parse_overrides
    from kgeval.workflows.layouts import configured_layout

    return configured_layout(graph, config, graph_name, layout_option, parse_overrides(list(overrides)), ask=person(), say=say)


def _with(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
