"""Surface forms: how two names can mean the same thing although they are written differently. Pure; no graph, no model.

The rules are cautious: a difference that usually means another thing (numbers, "North" / "South", "Mr." / "Mrs.",
"junior") forbids every form. Words of other languages are in the tables where they are common in names.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from kgeval.text.clean import normal_form
from kgeval.text.names import normalise
from kgeval.text.wordlists import word_set

MEN = word_set(
    "mr mister sir lord king prince master monsieur herr señor senor don father brother uncle emperor duke"
)
WOMEN = word_set(
    "mrs miss ms mme madame mademoiselle mlle lady queen princess frau fräulein señora senora señorita dame mother "
    "sister aunt empress duchess"
)
TITLES = word_set(
    "dr doctor prof professor president captain capt colonel col general gen major lieutenant lt sergeant sgt rev "
    "reverend judge senator governor mayor minister ambassador inspector detective pope bishop hon"
)
HONORIFICS = MEN | WOMEN | TITLES
SURNAME_TITLES = WOMEN - word_set("queen princess mother sister aunt empress dame")
SHORT_TITLES = {
    "mister": "mr", "doctor": "dr", "professor": "prof", "captain": "capt", "colonel": "col", "general": "gen",
    "lieutenant": "lt", "sergeant": "sgt", "reverend": "rev", "señor": "senor", "señora": "senora", "madame": "mme",
    "mademoiselle": "mlle",
}
LEGAL = word_set(
    "inc incorporated ltd limited llc plc corp corporation co company gmbh ag kg sa sas sarl bv nv oy ab spa srl sp "
    "zoo ооо оао пао ао"
)
LINKS = word_set(
    "of and for to in on at by with from or und für von der die das im et du des y e i и the a an & s vs versus"
)
PARTICLES = word_set(
    "de da di del della van von der den ten ter la le du ibn bin al el"
)
TELL_APART = word_set(
    "north south east west northern southern eastern western upper lower new old great greater little lesser young "
    "younger elder older jr sr junior senior first second third fourth fifth sixth seventh eighth ninth tenth "
    "eleventh twelfth last next former late ex pre post anti "
    "non sub half step fellow male female man woman men women boy girl son daughter wife husband widow nephew niece "
    "nord süd sud ost est ouest nouveau neu alt left right"
)
# Of TELL_APART: often half of one word ("fisher-men", "post-processing")
HALVES = word_set("man men woman women pre post anti non sub")
ROMAN = word_set(
    "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
)
# What is added to a name and makes it another thing ("Simon" / "Simon Estate"), and words that are no name by themselves.
HEADS = word_set(
    "town city village street road lane square bridge river lake sea bay cove rock rocks mount mountain mountains hill valley "
    "island islands house home hall hotel inn estate farm ranch palace castle tower church chapel cathedral school college "
    "university institute institution academy library museum hospital bank office station port harbour harbor market shop mine family "
    "people tribe indians language press council committee society association union party army navy company club foundation fund project "
    "license act law war battle treaty day eve night morning dinner song book journal newspaper herald times lights door bed room "
    "stadt straße haus fluss see berg ville rue maison rivière lac calle casa río гора улица река"
)
GENERIC = word_set(
    "man woman men women boy girl child children people person gentleman gentlemen lady king queen prince princess lord master "
    "mister sir doctor captain general colonel judge father mother brother sister uncle aunt son daughter clerk officer soldier "
    "soldiers friend friends spirit spirits ghost phantom stranger servant teacher student author president chief bank unit hospital "
    "school hotel house room door window street road city town village state church shop office company government war law "
    "sheikh sultan consul bishop governor doctor nurse narrator god world time life death bad poor small"
) | HEADS
NOTHING: frozenset[str] = frozenset()
NEGATIONS = ("in", "un", "non", "il", "im", "ir", "dis", "a", "anti", "de")

HONORIFIC, INITIALS, ACRONYM, LEGAL_FORM = "honorific", "initials", "acronym", "legal form"
SUBSET, SPACING, PLURAL, VARIANT, SPELLING = "token subset", "spacing", "plural", "spelling variant", "near spelling"


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name taken apart: normal form, all tokens, tokens without honorifics, and what must agree with another name.

    `letters`: the letters of a possible acronym, "" if it is none.
    """

    norm: str
    tokens: tuple[str, ...]
    core: tuple[str, ...]
    titles: frozenset[str]
    gender: str
    apart: frozenset[str]
    letters: str

    @property
    def compact(self) -> str:
        """The normal form without spaces."""
        return self.norm.replace(" ", "")


