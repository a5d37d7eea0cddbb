"""What commands share beside their own options: where the graph is and how it is stored, what embeds, what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.audit import EMBEDDINGS, PAID
from kgeval.config.base import Section
from kgeval.config.flags import HOUR, Flag, Folder, Power, Written

GRAPH, AURA_SESSION = "Configuration and graph", "Algorithms in a session of Aura"  # headings of --help

# the fields of SessionOptions that go together; a command has some of these
CONNECTION = ("config_file", "uri", "username", "database", "home", "pause")
LAYOUT = ("graph_name", "layout", "layout_keys")
EMBEDDING = ("embedding_model", "embedding_url", "embedding_batch", "embedding_device")
AURA = ("gds_session", "gds_session_memory", "gds_session_ttl", "gds_session_cloud", "gds_session_name")
SHOWN = ("outputs", "form", "redact", "quiet")
WORKING = ("dry_run", "no_progress")


def _path_as_text(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


class ServerOptions(Section):
    """Where Neo4j is, but for its address: keywords of kgeval.connect too."""

    username: Annotated[str | None, Flag(envvar="NEO4J_USERNAME", heading=GRAPH)] = Field(
        default=None, description="User [default: neo4j]. The password comes from NEO4J_PASSWORD or a prompt.",
    )
    database: Annotated[str | None, Flag(envvar="NEO4J_DATABASE", heading=GRAPH)] = Field(
        default=None, description="Database [default: the user's home database].",
    )
    home: Annotated[Path | None, Flag(heading=GRAPH), Folder(), Power("switch", "starts a Neo4j with the plugins of a home")] = Field(
        default=None, description="Home of the embedded server to use [default: KGEVAL_HOME, else in kgeval's data folder].",
    )
    pause: Annotated[float | None, Flag(metavar="SECONDS", heading=GRAPH)] = Field(
        default=None, ge=0, le=HOUR, allow_inf_nan=False,
        description="Pause after each query, for a server that others use [default: 0].",
    )
    layout: Annotated[str | None, BeforeValidator(_path_as_text), Flag(heading=GRAPH), Power("path")] = Field(
        default=None, description="auto, a layout's name, or a TOML file [default: auto].",
    )
    layout_keys: Annotated[dict[str, Any], Flag("--set", "KEY=VALUE", heading=GRAPH)] = Field(
        default_factory=dict, description="Override a key of the layout: name_keys=title (repeatable).",
    )


class EmbeddingOptions(Section):
    """Which model embeds, and where: keywords of kgeval.connect too."""

    embedding_model: Annotated[str | None, Flag(metavar="NAME", heading=EMBEDDINGS), Power("model")] = Field(
        default=None,
        description="sentence-transformers model (hub name or folder), or the endpoint's model [default: all-MiniLM-L6-v2].",
    )
    embedding_url: Annotated[
        str | None, Flag(metavar="URL", heading=EMBEDDINGS), Power("address", "what is embedded, and OPENAI_API_KEY,"),
    ] = Field(
        default=None, description="OpenAI-compatible endpoint that embeds [default: this machine does].",
    )
    embedding_batch: Annotated[int, Flag(heading=EMBEDDINGS)] = Field(default=64, ge=1, le=4096, description="Texts at a time")
    embedding_device: Annotated[str | None, Flag(metavar="NAME", heading=EMBEDDINGS)] = Field(
        default=None, description="cpu, cuda, mps... [default: the best there is].",
    )
    cache_dir: Annotated[Path | None, Flag(heading=EMBEDDINGS)] = Field(
        default=None, description="Cache of made embeddings and of finished checks [default: KGEVAL_CACHE_DIR, else the user's].",
    )


class SessionOptions(ServerOptions, EmbeddingOptions):
    """The options of a session: flags of the commands, and what `kgeval run` says to its stages. A command has some of them."""

    uri: Annotated[str | None, Flag(envvar="NEO4J_URI", heading=GRAPH), Power("address", "NEO4J_PASSWORD")] = Field(
        default=None, description="Neo4j's address; without it the embedded server is used.",
    )
    config_file: Annotated[
        Path | None, Flag("--config", short="-c", heading=GRAPH), Power("switch", "reads another file, with all that it says"),
    ] = Field(
        default=None, description="Configuration file (default: ./kgeval.toml).",
    )
    graph_name: Annotated[str | None, Flag("--graph", heading=GRAPH)] = Field(
        default=None, description="Name of the graph where a database holds several (the layout's scope).",
    )
    gds_session: Annotated[bool, Flag(heading=AURA_SESSION), Power("switch", PAID)] = Field(
        default=False,
        description="Run the graph algorithms in a session of Aura Graph Analytics (it costs; key: AURA_CLIENT_ID, AURA_CLIENT_SECRET).",
    )
    gds_session_memory: Annotated[str | None, Flag(metavar="SIZE", heading=AURA_SESSION)] = Field(
        default=None, description="Memory of the session, 2GB to 512GB [default: Aura's estimate].",
    )
    gds_session_ttl: Annotated[int | None, Flag(metavar="MINUTES", heading=AURA_SESSION)] = Field(
        default=None, description="Minutes without work after which Aura ends it [default: 60].",
    )
    gds_session_cloud: Annotated[str | None, Flag(metavar="PROVIDER:REGION", heading=AURA_SESSION)] = Field(
        default=None, description="Where it runs, for a database that is not in Aura (gcp:europe-west1).",
    )
    gds_session_name: Annotated[str | None, Flag(metavar="NAME", heading=AURA_SESSION)] = Field(
        default=None, description="Use this session; left alone at the end if it was there before.",
    )
    outputs: Annotated[tuple[Path, ...], Written(), Flag("--output", short="-o")] = Field(
        default=(), description="Report file: {endings} (repeatable).",
    )
    form: Annotated[Literal["text", "json", "md", "html", "xml", "sarif", "csv"], Flag("--format", short="-f")] = Field(
        default="text", description="What goes to stdout.",
    )
    redact: bool = Field(default=False, description="Leave names and texts out of the report.")
    quiet: Annotated[bool, Flag(short="-q")] = Field(default=False, description="No summary on stdout.")
    dry_run: bool = Field(default=False, description="Say how many calls, tokens and how much money it would take; send nothing.")
    no_progress: bool = Field(default=False, description="No progress on stderr.")
