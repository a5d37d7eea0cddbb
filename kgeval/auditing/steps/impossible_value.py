"""impossible-value: values that no property of that name can hold: a latitude of 148, an age of 900, a birth next year."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.default_days import default_days
from kgeval.auditing.suspects import PLANS, is_date, key_words, name_words
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_set

LEAST = 5  # values that show what a property holds
WRONG = 0.1  # share of them up to which those outside are slips, one always is; above it the name means something else
LATITUDES = word_set("lat latitude latitud latitudine breitengrad")
LONGITUDES = word_set("lon lng long longitude longitud longitudine längengrad laengengrad")
BOUNDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(LATITUDES, (-90.0, 90.0)), **dict.fromkeys(LONGITUDES, (-180.0, 180.0)),
    **dict.fromkeys(("age", "alter", "edad"), (0.0, 150.0)), **dict.fromkeys(("month", "monat", "mois", "mes"), (1.0, 12.0)),
    "hour": (0.0, 24.0), "ph": (-2.0, 16.0), "azimuth": (-360.0, 360.0),
}
OF_PEOPLE = word_set("patient person player customer employee student member user donor driver author child passenger guest client")
PERCENT = word_set("percent percentage pct prozent pourcentage pourcent porcentaje percentuale humidity luftfeuchte luftfeuchtigkeit")
SHARE = word_set("share anteil")
FRACTION = SHARE | word_set("fraction probability likelihood")
MAY_BE_MORE = word_set("""
    change delta growth increase decrease difference deviation return yield gain markup utilization utilisation load target per price
    earnings dividend of vs over
""")  # of a percentage that may be below 0, or beyond 100, and of a price per share
YEAR = word_set("year jahr baujahr année annee año anno yr jaar")
OLDEST = ((1500, 1900), (1000, 1800))  # a year before the first is a slip where all others are no earlier than the second; one of days
CENTURY = 100  # years from now
LASTING = word_set("founded foundation established incorporated")  # which may be a thousand years ago
LIFE = word_set("born birth birthday dob died death deceased dod")
PAST = word_set("born birth birthday dob died death deceased dod founded established incorporated built")
FAR = 3_653  # days from now: what is meant to happen is rarely put down ten years ahead
AHEAD = PLANS | word_set("end ends ending to term matures maturity retirement retire retires projected forecast horizon by")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: values outside of what their properties can hold; `total`: values of such properties."""
    profile: GraphProfile | None = check.settings["profile"]
    labels = [label for label in profile.labels if label.label and label.role != "technical"] if profile else []
    bounds: list[Mapping[str, object]] = [suspect for label in labels for suspect in _suspects(label)]
    defaults = default_days(check)
    suspects = [*bounds, *(known.asked() for known in defaults)]
    if not suspects:
        return CheckOutcome(0, 0)
    found = check.own_rows(suspects=suspects)
    rows = [*_told(row for row in found if row["at"] < len(bounds)), *(row for row in found if row["at"] >= len(bounds))]
    judged: dict[tuple[str, str], int] = {}
    for row in rows:
        place = row["owner"], row["key"]
        judged[place] = max(judged.get(place, 0), row["judged"])

    def said(row: Row, example: Example) -> Example:
        at = row["at"] - len(bounds)
        return example if at < 0 else example.model_copy(update={"why": f"{example.why}, {row['hits']:,} times: {defaults[at].beside}"})

    return check.outcome_of(rows, "hits", sum(judged.values()), said, suspects=suspects)


def _told(rows: Iterable[Row]) -> Iterator[Row]:
    """Of each property the first bounds that nearly all of its values keep."""
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        kept = row["judged"] >= LEAST and row["hits"] <= max(1, WRONG * row["judged"])
        if not kept or (row["recent"] is not None and (row["least"] is None or row["least"] < row["recent"])):
            continue
        place = row["owner"], row["key"]
        about = "recent" if row["recent"] is not None else "bounds"
        if (*place, about) not in seen:
            yield row
        if row["hits"]:
            seen.add((*place, about))


def has_bounds(key: str) -> bool:
    """Whether the check knows what a property of that name can hold."""
    words = key_words(key)
    return bool(_bounds(words, frozenset()) or PAST & {*words}) or is_year(key)


def is_year(key: str) -> bool:
    """Whether a property of that name holds a year of the calendar."""
    words = name_words(key)
    return bool(words) and words[-1] in YEAR


def _bounds(words: list[str], others: frozenset[str]) -> list[tuple[float, float]]:
    """What a property whose name has these words can hold, the narrowest first. `others`: the last words of the label's properties."""
    if not words:
        return []
    last = words[-1]
    if last == "long" and (len(words) > 1 or not others & LATITUDES):
        return []
    if last in BOUNDS and (len(words) == 1 or last in LATITUDES | LONGITUDES or (last == "age" and words[-2] in OF_PEOPLE)):
        return [BOUNDS[last]]
    if MAY_BE_MORE & {*words}:
        return []
    fraction = [(0.0, 1.0)] if last in FRACTION else []
    return [*fraction, (0.0, 100.0)] if PERCENT & {*words} or last in SHARE else fraction


def _suspects(label: LabelProfile) -> Iterator[dict[str, str | float | None]]:
    """As the query takes them. A day more than today: of two clocks one is ahead."""
    today = datetime.now(UTC).date()
    tomorrow, far = (today + timedelta(days=1)).isoformat(), (today + timedelta(days=FAR)).isoformat()
    others = frozenset(words[-1] for found in label.properties if (words := key_words(found.key)))
    for found in label.properties:
        key, words = found.key, key_words(found.key)
        known: dict[str, str | float | None] = {
            "label": label.label, "key": key, "low": None, "high": None, "earliest": None, "latest": None, "recent": None,
        }
        yield from ({**known, "low": low, "high": high} for low, high in _bounds(words, others))
        is_day = is_date(found)
        if PAST & {*words}:
            yield {**known, "latest": tomorrow}
        elif is_day and not AHEAD & {*words}:
            yield {**known, "latest": far}
        if is_year(key) and not PAST & {*words}:
            yield {**known, "high": float(today.year + CENTURY)}
        if (is_year(key) and not LASTING & {*words}) or LIFE & {*words} or is_day:
            yield from ({**known, "earliest": earliest, "recent": recent} for earliest, recent in OLDEST[0 if is_day else 1 :])
