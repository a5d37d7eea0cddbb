"""The answer to a question out of contexts by the question's words: what a reader says that asks no model, and the fake model.

It follows names from line to line: the line that shares most with the question, then lines that name what that one added and share
what is still open in the question. It knows no grammar and no language, and it never sees a right answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

NOT_FOUND = "The contexts do not tell."
MOST_LINES = 2_000
MOST_STEPS = 4
SHORT_LINE = 16
STEM = 5
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?。！？]+(?=\s|$)|(?=\n|$)|(?<=[。！？]))")
_YEAR = re.compile(r"\b1\d{3}\b|\b20\d{2}\b")
_EMPTY_WORDS = (
    "a an the of in on at to from by with for and or is are was were be been has have had do does did which what who whom whose where when "
    "why how it its that this these those as into than then there their his her he she they them one thing name"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True)
class _Line:
    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(_stem, self.words)) - {""}


def extract_answer(question: str, contexts: Sequence[str]) -> str:
    """The answer that the contexts seem to give: a name where a short one stands out, else a sentence; NOT_FOUND without any.

    The same question and contexts give the same answer.
    """
    lines = [_Line(text.strip()) for context in contexts for text in _SENTENCE.findall(context) if text.strip()][:MOST_LINES]
    question_stems = frozenset(map(_stem, _WORD.findall(question))) - {""}
    rarity = _rarity(lines)
    known_stems, open_stems, name, best = set(question_stems), set(question_stems), "", None
    for _ in range(MOST_STEPS):
        line = _best(lines, open_stems, rarity, must=frozenset(map(_stem, _WORD.findall(name))) - {""})
        if line is None or line is best:
            break
        best, new = line, _new_words(line, known_stems)
        name = new or name
        open_stems -= line.stems
        known_stems |= line.stems
    if best is None:
        return NOT_FOUND
    return _said(question, best, name)


def _stem(word: str) -> str:
    """The beginning of a word without regard to case, so that designed meets designer; empty for words that say nothing."""
    folded = word.casefold()
    return "" if folded in _EMPTY else folded[:STEM]


def _rarity(lines: Sequence[_Line]) -> dict[str, float]:
    count = Counter(stem for line in lines for stem in line.stems)
    return {stem: math.log(1 + len(lines) / seen) for stem, seen in count.items()}


def _best(lines: Sequence[_Line], wanted: set[str], rarity: Mapping[str, float], must: frozenset[str]) -> _Line | None:
    """The line that shares most with what is wanted, among those that have all of `must`; the first one of equals."""
    best, best_score = None, 0.0
    for line in lines:
        shared = line.stems & wanted
        if not shared or not must <= line.stems:
            continue
        score = sum(rarity[stem] for stem in shared) / (1 + len(line.words) / 200)
        if score > best_score + 1e-9:
            best, best_score = line, score
    return best


def _new_words(line: _Line, known: set[str]) -> str:
    """The longest run of words of a line that are not known yet; of a long line, its first new name. A run with a name in it is cut to
    that name, and a name is made whole: "sank at Harrow" is "Harrow Reef"."""
    short, runs, run = len(line.words) <= SHORT_LINE, [], range(0)
    for index, word in enumerate([*line.words, ""]):
        stem = _stem(word)
        fits = bool(word) and stem not in known and (bool(stem) or len(run) > 0) and (short or word[:1].isupper())
        if not fits and run:
            runs.append(run)
        run = range(run.start if run else index, index + 1) if fits else range(0)
    chosen = max(runs, key=len, default=None) if short else next(iter(runs), None)
    return " ".join(line.words[index] for index in _name(line.words, chosen)) if chosen else ""


def _name(words: Sequence[str], run: range) -> range:
    """The name in a run of words: from its first capital letter to its last, and on over the names beside it. A run without capital
    letters is kept, without empty words at its end."""
    capitals = [index for index in run if words[index][:1].isupper()]
    if not capitals:
        stop = run.stop
        while stop > run.start + 1 and not _stem(words[stop - 1]):
            stop -= 1
        return range(run.start, stop)
    start, stop = capitals[0], capitals[-1] + 1
    while start > 0 and words[start - 1][:1].isupper() and _stem(words[start - 1]):
        start -= 1
    while stop < len(words) and words[stop][:1].isupper():
        stop += 1
    return range(start, stop)


def _said(question: str, line: _Line, found: str) -> str:
    folded = question.casefold()
    if re.match(r"\W*(?:when|(?:in )?what year|(?:in )?which year)\b", folded) and (year := _YEAR.search(line.text)):
        return year[0]
    return found or line.text
