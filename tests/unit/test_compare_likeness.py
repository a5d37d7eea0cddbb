"""Notes on answers that are the same, or of different languages."""

from __future__ import annotations

from kgeval.comparison.answering import likeness

TEXTS = {
    "en": "The mill was built by the miller and it is old", "de": "Die Mühle wurde von dem Müller gebaut und sie ist alt",
    "?": "Mill 3: 42", "it": "Il mulino fu costruito da Ada", "zh": "磨坊是阿达建造的磨坊",
}


def notes(pairs: dict[tuple[str, str], list[tuple[str, str]]]) -> list[str]:
    return list(likeness(list(pairs), lambda a, b, most: pairs[a, b][:most], TEXTS.get))


def test_answers_in_two_languages_are_named_with_how_many_questions_they_are() -> None:
    (note,) = notes({("x", "y"): [("en", "de"), ("de", "en"), ("en", "?"), ("?", "de")]})
    assert "x and y (English and German in 2 of 4 questions)" in note


def test_two_scripts_are_two_languages_whichever_they_are() -> None:
    (note,) = notes({("x", "y"): [("it", "zh")]})
    assert "Latin script and Chinese script in 1 of 1" in note


def test_one_language_or_one_nobody_knows_gives_no_note() -> None:
    assert notes({("x", "y"): [("en", "it"), ("?", "de"), ("gone", "en")], ("x", "z"): []}) == []


def test_answers_that_are_the_same_text_are_told_from_half_of_them_on() -> None:
    (note,) = notes({("x", "copy"): [("en", "en"), ("?", "de")], ("x", "y"): [("en", "en"), ("?", "de"), ("?", "en")]})
    assert note.startswith("the same answers, word for word: x and copy (1 of 2):")


def test_many_pairs_are_three_and_a_number() -> None:
    (note,) = notes({("x", f"y{n}"): [("en", "de")] for n in range(10)})
    assert note.count(" and y") == 3 and "and 7 more pairs" in note
