"""value-outside-format: texts that hold nothing of what nearly all others of their property are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.lost_zeros import DigitCode, digit_codes, of_one_length, shortened
from kgeval.auditing.steps.value_spelling import forms_of_one
from kgeval.auditing.suspects import (
    LETTERED,
    NO_NUMBER,
    TEXT,
    KeptProperty,
    kept_properties,
    key_words,
    plain_words,
    property_name,
    property_reference,
)
from kgeval.graph.connect import Row
from kgeval.records import Example
from kgeval.text.wordlists import word_set

SAMPLED, FEW = 0.9, 0.1  # shares of texts: of the format in the sample, and of all those that may be none; one always may
FEW_CODES = 0.02  # the second where a number is none by its name, and no more is said than that it has no digit
FEW_NAMED, CODED = 0.05, 0.95  # share of words among codes, and of codes of one length
LEAST_CODES = 3  # different codes
MOST_CODES = 2_000  # different texts, beyond which they are not compared with names of countries and the like
SHORT = (2, 6)  # characters of a code
LEAST, LEAST_NUMBERS = 6, 20  # texts of which a share says something
LONGEST = 40  # median characters of texts among which an address is none of them
SAID = {
    "dressed": "are a number and something else", "turned": "are dates written otherwise", "first": "are dates written otherwise",
    "impossible": "are days that no calendar has", "address": "are an address", "named": "are words among codes",
    "shortened": "have lost a 0 at their beginning",
}
NUMBER, DATE, TELEPHONE, WORD, PLAIN, CODE, DIGITS = "number", "date", "telephone number", "word", "text", "code", "digits"
FORMATS = (NUMBER, DATE, "web address", "mail address")
ADDRESSES = ("web address", "mail address")
SHAPES = ("capitals", "small", "mixed")  # of codes
TELEPHONES = word_set("phone telephone tel telefon téléphone telephone fax mobile cell handy mobil telefono teléfono telefone telefoon")
WORDS = word_set("""
    city town country nationality gender sex surname lastname firstname forename profession occupation stadt ort wohnort vorname nachname
    nationalität geschlecht beruf ville pays prénom prenom nationalité ciudad país apellido
""")  # of what is written in letters
NAMES_OF_PEOPLE = word_set("first last given family middle sur")  # before "name"
NAMED = word_set("name names nom nome nombre naam title titel label brand marke marque marca team club short abbreviation")


@dataclass(frozen=True)
class Suspect:
    """A property of one format; `length` of its codes, `code` of its digits."""

    found: KeptProperty
    format: str
    length: int = 0
    code: DigitCode | None = None
    kinds: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()

    def asked(self) -> dict[str, object]:
        """As the query takes it."""
        return {
            **self.found.asked(), "format": self.format, "length": self.length, "country": self.code.country if self.code else None,
            "kinds": list(self.kinds), "lost": [list(pair) for pair in self.lost],
        }


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with such texts; `total`: properties whose texts are nearly all of one format."""
    every = kept_properties(check)
    texts = [found for found in every if found.values.types.get(TEXT, 0.0) > 0]
    suspects = [Suspect(found, kind) for found in texts if (kind := _format(found)) is not None]
    suspects += _of_shapes(check, every, texts)
    total = len({one.found.name for one in suspects})
    if not suspects:
        return CheckOutcome(0, 0)
    counted: dict[int, dict[str | None, int]] = defaultdict(dict)
    for row in check.own_rows(suspects=[one.asked() for one in suspects]):
        counted[row["at"]][row["kind"]] = row["times"]
    listed = [(replace(suspects[at], kinds=kinds), sum(of.values())) for at, of in counted.items() if (kinds := _told(suspects[at], of))]
    asked = [one.asked() for one, _ in listed]
    if not listed:
        return CheckOutcome(0, total, parameters={"suspects": [one.asked() for one in suspects]})
    parts: dict[str, list[str]] = defaultdict(list)
    for row in sorted(check.own_rows(suspects=asked), key=_order):
        suspect, times = listed[row["at"]]
        if row["kind"] in suspect.kinds:
            parts[suspect.found.name].append(_said(suspect, row, times))
    named = {one.found.name: one.found for one, _ in listed}
    examples = [
        Example(items=[property_reference(named[name].owner, named[name].values.key)], why="; ".join(said)) for name, said in parts.items()
    ]
    return CheckOutcome(len(examples), total, examples[: check.sample], parameters={"suspects": asked})


def _said(of: Suspect, row: Row, times: int) -> str:
    what = SAID.get(row["kind"], f"are no {of.format}")
    what = what if of.format != DIGITS else f"{what} ({_lengths(of)} digits)"
    shown = ", ".join(f"'{one['text'][:30]}' ({one['name']})" for one in row["sample"])
    return f"{row['times']:,} of {times:,} {'values' if of.format == DIGITS else 'texts'} {what}, as {shown}"


