"""Cuts documents into chunks: by tokens, on sentence borders, with overlap. Every chunk is a slice of its document's text."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kgeval.errors import UsageError
from kgeval.llm.tokens import BLOCK, TOKENIZER, count, encoding
from kgeval.records import Chunk, Document
from kgeval.text.sentences import Span, sentences, trimmed

__all__ = ["OVERLAP", "SIZE", "SMALLEST", "TOKENIZER", "count", "sentences", "split"]

SIZE, OVERLAP, SMALLEST = 600, 100, 16
_LEAST_PIECE = 32
_LEAST_TAIL = 8  # a shorter piece of a sentence helps nobody
_COMMAS = "，、；：,;:؛،"
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a piece of one that is too long. `own`: its tokens; `joined`: its tokens with the whitespace before it."""

    start: int
    end: int
    own: int
    joined: int


@dataclass(frozen=True, slots=True)
class _Cutter:
    """One text with the wanted sizes, in tokens."""

    text: str
    size: int
    overlap: int


def split(document: Document, *, size: int = SIZE, overlap: int = OVERLAP) -> list[Chunk]:
    """The chunks of a document, at most `size` tokens each; each begins with the last sentences of the one before.

    The overlap is made of as many whole sentences as fit in `overlap` tokens, or of the end of one that is longer. A sentence
    above `size` is cut at words, a word above it at characters. Laws: `chunk.text == document.text[chunk.start:chunk.end]`;
    every character that is no whitespace is in a chunk. Ids depend on the document's id and the chunk's text, not on its place,
    so that a chunk outside a change keeps its id.

    Raises: UsageError for a size below 16, or an overlap that is not below the size.
    """
    if size < SMALLEST or not 0 <= overlap < size:
        raise UsageError(f"chunks of {size} tokens with {overlap} of overlap are not possible",
                         fix=f"give at least {SMALLEST} tokens, and an overlap below the size")
    cutter = _Cutter(document.text, size, overlap)
    seen: Counter[str] = Counter()
    chunks = []
    for index, (start, end, tokens) in enumerate(_chunks(cutter, _units(cutter))):
        text = document.text[start:end]
        seen[text] += 1
        chunks.append(Chunk(id=_id(document.id, text, seen[text]), document=document.id, index=index, text=text,
                            start=start, end=end, tokens=tokens))
    return chunks


def _id(document: str, text: str, occurrence: int) -> str:
    content = f"{document}\0{text}\0{occurrence}".encode("utf-8", "surrogatepass")
    return "chunk-" + hashlib.sha256(content).hexdigest()[:32]


def _units(cutter: _Cutter) -> list[_Piece]:
    units: list[_Piece] = []
    previous_end = 0
    for start, end in sentences(cutter.text):
        for s, e in _fitting(cutter, start, end):
            own = count(cutter.text[s:e])
            units.append(_Piece(s, e, own, own if s == previous_end else count(cutter.text[previous_end:e])))
            previous_end = e
    return units


def _fitting(cutter: _Cutter, start: int, end: int) -> Iterator[Span]:
    """The span itself, or pieces of it where it has too many tokens: small ones, so that they can make an overlap."""
    if end - start <= BLOCK and count(cutter.text[start:end]) <= cutter.size:
        yield start, end
        return
    limit = cutter.overlap if cutter.overlap >= _LEAST_PIECE else cutter.size
    while start < end:
        cut = _cut(cutter.text, start, end, limit)
        span = trimmed(cutter.text, start, cut)
        if span:
            yield span
        start = cut


