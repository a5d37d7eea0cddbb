"""Texts to search by embedding: one LanceDB table a source of texts and model, built once for its content and kept in the cache.

    CACHE/indexes/NAME-MODEL-CONTENT/   rows.lance (id, key, group_name, group_key, text, vector) and about.json, which is written last
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import cache_folder
from kgeval.errors import ConfigError, first_line, library
from kgeval.llm.tokens import TOKENIZER, count
from kgeval.llm.vector_cache import FAULTS, private_folder, text_key
from kgeval.tables.output import write_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from kgeval.llm.embed import Embedder

BATCH = 512
ABOUT = "about.json"
ROWS = "rows"
FORM = 1
LOCK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Item:
    """A text to be found. `id`: unique; `key`: how it is called; `group`: what a search may be limited to."""

    id: str
    key: str
    text: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found. `score`: cosine with what was searched for, -1 to 1."""

    item: Item
    score: float


@dataclass(frozen=True)
class About:
    """What a table holds and what it took to build it. `digest`: SHA-256 over its texts, whatever their order. `stages`: seconds.
    `texts`: how many texts the rows were cut from (None: as many as rows); tokens and words are theirs. `unread`: share of the text that
    no vector knows: beyond the model's window, or refused by the endpoint."""

    digest: str
    model: str
    rows: int
    groups: int
    tokens: int
    words: int
    dimensions: int
    seconds: float
    texts: int | None = None
    unread: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    tokenizer: str = TOKENIZER
    form: int = FORM


class TextTable:
    """An open table. Safe for several threads. `built`: in this run, not found in the cache."""

    def __init__(self, table: Any, about: About, path: Path, *, built: bool) -> None:
        self._table, self.about, self.path, self.built = table, about, path, built

    @property
    def rows(self) -> Any:
        """The LanceDB table: id, key, group_name, group_key, text, vector; None where there are no rows."""
        return self._table

    def nearest(self, vector: np.ndarray, most: int, groups: Sequence[str] = ()) -> list[Hit]:
        """The texts of highest cosine, best first, equal ones by key and id; exact. `groups`: only texts of these groups."""
        if not self.about.rows:
            return []
        search = self._table.search(vector).distance_type("cosine")
        if groups:  # hashes are hex digits, so that no name can be more than a name in the filter
            group_keys = ",".join(f"'{text_key(group)}'" for group in groups)
            search = search.where(f"group_key IN ({group_keys})", prefilter=True)
        try:
            rows = search.select(["id", "key", "group_name", "text", "_distance"]).limit(most).to_arrow().to_pylist()
        except FAULTS as cause:
            what = f"the index {self.path} cannot be read: {first_line(cause, longest=200)}"
            raise ConfigError(what, fix="run the command again: the index is then built anew") from cause
        hits = [Hit(Item(r["id"], r["key"], r["text"], r["group_name"]), round(min(1.0, 1.0 - r["_distance"]), 6)) for r in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.key, hit.item.id))


def index_folder(cache_dir: Path | None = None) -> Path:
    """The folder of all tables, in kgeval's cache folder."""
    return cache_folder(cache_dir) / "indexes"


def kept_indexes(folder: Path) -> tuple[int, int]:
    """How many tables are kept, and their bytes on disk."""
    folders = [path for path in folder.glob("*") if path.is_dir() and not path.name.startswith(".")]
    return len(folders), sum(file.stat().st_size for path in folders for file in path.rglob("*") if file.is_file())


