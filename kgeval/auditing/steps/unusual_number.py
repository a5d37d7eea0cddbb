"""unusual-number: numbers unlike all others of their property: ten times and more beside them, or on the other side of zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.steps.impossible_value import has_bounds
from kgeval.auditing.suspects import NO_NUMBER, TEXT, KeptProperty, kept_properties, name_words, share_of_numbers
from kgeval.format import number
from kgeval.graph.connect import Row
from kgeval.records import Example
from kgeval.text.wordlists import word_set

NUMBERS = 0.9  # share of sampled values that are numbers, from which the property holds numbers
RARE = 0.02  # share of values up to which they are slips; one always is
LEAST_FAR, LEAST_SIGNED = 30, 50  # values from which one far from all others, or below zero, is a slip
TIMES = 10.0  # how many times as much the nearest of the others is, at least
TIMES_OPEN = 500.0  # of what may be any number of times as much: a digit or a unit too many
CLOSE = 2.0  # how many times as much the upper end is as the lower one, up to which half of that is enough
LEAST_COMPACT, COMPACT = 100, 2.0  # values, and how far above their middle they end, where half of TIMES is enough
# what a unit is of another one: cents, metres and millimetres, megabytes, minutes and hours
FACTORS = (60.0, 100.0, 1000.0, 1024.0, 3600.0, 1_000_000.0, 1_048_576.0)
UNIT_TIMES, RARE_UNITS = 4.0, 0.03  # as TIMES and RARE, of several numbers that lie among the others in another unit
SEVERAL, UNLIKELY = 3, 10.0  # how many, and how many times the mean way in the others' tail, on a scale of logarithms, they lie beyond it
UNLIKELY_LISTED, LISTED_TIMES, MOST_LISTED = 6.0, 5.0, 30  # the same of numbers from a list of values, once divided exactly one of them
TAIL = 0.1  # share of the others that is their tail
LEAST_SMALL, SMALL_SPREAD = 6, 4.0  # values from which one of very few is in another unit, and how far the others may spread
LEAST_FEW, FEW_TIMES = 10, 2.5  # values from which one of few is far: by so many times the square of how far the others spread
ENDS = (0.05, 0.95)  # parts of the values between which they may spread
SPREAD = 100.0  # how many times as much the upper end is as the lower one, at most: what spreads more may hold anything
BELOW, ABOVE = 4.0, 2.0  # the gap is that many times the square of the way from the middle to its edge: small things are common
LEAST_NAMED, RARE_NAMED = 5, 0.1  # as LEAST_SIGNED and RARE, of names that say that nothing is below zero
NEVER_NEGATIVE = word_set("""
    population area weight height length width distance duration runtime pages employees seats floors capacity salary age rooms beds
    students mileage volume diameter radius thickness mass frequency calories dose frames crew passengers tonnage teu inhabitants households
    attendance visitors tickets stock
    gewicht größe groesse höhe hoehe länge laenge dauer seiten plätze plaetze leistung fläche flaeche einwohner
    poids taille hauteur longueur largeur durée duree surface capacité capacite habitants peso altura duración
""")
SIGNED = word_set("""
    elevation altitude depth temp temperature celsius fahrenheit melting boiling freezing dew lat latitude lon lng long longitude x y z
    easting northing balance change delta diff difference profit loss growth score sentiment offset net result margin amount credit debit
    transfer income earnings ebit ebitda cash equity surplus deficit saldo adjustment karma points delay lateness angle rotation heading
    charge correlation coefficient beta alpha exposure magnitude log ln yield return returns interest inflation
    utc timezone gmt level gap gain pnl trend variance deviation bias error residual zscore sum
    temperatur température temperatura tiefe profondeur seehöhe seehoehe saldo kontostand differenz änderung aenderung gewinn verlust betrag
    écart ecart solde montant variation
""")  # what may be on either side of zero
PHYSICAL = word_set("""
    elevation altitude depth temp temperature celsius fahrenheit melting boiling freezing
    temperatur température temperatura tiefe profondeur
""")
FROM_ZERO = 0.25  # share of their middle that the others are off zero, at least, where one of the other sign is a slip
NO_QUANTITY = word_set("""
    year years decade century since from to start end begin until published publication released release issued model type kind class
    category status state stage grade group rank position index order sequence seq priority version page line section chapter epoch
    timestamp date flag
