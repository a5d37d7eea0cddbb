"""Windows that a model reads whole, excerpts that fit a budget, and a budget that systems of one run share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.config import SystemOptions
from kgeval.config import load as load_config
from kgeval.llm.embed import Embedder
from kgeval.llm.text_table import Item, open_table
from kgeval.llm.vector_cache import VectorCache
from kgeval.systems.builtin.retrieval import chunk_windows, unread
from kgeval.text.windows import excerpt, shares, windows
from kgeval.workflows.answer_systems import chosen_systems

TEXT = " ".join(f"The keeper of the light number {n} came from Velmouth in the year {1800 + n}." for n in range(60))


def words(text: str) -> int:
    return len(text.split())


def lengths(texts: Sequence[str]) -> list[int]:
    return [words(text) for text in texts]


def test_windows_hold_every_sentence_and_repeat_at_most_a_quarter() -> None:
    found = windows(TEXT, 100, lengths)
    assert all(words(TEXT[start:end]) <= 100 for start, end in found) and len(found) > 7
    assert set(" ".join(TEXT[start:end] for start, end in found).split()) == set(TEXT.split())
    for (_, end), (start, _) in pairwise(found):
        assert 0 < words(TEXT[start:end]) <= 25
    assert windows("A short text.", 100, lengths) == [(0, 13)]


@given(st.text(max_size=300), st.integers(1, 20))
def test_no_window_is_too_long_and_no_character_is_lost(text: str, most: int) -> None:
    def characters(texts: Sequence[str]) -> list[int]:
        return [len(one) for one in texts]

    found = windows(text, most, characters)
    covered = {at for start, end in found for at in range(start, end)}
    assert all(end - start <= max(most, 1) for start, end in found)
    assert all(text[at].isspace() for at in set(range(len(text))) - covered)


@given(st.integers(0, 59), st.integers(5, 400))
def test_an_excerpt_fits_and_holds_what_was_found(at: int, most: int) -> None:
    start = TEXT.index(f"number {at} ")
    found = excerpt(TEXT, (start, start + 8), most, words)
    assert words(found) <= most and found in TEXT
    assert most < 16 or f"number {at} " in found


def test_a_text_that_fits_stays_whole_and_a_long_sentence_is_cut_between_words() -> None:
    assert excerpt("One. Two.", (0, 1), 10, words) == "One. Two."
    assert excerpt("one two three four five", (0, 1), 3, words) == "one two three"


def test_what_short_texts_leave_over_goes_to_the_long_ones() -> None:
    assert shares([10, 500, 500], 310) == [10, 150, 150]
    assert shares([10, 20], 100) == [10, 20] and shares([], 5) == []


class Words:
    """An embedding model that reads ten words of a text."""

    name = identity = "ten-words"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 4))

    def window(self) -> int:
        return 10

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return lengths(texts)


@pytest.mark.slow
def test_an_index_says_how_much_of_its_text_no_vector_knows(tmp_path: Path) -> None:
    embedder = Embedder(Words(), VectorCache(tmp_path / "vectors", "ten-words"), batch=8)
    items = [Item("a", "a", " ".join("word." for _ in range(30))), Item("b", "b", " ".join("word." for _ in range(10)))]
    plain = open_table("plain", lambda: items, embedder, cache_dir=tmp_path).about
    assert (plain.unread, plain.rows) == (0.5, 2) and unread(plain).startswith("50 % of the indexed text is in no vector")
    cut = partial(chunk_windows, most=10, lengths=embedder.lengths)
    whole = open_table("cut", lambda: items, embedder, cache_dir=tmp_path, cut=cut).about
    assert (whole.unread, whole.texts, whole.rows > 4) == (0.0, 2, True)
    assert (whole.tokens, whole.words) == (plain.tokens, plain.words)


@pytest.mark.parametrize(("given", "expected"), [
    (["graph:l_max=4000"], {"vector": 4000, "graph": 4000}),
    (["graph:l_max=4000", "vector:l_max=900"], {"vector": 900, "graph": 4000}),
    (["l_max=500"], {"vector": 500, "graph": 500}),
    ([], {"vector": None, "graph": None}),
])
def test_vector_has_the_budget_of_the_graph_that_it_is_compared_with(given: list[str], expected: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "kgeval.toml").write_text("")
    options = SystemOptions(systems=("vector", "graph"), settings=tuple(given))
    chosen = chosen_systems(load_config(tmp_path / "kgeval.toml"), options)
    assert {one.label: one.settings.get("l_max") for one in chosen} == expected
