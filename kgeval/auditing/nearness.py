"""How near entities are by their embeddings: those that the graph stores, or those that `--embed` makes beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kgeval.auditing.check import CheckRun, Embedding
from kgeval.auditing.graph_reader import batched
from kgeval.errors import KgevalError
from kgeval.graph.memory import check_vectors
from kgeval.graph.project import by_cypher, new_graph, sweep_again
from kgeval.graph.queries import all_queries
from kgeval.records import GraphRef

if TYPE_CHECKING:
    from kgeval.llm.text_table import Item

BATCH = 500
NAMESAKES = 40  # of one name, beyond which its bearers take the places of others all the same
Pair = tuple[str, str]


@dataclass(frozen=True)
class Neighbours:
    """Pairs (element ids and cosine, nearest first) of `compared` entities. `note`: by what they were found, what was left out."""

    pairs: list[tuple[str, str, float]]
    compared: int
    note: str


def neighbours(check: CheckRun) -> Neighbours:
    """The pairs of entities with a cosine of at least `min_cosine` among the `top_k` nearest of each, the `max_pairs` nearest at most.
    Entities of one name (but for case and spaces at the ends) are no pair.

    By the stored embeddings where there are some and the server has GDS, unless they are wanted anew; else by made ones.

    Raises: QueryError, QueryTimeout, TooLarge; ModelError and ConfigError where embeddings are made.
    """
    embedding = check.embedding
    if embedding is None or not (embedding.anew or check.graph.info.gds is None):
        stored = _stored(check)
        if stored is not None:
            return stored
    return _made(check, embedding) if embedding is not None else Neighbours([], 0, "no entity with a name has a usable embedding")


def cosines(check: CheckRun, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    """The cosine by element ids of those pairs for which embeddings are known: stored, else made; {} where none are."""
    embedding = check.embedding
    known = {} if embedding is not None and embedding.anew else _stored_cosines(check, pairs)
    return _made_cosines(embedding, pairs) if embedding is not None and not known else known


def _stored_cosines(check: CheckRun, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    if check.layout.embedding_key is None:
        return {}
    cosine_of: dict[Pair, float] = {}
    for batch in batched(pairs, BATCH):
        rows = check.rows("pair-cosines", pairs=[[a.element_id, b.element_id] for a, b in batch])
        cosine_of |= {(row["a"], row["b"]): row["cosine"] for row in rows}
    return cosine_of


def _made_cosines(made: Embedding, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    cosine_of: dict[Pair, float] = {}
    with flushed(made):
        for batch in batched(pairs, BATCH):
            left, right = (made.embedder.embed([end.name for end in ends]) for ends in zip(*batch, strict=True))
            scores = (left * right).sum(axis=1).round(6).tolist()
            cosine_of |= {(a.element_id or "", b.element_id or ""): score for (a, b), score in zip(batch, scores, strict=True)}
    return cosine_of


def _stored(check: CheckRun) -> Neighbours | None:
    """By gds.knn over the vectors of the most common length; None where there are none.

    Raises: TooLarge where that may take more memory than is granted.
    """
    if check.layout.embedding_key is None:
        return None
    layout = {"layout": check.layout.model_dump()}
    sizes = check.rows("embedding-sizes")
    if not sizes:
        return None
    dimension = sizes[0]["dimension"]
    top_k = int(check.settings["top_k"]) + _namesakes(check)
    check_vectors(check.graph, sizes[0]["entities"], dimension, top_k, timeout=check.timeout)
    sweep_again(check.graph)
    with new_graph(check.graph) as name:
        projection = by_cypher(check.graph, "embedding-graph", name, {**layout, "dimension": dimension}, timeout=check.timeout)
        if projection is None:  # they were deleted since they were counted
            return None
        nearest, cut = _knn(check, name, top_k)
    others = sum(size["entities"] for size in sizes[1:])
    left = f"; {others} vectors of another length are left out" if others else ""
    note = f"by the stored {check.layout.embedding_key} ({dimension} numbers){left}{_cut(check, cut)}"
    return Neighbours(nearest, projection.result.node_count, note)


def _namesakes(check: CheckRun) -> int:
    """How many neighbours more to ask for, so that those of the same name do not take the places of others; at most `NAMESAKES`."""
    return min(NAMESAKES, max(0, int(check.rows("name-bearers")[0]["bearers"]) - 1))


def _cut(check: CheckRun, cut: bool) -> str:
    """What to say where there were more pairs than are looked at."""
    return f"; only the {int(check.settings['max_pairs']):,} nearest pairs were looked at (max_pairs)" if cut else ""


def _knn(check: CheckRun, name: str, top_k: int) -> tuple[list[tuple[str, str, float]], bool]:
    """The `max_pairs` nearest pairs by gds.knn, whose similarity is (1 + cosine) / 2, and whether there were more.

    With more than one thread it takes no seed, and its pairs vary between runs.
    """
    settings, most = check.settings, int(check.settings["max_pairs"])
    threads = int(settings["concurrency"])
    rows = 2 * most + 1  # each pair comes once or twice
    params = {
        "layout": check.layout.model_dump(), "graph_name": name, "top_k": top_k, "concurrency": threads, "rows": rows,
        "seed": int(settings["seed"]) if threads == 1 else None,
        # a little below: rounding in GDS must not drop a pair that is exactly as near as asked for
        "cutoff": max(0.0, (1 + float(settings["min_cosine"])) / 2 - 1e-9),
    }
    cosine_of: dict[Pair, float] = {}
    with closing(check.graph.stream(all_queries()["near-embeddings"], params, timeout=check.timeout)) as near:
        for row in near:
            cosine_of[row["a"], row["b"]] = 2 * row["similarity"] - 1
    pairs = sorted(((a, b, cosine) for (a, b), cosine in cosine_of.items()), key=lambda pair: (-pair[2], pair[0], pair[1]))
    return pairs[:most], len(pairs) > most


def _made(check: CheckRun, made: Embedding) -> Neighbours:
    """By vectors of the names in a local LanceDB table, kept in the cache for as long as the names stay the same."""
    from kgeval.llm.neighbours import NeighbourSpec, near_pairs
    from kgeval.llm.text_table import open_table

    settings = check.settings
    names, exact_up_to = _Names(check), int(settings["exact_up_to"])
    with flushed(made):
        table = open_table(_place(check), names.items, made.embedder, cache_dir=made.cache_dir, say=made.say)
    left = f"; the search ended at {int(settings['max_embedded'])} entities (max_embedded)" if names.more else ""
    wanted = NeighbourSpec(
        float(settings["min_cosine"]), int(settings["top_k"]), exact_up_to, most=int(settings["max_pairs"]),
        namesakes=_namesakes(check) if table.about.rows > exact_up_to else 0,  # an exact search needs none
    )
    search = near_pairs(table, wanted)
    return Neighbours(search.pairs, table.about.rows, f"by names embedded with {made.embedder.name}{left}{_cut(check, search.cut)}")


class _Names:
    """The names to embed. `more`: whether the graph has more than may be."""

    more = False

    def __init__(self, check: CheckRun) -> None:
        self._check = check

    def items(self) -> list[Item]:
        """All at once: one by one, the query would stay open while the model works, and end at the time limit of the check."""
        from kgeval.llm.text_table import Item

        check, most = self._check, int(self._check.settings["max_embedded"])
        with closing(check.graph.stream(check.query, check.params(check.query, ids=None), timeout=check.timeout)) as rows:
            named = list(islice(rows, most + 1))
        self.more = len(named) > most
        return [Item(row["element_id"], row["element_id"], row["name"]) for row in named[:most]]


def _place(check: CheckRun) -> str:
    """A name for the index of this graph: the same for every audit of it."""
    info, layout = check.graph.info, check.layout
    identity = "\n".join([info.uri, info.database or "", layout.model_dump_json()])
    return f"entities-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


@contextmanager
def flushed(made: Embedding) -> Iterator[None]:
    """Writes new vectors to the cache at the end of the block, also when it was broken off: they took time."""
    try:
        yield
    finally:
        with suppress(KgevalError):
            made.embedder.close()
