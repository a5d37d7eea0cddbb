"""Texts and numbers as people read them. Names in a graph are hostile: hidden characters become visible ones here."""

from __future__ import annotations

import math
import re
import unicodedata

LONGEST = 200
_SPACE = re.compile(r"\s+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
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


def number(value: float | int) -> str:
    """A number with thousands separators: whole numbers exactly, others with four significant digits."""
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def percent(share: float | None) -> str:
    """A share in 0..1 as a percentage. Never rounded to 0 % or 100 % unless it is exactly that; "" for null."""
    if share is None:
        return ""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    for digits in (1, 2):
        text = f"{share * 100:.{digits}f}"
        if float(text) not in (0.0, 100.0):
            return f"{text} %"
    return "< 0.01 %" if share < 0.5 else "> 99.99 %"


def plural(count: int, noun: str) -> str:
    """`1 check`, `2 checks`, `2 entities`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def joined(parts: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""


def money(cost: float | None) -> str:
    """US dollars; four decimals below one dollar; "price not known" for null."""
    if cost is None:
        return "price not known"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"
