"""Are two names one thing? What joins them, what contradicts, and how sure that is. Pure; no graph, no model.

The rules are cautious: a difference that usually means another thing (a number, "North" / "South", "Mr." / "Mrs.", hyper- / hypo-, a sign
that carries meaning) forbids every form. How often each form was right is measured on pairs of names (tests/bench/names.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgeval.names.forms import (
    ALSO_WORDS,
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
    without_doubles,
    without_legal,
    without_marks,
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
from kgeval.text.wordlists import word_set

Certainty = Literal["sure", "likely", "unlikely", "apart"]
HONORIFIC, INITIALS, ACRONYM, LEGAL_FORM = "honorific", "initials", "acronym", "legal form"
SUBSET, SPACING, PLURAL, VARIANT, SPELLING = "token subset", "spacing", "plural", "spelling variant", "near spelling"
SAME, BRACKETS, QUANTITY, ORDER, NICKNAME = "same name", "acronym in brackets", "the same quantity", "order of words", "nickname"
MIDDLE, SCRIPT, IN_BRACKETS, NUMERAL = "middle name", "another script", "name in brackets", "the same number"
QUALIFIER = "qualifier"
# the shorter of two names that one of these joins may be short for other names, too
SHORT_FORMS = frozenset((ACRONYM, BRACKETS, SUBSET, INITIALS, MIDDLE, HONORIFIC, NICKNAME, QUALIFIER, IN_BRACKETS))
_LONG_LINKS = frozenset(word for word in LINKS if len(word) > 1)  # a lone letter is a vitamin's, too
_CONJUNCTIONS = frozenset(("and", "und", "et"))
_DIRECTED = word_set("from to by over against vs versus beats von nach contre kills eats bites")
_STATES_OF = word_set(
    "republic kingdom state city town commonwealth federal democratic people's peoples islamic principality grand duchy federation united "
    "province prefecture municipality county union"
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)
COMPOUNDS = word_set("north south east west northern southern eastern western half upper lower first last next second step")
ORGANIZATIONS = word_set("organization organisation group holding holdings corporation alliance association society international")
LEGAL_ALIKE = {"co": "company", "inc": "incorporated", "corp": "corporation", "ltd": "limited"}
LEGAL_WORDS = word_set("company co ab sa ag as spa sas limited kg sp se")
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
    if a.identity == b.identity:
        return NameVerdict("sure", SAME) if a.identity else NOTHING_JOINS
    if not a.tokens or not b.tokens:
        return NOTHING_JOINS
    if kind != "person" and (a.titles or b.titles) and (kind or not (a.is_proper and b.is_proper)):
        a, b = a.as_thing, b.as_thing
    if (len(a.norm), a.norm, a.identity) > (len(b.norm), b.norm, b.identity):
        a, b = b, a
    if a.norm == b.norm or (abs(len(a.identity) - len(b.identity)) < 4 and a.identity.translate(_SIGNS) == b.identity.translate(_SIGNS)):
        return _by_sign(a, b)
    numbers = (_by_date(a, b) or _by_quantity(a, b)) if a.apart and b.apart else None
    return numbers or _by_acronym(a, b) or _by_words(a, b, kind, thorough)


def _by_sign(a: NameForm, b: NameForm) -> NameVerdict:
    """Names that differ in signs only: 3.5 / 3 5, C / C#, .NET / Net, _private / private; Le Monde / Monde in an article."""
    words = a.identity.split(), b.identity.split()
    if {a.identity[:1], b.identity[:1]} & {"@", "#"} or words[0][1:] == words[1] or words[1][1:] == words[0]:  # a handle; an article
        return NameVerdict("likely", SPACING)
    if " ." in f" {a.identity} {b.identity}":
        return NameVerdict("apart", against="a sign that carries meaning")
    if a.compact.replace(".", "") == b.compact.replace(".", "") and not _has_digit(a.norm):
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
    return NameVerdict("sure", QUANTITY) if x == y else NameVerdict("apart", against="another number or unit")


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
    if not unit and not currency:  # a version, a code: 3.10 is not 3.1, and 007 not 7
        return None
    sign = re.sub(r"[$€£¥]", "", found[1]).replace("−", "-")
    return float(found[2]) * (scale or 1.0), unit_signs().get(unit or currency, ""), sign


