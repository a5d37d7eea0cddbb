"""How long a text is, in words: the one counter for answers that are asked for a length, cut to one, or compared. Any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from kgeval.text.clean import normal_form

REMEMBERED = 20_000  # characters: the counts of longer texts are not remembered
LETTERS_A_WORD = 3.2
"""Thai: 3.22 letters a word (marks above and below are none), measured over the 33,199,362 words of the Thai National Corpus's frequency
list. Lao, Myanmar and Khmer, for which nothing was measured, are taken to be alike."""

_IDEOGRAPHS = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_BETWEEN = re.compile("[|–—…]")
_UNSPACED_AT_ALL = re.compile(f"[{_IDEOGRAPHS}{_UNSPACED}]")
_PART = re.compile(f"([{_IDEOGRAPHS}])|([{_UNSPACED}]+)|[^\\s|–—…{_IDEOGRAPHS}{_UNSPACED}]+")


def count_words(text: str) -> int:
    """The words of a text as a reader counts them.

    Between spaces or dashes, whatever has a letter or digit is one word ("well-known", "U.S.", "3.5", "**bold**"); marks alone are
    none. Chinese and Japanese: a character each, as word processors count. Thai, Lao, Myanmar, Khmer, which put no spaces between
    words: letters / LETTERS_A_WORD, rounded, an estimate within some percent for a text of a few sentences.
    """
    return _counted(text) if len(text) <= REMEMBERED else _counted.__wrapped__(text)


@lru_cache(256)
def _counted(text: str) -> int:
    plain = _plain(text)
    if _UNSPACED_AT_ALL.search(plain) is None:  # the quick way, with the same result
        return sum(piece.isalnum() or any(map(str.isalnum, piece)) for piece in _BETWEEN.sub(" ", plain).split())
    whole, letters = 0, 0
    for _, kind, size in _parts(plain):
        if kind == "letters":
            letters += size
        else:
            whole += size
    return whole + (max(1, round(letters / LETTERS_A_WORD)) if letters else 0)


def first_words(text: str, most: int) -> str:
    """The text up to the end of its word number `most`; all of it where it has no more."""
    if count_words(text) <= most:
        return text
    whole, letters, end = 0, 0, 0
    plain = normal_form(text, "NFC")
    for match, kind, size in _parts(plain):
        if kind == "letters":
            room = int((most - whole) * LETTERS_A_WORD) - letters
            if size > room:
                # up to the letter that is one too many: the marks above and below the last one stay with it
                places = (place for place in range(match.start(), match.end()) if plain[place].isalnum())
                return plain[: next(islice(places, room, None))].rstrip()
            letters += size
        else:
            whole += size
        if whole + letters / LETTERS_A_WORD > most:
            break
        end = match.end()
    return plain[:end].rstrip()


def _plain(text: str) -> str:
    return text if text.isascii() else normal_form(text.replace("…", " "), "NFKC")


def _parts(text: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """Pieces in order: (match, "words" or "letters", how many)."""
    for match in _PART.finditer(text):
        if match[2] is not None:
            yield match, "letters", sum(character.isalnum() for character in match[2])
        else:
            yield match, "words", int(any(character.isalnum() for character in match[0]))
