"""Which entities with near embeddings may be one thing, and which words say that they are two."""

from __future__ import annotations

import pytest

from kgeval.auditing.similar import NEAR, alike
from kgeval.records import GraphRef


def ref(name: str, kind: str | None = None) -> GraphRef:
    return GraphRef(key=name, name=name, type=kind)


@pytest.mark.parametrize(("a", "b", "how"), [
    ("Serbian Army", "Serbian Military", NEAR), ("Emperor of Germany", "German Emperor", NEAR),
    ("King Arthur's Grave", "King Arthur's Tomb", NEAR), ("Nicte", "Nicté", "spelling variant"),
        ("Scrooge's Bedroom", "Scrooge's Room", NEAR),
    ("Mars", "Planet Mars", "token subset"), ("Simon Estate", "Simons Estate", "near spelling"), ("Prag", "Прага", NEAR),
])
def test_names_that_may_be_one_thing(a: str, b: str, how: str) -> None:
    assert alike(ref(a), ref(b)) == alike(ref(b), ref(a)) == how


@pytest.mark.parametrize(("a", "b"), [
    ("The Door", "DOOR"), ("August 15, 1917", "August 28, 1917"), ("East Indies", "West Indies"), ("Miss Simson", "Mr. Simson"),
    ("Dr. MacEwan", "Mr. MacEwan"), ("Dr. P.", "Dr. R."), ("Harvard College", "Harvard University"), ("Church", "Christian Church"),
    ("Bob Cratchit", "Bob Cratchit's Family"), ("Puritan", "Puritans"), ("", "Door"),
    ("Maya", "Mayab"), ("Green Bank", "Green Bank Hotel"),
])
def test_names_that_words_tell_apart(a: str, b: str) -> None:
    assert alike(ref(a), ref(b)) is None
    assert alike(ref(b), ref(a)) is None


def test_types_must_agree_but_a_missing_or_placeholder_type_fits_any() -> None:
    assert alike(ref("Gate", "T"), ref("Portal", "U")) is None
    assert alike(ref("Gate", "T"), ref("Portal", "t")) == alike(ref("Gate", "T"), ref("Portal")) == NEAR
    assert alike(ref("Gate", "T"), ref("Portal", "UNKNOWN"), placeholders={"UNKNOWN"}) == NEAR


def test_people_with_one_surname_and_other_given_names_are_two() -> None:
    assert alike(ref("Peter Cratchit", "PERSON"), ref("Robert Cratchit", "PERSON")) is None
    assert alike(ref("Peter Cratchit", "BOOK"), ref("Robert Cratchit", "BOOK")) == NEAR
    assert alike(ref("P. Cratchit", "PERSON"), ref("Peter Cratchit", "PERSON")) == "initials"
