"""Common nouns that a document speaks of often ("the carriage"): things without a proper name. Off unless asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from kgeval.text.extract.lexicon import OPENERS, lemma
from kgeval.text.extract.proper import Name
from kgeval.text.extract.words import SPACE, Capitals, Words

_ARTICLES = ("the", "a", "an")
_SHARE = 0.35  # of a noun's uses that have an article before them


def usual_nouns(counts: Capitals, least: int) -> frozenset[str]:
    """Words in small letters that stand right after an article at least `least` times, and in a third of their uses or more."""
    return frozenset(
        word for word, times in counts.articled.items()
        if times >= least and times >= _SHARE * counts.small[word] and len(word) > 2 and word not in OPENERS
        and not word.endswith(("ly", "est")) and lemma(word, ()) in (None, word)
    )


def nouns_in(words: Words, usual: AbstractSet[str], names: Sequence[Name]) -> Iterator[Name]:
    """The uses of those nouns after an article and before something that is no noun, outside of names."""
    if not usual:
        return
    taken = {at for name in names for at in range(name.first, name.last)}
    for at in range(1, len(words)):
        word = words.lower[at]
        if word in usual and words.words[at] == word and words.lower[at - 1] in _ARTICLES and at not in taken and _ends(words, at, taken):
            yield Name(at, at + 1, word)


def _ends(words: Words, at: int, taken: set[int]) -> bool:
    """Whether the noun is the last word of its phrase."""
    if at + 1 >= len(words) or words.gaps[at + 1] != SPACE:
        return True
    following = words.lower[at + 1]
    return at + 1 not in taken and (following in OPENERS or lemma(following, ()) is not None)
