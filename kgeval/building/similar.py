"""The embedding level: names with what is said of them, joined where each is the other's nearest neighbour and near enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kgeval.building.clusters import EMBEDDING, Cluster, Joiner
from kgeval.building.describe import merged
from kgeval.names.compare import compare_forms
from kgeval.names.forms import kind_of

if TYPE_CHECKING:
    import numpy as np

    Embed = Callable[[Sequence[str]], np.ndarray]

TILE = 2048
LONGEST_TEXT = 400


def join_similar(
    clusters: list[Cluster], joiner: Joiner, *, embed: Embed, similarity: float, across_types: bool = False
) -> list[Cluster]:
    """The clusters, similar ones of a type joined in pairs: cosine >= `similarity`, and nearest neighbours of each other.

    Pairs never chain. Names that something tells apart (a number, "North" / "South", opposites, Mr. / Mrs.) are never joined.
    """
    blocks: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in sorted(clusters, key=lambda c: c.order):
        blocks["" if across_types else cluster.type_key].append(cluster)
    out: list[Cluster] = []
    for key in sorted(blocks):
        block = blocks[key]
        taken: set[int] = set()
        pairs = list(_pairs(embed([_text(c) for c in block]), similarity)) if len(block) > 1 else []
        for first, other, cosine in _by_more_than_description(block, pairs, embed, similarity):
            if _fit(block[first], block[other]) and not joiner.apart(block[first], block[other]):
                why = f"nearest neighbours by embedding, cosine {cosine:.3f}"
                out.append(joiner.join(block[first], block[other], level=EMBEDDING, why=why, score=min(1.0, round(cosine, 4))))
                taken |= {first, other}
        out += [cluster for position, cluster in enumerate(block) if position not in taken]
    return out


def _by_more_than_description(
    block: list[Cluster], pairs: list[tuple[int, int, float]], embed: Embed, similarity: float,
) -> Iterator[tuple[int, int, float]]:
    """The pairs, those of one and the same description only where the names alone are near, too: what is said of a thing in a few words is
    said of many ("American company")."""
    same = {(a, b) for a, b, _ in pairs if _about(block[a]) and _about(block[a]).casefold() == _about(block[b]).casefold()}
    names = {place: at for at, place in enumerate(sorted({place for pair in same for place in pair}))}
    vectors = embed([block[place].name for place in names]) if names else None
    for first, other, cosine in pairs:
        if vectors is None or (first, other) not in same or float(vectors[names[first]] @ vectors[names[other]]) >= similarity:
            yield first, other, cosine


def _about(cluster: Cluster) -> str:
    """What is said of a thing."""
    return merged([written.descriptions for written in cluster.names]) or ""


def _text(cluster: Cluster) -> str:
    """The name, and what is said of it, cut at 400 characters."""
    about = _about(cluster)
    return (f"{cluster.name}: {about}" if about else cluster.name)[:LONGEST_TEXT]


def _fit(one: Cluster, other: Cluster) -> bool:
    return compare_forms(one.form, other.form, kind=kind_of(one.type_key), thorough=True).certainty != "apart"


def _pairs(vectors: np.ndarray, least: float) -> Iterator[tuple[int, int, float]]:
    """Mutual nearest neighbours (first, second, cosine) of unit vectors (n, d); ties go to the earlier row.

    Mutual, so that no chain of near names ("Anna", "Ann", "Anne") grows into one; in tiles, so that memory is TILE * n and not n * n."""
    import numpy as np

    n = len(vectors)
    nearest = np.zeros(n, dtype=np.int64)
    cosines = np.full(n, -1.0)
    for start in range(0, n, TILE):
        part = vectors[start:start + TILE] @ vectors.T
        rows = np.arange(len(part))
        part[rows, rows + start] = -2.0
        nearest[start:start + TILE] = part.argmax(axis=1)
        cosines[start:start + TILE] = part.max(axis=1)
    for row in range(n):
        other = int(nearest[row])
        if row < other and int(nearest[other]) == row and cosines[row] >= least:
            yield row, other, float(cosines[row])
