"""Whether the values of a property are codes, by their shape: one pattern of letters, digits and signs; no dates, no measures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kgeval.text.wordlists import word_set

ONE_SHAPE = 0.95  # share of values that have the shape of a code, and one pattern of digits and signs
MOST_PATTERNS = 4  # of letters, that together are on as many values: [2007] EWCC 91, [2007] UKSC 7, [2007] EWCA Civ 12
SHORTEST, LONGEST = 5, 40  # characters of a code
LEAST_DIGITS, LEAST_INTEGER = 4, 6  # digits of a code with letters, and of one without
SHORT_WORD = 4  # letters of a word with small letters, up to which it may be a part of a code: Civ, No
ROUND = 0.3  # share of integers with two noughts at the end, from which they are amounts
LETTERS, DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
MONTH = re.compile(r"(?<![a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)(?![a-z])", re.IGNORECASE)
# a date, a time of day, a decimal number, a number with its unit, a telephone, an address of the web or of mail
NO_CODE = (
    re.compile(r"(?:19|20)\d\d[-/.]?(?:0?[1-9]|1[0-2])[-/.]?(?:0?[1-9]|[12]\d|3[01])(?:\D.*)?", re.DOTALL),
    re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:\D.*)?", re.DOTALL), re.compile(r".*\d:\d\d(?!\d).*", re.DOTALL),
    re.compile(r"\W*\d+(?:[.,]\d+)+\W*(?:[^\W\d_]{1,6})?", re.DOTALL),
    re.compile(r"\W*\d{1,6}(?:[.,]\d+)?\s*(?:[^\W\d_]{1,3}|[%°€$£])[²³23]?"),
    re.compile(r"-?\d+\.\d+[,; ]+-?\d+\.\d+"),
    re.compile(r"[+(]?\+?[\d\s()/.-]*\d{2,4}[)\s/.-]+\d{3,4}[\s.-]\d{3,4}"), re.compile(r"[+(].*"),
    re.compile(r"\d{3}[-\s]\d{4}"), re.compile(r"0\d{2,4}[-/\s]\d+"), re.compile(r"(?:.*(?:@|://|\\)|\.?/).*", re.DOTALL),
)
STAMP = re.compile(r"1\d{9}|1\d{12}")  # seconds or thousandths since 1970

# words of keys whose values may look like codes and be none: what is measured or counted, when and where something is, how to reach
# somebody, what a file holds, and what several nodes have in common
CALLED_OTHERWISE = word_set("""
    amount price cost total subtotal sum balance salary wage income revenue turnover sales budget profit fee tax value worth gdp paid
    population people inhabitants attendance capacity count counts number_of quantity qty views votes likes followers downloads plays stock
    size bytes length width height depth weight distance elevation altitude area volume mass power speed duration rate ratio percent score
    rank rating level dimension dimensions range offset position order index
    date day month year week quarter season time times timestamp at on ts epoch created updated modified seen since until start end started
    ended begin born died founded published released departed arrived due expires expiry valid opened closed version revision release
    lat latitude lon lng long longitude coord coordinate coordinates location geo geohash grid x y z point
    phone telephone tel mobile cell fax contact whatsapp hotline zip postcode postal plz pin address street house room city country state
    ip ipv4 ipv6 mac host port url uri link website mail email
    hash checksum etag sha sha1 sha256 sha512 md5 crc crc32 digest fingerprint signature token secret password salt
    parent group batch lot session trace correlation request transaction run related previous next original source target reference ref
    supersedes replaces predecessor successor by from to of
    name title label heading headline caption text description note notes comment colour color hex rgb model
""")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*")


def may_be_called_code(key: str) -> bool:
    """Whether no word of a property's name says that it holds something else: an amount, a time, a place, a telephone, a hash."""
    words = [word.lower() for word in WORD.findall(key)]
    return CALLED_OTHERWISE.isdisjoint(words) and CALLED_OTHERWISE.isdisjoint(word.removesuffix("s") for word in words)


def are_codes(values: Sequence[str]) -> bool:
    """Whether nearly all values are codes of one pattern. One run of digits may be longer or shorter, and a few patterns of letters may be
    mixed."""
    texts = [value.strip() for value in values if value and value.strip()]
    if not texts:
        return False
    least = ONE_SHAPE * len(texts)
    if sum(UUID.fullmatch(text) is not None for text in texts) >= least:
        return True
    if sum(text.isdecimal() for text in texts) >= least:
        return _are_numbers(texts, least)
    codes = [text for text in texts if _is_code(text)]
    return len(codes) >= least and any(_is_one_pattern(codes, at, least) for at in (-1, 0))


def _are_numbers(texts: Sequence[str], least: float) -> bool:
    """Whether texts of nothing but digits are codes: of one length, and no dates, stamps of time or round amounts."""
    lengths = Counter(map(len, texts))
    (length, times), = lengths.most_common(1)
    strange = sum(any(no.fullmatch(text) for no in NO_CODE[:2]) or STAMP.fullmatch(text) is not None for text in texts)
    is_round = sum(text.endswith("00") for text in texts) > ROUND * len(texts)
    return length >= LEAST_INTEGER and times >= least and strange < len(texts) / 2 and not is_round


def _is_code(text: str) -> bool:
    digits, words = sum(map(str.isdecimal, text)), LETTERS.findall(text)
    if not SHORTEST <= len(text) <= LONGEST or digits < (LEAST_DIGITS if words else LEAST_INTEGER + 2) or "\n" in text:
        return False
    if MONTH.search(text) or any(no.fullmatch(text) for no in NO_CODE):
        return False
    return all(word.isupper() or len(word) <= SHORT_WORD for word in words) and len(words) <= 4


def _is_one_pattern(codes: Sequence[str], at: int, least: float) -> bool:
    """Whether codes have the same signs and digits but for one run of digits (`at`: the first, the last), and few patterns of letters."""
    shapes = [_shape(text, at) for text in codes]
    signs = Counter("".join(char for char in shape if char != "A" and not char.isspace()) for shape in shapes)
    return _most(signs, 1) >= least and _most(Counter(shapes), MOST_PATTERNS) >= least


def _shape(text: str, at: int) -> str:
    """A text with letters as A and digits as 9, one run of digits as #."""
    if runs := list(DIGITS.finditer(text)):
        text = f"{text[:runs[at].start()]}#{text[runs[at].end():]}"
    return "".join("A" if char.isalpha() else "9" if char.isdecimal() else char for char in text)


def _most(counts: Counter[str], several: int) -> int:
    return sum(times for _, times in counts.most_common(several))
