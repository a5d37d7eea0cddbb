"""The options that many commands share, all of them fields of SessionOptions and ModelOptions, and the session that they describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, person, say
from kgeval.cli.derive import flags_of, options_from
from kgeval.config import BatchOptions, Config, ModelOptions, SessionOptions
from kgeval.config.session import CONNECTION, EMBEDDING, LAYOUT, WORKING

if TYPE_CHECKING:
    from kgeval.records.model import Role
    from kgeval.workflows.session import Session

connection_options = flags_of(SessionOptions, only=CONNECTION)  # the password comes from NEO4J_PASSWORD or a prompt
layout_options = flags_of(SessionOptions, only=LAYOUT)
which_graph = flags_of(SessionOptions, only=("uri", "graph_name"), heading="")  # of commands about a graph: what is needed first
rest_of_connection = flags_of(SessionOptions, only=(*CONNECTION, *LAYOUT), without=("uri", "graph_name"))
embedding_options = flags_of(SessionOptions, only=EMBEDDING)
config_option = flags_of(SessionOptions, only=("config_file",), heading="")
home_option = flags_of(SessionOptions, only=("home",), heading="")
journal_options = flags_of(ModelOptions, only=("journal", "cache_dir"), heading="")


def named_graph(text: str) -> Callable[[F], F]:
    """--graph of a command that must be told which graph. `text`: what the name is."""
    return flags_of(SessionOptions, only=("graph_name",), heading="", texts={"graph_name": text}, required=("graph_name",))


new_graph = named_graph("The graph's name: one more label on its nodes, so that several live in one database.")


def model_flags(role: Role) -> Callable[[F], F]:
    """The flags of ModelOptions for the model that plays `role`, --dry-run and --no-progress."""

    def decorate(command: F) -> F:
        return flags_of(ModelOptions, role=role)(flags_of(SessionOptions, only=WORKING)(command))

    return decorate


def session_from(
    command: str, options: dict[str, Any], *, outputs: tuple[Path, ...] | None = None, config: Config | None = None, **arguments: Any,
) -> Session:
    """The session of a command. `options`: its parameters; their `redact` is set as it holds. `outputs`: of a command that has no reports;
    None: those of --output, else of `[report]`. `config`: where it was read before; a command without --config reads none. `arguments`:
    what the manifest keeps beside the options.

    Raises: ConfigError, UsageError.
    """
    from kgeval.cli.download import download_bar
    from kgeval.config import load
    from kgeval.workflows.session import Session, gds_session_of, gds_session_parts, session_with

    own = options_from(SessionOptions, options)
    config = config or (load(own.config_file) if "config_file" in options else Config())
    session = session_with(
        Session("", say=say, ask=person(), source="--uri or NEO4J_URI", downloads=download_bar, show=True), command, own, config,
        connection=_address(own), username=own.username, database=own.database, pause=own.pause, home=own.home,
        graph_name=own.graph_name,
        layout=own.layout, layout_keys=own.layout_keys, asking=options_from(ModelOptions, options),
        batches=options_from(BatchOptions, options), arguments={"form": options.get("form"), **arguments},
        gds_session=gds_session_of(config, use=own.gds_session, parts=gds_session_parts(own)) if "gds_session" in options else None,
    )
    if outputs is None:
        session.outputs = own.outputs or tuple(map(Path, config.report.outputs))
        session.redact = own.redact or config.report.redact
    else:
        session.outputs = outputs
    options["redact"] = session.redact
    return session


def _address(own: SessionOptions) -> str | None:
    """The address; None where a home is given and NEO4J_URI is set: what stands in the command counts, not the environment."""
    context = click.get_current_context(silent=True)
    typed = context is not None and context.get_parameter_source("uri") is click.core.ParameterSource.COMMANDLINE
    return own.uri if own.home is None or typed else None
