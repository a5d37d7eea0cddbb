"""The options of `kgeval questions`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.audit import GATES
from kgeval.config.base import Section
from kgeval.config.flags import DAY, Flag, Power, Unit
from kgeval.config.rows import SEEDS, FirstOptions
from kgeval.config.score import one_path, several
from kgeval.errors import did_you_mean
from kgeval.records import Stratum, StructureKind

PROFILES = ("generic", "narrative", "medical", "law", "finance")
DRAWING, REPEATS = "What questions are made from", "Questions that repeat others"  # headings of --help


def _kinds(value: object) -> object:
    """Names and numbers of kinds as a list of texts: {"hops": 30} is hops=30."""
    if isinstance(value, Mapping):
        return tuple(f"{name}={number}" for name, number in value.items())
    return several(value)


def _profile(value: object) -> object:
    """The name of a profile, or the path of a file, as text."""
    name = str(value) if isinstance(value, Path) else value
    if isinstance(name, str) and name not in PROFILES and "/" not in name and not name.endswith(".toml"):
        raise ValueError(f"there is no profile '{name}'{did_you_mean(name, PROFILES)}: {', '.join(PROFILES)}, or FILE.toml")
    return name


class GenerateOptions(Section):
    """Which questions are made from a graph, and how: flags of `kgeval questions generate`, keys of `[questions]` in kgeval.toml."""

    kinds: Annotated[tuple[str, ...], BeforeValidator(_kinds), Flag("--kind", "KIND[=N]", commas=True)] = Field(
        default=(), description="Kinds or groups of kinds, with a number of their own if need be (comma or repeated); kgeval questions "
        "kinds lists them.",
    )
    n: Annotated[int, Flag(short="-n")] = Field(default=50, ge=1, le=1_000_000, description="Questions of each kind")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of the structures: same seed and graph, same questions")
    template: bool = Field(default=False, description="Kinds that have one are made by template: no model is asked.")
    profile: Annotated[str, BeforeValidator(_profile), Flag(metavar="NAME|FILE.toml"), Power("path")] = Field(
        default="generic", description=f"What the texts are like, who asks and how: {', '.join(PROFILES)}, or a file of your own; kgeval "
        "questions profiles prints them [default: generic].",
    )
    answers: Annotated[bool | None, Flag("--references/--no-references")] = Field(
        default=None, description="Ask for a reference answer where a kind can do without [default: yes].",
    )
    several_passages: bool = Field(
        default=False, description="No hop question of several relations that the graph says one passage tells all of.",
    )
    max_passages: int | None = Field(
        default=None, ge=1, description="Passages of a subgraph that are summed up at most; those left out are counted [default: all].",
    )
    check: Annotated[bool, Flag("--check-all")] = Field(
        default=False, description="Check each question as kgeval questions check does, where its maker did not.",
    )
    sheet: Annotated[Path | None, Flag(metavar="FILE.csv")] = Field(
        default=None, description="Also write a sheet for people to confirm the questions; kgeval questions confirm reads it back.",
    )
    allow_fewer: bool = Field(default=False, description="Fewer questions than asked for are no failure (else exit 3).")
    dataset: Annotated[str | None, Flag(metavar="NAME")] = Field(
        default=None, description="The questions' dataset [default: the graph's name].",
    )
    chunks: Annotated[tuple[Path, ...], BeforeValidator(one_path), Flag(metavar="FILE", heading=DRAWING)] = Field(
        default=(), description="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
    )
    stratify: Annotated[Literal["type", "degree", "document", "community"] | None, Flag(heading=DRAWING)] = Field(
        default=None, description="Draw structures evenly over these, not uniformly over all.",
    )
    tries: Annotated[int, Flag(heading=DRAWING)] = Field(default=3, ge=1, le=1_000, description="Structures tried a question at most")
    timeout: Annotated[float, Unit("seconds"), Flag(heading=DRAWING)] = Field(
        default=600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
    earlier: Annotated[Path | None, Flag(metavar="FILE", heading=REPEATS)] = Field(
        default=None, description="Questions that must not come again: any question file.",
    )
    duplicate_threshold: Annotated[float, Flag(heading=REPEATS)] = Field(
        default=0.9, gt=0, le=1, description="Cosine from which two questions are one",
    )
    no_embeddings: Annotated[bool, Flag(heading=REPEATS)] = Field(
        default=False, description="Find duplicates by their words only; no embedding model is loaded.",
    )


class QuestionsSection(GenerateOptions):
    """`[questions]`: what `kgeval questions generate` makes where no flag says otherwise. `file`: questions that are there already, for
    `kgeval run`."""

    file: Path | None = None


class CheckOptions(FirstOptions):
    """What is checked of questions, and how: flags of `kgeval questions check`."""

    checks: Annotated[tuple[str, ...], BeforeValidator(several), Flag("--check", "NAMES", commas=True)] = Field(
        default=(), description="Only these checks: answerable, closed_book, unique, unique_wording, not_in_one_passage, leak, duplicate, "
        "no_shortcut, absent; comma or repeated [default: all that can be done].",
    )
    no_model: bool = Field(
        default=False, description="Ask no model and embed nothing: leak, duplicate by words, and what a graph proves.",
    )
    no_embeddings: bool = Field(default=False, description="Find duplicates by their words only.")
    duplicate_threshold: float = Field(
        default=0.9, ge=0, le=1, description="Cosine from which two questions are one",
    )
    examples: int = Field(default=5, ge=0, le=1000, description="Examples of each check: failed questions")
    timeout: float = Field(
        default=30.0, ge=0.1, le=3600, description="Seconds a query may take that proves an answer",
    )
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--threshold", "[FILE:]CHECK>=X", commas=True, heading=GATES),
    ] = Field(default=(), description="E.g. answerable>=0.9; missed: exit 1 (comma or repeated).")


class CoverageOptions(FirstOptions):
    """What is told of the coverage of a graph by questions: flags of `kgeval questions coverage`."""

    examples: int = Field(
        default=10, ge=0, le=100_000, description="Examples of each facet: groups covered and missing; the terminal shows the first five",
    )
    show_cypher: Annotated[bool, Flag("--cypher")] = Field(
        default=False, description="Print the Cypher that lists all that is missing of each facet, too.",
    )
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of communities above 50,000 entities")
    timeout: Annotated[float, Unit("seconds")] = Field(
        default=600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(several), Flag("--threshold", "[FILE:]FACET>=X", commas=True, heading=GATES),
    ] = Field(
        default=(), description="E.g. types>=0.8 (types, predicates, communities, documents, degrees, hops); missed: exit 1 (comma or "
        "repeated).",
    )


class ClassifyOptions(FirstOptions):
    """How questions get a level: flags of `kgeval questions classify`."""

    questions_per_call: int = Field(
        default=10, ge=1, le=50, description="Questions of one call to the model",
    )


class SampleOptions(Section):
    """Which pieces of a graph are drawn: flags of `kgeval questions sample`."""

    structure: StructureKind = Field(default="node", description="What is drawn")
    n: Annotated[int, Flag(short="-n")] = Field(default=10, ge=1, le=1_000_000, description="How many")
    hops: int = Field(
        default=1, ge=1, le=100,
        description="Relations of a path, or of each of several chains; radius of a neighbourhood; steps of a hierarchy or dependency",
    )
    min_relations: int = Field(
        default=50, ge=1, le=10_000,
        description="Distinct relations of a subgraph or chain; a walk that gives fewer is walked again, longer. A hierarchy or "
        "dependency goes on as far as it can, until it has them.",
    )
    walk_length: int = Field(default=100, ge=1, le=100_000, description="Steps of a random walk at first")
    max_relations: int = Field(
        default=100, ge=1, le=10_000, description="Relations of a neighbourhood, community, hierarchy or dependency at most")
    parts: int = Field(default=3, ge=1, le=100, description="Chains of a structure of several chains")
    stratify: Stratum | None = Field(default=None, description="Draw evenly over these, not uniformly over all.")
    min_documents: int = Field(
        default=1, ge=1, le=1_000, description="Documents that a path, chain or pair comes from at least")
    seed: int = Field(default=0, ge=0, lt=SEEDS, description="Seed of the sample")
    chunks: Annotated[tuple[Path, ...], BeforeValidator(one_path), Flag(metavar="FILE")] = Field(
        default=(), description="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
    )
    timeout: Annotated[float, Unit("seconds")] = Field(
        default=600, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
