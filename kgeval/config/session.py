"""What commands share beside their own options: where the graph is and how it is stored, what embeds, what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag


class SessionOptions(Section):
    """The fields of a session as flags: what `kgeval run` says to its stages. A command has some of them; see pipeline/kinds.py."""

    uri: Annotated[str | None, Flag(envvar="NEO4J_URI")] = None
    username: Annotated[str | None, Flag(envvar="NEO4J_USERNAME")] = None
    database: Annotated[str | None, Flag(envvar="NEO4J_DATABASE")] = None
    home: Path | None = None
    config_file: Annotated[Path | None, Flag("--config", short="-c")] = None
    graph_name: Annotated[str | None, Flag("--graph")] = None
    layout: str | None = None
    layout_keys: Annotated[dict[str, str], Flag("--set")] = Field(default_factory=dict)
    embedding_model: str | None = None
    embedding_url: str | None = None
    embedding_batch: int | None = Field(default=None, ge=1, le=4096)
    embedding_device: str | None = None
    cache_dir: Path | None = None
    gds_session: bool = False
    gds_session_memory: str | None = None
    gds_session_ttl: int | None = None
    gds_session_cloud: str | None = None
    gds_session_name: str | None = None
    outputs: Annotated[tuple[str, ...], Flag("--output", short="-o")] = ()
    form: Annotated[Literal["text", "json", "md", "html", "xml", "sarif", "csv"], Flag("--format", short="-f")] = "text"
    redact: bool = False
    quiet: bool = False
    no_progress: bool = False
    dry_run: bool = False
