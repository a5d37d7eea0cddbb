"""Texts and names as they are stored: no control characters, one form of line ends, Unicode NFC."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import Literal

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
SHORT = 1_000  # characters whose marks may be ordered by the square of their number

# what no database, JSON reader or screen is sure to take, and what is invisible inside words: byte order mark, soft hyphen
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\ufeff\ufffe\uffff]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HALF = re.compile("[\ud800-\udfff]")
# U+202E in a name turns round what stands after it on every screen and in every report
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]")  # marks of the direction of writing: for texts, not for names
_SPACE = re.compile(r"\s+")
# Every mark that is set on the letter before it is among these; no writing sets 30.
_MANY_MARKS = re.compile(r"[^\w\s\x00-\u02ff]{31,}")
# the two signs that are letters, and marks once they are decomposed
_HALF_WIDE = {0xFF9E: "\u3099", 0xFF9F: "\u309a"}
_QUOTES = ("\"\"", "''", "“”", "‘’", "«»", "「」", "„“", "``", "[]")


def clean_text(text: str) -> tuple[str, int]:
    """The text as it is stored, and how many characters were removed or replaced by U+FFFD (halves of surrogate pairs).

    Line ends become "\\n"; offsets of spans refer to the text that comes back.
    """
    text, removed = _CONTROL.subn("", _LINE_END.sub("\n", text))
    text, halves = _HALF.subn("\ufffd", text)
    return normal_form(text, "NFC"), removed + halves


def normal_form(text: str, form: NormalForm) -> str:
    """`unicodedata.normalize`, in a time that grows with the text's length, however many marks are set on one letter."""
    if len(text) > SHORT and not text.isascii():
        text = _MANY_MARKS.sub(_order_marks, text.translate(_HALF_WIDE) if form in ("NFKC", "NFKD") else text)
    return unicodedata.normalize(form, text)


def _order_marks(found: re.Match[str]) -> str:
    """The same signs as NFC will have them, in its order: Python orders the marks on a letter by the square of their number."""
    parts = "".join(unicodedata.normalize("NFD", sign) for sign in found[0])
    runs = groupby(parts, key=lambda sign: unicodedata.combining(sign) > 0)
    return "".join(sign for are_marks, run in runs for sign in (sorted(run, key=unicodedata.combining) if are_marks else run))


def clean_line(text: str) -> str:
    """The text on one line: cleaned, without marks of direction, whitespace joined, none at the ends."""
    return _SPACE.sub(" ", _DIRECTION.sub("", clean_text(text)[0])).strip()


def clean_name(text: str) -> str:
    """A name on one line, without a pair of quotation marks or brackets around all of it."""
    name = clean_line(text)
    while len(name) > 2 and name[0] + name[-1] in _QUOTES and name[0] not in name[1:-1] and name[-1] not in name[1:-1]:
        name = name[1:-1].strip()
    return name


def share_of_control(text: str) -> float:
    """The share (0..1) of the text that is control characters: high where bytes are no text."""
    return len(_CONTROL.findall(text)) / max(1, len(text))
