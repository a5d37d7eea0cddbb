"""Days that a program writes where it knows none: 1900-01-01, 1970-01-01, 9999-12-31."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from kgeval.auditing.check import CheckRun
from kgeval.auditing.suspects import PLANS, KeptProperty, is_date, kept_properties, moment_words
from kgeval.graph.connect import Row
from kgeval.text.wordlists import word_set

EARLY = (
    "0001-01-01", "1600-01-01", "1601-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01", "1904-01-01",
    "1970-01-01",
)
LATE = ("2079-06-06", "2099-12-31", "2999-12-31", "9999-12-31", "9999-12-30")
LEAST_TIMES, LEAST_OTHERS = 2, 8  # times that the day stands, and other days beside which it is none of them
LEAST_REPEATED = 30  # other days of which none, or hardly one, stands twice
MOST = 3  # times as often as the most frequent of the others it stands, at least
SHARE_FAR, SHARE_AMONG = 0.5, 0.2  # share of all values that it may be at most, far from the others and among them
YEARS_FAR, OF_RANGE = 5, 0.5  # years, and share of the others' range, that it lies from the nearest of them
JANUARIES, YEARS_OF_YEARS = 0.1, 20  # share of others that are the first of a January, from which days stand for years, and are far later
MOSTLY_YEARS = 0.5  # the same, from which nothing is told
REPEATED = 0.25  # different ones among the others, as a share, below which days are values of a list
OPEN_ENDS = 0.05  # share of ends that lie in a year far ahead, up to which they are no usual way to write for ever
FULL = 0.99  # share of nodes with an end, from which one that is open has to be written somehow
END = PLANS | word_set("""
    einde tot fim ate scadenza ablauf echeance vencimiento gueltig validite vigencia valid validity
""")
PAST_YEAR = 1500  # before which impossible-value tells a day where all others are later than the next
RECENT_YEAR = 1900


@dataclass(frozen=True)
class DefaultDays:
    """Days of a property that stand for none, and what the others are, in words."""

    found: KeptProperty
    days: tuple[str, ...]
    beside: str

    def asked(self) -> dict[str, object]:
        """As the query takes it."""
        return {**self.found.asked(), "days": list(self.days)}


def default_days(check: CheckRun) -> list[DefaultDays]:
    """The properties that hold dates with such days on several nodes."""
    dated = [found for found in kept_properties(check) if is_date(found.values)]
    if not dated:
        return []
    rows = check.rows("repeated-days", suspects=[found.asked() for found in dated], days=[*EARLY, *LATE])
    told = ((row, dated[row["at"]], _days(dated[row["at"]], row)) for row in rows if row["found"])
    return [DefaultDays(found, days, _beside(row)) for row, found, days in told if days]


def _beside(row: Row) -> str:
    return f"the others lie from {row['least'][:10]} to {row['greatest'][:10]}"


def _days(found: KeptProperty, row: Row) -> tuple[str, ...]:
    if row["others"] < LEAST_OTHERS:
        return ()
    of = row["others"] + sum(one["times"] for one in row["found"])
    is_end = bool(END & {*moment_words(found.values.key)})
    judged = ((one["day"], one["times"]) for one in row["found"] if one["times"] >= LEAST_TIMES)
    return tuple(day for day, times in judged if _is_default(day, times, of, row, found, is_end=is_end))


def _is_default(day: str, times: int, of: int, row: Row, found: KeptProperty, *, is_end: bool) -> bool:
    if day in LATE:
        return is_end and _is_no_usual_end(day, times, of, row, found)
    if int(day[:4]) < PAST_YEAR and times <= max(1, 0.1 * of) and int(row["least"][:4]) >= RECENT_YEAR:
        return False  # impossible-value tells it by its year
    years = row["januaries"] / row["others"]
    if years >= MOSTLY_YEARS or (row["values"] < REPEATED * row["others"] and row["most"] >= times):
        return False
    away, span = _years(day, row["least"]), _years(row["least"], row["greatest"])
    least_away = max(YEARS_OF_YEARS if years >= JANUARIES else YEARS_FAR, OF_RANGE * span)
    if away >= least_away and times <= SHARE_FAR * of:
        return True
    is_repeated = times >= MOST * row["most"] if row["most"] > 1 else True
    return years < JANUARIES and is_repeated and row["others"] >= LEAST_REPEATED and times <= SHARE_AMONG * of


def _is_no_usual_end(day: str, times: int, of: int, row: Row, found: KeptProperty) -> bool:
    """Whether an end far ahead stands where others are left open."""
    return found.values.filled < FULL and times <= OPEN_ENDS * of and _years(row["greatest"], day) >= YEARS_FAR


def _years(first: str, last: str) -> float:
    a, b = (date.fromisoformat(one[:10]) if _is_day(one) else None for one in (first, last))
    return (b - a).days / 365.25 if a and b else 0.0


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True
