"""The options of `kgeval completeness`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.audit import GATES
from kgeval.config.base import Section
from kgeval.config.flags import DAY, Flag, Power, Unit
from kgeval.config.score import one_path, several
from kgeval.records import LEVELS, Level

MATCHING, FACTS, IDEAL = "How names are matched", "Gold sentences (--facts)", "An extractor's graph as gold set (--ideal)"  # of --help
TEXT_LEVELS: tuple[Level, ...] = LEVELS[:4]
_Paths = Annotated[tuple[Path, ...], BeforeValidator(one_path)]


def _levels(value: object) -> object:
    """The levels named, strictest first; `all` is every one; none named: those of text. Raises: ValueError for unknown ones."""
    names = several(value)
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        return names
    named = {name.lower() for name in names} or set(TEXT_LEVELS)
    if unknown := sorted(named - {*LEVELS, "all"}):
        raise ValueError(f"{', '.join(unknown)}: no such level; the levels are {', '.join(LEVELS)}, all")
    return tuple(level for level in LEVELS if level in named or "all" in named)


class CompletenessOptions(Section):
    """What a graph is held against, and how: flags of `kgeval completeness`, keys of `[completeness]` in kgeval.toml."""

    gold: Annotated[_Paths, Flag(metavar="FILE")] = Field(
        default=(),
        description="Gold entities and triples: JSONL, JSON, CSV, TSV, Parquet, or a GraphRAG-Bench question file (repeatable).",
    )
    ideal: Annotated[_Paths, Flag(metavar="DOCS")] = Field(
        default=(), description="Take an extractor's graph of DOCS as gold set (repeatable).",
    )
    follow_symlinks: Annotated[bool, Power("switch", "reads what symbolic links among documents lead to")] = Field(
        default=False, description="With --ideal: read what symbolic links in folders lead to; else they are passed over, and named.",
    )
    facts: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Gold sentences: judge which of them follow from the graph.",
    )
    documents: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--filter-document", "ID", commas=True),
    ] = Field(
        default=(), description="Only the gold of these documents (comma or repeated).",
    )
    whole_graph: bool = Field(
        default=False,
        description="Look for gold items in the whole graph, whatever document they belong to: the figures are higher than by document.",
    )
    control: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Gold of another text, which should not be found.",
    )
    examples: int = Field(default=5, ge=0, description="Examples of a finding, faults shown; 0 = all")
    timeout: Annotated[float, Unit("seconds")] = Field(
        default=3600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
    levels: Annotated[tuple[Level, ...], BeforeValidator(_levels), Flag(metavar="LEVEL", commas=True, heading=MATCHING)] = Field(
        default=TEXT_LEVELS,
        description=f"Levels to match at: {', '.join(LEVELS)}, or all (comma or repeated) [default: all but embedding].",
    )
    fuzzy: Annotated[float, Flag(heading=MATCHING)] = Field(
        default=90.0, ge=70, le=100, description="Lowest token_sort_ratio of the fuzzy level",
    )
    similarity: Annotated[float, Flag(heading=MATCHING)] = Field(
        default=0.85, gt=0, le=1, description="Lowest cosine of the embedding level",
    )
    thresholds: Annotated[tuple[str, ...], BeforeValidator(several), Flag("--threshold", "ID>=SHARE", commas=True, heading=GATES)] = Field(
        default=(),
        description="E.g. entity_coverage>=0.7 or entity_coverage@normalised>=0.6; missed: exit 1 (comma or repeated).",
    )
    top_k: Annotated[int, Flag(heading=FACTS)] = Field(default=8, ge=1, le=100, description="Entities looked at, nearest to the fact")
    hops: Annotated[int, Flag(heading=FACTS)] = Field(default=2, ge=1, le=4, description="Relations up to so many hops around them")
    ideal_extractor: Annotated[Literal["model", "rules", "spacy", "triples-file"], Flag(heading=IDEAL)] = Field(
        default="model", description="What reads the documents of --ideal",
    )
    spacy_model: Annotated[str, Flag(metavar="NAME", heading=IDEAL), Power("pipeline")] = Field(
        default="en_core_web_sm", description="Pipeline of --ideal-extractor spacy",
    )
    triples: Annotated[Path | None, Flag(metavar="FILE", heading=IDEAL)] = Field(
        default=None, description="File of --ideal-extractor triples-file.",
    )
    ideal_sample: Annotated[int | None, Flag(metavar="N", heading=IDEAL)] = Field(
        default=None, ge=1, le=100_000, description="Items that --ideal-export writes [default: 100].",
    )
    ideal_export: Annotated[Path | None, Flag(metavar="SHEET.csv", heading=IDEAL)] = Field(
        default=None, description="Write a random sample of the ideal graph for people to label.",
    )
    ideal_labels: Annotated[Path | None, Flag(metavar="SHEET.csv", heading=IDEAL)] = Field(
        default=None, description="The labelled sheet: how much of the ideal graph people hold to be right.",
    )
