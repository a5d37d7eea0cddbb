"""Texts of others that are long and of one piece are read in a time that grows with their length: by its square, these would take hours."""

from __future__ import annotations

import random
import unicodedata

import pytest

from kgeval.graph.guard import _calls, _unnamed
from kgeval.graph.layouts.entity_names import KeyUse
from kgeval.graph.load.gather import _Places
from kgeval.graph.load.model import Entity
from kgeval.metrics.words import words as metric_words
from kgeval.questions.checking.leak import _LIST, _SENTENCE
from kgeval.questions.checking.leak import words as question_words
from kgeval.tables.evidence import split_groups
from kgeval.text.clean import NormalForm, normal_form
from kgeval.text.length import count_words
from kgeval.text.names import normalise

MANY = 1_000_000


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["/*", "a.", "a ", "`", "'", '"', "a .", "(", "\\", "a" * 9 + "\n", "\\'", '\\"', "\\`", "``"])
@pytest.mark.parametrize("opening", ["", "'", '"', "`"])
def test_cypher_that_a_system_wrote(opening: str, piece: str) -> None:
    text = opening + piece * (MANY // len(piece))
    assert list(_calls(_unnamed(text))) == []


def test_what_is_called_is_found_as_before() -> None:
    called = "apoc.text . join (x) + a.b + apoc.x(gds.util.asNode\n(1)) + size(y)"
    assert list(_calls(called)) == ["apoc.text.join", "apoc.x", "gds.util.asNode"]
    assert _unnamed("RETURN 1 /* never closed apoc.x()").split() == ["RETURN", "1"]


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [" ", "\n", "?", "? ", " ;", ")", ") ", ")\n", "; ", "and ", "\n and"])
def test_answers_and_evidence(piece: str) -> None:
    text = f"a{piece * (MANY // len(piece))}b"
    assert len(_LIST.split(text)) >= 1 and len(_SENTENCE.split(text)) >= 1 and len(split_groups(f"({text}")) >= 1


def test_lists_and_groups_are_cut_as_before() -> None:
    assert [part.strip() for part in _LIST.split("Ada, Bo and Cy\nund D ; and E | F & G")] == ["Ada", "Bo", "Cy", "D", "E", "F", "G"]
    assert _SENTENCE.split("Is it? No... Yes") == ["Is it", "No", "Yes"]
    groups = "(a, b, c); (d, e, f). ;\n(g, h, i).\n\n(j, k, l)\n(m; n, o, p) ;(q, r, s)."
    assert split_groups(groups) == ["(a, b, c)", "(d, e, f)", "(g, h, i)", "(j, k, l)", "(m; n, o, p)", "(q, r, s)."]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a@", "a@.", "1:", "a:", " ", "/"])
def test_names_in_a_graph(piece: str) -> None:
    use = KeyUse(key="name", looked_at=1, filled=1, texts=1, values=1, length=float(MANY), some=[piece * MANY])
    assert use.says_names in (True, False)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("marks", [
    "\u0301\u0316\u0327", "\u0327\u0301", "\u0301\uff9e", "\u05b0\u05c1", "\u0f71\u0f72\u0f74", "\u3099\u0301",
])
def test_marks_on_a_letter_are_ordered_in_every_place_that_compares_texts(marks: str) -> None:
    text = "e" + marks * (120_000 // len(marks)) + "n" + marks
    assert normalise(text) and metric_words(text) and question_words(text) and count_words(text)
    few = "e" + marks * 400 + " ﬁ" + marks * 3
    forms: tuple[NormalForm, ...] = ("NFC", "NFD", "NFKC", "NFKD")
    for form in forms:
        assert normal_form(few, form) == unicodedata.normalize(form, few)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_end_of_a_relation_among_many_of_one_name() -> None:
    rng = random.Random(3)
    few = [Entity(str(at), name="a", chunks=rng.choices("stuvwxyz", k=3)) for at in range(12)]
    places = _Places({"a": [*range(12)]}, few)
    for _ in range(300):
        chunks = frozenset(rng.choices("stuvwxyz!", k=3))
        assert places.nearest("a", chunks) == max(range(12), key=lambda at: (len(chunks.intersection(few[at].chunks)), -at))
    many = [Entity(str(at), name="a", chunks=[str(at)]) for at in range(30_000)]
    places = _Places({"a": [*range(30_000)]}, many)
    assert [places.nearest("a", frozenset({str(at), "other"})) for at in range(30_000)] == [*range(30_000)]
    together = [Entity(str(at), name="a", chunks=["one"]) for at in range(30_000)]
    places = _Places({"a": [*range(30_000)]}, together)
    assert {places.nearest("a", frozenset({"one", f"own {at}"})) for at in range(30_000)} == {0}
