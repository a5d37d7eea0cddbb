"""The identity of a name: which signs make two things of names with one normal form, and which only dress a name."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kgeval.metrics.words import words
from kgeval.text.names import ARTICLES, normalise
from kgeval.text.signs import identity_key

TWO = [
    ("C", "C#"), ("C", "C*"), ("C#", "C++"), ("F", "F#"), ("F#", "Fm"), ("Go", "Go!"), (".NET", "Net"), (".NET Core", "NET Core"),
    ("HER2-", "HER2"), ("HER2-", "HER2+"), ("CD4- cells", "CD4+ cells"), ("A-", "A"), ("A+", "A-"), ("Rh-", "Rh+"), ("ER-", "ER"),
    ("-5 °C", "5 °C"), ("3.5", "35"), ("3.5", "3 5"), ("v1.0", "v10"), ("5 %", "5"), ("5 MW", "5 mW"), ("MW", "mW"), ("10 Mb", "10 MB"),
    ("__init__", "init"), ("_private", "private"), ("Co", "CO"), ("Hf", "HF"), ("f'", "f"), ("x²", "x₂"),
    ("Ca²⁺", "Ca⁺"), ("σ", "Σ"), ("O(n)", "o(n)"), ("1,000", "1.000"),
]
ONE = [
    ("C#", "c#"), ("C#", "C♯"), ("C#", "Ｃ＃"), ("Yahoo!", "Yahoo"), ("Ada Lovelace*", "Ada Lovelace"), ("Advil®", "Advil"),
    ("Advil™", "Advil"),
    ("Advil(R)", "Advil"), ("AT&amp;T", "AT&T"), ("3,5", "3.5"), ("1,000 km", "1000 km"), ("1 000 km", "1,000 km"), ("5 %", "5%"),
    ("5 KG", "5 kg"), ("02.01.2020", "02/01/2020"), ("The Hague", "hague"), ("_Hamlet_", "Hamlet"), ("H₂O", "H2O"), ("km²", "km2"),
    ("SO₄²⁻", "SO4^2-"), ("HER2−", "HER2-"), ("Wikipedia[1]", "Wikipedia"), ("UK", "uk"), ("He", "he"), ("Go", "go"), ("O'Neil", "O’Neil"),
    ("...And Justice for All", "And Justice for All"), ("Issue #5", "Issue 5"),
    ("pre- and post-war", "pre and post war"), ("2018-", "2018"),
]


@pytest.mark.parametrize(("a", "b"), TWO)
def test_these_are_two_things(a: str, b: str) -> None:
    assert identity_key(a) != identity_key(b)


@pytest.mark.parametrize(("a", "b"), ONE)
def test_these_are_one_thing(a: str, b: str) -> None:
    assert identity_key(a) == identity_key(b)


@given(st.text(max_size=40))
def test_an_identity_is_empty_only_where_the_normal_form_is(name: str) -> None:
    assert bool(identity_key(name)) >= bool(normalise(name))


@given(st.from_regex(r"[A-Za-z]{1,9}( [A-Za-z]{1,9}){1,3}", fullmatch=True))
def test_words_without_signs_are_their_normal_form(name: str) -> None:
    first = name.split()[0]
    # "El" stays in an identity, for Los Angeles is not Angeles; MW is none of mW
    assume(first.casefold() not in ARTICLES - {"the", "a", "an"} and not re.fullmatch("M(Wh?|VA?|A|Hz|Pa|J|Bq|Sv|eV)", first))
    assert identity_key(name) == normalise(name)


@pytest.mark.parametrize(("a", "b"), [("C", "C#"), ("Net", ".NET"), ("HER2", "HER2-"), ("A", "A*"), ("5", "5%"), ("C#", "C++")])
def test_an_answer_that_lacks_a_sign_is_another_answer(a: str, b: str) -> None:
    assert words(a) != words(b)


@pytest.mark.parametrize(("a", "b"), [
    ("**42**", "42"), ("*No*", "no"), ("Yes!", "yes"), ("(C#)", "C#."), ("well-known", "wellknown"), ("- C++", "C++"), ("\"5 %\"", "5%"),
])
def test_an_answer_is_the_same_however_it_is_dressed(a: str, b: str) -> None:
    assert words(a) == words(b)
