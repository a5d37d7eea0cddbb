"""Names and their normal forms: Unicode-safe, any script."""

from __future__ import annotations

import re
import unicodedata

_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli)\s+", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def normalise(name: str) -> str:
    """The name in NFKC, case-folded, punctuation turned into spaces, one leading article removed, spaces joined.

    Returns "" for a name with no letter, digit or symbol that carries meaning. Two names are the same at the
    'normalised' level when their normal forms are equal and not empty.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    kept = "".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in _without_apostrophes(folded))
    return _SPACE.sub(" ", _ARTICLE.sub("", _SPACE.sub(" ", kept).strip())).strip()


def _without_apostrophes(text: str) -> str:
    """Apostrophes inside words vanish ("O'Neil" = "ONeil"), other punctuation separates."""
    return re.sub(r"(?<=\w)['\u2019\u02bc](?=\w)", "", text)
