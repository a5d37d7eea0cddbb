"""Where settings come from: flag > environment > kgeval.toml > default. Unknown keys are errors, all named at once."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from kgeval.errors import ConfigError
from kgeval.records import Severity

DEFAULT_FILE = "kgeval.toml"


class Section(BaseModel):
    """Base of the sections: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GraphSection(Section):
    """`[graph]`: where the graph is. `[graph.layout]` overrides single keys of the layout. No password: it comes from
    NEO4J_PASSWORD or a prompt."""

    uri: str | None = None
    username: str | None = None
    database: str | None = None
    name: str | None = None
    layout: str | dict[str, Any] | None = None


class AuditSection(Section):
    """`[audit]`: which checks, with which limits. `thresholds`: rule id -> largest share that still passes."""

    checks: list[str] = Field(default_factory=list)
    skip: list[str] = Field(default_factory=list)
    thresholds: dict[str, float] = Field(default_factory=dict)
    settings: dict[str, float | int | str] = Field(default_factory=dict)
    limit: int = Field(default=5, ge=0)
    timeout: float = Field(default=120.0, gt=0, le=86_400, allow_inf_nan=False)
    fail_on: Severity | None = None
    schema_file: str | None = None


class ReportSection(Section):
    """`[report]`: files to write, and whether users' texts are left out of them."""

    outputs: list[str] = Field(default_factory=list)
    redact: bool = False


class ModelChoice(Section):
    """One model: its name, where it is (null: OPENAI_BASE_URL, else the client's default), and request parameters. No key."""

    name: str | None = None
    base_url: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ModelSection(Section):
    """`[model.judge]`, `[model.reader]`, `[model.extractor]`, `[model.generator]`, `[model.embedding]`: which model plays which part."""

    judge: ModelChoice = Field(default_factory=ModelChoice)
    reader: ModelChoice = Field(default_factory=ModelChoice)
    extractor: ModelChoice = Field(default_factory=ModelChoice)
    generator: ModelChoice = Field(default_factory=ModelChoice)
    embedding: ModelChoice = Field(default_factory=ModelChoice)


class LimitsSection(Section):
    """`[limits]`: how much at a time and in all. `cost` in USD; `error_rate`: largest share of failed items, else exit 3."""

    concurrency: int = Field(default=8, ge=1, le=1024)
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    retries: int = Field(default=6, ge=0, le=100)
    reasks: int = Field(default=2, ge=0, le=20)
    timeout: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int | None = Field(default=None, ge=0)
    error_rate: float = Field(default=0.1, ge=0, le=1)


class MetricsSection(Section):
    """`[metrics]`: metrics and presets by name, their settings (`kgeval metrics show NAME` has each), and thresholds of `kgeval score`."""

    names: list[str] = Field(default_factory=list)
    settings: dict[str, bool | int | float | str] = Field(default_factory=dict)
    thresholds: list[str] = Field(default_factory=list)


class QuestionsSection(Section):
    """`[questions]`: what `kgeval questions generate` makes where no flag says otherwise."""

    kinds: list[str] = Field(default_factory=list)
    n: int = Field(default=50, ge=1, le=1_000_000)
    profile: Literal["generic", "narrative", "medical"] = "generic"
    tries: int = Field(default=3, ge=1, le=1_000)
    duplicate_threshold: float = Field(default=0.9, gt=0, le=1)
    answers: bool = True


class SystemSection(Section):
    """`[[systems]]`: a system under test. `spec`: as --system takes it; `settings`: as --setting has them; `timeout`: seconds;
    `folder`: the index of an adapter."""

    name: str = Field(min_length=1, pattern=r"^[\w.@+-]+$")
    spec: str = Field(min_length=1)
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0, le=86_400, allow_inf_nan=False)
    processes: int | None = Field(default=None, ge=1, le=256)
    folder: Path | None = None


class Config(Section):
    """kgeval.toml as a whole. Sections of later commands are read by them."""

    schema_version: Literal["1"] = "1"
    graph: GraphSection = Field(default_factory=GraphSection)
    audit: AuditSection = Field(default_factory=AuditSection)
    report: ReportSection = Field(default_factory=ReportSection)
    model: ModelSection = Field(default_factory=ModelSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    metrics: MetricsSection = Field(default_factory=MetricsSection)
    systems: list[SystemSection] = Field(default_factory=list)
    questions: QuestionsSection = Field(default_factory=QuestionsSection)


def load(path: Path | None = None) -> Config:
    """The configuration of `path`, or of ./kgeval.toml where there is one, or the defaults.

    Raises: ConfigError that names the file and every faulty key.
    """
    file = path or Path(DEFAULT_FILE)
    if not file.is_file():
        if path is None:
            return Config()
        raise ConfigError(f"{file}: no such file", fix="give the path of a kgeval.toml with --config")
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as cause:
        raise ConfigError(f"{file}: {cause}", fix="the file must be TOML in UTF-8") from cause
    try:
        return Config.model_validate(data)
    except ValidationError as cause:
        raise ConfigError(f"{file}: " + "; ".join(explain(cause)), fix="known keys: docs/configuration.md") from cause


def explain(error: ValidationError) -> list[str]:
    """One plain line a fault: `section.key: what is wrong`."""
    lines = []
    for fault in error.errors():
        where = ".".join(str(part) for part in fault["loc"]) or "(top)"
        lines.append(f"{where}: " + ("unknown key" if fault["type"] == "extra_forbidden" else fault["msg"]))
    return lines


def environment(name: str) -> str | None:
    """A non-empty environment variable, or null."""
    return os.environ.get(name) or None
