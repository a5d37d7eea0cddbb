"""The options of `kgeval import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag, Power

TABLES, BULK = "Tables one by one", "Large tables, as a new store"  # headings of --help


def _one(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


_Files = Annotated[tuple[Path, ...], BeforeValidator(_one), Flag(metavar="FILE", heading=TABLES)]


class ImportOptions(Section):
    """How a graph is loaded from files: keywords of kgeval.import_graph, flags of `kgeval import`."""

    form: Annotated[Literal["msgraphrag", "lightrag", "graphml", "triples", "json", "tables"] | None, Flag("--as")] = Field(
        default=None, description="The format, where it is not found by itself.",
    )
    replace: Annotated[bool, Power("switch", "deletes the graph of that name")] = Field(
        default=False, description="Delete the graph of this name first (only its own nodes).",
    )
    append: bool = Field(default=False, description="Add to the graph of this name; nodes with the same id are joined.")
    max_bad_rows: float = Field(
        default=0.0, ge=0, le=1, description="Share of bad rows that are left out with a warning; where there are more, nothing is written",
    )
    transaction_rows: int = Field(
        default=10_000, ge=1, le=100_000, description="Rows in one transaction",
    )
    nodes: _Files = Field(default=(), description="Table of nodes, CSV or Parquet; may be given several times.")
    relations: _Files = Field(default=(), description="Table of relations, CSV or Parquet; may be given several times.")
    chunks: _Files = Field(default=(), description="Table of chunks, CSV or Parquet; may be given several times.")
    documents: _Files = Field(default=(), description="Table of documents, CSV or Parquet; may be given several times.")
    bulk: Annotated[bool, Flag(heading=BULK)] = Field(
        default=False, description="Write a new store with Neo4j's own import tool: for large tables, embedded homes only.",
    )
    replace_store: Annotated[bool, Flag(heading=BULK), Power("switch", "deletes all graphs of a home")] = Field(
        default=False, description="With --bulk: delete EVERYTHING in this home's store first, all graphs of it.",
    )
    heap: Annotated[str | None, Flag(metavar="SIZE", heading=BULK)] = Field(
        default=None, description="With --bulk: Java heap of tool and server: 4g [default: the server's, or 1g].",
    )
