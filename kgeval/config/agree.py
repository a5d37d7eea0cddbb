"""The options of `kgeval annotate` and `kgeval metrics correlate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag
from kgeval.config.rows import SEEDS, RowOptions
from kgeval.config.score import one_path, several

MOST_ITEMS, USUAL_ITEMS = 10_000, 60  # of a sheet
_Files = Annotated[tuple[Path, ...], BeforeValidator(one_path), Flag(metavar="FILE")]


class SheetOptions(RowOptions):
    """Which answers people label, and how: flags of `kgeval annotate sheet`."""

    scope: Annotated[Literal["pairs", "answers"], Flag("--of")] = Field(
        default="pairs", description="pairs: which of two systems' answers is better; answers: points for one answer",
    )
    n: int | None = Field(
        default=None, ge=1, le=MOST_ITEMS, description=f"Items, at most [default: {USUAL_ITEMS}; with --share {MOST_ITEMS:,}].",
    )
    share: float | None = Field(default=None, gt=0, le=1, description="So much of all items: 0.1 is one in ten.")
    annotators: Annotated[str, Flag(metavar="N|NAMES")] = Field(default="3", description="How many people, or their names (comma)")
    per_item: int | None = Field(
        default=None, ge=1, le=100, description="People who label each item [default: 3, all where they are fewer].",
    )
    aspects: Annotated[tuple[str, ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True)] = Field(
        default=(), description="Aspects (comma or repeated); zeng, dong: the four of either paper [default: zeng, all of --grades].",
    )
    grades: Annotated[Path | None, Flag(metavar="FILE.toml")] = Field(
        default=None, description="Aspects and grades of your own [default: kgeval's four].",
    )
    scores: _Files = Field(default=(), description="Scores: how far apart they lie is difficulty (repeatable).")
    show: Annotated[tuple[Literal["contexts", "reference"], ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True)] = Field(
        default=(), description="What else is on the sheets: contexts (what was retrieved for an answer), reference (the right answer).",
    )


class ReadOptions(Section):
    """How filled sheets are read: flags of `kgeval annotate read`."""

    key: Annotated[Path | None, Flag(metavar="FILE.json")] = Field(default=None, description="The key that kgeval annotate sheet wrote.")
    labels_format: Literal["sheet", "ragchecker"] = Field(
        default="sheet",
        description="sheet: CSV sheets and the labels that pages save; ragchecker: the human_labeled_data.json of RAGChecker",
    )
    write_answers: Annotated[Path | None, Flag(metavar="FILE.jsonl")] = Field(
        default=None, description="With ragchecker: also write its answers.",
    )
    write_questions: Annotated[Path | None, Flag(metavar="FILE.jsonl")] = Field(
        default=None, description="With ragchecker: also write its questions with their right answers.",
    )


class AgreeOptions(Section):
    """What is held against people's labels: keywords of kgeval.agree, flags of `kgeval annotate agreement`."""

    scores: _Files = Field(
        default=(), description="Scores of the labelled answers: kgeval score's, or tables of ragas and others (repeatable).",
    )
    verdicts: _Files = Field(default=(), description="Verdicts of a judge of pairs: kgeval compare's, or of other tools.")
    answers: _Files = Field(default=(), description="The answers: how far their length alone agrees with people.")
    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="The questions, where --answers or tables of other tools do not have them, or not their ids.",
    )
    labels_format: Literal["auto", "kgeval", "ragchecker"] = Field(
        default="auto", description="auto: seen from the fields of the first row.",
    )
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals")


class CorrelationOptions(Section):
    """How metrics are held against each other: flags of `kgeval metrics correlate`."""

    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Questions with data sets; tables of other tools are joined by their texts.",
    )
    coefficient: Literal["spearman", "kendall", "pearson"] = Field(default="spearman", description="Which correlation")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals")