def _by_acronym(a: NameForm, b: NameForm) -> NameVerdict | None:
    """One name is the acronym of the other, or stands beside its acronym in brackets; None where neither is."""
    if a.letters and a.letters == b.letters:  # UN, U.N.
        return NameVerdict("sure", SPACING)
    for x, y in ((a, b), (b, a)):
        if x.bracketed and y.letters and len(y.tokens) == 1:
            return NameVerdict("sure", BRACKETS) if x.bracketed == y.letters else NOTHING_JOINS
    for x, y in ((a, b), (b, a)):
        if x.letters and len(y.tokens) > 1 and x.letters in acronym_keys(y):
            return NameVerdict("likely" if len(x.letters) > 2 else "unlikely", ACRONYM)
    if a.bracketed and b.bracketed and a.bracketed != b.bracketed:
        return NameVerdict("apart", against="another acronym")
    if a.core == b.core and bool(a.bracketed) != bool(b.bracketed):
        return NameVerdict("sure", BRACKETS)
    return None


def _by_words(a: NameForm, b: NameForm, kind: str, thorough: bool) -> NameVerdict:
    if differ_in_gender(a, b):
        return NameVerdict("apart", against="titles of a man and a woman")
    differ = a.apart ^ b.apart
    if differ:
        if a.compact == b.compact and (differ <= HALVES or (any(map(_has_digit, a.tokens)) and _runs(a.tokens) == _runs(b.tokens))):
            return NameVerdict("sure", SPACING)
        if a.compact == b.compact and differ <= COMPOUNDS:
            return NameVerdict("likely", SPACING)
        if (found := _in_brackets(a, b, kind)) is not None and not (b.qualifier or a.qualifier).replace(" ", "").isdigit():
            return found
        if (a.apart and b.apart) or any(map(_has_digit, differ)):
            return NameVerdict("apart", against=f"told apart by {', '.join(sorted(differ))[:60]}")
        return NOTHING_JOINS
    if a.core == b.core:
        return _equal_cores(a, b, kind)
    joined = _form(a, b, kind)
    if joined is None and not thorough:
        return NOTHING_JOINS
    if against := contradiction(a, b, kind):
        return NameVerdict("apart", against=against)
    return joined or NOTHING_JOINS


def _has_digit(word: str) -> bool:
    return any(c.isdigit() for c in word)


def _runs(tokens: Sequence[str]) -> list[str]:
    """The numbers of a name, and the letters between them: GPT-4 and GPT4 have the same, "1 11" and "11 1" have not."""
    runs: list[str] = []
    for token in tokens:
        for piece in re.findall(r"\d+|\D+", token):
            if runs and not runs[-1][-1].isdigit() and not piece[0].isdigit():
                runs[-1] += piece
            else:
                runs.append(piece)
    return runs


def _equal_cores(a: NameForm, b: NameForm, kind: str) -> NameVerdict:
    """Equal but for titles, a nickname between them, or numbers in another writing. A lone surname with other titles may be anybody of the
    family ("Dr. Hall" / "Mr. Hall")."""
    if a.nickname and b.nickname and a.nickname != b.nickname:
        return NOTHING_JOINS
    if a.titles == b.titles:
        return NameVerdict("sure", NICKNAME if a.nickname != b.nickname else HONORIFIC if a.titles else NUMERAL)
    if len(a.core) == 1:
        if not (a.titles <= b.titles or b.titles <= a.titles) or a.core[0] in GENERIC:
            return NameVerdict("unlikely", against="other titles before a surname")
        if (a.titles ^ b.titles) & SURNAME_TITLES:
            return NameVerdict("unlikely", against="a woman's title before a surname")
        return NameVerdict("likely" if kind == "person" or not _are_words(a, b) else "unlikely", HONORIFIC)
    return NameVerdict("sure" if kind == "person" or not _are_words(a, b) else "likely", HONORIFIC)


def _are_words(a: NameForm, b: NameForm) -> bool:
    """Whether a title of one name may be a word of it: Captain America, Prince Edward Island."""
    return any(not ALSO_WORDS.isdisjoint(name.tokens[: len(name.tokens) - len(name.core)]) for name in (a, b))


def differ_in_gender(a: NameForm, b: NameForm) -> bool:
    """Whether one name has the title of a man and the other that of a woman."""
    return bool(a.gender and b.gender) and a.gender != b.gender