""")  # codes, places in an order, and years: no other number is that many times as much
OPEN = word_set("""
    price prices cost costs value revenue sales turnover budget wage fee fine gdp population inhabitants followers following friends likes
    views visits downloads stars forks citations votes count counts quantity qty size bytes capacity area employees members subscribers
    users degree total worth assets rent donation grant funding reviews ratings comments tweets posts plays streams
""")  # of which one may rightly be many times as much as all others
PRICES = word_set("""
    price prices cost costs fee fees rent fare tariff preis preise kosten gebühr gebuehr miete entgelt prix tarif coût cout loyer frais
    precio precios coste costo tarifa alquiler cuota prezzo prezzi canone tariffa prijs prijzen kosten huur preço preco preços custo
    aluguel
""")  # open as well, but not in several cases of another unit (cents)
OPEN_ELSEWHERE = word_set("""
    wert umsatz erlös erloes bevölkerung bevoelkerung einwohner anzahl menge bestand mitarbeiter mitglieder fläche flaeche kapazität
    valeur ventes effectif population habitants nombre quantité quantite stock surface superficie abonnés vues valor ventas ingresos
    población poblacion habitantes cantidad número empleados miembros superficie capacidad seguidores valore ricavi fatturato
    popolazione abitanti quantità quantita dipendenti capacità waarde omzet bevolking inwoners aantal hoeveelheid oppervlakte receita
    vendas população populacao quantidade funcionários
