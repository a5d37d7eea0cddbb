"""Entities, their names and chunks as numbers, and one pass over the chunks' texts: what stands where, in small memory."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kgeval.audit.check import Check
from kgeval.graph.connect import Row
from kgeval.graph.queries import all_queries
from kgeval.text.names import normalise


@dataclass
class Entities:
    """Every entity with a name. By position: `rows` (element id, key, name, type), `forms` (what to look for, each as the

    reduced words that stand for it), `chunks` (numbers).
    """

    number: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    forms: list[tuple[tuple[str, ...], ...]] = field(default_factory=list)
    chunks: list[array[int]] = field(default_factory=list)

    def stands_in(self, at: int, text: str) -> bool:
        """Whether a name or alias of the entity is in the reduced text; of a name of several words, each anywhere."""
        return any(all(word in text for word in words) for words in self.forms[at])


@dataclass
class Chunks:
    """Numbers for chunks under both their names: element id and own id."""

    number: dict[str, int] = field(default_factory=dict)

    def known(self, keys: Iterable[str]) -> array[int]:
        """The numbers of those keys that are chunks with text."""
        return array("L", sorted({self.number[key] for key in keys if key in self.number}))


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
        return unicodedata.normalize("NFKC", text).casefold().translate(self)


def chunk_numbers(check: Check) -> Chunks:
    """A number for every chunk that has text."""
    out = Chunks()
    for at, row in enumerate(_chunk_rows(check, texts=False)):
        out.number[row["element_id"]] = at
        if row["id"]:
            out.number.setdefault(row["id"], at)
    return out


def texts(check: Check, chunks: Chunks) -> Iterator[tuple[int, str]]:
    """Each chunk's number and reduced text, one at a time."""
    plain = Plain()
    for row in _chunk_rows(check, texts=True):
        if row["element_id"] in chunks.number:
            yield chunks.number[row["element_id"]], plain(row["text"])


def _chunk_rows(check: Check, *, texts: bool) -> Iterator[Row]:
    params = {"layout": check.layout.model_dump(), "texts": texts}
    yield from check.graph.stream(all_queries()["chunk-sources"], params, timeout=check.timeout)


def entities(check: Check, chunks: Chunks) -> Entities:
    """Every entity with a name and the chunks that it is said to come from."""
    out, plain = Entities(), Plain()
    query = all_queries()["name-not-in-source"]
    for row in check.graph.stream(query, {"layout": check.layout.model_dump()}, timeout=check.timeout):
        words = (tuple(_singular(plain(word)) for word in normalise(name).split()) for name in [row["name"], *row["aliases"][:50]])
        forms = tuple(dict.fromkeys(filter(None, words)))
        if not forms:
            continue
        out.number[row["element_id"]] = len(out.rows)
        out.rows.append((row["element_id"], row["key"], row["name"][:200], row["type"]))
        out.forms.append(forms)
        out.chunks.append(chunks.known([*row["chunks"], *row["ids"]]))
    return out


def _singular(word: str) -> str:
    """Without the s of a plural or possessive, which texts add and leave out freely."""
    return word[:-1] if len(word) > 4 and word.endswith("s") else word


def by_chunk(members: Iterable[array[int]]) -> dict[int, array[int]]:
    """Chunk number -> the positions of the members that name it."""
    out: dict[int, array[int]] = {}
    for at, numbers in enumerate(members):
        for number in numbers:
            out.setdefault(number, array("L")).append(at)
    return out
