"""Where the model room keeps what it paid for: the user's cache directory, for this user alone."""

from __future__ import annotations

from pathlib import Path

from kgeval.config import cache_folder

JOURNAL = "journal.sqlite"


def journal_file(given: Path | None = None, cache_dir: Path | None = None) -> Path:
    """The journal: the given file, else the one in the cache folder."""
    return given.expanduser() if given is not None else cache_folder(cache_dir) / JOURNAL


def embedding_folder(cache_dir: Path | None = None) -> Path:
    """The folder of the embedding cache, in the cache folder."""
    return cache_folder(cache_dir) / "embeddings"
