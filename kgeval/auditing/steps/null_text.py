"""null-text: properties in which a word stands for no value ("NULL", "n/a")."""

from __future__ import annotations

import re

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.steps.value_spelling import REPEATED
from kgeval.auditing.suspects import KeptProperty, every_property, judged_properties, text_properties
from kgeval.graph.connect import Row

NEVER_PLANNED = re.compile(r"null|nan|nil|undefined|lorem ipsum.*|\\n|-+|\?+", re.IGNORECASE | re.DOTALL)  # no category beside others
FILLER = re.compile(r"lorem ipsum.*", re.IGNORECASE | re.DOTALL)  # no text of whatever
OFTEN, SHARE = 5, 0.02  # how often such a word stands where it is planned, and which share of all texts it is
OFTEN_OF_FEW, SHARE_OF_FEW, FEW = 3, 0.01, 5  # the same beside so few other texts (male, female, unknown)
MOST_CATEGORIES = 30  # different texts of a property of categories
MOST_LISTED = 400  # different texts of a property up to which these are looked at
CODE = re.compile(r"[A-Za-z]{1,3}")  # NA is Namibia, and Na sodium, among them
CODED_WORDS = ("na", "tba", "tbc", "tbd")
CODED = 0.9  # share of the other texts that are such codes


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with such a word; `total`: properties that hold text."""
    known = text_properties(check)
    named = {found.name for found in known}
    whole = [*known, *(found for found in every_property(check) if found.name not in named)]
    suspects = [found for found in whole if found.values.formats.get("null word", 0.0) > 0]
    listed = {found.name: {"most": MOST_CATEGORIES + 1 if _has_few_texts(found) else 0} for found in suspects}
    return judged_properties(check, known, suspects, lambda found, row: _said(row, only_filler=found.name not in named), more=listed)


def _has_few_texts(found: KeptProperty) -> bool:
    return found.values.distinct <= REPEATED or found.values.distinct * found.holders <= MOST_LISTED


def _said(row: Row, *, only_filler: bool) -> str | None:
    """`only_filler`: of names, types and descriptions, whose words for none are found by checks of their own."""
    words = [(one["text"], one["times"]) for one in row["words"] if not _is_meant(one["text"], one["times"], row)]
    words = [(text, times) for text, times in words if not only_filler or FILLER.fullmatch(text)]
    hits = sum(times for _, times in words)
    if not hits:
        return None
    return f"{hits:,} of {row['texts']:,} texts are no value but a word for none, as '{min(text for text, _ in words)[:20]}'"


def _is_meant(word: str, times: int, row: Row) -> bool:
    """Whether a word is a value: a category that many have beside a few others (F, M, Unknown), or a code among codes (NA)."""
    others = row["others"]
    coded = sum(one["times"] for one in others if CODE.fullmatch(one["text"]))
    if word.casefold() in CODED_WORDS and len(others) > 2 and coded >= CODED * sum(one["times"] for one in others):
        return True
    is_alike = "/" in word or "." in word or any(one["text"][:1].isupper() == word[:1].isupper() for one in others)
    is_category = is_alike and 1 < len(others) <= MOST_CATEGORIES
    often, share = (OFTEN_OF_FEW, SHARE_OF_FEW) if len(others) <= FEW else (OFTEN, SHARE)
    return is_category and NEVER_PLANNED.fullmatch(word) is None and times >= max(often, share * row["texts"])
