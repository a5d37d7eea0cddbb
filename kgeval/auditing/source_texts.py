"""Entities, their names and chunks as numbers, and the chunks' texts at hand: what stands where, in small memory."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.check import CheckRun
from kgeval.auditing.entity_columns import EntityColumns, FiledTexts, Lists
from kgeval.auditing.partial_scan import PartialScan
from kgeval.graph.connect import Row
from kgeval.text.clean import normal_form
from kgeval.text.language import LOOKED_AT, TextLanguage, detect_language, main_script, same_script
from kgeval.text.markup import without_markup
from kgeval.text.names import normalise

WORD, FORM = b"\x1f", b"\x1e"  # between words, between forms: reduced texts hold no such character
Form = tuple[bytes, ...]
ASKED_LANGUAGE = 200  # texts that are asked for their language
LITTLE = 5_000  # entities, chunks
MANY = 10  # names from which their language can be told, by the words between them
INFLECTED = {"Cyrillic", "Greek", "Armenian", "Georgian"}  # scripts of languages whose names change their ends
# letters of Latin languages whose names do: Polish, Czech, Slovak, Hungarian, Baltic, Turkish; Finnish by its many ä
_ENDINGS, _FINNISH = frozenset("ąćęłńśźżčďěňřťůőűāēģīķļņūėįųışğ"), 0.025
_LEAST_ENDINGS = 0.01


@dataclass
class SourcedEntities:
    """Every entity with a name. By position: `roll` (id, key, name, type), `forms` (what to look for, each as the reduced words

    that stand for it), `chunks` (numbers).
    """

    roll: EntityColumns = field(default_factory=EntityColumns)
    forms: FiledTexts = field(default_factory=FiledTexts)
    chunks: Lists = field(default_factory=Lists)

    @property
    def little(self) -> bool:
        """Whether it may be kept as long as an audit runs."""
        return len(self.roll) <= LITTLE

    def looked_for(self, at: int) -> list[Form]:
        """The name and aliases of the entity, each as its words."""
        return [tuple(form.split(WORD)) for form in self.forms.raw(at).split(FORM)]


def stands_in(forms: Iterable[Form], text: bytes) -> bool:
    """Whether a name or alias is in the reduced text; of a name of several words, each anywhere."""
    for words in forms:  # millions of times: any(all(...)) takes twice as long
        for word in words:
            if word not in text:
                break
        else:
            return True
    return False


def stands_inflected(forms: Iterable[Form], text: bytes) -> bool:
    """As `stands_in`, for languages whose names change their ends: of a word of five letters or more (of four, in a name of several words)
    only its beginning must be there."""
    return any(all(word in text or stem in text for word, stem in zip(words, _stems(words), strict=True)) for words in forms)


class WholeName:
    """A name or its aliases as whole words one behind the other, where the script of the name puts spaces between words."""

    def __init__(self, forms: Sequence[Form], script: str | None) -> None:
        self._joined = [b"".join(words) for words in forms]
        either = b"|".join(b"s? *".join(map(re.escape, words)) for words in forms)
        self._words = None if script in UNSPACED else re.compile(rb"(?<![^ ])(?:" + either + rb")s?(?![^ ])")

    def stands_in(self, text: bytes, spaced: bytes) -> bool:
        """Whether it is in a text, reduced without and with spaces."""
        if not any(joined in text for joined in self._joined):
            return False
        return self._words is None or self._words.search(spaced) is not None


def _stems(words: Form) -> list[bytes]:
    return [_stem(word.decode("utf-8", "surrogatepass"), alone=len(words) == 1).encode("utf-8", "surrogatepass") for word in words]


def _stem(word: str, *, alone: bool) -> str:
    if not word.isalpha() or len(word) < 4 + alone:
        return word
    return word[: -1 if len(word) < 6 else -2 if len(word) < 8 else -3]


def _is_inflected(text: str) -> bool:
    """Whether a text is in a language whose names change their ends, by its script and letters."""
    script = main_script(text)
    if script != "Latin":
        return script in INFLECTED
    letters = sum(map(str.isalpha, text))
    return sum(map(_ENDINGS.__contains__, text)) >= _LEAST_ENDINGS * letters or text.count("ä") >= _FINNISH * letters


_ASCII = {code: None for code in range(128) if unicodedata.category(chr(code))[0] in "PZC"}
UNSPACED = {"Chinese", "Japanese", "Thai", "Lao", "Khmer", "Myanmar"}  # scripts that put no spaces between words


class Plain:
    """Texts reduced to what is compared: NFKC, case-folded, letters, digits and symbols only (no spaces, no punctuation).

    Without spaces "e-mail" stands in "email", and languages that write none need no other rule.
    """

    def __init__(self) -> None:
        self._kept: dict[int, int | None] = {}

    def __getitem__(self, code: int) -> int | None:
        if code not in self._kept:
            self._kept[code] = None if unicodedata.category(chr(code))[0] in "PZC" else ord("е") if chr(code) == "ё" else code
        return self._kept[code]

    def __call__(self, text: str) -> str:
        """The reduced text."""
        if text.isascii():  # asks no method for a letter: a tenth of the time
            return text.lower().translate(_ASCII)
        return normal_form(text, "NFKC").casefold().translate(self)


class Spaced(Plain):
    """As `Plain`, with a space for each character that it leaves out: words have their ends."""

    def __getitem__(self, code: int) -> int | None:
        return super().__getitem__(code) or ord(" ")

    def __call__(self, text: str) -> str:
        """The reduced text, with spaces."""
        if text.isascii():
            return text.lower().translate(_SPACED_ASCII)
        return super().__call__(text)


_SPACED_ASCII = dict.fromkeys(_ASCII, " ")


class ChunkTexts:
    """Chunks with text under both their names, element id and own id, as numbers; and their reduced texts in UTF-8.

    The texts lie in a file without a name, which only this process can read and which goes with it.
    """

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self._texts = FiledTexts()
        self._languages: Counter[TextLanguage] = Counter()
        self._scripts: dict[int, str | None] = {}
        self._inflected: dict[int, bool] = {}

    def add(self, row: Row, text: str) -> None:
        """Takes one chunk in, with its reduced text that still has spaces."""
        number = len(self._texts)
        if number < ASKED_LANGUAGE:
            self._languages[detect_language(row["text"])] += 1
        self.number[row["element_id"]] = number
        if row["id"]:
            self.number.setdefault(row["id"], number)
        self._texts.append(text)

    def __len__(self) -> int:
        return len(self._texts)

    def known(self, keys: Iterable[str]) -> list[int]:
        """The numbers of those keys that are chunks with text."""
        return sorted({self.number[key] for key in keys if key in self.number})

    def text(self, number: int) -> bytes:
        """A chunk's reduced text."""
        return self.spaced(number).replace(b" ", b"")

    def spaced(self, number: int) -> bytes:
        """A chunk's reduced text, with a space for what is left out of it."""
        return self._texts.raw(number)

    @property
    def little(self) -> bool:
        """Whether it may be kept as long as an audit runs."""
        return len(self) <= LITTLE

    def keys(self) -> list[tuple[str, str]]:
        """By number, a chunk's element id, and its own id, or the element id again."""
        found: list[tuple[str, str]] = [("", "")] * len(self)
        for key, number in self.number.items():  # the element id comes first
            found[number] = (found[number][0], key) if found[number][0] else (key, key)
        return found

    @property
    def language(self) -> TextLanguage:
        """What most texts are written in, by the first ones; unknown where they differ."""
        told = [(language, n) for language, n in self._languages.items() if language.script is not None]
        language, count = max(told, key=lambda pair: pair[1], default=(TextLanguage(), 0))
        return language if 2 * count > sum(n for _, n in told) else TextLanguage()

    def script(self, number: int) -> str | None:
        """The script of a chunk's text; None where it does not tell."""
        if number not in self._scripts:
            self._scripts[number] = main_script(self._beginning(number))
        return self._scripts[number]

    def is_inflected(self, number: int) -> bool:
        """Whether names change their ends in the language of a chunk's text."""
        if number not in self._inflected:
            self._inflected[number] = _is_inflected(self._beginning(number))
        return self._inflected[number]

    def _beginning(self, number: int) -> str:
        return self._texts.raw(number)[: 4 * LOOKED_AT].decode("utf-8", "ignore")[:LOOKED_AT]


