"""What can be the name, type or predicate of something found in a text, and in which form it is kept."""

from __future__ import annotations

import re
import unicodedata

from kgeval.text.clean import clean_line, clean_name, normal_form
from kgeval.text.wordlists import word_list

LONGEST_NAME, LONGEST_TYPE, LONGEST_PREDICATE, LONGEST_DESCRIPTION = 200, 60, 100, 2000
_SEPARATORS = re.compile(r"[\s_\-]+")


def refusal(name: str) -> str | None:
    """Why a cleaned name cannot be an entity's, as a cause to count; None where it can."""
    if not any(c.isalnum() or unicodedata.category(c)[0] == "S" for c in name):
        return "no_name"
    if len(name) > LONGEST_NAME:
        return "name_too_long"
    if is_pronoun(name):
        return "pronoun"
    return "placeholder" if name.casefold() in word_list("placeholders") else None


def is_pronoun(name: str) -> bool:
    """Whether the whole name is a pronoun (thirteen languages). US, IT, WHO and the like in capitals are acronyms."""
    plain = normal_form(name, "NFKC").strip()
    low = plain.casefold()
    acronym = len(plain) > 1 and plain.isupper() and low in word_list("pronoun_acronyms")
    return low in word_list("pronouns") and not acronym


def as_type(given: str | None) -> str | None:
    """A type as it is kept: words joined, each with a capital ("work of art", "WORK_OF_ART": WorkOfArt). Short capitals stay (GPE)."""
    plain = clean_name(given or "")[:LONGEST_TYPE]
    words = [word for word in _SEPARATORS.split(plain) if word]
    if not words or plain.casefold() in word_list("no_type"):
        return None
    if len(words) == 1 and plain.isupper() and len(plain) <= 3:
        return plain
    return "".join(word[0].upper() + (word[1:].lower() if word.isupper() else word[1:]) for word in words)


def as_predicate(given: str) -> str:
    """A predicate as it is kept: words with spaces, in lower case where it came in capitals only ("WORKS_AT": works at)."""
    plain = " ".join(_SEPARATORS.sub(" ", clean_name(given).replace("-", "\0")).replace("\0", "-").split())[:LONGEST_PREDICATE].strip()
    return plain.lower() if plain.isupper() else plain


def as_description(given: str | None) -> str | None:
    """A description on one line, at most 2,000 characters; None for an empty one."""
    return clean_line(given or "")[:LONGEST_DESCRIPTION].strip() or None
