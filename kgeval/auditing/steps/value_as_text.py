"""value-as-text: properties whose texts are all numbers, or all dates."""

from __future__ import annotations

import re

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.steps.unusual_number import NEVER_NEGATIVE, NO_QUANTITY, OPEN, OPEN_ELSEWHERE, PRICES, SIGNED
from kgeval.auditing.suspects import LETTERED, NO_NUMBER, KeptProperty, judged_properties, name_words, plain_words, text_properties
from kgeval.graph.connect import Row
from kgeval.text.wordlists import word_set

SAMPLED, ALL = 0.9, 0.98  # shares of texts, in the sample and of all
PADDED, FEW = 0.01, 5  # share that begins with a 0 and another digit, up to which they are no codes, and texts that show what they are
FRACTIONS, DIGITS = 0.5, 3  # share with a fraction, and digits before it by which some have more, where the name says nothing
NO_WORDS = word_set("size level degree x y z gmt utc timezone floors frames number número form")  # which may be written in codes
MORE = word_set("""
    percent percentage pct prozent pourcentage porcentaje percentuale percentagem rate ratio share quote taux tasa tasso discount rabatt
    remise descuento sconto korting desconto freight shipping tax taxes vat mwst tva iva btw subtotal sum summe total totale importe
    montant betrag bedrag valor amount units stock bestand width breite largeur anchura larghezza breedte height length weight speed
    power leistung voltage current pressure druck volume volumen energy energie consumption verbrauch rainfall humidity speed velocity
    geschwindigkeit vitesse velocidad velocita snelheid hours minutes seconds days stunden minuten sekunden heures jours horas minutos
    segundos dias ore giorni uren dagen kg g mg lb lbs oz t ton tons tonnes km m cm mm mi ft inch inches l ml cl hl gal kw kwh mw mwh w
    wh v kv a ah hz khz mhz ghz gb mb kb tb eur usd gbp chf euro euros dollars ha sqm m2 m3 kcal kj bar psi ms ppm
""")
OF_QUANTITIES = NEVER_NEGATIVE | SIGNED | OPEN | OPEN_ELSEWHERE | PRICES | MORE
# of German and Dutch, which write a name of several words as one
ENDING = re.compile(
    r"(?:preis|betrag|gewicht|fläche|flaeche|höhe|hoehe|länge|laenge|breite|dauer|menge|anzahl|stückzahl|stueckzahl|kosten|gebühr|gebuehr|"
    r"umsatz|summe|leistung|temperatur|prijs|bedrag|hoogte|lengte|breedte|hoeveelheid|aantal|oppervlakte)$", re.IGNORECASE,
)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties whose texts are numbers or dates; `total`: properties that hold text."""
    known = text_properties(check)
    return judged_properties(check, known, [found for found in known if _is_suspect(found)], _said)


def _is_suspect(found: KeptProperty) -> bool:
    formats = found.values.formats
    empty = formats.get("null word", 0.0)
    of = 1 - empty
    if of <= 0:
        return False
    if formats.get("date", 0.0) >= SAMPLED * of:
        return True
    is_number = formats.get("number", 0.0) >= SAMPLED * of and found.values.distinct > 0
    return is_number and not is_numbered(found.values.key) and found.values.key not in found.keys


def is_numbered(key: str) -> bool:
    """Whether what a property of that name holds is a code, or the number of something (a house, a chapter), by which nobody reckons."""
    return NO_NUMBER.search(key) is not None or bool(LETTERED & {*plain_words(key)}) or bool(NO_QUANTITY & {*name_words(key)})


def says_how_much(key: str) -> bool:
    """Whether a name is that of a quantity."""
    words = {*name_words(key), *plain_words(key)} - NO_WORDS
    return bool(OF_QUANTITIES & words) or any(ENDING.search(word) for word in words)


def _said(found: KeptProperty, row: Row) -> str | None:
    for what, count in (("dates", row["dates"]), ("numbers", row["numbers"])):
        if row["texts"] >= FEW and count >= ALL * row["texts"] and (what == "dates" or _are_quantities(found.values.key, row)):
            return f"{count:,} of {row['texts']:,} texts are {what}, as '{(row['example'] or '?')[:30]}'"
    return None


def _are_quantities(key: str, row: Row) -> bool:
    """Whether the numbers say how much there is of something: by the name, and by their lengths and fractions."""
    if row["padded"] > PADDED * row["texts"]:
        return False
    if row["negative"] > 0:
        return True
    has_fractions = row["fractions"] >= FRACTIONS * row["texts"]
    if says_how_much(key):
        return bool(row["longest"] > row["shortest"] or row["fractions"] or row["longest"] == 1)
    return has_fractions and bool(row["longest"] - row["shortest"] >= DIGITS - 1)
