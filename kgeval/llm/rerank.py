"""Orders texts by how well they fit a question: a cross-encoder of sentence-transformers on this machine, loaded at the first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from kgeval.errors import ModelError, first_line
from kgeval.llm.embed import usable
from kgeval.llm.embed_sources import local_place, quiet, sentence_transformers

BATCH = 32


class Reranker:
    """A cross-encoder: a folder or a name of the hub. Safe for several threads, one at a time; who measures how long it takes holds its
    `lock` first, so that waiting for another thread does not count."""

    def __init__(self, name: str, *, device: str | None = None) -> None:
        self.name, self._device = name, device
        self._model: Any = None
        self.lock = threading.RLock()

    def load(self) -> None:
        """Loads the model, so that the first question does not pay for it. Raises: ModelError if it cannot be had."""
        with self.lock:
            self._loaded()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number a text, in their order: higher fits better. The scale is the model's own.

        Raises: ModelError if the model cannot be used, or gives something else than one finite number a text.
        """
        import numpy as np

        if not texts:
            return []
        pairs = [(usable(question), usable(text)) for text in texts]
        with self.lock:
            model = self._loaded()
            try:
                values = np.asarray(model.predict(pairs, batch_size=BATCH, show_progress_bar=False), dtype=np.float64)
            except (RuntimeError, ValueError, IndexError) as cause:
                raise ModelError(f"{self.name}: reranking failed: {first_line(cause, longest=200)}", fix="give another model") from cause
        if values.shape != (len(texts),) or not np.isfinite(values).all():
            raise ModelError(
                f"{self.name}: {len(texts)} texts, but scores of shape {values.shape} came back, or some are not finite",
                fix="give a cross-encoder with one output, as cross-encoder/ms-marco-MiniLM-L-6-v2 is",
            )
        return [round(float(value), 6) for value in values]

    def _loaded(self) -> Any:
        if self._model is None:
            with quiet():
                place, offline = local_place(self.name)
                self._model = self._load(place, offline=offline)
        return self._model

    def _load(self, place: str, *, offline: bool) -> Any:
        CrossEncoder = sentence_transformers().CrossEncoder

        try:
            return CrossEncoder(place, device=self._device, local_files_only=offline, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError, KeyError, AssertionError) as cause:
            raise ModelError(
                f"reranking model {self.name} cannot be loaded: {first_line(cause, longest=200)}",
                fix="give a folder or hub name of a cross-encoder",
            ) from cause


@cache
def reranker(name: str) -> Reranker:
    """The cross-encoder of that name, one for all systems of a process: variants share its memory. Not loaded yet."""
    return Reranker(name)
