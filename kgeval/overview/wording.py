"""How figures, places and sources are told in words."""

from __future__ import annotations

from kgeval.format import NONE, beyond, bracketed, money, number, percent, plus
from kgeval.records import Gate, RunPlace, Unit


def value_of(value: float | None, low: float | None, high: float | None, unit: Unit) -> str:
    """`61.6 % [59.5 %, 63.6 %]`, `+0.120 [+0.051, +0.190]`, `1.2 s`; - for null. No interval where it has no width."""
    if value is None:
        return NONE
    return f"{single(value, unit)} {bracketed(low, high, lambda end: single(end, unit))}".rstrip()


def single(value: float, unit: Unit) -> str:
    """One number of a unit."""
    if unit == "share" and 0 <= value <= 1:
        return percent(value)
    if unit == "difference":
        return plus(value)
    if unit == "usd":
        return money(value)
    if unit == "seconds":
        return f"{number(value)} s"
    return number(int(value)) if unit == "count" and float(value).is_integer() else number(value)


def reached(gate: Gate) -> str:
    """What a gate's figure came to, with as many digits as tell it from the limit."""
    return "no value" if gate.value is None else beyond(gate.value, gate.limit)


def place_of(place: RunPlace, of: str | None = None) -> str:
    """`novels, small-chunks, corpus 50 %, reader small: graph`; "" where there is only one place."""
    size = percent(place.share) if place.share is None or place.share <= 1 else f"{number(place.share)} tokens"
    share = None if place.share is None else f"corpus {size}"
    reader = None if place.reader is None else f"reader {place.reader}"
    parts = ", ".join(part for part in (place.dataset, place.variant, share, reader) if part is not None)
    return ": ".join(part for part in (parts, of) if part)
