"""Entities as flat columns."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.auditing import entity_columns
from kgeval.auditing.entity_columns import EntityColumns, FiledTexts
from kgeval.auditing.same_names import repeated
from kgeval.auditing.source_texts import Plain
from kgeval.text.names import normalise

IDS = ["4:abc:17", "4:abc:007", "x", "", "12", "4:abc:-3", "a:", "5:def:18", "4:abc:123456789012345678901"]


def test_ids_of_any_shape_come_back_as_they_went_in_and_are_found_again() -> None:
    roll = EntityColumns()
    for element_id in IDS:
        roll.append(element_id, "key", "name", None)
    assert [roll.element_id(at) for at in range(len(IDS))] == IDS
    assert roll.positions([*IDS, "4:abc:99"]) == [*range(len(IDS)), -1]


def test_texts_come_back_whole_also_empty_ones_and_lone_surrogates() -> None:
    texts = FiledTexts()
    for text in ("", "Ulm", "\ud800", "", "東京"):
        texts.append(text)
    assert [texts[at] for at in range(len(texts))] == ["", "Ulm", "\ud800", "", "東京"]


def test_texts_are_read_from_the_file_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_columns, "KEPT", 7)
    texts, names = FiledTexts(), [f"name {number}" for number in range(50)]
    for at, name in enumerate(names):
        texts.append(name)
        assert (texts[at], texts[at // 2]) == (name, names[at // 2])
    assert [texts[at] for at in range(50)] == names


@given(st.text())
def test_a_reduced_text_has_no_gap_and_no_case_of_ascii_letters_or_of_others(text: str) -> None:
    plain = Plain()
    kept = [c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c)[0] not in "PZC"]
    assert plain(text) == "".join(kept)
    assert all(plain(word) == word for word in normalise(text).split() if word.isascii())


@given(st.lists(st.integers(0, 9).map(lambda n: 2**64 - 1 - n)))
def test_codes_that_stand_there_more_than_once_are_found_with_their_number(codes: list[int]) -> None:
    ascending = np.sort(np.array(codes, dtype=np.uint64))
    starts, sizes = repeated(ascending)
    assert dict(zip(ascending[starts].tolist(), sizes.tolist(), strict=True)) == {c: codes.count(c) for c in codes if codes.count(c) > 1}
