"""Which language a text seems to be written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.text.language import TextLanguage, detect_language

TOLD = {
    "The mill was built by the miller and it is old": "English",
    "Die Mühle wurde von dem Müller gebaut und sie ist alt": "German",
    "Le moulin est à côté du village et des champs": "French",
    "El molino es de los frailes y las monjas": "Spanish",
    "Il mulino fu costruito da Ada": "Latin script",
    "L'era del mulino, al tempo del re, al fiume": "Latin script",
    "Mill 3, says good: worth 4.": "Latin script",
    "磨坊是阿达建造的": "Chinese script",
    "磨坊是阿达建造的 (GPT)": "Chinese script",
    "水車小屋はアダが建てました": "Japanese script",
    "мельница была построена Адой": "Cyrillic script",
    "الطاحونة بنتها آدا": "Arabic script",
}


@pytest.mark.parametrize("text", TOLD)
def test_a_sentence_tells_its_language_or_script(text: str) -> None:
    assert detect_language(text).name == TOLD[text]


@pytest.mark.parametrize("text", ["", "42", " \x00\n", "the der", "мир мир мир world world", "Ada, 1815-1852"])
def test_what_does_not_tell_has_neither(text: str) -> None:
    assert detect_language(text) == TextLanguage()


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_are_unlike_in_both_directions_or_in_none(one: str, other: str) -> None:
    left, right = detect_language(one), detect_language(other)
    assert left.unlike(right) == right.unlike(left) and not left.unlike(left)


def test_two_texts_are_unlike_by_script_or_by_two_known_languages_only() -> None:
    english, latin, chinese = TextLanguage("Latin", "English"), TextLanguage("Latin"), TextLanguage("Chinese")
    assert english.unlike(chinese) and latin.unlike(chinese) and english.unlike(TextLanguage("Latin", "German"))
    assert not english.unlike(latin) and not english.unlike(TextLanguage())


def test_only_the_beginning_is_looked_at() -> None:
    assert detect_language("The mill was built and it is old. " * 200 + "磨坊" * 100_000).name == "English"
