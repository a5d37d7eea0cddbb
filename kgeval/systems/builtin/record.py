"""The Index record of a built-in system: what building its index took [X table 15]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.records import IndexRecord
from kgeval.records.build import Corpus
from kgeval.systems.builtin.retrieval import unread
from kgeval.systems.builtin.system import BuiltinSystem
from kgeval.systems.builtin.tools import BuiltinTools

if TYPE_CHECKING:
    from kgeval.records import RunManifest


def index_record(system: BuiltinSystem, tools: BuiltinTools, run: RunManifest) -> IndexRecord:
    """The record of the index that a system searches: seconds, tokens and texts as they were when it was built, also
    where this run found it in the cache. No model was asked; the graph itself was built by something else, and its own
    record says by what.

    Raises: UsageError for a system without an index of its own (closed book, entry=neo4j).
    """
    table = system.retriever.table if system.retriever else None
    if table is None or system.retriever is None or tools.graph is None or tools.layout is None:
        raise UsageError(f"{system.name} builds no index, so there is no index record", fix="leave out --index-record")
    about, chunks = table.about, system.settings.system == "vector"
    entities, relations = system.retriever.size()
    what = "chunks of the graph" if chunks else "entities of the graph, by name and description"
    return IndexRecord(
        system=system.name, graph=tools.layout.scope_value or tools.layout.scope_label or tools.layout.name,
        variant=system.variant,
        corpus=Corpus(
            hash=about.digest, documents=about.groups if chunks else 0, chunks=about.texts or about.rows,
            tokens=about.tokens,
            words=about.words, tokenizer=about.tokenizer,
        ),
        run=run, seconds=about.seconds, stages=dict(about.stages), entities=entities, relations=relations,
        notes=[
            f"indexed: {what}", *([f"caution: {unread(about)}"] if about.unread else []),
            "built in this run" if table.built else "found in the cache: the seconds are those of its building",
        ],
        configuration={
            **({"preset": system.settings.preset} if system.settings.preset else {}),
            **system.settings.own, "embedding_model": about.model, "dimensions": about.dimensions,
            "search": "cosine, exact (LanceDB)",
            **({"windows": about.rows} if chunks else {}), "unread_share": about.unread,
        },
    )
