"""A name taken apart: its identity, its words, titles and legal form, what must agree with another name, letters of an acronym.

Pure; no graph, no model. Words of other languages are in the tables where they are common in names.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from kgeval.names.tables import counted_words, kind_words, month_words, number_words, spelled_out, written_out
from kgeval.text.clean import normal_form
from kgeval.text.names import ARTICLES, normalise
from kgeval.text.signs import identity_key
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
# which of these begin names of things, too: General Electric, GENERAL FILLING MATERIAL, Queen's Hall, Major League
ALSO_WORDS = word_set(
    "king prince master father brother uncle emperor duke lady queen princess mother sister aunt empress doctor general major captain "
    "judge senator governor mayor minister ambassador detective pope bishop president professor lord don dame"
)
SURNAME_TITLES = WOMEN - word_set("queen princess mother sister aunt empress dame")
SHORT_TITLES = {
    "mister": "mr", "doctor": "dr", "professor": "prof", "captain": "capt", "colonel": "col", "general": "gen",
    "lieutenant": "lt", "sergeant": "sgt", "reverend": "rev", "señor": "senor", "señora": "senora", "madame": "mme",
    "mademoiselle": "mlle",
}
LEGAL = word_set(
    "inc incorporated ltd limited llc plc corp corporation co company gmbh ag kg se sa sas sarl bv nv oy ab as kk spa srl pty pvt sp "
    "aktiengesellschaft "
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
ROMAN = word_set("ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx v x")
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
LONGEST = 300  # characters of a name that are looked at
_ROMAN = re.compile(r"\b(?=[IVXLC]{2})C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# as numbers also where letters are small, or all of them capital: nothing else is written so
_NUMBERS_ONLY = word_set("ii iii iv vii viii ix xii xiii xiv xvi xvii xviii xix xxi xxii xxiii xxiv")
_VERSUS = re.compile(r"\sv\.?\s")
_STAGE = re.compile(r"(i{1,3}|iv|v)([abc])")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_BRACKETS = re.compile(r"(.*[^\s(])\s*[(\[（]([^()\[\]（）]+)[)\]）]\s*", re.DOTALL)
_SUBTITLE = re.compile(r"(.+?)(?:;\s+or\b|,?\s+or[,:;])[,:]?\s+(.+)", re.DOTALL)  # "Frankenstein; or, The Modern Prometheus"
_QUOTED = re.compile("(?<=\\w )[\"“”«»'‘(]([^\\W\\d_]{2,12})[\"“”«»'’)](?= \\w)")
_IDENTIFIER = re.compile(r"[^\W\d_]*[a-z][A-Z]\w*|[^\W_]+(?:_+[^\W_]+)+|\w+(?:(?:\.|::)\w+)*\(\)|\w+(?:::\w+)+|_+\w+")
_DOUBLED = re.compile(r"(.)\1+")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name taken apart.

    `norm`: its normal form, under which it is stored; `identity`: the same with the signs that carry meaning. `tokens`: all words.
    `core`: those without titles before them, a nickname in quotation marks, and an acronym that stands in brackets beside the name;
    numbers in words, Roman ones and ordinals are digits there. `apart`: words and numbers that must agree with another name. `letters`: of
    an acronym that the name may be, "" if it is none; `bracketed`: of the acronym beside the name. `qualifier`: what stands in brackets or
    behind a comma (`comma`), where it is no acronym, and `base` what stands before. `is_proper`: no word begins with a small letter.
    """

    norm: str
    identity: str
    tokens: tuple[str, ...]
    core: tuple[str, ...]
    titles: frozenset[str]
    gender: str
    apart: frozenset[str]
    letters: str
    bracketed: str = ""
    nickname: str = ""
    base: tuple[str, ...] = ()
    qualifier: str = ""
    comma: bool = False
    is_identifier: bool = False
    is_proper: bool = True

    @property
    def as_thing(self) -> NameForm:
        """The same, read as the name of a thing: words that are also titles belong to it."""
        if not self.titles or ALSO_WORDS.isdisjoint(self.tokens[: len(self.tokens) - len(self.core)]):
            return self
        core = (*self.tokens[: len(self.tokens) - len(self.core)], *self.core)
        return replace(self, core=core, titles=NOTHING, gender="", apart=told_apart_by(core))

    @property
    def compact(self) -> str:
        """All words without spaces."""
        return "".join(self.tokens)


