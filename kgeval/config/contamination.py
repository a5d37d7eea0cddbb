"""The options of `kgeval contamination`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from kgeval.config.audit import GATES
from kgeval.config.flags import DAY, Flag, Power, Unit
from kgeval.config.rows import SEEDS, FirstOptions
from kgeval.config.score import one_path, several

KNOWN, PROBE = "Documents that the model may know", "The summary probe"  # headings of --help
_Paths = Annotated[tuple[Path, ...], BeforeValidator(one_path)]


class ContaminationOptions(FirstOptions):
    """What a closed book answers, and what is compared with it: keywords of kgeval.contamination, flags of `kgeval contamination`, keys of
    `[contamination]` in kgeval.toml."""

    answers: Annotated[_Paths, Flag(metavar="FILE")] = Field(
        default=(), description="Answers of the closed book, and of others (repeatable).",
    )
    scores: Annotated[_Paths, Flag(metavar="FILE")] = Field(
        default=(), description="Scores of kgeval score for these answers (repeatable).",
    )
    closed_book: Annotated[str | None, Flag(metavar="SYSTEM")] = Field(
        default=None, description="The system that answers without texts [default: found by its name].",
    )
    metric: Annotated[str | None, Flag(metavar="NAME"), Power("metric")] = Field(
        default=None, description="What is right [default: binary_accuracy with a judge or its scores, else contains].",
    )
    right_from: float = Field(default=0.5, gt=0, le=1, description="Value from which an answer is right")
    marked: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Write the ids of the questions that the closed book answers, one a line.",
    )
    allow_missing: bool = Field(default=False, description="Leave out answers to questions that QUESTIONS lacks.")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of intervals")
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--threshold", "[SYSTEM:]NAME<=SHARE", commas=True, heading=GATES),
    ] = Field(default=(), description=(
        "E.g. marked<=0.1, known_documents<=0; NAME: accuracy, marked, attempted, known_documents, false_answers; missed: exit 1 (comma "
        "or repeated)."
    ))
    known: Annotated[tuple[str, ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True, heading=KNOWN)] = Field(
        default=(), description="Documents that the model may know, and no others (comma or repeated).",
    )
    documents: Annotated[Path | None, Flag(metavar="FILE", heading=KNOWN)] = Field(
        default=None, description="Documents with dates of publication (JSONL, JSON, CSV, Parquet).",
    )
    model_cutoff: Annotated[str | None, Flag(metavar="DATE", heading=KNOWN)] = Field(
        default=None, description="With --documents: what was published before may be known.",
    )
    probe: Annotated[bool, Flag(heading=PROBE)] = Field(
        default=False, description="Have a model sum up each document of the graph by its title, and check that against its text.",
    )
    reader: Annotated[str | None, Flag(metavar="NAME", heading=PROBE)] = Field(
        default=None, description="Who sums up [default: model.reader of kgeval.toml, else the judge].",
    )
    probe_documents: Annotated[int, Flag(heading=PROBE)] = Field(default=100, ge=1, le=100_000, description="Documents probed at most")
    timeout: Annotated[float, Unit("seconds"), Flag(heading=PROBE)] = Field(
        default=600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
