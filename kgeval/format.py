"""Texts and numbers as people read them. Names in a graph are hostile: hidden characters become visible ones here."""

from __future__ import annotations

import math
import re
import shlex
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kgeval.rounding import FAINT, is_equal, side

if TYPE_CHECKING:
    from kgeval.records import Estimate

LONGEST = 200
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
NONE = "-"
_JOINERS = "\u200c\u200d"


def visible(text: str, *, longest: int = LONGEST) -> str:
    """The text on one line, cut to `longest` characters, with control, format and direction characters written as [U+XXXX].

    Joiners between two non-ASCII characters stay (Persian, Hindi and emoji need them). Never empty.
    """
    if not text.strip():
        return "(empty)" if not text else "(only blanks)"
    head = text[: longest + 1]
    spaced = "".join(_shown(head, at) for at in range(min(len(head), longest)))
    line = _SPACE.sub(" ", spaced).strip()
    return line if len(text) <= longest else f"{line}… ({len(text):,} characters)"


def about(of: str | None, text: str, *, longest: int = LONGEST) -> str:
    """`vector: faithfulness >= 0.8`: what is said and of what, on one line as `visible` has it. A long name is cut, never what is said of
    it."""
    return f"{visible(of, longest=longest)}: {visible(text)}" if of else visible(text)


