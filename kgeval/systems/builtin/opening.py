"""Opens a built-in system by name and settings."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from kgeval.systems.builtin.graph_rag import GraphRetriever
from kgeval.systems.builtin.readers import open_reader
from kgeval.systems.builtin.retrieval import Retriever, open_place
from kgeval.systems.builtin.settings import Settings, read_settings
from kgeval.systems.builtin.system import BuiltinSystem, PlannedSystem
from kgeval.systems.builtin.tools import BuiltinTools
from kgeval.systems.builtin.vector import VectorRetriever


def open_builtin(name: str, settings: Mapping[str, JsonValue], tools: BuiltinTools) -> BuiltinSystem:
    """The system `closed-book`, `vector`, `graph` or `graph+text`, open. Its index is built now, if the cache has none that fits.

    In a dry run (`tools.planned`) nothing is built, embedded or asked: its answers only count the reader's calls.

    Raises: UsageError for an unknown name, settings (all at once) or a missing tool; LayoutError where the graph has no chunks and the
    system needs them, or no vector index that fits; ConfigError, ModelError where the index cannot be built.
    """
    return open_variant(read_settings(name, settings), tools)


def open_variant(settings: Settings, tools: BuiltinTools) -> BuiltinSystem:
    """As open_builtin, with settings that were read before (`variants`)."""
    planned = tools.planned
    retriever: Retriever | None = None
    if settings.system != "closed-book":
        place = open_place(settings.system, tools)
        kind = VectorRetriever if settings.system == "vector" else GraphRetriever
        retriever = kind(settings, place, planned=planned)
    reader = open_reader(tools)
    if planned:
        return PlannedSystem(settings, reader, retriever, tools.asker)
    return BuiltinSystem(settings, reader, retriever)
