"""Ready adapters: other packages as systems under test, each run by a small script in an environment of its own.

    adapters.toml    which packages, what they are installed with, modes, settings and presets
    catalog.py       reads it
    environment.py   makes, checks and removes a package's environment in the user's data folder
    folder.py        the folder of an index: documents, the card that says how it is made
    indexing.py      runs a script's index step and writes the Index record
    launch.py        an open system: the script as a process that speaks JSONL
    embedding_server.py  kgeval's own embedding model behind /embeddings, for packages without one
    scripts/         what runs in the other environments: it imports the wrapped package and the standard library, never kgeval
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.systems.system import System

if TYPE_CHECKING:
    from kgeval.systems.spec import Opening, SystemSpec

ADAPTERS = ("graphrag", "lightrag", "fast-graphrag", "hipporag", "nano-graphrag", "neo4j-graphrag")

__all__ = ["ADAPTERS", "open_adapter"]


def open_adapter(spec: SystemSpec, opening: Opening) -> System:
    """The adapter as an open system. Raises: UsageError, InputError where it is not installed, has no index, or lacks the mode."""
    from kgeval.systems.adapters.launch import open_adapter as opened

    return opened(spec, opening)
