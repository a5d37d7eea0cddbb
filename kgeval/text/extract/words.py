"""A chunk as words with what stands between them, and what a document's words look like: counts of capitals. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgeval.text.extract.lexicon import ABBREVIATIONS

_WORD = re.compile(r"(?:[^\W\d_]\.){2,}|[^\W_]+(?:[-'’][^\W_]+)*")
_END = re.compile(r"[.!?…。]|\n\s*\n")
_QUOTED = re.compile(r"[\"“«„:]|(?<!\w)['‘]|\S?\s{2,}\S?")
START, BREAK, COMMA, SPACE, DOT, AND = "#", "|", ",", " ", ".", "&"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text. `gaps[i]`: what stands before word i.

    Gaps: START of a sentence, BREAK (other punctuation), COMMA, SPACE, DOT (after an initial or "Mr."), AND ("&"). `opens[i]`:
    a capital at word i says nothing, because a sentence or a quotation begins there. `possessive[i]`: an 's was cut from word i,
    or an apostrophe stands behind its s ("the Halls' house").
    """

    text: str
    words: list[str]
    lower: list[str]
    spans: list[tuple[int, int]]
    gaps: list[str]
    opens: list[bool]
    possessive: list[bool]

    def __len__(self) -> int:
        return len(self.words)


def words_of(text: str) -> Words:
    """Takes a text apart; one pass, any script that puts spaces between words."""
    words = Words(text, [], [], [], [], [], [])
    before = 0
    for match in _WORD.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        owns = len(word) > 2 and word[-2] in "'’" and word[-1] in "sS"
        word = word[:-2] if owns else word
        gap = text[before:start]
        kind = _gap(gap, words, word)
        if gap in ("' ", "’ ") and words.words and words.lower[-1].endswith("s"):
            words.possessive[-1], kind = True, SPACE
        words.words.append(word)
        words.lower.append(word.lower())
        words.spans.append((start, end - 2 if owns else end))
        words.gaps.append(kind)
        words.opens.append(kind == START or (gap != " " and _QUOTED.search(gap) is not None))
        words.possessive.append(owns)
        before = end
    return words


def _gap(gap: str, before: Words, word: str) -> str:
    if not before.words:
        return START
    if gap == " ":
        return SPACE
    bare = gap.strip()
    if not bare:
        return START if "\n\n" in gap or (len(gap) > 2 and "\n" not in gap and word[0].isupper()) else SPACE
    if bare == "." and _abbreviated(before):
        return DOT
    if bare == "&":
        return AND
    if _END.search(gap):
        return START if word[0].isupper() or not word[0].isalpha() else BREAK
    return COMMA if bare == "," else BREAK


def _abbreviated(before: Words) -> bool:
    last = before.words[-1]
    # "I." is the end of a sentence, no initial: "So did I."
    return (len(last) == 1 and last.isupper() and last != "I") or (last[0].isupper() and before.lower[-1] in ABBREVIATIONS)


@dataclass(slots=True)
class Capitals:
    """How often each word (in lower case) stands with a small letter, with a capital inside a sentence, and with a capital that says
    nothing because a sentence begins there. Words in capitals throughout are not counted.

    `articled`: small, right after an article. `owned`: with a capital inside a sentence, right after a possessive; `pairs`: the same,
    with the owner.
    """

    small: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)
    opening: Counter[str] = field(default_factory=Counter)
    articled: Counter[str] = field(default_factory=Counter)
    owned: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def share(self, word: str) -> float:
        """Capitals inside sentences / all places that say something; 0 where there is none."""
        telling = self.inside[word] + self.small[word]
        return self.inside[word] / telling if telling else 0.0


def count_capitals(chunks: Iterable[str]) -> Capitals:
    """Counts over all chunks of a document."""
    counts = Capitals()
    for text in chunks:
        words = words_of(text)
        for index, (word, low) in enumerate(zip(words.words, words.lower, strict=True)):
            if not word[0].isupper():
                counts.small[low] += 1
                if index and words.lower[index - 1] in ("the", "a", "an"):
                    counts.articled[low] += 1
            elif shouted(word):
                continue
            elif words.opens[index]:
                counts.opening[low] += 1
            else:
                counts.inside[low] += 1
                # There is a word before: the first one of a chunk always opens.
                if words.possessive[index - 1]:
                    counts.owned[low] += 1
                    counts.pairs[words.lower[index - 1], low] += 1
    return counts


def shouted(word: str) -> bool:
    """Two letters or more, all of them capitals."""
    return len(word) > 1 and word.isupper()
