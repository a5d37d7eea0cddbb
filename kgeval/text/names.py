"""Names and their normal forms: Unicode-safe, any script."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from kgeval.text.clean import normal_form

if TYPE_CHECKING:
    import pyarrow as pa

ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "lo", "gli"))
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")
_ELEMENT_ID = re.compile(r"[45]:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")
_ASCII_GAPS = {code: " " for code in range(128) if unicodedata.category(chr(code))[0] in "PZC"}


def normalise(name: str) -> str:
    """The name in NFKC, case-folded, punctuation turned into spaces, one leading article removed, spaces joined.

    A full stop makes an article an initial ("A. Hall"), and so does a hyphen after one letter ("A-Team"; but "El-Araish" is
    "El Araish"). Returns "" for a name with no letter, digit or symbol that carries meaning. Two names are the same at the
    'normalised' level when their normal forms are equal and not empty.
    """
    folded = _APOSTROPHE.sub("", normal_form(name, "NFKC").casefold())  # "O'Neil" = "ONeil"; other punctuation separates
    if folded.isascii():
        words = folded.translate(_ASCII_GAPS).split()
    else:
        words = "".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in folded).split()
    if len(words) > 1 and words[0] in ARTICLES and _ends_article(words[0], folded):
        del words[0]
    return " ".join(words)


def is_element_id(text: str) -> bool:
    """Whether a text looks like an element id of Neo4j: `4:` (node) or `5:` (relation), the database, a number."""
    return _ELEMENT_ID.fullmatch(text) is not None


def _ends_article(first: str, text: str) -> bool:
    """Whether a blank or "_" follows the first word, or a dash after two letters or more."""
    gap = text[text.find(first) + len(first)]
    kind = unicodedata.category(gap)
    return gap == "_" or kind[0] != "P" or (kind == "Pd" and len(first) > 1)


def name_keys(names: pa.Array) -> pa.Array:
    """A column of names -> their keys (kgeval.graph.load.naming.name_key over `normalise`); None for a name without one.

    Plain names, words of ASCII letters and digits with single blanks between them, are only lowered, all at once: this is what
    `normalise` makes of them unless they begin with an article.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from kgeval.graph.load.naming import LONGEST_KEY, name_key

    articles = "|".join(sorted(ARTICLES))
    plain = pc.match_substring_regex(names, "^[A-Za-z0-9]+( [A-Za-z0-9]+)*$")
    plain = pc.and_(plain, pc.invert(pc.match_substring_regex(names, f"^(?i:{articles}) ")))
    # a missing name counts as plain: its key is missing too
    plain = pc.fill_null(pc.and_(plain, pc.less_equal(pc.binary_length(names), LONGEST_KEY)), True)
    lowered = pc.ascii_lower(names)
    # None for a column without rows
    if pc.all(plain).as_py() is not False:
        return lowered
    rest = pc.invert(plain)
    slow = pa.array([name_key(name, normalise) for name in names.filter(rest).to_pylist()], pa.string())
    return pc.replace_with_mask(lowered, rest, slow)
