"""Thresholds as people write them: `faithfulness>=0.8`, `OF:NAME<=0.05`. What a name may be is for the caller to say."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHAPE = re.compile(r"\s*(?:(?P<of>.*\S)\s*:)?\s*(?P<name>\w+)\s*(?P<sign>>=|<=|=)\s*(?P<limit>\S+)\s*", re.DOTALL)
_ROUNDED = 9  # digits: a mean of 0.7999999999999999 is 0.8


@dataclass(frozen=True)
class Threshold:
    """A threshold as it was written. `of`: what stands before the colon. `sign`: >=, <= or =. `limit` null: `written` is no number from
    0 to 1."""

    of: str | None
    name: str
    sign: str
    written: str
    limit: float | None

    @property
    def faults(self) -> list[str]:
        """What is wrong with the limit, in words."""
        return [f"{self.written[:40]} is not a number from 0 to 1"] if self.limit is None else []


def read_threshold(text: str) -> Threshold | None:
    """The parts of a threshold; null where the text is none."""
    found = _SHAPE.fullmatch(text)
    return Threshold(found["of"], found["name"], found["sign"], found["limit"], _limit(found["limit"])) if found is not None else None


def passes(value: float, limit: float, *, least: bool) -> bool:
    """Whether a share is at least (else: at most) the limit; what differs by rounding only is equal."""
    value, limit = round(value, _ROUNDED), round(limit, _ROUNDED)
    return value >= limit if least else value <= limit


def _limit(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
