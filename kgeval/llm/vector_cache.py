"""Embeddings that were made before: one LanceDB table a model and endpoint, rows of (text hash, vector). Holds no texts."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import ModelError, first_line, library

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LOOKUP = 2_000
# each write is a fragment, a file that every search opens
FRAGMENTS = 32
FAULTS = (OSError, RuntimeError, ValueError, KeyError)  # what lancedb raises for files that are damaged, gone or not writable
_LOG = logging.getLogger("kgeval.llm")


@dataclass(frozen=True)
class CachedModel:
    """One table of the cache: how many vectors of which length, and the bytes on disk. `fault`: why it cannot be read."""

    name: str
    vectors: int
    dimensions: int
    bytes: int
    fault: str | None = None


class VectorCache:
    """The table of one model. Several processes may use it at a time: writing takes a lock file, a vector written twice is harmless."""

    def __init__(self, folder: Path, identity: str, *, say: Callable[[str], None] | None = None) -> None:
        self.folder, self.name = folder, table_name(identity)
        self._say = say or _LOG.warning
        self._table: Any = None

    def get(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        """Key -> vector (d,) float32 of those keys that are there. A table that cannot be read is removed, and that is said."""
        try:
            return self._found(keys)
        except FAULTS:
            self._table = None
        with self._lock():  # another process may just be making the table, or have removed it
            try:
                return self._found(keys)
            except FAULTS as cause:
                self._remove(f"the embedding cache {self._path} cannot be read ({_told(cause)}); it is made anew")
                return {}

    def put(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Adds vectors, all of one length. A table of another length, or a damaged one, is removed first, and that is said; so is
        what cannot be written (a full disk): the run goes on without."""
        if not vectors:
            return
        rows = _rows(vectors)
        try:
            with self._lock():
                self._write(rows)
        except FAULTS as cause:
            self._table = None
            self._say(f"{len(vectors)} embeddings could not be kept in {self._path} ({_told(cause)})")

    def clear(self, message: str) -> None:
        """Removes the table, and says why."""
        with self._lock():
            self._remove(message)

    def _found(self, keys: Sequence[str]) -> dict[str, np.ndarray]:
        table = self._opened()
        return _read(table, keys) if table is not None else {}

    def _write(self, rows: pa.Table) -> None:
        try:
            self._add(rows)
        except FAULTS:
            self._table = None
            if not self._damaged():
                raise
            self._remove(f"the embedding cache {self._path} is damaged; it is made anew")
            self._add(rows)

    def _damaged(self) -> bool:
        try:
            self._found(["0"])
        except FAULTS:
            return True
        return False

    def _remove(self, message: str) -> None:
        self._say(message)
        self._table = None
        shutil.rmtree(self._path, ignore_errors=True)

    @property
    def _path(self) -> Path:
        return self.folder / f"{self.name}.lance"

    def _opened(self) -> Any:
        """The table at its newest version, or None if there is none yet."""
        if self._table is None and self._path.exists():
            lancedb = library("lancedb")

            self._table = lancedb.connect(self.folder).open_table(self.name)
        elif self._table is not None:
            # an open table stays at the version it was opened at: what other processes wrote would not be seen
            self._table.checkout_latest()
        return self._table

    def _add(self, rows: pa.Table) -> None:
        lancedb = library("lancedb")

        private_folder(self.folder)
        table = self._opened()
        width = rows.schema.field("vector").type.list_size
        if table is not None and table.schema.field("vector").type.list_size != width:
            self._remove(f"the model's vectors now have {width} dimensions; the embedding cache {self._path} is made anew")
            table = None
        if table is None:
            self._table = lancedb.connect(self.folder).create_table(self.name, rows)
            return
        table.add(rows)
        if table.stats()["fragment_stats"]["num_fragments"] > FRAGMENTS:
            table.optimize()

    def _lock(self) -> Any:
        from filelock import FileLock

        private_folder(self.folder)
        return FileLock(self.folder / f"{self.name}.lock", timeout=600)


def text_key(text: str) -> str:
    """The key of a text: SHA-256, first 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def table_name(identity: str) -> str:
    """A readable name that is safe as a file name, made unique by a hash of the whole identity."""
    short = re.sub(r"[^\w.-]+", "-", identity.split("@")[0], flags=re.ASCII).strip("-.")[-60:] or "model"
    return f"{short}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def cached_models(folder: Path) -> list[CachedModel]:
    """The tables in a cache folder, by name; a damaged one has its fault."""
    return [_described(path) for path in sorted(folder.glob("*.lance"))]


def clear_vectors(folder: Path) -> int:
    """Removes every table of a cache folder; how many there were."""
    from filelock import FileLock

    paths = sorted(folder.glob("*.lance"))
    for path in paths:
        with FileLock(path.with_suffix(".lock"), timeout=600):
            shutil.rmtree(path)
    return len(paths)


def private_folder(folder: Path) -> None:
    """Makes the folder for this user alone. Raises: ModelError if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as cause:
        what = f"{folder}: the cache folder cannot be made: {cause.strerror or cause}"
        raise ModelError(what, fix="choose another --cache-dir") from cause


def _described(path: Path) -> CachedModel:
    lancedb = library("lancedb")

    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    try:
        table = lancedb.connect(path.parent).open_table(path.stem)
        return CachedModel(path.stem, table.count_rows(), table.schema.field("vector").type.list_size, size)
    except FAULTS as cause:
        return CachedModel(path.stem, 0, 0, size, fault=_told(cause))


def _read(table: Any, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """The rows of the keys. Keys are hex digits, so that they can stand in the filter as they are."""
    vectors: dict[str, np.ndarray] = {}
    width = table.schema.field("vector").type.list_size
    for start in range(0, len(keys), LOOKUP):
        key_list = ",".join(f"'{key}'" for key in keys[start : start + LOOKUP])
        got = table.search().where(f"key IN ({key_list})").select(["key", "vector"]).limit(None).to_arrow().combine_chunks()
        flat = got["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, width) if len(got) else []
        vectors.update(zip(got["key"].to_pylist(), flat, strict=True))
    return vectors


def _rows(vectors: Mapping[str, np.ndarray]) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    stacked = np.stack(list(vectors.values())).astype(np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(stacked.ravel()), stacked.shape[1])
    return pa.table({"key": pa.array(list(vectors)), "vector": column})


def _told(cause: BaseException) -> str:
    """What went wrong, without the place in the library's own source."""
    return first_line(cause).split(", /")[0][:200]
