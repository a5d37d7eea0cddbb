"""Entities as flat columns."""

from __future__ import annotations

from kgeval.auditing.entity_columns import EntityColumns, FiledTexts

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
