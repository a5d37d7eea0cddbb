"""The options of `kgeval annotate agreement` and `kgeval metrics correlate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag
from kgeval.config.rows import SEEDS


def _one(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


_Files = Annotated[tuple[Path, ...], BeforeValidator(_one), Flag(metavar="FILE")]


class AgreeOptions(Section):
    """What is held against people's labels: keywords of kgeval.agree, flags of `kgeval annotate agreement`."""

    scores: _Files = Field(default=(), description="Scores of kgeval score for the labelled answers (repeatable).")
    verdicts: _Files = Field(default=(), description="Verdicts of a judge of pairs: kgeval compare's, or of other tools.")
    answers: _Files = Field(default=(), description="The answers: how far their length alone agrees with people.")
    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="With --answers: the questions, where the answers do not have them.",
    )
    labels_format: Literal["auto", "kgeval", "ragchecker"] = Field(
        default="auto", description="auto: seen from the fields of the first row.",
    )
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals")


class CorrelationOptions(Section):
    """How metrics are held against each other: flags of `kgeval metrics correlate`."""

    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(default=None, description="Questions with data sets.")
    coefficient: Literal["spearman", "kendall", "pearson"] = Field(default="spearman", description="Which correlation")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals")
