"""The options of `kgeval accuracy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kgeval.config.audit import EMBEDDINGS, GATES
from kgeval.config.base import Section
from kgeval.config.flags import DAY, Flag, Unit
from kgeval.config.rows import SEEDS
from kgeval.config.score import one_path, several
from kgeval.records import AccuracyKind

PEOPLE, PAIRS = "Labels of people", "Pairs (--kind duplicates)"  # headings of --help
PairCheck = Literal["duplicate-name", "fragmented-entity", "similar-entity"]
_Paths = Annotated[tuple[Path, ...], BeforeValidator(one_path)]


def _widths(given: tuple[float, ...]) -> tuple[float, ...]:
    """Raises: ValueError for what no interval of a share can have."""
    if wrong := [f"{width:g}" for width in given if not 0.001 <= width <= 0.4]:
        raise ValueError(f"{', '.join(wrong)}: a half-width is a share from 0.001 to 0.4")
    return given


class AccuracyOptions(Section):
    """What is drawn from a graph, and who says whether it is true: keywords of kgeval.accuracy, flags of `kgeval accuracy`, keys of
    `[accuracy]` in kgeval.toml."""

    kind: AccuracyKind = Field(
        default="relations", description="What is drawn; duplicates: the pairs that the duplicate checks list",
    )
    n: Annotated[int, Flag(short="-n")] = Field(default=200, ge=1, le=1_000_000, description="About how many items to draw")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of the sample")
    strata: Literal["none", "type", "document", "type-document"] = Field(
        default="none", description="Draw from each type, document, or type within a document in proportion",
    )
    per_passage: int = Field(default=5, ge=1, le=20, description="Items of one passage drawn together, at most")
    passages: int = Field(default=3, ge=1, le=20, description="Passages shown for an item that has several")
    chunks: Annotated[_Paths, Flag(metavar="FILE")] = Field(
        default=(), description="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
    )
    half_widths: Annotated[tuple[float, ...], AfterValidator(_widths), Flag("--half-width", "SHARE")] = Field(
        default=(), description="Print the n for this half-width of the interval too (repeatable).",
    )
    no_model: bool = Field(default=False, description="Ask no model, even if kgeval.toml names one.")
    timeout: Annotated[float, Unit("seconds")] = Field(
        default=600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--threshold", "NAME>=SHARE", commas=True, heading=GATES),
    ] = Field(default=(), description="E.g. accuracy>=0.8, contradicted<=0.02; missed: exit 1 (comma or repeated).")
    sheet: Annotated[Path | None, Flag(metavar="CSV", heading=PEOPLE)] = Field(
        default=None, description="Write the sample as a blind sheet for people.",
    )
    consistency: Annotated[bool, Flag(heading=PEOPLE)] = Field(
        default=False, description="With --sheet: also ask whether the graph says such things elsewhere in the same way.",
    )
    labels: Annotated[_Paths, Flag(metavar="FILE", heading=PEOPLE)] = Field(
        default=(), description="Labels of people: the sheet that --sheet wrote, filled in, or rows with id and label (repeatable).",
    )
    labelled_pairs: Annotated[Path | None, Flag(metavar="FILE", heading=PAIRS)] = Field(
        default=None, description="Labelled pairs (name_a, name_b, label), for recall.",
    )
    duplicate_checks: Annotated[
        tuple[PairCheck, ...], BeforeValidator(several), Flag("--duplicate-check", heading=PAIRS),
    ] = Field(default=(), description="Only the pairs of this check (repeatable) [default: all that can run].")
    embed: Annotated[bool | Literal["anew"], Flag(heading=EMBEDDINGS, values={
        "--embed": (
            True, "Where the graph has no embeddings, make them of the entities' names for similar-entity; the graph stays as it is.",
        ),
        "--embed-anew": ("anew", "As --embed, also where the graph has embeddings of its own."),
    })] = Field(
        default=False, description="Make embeddings for similar-entity where the graph has none; 'anew': also where it has some.",
    )
