"""value-outside-format: texts that hold nothing of what nearly all others of their property are."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import NO_NUMBER, KeptProperty, judged_properties, key_words, text_properties
from kgeval.graph.connect import Row
from kgeval.text.wordlists import word_set

SAMPLED, FEW = 0.9, 0.1  # shares of texts: of the format in the sample, and of all those that may be none; one always may
FEW_CODES = 0.02  # the second where a number is none by its name, and no more is said than that it has no digit
LEAST, LEAST_NUMBERS = 6, 20  # texts of which a share says something
LONGEST = 40  # median characters of texts among which an address is none of them
SAID = {
    "dressed": "are a number and something else", "turned": "are dates written otherwise", "first": "are dates written otherwise",
    "impossible": "are days that no calendar has", "address": "are an address",
}
NUMBER, DATE, TELEPHONE, WORD, TEXT = "number", "date", "telephone number", "word", "text"
FORMATS = (NUMBER, DATE, "web address", "mail address")
ADDRESSES = ("web address", "mail address")
TELEPHONES = word_set("phone telephone tel telefon téléphone telephone fax mobile cell handy mobil telefono teléfono")
WORDS = word_set("""
    city town country nationality gender sex surname lastname firstname forename profession occupation stadt ort wohnort vorname nachname
    nationalität geschlecht beruf ville pays prénom prenom nationalité ciudad país apellido
""")  # of what is written in letters
NAMES_OF_PEOPLE = word_set("first last given family middle sur")  # before "name"


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with such texts; `total`: properties whose texts are nearly all of one format."""
    known = text_properties(check)
    formatted = {found.name: kind for found in known if (kind := _format(found)) is not None}
    suspects = [found for found in known if found.name in formatted]

    def said(found: KeptProperty, row: Row) -> str | None:
        kind, of = formatted[found.name], row["texts"]
        words = {**SAID, "outside": f"are no {kind}"}
        known = [one for one in row["kinds"] if _is_told(one["kind"], kind, found.values.key)]
        few = [one for one in known if one["times"] <= max(1, _most(kind, found.values.key) * of)]
        parts = [f"{one['times']:,} of {of:,} texts {words[one['kind']]}, as '{one['example'][:30]}'" for one in sorted(few, key=_order)]
        return "; ".join(parts) if of >= (LEAST_NUMBERS if kind == NUMBER else LEAST) and parts else None

    return judged_properties(check, suspects, suspects, said, more={name: {"format": kind} for name, kind in formatted.items()})


def _order(one: Row) -> list[str]:
    return [str(one["kind"] != "outside"), one["kind"]]


def _is_told(found: str, kind: str, key: str) -> bool:
    return not (kind == NUMBER and NO_NUMBER.search(key)) or found == "outside"


def _most(kind: str, key: str) -> float:
    """The share of texts up to which they are slips."""
    return FEW_CODES if kind in (NUMBER, TEXT) and (kind == TEXT or NO_NUMBER.search(key)) else FEW


def _format(found: KeptProperty) -> str | None:
    """What nearly all sampled texts are that are no words for a missing value."""
    formats, words = found.values.formats, key_words(found.values.key)
    if TELEPHONES & {*words}:
        return TELEPHONE
    if words and (words[-1] in WORDS or (len(words) > 1 and words[-1] == "name" and words[-2] in NAMES_OF_PEOPLE)):
        return WORD
    of, texts = 1 - formats.get("null word", 0.0), found.holders * found.values.types.get("STRING", 0.0)
    for kind in FORMATS:
        share = formats.get(kind, 0.0)
        if of > 0 and (share >= SAMPLED * of or (kind != NUMBER and texts >= LEAST and (of - share) * texts < 1.5)):
            return kind
    has_address = any(formats.get(kind, 0.0) > 0 for kind in ADDRESSES)
    return TEXT if has_address and (found.values.length or 0) <= LONGEST else None
