"""The sections about questions, systems, comparisons and whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from kgeval.config.answer import INDEX
from kgeval.config.base import NAME, OptionValue, Section
from kgeval.config.flags import Flag, Power
from kgeval.config.rows import SEEDS
from kgeval.config.score import several


class SystemSection(Section):
    """`[[systems]]`: a system under test. `spec`: as --system takes it; `settings`: as --setting has them; `timeout`: seconds;
    `folder`: the index of an adapter."""

    name: str = Field(min_length=1, pattern=NAME)
    spec: Annotated[str, Power("system")] = Field(min_length=1)
    settings: Annotated[dict[str, JsonValue], Power("settings")] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0, le=86_400, allow_inf_nan=False)
    processes: int | None = Field(default=None, ge=1, le=256)
    folder: Annotated[Path | None, Power("switch", INDEX)] = None


class SourceSection(Section):
    """`[source]`: what `kgeval run` makes the graph from: documents (`kgeval build`) or graph files (`kgeval import`). `options`: flags of
    that command, without dashes. Neither: the graph is there already."""

    documents: list[Path] = Field(default_factory=list)
    files: list[Path] = Field(default_factory=list)
    options: Annotated[dict[str, OptionValue], Power("flags")] = Field(default_factory=dict)


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
    values: Annotated[list[bool | int | float | str], Power("settings")] = Field(min_length=1)


class DatasetSection(Section):
    """`[[matrix.datasets]]`: what differs from the rest of the file for one data set. `graph`: its name in the database."""

    name: str = Field(min_length=1, pattern=NAME)
    graph: str | None = None
    layout: Annotated[str | None, Power("path")] = None
    documents: list[Path] = Field(default_factory=list)
    files: list[Path] = Field(default_factory=list)
    questions: Path | None = None
    gold: Path | None = None
    answers: list[Path] = Field(default_factory=list)


class ReaderSection(Section):
    """`[[matrix.readers]]`: a model that answers, by its name in tables, its own name and its address."""

    name: str = Field(min_length=1, pattern=NAME)
    model: str = Field(min_length=1)
    base_url: Annotated[str | None, Power("address", "what models are asked, and OPENAI_API_KEY,")] = None


class VariantSection(Section):
    """`[[matrix.variants]]`: a way to construct the graph: flags of `kgeval build`, without dashes, over those of [source]."""

    name: str = Field(min_length=1, pattern=NAME)
    options: Annotated[dict[str, OptionValue], Power("flags")] = Field(default_factory=dict)


class MatrixSection(Section):
    """`[matrix]`: what `kgeval run` crosses. An empty axis has one place. `corpus`: shares of the documents, 0..1; `corpus_tokens`: sizes
    in tokens in their place (with corpus = [1.0]: all documents beside them); the documents that the questions name are in each."""

    datasets: list[DatasetSection] = Field(default_factory=list)
    readers: list[ReaderSection] = Field(default_factory=list)
    corpus: list[Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=list)
    corpus_tokens: list[Annotated[int, Field(ge=2)]] = Field(default_factory=list)
    variants: list[VariantSection] = Field(default_factory=list)


class CrossingOptions(Section):
    """The options of `kgeval report score-matrix`: the scores of all places of a run beside each other."""

    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals and tests")


class RunSection(Section):
    """`[run]`: `kgeval run`. `folder`: everything is written below it. `skip`: stages to leave out. `options`: stage -> flags of its
    command, without dashes. `without_known`: scores and comparisons without the questions that the closed book answers: true: as the
    contamination stage of the same place finds them; or a file, as --without-known takes it."""

    folder: Path = Path("out/run")
    skip: list[str] = Field(default_factory=list)
    without_known: bool | Path = False
    options: Annotated[dict[str, dict[str, OptionValue]], Power("flags")] = Field(default_factory=dict)


class RunOptions(Section):
    """What of a run is done, and where: keywords of kgeval.run, flags of `kgeval run`."""

    folder: Annotated[Path | None, Flag(metavar="DIRECTORY")] = Field(
        default=None, description="Where everything is written [default: [run] folder].",
    )
    stages: Annotated[tuple[str, ...], BeforeValidator(several), Flag("--stage", "NAME", commas=True)] = Field(
        default=(), description="Only these stages and what they need (comma or repeated).",
    )
    again: Annotated[tuple[str, ...], BeforeValidator(several), Flag(metavar="NAME", commas=True)] = Field(
        default=(), description="Do these stages again, although they are up to date (comma or repeated).",
    )
    without_known: Annotated[Path | None, Flag(metavar="FILE")] = Field(default=None, description=(
        "Scores and comparisons without the questions that this file names (kgeval contamination) [default: [run] without_known]."
    ))
    max_concurrency: Annotated[int | None, Flag(short="-j")] = Field(
        default=None, ge=1, le=1024, description="Requests in flight [default: 8].",
    )
    journal: Path | None = Field(default=None, description="Journal of finished calls [default: in the cache folder].")
    cache_dir: Path | None = Field(default=None, description="Cache folder [default: KGEVAL_CACHE_DIR, else the user's].")
