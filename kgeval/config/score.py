"""The options of `kgeval score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.audit import GATES
from kgeval.config.base import Section
from kgeval.config.flags import Flag, Power
from kgeval.config.models import Criterion
from kgeval.config.rows import KnownOptions, RowOptions

# headings of --help
WORKERS, GRAPHS, HOW = "Shards and workers", "Knowledge-graph metrics", "How it is scored"
JOINED, RESUMING = "What scores are compared with", "After an interruption"

RAY = "runs the work on a Ray cluster, which gets your keys"


def several(value: object) -> object:
    """A single name stands for a list of one; commas separate."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def one_path(value: object) -> object:
    """A single path stands for a list of one."""
    return (value,) if isinstance(value, str | Path) else value


class MetricOptions(Section):
    """Which metrics, and their settings."""

    metrics: Annotated[
        tuple[str | Criterion, ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True), Power("metric"),
    ] = Field(
        default=(),
        description="Metrics and presets, comma or repeated [default: names in [metrics] of kgeval.toml]; kgeval "
        "metrics list shows all. FILE.py:NAME is a metric of your own: its file is run.",
    )
    settings: Annotated[
        dict[str, bool | int | float | str], Flag("--setting", "NAME=VALUE", heading=HOW), Power("settings"),
    ] = Field(
        default_factory=dict, description="A setting of metrics: tau=0.8 (repeatable).",
    )


class SpreadOptions(Section):
    """A part of a run, or the parts by several workers."""

    shard: Annotated[str | None, Flag(metavar="K/N", heading=WORKERS)] = Field(
        default=None, description="Only shard K of N, by question: a part of the run; kgeval merge-shards puts the N parts together.",
    )
    executor: Annotated[Literal["local", "ray"] | None, Flag(heading=WORKERS)] = Field(
        default=None, description="Do the run in shards: processes of this machine, or Ray.",
    )
    workers: Annotated[int | None, Flag(heading=WORKERS)] = Field(
        default=None, ge=1, le=1000, description="Shards at a time, with --executor [default: 2].",
    )
    shards: Annotated[int | None, Flag(heading=WORKERS)] = Field(
        default=None, ge=1, le=100, description="Shards in all, with --executor [default: as many as workers].",
    )
    ray_address: Annotated[str | None, Flag(metavar="ADDRESS", heading=WORKERS), Power("switch", RAY)] = Field(
        default=None, description="A Ray cluster that is there [default: one of this machine, for the run].",
    )


class ScoreOptions(SpreadOptions, KnownOptions, RowOptions, MetricOptions):
    """What is scored, and how: keywords of kgeval.score, flags of `kgeval score`, keys of `[score]` in kgeval.toml."""

    trials: Annotated[int, Flag(heading=HOW)] = Field(
        default=1, ge=1, le=100, description="Judge everything so many times: spread between runs of a judge with a temperature above 0",
    )
    resume: Annotated[bool, Flag(heading=RESUMING)] = Field(
        default=False, description="Take over the rows that an earlier run with the same -o has finished; those whose model could not be "
        "reached are done again.",
    )
    retry_errors: Annotated[bool, Flag(heading=RESUMING)] = Field(
        default=False, description="As --resume, but rows with something unscored are done again.",
    )
    no_verdicts: Annotated[bool, Flag(heading=HOW)] = Field(default=False, description="Do not keep the verdicts behind the scores.")
    against: Annotated[str | None, Flag(metavar="SYSTEM", heading=JOINED)] = Field(
        default=None, description="The system that the others are compared with in cost and gain [default: every pair].",
    )
    cluster: Annotated[str | None, Flag(metavar="FIELD", heading=HOW)] = Field(
        default=None, description="What questions share that say less together than as many alone: document, entity, dataset, level, a "
        "field of your own, or question: each stands alone [default: document, else entity].",
    )
    audit: Annotated[Path | None, Flag(metavar="JSON", heading=JOINED)] = Field(
        default=None, description="Report of kgeval audit: do questions that touch its findings score worse?",
    )
    index: Annotated[tuple[Path, ...], BeforeValidator(one_path), Flag(metavar="JSON", heading=JOINED)] = Field(
        default=(), description="Index record: what a system's graph took.",
    )
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--threshold", "[SYSTEM:]METRIC>=X", commas=True, heading=GATES),
    ] = Field(default=(), description="E.g. faithfulness=0.8; missed: exit 1 (comma or repeated).")
    explain: Annotated[str | None, Flag(metavar="QUESTION", heading=GRAPHS)] = Field(
        default=None, description="Print the triple graph of this question's pairs with its paths, and stop.",
    )
    write_back: Annotated[bool, Flag(heading=GRAPHS), Power("switch", "writes into the embedded server")] = Field(
        default=False, description="With --explain: write that graph into the embedded server, to look at in Browser.",
    )
    sweep: Annotated[str | None, Flag(metavar="GRID", heading=GRAPHS)] = Field(
        default=None, description="Print the KG scores over a grid, tau=0.6,0.7;delta=0.3,0.5, and stop.",
    )


class SensitivityOptions(ScoreOptions):
    """What metrics are tried on: flags of `kgeval metrics sensitivity`."""

    wrong_answers: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Wrong answers of your own, by question [default: answers to other questions].",
    )
