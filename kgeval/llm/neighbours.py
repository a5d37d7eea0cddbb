"""Texts of a table that are near to each other: exact in blocks while the table is small, by an index of LanceDB beyond that."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgeval.llm.text_table import TextTable

if TYPE_CHECKING:
    import numpy as np

BLOCK = 512
PROBES = 20
COLUMN = "vector"


@dataclass(frozen=True)
class NeighbourSpec:
    """Pairs with a cosine of at least `cosine`, among the `top_k` nearest of each text. A table of at most `exact_up_to` rows is
    searched exactly: each text with all others, in blocks; a larger one by an index, each text in `PROBES` of about sqrt(rows) cells.

    Texts that are equal but for case and spaces at the ends are no pair. `namesakes`: how many of them each text may have; the index is
    asked for so many more. `most`: pairs to keep, the nearest ones."""

    cosine: float
    top_k: int
    exact_up_to: int
    most: int = 50_000
    namesakes: int = 0


@dataclass(frozen=True)
class NearPairs:
    """The ids of two texts and their cosine, each pair once, nearest first, then by ids. `cut`: whether there were more."""

    pairs: list[tuple[str, str, float]]
    cut: bool = False


def near_pairs(table: TextTable, wanted: NeighbourSpec) -> NearPairs:
    """The pairs of near texts.

    In memory: the vectors of a small table, or a block of a large one; and twice as many pairs as are kept.
    """
    if not table.about.rows:
        return NearPairs([])
    cosines: dict[tuple[str, str], float] = {}
    cut = False
    rows = _exact(table.rows, wanted) if table.about.rows <= wanted.exact_up_to else _by_index(table.rows, wanted)
    for a, b, cosine in rows:
        cosines.setdefault((a, b) if a < b else (b, a), cosine)
        # cut only at twice as many: sorting for each new pair would cost more than the search
        if len(cosines) > 2 * wanted.most:
            cosines, cut = _nearest(cosines, wanted.most), True
    nearest = _nearest(cosines, wanted.most)
    return NearPairs([(a, b, cosine) for (a, b), cosine in nearest.items()], cut or len(nearest) < len(cosines))


def _nearest(found: dict[tuple[str, str], float], most: int) -> dict[tuple[str, str], float]:
    """The nearest pairs, in their order."""
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:most])


def _plain(text: str) -> str:
    return text.strip().casefold()


def _exact(rows: Any, wanted: NeighbourSpec) -> Iterator[tuple[str, str, float]]:
    import numpy as np

    columns = rows.search().select(["id", "text", COLUMN]).limit(None).to_arrow().combine_chunks()
    ids = columns["id"].to_pylist()
    names: dict[str, int] = {}
    codes = np.array([names.setdefault(_plain(text), len(names)) for text in columns["text"].to_pylist()])
    vectors = _matrix(columns[COLUMN])
    for start in range(0, len(ids), BLOCK):
        scores = np.round(vectors[start : start + BLOCK] @ vectors.T, 6)  # the last bits depend on the block
        for at, row in enumerate(scores, start):
            row[codes == codes[at]] = -2.0
            near = np.flatnonzero(row >= wanted.cosine)
            best = near[np.argsort(-row[near], kind="stable")[: wanted.top_k]]
            yield from ((ids[at], ids[int(other)], float(row[other])) for other in best)


def _by_index(rows: Any, wanted: NeighbourSpec) -> Iterator[tuple[str, str, float]]:
    from lancedb.index import IvfFlat

    cells = max(1, math.isqrt(rows.count_rows()))
    if not any(COLUMN in index.columns for index in rows.list_indices()):
        rows.create_index(COLUMN, config=IvfFlat(distance_type="cosine", num_partitions=cells))
    for batch in rows.search().select(["id", "text", COLUMN]).limit(None).to_batches(batch_size=BLOCK):
        ids, texts = batch["id"].to_pylist(), [_plain(text) for text in batch["text"].to_pylist()]
        search = rows.search(list(_matrix(batch[COLUMN])), vector_column_name=COLUMN).distance_type("cosine").nprobes(min(cells, PROBES))
        hits = search.select(["id", "text", "_distance"]).limit(wanted.top_k + wanted.namesakes + 1).to_arrow()
        columns = (hits[name].to_pylist() for name in ("query_index", "id", "text", "_distance"))
        for place, other, text, distance in zip(*columns, strict=True):
            cosine = round(min(1.0, 1.0 - distance), 6)
            if _plain(text) != texts[place] and cosine >= wanted.cosine:
                yield ids[place], other, cosine


def _matrix(column: Any) -> np.ndarray:
    """A column of vectors as (n, d) float32."""
    flat = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    matrix: np.ndarray = flat.flatten().to_numpy(zero_copy_only=False).reshape(len(flat), -1)
    return matrix
