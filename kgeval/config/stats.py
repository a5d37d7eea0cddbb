"""The options of `kgeval stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag
from kgeval.config.rows import SEEDS, mapped_fields
from kgeval.config.score import one_path, several

_Names = Annotated[tuple[str, ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True)]


class StatsOptions(Section):
    """What all of `kgeval stats` takes."""

    map: Annotated[dict[str, str], AfterValidator(mapped_fields), Flag(metavar="NAME=FIELD")] = Field(
        default_factory=dict, description="Which field of the files is what (repeatable).",
    )
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of resampling")


class ConfidenceOptions(StatsOptions):
    """Where intervals and tests are at a confidence that can be chosen."""

    confidence: Annotated[float, Flag(metavar="SHARE")] = Field(
        default=0.95, gt=0, lt=1, description="Of intervals; the rest to 1 is the error of tests",
    )


class ScoreTableOptions(ConfidenceOptions):
    """How files of scores are read: flags of `kgeval stats paired` and `aa`."""

    paired_by: Annotated[str | None, Flag(metavar="FIELD")] = Field(
        default=None, description="The field that pairs the rows of two systems [default: question_id].",
    )
    systems: Annotated[tuple[str, ...], BeforeValidator(several), Flag("--filter-system", "NAMES", commas=True)] = Field(
        default=(), description="Only these systems; in a wide table: these columns.")
    metrics: _Names = Field(default=(), description="Only these metrics.")
    cluster: Annotated[str | None, Flag(metavar="FIELD")] = Field(
        default=None, description="The field that says which questions say less together than as many alone; question: each stands alone "
        "[default: document, where rows have it].",
    )
    bounds: Annotated[str | None, Flag("--range", "LOW,HIGH")] = Field(
        default=None, description="The scores must lie in it, ends included.",
    )
    allow_missing: bool = Field(default=False, description="Go on where systems have different questions.")


class PowerOptions(ScoreTableOptions):
    """Flags of `kgeval stats power`."""

    difference: Annotated[float | None, Flag(metavar="D")] = Field(
        default=None, description="The difference that shall be found: gives the n that it needs.",
    )
    n: Annotated[int | None, Flag(metavar="N")] = Field(
        default=None, ge=2, description="Questions: gives the smallest difference that they find.",
    )
    sd: Annotated[float | None, Flag(metavar="SD")] = Field(
        default=None, description="Standard deviation of the questions' differences [default: that of FILES].",
    )
    power: Annotated[float, Flag(metavar="SHARE")] = Field(default=0.8, gt=0, lt=1, description="The chance to find it")


class VerdictOptions(StatsOptions):
    """How files of verdicts are read: flags of `kgeval stats judge`."""

    winners: Annotated[tuple[str, ...], Flag("--winner", "VALUE=a|b|tie")] = Field(
        default=(), description="What a value of the winner's field means (repeatable).",
    )
    procedure: Literal["scores", "single", "pairwise-choice", "differential", "biased"] | None = Field(
        default=None, description="Which verdicts, where a file holds several kinds [default: the kind of the first].",
    )
    bounds: Annotated[str | None, Flag("--range", "LOW,HIGH")] = Field(
        default=None, description="The points must lie in it, ends included.",
    )
    allow_missing: bool = Field(default=False, description="Go on where pairs were judged on different questions.")


class RankOptions(ConfidenceOptions, VerdictOptions):
    """Flags of `kgeval stats rank`."""

    ties: Literal["model", "half"] = Field(
        default="model", description="Ties as a part of the model (Newman), or as half a win for both",
    )
    export: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Also write the single outcomes as evalica CSV: left,right,winner,question_id.",
    )


class SequentialOptions(ConfidenceOptions, VerdictOptions):
    """Flags of `kgeval stats sequential`."""

    tie_region: Annotated[float, Flag(metavar="R")] = Field(default=0.1, description="Win - loss from -R to R counts as equal")
    order: Literal["random", "file"] = Field(
        default="random", description="Questions in random order by --seed, or as the file has them",
    )
    least: int = Field(default=20, ge=1, description="Questions before anything is decided")


class CorrectOptions(VerdictOptions):
    """Flags of `kgeval stats correct`."""

    labels: Annotated[tuple[Path, ...], BeforeValidator(one_path), Flag(metavar="FILE")] = Field(
        default=(), description="Labels of people: question_id and label (a, b, tie or -1..1).",
    )


class DriftOptions(ConfidenceOptions, VerdictOptions):
    """Flags of `kgeval stats drift`."""

    anchors: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="The labelled pairs: id, question, answer_a, answer_b, label.",
    )
    baseline: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Earlier verdicts on the same pairs, or the JSON report of an earlier run.",
    )