def form(name: str) -> NameForm:
    """The parts of one name (cut at 300 characters: no name is longer)."""
    rest, name = name[LONGEST:], name[:LONGEST]
    norm, identity = normalise(name), identity_key(name)
    if rest:  # two long texts are one where all of them is
        identity = f"{identity} {hashlib.sha256(normalise(rest).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    inner = nickname = bracketed = qualifier = ""
    base: tuple[str, ...] = ()
    shown, comma = name, False
    if not name.isalpha():  # most words: none of the signs that are looked for below
        if quoted := _QUOTED.search(name):
            nickname, shown = quoted[1].casefold(), f"{name[:quoted.start()]}{name[quoted.end() + 1:]}"
        if brackets := _BRACKETS.fullmatch(shown):
            outer, inner = brackets[1], brackets[2]
        elif subtitle := _SUBTITLE.fullmatch(shown):
            outer, inner = subtitle[1], subtitle[2]
        elif shown.count(",") == 1:
            outer, inner = shown.split(",")
            if inner.strip().casefold() in ARTICLES:  # "Tempest, The"
                shown, inner = outer, ""
            comma = bool(inner)
        if inner:
            if not comma and (letters := acronym_beside(outer, inner)):
                bracketed, shown = letters
            else:
                base, qualifier = tuple(identity_key(outer).split()), identity_key(inner)
        words = identity if shown is name and not rest else identity_key(shown)
    else:
        words = identity if not rest else norm
    tokens = tuple(words.split())
    if "v" in tokens and _VERSUS.search(name):
        tokens = tuple("versus" if word == "v" else word for word in tokens)
    start = 0
    while start < len(tokens) - 1 and tokens[start] in HONORIFICS:
        start += 1  # the last token always stays: "Dr." alone is a name
    core = tokens[start:]
    titles = frozenset([SHORT_TITLES.get(t, t) for t in tokens[:start]]) or NOTHING
    core = written_alike(core, romans_in(name)) if len(tokens) > 1 or not words.isascii() else tuple(spelled_out().get(t, t) for t in core)
    men, women = not titles.isdisjoint(MEN), not titles.isdisjoint(WOMEN)
    return NameForm(
        norm=norm, identity=identity, tokens=tokens, core=core, titles=titles, gender="m" if men else "w" if women else "",
        apart=told_apart_by(core), letters=_letters(name, tokens), bracketed=bracketed, nickname=nickname, base=base,
        qualifier=qualifier, comma=comma, is_identifier=is_identifier(name), is_proper=is_proper(name),
    )


def told_apart_by(core: tuple[str, ...]) -> frozenset[str]:
    """The words and numbers of a name that must agree with another one's."""
    # by far most names have no digits: what is asked of a whole word costs a tenth of a look at each letter
    return frozenset([t for t in core if t in TELL_APART or t in ROMAN or (not t.isalpha() and any(c.isdigit() for c in t))]) or NOTHING


def romans_in(name: str) -> frozenset[str]:
    """The words of a name that are Roman ciphers of two letters or more, case-folded: "II", but not "Xi" or the "LI" of "LI WEI"."""
    found = frozenset(cipher.casefold() for cipher in _ROMAN.findall(name))
    return found & _NUMBERS_ONLY if found and name.isupper() else found