def for_terminal(text: str) -> str:
    """The text with control and direction characters (but line ends and tabs) written out: no name, file or reply steers a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shown(text: str, at: int) -> str:
    char = text[at]
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) not in _UNSEEN:
        return char
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    if char in _JOINERS and len(around) == 2 and not around.isascii():
        return char
    return f"[U+{ord(char):04X}]"


def code(text: str) -> str:
    """Cypher with control, format and direction characters written as \\uXXXX, which Cypher reads as the same character."""
    return "".join(char if _plain(char) else _escaped(char) for char in text)


def _plain(char: str) -> bool:
    return char in "\t\n" or unicodedata.category(char) not in _UNSEEN


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def number(value: float | int | None) -> str:
    """A number with thousands separators: whole numbers exactly, others with four significant digits; "-" for null."""
    if value is None:
        return NONE
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def percent(share: float | None) -> str:
    """A share in 0..1 as a percentage. Never rounded to 0 % or 100 % unless it is exactly that; "" for null."""
    if share is None:
        return ""
    if share < 0:
        return f"-{percent(-share)}"
    for digits in (0, 1, 2):
        text = f"{share * 100:.{digits}f}"
        if (float(text) not in (0.0, 100.0) and digits) or share in (0, 1):
            return f"{text} %"
    return "< 0.01 %" if share < 0.5 else "> 99.99 %" if share < 1 else "> 100 %"


def share(value: float | None) -> str:
    """As `percent`; "-" for null."""
    return NONE if value is None else percent(value)


def signed(value: float | None) -> str:
    """A difference of shares: `+12.3 %`, `-4.0 %`, `0 %`; "-" for null."""
    if value is None:
        return NONE
    return "0 %" if abs(value) < FAINT else percent(value) if value < 0 else f"+{percent(value)}"


def points(value: float | None) -> str:
    """A difference of shares in points of a hundred: `+30.0`; "-" for null."""
    return signed(value).removesuffix(" %")


def figure(value: float | None, *, digits: int = 3, sign: bool = False) -> str:
    """A value with so many digits after the point: `0.741`, with `sign` `+0.741`; "-" for null.

    Never rounded to 0, 1 or -1 unless it is exactly that: `< 0.001`, `> 0.999`. From 10,000 on as a number.
    """
    if value is None:
        return NONE
    if abs(value) < FAINT:
        return "0"
    plus = "+" if sign and value > 0 else ""
    if abs(value) >= 10_000 or value in (1, -1):
        return plus + number(value)
    text, least = f"{value:.{digits}f}", 10.0**-digits
    if float(text) == 0:
        return f"< {plus}{least:.{digits}f}" if value > 0 else f"> {-least:.{digits}f}"
    if abs(float(text)) == 1 and abs(value) < 1:
        return f"> {plus}{1 - least:.{digits}f}" if value > 0 else f"< {least - 1:.{digits}f}"
    return plus + text


def plus(value: float | None) -> str:
    """A difference of values: `+0.120`; "-" for null."""
    return figure(value, sign=True)


def chance(p: float | None) -> str:
    """A p-value: `0.032`, `< 0.001`, never 0; "-" for null."""
    return figure(p if p is None else max(p, 1e-9))


def has_width(low: float | None, high: float | None) -> bool:
    """Whether there is an interval to show: one without width says that values were equal, not that the next one is."""
    return low is not None and high is not None and not is_equal(low, high)


def beyond_chance(low: float | None, high: float | None) -> bool:
    """Whether the interval of a difference leaves out 0. Differences that are all the same have one without a width, which says nothing of
    others."""
    return has_width(low, high) and side(low, high) != 0


def interval(low: float | None, high: float | None, form: Callable[[float], str] = percent) -> str:
    """`59.5 % to 63.6 %`; "" where there is no interval, or one without width."""
    return "" if low is None or high is None or not has_width(low, high) else f"{form(low)} to {form(high)}"


def bracketed(low: float | None, high: float | None, form: Callable[[float], str] = figure) -> str:
    """`[0.671, 0.752]`; "" where there is no interval, or one without width."""
    return "" if low is None or high is None or not has_width(low, high) else f"[{form(low)}, {form(high)}]"


def difference(value: float | None, low: float | None, high: float | None) -> str:
    """`+0.120 [+0.051, +0.190]`; "-" for null."""
    return NONE if value is None else f"{plus(value)} {bracketed(low, high, plus)}".rstrip()


def seconds(value: float | None) -> str:
    """A duration in seconds, without the unit: `12.35`, `1,234.00`, `0.0042`; "-" for null."""
    if value is None:
        return NONE
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def times(factor: float | None) -> str:
    """How many times as much: `5.8 x`, `0.25 x`, `120 x`; "" where there is no factor."""
    return f"{factor:,.{0 if factor >= 100 else 1 if factor >= 1 else 2}f} x" if factor is not None and math.isfinite(factor) else ""


def beyond(value: float, limit: float | str) -> str:
    """A value as `number` has it, with as many digits as tell it from the limit that it is compared with: `0.79996`, not 0.8. `limit`: also
    as text, `share <= 0.8`."""
    if isinstance(limit, str):
        last = limit.split()[-1] if limit.split() else ""
        limit = float(last) if _NUMBER.fullmatch(last) else math.nan
    for digits in range(5, 18):
        if value == limit or float(number(value).replace(",", "")) != limit:
            break
        if float(text := f"{value:.{digits}g}") != limit:
            return text
    return number(value)


def of_graph(name: str | None) -> str:
    """` --graph NAME` for a command that is to be typed, with the blank before it; "" where no graph was named."""
    return f" --graph {shlex.quote(visible(name))}" if name else ""


def plural(count: int, noun: str) -> str:
    """`1 check`, `2 checks`, `2 entities`."""
    return f"{count:,} {noun if count == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """`checks`, `entities`."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def first_of(items: Sequence[str], most: int, apart: str = ", ", *, noun: str = "") -> str:
    """The first ones, and how many more there are: `a, b, c`; `a, b and 3 more`; with a noun `a, b and 1 more pair`."""
    left = len(items) - most
    return apart.join(items[:most]) + (f" and {plural(left, f'more {noun}') if noun else f'{left:,} more'}" if left > 0 else "")


def first_lines(lines: Sequence[str], most: int, *, of: int | None = None) -> list[str]:
    """The first ones, and a line with how many more there are: `... and 3 more`. `of`: how many there are, where not all are at hand."""
    left = (len(lines) if of is None else of) - most
    return [*lines[:most], *([f"... and {left:,} more"] if left > 0 else [])]


def joined(parts: list[str], most: int | None = None) -> str:
    """`a`, `a and b`, `a, b and c`; with `most` as `first_of` where there are more."""
    if most is not None and len(parts) > most:
        return first_of(parts, most)
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""


def money(cost: float | None) -> str:
    """US dollars; four decimals below one dollar, never rounded to 0; "price not known" for null."""
    if cost is None:
        return "price not known"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}" if cost >= 0.00005 else "< $0.0001"


def labels_of(one: Estimate) -> str:
    """Whose labels an estimate rests on. A judge alone is always said to be uncorrected."""
    return "judge alone, uncorrected" if one.labelled_by == "judge" else one.labelled_by
