"""Which language a text seems to be written in: by its script, in the Latin one by function words. Says nothing rather than guess. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache

from kgeval.text.wordlists import word_lists

LOOKED_AT = 4_000  # characters: the beginning tells
LEAST_LETTERS = 12  # under this a text tells nothing: a name, a number
MAIN = 0.6  # share of the letters that the script of a text has
LEAST_WORDS = 3  # function words of a language that no other one has
_NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish"}
_ELSEWHERE = {"al", "del", "era", "o"}  # Italian and Portuguese too
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class TextLanguage:
    """How a text is written. `script`: Latin, Cyrillic, Arabic, ..., Chinese, Japanese; `language`: English, German, French or Spanish.
    None where the text does not tell."""

    script: str | None = None
    language: str | None = None

    @property
    def name(self) -> str:
        """The language, else the script."""
        return self.language or (f"{self.script} script" if self.script else "unknown")

    def unlike(self, other: TextLanguage) -> bool:
        """Whether the two are of different languages for sure: of two scripts, or of two of the languages that are told."""
        if self.script is None or other.script is None:
            return False
        if self.script != other.script:
            return True
        return self.language is not None and other.language is not None and self.language != other.language


def detect_language(text: str) -> TextLanguage:
    """What the beginning of a text tells: nothing where it is too short or of mixed scripts; no language where it is in the Latin script
    without enough function words of one of the four."""
    text = text[:LOOKED_AT]
    scripts = _scripts(text)
    if sum(scripts.values()) < LEAST_LETTERS and scripts["Chinese"] + scripts["Japanese"] < LEAST_LETTERS // 2:
        return TextLanguage()
    script = _main(scripts)
    return TextLanguage(script, _by_words(text) if script == "Latin" else None)


def main_script(text: str) -> str | None:
    """The script of most letters of a text, however short: Latin, Cyrillic, ..., Chinese, Japanese; None for one of mixed scripts or
    without letters."""
    return _main(_scripts(text))


def same_script(one: str | None, other: str | None) -> bool:
    """Whether names in a script may stand in texts in another: the same one, one that is not known, ideographs in Japanese."""
    return one is None or other is None or one == other or {one, other} == {"Chinese", "Japanese"}


def _scripts(text: str) -> Counter[str]:
    return Counter(_script(letter) for letter in text if letter.isalpha())


def _main(scripts: Counter[str]) -> str | None:
    letters = sum(scripts.values())
    if scripts["Japanese"] and scripts["Chinese"] + scripts["Japanese"] >= MAIN * letters:
        return "Japanese"  # ideographs with kana between them
    script, count = max(scripts.items(), key=lambda item: item[1], default=(None, 0))
    return script if count and count >= MAIN * letters else None


@cache
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "?").partition(" ")[0]
    return {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese"}.get(first, first.capitalize())


@cache
def _own_words() -> dict[str, str]:
    """Function word -> the one language that has it; words of several languages, also of those that are not told, are left out."""
    lists, articles = word_lists("function_words"), word_lists("articles")
    often = Counter(word for words in lists.values() for word in words)
    often.update(word for name, words in articles.items() if name not in lists for word in words)
    return {word: name for name, words in lists.items() for word in words if often[word] == 1 and word not in _ELSEWHERE}


def _by_words(text: str) -> str | None:
    own = _own_words()
    counts = Counter(own[word] for word in _WORD.findall(text.casefold()) if word in own).most_common(2)
    if not counts or counts[0][1] < LEAST_WORDS or (len(counts) > 1 and counts[0][1] < 2 * counts[1][1]):
        return None
    return _NAMES.get(counts[0][0], counts[0][0])
