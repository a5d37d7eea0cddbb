"""Which entities that are near in meaning may be one thing: what words, types and titles say against it. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from kgeval.names import forms
from kgeval.names.compare import PLURAL, compare_forms, differ_in_gender
from kgeval.names.forms import NameForm
from kgeval.records import GraphRef

NEAR = "near in meaning"
_form = lru_cache(maxsize=50_000)(forms.form)


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two entities with near embeddings. `cosine`: -1..1. `form`: how their names are alike, or that only the meaning is."""

    a: GraphRef
    b: GraphRef
    cosine: float
    form: str = NEAR


def alike(a: GraphRef, b: GraphRef, *, placeholders: Collection[str] = ()) -> str | None:
    """How two entities with near embeddings may be one: the form that joins their names, or `NEAR`; None where they may not.

    They may not where the types differ (a missing one fits any), where the names are the same once normalised (that is a duplicate
    name) or differ in a plural only, and where a word tells them apart.
    """
    kinds = {kind(end, placeholders) for end in (a, b)} - {""}
    x, y = _form(a.name), _form(b.name)
    if len(kinds) > 1 or not x.norm or not y.norm or x.identity == y.identity:
        return None
    verdict = compare_forms(x, y, kind=forms.kind_of(min(kinds, default="")), thorough=True)
    if verdict.joins:
        return None if verdict.form == PLURAL else verdict.form
    if verdict.certainty == "apart":
        return None
    person = any(forms.is_person(name) for name in kinds)
    return None if _told_apart(x, y) or (person and _another_given_name(x, y)) else NEAR


def kind(entity: GraphRef, placeholders: Collection[str] = ()) -> str:
    """The type for comparison: case-folded, "" if there is none or only a placeholder."""
    return "" if entity.type is None or entity.type in placeholders else entity.type.strip().casefold()


def _told_apart(x: NameForm, y: NameForm) -> bool:
    """By a number, North / South, Mr. / Mrs. or Dr. / Mr. with a bare surname, a single letter, another kind of thing ("College" /
    "University"); where the shorter name is no name by itself ("Church" / "Christian Church"); and single words of which one begins
    the other ("Maya" / "Mayab"), whose embeddings are near for their letters only."""
    if x.apart != y.apart or differ_in_gender(x, y) or x.core == y.core:
        return True
    left, right = _own(x.tokens, y.tokens), _own(y.tokens, x.tokens)
    if any(len(token) == 1 for token in left + right) and left and right:
        return True
    heads = [not forms.HEADS.isdisjoint(own) for own in (left, right)]
    if all(heads) or (any(heads) and not (left and right)):
        return True
    if len(x.tokens) == len(y.tokens) == 1 and forms.folded(x.norm) != forms.folded(y.norm):
        return x.norm.startswith(y.norm) or y.norm.startswith(x.norm)
    return any(not own and forms.GENERIC.issuperset(name) for own, name in ((left, x.tokens), (right, y.tokens)))


def _own(tokens: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    """The words that only this name has; an s at the end does not count."""
    theirs = {token.removesuffix("s") for token in other}
    return [token for token in tokens if token.removesuffix("s") not in theirs]


def _another_given_name(x: NameForm, y: NameForm) -> bool:
    """ "Peter Cratchit" / "Robert Cratchit": one surname, and first names of which none is an initial of the other."""
    a, b = x.core, y.core
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-1] or a[0] == b[0]:
        return False
    return not (1 in (len(a[0]), len(b[0])) and a[0][0] == b[0][0])
