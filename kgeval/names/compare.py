"""Are two names one thing? What joins them, what contradicts, and how sure that is. Pure; no graph, no model.

The rules are cautious: a difference that usually means another thing (a number, "North" / "South", "Mr." / "Mrs.", hyper- / hypo-, a sign
that carries meaning) forbids every form. How often each form was right is measured on pairs of names (tests/bench/names.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgeval.names.forms import (
    GENERIC,
    HALVES,
    HEADS,
    KINDS,
    LINKS,
    PARTICLES,
    SURNAME_TITLES,
    NameForm,
    acronym_keys,
    folded,
    form,
    is_spelled_out,
    kind_of,
    without_legal,
)
from kgeval.names.tables import (
    denials,
    given_names,
    magnitudes,
    opposed_beginnings,
    opposed_endings,
    opposed_words,
    singular_of,
    state_words,
    unit_signs,
)
from kgeval.text.clean import normal_form
from kgeval.text.wordlists import word_set

Certainty = Literal["sure", "likely", "unlikely", "apart"]
HONORIFIC, INITIALS, ACRONYM, LEGAL_FORM = "honorific", "initials", "acronym", "legal form"
SUBSET, SPACING, PLURAL, VARIANT, SPELLING = "token subset", "spacing", "plural", "spelling variant", "near spelling"
SAME, BRACKETS, QUANTITY, ORDER, NICKNAME = "same name", "acronym in brackets", "the same quantity", "order of words", "nickname"
MIDDLE, SCRIPT, IN_BRACKETS, NUMERAL = "middle name", "another script", "name in brackets", "the same number"
QUALIFIER = "qualifier"
_CONJUNCTIONS = frozenset(("and", "und", "et", "y", "e", "и", "och", "og", "en"))
_DIRECTED = word_set("from to by over against vs versus beats von nach contre kills eats bites")
_STATES_OF = word_set(
    "republic kingdom state city town commonwealth federal democratic people's peoples islamic principality grand duchy federation united "
    "province prefecture municipality county union"
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)
INSTITUTIONS = frozenset(("university", "college", "institute", "school", "academy", "hospital", "museum"))
_QUANTITY = re.compile(r"([<>≤≥~≈±−+$€£¥-]*)\s*(\d+(?:\.\d+)*)\s*(\D*)")
_SIGNS = str.maketrans("", "", "#*!-.%_+")


@dataclass(frozen=True, slots=True)
class NameVerdict:
    """What two names are to each other. `form`: what joins them, "" where nothing does; `against`: what contradicts, "" if nothing.

    sure: one thing, as far as names can tell; likely: one thing where something else speaks for it; unlikely: nothing but a weak form joins
    them, or none; apart: something says that they are two.
    """

    certainty: Certainty
    form: str = ""
    against: str = ""

    @property
    def joins(self) -> bool:
        """Whether a form joins the names and nothing contradicts."""
        return bool(self.form) and self.certainty != "apart"


NO_PEOPLE = ("place", "organization", "work")
NOTHING_JOINS = NameVerdict("unlikely")


def compare_names(a: str, b: str, *, type: str | None = None) -> NameVerdict:
    """What two names are to each other: one thing (sure, likely), or not (unlikely, apart). `type`: of both, in the words of the graph."""
    return compare_forms(form(a), form(b), kind=kind_of(type), thorough=True)


def compare_forms(a: NameForm, b: NameForm, *, kind: str = "", thorough: bool = False) -> NameVerdict:
    """What two names are to each other. `kind`: of things, where it is known (kgeval.names.forms.kind_of). `thorough`: names that nothing
    joins are looked at for what tells them apart, too. Symmetric."""
    if not a.tokens or not b.tokens:
        return NOTHING_JOINS
    if kind not in ("", "person") and (a.titles or b.titles):
        a, b = a.as_thing, b.as_thing
    if (len(a.norm), a.norm, a.identity) > (len(b.norm), b.norm, b.identity):
        a, b = b, a
    if a.identity == b.identity:
        return NameVerdict("sure", SAME)
    if a.norm == b.norm or a.identity.translate(_SIGNS) == b.identity.translate(_SIGNS):
        return _by_sign(a, b)
    return _by_date(a, b) or _by_quantity(a, b) or _by_acronym(a, b) or _by_words(a, b, kind, thorough)


def _by_sign(a: NameForm, b: NameForm) -> NameVerdict:
    """Names that differ in signs only: 3.5 / 3 5, C / C#, _private / private."""
    if a.compact.replace(".", "") == b.compact.replace(".", "") and not any(c.isdigit() for c in a.norm):
        return NameVerdict("likely", SPACING)
    return NameVerdict("apart", against="a sign that carries meaning")


