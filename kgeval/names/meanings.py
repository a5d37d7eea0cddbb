"""What short texts name, whichever form they have: a country (DE, DEU, Germany, Allemagne), a currency, a language, a weekday, a month, a
gender, yes or no. Names in other languages are CLDR's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from kgeval.names.forms import without_marks
from kgeval.text.wordlists import word_set

if TYPE_CHECKING:
    from babel import Locale

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "cs", "tr", "ru", "ja", "zh")
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "œ": "oe"})
SIGNS = re.compile(r"[\s_\-.,'\u2019]+")
GENDERS = {
    "female": """
        f female fem woman w weiblich frau femme féminin feminine femenino feminino femminile mujer donna mulher vrouw kvinna kobieta
    """,
    "male": "m male masc man männlich mann homme masculin masculine masculino maschile hombre uomo homem mężczyzna",
    "other": "d x divers diverse nonbinary",
}
ANSWERS = {
    "yes": "yes y true t ja j oui sí si sim wahr vrai verdadero vero 1 tak evet да",
    "no": "no n false f nein non não falsch faux falso 0 nie nee hayır нет",
}
# what the names of CLDR leave out
MORE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "country": {
        "US": ("United States of America", "Vereinigte Staaten von Amerika"), "GB": ("Great Britain", "Großbritannien", "Grande-Bretagne"),
        "NL": ("The Netherlands", "Holland"), "CZ": ("Czech Republic", "Tschechische Republik"), "TR": ("Turkey", "Turkiye"),
        "KR": ("Republic of Korea", "Korea, Republic of"), "RU": ("Russian Federation",), "CI": ("Ivory Coast",), "VN": ("Viet Nam",),
        "SZ": ("Swaziland",), "AE": ("UAE",), "CN": ("People's Republic of China",), "MK": ("Macedonia",),
        "IR": ("Iran, Islamic Republic of",), "England": ("England", "Angleterre", "Inglaterra", "Inghilterra"),
        "Scotland": ("Scotland", "Schottland", "Écosse", "Escocia"), "Wales": ("Wales", "Pays de Galles", "Gales"),
        "Northern Ireland": ("Northern Ireland", "Nordirland", "Irlande du Nord"),
    },
    "currency": {
        "USD": ("US$", "$", "Dollar"), "EUR": ("Euro", "Euros"), "GBP": ("£", "Pound Sterling", "Sterling"), "CHF": ("SFr", "Franken"),
    },
}
CODE = re.compile(r"[A-Za-z]{2,3}")


@cache
def meanings(kind: str) -> dict[str, str]:
    """By a text without its signs what it names, of one of `KINDS`; what names two things is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for thing, form in KINDS[kind]():
        for text in (form, re.sub(r"\s*\(.*\)", "", form)):
            found[plain(text)].add(thing)
    return {text: next(iter(things)) for text, things in found.items() if text and len(things) == 1}


def plain(text: str) -> str:
    """A text in small letters without accents, and without the signs between its letters; of signs alone these."""
    letters = without_marks(text.strip().casefold().translate(UMLAUTS))
    return SIGNS.sub("", letters) or letters


def is_code(text: str) -> bool:
    """Whether a text is as short as a code of a country, a language or a currency."""
    return CODE.fullmatch(text.strip()) is not None


def _countries() -> Iterator[tuple[str, str]]:
    from babel.core import get_global

    for locale in _locales():
        for code, name in locale.territories.items():
            if len(code) == 2 and code.isalpha():
                yield from ((code, code), (code, name))
    for code, now in get_global("territory_aliases").items():
        if len(now) == 1 and len(now[0]) == 2 and code.isalpha():
            yield now[0], code
    yield from _more("country")


def _languages() -> Iterator[tuple[str, str]]:
    from babel.core import get_global

    for locale in _locales():
        for code, name in locale.languages.items():
            if len(code) == 2:
                yield from ((code, code), (code, name))
    for code, now in get_global("language_aliases").items():
        if len(code) == 3 and len(now) == 2:
            yield now, code


def _currencies() -> Iterator[tuple[str, str]]:
    from babel.numbers import get_currency_name, get_currency_symbol, list_currencies

    today = [code for code in list_currencies() if code not in _past_currencies()]
    for locale in _locales():
        for code in today:
            yield from ((code, code), (code, get_currency_name(code, locale=locale)), (code, get_currency_name(code, 2, locale=locale)))
    for code in today:
        symbol = get_currency_symbol(code, locale="en")
        if not symbol.isalpha():
            yield code, symbol
    yield from _more("currency")


def _past_currencies() -> frozenset[str]:
    """Currencies that no country has any more: their names are those of others."""
    from babel.core import get_global

    current = {code for known in get_global("territory_currencies").values() for code, _, end, tender in known if end is None and tender}
    return frozenset(code for code in get_global("all_currencies") if code not in current)


def _days() -> Iterator[tuple[str, str]]:
    for locale in _locales():
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                yield from ((str(day), name) for day, name in locale.days[context][width].items())


def _months() -> Iterator[tuple[str, str]]:
    for locale in _locales():
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                yield from ((str(month), name) for month, name in locale.months[context][width].items() if not name[0].isdigit())


def _words(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((thing, word) for thing, words in table.items() for word in word_set(words))


def _more(kind: str) -> Iterator[tuple[str, str]]:
    return ((thing, name) for thing, names in MORE[kind].items() for name in names)


@cache
def _locales() -> tuple[Locale, ...]:
    from babel import Locale

    return tuple(Locale.parse(language) for language in LANGUAGES)


KINDS = {
    "gender": lambda: _words(GENDERS), "yes or no": lambda: _words(ANSWERS), "country": _countries, "language": _languages,
    "currency": _currencies, "weekday": _days, "month": _months,
}
