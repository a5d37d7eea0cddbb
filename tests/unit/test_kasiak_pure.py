"""What code alone decides of the kinds of [K]: a quote in its passage, a sentence that is said, a name in the possessive."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.questions.drafts import is_quoted, names_in
from kgeval.questions.kinds import RejectedError
from kgeval.questions.making.kasiak_context import stated
from kgeval.questions.making.kasiak_searched import FEWEST_WORDS, span_of
from kgeval.records import StructureNode

WORDS = st.lists(st.text("abcdeé", min_size=1, max_size=6), min_size=FEWEST_WORDS, max_size=20)
GAPS = st.lists(st.sampled_from([" ", ", ", "\n", " - ", "; ", "'  "]), min_size=20, max_size=20)


@pytest.mark.slow
@given(words=WORDS, gaps=GAPS, start=st.integers(0, 15), upper=st.booleans())
def test_a_run_of_words_is_found_in_its_text_as_it_stands_there_and_what_is_found_has_the_same_words(
    words: list[str], gaps: list[str], start: int, upper: bool,
) -> None:
    text = "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    part = words[min(start, len(words) - FEWEST_WORDS):]
    quote = " ".join(part)
    found = span_of(quote.upper() if upper else quote, text)
    assert found in text
    assert re.findall(r"\w+", found) == part
    assert is_quoted(found, text)


@pytest.mark.parametrize(("quote", "text", "cause"), [
    ("a b c d", "a b c d e", "short_quote"), ("", "a b c d e", "short_quote"), ("a b c d e", "xa b c d e", "not_quoted"),
    ("a b c d f", "a b c d e f", "not_quoted"), (" ".join("abcdefghij" * 7), "x", "long_quote"),
    ("x" * 601 + " a b c d e", "x", "long_quote"), (".*" * 5, "anything", "short_quote"),
])
def test_a_quote_that_is_too_short_too_long_or_not_there_is_none(quote: str, text: str, cause: str) -> None:
    with pytest.raises(RejectedError) as caught:
        span_of(quote, text)
    assert caught.value.cause == cause


def test_a_quote_in_a_script_without_spaces_needs_as_many_characters() -> None:
    said = "我们从来没有磨过这么多黑麦"
    assert span_of(said, f"他说：{said}。") == said
    with pytest.raises(RejectedError):
        span_of(said[:5], said)
    assert stated(f"因为。{said}。", [f"他说：{said}。"]) == said


@pytest.mark.slow
@given(st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_an_answer_with_a_sentence_of_the_texts_is_stated(texts: list[str], data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(texts))
    answer = f"Zz zz. {one}! Yy yy."
    assert bool(stated(answer, texts)) == (len(one.split()) >= 3)
    assert bool(stated(one, texts)) == bool(one.strip())


def test_a_name_in_the_possessive_is_a_name() -> None:
    nodes = [StructureNode(element_id=name, key=name, name=name) for name in ("Mara", "Tolvan Bay", "Mar")]
    assert names_in("Is Mara's boat in Tolvan Bay\u2019s harbour?", nodes) == nodes[:2]