def form(name: str) -> NameForm:
    """The parts of one name (cut at 300 characters: no name is longer)."""
    norm = normalise(name[:300])
    tokens = tuple(norm.split())
    start = 0
    while start < len(tokens) - 1 and tokens[start] in HONORIFICS:
        start += 1  # the last token always stays: "Dr." alone is a name
    core = tokens[start:]
    titles = frozenset([SHORT_TITLES.get(t, t) for t in tokens[:start]]) or NOTHING
    # by far most names have neither titles nor digits: what is asked of a whole token costs a tenth of a look at each letter
    apart = frozenset([t for t in tokens if t in TELL_APART or t in ROMAN or (not t.isalpha() and any(c.isdigit() for c in t))])
    men, women = not titles.isdisjoint(MEN), not titles.isdisjoint(WOMEN)
    return NameForm(
        norm=norm, tokens=tokens, core=core, titles=titles, gender="m" if men else "w" if women else "",
        apart=apart or NOTHING,
        letters=_letters(name, tokens),
    )


def relation_of(a: NameForm, b: NameForm) -> str | None:
    """Which form joins two names, or None.

    Forms: honorific, initials, acronym, legal form, token subset, spacing, plural,
    spelling variant (equal once doubled letters, accents and the like are folded), near spelling (few edits).

    Symmetric. Names that are equal in normal form give None (that is a duplicate name, not another form), and so do
    names that differ in a word or number that tells things apart.
    """
    if not a.tokens or not b.tokens or a.norm == b.norm:
        return None
    if len(b.norm) < len(a.norm) or (len(b.norm) == len(a.norm) and b.norm < a.norm):
        a, b = b, a
    if a.letters and len(b.tokens) > 1 and a.letters in acronym_keys(b):
        return ACRONYM
    if a.gender and b.gender and a.gender != b.gender:
        return None
    if a.apart != b.apart:
        return SPACING if a.compact == b.compact and a.apart ^ b.apart <= HALVES else None
    if a.core == b.core:
        return _honorific(a, b)
    if initials := _initials(a.core, b.core):
        return initials
    bare = without_legal(a.core), without_legal(b.core)
    if bare != (a.core, b.core) and bare[0] == bare[1]:
        return LEGAL_FORM
    return _part(a, b) or _spelling(a, b)


def acronym_keys(item: NameForm) -> tuple[str, ...]:
    """The acronyms that could stand for a name of several words: with and without its link words; () otherwise."""
    words = [t for t in item.tokens if t not in HONORIFICS]
    if len(words) < 2 or len(words) > 12:
        return ()
    without = "".join(w[0] for w in words if w not in LINKS)
    return tuple(sorted({key for key in ("".join(w[0] for w in words), without) if len(key) >= 2}))


def _letters(name: str, tokens: tuple[str, ...]) -> str:
    """The letters of a name that may be an acronym ("CIA", "C.I.A."), case-folded; "" otherwise."""
    if len(tokens) > 1 and not all(len(t) == 1 for t in tokens):
        return ""
    letters = "".join(tokens)
    fits = 2 <= len(letters) <= 7 and letters.isalpha() and name.replace(".", "").strip().isupper()
    return letters if fits else ""