def roman_value(cipher: str) -> int:
    """The number that a Roman cipher stands for."""
    values = [_ROMAN_VALUES[letter] for letter in cipher]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def written_alike(tokens: tuple[str, ...], romans: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words as all write them: numbers as digits (in words, Roman ciphers), ordinals with their mark, Greek letters by name,
    abbreviations in full. `romans`: those of the words that are ciphers."""
    if not romans and OTHERWISE.isdisjoint(tokens) and not any(t[0].isdigit() or (t[0] == "v" and t[1:2].isdigit()) for t in tokens):
        return tokens
    dated = any(t.isdigit() for t in tokens)
    out: list[str] = []
    for at, word in enumerate(tokens):
        last = at == len(tokens) - 1
        counted = at > 0 and tokens[at - 1] in counted_words()
        if word == "st":
            out.append("street" if at and last else "saint")
        elif word[0] == "v" and word[1:2].isdigit() and ("." in word or (at and tokens[at - 1] == "version")):
            out.append(word[1:])
        elif word in _GREEK:
            out.append(_GREEK[word])
        elif at and (word in romans or word in _NUMBERS_ONLY):
            out.append(str(roman_value(word)))
        elif counted and word in ("i", "v", "x"):
            out.append(str(_ROMAN_VALUES[word]))
        elif counted and (stage := _STAGE.fullmatch(word)):
            out.append(f"{roman_value(stage[1])}{stage[2]}")
        elif word in month_words():
            out.append(month_words()[word] if dated else word)
        elif (number := number_words().get(word)) is not None:
            tens = out[-1] if out else ""
            if len(tens) == 2 and tens[1] == "0" and tokens[at - 1] in number_words() and len(number.rstrip("sthndr")) == 1:
                out[-1] = tens[0] + number  # twenty-first
            else:
                out.append(number)
        else:
            out.append(written_out().get(word, word))
    return tuple(out)


_GREEK = {
    letter: unicodedata.name(letter).rsplit(" ", 1)[1].casefold().replace("lamda", "lambda") for letter in "αβγδεζηθικλμνξοπρστυφχψω"
}
OTHERWISE = frozenset((*_NUMBERS_ONLY, "st", *counted_words(), *_GREEK, *number_words(), *month_words(), *written_out()))
KINDS = ("person", "place", "organization", "work")


@lru_cache(maxsize=1_000)
def kind_of(type_: str | None) -> str:
    """What kind of thing a type's name says: person, place, organization, work; "thing" where it says none of these or several; "" for no
    type. Types are named by the users, in their language and often as one word: a long word for a kind is enough anywhere in it."""
    text = (type_ or "").casefold().replace("_", " ").replace("-", " ").strip()
    if not text:
        return ""
    words = text.split()
    found = [
        kind for kind, known in zip(KINDS, kind_words(), strict=True)
        if not known.isdisjoint(words) or any(word in text for word in known if len(word) > 5 or not word.isascii())
    ]
    return found[0] if len(found) == 1 else "thing"


def is_person(type_: str | None) -> bool:
    """Whether a type's name is a word for people."""
    return kind_of(type_) == "person"


def is_proper(name: str) -> bool:
    """Whether no word begins with a small letter but link words, legal forms, and words of two letters."""
    small = (word.replace(".", "") for word in name.split() if word.islower()) if not name.istitle() else ()
    return not any(len(word) > 2 and word not in LINKS and word not in LEGAL for word in small)


def is_identifier(name: str) -> bool:
    """Whether the whole name is written as code writes its names: camelCase, snake_case, f(), a::b."""
    if " " in name or (name.isalpha() and (name.isupper() or name.islower() or name.istitle())):
        return False
    return _IDENTIFIER.fullmatch(name) is not None


def is_spelled_out(name: str) -> bool:
    """Whether capitals are letters of an acronym rather than a word in capitals: "HTTP", not "CAMEL"."""
    return name.isupper() and (len(name) <= 3 or _VOWEL.search(name) is None)


def acronym_beside(outer: str, inner: str) -> tuple[str, str] | None:
    """The letters of the acronym, and the name in full, where of `outer (inner)` one is the acronym of the other."""
    for short, full in ((inner, outer), (outer, inner)):
        tokens = tuple(identity_key(full).split())
        letters = _letters(short, tuple(identity_key(short).split()))
        if letters and letters in acronyms_of(tokens):
            return letters, full
    return None


def acronym_keys(item: NameForm) -> tuple[str, ...]:
    """The acronyms that could stand for a name of several words (what stands in brackets behind it left out): with and without its link
    words and its legal form; () otherwise."""
    return acronyms_of(item.tokens if item.comma or not item.base else item.base)


def acronyms_of(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The acronyms that could stand for these words."""
    keys = set()
    words = [t for t in tokens if t not in HONORIFICS]
    for chosen in (words, list(without_legal(tuple(words)))):
        if 2 <= len(chosen) <= 12:
            parts = [(w if w in _NUMBERS_ONLY or w.isdigit() else w[0], w in LINKS) for w in chosen]
            keys |= {"".join(part for part, _ in parts), "".join(part for part, link in parts if not link)}
    return tuple(sorted(key for key in keys if len(key) >= 2))


def _letters(name: str, tokens: tuple[str, ...]) -> str:
    """The letters of a name that may be an acronym ("CIA", "C.I.A.", "NGOs"), case-folded; "" otherwise."""
    if len(tokens) > 1 and not all(len(t) == 1 for t in tokens):
        return ""
    letters = "".join(tokens)
    if name[:4].casefold() == "the ":
        name = name[4:]
    if len(letters) > 3 and letters[-1] == "s" and name.strip().endswith("s"):
        name, letters = name.strip()[:-1], letters[:-1]
    fits = 2 <= len(letters) <= 7 and letters[:2].isalpha() and letters.isalnum() and name.replace(".", "").strip().isupper()
    return letters if fits else ""


def without_legal(tokens: tuple[str, ...], *, letters: bool = False) -> tuple[str, ...]:
    """A name's tokens without a company's legal form at the end; one token always stays, and two before one in single letters ("S.A."),
    which after a bare surname may be initials (`letters`: they are none)."""
    end = len(tokens)
    while end > 1 and (size := _legal_at(tokens[:end], 1 if letters else 2)):
        end -= size
    return tokens[:end]


def _legal_at(tokens: tuple[str, ...], least: int) -> int:
    """How many tokens at the end are a legal form: one, or the two to four letters of one behind `least` tokens; 0 if none are."""
    if tokens[-1] in LEGAL:
        return 1
    if len(tokens[-1]) > 1:
        return 0
    sizes = (size for size in (4, 3, 2) if len(tokens) >= size + least and all(len(token) == 1 for token in tokens[-size:]))
    return next((size for size in sizes if "".join(tokens[-size:]) in LEGAL), 0)


def folded(text: str) -> str:
    """A spelling without accents, doubled letters, ae / oe / ue, ph, silent h, and with s for z and c for k."""
    plain = without_marks(text)
    for old, new in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("h", ""), ("z", "s"), ("k", "c")):
        plain = plain.replace(old, new)
    return without_doubles(plain)


def without_marks(text: str) -> str:
    """A text without the marks on its letters."""
    return text if text.isascii() else "".join(c for c in normal_form(text, "NFKD") if not unicodedata.combining(c))


def without_doubles(text: str) -> str:
    """A text, each letter once where it stands several times in a row."""
    return _DOUBLED.sub(r"\1", text)


def spelling_keys(compact: str) -> Iterator[str]:
    """The keys under which a name, written as one word, meets other spellings: as it is, in the singular, and both its halves."""
    yield from (f"c:{key}" for key in dict.fromkeys(_singulars(compact)))
    if len(compact) < 6:
        return
    # one wrong letter leaves one half as it is; one letter more or less moves the middle, so both middles are keys
    for half in sorted({len(compact) // 2, (len(compact) - 1) // 2}):
        yield f"p:{half}:{compact[:half]}"
        yield f"s:{half}:{compact[-half:]}"


def _singulars(word: str) -> tuple[str, ...]:
    return word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y"