@dataclass(frozen=True)
class Sources:
    """The chunks of a graph with their texts, and every entity with a name."""

    chunks: ChunkTexts
    known: SourcedEntities

    def stands(self, at: int, number: int) -> bool:
        """Whether a name of the entity stands in a chunk."""
        return self.holds(number, self.chunks.text(number), self.known.looked_for(at))

    def holds(self, number: int, text: bytes, forms: Sequence[Form]) -> bool:
        """Whether a chunk, whose reduced text is `text`, holds a name, or an inflected form where its language has such."""
        return stands_in(forms, text) or (self.chunks.is_inflected(number) and stands_inflected(forms, text))

    def is_comparable(self, at: int, numbers: Iterable[int]) -> bool:
        """Whether the entity's name could stand in one of the chunks: it is in the script of one of them, or in none that is known."""
        script = main_script(self.known.roll.names[at])
        return script is None or any(same_script(script, self.chunks.script(number)) for number in numbers)

    def other_language(self, missed: Sequence[int]) -> str | None:
        """The language of names that stand in none of their texts, where it is another one than that of the texts; None else."""
        if len(missed) < MANY:
            return None
        language = detect_language(" ".join(self.known.roll.names[at] for at in missed[:LOOKED_AT]))
        return language.name if language.language is not None and language.unlike(self.chunks.language) else None


def sources(check: CheckRun, part: PartialScan | None = None) -> Sources:
    """Both, read once for all checks that look for names in chunks. `part`: of the entities; None: all of them."""
    part = PartialScan() if part is None or part.whole else part
    chunks = check.shared.get("chunk texts", lambda: _chunks(check))
    return Sources(chunks, check.read_once(("entities", part), lambda: _entities(check, chunks, part)))


def _chunks(check: CheckRun) -> ChunkTexts:
    chunks, spaced = ChunkTexts(), Spaced()
    for row in check.stream("chunk-sources", texts=True):
        chunks.add(row, spaced(without_markup(row["text"])))
    return chunks


def _entities(check: CheckRun, chunks: ChunkTexts, part: PartialScan) -> SourcedEntities:
    known, plain = SourcedEntities(), Plain()
    for row in check.sliced_rows("entity-source-slices", **part.params()):
        names = (normalise(without_markup(name)).split() for name in [row["name"], *row["aliases"][:50]])
        words = (tuple(_singular(word if word.isascii() else plain(word)) for word in own) for own in names)  # of ASCII they are plain
        forms = tuple(dict.fromkeys(filter(None, words)))
        if not forms:
            continue
        known.roll.append(row["element_id"], row["key"], row["name"][:200], row["type"])
        known.forms.append(FORM.decode().join(WORD.decode().join(form) for form in forms))
        known.chunks.append(chunks.known([*row["chunks"], *row["ids"]]))
    return known


def _singular(word: str) -> str:
    """Without the s of a plural or possessive, which texts add and leave out freely."""
    return word[:-1] if len(word) > 4 and word.endswith("s") else word