def _honorific(a: NameForm, b: NameForm) -> str | None:
    """Equal but for titles. A lone surname with other titles may be anybody of the family ("Dr. Hall" / "Mr. Hall")."""
    if len(a.core) == 1:
        if not (a.titles <= b.titles or b.titles <= a.titles) or a.core[0] in GENERIC:
            return None
        if a.titles != b.titles and (a.titles ^ b.titles) & SURNAME_TITLES:
            return None
    return HONORIFIC


def _initials(a: tuple[str, ...], b: tuple[str, ...]) -> str | None:
    """ "J Smith" / "John Smith", "J R R Tolkien" / "John Ronald Reuel Tolkien", "John B Smith" / "John Smith"."""
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-1] or len(a[-1]) < 2:
        return None
    if len(a) == len(b):
        pairs = list(zip(a, b, strict=True))
        fits = all(x == y or (1 in (len(x), len(y)) and x[0] == y[0]) for x, y in pairs)
        return INITIALS if fits else None
    short, long = sorted((a, b), key=len)
    extra = long[1:-1]
    plain = short == (long[0], long[-1]) and all(len(t) == 1 for t in extra)
    return INITIALS if plain and extra else None


def without_legal(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """A name's tokens without a company's legal form at the end; one token always stays, and two before one in single letters ("S.A."),
    which after a bare surname may be initials."""
    end = len(tokens)
    while end > 1 and (size := _legal_at(tokens[:end])):
        end -= size
    return tokens[:end]


def _legal_at(tokens: tuple[str, ...]) -> int:
    """How many tokens at the end are a legal form: one, or the two to four letters of one; 0 if none are."""
    if tokens[-1] in LEGAL:
        return 1
    if len(tokens[-1]) > 1:
        return 0
    sizes = (size for size in (4, 3, 2) if len(tokens) >= size + 2 and all(len(token) == 1 for token in tokens[-size:]))
    return next((size for size in sizes if "".join(tokens[-size:]) in LEGAL), 0)


def _part(a: NameForm, b: NameForm) -> str | None:
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
    return None if other or any(t.endswith("s") and t[:-1] in short for t in extra) else SUBSET


def _spelling(a: NameForm, b: NameForm) -> str | None:
    """Spacing ("Black Smith" / "Blacksmith"), plural, a variant of spelling, or one edit from 6 letters, two from 12."""
    from rapidfuzz.distance import DamerauLevenshtein

    x, y = a.compact, b.compact
    if x == y:
        return SPACING
    if y in (x + "s", x + "es") or (x.endswith("y") and y == x[:-1] + "ies"):
        return PLURAL if len(x) >= 3 else None
    if min(len(x), len(y)) < 6 or x[0] != y[0] or abs(len(a.core) - len(b.core)) > 1 or abs(len(x) - len(y)) > 4:
        return None
    if folded(x) == folded(y):
        return VARIANT
    if any(word in (n + other for n in NEGATIONS) for word, other in _changed(a.core, b.core)):
        return None
    allowed = 2 if min(len(x), len(y)) >= 12 else 1
    near = DamerauLevenshtein.distance(x, y, score_cutoff=allowed) <= allowed
    # short words that differ are rather two words ("Mary Ann" / "Mark Ann") than a slip of the pen
    two_words = any(len(shorter) < 5 for _, shorter in _changed(a.core, b.core))
    return SPELLING if near and not two_words else None


def folded(text: str) -> str:
    """A spelling without accents, doubled letters, ae / oe / ue, ph, silent h, and with s for z and c for k."""
    plain = "".join(c for c in normal_form(text, "NFKD") if not unicodedata.combining(c))
    for old, new in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("h", ""), ("z", "s"), ("k", "c")):
        plain = plain.replace(old, new)
    return "".join(c for index, c in enumerate(plain) if index == 0 or c != plain[index - 1])


def _changed(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[str, str]]:
    """The words in which two names differ, longer first; () where they have not the same number of words."""
    if len(a) != len(b):
        return []
    return [(x, y) if len(x) >= len(y) else (y, x) for x, y in zip(a, b, strict=True) if x != y]
