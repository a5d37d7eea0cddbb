"""Where a name stands in a text: exactly, else without regard to letter case, else with other punctuation and line ends."""

from __future__ import annotations

import re

from kgeval.text.sentences import Span, sentences

LONGEST = 300
# scripts without spaces between words: a name may stand anywhere in a run of letters
_RUNNING = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_ARTICLE = re.compile(r"\A(?:the|a|an)\s+", re.IGNORECASE)


class Finder:
    """Finds names in one text. Offsets are characters of that text."""

    def __init__(self, text: str) -> None:
        self.text = text
        # only to see whether a word is there: casefolding changes lengths, so its places are not the text's
        self._folded = text.casefold()
        self._sentences: list[Span] | None = None

    def find(self, name: str) -> Span | None:
        """The first place of the name, at borders of words where its script has them; None where it is not found."""
        if not name.strip() or len(name) > LONGEST:
            return None
        start = self.text.find(name)
        while start >= 0:
            if _at_borders(self.text, start, start + len(name)):
                return start, start + len(name)
            start = self.text.find(name, start + 1)
        return self._loose(name)

    def sentence_with(self, one: str, other: str) -> Span | None:
        """The first sentence in which both names stand, or None."""
        if self.find(one) is None or self.find(other) is None:
            return None
        if self._sentences is None:
            self._sentences = sentences(self.text)
        patterns = [re.compile(_pattern(_without_article(name)), re.IGNORECASE) for name in (one, other)]
        for start, end in self._sentences:
            if all(pattern.search(self.text, start, end) for pattern in patterns):
                return start, end
        return None

    def _loose(self, name: str) -> Span | None:
        words = re.findall(r"\w+", name.casefold())
        # the first word may be an article, which the text leaves out
        if not words or any(word not in self._folded for word in words[1:] or words):
            return None  # most names that are not there end here, without a pattern being made
        match = re.search(_pattern(name), self.text, re.IGNORECASE)
        if match is None and _without_article(name) != name:
            match = re.search(_pattern(_without_article(name)), self.text, re.IGNORECASE)
        return (match.start(), match.end()) if match else None


def _without_article(name: str) -> str:
    return _ARTICLE.sub("", name, count=1) or name


def runs_together(word: str) -> bool:
    """Whether the word has letters of a script without spaces between words, so that a text's words do not show its names."""
    return _RUNNING.search(word) is not None


def _pattern(name: str) -> str:
    """The words of a name with whatever stands between words; at borders of words where its script has them."""
    words = re.findall(r"\w+", name)
    if not words:
        return re.escape(name)
    front = "" if _RUNNING.match(words[0][0]) else r"(?<!\w)"
    back = "" if _RUNNING.match(words[-1][-1]) else r"(?!\w)"
    return front + r"[\W_]{1,5}".join(map(re.escape, words)) + back


def _at_borders(text: str, start: int, end: int) -> bool:
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum() and not _RUNNING.match(text[start])
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum() and not _RUNNING.match(text[end - 1])
    return not before and not after