""")  # as OPEN in other languages
STRENGTH = "weight"  # of a relation: how much it counts, in any measure


@dataclass(frozen=True)
class NumberRange:
    """Numbers that lie close to each other: how many, the least and the greatest."""

    times: int
    low: float
    high: float


@dataclass(frozen=True)
class Usual:
    """Where the numbers of a property usually lie: `usual` of all `times` from `least` to `greatest`. Of those above zero what is not from
    `low` to `high` is unusual; `signs`: those below zero are."""

    low: float
    high: float
    least: float
    greatest: float
    signs: bool
    usual: int
    times: int


def run(check: CheckRun) -> CheckOutcome:
    """`count`: unusual numbers; `total`: numbers of the properties that have so many that one can be unusual."""
    known = [found for found in kept_properties(check) if _is_asked(found)]
    if not known:
        return CheckOutcome(0, 0)
    spread: list[list[NumberRange]] = [[] for _ in known]
    for row in check.rows("number-spread", suspects=[found.asked() for found in known]):
        spread[row["at"]].append(NumberRange(row["times"], row["low"], row["high"]))
    total = sum(of for parts in spread if (of := sum(part.times for part in parts)) >= LEAST_NAMED)
    lie = [usual_numbers(found.values.key, parts) for found, parts in zip(known, spread, strict=True)]
    judged = [(found, usual) for found, usual in zip(known, lie, strict=True) if usual is not None]
    if not judged:
        return CheckOutcome(0, total)
    asked = [{**found.asked(), "low": usual.low, "high": usual.high, "signs": usual.signs} for found, usual in judged]

    def said(row: Row, example: Example) -> Example:
        return _example(*judged[row["at"]], example)

    return check.outcome_of(check.own_rows(suspects=asked), "hits", total, said, suspects=asked)


def _is_asked(found: KeptProperty) -> bool:
    values = found.values
    texts = values.types.get(TEXT, 0.0)
    told = 1.0 - texts * values.formats.get("null word", 0.0)
    if told <= 0 or share_of_numbers(values) < NUMBERS * told or values.key in found.keys[:1]:
        return False
    if is_physical(values.key):
        return True
    return is_quantity(values.key) and not (found.is_relation and name_words(values.key) == [STRENGTH])


def is_physical(key: str) -> bool:
    """Whether a number of that name may be below zero, but hardly in a single case."""
    words = {*name_words(key)}
    return bool(PHYSICAL & words) and not (NO_QUANTITY | (SIGNED - PHYSICAL)) & words


def is_quantity(key: str) -> bool:
    """Whether a number of that name says how much there is of something, of which there cannot be less than nothing."""
    words = {*name_words(key)}
    return bool(words) and not (NO_QUANTITY | SIGNED) & words and NO_NUMBER.search(key) is None and not has_bounds(key)


def usual_numbers(key: str, parts: Sequence[NumberRange]) -> Usual | None:
    """Where the numbers of a property lie, the least first, if a few lie elsewhere."""
    if is_physical(key):
        return _one_sign(parts, among=True)
    words, times = name_words(key), sum(part.times for part in parts)
    below_zero = sum(part.times for part in parts if part.high < 0)
    if times - below_zero <= max(1, RARE * times):
        return _one_sign(parts, among=False)
    named = bool(NEVER_NEGATIVE & {*words[-2:]})
    if below_zero and (times < (LEAST_NAMED if named else LEAST_SIGNED) or below_zero > max(1, (RARE_NAMED if named else RARE) * times)):
        return None
    others = [part for part in parts if part.low >= 0]
    positive = [part for part in others if part.low > 0]
    is_open = bool((OPEN | PRICES | OPEN_ELSEWHERE) & {*words})
    first, last = _without_far(others, is_open=is_open) if positive else (0, 0)
    if last == len(positive) - 1 and (not is_open or PRICES & {*words}):
        last -= _in_another_unit(positive[first:], is_open=is_open)
    usual = positive[first : last + 1]
    if not below_zero and len(usual) == len(positive):
        return None
    zeros = 0 if first else sum(part.times for part in others if part.low == 0)
    known = usual or others
    return Usual(
        low=known[0].low, high=known[-1].high, least=0.0 if zeros else known[0].low, greatest=known[-1].high, signs=below_zero > 0,
        usual=sum(part.times for part in usual) + zeros, times=times,
    )


def _one_sign(parts: Sequence[NumberRange], *, among: bool) -> Usual | None:
    """Where numbers lie that are all on one side of zero, and off it, but for a few. `among`: only if these would lie among them with the
    other sign."""
    below, above = ([part for part in parts if part.high * side > 0] for side in (-1, 1))
    times = sum(part.times for part in parts)
    few, many = sorted((below, above), key=lambda side: sum(part.times for part in side))
    rare, often = (sum(part.times for part in side) for side in (few, many))
    if times < LEAST_FAR or rare + often < times or not 0 < rare <= max(1, RARE * times):
        return None
    lows, highs = [abs(part.low) for part in many], [abs(part.high) for part in many]
    least, greatest = min(lows + highs), max(lows + highs)
    middle = abs(_value_at([NumberRange(part.times, *sorted((abs(part.low), abs(part.high)))) for part in many], 0.5 * often))
    are_among = all(least <= abs(end) <= greatest for part in few for end in (part.low, part.high))
    if least < FROM_ZERO * middle or (among and not are_among):
        return None
    is_below = many is below
    return Usual(
        low=0.0 if is_below else least, high=0.0 if is_below else greatest, least=-greatest if is_below else least,
        greatest=-least if is_below else greatest, signs=not is_below, usual=often, times=times,
    )


def _without_far(others: Sequence[NumberRange], *, is_open: bool) -> tuple[int, int]:
    """The first and the last of the parts above zero that are not far from all others."""
    positive = [part for part in others if part.low > 0]
    first, last, of = 0, len(positive) - 1, sum(part.times for part in others)
    lower, middle, upper = (_value_at(others, share * of) for share in (ENDS[0], 0.5, ENDS[1]))
    if LEAST_SMALL <= of < LEAST_FEW and not is_open and len(positive) == len(others):
        return _without_one_unit(positive)
    if of < LEAST_FAR:
        return _without_one(others, is_open=is_open) if of >= LEAST_FEW else (first, last)
    if lower <= 0 or upper >= SPREAD * lower:
        return first, last
    times = TIMES / 2 if upper <= CLOSE * lower and not _are_counts(positive[:-1]) else TIMES
    few = max(1, RARE * of)
    for at in range(1, len(positive)):
        gap = positive[at].low / positive[at - 1].high
        if sum(part.times for part in positive[:at]) <= few and gap >= max(times, BELOW * (middle / positive[at].low) ** 2):
            first = at
        gap_above = positive[-at].low / positive[-at - 1].high
        is_compact = of >= LEAST_COMPACT and positive[-at - 1].high <= COMPACT * middle and not _are_counts(positive[:-at])
        least_times = TIMES_OPEN if is_open else min(times, TIMES / 2) if is_compact else times
        is_far = gap_above >= max(least_times, ABOVE * (positive[-at - 1].high / middle) ** 2)
        if sum(part.times for part in positive[-at:]) <= few and is_far:
            last = len(positive) - at - 1
    return first, last


def _without_one(others: Sequence[NumberRange], *, is_open: bool) -> tuple[int, int]:
    """As `_without_far`, of few numbers: all but one lie close together, and that one far away."""
    positive, last = [part for part in others if part.low > 0], len(others) - 1
    if len(positive) < len(others) or last < 1:
        return 0, len(positive) - 1

    def is_far(gap: float, rest: Sequence[NumberRange]) -> bool:
        spread = rest[-1].high / rest[0].low
        least = max(TIMES / 2 if spread <= CLOSE else TIMES, FEW_TIMES * spread**2)
        return gap >= least and spread > 1 and not _are_counts(rest)

    if positive[0].times == 1 and is_far(positive[1].low / positive[0].high, positive[1:]):
        return 1, last
    if positive[-1].times == 1 and not is_open and is_far(positive[-1].low / positive[-2].high, positive[:-1]):
        return 0, last - 1
    return 0, last


def _without_one_unit(positive: Sequence[NumberRange]) -> tuple[int, int]:
    """As `_without_one`, of very few numbers: the one would lie among the others in another unit."""
    last = len(positive) - 1

    def is_other(one: NumberRange, rest: Sequence[NumberRange], *, is_above: bool) -> bool:
        if len(rest) < SEVERAL or one.times > 1 or _are_counts(rest):
            return False
        low, high = rest[0].low, rest[-1].high
        gap = one.low / high if is_above else low / one.high
        among = any(low <= (one.low / factor if is_above else one.low * factor) <= high for factor in FACTORS)
        return high <= SMALL_SPREAD * low and among and gap >= max(TIMES, FEW_TIMES * (high / low) ** 2)

    if is_other(positive[-1], positive[:-1], is_above=True):
        return 0, last - 1
    return (1, last) if is_other(positive[0], positive[1:], is_above=False) else (0, last)


def _in_another_unit(positive: Sequence[NumberRange], *, is_open: bool) -> int:
    """How many of the last parts hold numbers that lie among the others in another unit, and too far beyond them for their tail."""
    of = sum(part.times for part in positive)
    if of < LEAST_FAR:
        return 0
    for at in range(len(positive) - 1, 0, -1):
        rest, beyond = positive[:-at], positive[-at:]
        several, gap = sum(part.times for part in beyond), beyond[0].low / rest[-1].high
        if several > max(1, RARE_UNITS * of) or gap < UNIT_TIMES or _are_counts(rest):
            continue
        low, high = (_value_at(rest, share * (of - several)) for share in ENDS)
        tail = _mean_way(rest)
        if tail <= 0:
            continue
        unlikely = several * math.log(gap) / tail
        among = any(all(low <= end / factor <= high for part in beyond for end in (part.low, part.high)) for factor in FACTORS)
        if among and ((several >= SEVERAL and unlikely >= UNLIKELY) or (
            not is_open and gap >= LISTED_TIMES and unlikely >= UNLIKELY_LISTED and _are_listed(rest, beyond)
        )):
            return at
    return 0


def _mean_way(parts: Sequence[NumberRange]) -> float:
    """How far the greatest tenth of the numbers lies beyond where it begins, on a scale of logarithms, in the mean."""
    left = sum(part.times for part in parts) * TAIL
    seen, way, ends = 0.0, [], parts[-1].high
    for part in reversed(parts):
        ends = part.low
        way.append((math.log(math.sqrt(part.low * part.high)), part.times))
        seen += part.times
        if seen >= left:
            break
    below = next((math.log(part.high) for part in reversed(parts) if part.low < ends), math.log(ends))
    return sum((place - below) * times for place, times in way) / seen


def _are_listed(rest: Sequence[NumberRange], beyond: Sequence[NumberRange]) -> bool:
    """Whether the numbers are of a list of values, and those beyond them exactly some of these in another unit."""
    values = {part.low for part in rest}
    single = all(part.low == part.high for part in (*rest, *beyond))
    return single and len(values) <= MOST_LISTED and any(all(part.low / factor in values for part in beyond) for factor in FACTORS)


def _are_counts(parts: Sequence[NumberRange]) -> bool:
    """Whether numbers are small and whole: of what is counted there may be many for once."""
    return bool(parts) and parts[-1].high < TIMES and all(float(end).is_integer() for part in parts for end in (part.low, part.high))


def _value_at(parts: Sequence[NumberRange], place: float) -> float:
    """About the value at a place in their order."""
    seen = 0
    for part in parts:
        seen += part.times
        if seen >= place:
            return math.sqrt(part.low * part.high)
    return 0.0


def _example(found: KeptProperty, usual: Usual, example: Example) -> Example:
    key = found.values.key[:100]
    lie = f"{usual.usual:,} of {usual.times:,} lie between {number(usual.least)} and {number(usual.greatest)}"
    return example.model_copy(update={"why": f"{key} {example.why}: {lie}"})
