"""inverted-interval: Neo4j compares what it can; text and mixed types are compared here as instants."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.records import Example, GraphRef

# seconds would be the year 5138, milliseconds are 1973: larger numbers are milliseconds
MILLISECONDS = 100_000_000_000
_ZONE_NAME = re.compile(r"\[[^\]]*\]$")
_PARTIAL = re.compile(r"(-?\d{1,4})(?:-(\d{1,2}))?$")


def run(check: CheckRun) -> CheckOutcome:
    """Relations whose validity ends before it begins, of all that have both ends of it."""
    row = check.own_rows()[0]
    late = [hit for hit in row["candidates"] if is_inverted(hit["start"], hit["end"])]
    late.sort(key=lambda hit: (hit["start"], hit["item"]["element_id"]))
    examples = examples_of(row["sample"]) + [
        Example(items=[GraphRef.model_validate(hit["item"])], why=f"valid from {hit['start'][:40]} to {hit['end'][:40]}")
        for hit in late[: check.sample]
    ]
    return CheckOutcome(row["count"] + len(late), row["total"], examples[: check.sample])


def is_inverted(start: str, end: str) -> bool:
    """Whether both texts can be read as instants and the first is later.

    Where one of them names only a day, month or year, only that much of both is compared.
    """
    first, last = instant(start), instant(end)
    if first is None or last is None:
        return False
    depth = min(first[1], last[1])
    return first[0][:depth] > last[0][:depth]


def instant(text: str) -> tuple[tuple[float, ...], int] | None:
    """(year, month, day, second of the day) in UTC and how many of the four are known; None if it cannot be read.

    Reads ISO 8601 dates and times (no zone: UTC), years, year-months, and seconds or milliseconds since 1970.
    """
    stripped = _ZONE_NAME.sub("", text.strip())
    partial = _PARTIAL.match(stripped)
    if partial:
        year, month = int(partial[1]), int(partial[2] or 0)
        return ((year, month, 0, 0), 2 if month else 1) if month <= 12 else None
    try:
        number = float(stripped)
        moment = datetime.fromtimestamp(number / 1000 if abs(number) > MILLISECONDS else number, UTC)
    except (ValueError, OverflowError, OSError):
        try:
            if len(stripped) == 10:
                day = date.fromisoformat(stripped)
                return (day.year, day.month, day.day, 0), 3
            moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", stripped))  # Neo4j writes nanoseconds, Python reads microseconds
            moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
    return (moment.year, moment.month, moment.day, seconds), 4
