"""The sections about models: which ones, how much of them, what they score."""

from __future__ import annotations

from pydantic import Field, JsonValue

from kgeval.config.base import Section


class ModelChoice(Section):
    """One model: its name, where it is (null: OPENAI_BASE_URL, else the client's default), and request parameters. No key.

    `endpoint`: what the endpoint at this address is called in journal keys, signatures and graphs, so that a server may move to another
    port or host; without an address here, the one in use."""

    name: str | None = None
    base_url: str | None = None
    endpoint: str | None = None
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
