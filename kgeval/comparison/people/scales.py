"""The labels that people give, and the words in which they write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kgeval.records import LabelScope

OVERALL = "overall"
SCALES: Mapping[LabelScope, tuple[str, ...]] = {"pairs": ("-2", "-1", "0", "1", "2"), "answers": ("0", "1", "2", "3", "4", "5")}
# word on a sheet of pairs -> steps; positive: answer 1 is better
STEPS: Mapping[str, int] = {"1 much": 2, "1": 1, "equal": 0, "2": -1, "2 much": -2}
MEANINGS: Mapping[str, str] = {
    "1 much": "answer 1 is much better", "1": "answer 1 is better", "equal": "both are equal", "2": "answer 2 is better",
    "2 much": "answer 2 is much better",
}
SHORT: Mapping[str, str] = {
    "1 much": "1 much better", "1": "1 better", "equal": "equal", "2": "2 better", "2 much": "2 much better",
}
_SPELLINGS = {
    "1 much better": "1 much", "much 1": "1 much", "1++": "1 much", "1 better": "1", "1+": "1", "0": "equal", "tie": "equal",
    "same": "equal", "both": "equal", "2 better": "2", "2+": "2", "2 much better": "2 much", "much 2": "2 much", "2++": "2 much",
}


def words_of(scope: LabelScope) -> tuple[str, ...]:
    """What may stand in a label's cell."""
    return tuple(STEPS) if scope == "pairs" else SCALES["answers"]


def word_of(given: str, scope: LabelScope) -> str | None:
    """The word meant, whatever its case, blanks and the digits that a spreadsheet adds (1.0); None where none is."""
    if given.lstrip().startswith("-"):  # somebody's own scale: -1 is not answer 1
        return None
    plain = re.sub(r"[\s_-]+", " ", given.strip().casefold()).strip(" .!")
    plain = re.sub(r"^(\d)[.,]0+$", r"\1", plain)
    plain = re.sub(r"^answer (?=[12])", "", plain)
    meant = _SPELLINGS.get(plain, plain) if scope == "pairs" else plain
    return meant if meant in words_of(scope) else None


def label_of(word: str, scope: LabelScope, *, turned: bool) -> str:
    """The label of a record. `turned`: answer 1 on the sheet is B. Raises: KeyError for a word of no pair."""
    return word if scope == "answers" else str(-STEPS[word] if turned else STEPS[word])


def category(label: str, scope: LabelScope) -> int | None:
    """The place of a label on its scale, from 0; None where it is none of it."""
    try:
        number = float(label)
    except ValueError:
        return None
    text = str(int(number)) if number.is_integer() else label
    return SCALES[scope].index(text) if text in SCALES[scope] else None