def clear_indexes(folder: Path) -> int:
    """Removes every table, also what a killed process left half built; how many tables went."""
    count_before, _ = kept_indexes(folder)
    for path in folder.glob("*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    return count_before - kept_indexes(folder)[0]


def open_table(
    name: str, items: Callable[[], Iterable[Item]], embedder: Embedder, *, cache_dir: Path | None = None,
    say: Callable[[str], None] = lambda text: None, cut: Callable[[Sequence[Item]], Sequence[Item]] | None = None,
) -> TextTable:
    """The table of these texts, from the cache or built now; an older table of the same name and model is removed.

    `name`: what is embedded, short ("chunks-1a2b3c4d"). `items` is gone through once to see whether the table is current, and once
    more to build it, in flat memory. What is damaged is built anew, and that is said. `cut`: makes the rows of texts, where they are to be
    searched in parts; another way to cut needs another name.

    Raises: ConfigError if the cache cannot be written or another process holds its lock; ModelError as the embedder does.
    """
    started = time.perf_counter()
    model = hashlib.sha256(embedder.identity.encode()).hexdigest()[:8]
    digest = _digest(items())
    read = time.perf_counter() - started
    path = index_folder(cache_dir) / f"{name}-{model}-{digest[:12]}"
    width = len(embedder.fresh("ready"))  # also loads the model, so that the first question does not pay for it
    private_folder(path.parent)
    with _locked(path.parent / f"{name}-{model}.lock"):
        table = _opened(path, digest, width, say)
        if table is not None:
            return table
        _remove_older(path.parent, f"{name}-{model}-")
        return _built(path, _Plan(items, embedder, digest, width, read, say, cut))


def _digest(items: Iterable[Item]) -> str:
    """SHA-256 of each text with its id, added up: the order does not count."""
    total = 0
    for item in items:
        row = json.dumps([item.id, item.key, item.text, item.group], ensure_ascii=True).encode()
        # a sum and no chain of hashes: databases give rows in any order
        total += int.from_bytes(hashlib.sha256(row).digest())
    return f"{total % 2**256:064x}"


def _opened(path: Path, digest: str, width: int, say: Callable[[str], None]) -> TextTable | None:
    """The table in the cache, or None where there is none that can be used (it is removed then)."""
    if not path.is_dir():
        return None
    try:
        about = About(**json.loads((path / ABOUT).read_text(encoding="utf-8")))
        table = _table(path) if about.rows else None
        if table is not None and table.count_rows() != about.rows:
            raise ValueError(f"{table.count_rows()} rows where {about.rows} were written")
        if about.digest != digest or about.form != FORM:
            raise ValueError("it was written for something else")
        if about.rows and about.dimensions != width:
            raise ValueError(f"its vectors have {about.dimensions} dimensions, the model now gives {width}")
        if table is not None:  # reads every vector once
            table.search([0.0] * width).select(["id", "text", "_distance"]).limit(1).to_arrow()
    except (*FAULTS, TypeError) as cause:
        say(f"the index {path} cannot be used ({first_line(cause, longest=200)}); it is built anew")
        shutil.rmtree(path, ignore_errors=True)
        return None
    return TextTable(table, about, path, built=False)


@dataclass(frozen=True)
class _Plan:
    items: Callable[[], Iterable[Item]]
    embedder: Embedder
    digest: str
    width: int
    read_seconds: float
    say: Callable[[str], None]
    cut: Callable[[Sequence[Item]], Sequence[Item]] | None


def _built(path: Path, plan: _Plan) -> TextTable:
    """Builds the table beside its place and moves it there when it is whole: a crash leaves nothing that looks finished."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        private_folder(beside)
        about = _written(beside, plan)
        # last: a folder without it is not whole
        write_text(beside / ABOUT, json.dumps(asdict(about)), kept=False)
        beside.replace(path)
        table = _table(path) if about.rows else None
    except FAULTS as cause:
        what = f"the index {path} cannot be written: {first_line(cause, longest=200)}"
        raise ConfigError(what, fix="make room on the disk, or choose another --cache-dir") from cause
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return TextTable(table, about, path, built=True)


def _written(folder: Path, plan: _Plan) -> About:
    """Writes the rows, batch by batch. An empty source has no table at all."""
    lancedb = library("lancedb")

    database, table = lancedb.connect(folder), None
    groups: set[str | None] = set()
    rows = texts = 0
    sizes = Counter[str]()
    seconds = {"read": plan.read_seconds, "embed": 0.0, "write": 0.0}
    started, lost = time.perf_counter(), plan.embedder.lost
    for batch in _batches(plan.items()):
        parts = batch if plan.cut is None else plan.cut(batch)
        began = time.perf_counter()
        vectors = plan.embedder.embed([item.text for item in parts])
        seconds["embed"] += time.perf_counter() - began
        began = time.perf_counter()
        table_rows = _rows(parts, vectors)
        table = database.create_table(ROWS, table_rows) if table is None else table
        if rows:
            table.add(table_rows)
        seconds["write"] += time.perf_counter() - began
        groups |= {item.group for item in batch}
        rows, texts = rows + len(parts), texts + len(batch)
        sizes.update(tokens=sum(count(item.text) for item in batch), words=sum(len(item.text.split()) for item in batch))
        sizes.update(_unread(parts, plan.embedder))
        if texts % (20 * BATCH) == 0:
            plan.say(f"index: {texts} texts")
    if table is not None and rows > BATCH:
        # each batch is a file of its own in the table: without this a search opens all of them
        table.optimize()
    total = time.perf_counter() - started + plan.read_seconds
    seconds["read"] = max(0.0, total - seconds["embed"] - seconds["write"])
    unread = sizes["beyond"] / max(1, sizes["pieces"]) + (plan.embedder.lost - lost) / max(1, sizes["characters"])
    return About(
        digest=plan.digest, model=plan.embedder.name, rows=rows, groups=len(groups - {None}), tokens=sizes["tokens"], words=sizes["words"],
        dimensions=plan.width, seconds=round(total, 3), texts=texts, unread=min(1.0, round(unread, 6)),
        stages={name: round(value, 3) for name, value in seconds.items()},
    )


def _unread(parts: Sequence[Item], embedder: Embedder) -> dict[str, int]:
    """Characters of these texts, their pieces as the model cuts them, and how many of these lie beyond its window."""
    window, texts = embedder.window(), [item.text for item in parts]
    lengths = embedder.lengths(texts) if window is not None else []
    return {
        "characters": sum(map(len, texts)), "pieces": sum(lengths), "beyond": sum(max(0, length - (window or 0)) for length in lengths),
    }


def _rows(batch: Sequence[Item], vectors: np.ndarray) -> pa.Table:
    import pyarrow as pa

    columns = {
        "id": [item.id for item in batch], "key": [item.key for item in batch], "group_name": [item.group for item in batch],
        "group_key": [text_key(item.group) if item.group is not None else "" for item in batch], "text": [item.text for item in batch],
    }
    arrays: dict[str, Any] = {name: pa.array(values, type=pa.string()) for name, values in columns.items()}
    arrays["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.table(arrays)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _table(path: Path) -> Any:
    lancedb = library("lancedb")

    return lancedb.connect(path).open_table(ROWS)


def _remove_older(folder: Path, start: str) -> None:
    """Tables of the same texts and model with older content, and what a killed process left half built."""
    for path in (*folder.glob(f"{start}*"), *folder.glob(f".{start}*")):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock of one table; a process that builds it is waited for. Raises: ConfigError after ten minutes."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout as cause:
        fix = "wait for it, or end it; or choose another --cache-dir"
        raise ConfigError(f"another process has been building the index {path.stem} for ten minutes", fix=fix) from cause
    try:
        yield
    finally:
        lock.release()
