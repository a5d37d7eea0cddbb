"""The words of all texts, kept for a run: what is found is what reading every text again would find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.questions import word_index as told
from kgeval.questions.word_index import TooLongError, WordIndex

TEXTS = st.lists(st.text("ab c.\u00e9\u6f22'\n", max_size=12), max_size=6)


def kept(texts: list[str]) -> WordIndex:
    return WordIndex((f"e{n}", f"c{n}", text) for n, text in enumerate(texts))


@settings(deadline=None)  # the first text loads numpy
@given(TEXTS, st.text("ab c.\u00e9\u6f22'", min_size=1, max_size=5))
def test_every_text_that_holds_a_term_is_found(texts: list[str], term: str) -> None:
    if re.search(r"\w", term):
        holding = {f"e{n}" for n, text in enumerate(texts) if term in text}
        assert holding <= set(kept(texts).holding(term))
    else:
        assert kept(texts).holding(term) == []


@pytest.mark.slow
@settings(deadline=None)
@given(TEXTS, st.lists(st.sampled_from(["a", "ab", "b", "\u6f22", "ca"]), unique=True, max_size=4))
def test_the_nearest_texts_are_those_of_a_count_by_hand(texts: list[str], terms: list[str]) -> None:
    counts = {term: sum(term in text for text in texts) for term in terms}
    scores = {f"e{n}": sum(counts[term] ** -0.5 for term in terms if term in text) for n, text in enumerate(texts)}
    best = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-round(scores[name], 9), name))
    assert [round(scores[one], 9) for one in kept(texts).nearest(terms, 3)] == [round(scores[one], 9) for one in best[:3]]


def test_of_equal_texts_the_first_by_id_is_nearest_whatever_the_order() -> None:
    rows = [("x", "c2", "rye"), ("y", "c1", "Rye"), ("z", "c3", "corn")]
    assert WordIndex(rows).nearest(["rye"], 8) == WordIndex(rows[::-1]).nearest(["rye"], 8) == ["y", "x"]


def test_more_text_than_is_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "MOST_TEXT", 5)
    assert kept(["ab", "abc"]).holding("b") == ["e0", "e1"]
    with pytest.raises(TooLongError):
        kept(["ab", "abcd"])
