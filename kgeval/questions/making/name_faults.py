"""Which names of entities a question can be asked about."""

from __future__ import annotations

import re
from functools import cache

from kgeval.questions.kinds import RejectedError
from kgeval.text.names import normalise
from kgeval.text.wordlists import word_list

LONGEST = 120  # characters
_WORD_LISTS = ("pronouns", "pronoun_acronyms", "placeholders", "generic", "units", "no_type")


def name_fault(name: str) -> str:
    """Why a name is no name of one thing that can be asked about, in words; "" where it is one."""
    plain = normalise(name)
    if not plain:
        return "is empty"
    if len(name) > LONGEST or "\n" in name.strip():
        return "is a text, not a name"
    if len(plain) < 2:
        return "is a single character"
    if not re.search(r"[^\W\d_]", plain):
        return "has no letters"
    return "names nothing in particular" if plain in _empty() else ""


def check_name(name: str, cause: str = "unusable_name") -> None:
    """Raises: RejectedError for a name that no question can be asked about."""
    if why := name_fault(name):
        raise RejectedError(cause, f"'{name[:80]}' {why}")


@cache
def _empty() -> frozenset[str]:
    return frozenset(normalise(word) for stem in _WORD_LISTS for word in word_list(stem))
