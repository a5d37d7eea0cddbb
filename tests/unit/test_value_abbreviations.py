"""Which texts are abbreviations of one that many have written out."""

from __future__ import annotations

import pytest

from kgeval.auditing.steps.value_spelling import abbreviations


@pytest.mark.parametrize(("texts", "short"), [
    ({"Production": 156, "Prod": 2, "PRODUCTION": 1, "Prodution": 1, "Test": 31}, ["Prod"]),
    ({"Entwicklung": 90, "Entw.": 3, "entwicklung": 2}, ["Entw."]), ({"Livraison": 80, "Livr": 2, "livraison ": 1}, ["Livr"]),
    ({"Producción": 60, "Prod": 1, "Produccion": 4}, ["Prod"]), ({"English": 40, "Eng.": 2}, ["Eng."]),
    # what two words begin with, as often as the word, within two words, too short
    ({"Production": 156, "Product": 40, "Prod": 2}, []), ({"Northern": 90, "Northeast": 80, "North": 2}, []),
    ({"Production": 15, "Prod": 9}, []), ({"North East": 90, "North": 2}, []), ({"Production": 156, "Pr": 2}, []),
    ({"Engineering": 200, "Engineer": 30, "Eng": 2}, []),
])
def test_an_abbreviation_begins_one_word_and_its_other_spellings(texts: dict[str, int], short: list[str]) -> None:
    assert [own[1][0] for own in abbreviations(texts.items())] == short
