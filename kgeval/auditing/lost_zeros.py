"""Codes of digits that have lost the noughts at their beginning: 4668 for 04668, beside others of five digits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.check import CheckRun
from kgeval.auditing.suspects import POSTAL, KeptProperty, plain_words
from kgeval.graph.connect import Row
from kgeval.text.wordlists import word_set

LEAST, LEAST_OF_COUNTRY = 20, 5  # codes of which a shorter one is told: of a property, and of one country
ONE_LENGTH, ONE_LENGTH_POSTAL = 0.9, 0.8  # share of values that are digits of one length
SHARE_OF_ZEROS = 0.01  # share of codes that begin with a 0, at least, where the others are what they should be
LEAST_ZEROS, LEAST_LENGTH = 2, 3  # of such codes, and digits
FILLED = 0.5  # share of nodes with a country, from which one without may be anywhere
EVIDENCE = 0.5  # share of the shorter codes of which another one of the place says that a 0 is missing, from which all are told
REGION = 2  # digits of a postal code that say the region
COUNTRY = word_set("country land staat pays pais paese nazione nation landcode countrycode iso")
PLACE = word_set("""
    city town place locality municipality ort stadt wohnort gemeinde ville commune localite ciudad municipio localidad poblacion citta
    comune localita cidade plaats woonplaats gemeente region province provincia state district county bundesland kreis departement
    departamento estado distrito regione provincie
""")
NO_CODE = word_set("""
    telephone phone tel telefon telefono telefone telefoon fax mobile cell handy mobil movil portable house hausnummer hausnr civico
    huisnummer year jahr annee ano anno jaar date day month
""")  # digits of several lengths


@dataclass(frozen=True)
class DigitCode:
    """A property that may hold codes of digits. `country`, `places`: properties beside it; `lengths`: by country the digits of a code."""

    found: KeptProperty
    country: str | None
    places: tuple[str, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_postal(self) -> bool:
        """Whether it is a postal code by its name."""
        return POSTAL.search(self.found.values.key) is not None

    def asked(self) -> dict[str, object]:
        """As the queries take it."""
        lengths = [[country, length] for country, length in self.lengths.items()]
        return {**self.found.asked(), "country": self.country, "places": list(self.places), "lengths": lengths}


def digit_codes(known: Sequence[KeptProperty], texts: Sequence[KeptProperty]) -> list[DigitCode]:
    """Those of `texts` that may hold codes of digits, and postal codes among all `known` that are numbers."""
    beside: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for found in known:
        beside[found.owner, found.is_relation].append(found.values.key)
    asked = [found for found in known if _may_be_code(found, is_text=found in texts)]
    return [_code(found, beside[found.owner, found.is_relation]) for found in asked]


def _may_be_code(found: KeptProperty, *, is_text: bool) -> bool:
    values, postal = found.values, POSTAL.search(found.values.key) is not None
    if NO_CODE & {*plain_words(values.key)} or found.holders < LEAST:
        return False
    if not is_text:
        return postal and values.types.get("INTEGER", 0.0) > 0
    digits = values.formats.get("number", 0.0)
    return digits >= (0.2 if postal else ONE_LENGTH) and (values.length is None or LEAST_LENGTH <= values.length <= 20)


def _code(found: KeptProperty, keys: Sequence[str]) -> DigitCode:
    words = {key: {*plain_words(key)} for key in keys if key != found.values.key}
    is_postal = POSTAL.search(found.values.key) is not None
    countries = [key for key, of in words.items() if is_postal and COUNTRY & of]
    places = [key for key, of in words.items() if is_postal and PLACE & of and key not in countries]
    return DigitCode(found, min(countries, key=len, default=None), tuple(sorted(places)[:3]))


def of_one_length(code: DigitCode, rows: Sequence[Row]) -> DigitCode | None:
    """The code with its length in each country where a few are shorter; None where none is. `rows`: its shapes."""
    by_country: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_country[row["country"]].append(row)
    lengths = {country: length for country, of in by_country.items() if (length := _length(code, of)) is not None}
    return DigitCode(code.found, code.country, code.places, lengths) if lengths else None


def _length(code: DigitCode, rows: Sequence[Row]) -> int | None:
    of, lengths = sum(row["times"] for row in rows), Counter[int]()
    zeros = Counter[int]()
    for row in rows:
        if row["shape"] == "digits":
            lengths[row["length"]] += row["times"]
            zeros[row["length"]] += row["zeros"]
    if not lengths or of < (LEAST_OF_COUNTRY if code.is_postal and code.country else LEAST):
        return None
    length, times = lengths.most_common(1)[0]
    shorter = sum(known for size, known in lengths.items() if size < length)
    if not shorter or length < LEAST_LENGTH or times < (ONE_LENGTH_POSTAL if code.is_postal else ONE_LENGTH) * of:
        return None
    kept = zeros[length] >= max(LEAST_ZEROS, SHARE_OF_ZEROS * times)
    return length if code.is_postal or kept else None


def shortened(check: CheckRun, codes: Sequence[DigitCode], empty: Mapping[int, float]) -> dict[int, list[list[str]]]:
    """By the place of a code its values that have lost noughts, each with its country. `empty`: by place the share without a country."""
    rows: dict[int, list[Row]] = defaultdict(list)
    for row in check.rows("shorter-digits", suspects=[code.asked() for code in codes]):
        rows[row["at"]].append(row)
    found = {at: _lost(codes[at], of, empty.get(at, 1.0)) for at, of in rows.items()}
    return {at: lost for at, lost in found.items() if lost}


def _lost(code: DigitCode, rows: Sequence[Row], empty: float) -> list[list[str]]:
    whole = [row for row in rows if len(row["text"]) == code.lengths[row["country"]]]
    deepest = max((len(row["text"]) - len(row["text"].lstrip("0")) for row in whole), default=0)  # noughts that one may lack
    may_lack = max(1, deepest) if code.is_postal else deepest
    shorter = [row for row in rows if row["text"][0] != "0" and 0 < code.lengths[row["country"]] - len(row["text"]) <= may_lack]
    if not code.is_postal:
        return [[row["country"], row["text"]] for row in shorter]
    lost: list[list[str]] = []
    for country in code.lengths:
        own = [row for row in shorter if row["country"] == country]
        is_known = bool(code.country) and (bool(country) or empty > FILLED)
        beside = [row for row in whole if row["country"] == country]
        seen = [row for row in own if _is_seen(row["text"].zfill(code.lengths[country]), row["places"], beside)]
        if is_known or (own and len(seen) >= EVIDENCE * len(own)):
            lost += [[country, row["text"]] for row in own]
    return lost


def _is_seen(meant: str, places: Sequence[str], whole: Sequence[Row]) -> bool:
    """Whether a postal code with its noughts begins like another one of its town or region, or, without these, is another one."""
    if not any(places):
        return any(other["text"] == meant for other in whole)
    return any(
        other["text"][:REGION] == meant[:REGION] and any(a and a == b for a, b in zip(places, other["places"], strict=True))
        for other in whole
    )