def _by_date(a: NameForm, b: NameForm) -> NameVerdict | None:
    """Days and months: equal, or two; None where one is none."""
    x, y = day(a.core), day(b.core)
    if x is None or y is None:
        return None
    return NameVerdict("sure", QUANTITY) if x == y else NameVerdict("apart", against="another date")


def day(words: tuple[str, ...]) -> tuple[int, int, int] | None:
    """Year, month and day (0 where not told) of a name that is a date with a year of four digits, named or in ISO's order; else None."""
    if not 2 <= len(words) <= 3:
        return None
    months = [at for at, word in enumerate(words) if word in _MONTHS]
    rest = [word for at, word in enumerate(words) if at not in months]
    if not all(word.isdecimal() for word in rest):
        return None
    years = [word for word in rest if len(word) == 4]
    if len(months) == 1 and len(years) == 1:
        return int(years[0]), _MONTHS.index(words[months[0]]) + 1, next((int(word) for word in rest if len(word) < 3), 0)
    if not months and len(words) == 3 and len(words[0]) == 4 and all(len(word) == 2 for word in words[1:]):
        return int(words[0]), int(words[1]), int(words[2])
    return None


def _by_quantity(a: NameForm, b: NameForm) -> NameVerdict | None:
    """Numbers with units: equal, or two; None where one is none."""
    x, y = quantity(a.identity), quantity(b.identity)
    if x is None or y is None:
        return None
    if x == y:
        return NameVerdict("sure", QUANTITY)
    if x[1:] != y[1:] or x[0] != y[0]:
        return NameVerdict("apart", against="another number or unit")
    return None


def quantity(identity: str) -> tuple[float, str, str] | None:
    """Value, unit and sign of a name that is a number with a unit; None for all others."""
    found = _QUANTITY.fullmatch(identity)
    if found is None or found[2].count(".") > 1:
        return None
    words = found[3].removeprefix("degrees ").removeprefix("degree ").split()
    currency = re.sub(r"[^$€£¥]", "", found[1])
    scale = magnitudes().get(words[0], 0.0) if words and (currency or len(words[0]) > 1) else 0.0
    unit = " ".join(words[1:] if scale else words)
    if (unit and unit not in unit_signs()) or (unit and currency):
        return None
    sign = re.sub(r"[$€£¥]", "", found[1]).replace("−", "-")
    return float(found[2]) * (scale or 1.0), unit_signs().get(unit or currency, ""), sign


def _by_acronym(a: NameForm, b: NameForm) -> NameVerdict | None:
    """One name is the acronym of the other, or stands beside its acronym in brackets; None where neither is."""
    for x, y in ((a, b), (b, a)):
        if x.bracketed and y.letters and len(y.tokens) == 1:
            same = x.bracketed == y.letters
            return NameVerdict("sure", BRACKETS) if same else NameVerdict("apart", against="another acronym")
    for x, y in ((a, b), (b, a)):
        if x.letters and len(y.tokens) > 1 and x.letters in acronym_keys(y):
            return NameVerdict("likely" if len(x.letters) > 2 else "unlikely", ACRONYM)
    if a.bracketed and b.bracketed and a.bracketed != b.bracketed:
        return NameVerdict("apart", against="another acronym")
    if a.core == b.core and bool(a.bracketed) != bool(b.bracketed):
        return NameVerdict("sure", BRACKETS)
    return None


def _by_words(a: NameForm, b: NameForm, kind: str, thorough: bool) -> NameVerdict:
    if a.gender and b.gender and a.gender != b.gender:
        return NameVerdict("apart", against="titles of a man and a woman")
    same_letters = a.compact == b.compact
    if a.apart != b.apart:
        if same_letters and (a.apart ^ b.apart <= HALVES or _runs(a.tokens) == _runs(b.tokens)):
            return NameVerdict("sure", SPACING)
        return NameVerdict("apart", against=f"told apart by {', '.join(sorted(a.apart ^ b.apart))[:60]}")
    if a.core == b.core:
        return _equal_cores(a, b)
    joined = _form(a, b, kind)
    if joined is None and not thorough:
        return NOTHING_JOINS
    if against := contradiction(a, b, kind):
        return NameVerdict("apart", against=against)
    return joined or NOTHING_JOINS