def are_told_apart(a: NameForm, b: NameForm) -> bool:
    """Whether two names that are near in spelling or meaning say two things: by words and numbers that must agree, by the gender of their
    titles, or by a contradiction."""
    return a.apart != b.apart or differ_in_gender(a, b) or bool(contradiction(a, b))


def contradiction(a: NameForm, b: NameForm, kind: str = "") -> str:
    """What says that two names are two things, "" if nothing does: opposites, members of one series, other single letters, two kinds of
    place or institution, a state that only one of them has."""
    left, right = _own(a.core, b.core), _own(b.core, a.core)
    if not left and not right and (turned := _numbers_turned(a.core, b.core)):
        return turned
    for x in left:
        for y in right:
            if opposed(x, y):
                return f"{x} / {y}"
    if left and right:
        singles = [word for word in (*left, *right) if len(word) == 1]
        if len(singles) > 1 and len(left) == len(right) == 1:
            return f"{left[0]} / {right[0]}"
        heads = len(left) == len(right) == 1 and left[0] in HEADS and right[0] in HEADS
        if heads and not _spelled_alike(left[0], right[0]) and folded(left[0]) != folded(right[0]):
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


def _numbers_turned(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    """The numbers of the same words, where they stand in another order: season 2 episode 3 / season 3 episode 2."""
    x, y = ([word for word in core if _has_digit(word)] for core in (a, b))
    return f"{' '.join(x)} / {' '.join(y)}"[:60] if len(x) > 1 and x != y and sorted(x) == sorted(y) else ""


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
    # "hepatitis E virus" is no person
    whole = kind == "person" or len(a.core) == len(b.core) or (a.is_proper and b.is_proper)
    if kind not in NO_PEOPLE and whole and (found := _initials(a.core, b.core)):
        return NameVerdict("likely", found)
    bare = without_legal(a.core, letters=kind == "organization"), without_legal(b.core, letters=kind == "organization")
    if kind in ("", "thing", "organization") and bare != (a.core, b.core) and bare[0] == bare[1]:
        return _by_legal_form(a, b, kind)
    if not _CONJUNCTIONS.isdisjoint(a.core) or not _CONJUNCTIONS.isdisjoint(b.core):
        joined = [[word for word in core if word not in _CONJUNCTIONS] for core in bare]
        if joined[0] == joined[1]:
            return NameVerdict("sure", SPACING)
    return (
        _nickname(a, b, kind) or _order(a, b, kind) or _in_brackets(a, b, kind) or _head(a, b, kind) or _part(a, b, kind)
        or _other_script(a, b) or _spelling(a, b, kind)
    )


def _by_legal_form(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """A company with and without its legal form. Elsewhere "company" and "AB" are words: an oil company is no oil."""
    if LEGAL_ALIKE.get(a.core[-1], a.core[-1]) == LEGAL_ALIKE.get(b.core[-1], b.core[-1]):  # Co., Company
        return NameVerdict("sure", LEGAL_FORM)
    if all(without_legal(name.core, letters=True) != name.core for name in (a, b)):  # Porsche AG is not Porsche SE
        return NameVerdict("likely", LEGAL_FORM) if kind == "organization" or (a.is_proper and b.is_proper) else None
    if kind == "organization":
        return NameVerdict("sure", LEGAL_FORM)
    if not a.is_proper or not b.is_proper or kind == "thing":
        return None
    ending = (a if without_legal(a.core) != a.core else b).core[-1]
    return NameVerdict("likely" if ending in LEGAL_WORDS else "sure", LEGAL_FORM)


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
    if not _LONG_LINKS.issuperset(set(x) ^ set(y)):
        return None
    if any(word in _DIRECTED for word in (*x, *y)):
        return None
    plain = tuple(w for w in x if w not in _LONG_LINKS), tuple(w for w in y if w not in _LONG_LINKS)
    if len(plain[0]) < 2 or sorted(plain[0]) != sorted(plain[1]):
        return None
    if plain[0] == plain[1]:
        return NameVerdict("likely", SPACING)
    turned = any(plain[0][at:] + plain[0][:at] == plain[1] for at in range(1, len(plain[0])))
    moved = [word for word in plain[0] if _has_digit(word)]
    if len(moved) == 1 and tuple(w for w in plain[0] if w not in moved) == tuple(w for w in plain[1] if w not in moved):
        return NameVerdict("sure", ORDER)
    if a.comma != b.comma and turned:
        return NameVerdict("sure", ORDER)
    if not turned or not (a.is_proper and b.is_proper):
        return None
    if ("of" in x) != ("of" in y):  # the University of Washington is not Washington University
        return NameVerdict("unlikely" if not INSTITUTIONS.isdisjoint(plain[0]) else "likely", ORDER)
    if kind == "person":  # Henry James is not James Henry
        both_given = all(_is_given(word) for word in plain[0])
        return NameVerdict("unlikely" if both_given else "likely", ORDER)
    if len(plain[0]) == 2 and not HEADS.isdisjoint((plain[0][0], plain[1][0])):
        return NameVerdict("likely", ORDER)
    return NameVerdict("unlikely", ORDER) if len(plain[0]) == 2 and kind in ("", "thing") else None


def _in_brackets(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """ "Burma" / "Myanmar (Burma)", "Ruby" / "Ruby (programming language)", "Boston, MA" / "Boston, Massachusetts"."""
    if a.qualifier and b.qualifier:
        short = max(len(name.qualifier.split()) for name in (a, b)) <= 3 and (not (a.comma or b.comma) or kind in ("", "place"))
        return NameVerdict("likely", QUALIFIER) if a.base == b.base and short else None
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
    if kind == "organization" and n and ORGANIZATIONS.issuperset(extra) and long[:n] == short:
        return NameVerdict("likely", SUBSET)
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
    ("shch", "w"), ("tsch", "c"), ("tch", "c"), ("sch", "w"), ("ch", "c"), ("sh", "w"), ("kh", "k"), ("zh", "j"), ("ph", "f"), ("ts", "z"),
    ("tz", "z"), ("iy", "i"), ("yi", "i"), ("iya", "ia"), ("y", "i"), ("x", "ks"), ("h", ""), ("ou", "u"), ("q", "k"),
)


def latin_sound(text: str) -> str:
    """A name as it sounds in Latin letters, roughly: transliterated, without what ways of transliterating differ in."""
    plain = "".join(c for c in in_latin(text) if c.isalnum())
    for old, new in _SOUNDS:
        plain = plain.replace(old, new)
    return without_doubles(plain)


def _spelling(a: NameForm, b: NameForm, kind: str) -> NameVerdict | None:
    """Spacing ("Black Smith" / "Blacksmith"), plural, a variant of spelling, or one edit from 6 letters, two from 12."""
    from rapidfuzz.distance import DamerauLevenshtein

    x, y = a.compact, b.compact
    if x == y:
        return NameVerdict("sure", SPACING)
    is_code = a.is_identifier or b.is_identifier
    if abs(len(x) - len(y)) > 4 or folded_accents(x)[:1] != folded_accents(y)[:1]:
        return NameVerdict("likely", PLURAL) if kind not in KINDS and not is_code and is_plural(a.core, b.core) else None
    if kind == "organization" and _lost_letter(*sorted((x, y), key=len)):
        return NameVerdict("likely", SPELLING)
    if is_plural(a.core, b.core) or is_plural((x,), (y,)):
        of_letters = a.letters and b.letters and is_spelled_out(min(x, y, key=len).upper())
        return None if is_code or of_letters or kind in KINDS or min(len(x), len(y)) < 3 else NameVerdict("likely", PLURAL)
    if not is_code and len(a.core) == len(b.core):
        pairs = [(one, other) for one, other in zip(a.core, b.core, strict=True) if one != other]
        if all(_spelled_alike(one, other) for one, other in pairs):
            return NameVerdict(_certain_of_spelling(a, b, pairs, kind), VARIANT)
    if is_code or min(len(x), len(y)) < 6 or x[0] != y[0] or abs(len(a.core) - len(b.core)) > 1:
        return None
    if len(a.core) != len(b.core) and any(len(word) == 1 for word in (*a.core, *b.core)):
        return None
    # two words of a language are rather two than a slip of the pen
    slip: Certainty = "likely" if a.is_proper and b.is_proper and kind != "person" else "unlikely"
    if set(a.core) < set(b.core) or set(b.core) < set(a.core):  # a word more is no slip
        return None
    if folded(x) == folded(y):
        if kind == "person":
            return NameVerdict("likely", VARIANT)
        doubled = without_doubles(x) == without_doubles(y)
        named = kind in KINDS and len(a.core) == len(b.core) == 1 and not (a.letters or b.letters)
        return NameVerdict("sure" if doubled and slip == "likely" and named else slip, VARIANT)
    changed = _changed(a.core, b.core)
    if any(opposed(word, other) for word, other in changed):
        return None
    allowed = 2 if min(len(x), len(y)) >= 12 else 1
    near = DamerauLevenshtein.distance(folded_accents(x), folded_accents(y), score_cutoff=allowed) <= allowed
    # short words that differ are rather two words ("Mary Ann" / "Mark Ann") than a slip of the pen
    two_words = any(len(shorter) < 5 for _, shorter in changed)
    return NameVerdict(slip, SPELLING) if near and not two_words else None


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


# British and American ways, at the end of a word or in a stem that has no other meaning
_BRITISH = tuple((re.compile(pattern), into) for pattern, into in (
    (r"(?<=\w\w)our(?=(?:s|ed|ing|ful|less|able|ite|al|er|ers|hood|y)?$)", "or"),
    (r"(?<=\w\w\w\w)is(?=(?:e|ed|es|ing|er|ers|ation|ations|ational)$)", "iz"), (r"(?<=\w\w)ys(?=(?:e|ed|es|ing|er|ers)$)", "yz"),
    (r"(?<=\w\w)tre(?=s?$)", "ter"), (r"(?<=\w\w\w)ogue(?=s?$)", "og"), (r"(?<=\w\w[aeiou])ll(?=(?:ed|ing|er|ers|ation|ous)$)", "l"),
    (r"(?<=\w)ae(?=m|d|o|s|c|t|r|i|v|g)|^ae(?=s|t|r|g)", "e"), (r"^oe(?=d|s|n)|^foe(?=t)|(?<=\w\w)oe(?=a|i|d|s|n|b|m)", "e"),
    (r"(?<=sul)ph", "f"), (r"ageing$", "aging"), (r"^enquir", "inquir"), (r"(?<=en|el|is|am)c(?=e$)", "s"),
))
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa"})
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})


