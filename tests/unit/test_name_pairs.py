"""What kgeval.names says of 600 labelled pairs of names: half of them were not looked at while the rules were made."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "labelled"))
from name_figures import NamesRow, labelled_names

from kgeval.names import compare_names, group_names


@pytest.fixture(scope="module")
def rows() -> list[NamesRow]:
    return list(labelled_names())


def test_what_is_called_sure_is_hardly_ever_wrong(rows: list[NamesRow]) -> None:
    sure = [row for row in rows if row.verdict.certainty == "sure"]
    wrong = [(row.a, row.b) for row in sure if not row.is_same]
    assert len(sure) > 150
    assert len(wrong) <= 0.01 * len(sure), wrong


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_order_of_two_names_says_nothing(a: str, b: str) -> None:
    assert compare_names(a, b) == compare_names(b, a)


OPPOSITES = [
    ("Heart rate increased", "Heart rate decreased"), ("Hyperkalaemia", "Hypokalaemia"), ("VITAMIN C", "VITAMIN K"),
    ("Blood pressure systolic", "Blood pressure diastolic"), ("Left ventricle", "Right ventricle"), ("Hepatitis A", "Hepatitis B"),
    ("Interferon alpha", "Interferon beta"), ("employer", "employee"), ("sodium sulfate", "sodium sulfite"),
    ("Boston College", "Boston University"),
    ("HTTP", "HTTPS"), ("fetchUser", "fetchUsers"), ("symptomatic", "asymptomatic"), ("Type I", "Type II"), ("stage 2", "stage 3"),
    ("January 2020", "February 2020"), ("Red Line", "Blue Line"), ("import tax", "export tax"), ("Google", "Google+"),
    ("Hypertension", "Hypotension"), ("Prenatal care", "Postnatal care"), ("Weight increased", "Weight decreased"),
    ("Hyperglycaemia", "Hypoglycaemia"), ("White blood cell count increased", "White blood cell count decreased"),
]


@pytest.mark.parametrize(("a", "b"), OPPOSITES)
def test_opposites_and_steps_are_never_one_thing(a: str, b: str) -> None:
    assert not compare_names(a, b).joins


TWO_THINGS = [
    ("John 3:16", "John 16:3"), ("Season 2 Episode 3", "Season 3 Episode 2"), ("Super Bowl LI", "Super Bowl LII"),
    ("Phase IIa", "Phase Ia"), ("Stage IIB", "Stage IB"), ("WrestleMania XXI", "WrestleMania XXII"), ("morning", "mourning"),
    ("holy", "holly"), ("poets", "pets"), ("filing", "filling"), ("course", "corse"), ("general linear model", "linear model"),
    ("insurance company", "insurance"), ("Chromosome X", "Chromosome 10"), ("third-party contract", "three-party contract"),
    ("Vitamin E deficiency", "vitamin deficiency"), ("3.10", "3.1"), ("Sarov", "Шаров"), (".NET", "Net"), ("WWI", "World War II"),
    ("Chen Jun", "Chen June"), ("C--", "C"), ("*Lisp", "Lisp"), ("Y chromosome", "chromosome"), ("10 of 20", "20 of 10"),
    ("OpenGL ES Shading Language", "OpenGL Shading Language"),
]


@pytest.mark.parametrize(("a", "b"), TWO_THINGS)
def test_names_that_look_alike_are_not_taken_for_one(a: str, b: str) -> None:
    assert compare_names(a, b).certainty in ("unlikely", "apart")


@pytest.mark.parametrize(("a", "b", "type_", "expected"), [
    ("World Health Organization (WHO)", "WHO", None, ("sure", "acronym in brackets")),
    ("WHO (World Health Organization)", "World Health Organisation", None, ("sure", "spelling variant")),
    ("Oda Nobunaga", "Nobunaga Oda", "Person", ("likely", "order of words")),
    ("Smith, John", "John Smith", None, ("sure", "order of words")),
    ("World War 2", "World War II", None, ("sure", "the same number")),
    ("GPT-4", "GPT4", "Model", ("sure", "spacing")),
    ("Bill Clinton", "William J. Clinton", "Person", ("likely", "nickname")),
    ("Владимир Путин", "Vladimir Putin", "Person", ("sure", "another script")),
    ("1,500 metres", "1500 m", None, ("sure", "the same quantity")),
    ("5 mg", "5 g", None, ("apart", "")), ("C", "C#", "Language", ("apart", "")), ("March 2020", "2020-04-01", None, ("apart", "")),
    ("interleukin 6 (IL6)", "interleukin 6", None, ("likely", "qualifier")),
    ("Roe v. Wade", "Roe vs. Wade", None, ("sure", "the same number")),
    ("nineteenth century", "19th century", None, ("sure", "the same number")),
    ("twenty-first century", "21st century", None, ("sure", "the same number")),
    ("Super Bowl LI", "Super Bowl 51", None, ("sure", "the same number")), ("WWII", "World War II", None, ("likely", "acronym")),
    ("tumour", "tumor", None, ("sure", "spelling variant")), ("Łódź", "Lodz", "City", ("sure", "spelling variant")),
    ("IL-2", "IL2", None, ("sure", "spacing")), ("the U.N.", "UN", "Organization", ("sure", "spacing")),
    ("Johnson & Johnson", "Johnson and Johnson", None, ("sure", "spacing")),
    ("Mercury (planet)", "Mercury (element)", None, ("apart", "")),
])
def test_what_joins_two_names_is_said(a: str, b: str, type_: str | None, expected: tuple[str, str]) -> None:
    verdict = compare_names(a, b, type=type_)
    assert (verdict.certainty, verdict.form) == expected


def test_a_short_form_that_fits_several_names_joins_none() -> None:
    names = ["PPL", "Pacific Power and Light", "Public Performance Limited", "Phonographic Performance Ltd"]
    assert group_names(names) == [[0], [1], [2], [3]]
    assert group_names(names[:2]) == [[0, 1]]
    assert group_names(["Mass Spectrometry (MS)", "Multiple Sclerosis (MS)", "MS"]) == [[0], [1], [2]]
    assert group_names(["React", "React Native"]) == [[0], [1]]
    assert group_names(["Google"] * 300) == [list(range(300))]
    assert group_names(["J. Smith", "John Smith", "Jane Smith"]) == [[0], [1], [2]]
    assert group_names(["Carl Anton Smith", "Carl Smith", "Carl Bruno Smith"], ["Person"] * 3) == [[0], [1], [2]]


def test_an_acronym_joins_the_name_that_it_stands_beside() -> None:
    names = ["World Health Organization (WHO)", "WHO", "World Health Organization"]
    assert group_names(names) == [[0, 1, 2]]
    assert group_names(names[:2]) == [[0, 1]]
    assert group_names([*names[:2], "Wholesale Hotel Owners"]) == [[0, 1], [2]]


def test_no_group_holds_two_names_that_are_apart() -> None:
    """"Henry" fits both kings, and joins neither to the other."""
    assert group_names(["King Henry IV", "Henry IV", "Henry VI", "King Henry VI"], ["Person"] * 4) == [[0, 1], [2, 3]]


def test_types_that_differ_never_join_and_a_missing_one_fits() -> None:
    assert group_names(["Mercury", "mercury", "Mercury"], ["Planet", "Element", None]) in ([[0, 2], [1]], [[0], [1, 2]])


OTHERS = [
    "Rome", "Oslo", "Bern", "Lima", "Quito", "Accra", "Hanoi", "Sofia", "Minsk", "Riga", "Cairo", "Tunis", "Dakar", "Amman", "Doha",
]


def near_in_meaning(size: int, *pairs: tuple[int, int, float]) -> np.ndarray:
    """Unit vectors of which each is nearer (cosine) to those that are named than to the others, to which it is at 0.2."""
    cosines = np.full((size, size), 0.2)
    np.fill_diagonal(cosines, 1.0)
    for a, b, cosine in pairs:
        cosines[a, b] = cosines[b, a] = cosine
    return np.linalg.cholesky(cosines)


def groups_of_several(names: list[str], *pairs: tuple[int, int, float], types: list[str] | None = None) -> list[list[int]]:
    every = [*names, *OTHERS]
    kinds = [*types, *["City"] * len(OTHERS)] if types else None
    found = group_names(every, kinds, vectors=near_in_meaning(len(every), *pairs))
    return [group for group in found if group[0] < len(names)]


def test_embeddings_join_what_is_nearest_to_each_other_and_clear_of_others() -> None:
    names = ["London", "Londres", "Paris", "Lutetia"]
    assert groups_of_several(names, (0, 1, 0.8), (2, 3, 0.7)) == [[0, 1], [2, 3]]
    assert [group for group in group_names([*names, *OTHERS]) if len(group) > 1] == [], "names alone join none of them"
    assert groups_of_several(names, (0, 1, 0.8), (2, 3, 0.7), types=["City", "Poem", "City", "City"]) == [[0], [1], [2, 3]]
    assert groups_of_several(["World Cup 2018", "World Cup 2022"], (0, 1, 0.95)) == [[0], [1]], "years tell them apart"


def test_embeddings_that_are_as_near_to_a_third_join_none() -> None:
    names = ["Florence", "Fiorenza", "Tuscany"]
    assert groups_of_several(names, (0, 1, 0.8), (1, 2, 0.8), (0, 2, 0.8)) == [[0], [1], [2]]
    assert groups_of_several(names, (0, 1, 0.85), (1, 2, 0.7), (0, 2, 0.7)) == [[0, 1, 2]], "what is left is nearest to the two"
    assert group_names(["Alpha"], vectors=np.ones((1, 1))) == [[0]] and group_names([], vectors=np.ones((0, 3))) == []


def test_a_group_that_names_join_is_near_as_a_whole() -> None:
    """Langley is nearest to CIA, but no nearer to the group of its names than to Rome."""
    names = ["CIA", "Central Intelligence Agency", "Langley"]
    assert groups_of_several(names, (0, 2, 0.4), (1, 2, 0.0)) == [[0, 1], [2]]
    assert groups_of_several(names, (0, 2, 0.6), (1, 2, 0.6)) == [[0, 1, 2]]
