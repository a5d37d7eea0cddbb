"""The options of `kgeval build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag, Power
from kgeval.config.rows import SEEDS

CUTTING, RESOLUTION, CORPUS = "Chunks and extraction", "Which names become one entity", "Which documents"  # headings of --help


def _one(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class BuildOptions(Section):
    """How a graph is made from documents: keywords of kgeval.build, flags of `kgeval build`, keys of `[build]` in kgeval.toml."""

    extractor: Literal["model", "spacy", "rules", "triples-file"] = Field(
        default="model",
        description="Who finds entities and relations: a language model; a spaCy pipeline; fixed rules; a file of your own triples",
    )
    triples: Path | None = Field(default=None, description="The file of --extractor triples-file.")
    replace: Annotated[bool, Power("switch", "deletes the graph of that name")] = Field(
        default=False, description="Delete the graph of this name first (only its own nodes; merges taken back stay so).",
    )
    remove: Annotated[
        tuple[str, ...], BeforeValidator(_one), Flag(metavar="DOC_ID"), Power("switch", "deletes a document of the graph"),
    ] = Field(
        default=(), description="Take this document and what only came from it out (repeatable).",
    )
    spacy_model: Annotated[str, Flag(metavar="NAME", heading=CUTTING), Power("pipeline")] = Field(
        default="en_core_web_sm", description="Pipeline of --extractor spacy",
    )
    nouns: Annotated[int | None, Flag(metavar="N", heading=CUTTING)] = Field(
        default=None, ge=1, description="--extractor rules: also common nouns used N times in a document.",
    )
    cooccurrence: Annotated[bool, Flag(heading=CUTTING)] = Field(
        default=False, description="--extractor rules: also join neighbouring names of a sentence.",
    )
    chunk_size: Annotated[int, Flag(heading=CUTTING)] = Field(default=600, ge=16, le=100_000, description="Tokens of a chunk, at most")
    chunk_overlap: Annotated[int, Flag(heading=CUTTING)] = Field(default=100, ge=0, le=100_000, description="Tokens that neighbours share")
    context_sentences: Annotated[int, Flag(heading=CUTTING)] = Field(
        default=3, ge=0, le=50, description='Sentences before a chunk that the model also sees, to know who "she" is',
    )
    gleanings: Annotated[int, Flag(heading=CUTTING)] = Field(
        default=0, ge=0, le=10, description="Times the model is asked for what it missed",
    )
    extraction_prompt: Annotated[Literal["kgeval", "kasiak_compat"], Flag(heading=CUTTING)] = Field(
        default="kgeval", description="What the model is asked; kasiak_compat: the rules that Kasiak prints, the chunk alone",
    )
    schema_file: Annotated[str | None, Flag("--schema", "FILE|graph:NAME", heading=CUTTING), Power("path")] = Field(
        default=None, description="Allowed types and relation labels: a file, or those of a graph that is there.",
    )
    resolve: Annotated[str | None, Flag(metavar="LEVELS", heading=RESOLUTION)] = Field(
        default=None, description="Which names become one entity: exact,normalised,alias,embedding [default: the graph's own, else "
        "exact,normalised,alias].",
    )
    similarity: Annotated[float | None, Flag(heading=RESOLUTION)] = Field(
        default=None, ge=0.5, le=1, description="Least cosine of the embedding level [default: the graph's own, else 0.9].",
    )
    merge_across_types: Annotated[
        bool | None, Flag("--merge-across-types/--no-merge-across-types", heading=RESOLUTION),
    ] = Field(default=None, description="One name is one entity, whatever its types [default: the graph's own, else no].")
    share: Annotated[float | None, Flag(metavar="SHARE", heading=CORPUS)] = Field(
        default=None, gt=0, le=1,
        description="Only this share of the documents, drawn by --seed; a smaller share is part of a larger one.",
    )
    corpus_tokens: Annotated[int | None, Flag(metavar="N", heading=CORPUS)] = Field(default=None, ge=2, description=(
        "Only about so many tokens of documents (o200k_base), whole ones drawn by --seed; a smaller target is part of a larger one."
    ))
    keep: Annotated[Path | None, Flag(metavar="QUESTIONS", heading=CORPUS)] = Field(
        default=None, description="With --share or --corpus-tokens: the documents that this question file names are in every part.",
    )
    follow_symlinks: Annotated[bool, Flag(heading=CORPUS), Power("switch", "reads what symbolic links among documents lead to")] = Field(
        default=False, description="Read what symbolic links in folders of documents lead to; else they are passed over, and named.",
    )
    seed: Annotated[int, Flag(heading=CORPUS)] = Field(default=0, ge=0, lt=SEEDS, description="Seed of --share and --corpus-tokens")
    transaction_rows: int = Field(
        default=10_000, ge=1, le=100_000, description="Rows in one transaction",
    )
