"""The glossary of reports: every word has one sentence, and a page shows it once where the word stands."""

from __future__ import annotations

import pytest

from kgeval.reports.glossary import ALIASES, TERMS, WHOLE, Words


def test_every_other_name_of_a_word_leads_to_one_with_a_sentence() -> None:
    assert set(ALIASES.values()) <= set(TERMS) and {name.lower() for name in WHOLE} <= {name.lower() for name in {*TERMS, *ALIASES}}
    assert all(sentence.endswith(".") and len(sentence) < 140 for sentence in TERMS.values())


def test_a_word_is_explained_once_in_a_text_and_listed() -> None:
    words = Words()
    text = str(words.explain("Cohen's kappa and kappa, over-merged <b>"))
    assert text == (
        '<abbr title="Agreement beyond chance: 1 is perfect, 0 is what guessing gives.">Cohen&#39;s kappa</abbr> and kappa, '
        '<abbr title="Several different things that were made into one entity.">over-merged</abbr> &lt;b&gt;'
    )
    assert [term for term, _ in words.listed()] == ["Cohen's kappa", "over-merged"]


@pytest.mark.parametrize("text", ["token_f1", "rag-recall-2", "to a degree", "p is small", "relative to it", "F1b"])
def test_parts_of_names_and_words_with_other_meanings_are_left(text: str) -> None:
    words = Words()
    assert str(words.explain(text)) == text and words.listed() == []


def test_a_short_word_is_explained_where_it_stands_alone() -> None:
    words = Words()
    assert "<abbr" in str(words.explain("p")) and "<abbr" in str(words.explain("Degree")) and len(words.used) == 2


@pytest.mark.parametrize("bad", ['"><script>', "\u202ekappa", "x" * 100_000])
def test_hostile_texts_stay_texts(bad: str) -> None:
    text = str(Words().explain(f"recall {bad}"))
    assert "<script" not in text and "\u202e" not in text and len(text) < 2_000