def _runs(tokens: Sequence[str]) -> tuple[str, ...]:
    """The pieces of letters and of digits of a name: GPT-4 and GPT4 have the same, "1 11" and "11 1" have not."""
    return tuple(piece for token in tokens for piece in re.findall(r"\d+|\D+", token))


def _equal_cores(a: NameForm, b: NameForm) -> NameVerdict:
    """Equal but for titles, a nickname between them, or numbers in another writing. A lone surname with other titles may be anybody of the
    family ("Dr. Hall" / "Mr. Hall")."""
    if a.titles == b.titles:
        return NameVerdict("sure", NICKNAME if a.nickname != b.nickname else HONORIFIC if a.titles else NUMERAL)
    if len(a.core) == 1:
        if not (a.titles <= b.titles or b.titles <= a.titles) or a.core[0] in GENERIC:
            return NameVerdict("unlikely", against="other titles before a surname")
        if (a.titles ^ b.titles) & SURNAME_TITLES:
            return NameVerdict("unlikely", against="a woman's title before a surname")
        return NameVerdict("likely", HONORIFIC)
    return NameVerdict("sure", HONORIFIC)


def contradiction(a: NameForm, b: NameForm, kind: str = "") -> str:
    """What says that two names are two things, "" if nothing does: opposites, members of one series, other single letters, two kinds of
    place or institution, a state that only one of them has."""
    left, right = _own(a.core, b.core), _own(b.core, a.core)
    for x in left:
        for y in right:
            if opposed(x, y):
                return f"{x} / {y}"
    if left and right:
        singles = [word for word in (*left, *right) if len(word) == 1]
        if len(singles) > 1 and len(left) == len(right) == 1:
            return f"{left[0]} / {right[0]}"
        if all(not HEADS.isdisjoint(own) for own in (left, right)) and len(left) == len(right) == 1 and folded(left[0]) != folded(right[0]):
            return f"{left[0]} / {right[0]}"
    if a.qualifier and b.qualifier and a.base == b.base and not _may_agree(a.qualifier, b.qualifier):
        return f"{a.qualifier[:30]} / {b.qualifier[:30]}"
    if bool(left) != bool(right):
        extra = left or right
        if states := state_words().intersection(extra):
            return f"{min(states)} only once"
        longer = a.core if left else b.core
        if kind != "person" and len(extra) == 1 and len(extra[0]) == 1 and longer[-1] == extra[0] and extra[0].isalpha():
            return f"{extra[0]} only once"
    return ""


