"""How a result came to be: server, input files, models, the run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from kgeval.records.base import SCHEMA_VERSION, PublicRecord, Record
from kgeval.records.model import ModelRef, ModelUse


class ServerInfo(PublicRecord):
    """What the connected server is. `gds` is null where the plugin is missing. `hidden`: what of the database its user cannot see."""

    uri: str
    database: str
    neo4j: str
    edition: str
    gds: str | None = None
    aura: bool = False
    embedded: bool = False
    hidden: list[str] = Field(default_factory=list)


class InputFile(PublicRecord):
    """A file that a run read: path as given, and SHA-256 of its bytes."""

    path: str
    sha256: str
    bytes: int


class RunManifest(PublicRecord):
    """Everything that is needed to say how a result came to be. Holds no secret."""

    kgeval: str
    command: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    libraries: dict[str, str] = Field(default_factory=dict)
    inputs: list[InputFile] = Field(default_factory=list)
    server: ServerInfo | None = None
    query_hashes: dict[str, str] = Field(default_factory=dict)
    models: list[ModelRef] = Field(default_factory=list)
    model_use: list[ModelUse] = Field(default_factory=list)
    prompt_hashes: dict[str, str] = Field(default_factory=dict)
    seed: int | None = None
    started: str
    seconds: float
    exit_code: int = 0


class RunReport(Record):
    """A report, and the run that it came of."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    run: RunManifest
