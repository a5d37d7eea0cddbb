"""Names for the local index: read first, embedded after; pairs without equal names, and no more than are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgeval.auditing.check import CheckRun
from kgeval.auditing.nearness import NAMESAKES, _Names, _namesakes
from kgeval.errors import QueryError
from kgeval.graph.memory import TooLarge, check_vectors
from kgeval.graph.queries import all_queries
from kgeval.llm.embed import Embedder
from kgeval.llm.neighbours import NearPairs, NeighbourSpec, near_pairs
from kgeval.llm.text_table import Item, open_table
from kgeval.llm.vector_cache import VectorCache
from kgeval.records import Layout

LAYOUT = Layout(name="a", entity_labels=["E"], name_keys=["name"], relation_types=["R"])


class Names:
    """As much of a Graph as is read: five names. `ended`: whether the query was closed."""

    ended = False

    def stream(self, *_: Any, timeout: float | None) -> Iterator[dict[str, str]]:
        try:
            yield from ({"element_id": f"4:x:{at}", "name": f"n{at}"} for at in range(5))
        finally:
            self.ended = True


@pytest.mark.parametrize(("most", "found", "more"), [(3, 3, True), (5, 5, False), (9, 5, False)])
def test_the_query_is_over_before_a_name_is_embedded_and_it_is_known_whether_there_were_more(most: int, found: int, more: bool) -> None:
    graph: Any = Names()
    names = _Names(CheckRun(graph, LAYOUT, query=all_queries()["similar-entity"], settings={"max_embedded": most}))
    items = names.items()
    assert graph.ended
    assert [one.text for one in items] == [f"n{at}" for at in range(found)]
    assert names.more is more


class Answers:
    """As much of a Graph as is read: the same rows for every query; `None`: the server refuses."""

    def __init__(self, rows: list[dict[str, Any]] | None, limit: int | None = None) -> None:
        self.rows, self.memory_limit = rows, limit

    def read(self, *_: Any, timeout: float | None) -> list[dict[str, Any]]:
        if self.rows is None:
            raise QueryError("no such procedure")
        return self.rows


@pytest.mark.parametrize(("bearers", "more"), [(0, 0), (1, 0), (11, 10), (1000, NAMESAKES)])
def test_so_many_neighbours_more_are_asked_for_as_a_name_has_other_bearers(bearers: int, more: int) -> None:
    graph: Any = Answers([{"bearers": bearers}])
    assert _namesakes(CheckRun(graph, LAYOUT, query=all_queries()["similar-entity"])) == more


def test_vectors_that_may_take_more_memory_than_granted_are_refused_before_anything_is_projected() -> None:
    rows = [{"step": "projection", "bytes_max": 1 << 20}, {"step": "neighbours", "bytes_max": 1 << 20}]
    roomy: Any = Answers(rows, 2 << 20)
    check_vectors(roomy, 5, 3, 10)
    narrow: Any = Answers(rows, (2 << 20) - 1)
    with pytest.raises(TooLarge, match=r"comparing 5 vectors of 3 numbers may take 2 MB .* --memory-limit"):
        check_vectors(narrow, 5, 3, 10)
    silent: Any = Answers(None, 1 << 30)
    with pytest.raises(QueryError, match="no such procedure"):  # what cannot be told is not tried
        check_vectors(silent, 5, 3, 10)
    unlimited: Any = Answers(None)
    check_vectors(unlimited, 5, 3, 10)


class Circle:
    """A model that puts "Nx" at N degrees."""

    name = identity = "circle"

    def vectors(self, texts: Any) -> np.ndarray:
        angles = np.radians([float(text.strip().rstrip("Xx").replace("ready", "0")) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def near(folder: Path, names: list[str], **wanted: Any) -> NearPairs:
    items = [Item(f"{at:03}", str(at), name) for at, name in enumerate(names)]
    embedder = Embedder(Circle(), VectorCache(folder / "vectors", "circle"), batch=8)
    return near_pairs(open_table("names", lambda: items, embedder, cache_dir=folder), NeighbourSpec(**{"exact_up_to": 10_000, **wanted}))


@pytest.mark.slow
@pytest.mark.parametrize("exact_up_to", [10_000, 1], ids=["exact", "index"])
def test_namesakes_are_no_pair_and_take_no_others_place(tmp_path: Path, exact_up_to: int) -> None:
    names = ["0x", "0X", " 0x ", "0x", "5x", "5x", "5X", "5x"]
    found = near(tmp_path, names, cosine=0.99, top_k=4, exact_up_to=exact_up_to, namesakes=3)
    assert {(a, b) for a, b, _ in found.pairs} == {(f"{a:03}", f"{b:03}") for a in range(4) for b in range(4, 8)}
    assert not found.cut


@pytest.mark.slow
@pytest.mark.parametrize(("most", "cut"), [(3, True), (190, False), (189, True)])
def test_of_more_pairs_than_are_wanted_the_nearest_are_kept_and_it_is_said(tmp_path: Path, most: int, cut: bool) -> None:
    names = [str(at * at / 50) for at in range(20)]  # 190 pairs, the nearest first
    found = near(tmp_path, names, cosine=0.9, top_k=19, most=most)
    every = near(tmp_path, names, cosine=0.9, top_k=19, most=1_000)
    assert len(every.pairs) == 190 and not every.cut
    assert (found.pairs, found.cut) == (every.pairs[:most], cut)
