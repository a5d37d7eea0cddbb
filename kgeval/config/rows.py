"""Which rows of users' files a task reads, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag

ROWS, FILTERS = "Files", "Only some questions"  # headings of --help
SEEDS = 2**31


def mapped_fields(given: dict[str, str]) -> dict[str, str]:
    """The map of `--map`. Raises: ValueError where a name or a field is empty."""
    if wrong := [f"'{name}={field}'" for name, field in given.items() if not (name.strip() and field.strip())]:
        raise ValueError(f"{', '.join(wrong)}: write NAME=FIELD, e.g. answer=response")
    return given


def _filter(name: str, metavar: str = "NAME") -> Flag:
    return Flag(f"--filter-{name}", metavar, commas=True, heading=FILTERS)


class FilterOptions(Section):
    """Which questions of the files. Several values of one filter: any of them; several filters: all of them."""

    limit: Annotated[int | None, Flag(metavar="N", heading=FILTERS)] = Field(
        default=None, ge=1, description="Only the first N questions.",
    )
    sample: Annotated[int | None, Flag("--filter-sample", "N", heading=FILTERS)] = Field(
        default=None, ge=1, description="Only N questions, drawn by the seed.",
    )
    ids: Annotated[tuple[str, ...], _filter("id", "ID")] = Field(default=(), description="Only these questions (comma or repeated).")
    levels: Annotated[tuple[str, ...], _filter("level")] = Field(default=(), description="Only questions of these levels.")
    kinds: Annotated[tuple[str, ...], _filter("kind")] = Field(
        default=(), description="Only questions of these types, named as in the file.",
    )
    datasets: Annotated[tuple[str, ...], _filter("dataset")] = Field(default=(), description="Only questions of these datasets.")
    documents: Annotated[tuple[str, ...], _filter("document")] = Field(
        default=(), description="Only questions about these documents.",
    )
    hops: Annotated[tuple[int, ...], _filter("hops", "N")] = Field(default=(), description="Only questions with so many hops.")
    seed: Annotated[int, Flag(heading=FILTERS)] = Field(default=0, ge=0, lt=SEEDS, description="Seed of samples and intervals")


class KnownOptions(Section):
    """Questions that a model answers without any text: a score of them says nothing of retrieval."""

    without_known: Annotated[Path | None, Flag(metavar="FILE", heading=FILTERS)] = Field(default=None, description=(
        "Give all figures without the questions that a closed book answers, those on all questions beside them: a report of kgeval "
        "contamination (.json), or the ids of its --marked."
    ))


class RowOptions(FilterOptions):
    """The answers of systems, joined with their questions."""

    systems: Annotated[tuple[str, ...], _filter("system")] = Field(default=(), description="Only these systems.")
    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Questions with references and evidence, joined by id.",
    )
    map: Annotated[dict[str, str], AfterValidator(mapped_fields), Flag(metavar="NAME=FIELD", heading=ROWS)] = Field(
        default_factory=dict, description="Which field of the files is what: answer=response, contexts=docs[].text (repeatable).",
    )
    system: Annotated[str | None, Flag("--system-name", "NAME", heading=ROWS)] = Field(
        default=None, description="The system's name [default: the file's own, else the file's stem].",
    )
    allow_missing: Annotated[bool, Flag(heading=ROWS)] = Field(
        default=False, description="Leave out answers to questions that --questions lacks.",
    )
    allow_duplicates: Annotated[bool, Flag(heading=ROWS)] = Field(
        default=False, description="Of several rows with one id, keep the first and count the rest.",
    )
    max_bad_rows: Annotated[float, Flag(heading=ROWS)] = Field(
        default=0.0, ge=0, le=1, description="Share of bad rows that are left out and counted; where there are more, nothing is done.",
    )


class QuestionFileOptions(Section):
    """How files of questions are read."""

    map: Annotated[dict[str, str], AfterValidator(mapped_fields), Flag(metavar="NAME=FIELD", heading=ROWS)] = Field(
        default_factory=dict, description="Which field of the files is what: question=text, reference=gold (repeatable).",
    )
    allow_duplicates: Annotated[bool, Flag(heading=ROWS)] = Field(
        default=False, description="Of several questions with one id, keep the first and count the rest.",
    )
    max_bad_rows: Annotated[float, Flag(heading=ROWS)] = Field(
        default=0.0, ge=0, le=1, description="Share of bad rows that are left out and counted; where there are more, nothing is done.",
    )


class FirstOptions(QuestionFileOptions):
    """How files of questions are read, and how far."""

    limit: Annotated[int | None, Flag(metavar="N")] = Field(default=None, ge=1, description="Only the first N questions of each file.")