def _spelled_alike(x: str, y: str) -> bool:
    """Whether two words are one in two ways of spelling: with accents or without, ö or oe, British or American."""
    if x.isascii() != y.isascii():
        marked, plain = (y, x) if x.isascii() else (x, y)
        return plain in (folded_accents(marked), folded_accents(marked.translate(_UMLAUTS)))
    if x.isascii() and len(x) > 4 and len(y) > 4:
        return _american(x) == _american(y)
    return not x.isascii() and not y.isascii() and x.translate(_UMLAUTS) == y.translate(_UMLAUTS)


def spelling_key(words: Sequence[str]) -> str:
    """What two names have in common that differ in accents or in British and American spelling only."""
    return "".join(_american(word if word.isascii() else folded_accents(word)) for word in words)


def _american(word: str) -> str:
    for pattern, into in _BRITISH:
        word = pattern.sub(into, word)
    return word


def _certain_of_spelling(a: NameForm, b: NameForm, pairs: Sequence[tuple[str, str]], kind: str) -> Certainty:
    """How sure a way of spelling is. An accent makes two words of common ones: Kuchen, Küchen."""
    by_accent = any(one.isascii() != other.isascii() for one, other in pairs)
    if not by_accent:
        return "sure" if kind != "person" else "likely"
    if not (a.is_proper and b.is_proper):
        return "unlikely"
    return "sure" if kind in KINDS or len(a.core) > 1 else "likely"


def _lost_letter(short: str, long: str) -> bool:
    """Whether a name of five letters or more is written without one of its inner letters ("Goole" / "Google")."""
    if len(short) < 5 or len(long) != len(short) + 1 or not long.isalpha() or short[0] != long[0] or short[-1] != long[-1]:
        return False
    at = next((place for place, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at:] == long[at + 1:]


def folded_accents(text: str) -> str:
    """A text without accents, and with the letters of other alphabets of Latin letters (ø, ł, æ) as those that are nearest."""
    return without_marks(text.translate(_LETTERS))


def _changed(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[str, str]]:
    """The words in which two names differ, longer first; () where they have not the same number of words."""
    if len(a) != len(b):
        return []
    return [(x, y) if len(x) >= len(y) else (y, x) for x, y in zip(a, b, strict=True) if x != y]
