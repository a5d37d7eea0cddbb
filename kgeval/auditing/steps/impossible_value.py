"""impossible-value: values that no property of that name can hold: a latitude of 148, an age of 900, a birth next year."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import PLANS, is_date, key_words
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.text.wordlists import word_set

LEAST = 10  # values that show what a property holds
WRONG = 0.1  # share of them up to which those outside are slips; above it the name means something else
BOUNDS: dict[str, tuple[float, float]] = {
    "lat": (-90.0, 90.0), "latitude": (-90.0, 90.0), "lon": (-180.0, 180.0), "lng": (-180.0, 180.0), "long": (-180.0, 180.0),
    "longitude": (-180.0, 180.0), "age": (0.0, 150.0), "month": (1.0, 12.0),
}
PAST = word_set("born birth birthday dob died death deceased dod founded established incorporated built")
FAR = 3_653  # days from now: what is meant to happen is rarely put down ten years ahead
AHEAD = PLANS | word_set("end ends ending to term matures maturity retirement retire retires projected forecast horizon by")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: values outside of what their properties can hold; `total`: values of such properties."""
    profile: GraphProfile | None = check.settings["profile"]
    labels = [label for label in profile.labels if label.label and label.role != "technical"] if profile else []
    suspects = [suspect for label in labels for suspect in _suspects(label)]
    if not suspects:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(suspects=suspects) if row["judged"] >= LEAST and row["hits"] <= WRONG * row["judged"]]
    return check.outcome_of(rows, "hits", sum(row["judged"] for row in rows), suspects=suspects)


def has_bounds(key: str) -> bool:
    """Whether the check knows what a property of that name can hold."""
    words = key_words(key)
    return (len(words) == 1 and words[0] in BOUNDS) or bool(PAST & {*words})


def _suspects(label: LabelProfile) -> Iterator[dict[str, str | float | None]]:
    """As the query takes them. A day more than today: of two clocks one is ahead."""
    today = datetime.now(UTC).date()
    tomorrow, far = (today + timedelta(days=1)).isoformat(), (today + timedelta(days=FAR)).isoformat()
    for found in label.properties:
        key, words = found.key, key_words(found.key)
        known: dict[str, str | float | None] = {"label": label.label, "key": key, "low": None, "high": None, "latest": None}
        if len(words) == 1 and words[0] in BOUNDS:
            low, high = BOUNDS[words[0]]
            yield {**known, "low": low, "high": high}
        elif PAST & {*words}:
            yield {**known, "latest": tomorrow}
        elif is_date(found) and not AHEAD & {*words}:
            yield {**known, "latest": far}
