"""Entities, their names and chunks as numbers, and the chunks' texts at hand: what stands where, in small memory."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgeval.auditing.check import CheckRun
from kgeval.auditing.entity_columns import EntityColumns, FiledTexts, Lists
from kgeval.auditing.partial_scan import PartialScan
from kgeval.graph.connect import Row
from kgeval.text.clean import normal_form
from kgeval.text.names import normalise

WORD, FORM = b"\x1f", b"\x1e"  # between words, between forms: reduced texts hold no such character
Form = tuple[bytes, ...]


@dataclass
class SourcedEntities:
    """Every entity with a name. By position: `roll` (id, key, name, type), `forms` (what to look for, each as the reduced words

    that stand for it), `chunks` (numbers).
    """

    roll: EntityColumns = field(default_factory=EntityColumns)
    forms: FiledTexts = field(default_factory=FiledTexts)
    chunks: Lists = field(default_factory=Lists)

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


_ASCII = {code: None for code in range(128) if unicodedata.category(chr(code))[0] in "PZC"}


class Plain:
    """Texts reduced to what is compared: NFKC, case-folded, letters, digits and symbols only (no spaces, no punctuation).

    Without spaces "e-mail" stands in "email", and languages that write none need no other rule.
    """

    def __init__(self) -> None:
        self._kept: dict[int, int | None] = {}

    def __getitem__(self, code: int) -> int | None:
        if code not in self._kept:
            self._kept[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self._kept[code]

    def __call__(self, text: str) -> str:
        """The reduced text."""
        if text.isascii():  # asks no method for a letter: a tenth of the time
            return text.lower().translate(_ASCII)
        return normal_form(text, "NFKC").casefold().translate(self)


class ChunkTexts:
    """Chunks with text under both their names, element id and own id, as numbers; and their reduced texts in UTF-8.

    The texts lie in a file without a name, which only this process can read and which goes with it.
    """

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self._texts = FiledTexts()

    def add(self, row: Row, text: str) -> None:
        """Takes one chunk in."""
        number = len(self._texts)
        self.number[row["element_id"]] = number
        if row["id"]:
            self.number.setdefault(row["id"], number)
        self._texts.append(text)

    def known(self, keys: Iterable[str]) -> list[int]:
        """The numbers of those keys that are chunks with text."""
        return sorted({self.number[key] for key in keys if key in self.number})

    def text(self, number: int) -> bytes:
        """A chunk's reduced text."""
        return self._texts.raw(number)


@dataclass(frozen=True)
class Sources:
    """The chunks of a graph with their texts, and every entity with a name."""

    chunks: ChunkTexts
    known: SourcedEntities


def sources(check: CheckRun, part: PartialScan | None = None) -> Sources:
    """Both, read once for all checks that look for names in chunks. `part`: of the entities; None: all of them."""
    part = PartialScan() if part is None or part.whole else part
    chunks = check.shared.get("chunk texts", lambda: _chunks(check))
    return Sources(chunks, check.read_once(("entities", part), lambda: _entities(check, chunks, part)))


def _chunks(check: CheckRun) -> ChunkTexts:
    chunks, plain = ChunkTexts(), Plain()
    for row in check.stream("chunk-sources", texts=True):
        chunks.add(row, plain(row["text"]))
    return chunks


def _entities(check: CheckRun, chunks: ChunkTexts, part: PartialScan) -> SourcedEntities:
    known, plain = SourcedEntities(), Plain()
    for row in check.sliced_rows("entity-source-slices", **part.params()):
        words = (
            tuple(_singular(word if word.isascii() else plain(word)) for word in normalise(name).split())  # normal words of ASCII are plain
            for name in [row["name"], *row["aliases"][:50]]
        )
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
