"""How near entities are by their embeddings: those that the graph stores, or those that `--embed` makes beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kgeval.audit.check import Check, Embedding
from kgeval.errors import KgevalError
from kgeval.graph.connect import Row
from kgeval.graph.queries import all_queries
from kgeval.records import GraphRef

if TYPE_CHECKING:
    from kgeval.llm.text_table import Item

BATCH = 500
Pair = tuple[str, str]


@dataclass(frozen=True)
class Neighbours:
    """Pairs (element ids and cosine, nearest first) of `compared` entities. `note`: by what they were found, what was left out."""

    pairs: list[tuple[str, str, float]]
    compared: int
    note: str


def neighbours(check: Check) -> Neighbours:
    """The pairs of entities with a cosine of at least `min_cosine` among the `top_k` nearest of each.

    By the stored embeddings where there are some and the server has GDS, unless they are wanted anew; else by made ones.

    Raises: QueryError, QueryTimeout; ModelError and ConfigError where embeddings are made.
    """
    made = check.embedding
    if made is None or not (made.anew or check.graph.info.gds is None):
        found = _stored(check)
        if found is not None:
            return found
    return _made(check, made) if made is not None else Neighbours([], 0, "no entity with a name has a usable embedding")


def cosines(check: Check, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    """The cosine by element ids of those pairs for which embeddings are known: stored, else made; {} where none are."""
    made = check.embedding
    found = {} if made is not None and made.anew else _stored_cosines(check, pairs)
    return _made_cosines(made, pairs) if made is not None and not found else found


def _stored_cosines(check: Check, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    if check.layout.embedding_key is None:
        return {}
    found: dict[Pair, float] = {}
    query, layout = all_queries()["pair-cosines"], check.layout.model_dump()
    listed = [[a.element_id, b.element_id] for a, b in pairs]
    for start in range(0, len(listed), BATCH):
        params = {"layout": layout, "pairs": listed[start : start + BATCH]}
        found |= {(row["a"], row["b"]): row["cosine"] for row in check.graph.read(query, params, timeout=check.timeout)}
    return found


def _made_cosines(made: Embedding, pairs: Sequence[tuple[GraphRef, GraphRef]]) -> dict[Pair, float]:
    found: dict[Pair, float] = {}
    with flushed(made):
        for start in range(0, len(pairs), BATCH):
            part = pairs[start : start + BATCH]
            left, right = (made.embedder.embed([end.name for end in ends]) for ends in zip(*part, strict=True))
            scores = (left * right).sum(axis=1).round(6).tolist()
            found |= {(a.element_id or "", b.element_id or ""): score for (a, b), score in zip(part, scores, strict=True)}
    return found


def _stored(check: Check) -> Neighbours | None:
    """By gds.knn over the vectors of the most common length; null where there are none."""
    if check.layout.embedding_key is None:
        return None
    layout = {"layout": check.layout.model_dump()}
    sizes = check.graph.read(all_queries()["embedding-sizes"], layout, timeout=check.timeout)
    if not sizes:
        return None
    dimension = sizes[0]["dimension"]
    projected = {**layout, "dimension": dimension}
    with _projected(check, projected) as (name, row):
        found = _knn(check, name, row["example"].rpartition(":")[0] + ":")
    others = sum(size["entities"] for size in sizes[1:])
    left = f"; {others} vectors of another length are left out" if others else ""
    return Neighbours(found, row["nodes"], f"by the stored {check.layout.embedding_key} ({dimension} numbers){left}")


@contextmanager
def _projected(check: Check, params: Row) -> Iterator[tuple[str, Row]]:
    """A GDS graph of entities and their vectors, without relations, for the time of the block."""
    from kgeval.graph.project import drop, graph_name, sweep

    check.graph.limit_gds(check.timeout)
    sweep(check.graph)
    name = graph_name()
    try:
        yield name, check.graph.read(all_queries()["embedding-graph"], {**params, "graph_name": name}, timeout=check.timeout)[0]
    finally:
        drop(check.graph, name)


def _knn(check: Check, name: str, start: str) -> list[tuple[str, str, float]]:
    """Pairs by gds.knn, whose similarity is (1 + cosine) / 2. `start`: what stands before the internal id in an element id.

    With more than one thread it takes no seed, and its pairs vary between runs.
    """
    gds, settings = check.graph.gds, check.settings
    threads = int(settings["concurrency"])
    frame = gds.knn.stream(
        gds.graph.get(name), {"embedding": "COSINE"}, top_k=int(settings["top_k"]), concurrency=threads, log_progress=False,
        similarity_cutoff=max(0.0, (1 + float(settings["min_cosine"])) / 2 - 1e-9),
        random_seed=int(settings["seed"]) if threads == 1 else None,
    )
    found: dict[tuple[int, int], float] = {}
    for a, b, similarity in zip(frame["node1"].tolist(), frame["node2"].tolist(), frame["similarity"].tolist(), strict=True):
        found[min(a, b), max(a, b)] = 2 * similarity - 1
    pairs = [(f"{start}{int(a)}", f"{start}{int(b)}", cosine) for (a, b), cosine in found.items()]
    return sorted(pairs, key=lambda one: (-one[2], one[0], one[1]))


def _made(check: Check, made: Embedding) -> Neighbours:
    """By vectors of the names in a local LanceDB table, kept in the cache for as long as the names stay the same."""
    from kgeval.llm.neighbours import Wanted, near_pairs
    from kgeval.llm.text_table import open_table

    settings = check.settings
    wanted = Wanted(float(settings["min_cosine"]), int(settings["top_k"]), int(settings["exact_up_to"]))
    with flushed(made):
        table = open_table(_place(check), lambda: _items(check), made.embedder, cache_dir=made.cache_dir, say=made.say)
    most = int(settings["max_embedded"])
    left = f"; the search ended at {most} entities (max_embedded)" if table.about.rows >= most else ""
    return Neighbours(near_pairs(table, wanted), table.about.rows, f"by names embedded with {made.embedder.name}{left}")


def _items(check: Check) -> list[Item]:
    """All names at once: one by one, the query would stay open while the model works, and end at the time limit of the check."""
    from kgeval.llm.text_table import Item

    with closing(check.graph.stream(check.query, check.params(ids=None), timeout=check.timeout)) as rows:
        named = islice(rows, int(check.settings["max_embedded"]))
        return [Item(row["element_id"], row["element_id"], row["name"]) for row in named]


def _place(check: Check) -> str:
    """A name for the index of this graph: the same for every audit of it."""
    info, layout = check.graph.info, check.layout
    told = "\n".join([info.uri, info.database or "", layout.model_dump_json()])
    return f"entities-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


@contextmanager
def flushed(made: Embedding) -> Iterator[None]:
    """Writes new vectors to the cache at the end of the block, also when it was broken off: they took time."""
    try:
        yield
    finally:
        with suppress(KgevalError):
            made.embedder.close()