def _lengths(of: Suspect) -> str:
    return " or ".join(str(length) for length in sorted({*of.code.lengths.values()})) if of.code else ""


def _order(row: Row) -> tuple[int, bool, str]:
    return row["at"], row["kind"] != "outside", row["kind"] or ""


def _told(suspect: Suspect, counted: Mapping[str | None, int]) -> tuple[str, ...]:
    """The kinds of texts that are few beside the others."""
    key, of = suspect.found.values.key, sum(counted.values())
    if of < (LEAST_NUMBERS if suspect.format in (NUMBER, CODE) else LEAST):
        return ()
    if suspect.format == DIGITS:
        return ("shortened",) if counted.get("shortened") else ()
    most = max(1, _most(suspect.format, key) * of)
    return tuple(kind for kind, times in counted.items() if kind is not None and times <= most and _is_told(kind, suspect.format, key))


def _is_told(found: str, kind: str, key: str) -> bool:
    return not (kind == NUMBER and (NO_NUMBER.search(key) or LETTERED & {*plain_words(key)})) or found == "outside"


def _most(kind: str, key: str) -> float:
    """The share of texts up to which they are slips."""
    if kind == CODE:
        return FEW_NAMED
    return FEW_CODES if kind in (NUMBER, PLAIN) and (kind == PLAIN or NO_NUMBER.search(key)) else FEW


def _of_shapes(check: CheckRun, every: Sequence[KeptProperty], texts: Sequence[KeptProperty]) -> list[Suspect]:
    """Properties of codes: of letters with words among them, and of digits that have lost noughts."""
    lettered = [found for found in texts if _may_be_lettered(found)]
    digits = digit_codes(every, texts)
    if not (lettered or digits):
        return []
    asked = [{**found.asked(), "country": None} for found in lettered] + [code.asked() for code in digits]
    shapes: list[list[Row]] = [[] for _ in asked]
    for row in check.rows("value-shapes", suspects=asked):
        shapes[row["at"]].append(row)
    found = [
        Suspect(one, CODE, length) for one, rows in zip(lettered, shapes, strict=False) if (length := _length_of_codes(rows)) is not None
    ]
    found = _not_told_as_forms(check, found)
    known = [(of_one_length(code, rows), rows) for code, rows in zip(digits, shapes[len(lettered) :], strict=True)]
    codes = [(code, rows) for code, rows in known if code is not None]
    if not codes:
        return found
    empty = {at: _share_without_country(rows) for at, (_, rows) in enumerate(codes)}
    lost = shortened(check, [code for code, _ in codes], empty)
    return [*found, *(Suspect(codes[at][0].found, DIGITS, code=codes[at][0], lost=tuple((a, b) for a, b in of)) for at, of in lost.items())]


def _not_told_as_forms(check: CheckRun, suspects: list[Suspect]) -> list[Suspect]:
    """Those whose words value-spelling does not know for other forms of the codes (Germany among DE)."""
    if not suspects:
        return []
    rows = check.rows("value-spelling", suspects=[one.found.asked() for one in suspects], max_values=MOST_CODES)
    texts = {property_name(row["owner"], row["key"]): [(one["text"], one["times"]) for one in row["texts"]] for row in rows}
    return [one for one in suspects if not forms_of_one(texts.get(one.found.name, []))]


def _may_be_lettered(found: KeptProperty) -> bool:
    values = found.values
    short = values.length is not None and SHORT[0] <= values.length <= SHORT[1]
    return short and not values.formats.get(NUMBER) and found.holders >= LEAST_NUMBERS and not NAMED & {*plain_words(values.key)}


def _length_of_codes(rows: Sequence[Row]) -> int | None:
    """The length of nearly all texts that are codes, where there are words among them."""
    of = sum(row["times"] for row in rows)
    words = sum(row["times"] for row in rows if row["shape"] == "word")
    lengths = {row["length"] for row in rows if row["shape"] in SHAPES}
    for length in lengths:
        own = [row for row in rows if row["shape"] in SHAPES and row["length"] == length]
        cased = any(row["shape"] != "small" for row in own) != any(row["shape"] == "small" for row in own)
        times, values = sum(row["times"] for row in own), sum(row["values"] for row in own)
        if words and cased and times >= CODED * of and values >= LEAST_CODES:
            return int(length)
    return None


def _share_without_country(rows: Sequence[Row]) -> float:
    times, without = sum(int(row["times"]) for row in rows), sum(int(row["times"]) for row in rows if not row["country"])
    return without / max(1, times)


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
    return PLAIN if has_address and (found.values.length or 0) <= LONGEST else None
