"""Surface forms: which names could mean one thing, and which small differences forbid it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.names.compare import compare_forms
from kgeval.names.forms import acronym_keys, folded, form

SAME = [
    ("Holmes", "Sherlock Holmes", "token subset"),
    ("Mr. Holmes", "Sherlock Holmes", "token subset"),
    ("Leonardo", "Leonardo da Vinci", "token subset"),
    ("福尔摩斯", "夏洛克·福尔摩斯", "token subset"),
    ("Холмс", "Шерлок Холмс", "token subset"),
    ("Mr. Holmes", "Holmes", "honorific"),
    ("General Grant", "Gen. Grant", "honorific"),
    ("Miss Jane Marple", "Jane Marple", "honorific"),
    ("J. Smith", "John Smith", "initials"),
    ("John B. Smith", "John Smith", "initials"),
    ("J.R.R. Tolkien", "John Ronald Reuel Tolkien", "initials"),
    ("CIA", "Central Intelligence Agency", "acronym"),
    ("C.I.A.", "Central Intelligence Agency", "acronym"),
    ("BoE", "Bank of England", None),
    ("BOE", "Bank of England", "acronym"),
    ("BE", "Bank of England", "acronym"),
    ("Acme", "Acme Inc.", "legal form"),
    ("Acme GmbH", "Acme Ltd", "legal form"),
    ("Black Smith", "Blacksmith", "spacing"),
    ("Banco Verde", "Banco Verde S.A.", "legal form"),
    ("Nowa Era sp. z o.o.", "Nowa Era", "legal form"),
    ("Garcia", "Garcia, S. A.", None),
    ("Wilhelm Otto", "Wilhelm Otto A. C.", None),
    ("fisher-men", "Fishermen", "spacing"),
    ("Post-processing", "Postprocessing", "spacing"),
    ("Non-linear model", "Nonlinear model", "spacing"),
    ("camel", "Camels", "plural"),
    ("Charity", "Charities", "plural"),
    ("Morocco", "Morrocco", "spelling variant"),
    ("Müller & Sohn", "Mueller & Sohn", "spelling variant"),
    ("Civilisation", "civilization", "spelling variant"),
    ("Shakespeare", "Shakespearr", "near spelling"),
]
APART = [
    ("Mr. Holmes", "Mrs. Holmes"), ("Dr. Hall", "Mr. Hall"), ("Mrs. Cratchit", "Bob Cratchit"),
    ("Mrs. Fezziwig", "Fezziwig"), ("England", "New England"), ("Henry IV", "Henry VI"), ("Chapter 1", "Chapter 2"),
    ("World War", "World War II"), ("John Smith", "John Smith Jr."), ("Oxford", "University of Oxford"), ("Simon", "Simon Estate"),
    ("Room", "Dining Room"), ("Bob", "Bob's wife"), ("Jane Smith", "John Smith"), ("cat", "car"),
    ("Pre-war", "Post-war"), ("Prometheus Bound", "Prometheus Unbound"),
    ("Chapter 1 2", "Chapter 12"), ("Newport", "New Port"), ("Henry V I", "Henry VI"), ("Dead men", "Dead women"),
    ("legal matters", "illegal matters"), ("", "Holmes"), ("...", "Holmes"), ("Anna Lee", "Anne Lee"),
]


def joined_by(a, b):
    """The form that joins two names; None where none does, or something contradicts."""
    verdict = compare_forms(form(a), form(b))
    return verdict.form if verdict.joins else None


@pytest.mark.parametrize(("a", "b", "expected"), SAME)
def test_these_names_are_forms_of_each_other(a, b, expected):
    assert joined_by(a, b) == expected


@pytest.mark.parametrize(("a", "b"), APART)
def test_these_names_are_not(a, b):
    assert joined_by(a, b) is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_two_texts_give_the_same_answer_in_both_orders(a, b):
    assert compare_forms(form(a), form(b)) == compare_forms(form(b), form(a))


@given(st.text(max_size=30))
def test_a_name_is_the_same_as_itself(name):
    assert joined_by(name, name) == ("same name" if form(name).tokens else None)


def test_a_name_of_100000_characters_costs_no_more_than_one_of_300():
    assert len(form("x" * 100_000).norm) == 300


def test_an_acronym_may_count_link_words_or_leave_them_out():
    assert acronym_keys(form("Bank of England")) == ("be", "boe")
    assert acronym_keys(form("England")) == ()


def test_folding_joins_ways_to_write_one_sound():
    assert folded("müller") == folded("mueller") == folded("muler")
    assert folded("phaeton") == folded("fäton")
