"""Where settings come from: flag > environment > kgeval.toml > default. Unknown keys are errors, all named at once."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from kgeval.errors import ConfigError
from kgeval.records import Severity

DEFAULT_FILE = "kgeval.toml"
NAME = r"^[\w@+-][\w.@+-]*$"
OptionValue = bool | int | float | str | list[int | float | str]


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
    """`[questions]`: what `kgeval questions generate` makes where no flag says otherwise. `file`: questions that are there already, for
    `kgeval run`."""

    kinds: list[str] = Field(default_factory=list)
    n: int = Field(default=50, ge=1, le=1_000_000)
    profile: Literal["generic", "narrative", "medical"] = "generic"
    tries: int = Field(default=3, ge=1, le=1_000)
    duplicate_threshold: float = Field(default=0.9, gt=0, le=1)
    answers: bool = True
    file: Path | None = None


class CompareSection(Section):
    """`[compare]`: how `kgeval compare` judges where no flag says otherwise; null: as docs/compare.md says. `thresholds`: as
    --threshold takes them."""

    procedure: Literal["scores", "single", "pairwise-choice", "differential"] | None = None
    aspects: list[str] = Field(default_factory=list)
    trials: int | None = Field(default=None, ge=1, le=1000)
    repeats: int | None = Field(default=None, ge=1, le=100)
    trial_kind: Literal["regenerate", "rejudge"] | None = None
    align: Literal["pair", "longest", "none"] | None = None
    tolerance: int | None = Field(default=None, ge=0, le=10_000)
    attempts: int | None = Field(default=None, ge=0, le=100)
    force: bool = True
    tie_region: float | None = Field(default=None, ge=0, le=0.99, allow_inf_nan=False)
    thresholds: list[str] = Field(default_factory=list)


class SystemSection(Section):
    """`[[systems]]`: a system under test. `spec`: as --system takes it; `settings`: as --setting has them; `timeout`: seconds;
    `folder`: the index of an adapter."""

    name: str = Field(min_length=1, pattern=NAME)
    spec: str = Field(min_length=1)
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0, le=86_400, allow_inf_nan=False)
    processes: int | None = Field(default=None, ge=1, le=256)
    folder: Path | None = None


class SourceSection(Section):
    """`[source]`: what `kgeval run` makes the graph from: documents (`kgeval build`) or graph files (`kgeval import`). `options`: flags of
    that command, without dashes. Neither: the graph is there already."""

    documents: list[Path] = Field(default_factory=list)
    files: list[Path] = Field(default_factory=list)
    options: dict[str, OptionValue] = Field(default_factory=dict)


class GoldSection(Section):
    """`[gold]`: what the graph is held against. `file`: entities and triples (`kgeval completeness`); `sample`: how many relations
    `kgeval accuracy` draws for the judge (0: none)."""

    file: Path | None = None
    sample: int = Field(default=0, ge=0, le=1_000_000)


class AnswersSection(Section):
    """`[answers]`: files of answers that are there already, beside those of [[systems]]."""

    files: list[Path] = Field(default_factory=list)


class AblationSection(Section):
    """`[[ablations]]`: one setting of one system, and the values that it takes; everything else stays as it is."""

    system: str = Field(min_length=1)
    setting: str = Field(min_length=1)
    values: list[bool | int | float | str] = Field(min_length=1)


class DatasetSection(Section):
    """`[[matrix.datasets]]`: what differs from the rest of the file for one data set. `graph`: its name in the database."""

    name: str = Field(min_length=1, pattern=NAME)
    graph: str | None = None
    layout: str | None = None
    documents: list[Path] = Field(default_factory=list)
    files: list[Path] = Field(default_factory=list)
    questions: Path | None = None
    gold: Path | None = None
    answers: list[Path] = Field(default_factory=list)


class ReaderSection(Section):
    """`[[matrix.readers]]`: a model that answers, by its name in tables, its own name and its address."""

    name: str = Field(min_length=1, pattern=NAME)
    model: str = Field(min_length=1)
    base_url: str | None = None


class VariantSection(Section):
    """`[[matrix.variants]]`: a way to construct the graph: flags of `kgeval build`, without dashes, over those of [source]."""

    name: str = Field(min_length=1, pattern=NAME)
    options: dict[str, OptionValue] = Field(default_factory=dict)


class MatrixSection(Section):
    """`[matrix]`: what `kgeval run` crosses. An empty axis has one place. `corpus`: shares of the documents, 0..1; those that the
    questions name are in each."""

    datasets: list[DatasetSection] = Field(default_factory=list)
    readers: list[ReaderSection] = Field(default_factory=list)
    corpus: list[Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=list)
    variants: list[VariantSection] = Field(default_factory=list)


class RunSection(Section):
    """`[run]`: `kgeval run`. `folder`: everything is written below it. `skip`: stages to leave out. `options`: stage -> flags of its
    command, without dashes."""

    folder: Path = Path("out/run")
    skip: list[str] = Field(default_factory=list)
    options: dict[str, dict[str, OptionValue]] = Field(default_factory=dict)


class Config(Section):
    """kgeval.toml as a whole. Sections of later commands are read by them."""

    schema_version: Literal["1"] = "1"
    graph: GraphSection = Field(default_factory=GraphSection)
    audit: AuditSection = Field(default_factory=AuditSection)
    report: ReportSection = Field(default_factory=ReportSection)
    model: ModelSection = Field(default_factory=ModelSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    metrics: MetricsSection = Field(default_factory=MetricsSection)
    compare: CompareSection = Field(default_factory=CompareSection)
    systems: list[SystemSection] = Field(default_factory=list)
    questions: QuestionsSection = Field(default_factory=QuestionsSection)
    source: SourceSection = Field(default_factory=SourceSection)
    gold: GoldSection = Field(default_factory=GoldSection)
    answers: AnswersSection = Field(default_factory=AnswersSection)
    ablations: list[AblationSection] = Field(default_factory=list)
    matrix: MatrixSection = Field(default_factory=MatrixSection)
    run: RunSection = Field(default_factory=RunSection)


def load(path: Path | None = None) -> Config:
    """The configuration of `path`, or of ./kgeval.toml where there is one, or the defaults.

    Raises: ConfigError that names the file and every faulty key.
    """
    config, faults = read(path)
    if faults:
        raise ConfigError(f"{path or DEFAULT_FILE}: " + "; ".join(faults), fix="known keys: docs/configuration.md")
    return config


def read(path: Path | None = None) -> tuple[Config, list[str]]:
    """The configuration without its faulty keys, and one line for each of those: for who has more to check before giving up.

    Raises: ConfigError for a file that is not there or is no TOML.
    """
    file = path or Path(DEFAULT_FILE)
    if not file.is_file():
        if path is None:
            return Config(), []
        raise ConfigError(f"{file}: no such file", fix="give the path of a kgeval.toml with --config")
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as cause:
        raise ConfigError(f"{file}: {cause}", fix="the file must be TOML in UTF-8") from cause
    return _sound(data)


def _sound(data: dict[str, Any]) -> tuple[Config, list[str]]:
    """What is left of the data when each faulty key is taken out, and what was wrong with those."""
    faults: dict[str, None] = {}
    while True:
        try:
            return Config.model_validate(data), list(faults)
        except ValidationError as cause:
            faults |= dict.fromkeys(explain(cause))
            places = sorted({fault["loc"] for fault in cause.errors()}, key=_order, reverse=True)  # of a list, the last item first
            if not sum(_taken_out(data, place) for place in places):
                return Config(), list(faults)


def _order(place: tuple[int | str, ...]) -> list[str]:
    return [f"{part:09}" if isinstance(part, int) else part for part in place]


def _taken_out(data: Any, place: tuple[int | str, ...]) -> bool:
    """Takes a key out; where it is not there (it is lacking), what it should be in. False where nothing could be taken out."""
    for depth in range(len(place), 0, -1):
        inside = data
        try:
            for part in place[: depth - 1]:
                inside = inside[part]
            del inside[place[depth - 1]]
        except (KeyError, IndexError, TypeError):
            continue
        return True
    return False


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