def _own(tokens: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    """The words that only this name has, repeats counted; a plural s does not count, nor link words."""
    theirs = Counter(token.removesuffix("s") for token in other)
    own = []
    for token in tokens:
        plain = token.removesuffix("s")
        if theirs[plain] > 0:
            theirs[plain] -= 1
        elif token not in LINKS or len(token) == 1:
            own.append(token)
    return own


def opposed(x: str, y: str) -> bool:
    """Whether two words say two things of one kind: opposites, members of a series, or one stem with opposed beginnings or endings."""
    places, others = opposed_words().get(x), opposed_words().get(y)
    if places and others and any(others.get(line, place) != place for line, place in places.items()):
        return True
    short, long = sorted((x, y), key=len)
    if len(short) >= 4 and long.endswith(short) and long[: -len(short)] in denials():
        return True
    if len(short) < 5:
        return False
    end, start = _shared(x[::-1], y[::-1]), _shared(x, y)
    return any((x[:-size], y[:-size]) in opposed_beginnings() for size in range(3, end + 1)) or any(
        (x[size:], y[size:]) in opposed_endings() for size in range(3, start + 1)
    )


def _shared(x: str, y: str) -> int:
    """How many letters two words begin with alike."""
    return next((at for at, (one, other) in enumerate(zip(x, y, strict=False)) if one != other), min(len(x), len(y)))


def _may_agree(x: str, y: str) -> bool:
    """Whether two qualifiers may be one: a shared word, an abbreviation ("OR" / "Oregon"), a beginning."""
    if set(x.split()) & set(y.split()) - LINKS:
        return True
    short, long = sorted((x.replace(" ", ""), y.replace(" ", "")), key=len)
    initials = "".join(word[0] for word in (x if len(x) > len(y) else y).split())
    return long.startswith(short[:3]) or (len(short) <= 3 and long[0] == short[0]) or short == initials


def _form(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """The first form that joins two names between which nothing stands."""
    if kind not in NO_PEOPLE and (found := _initials(a.core, b.core)):
        return NameVerdict("likely", found)
    bare = without_legal(a.core), without_legal(b.core)
    if bare != (a.core, b.core) and bare[0] == bare[1]:
        return NameVerdict("sure", LEGAL_FORM)
    if not _CONJUNCTIONS.isdisjoint(a.core) or not _CONJUNCTIONS.isdisjoint(b.core):
        joined = [[word for word in core if word not in _CONJUNCTIONS] for core in bare]
        if joined[0] == joined[1]:
            return NameVerdict("sure", SPACING)
    return (
        _nickname(a, b, kind) or _order(a, b, kind) or _in_brackets(a, b, kind) or _head(a, b, kind) or _part(a, b, kind)
        or _other_script(a, b) or _spelling(a, b, kind)
    )


def _initials(a: tuple[str, ...], b: tuple[str, ...]) -> str | None:
    """ "J Smith" / "John Smith", "J R R Tolkien" / "John Ronald Reuel Tolkien", "John B Smith" / "John Smith"."""
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-1] or len(a[-1]) < 2:
        return None
    if len(a) == len(b):
        fits = all(x == y or (1 in (len(x), len(y)) and x[0] == y[0]) for x, y in zip(a, b, strict=True))
        return INITIALS if fits else None
    short, long = sorted((a, b), key=len)
    extra = long[1:-1]
    plain = short == (long[0], long[-1]) and all(len(t) == 1 for t in extra)
    return INITIALS if plain and extra else None


def _nickname(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """ "Bill Clinton" / "William Jefferson Clinton", and middle names that only one has."""
    x, y = sorted((a.core, b.core), key=len)
    if kind in NO_PEOPLE or len(x) < 2 or x[-1] != y[-1] or len(x[-1]) < 2 or any(word in LINKS - PARTICLES for word in (*x, *y)):
        return None
    known = given_names()
    first, other = known.get(x[0], frozenset((x[0],))), known.get(y[0], frozenset((y[0],)))
    called = x[0] == y[0] or bool(first & other) or x[0] in (a.nickname, b.nickname)
    middle, rest = x[1:-1], list(y[1:-1])
    for word in middle:
        # George W. and George H. W. are two
        if not rest or not (rest[0] == word or (1 in (len(word), len(rest[0])) and rest[0][0] == word[0])):
            return None
        del rest[0]
    if not called or len(rest) > 2 or (x[0] == y[0] and (kind != "person" and not _is_given(x[0]))):
        return None
    return NameVerdict("likely", MIDDLE if x[0] == y[0] else NICKNAME)


def _is_given(word: str) -> bool:
    return word in given_names()


def _order(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """The same words in another order: "Smith, John", "World Cup 2018", "Oda Nobunaga", "University of X"."""
    x, y = a.core, b.core
    if not LINKS.issuperset(set(x) ^ set(y)):
        return None
    if any(word in _DIRECTED for word in (*x, *y)):
        return None
    plain = tuple(w for w in x if w not in LINKS), tuple(w for w in y if w not in LINKS)
    if len(plain[0]) < 2 or sorted(plain[0]) != sorted(plain[1]):
        return None
    if plain[0] == plain[1]:
        return NameVerdict("likely", SPACING) if len(plain[0]) > 1 else None
    turned = any(plain[0][at:] + plain[0][:at] == plain[1] for at in range(1, len(plain[0])))
    moved = [word for word in plain[0] if any(c.isdigit() for c in word)]
    if moved and tuple(w for w in plain[0] if w not in moved) == tuple(w for w in plain[1] if w not in moved):
        return NameVerdict("sure", ORDER)
    if a.comma != b.comma and turned:
        return NameVerdict("sure", ORDER)
    if not turned or not (a.is_proper and b.is_proper):
        return None
    if ("of" in x) != ("of" in y):  # the University of Washington is not Washington University
        return NameVerdict("unlikely" if not INSTITUTIONS.isdisjoint(plain[0]) else "likely", ORDER)
    if kind == "person" or (len(plain[0]) == 2 and (kind in ("", "thing") or not HEADS.isdisjoint((plain[0][0], plain[1][0])))):
        return NameVerdict("likely", ORDER)
    return None


def _in_brackets(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """ "Burma" / "Myanmar (Burma)", "Ruby" / "Ruby (programming language)", "Boston, MA" / "Boston, Massachusetts"."""
    if a.qualifier and b.qualifier:
        return NameVerdict("likely", QUALIFIER) if a.base == b.base else None
    x, y = (a, b) if b.qualifier else (b, a)
    if not y.qualifier or GENERIC.issuperset(x.tokens):
        return None
    if x.identity == y.qualifier and not y.comma:
        return NameVerdict("likely", IN_BRACKETS)
    if tuple(x.identity.split()) == y.base and (not y.comma or kind == "place"):
        return NameVerdict("likely", QUALIFIER)
    return None


def _head(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """ "Kenya" / "Republic of Kenya", "Toronto" / "City of Toronto"."""
    if kind in ("person", "work"):
        return None
    x, y = sorted((a.core, b.core), key=len)
    at = len(y) - len(x)
    if at < 2 or y[at - 1] != "of" or y[at:] != x or not all(word in _STATES_OF for word in y[: at - 1]):
        return None
    return NameVerdict("likely", QUALIFIER)


def _part(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """One name is the beginning or the end of the other, and what is added is no "of ..." and no possessive.

    "Mrs. Cratchit" may be anybody's wife: a woman's title with a bare surname is no part of "Bob Cratchit"."""
    shorter, longer = (a, b) if len(a.core) <= len(b.core) else (b, a)
    if shorter.gender == "w" and longer.gender != "w":
        return None
    short, long = shorter.core, longer.core
    n, more = len(short), len(long) - len(short)
    if more < 1 or more > 3 or sum(map(len, short)) < 3 or short[0] in LINKS or GENERIC.issuperset(short):
        return None
    if long[:n] == short:
        extra = long[n:]
    elif long[-n:] == short:
        extra = long[:-n]
    else:
        return None
    other = any(t in LINKS and t not in PARTICLES for t in extra) or extra[-1] in HEADS
    if other or any(t.endswith("s") and t[:-1] in short for t in extra):
        return None
    return NameVerdict("likely" if n > 1 and kind == "person" else "unlikely", SUBSET)


def _other_script(a: NameForm, b: NameForm) -> NameVerdict | None:
    """Equal letters once both are written in Latin ones."""
    if is_latin(a.identity) == is_latin(b.identity) or min(len(a.compact), len(b.compact)) < 2:
        return None
    x, y = latin_sound(a.compact), latin_sound(b.compact)
    if min(len(x), len(y)) < 3:
        return None
    if x == y:
        return NameVerdict("sure" if len(x) > 4 and not _HAN.search(a.identity + b.identity) else "likely", SCRIPT)
    from rapidfuzz.distance import OSA

    return NameVerdict("likely", SCRIPT) if len(x) >= 6 and x[0] == y[0] and OSA.distance(x, y, score_cutoff=1) <= 1 else None


def is_latin(text: str) -> bool:
    """Whether all letters of a text are Latin ones."""
    return text.isascii() or not any(c > "\u024f" and c.isalpha() for c in text)


_HAN = re.compile("[\u3400-\u9fff]")  # several names are read alike


def in_latin(text: str) -> str:
    """A text in Latin letters, case-folded."""
    from anyascii import anyascii

    return anyascii(text).casefold()


_SOUNDS = (
    ("shch", "s"), ("tch", "c"), ("tsch", "c"), ("sch", "s"), ("ch", "c"), ("sh", "s"), ("kh", "h"), ("zh", "z"), ("ph", "f"), ("ts", "c"),
    ("tz", "c"), ("iy", "i"), ("yi", "i"), ("iya", "ia"), ("y", "i"), ("j", "i"), ("w", "v"), ("x", "ks"), ("h", ""), ("ou", "u"),
    ("q", "k"),
)


def latin_sound(text: str) -> str:
    """A name as it sounds in Latin letters, roughly: transliterated, without what ways of transliterating differ in."""
    plain = "".join(c for c in in_latin(text) if c.isalnum())
    plain = _replaced(plain, _SOUNDS)
    return "".join(c for index, c in enumerate(plain) if index == 0 or c != plain[index - 1])


def _spelling(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """Spacing ("Black Smith" / "Blacksmith"), plural, a variant of spelling, or one edit from 6 letters, two from 12."""
    from rapidfuzz.distance import DamerauLevenshtein

    x, y = a.compact, b.compact
    if x == y:
        return NameVerdict("sure", SPACING)
    is_code = a.is_identifier or b.is_identifier
    if abs(len(x) - len(y)) > 4 or x[0] != y[0]:
        return NameVerdict("likely", PLURAL) if kind not in KINDS and not is_code and is_plural(a.core, b.core) else None
    if kind == "organization" and _lost_letter(*sorted((x, y), key=len)):
        return NameVerdict("likely", SPELLING)
    if is_plural(a.core, b.core) or is_plural((x,), (y,)):
        of_letters = a.letters and b.letters and is_spelled_out(min(x, y, key=len).upper())
        return None if is_code or of_letters or kind in KINDS or min(len(x), len(y)) < 3 else NameVerdict("likely", PLURAL)
    if min(len(x), len(y)) > 3 and not is_code and abs(len(x) - len(y)) < 4 and _spelled_alike(x, y):
        return NameVerdict("sure", VARIANT)
    if is_code or min(len(x), len(y)) < 6 or x[0] != y[0] or abs(len(a.core) - len(b.core)) > 1 or abs(len(x) - len(y)) > 4:
        return None
    if len(a.core) != len(b.core) and any(len(word) == 1 for word in (*a.core, *b.core)):
        return None
    # two words of a language are rather two than a slip of the pen
    slip: Certainty = "likely" if a.is_proper and b.is_proper else "unlikely"
    if folded(x) == folded(y):
        doubled = _DOUBLED.sub(r"\1", x) == _DOUBLED.sub(r"\1", y)
        return NameVerdict("sure" if doubled and slip == "likely" and kind != "person" else slip, VARIANT)
    changed = _changed(a.core, b.core)
    if any(opposed(word, other) for word, other in changed):
        return None
    allowed = 2 if min(len(x), len(y)) >= 12 else 1
    near = DamerauLevenshtein.distance(x, y, score_cutoff=allowed) <= allowed
    # short words that differ are rather two words ("Mary Ann" / "Mark Ann") than a slip of the pen
    two_words = any(len(shorter) < 5 for _, shorter in changed)
    return NameVerdict(slip, SPELLING) if near and not two_words else None


_DOUBLED = re.compile(r"(.)\1+")
_PLURAL_ENDS = (
    ("", "s"), ("", "es"), ("y", "ies"), ("is", "es"), ("um", "a"), ("on", "a"), ("us", "i"), ("ix", "ices"), ("ex", "ices"), ("f", "ves"),
    ("fe", "ves"), ("a", "ae"),
)


def is_plural(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two names differ in their last word only, and there in one and many."""
    if len(a) != len(b) or tuple(a[:-1]) != tuple(b[:-1]) or a[-1] == b[-1]:
        return False
    known = singular_of()
    for one, many in ((a[-1], b[-1]), (b[-1], a[-1])):
        if known.get(many) == one or any(
            many.endswith(end) and one.endswith(start) and len(one) - len(start) >= 2 and one[: len(one) - len(start)] == many[: -len(end)]
            for start, end in _PLURAL_ENDS
        ):
            return True
    return False


_SPELLINGS = (
    (("ise", "ize"), ("isa", "iza"), ("yse", "yze"), ("our", "or"), ("tre", "ter"), ("ll", "l"), ("ae", "e"), ("oe", "e"), ("ogue", "og")),
    (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ß", "ss")),
)


def _spelled_alike(x: str, y: str) -> bool:
    """Whether only one is written with accents, or they differ in ways of spelling that are known (-ise / -ize, -our / -or, ö / oe)."""
    if not x.isascii() and not y.isascii():
        return False
    bare = [folded_accents(text) for text in (x, y)]
    return any(len({_replaced(text, rules) for text in bare}) == 1 for rules in ((), *_SPELLINGS))


def _lost_letter(short: str, long: str) -> bool:
    """Whether a name of five letters or more is written without one of its inner letters ("Goole" / "Google")."""
    if len(short) < 5 or len(long) != len(short) + 1 or not long.isalpha() or short[0] != long[0] or short[-1] != long[-1]:
        return False
    at = next((place for place, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at:] == long[at + 1:]


def _replaced(text: str, rules: Sequence[tuple[str, str]]) -> str:
    for old, new in rules:
        text = text.replace(old, new)
    return text


def folded_accents(text: str) -> str:
    """A text without accents."""
    return "".join(c for c in normal_form(text, "NFKD") if not unicodedata.combining(c))


def _changed(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[str, str]]:
    """The words in which two names differ, longer first; () where they have not the same number of words."""
    if len(a) != len(b):
        return []
    return [(x, y) if len(x) >= len(y) else (y, x) for x, y in zip(a, b, strict=True) if x != y]