def _cut(text: str, start: int, end: int, limit: int) -> int:
    """Where a piece of at most `limit` tokens that begins at `start` ends: after a word, else after a whole character."""
    # more characters than so many tokens usually have: a stretch is encoded, and not the rest of the text for each piece
    block = text[start: min(end, start + 8 * limit)]
    tokens = encoding().encode_ordinary(block)
    allowed = limit
    while allowed > 0:
        reach = len(_plain(tokens[:allowed]))
        if reach >= len(block):
            cut = start + len(block) if start + len(block) == end else _word_end(text, start, start + len(block))
        else:
            cut = _word_end(text, start, start + max(reach, 1))
        if count(text[start:cut]) <= limit or cut == start + 1:
            return cut
        # the same letters cut elsewhere may be more tokens: a little shorter
        allowed -= max(1, allowed // 8)
    return start + 1


def _plain(tokens: list[int]) -> str:
    """The whole characters that the tokens spell; a token can end inside a character."""
    text: str = encoding().decode_bytes(tokens).decode("utf-8", "ignore")
    return text


def _word_end(text: str, start: int, cut: int) -> int:
    """The last border of words in start < border <= cut; where there is none, the last border of characters that belong together."""
    for border in range(cut, start, -1):
        if text[border - 1].isspace() or text[border - 1] in _COMMAS or (border < len(text) and text[border].isspace()):
            return border
    for border in range(cut, max(start, cut - 16), -1):
        if not _inside_character(text, border):
            return border
    return cut


def _inside_character(text: str, at: int) -> bool:
    """Whether a cut here would part a letter from its marks, or an emoji from its parts: half of one is another character, or none."""
    if at >= len(text):
        return False
    mark = text[at] in _JOINERS or unicodedata.category(text[at])[0] == "M" or "\U0001f3fb" <= text[at] <= "\U0001f3ff"
    return mark or text[at - 1] == "\u200d"


def _chunks(cutter: _Cutter, units: list[_Piece]) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of each chunk: as many units as fit, then back by the overlap."""
    first, begin, head = 0, units[0].start if units else 0, 0
    while first < len(units):
        last, tokens, begin = _fill(cutter, units, first, begin, head)
        yield begin, units[last].end, tokens
        first = last + 1
        if first < len(units):
            begin, head = _overlap(cutter, units, first, begin)


def _fill(cutter: _Cutter, units: list[_Piece], first: int, begin: int, head: int) -> tuple[int, int, int]:
    """The last unit of a chunk that begins at `begin` (`head` tokens before unit `first`), its tokens, and where it begins.

    Sums over units are an estimate (tokens may join across a border), so the whole is counted again and shortened if need be.
    """
    total, last = head + (units[first].joined if head else units[first].own), first
    while last + 1 < len(units) and total + units[last + 1].joined <= cutter.size:
        last += 1
        total += units[last].joined
    while (tokens := count(cutter.text[begin: units[last].end])) > cutter.size:
        if last > first:
            last -= 1
        elif begin < units[first].start:
            begin = units[first].start
        else:
            break  # one character alone: nothing smaller is left
    return last, tokens, begin


def _overlap(cutter: _Cutter, units: list[_Piece], first: int, previous: int) -> tuple[int, int]:
    """Where the chunk whose first new unit is `first` begins, and the tokens before that unit."""
    room = min(cutter.overlap, cutter.size - units[first].joined)
    index, total = first, 0
    while index > 0 and units[index - 1].start > previous and total + units[index - 1].joined <= room:
        index -= 1
        total += units[index].joined
    if index < first or room < _LEAST_TAIL:
        return units[index].start, total
    begin = _tail(cutter.text, units[first - 1], room)
    if begin is None or begin <= previous:
        return units[first].start, 0
    return begin, room


def _tail(text: str, unit: _Piece, room: int) -> int | None:
    """Where the last words of a unit that have at most `room` tokens begin; None where none fit."""
    block = text[max(unit.start, unit.end - 8 * room): unit.end]
    begin = unit.end - len(_plain(encoding().encode_ordinary(block)[-room:]))
    if begin <= unit.start:
        return None
    for border in range(begin, min(begin + 40, unit.end)):
        if text[border - 1].isspace() or text[border - 1] in _COMMAS:
            return border
    while begin < unit.end and _inside_character(text, begin):
        begin += 1
    return begin if begin < unit.end else None
