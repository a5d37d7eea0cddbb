"""The gold names as an index: one look-up a graph name tells which gold entities it could be, at which level. Pure.

Graph names stream past; only the gold side is kept in memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kgeval.auditing.completeness.fuzzy import FuzzyIndex
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.near import may_be_same
from kgeval.records import LEVELS, Level
from kgeval.text import forms
from kgeval.text.forms import Form
from kgeval.text.names import normalise

RANK: dict[Level, int] = {level: at for at, level in enumerate(LEVELS)}
SAME_THING = (forms.HONORIFIC, forms.INITIALS, forms.ACRONYM, forms.LEGAL_FORM, forms.SPACING, forms.PLURAL, forms.VARIANT)
SEVERAL = (forms.HONORIFIC, forms.INITIALS, forms.ACRONYM)
SHORTEST_VARIANT = 6  # letters, as forms.relation_of asks for
_DOUBLED = re.compile(r"(.)\1+")
LONGEST = 300  # characters that forms and fuzzy matching look at


@dataclass(frozen=True, slots=True)
class Hit:
    """A gold entity (its position) that a graph name could be: level as its rank in LEVELS, similarity, and what agrees.

    `one_of`: the graph's name (normalised) where `why` is a form that several names can have ("J. Smith": John or James).
    """

    item: int
    rank: int
    score: float | None = None
    why: str = ""
    one_of: str = ""


class GoldIndex:
    """Gold names by exact text, normal form, alias, surface form and pieces, for the levels asked for.

    `fuzzy`: lowest token_sort_ratio, 70..100.
    """

    def __init__(self, gold: Gold, levels: Collection[Level], *, fuzzy: float = 90.0) -> None:
        self._levels = frozenset(levels)
        self._exact: dict[str, list[int]] = {}
        self._normal: dict[str, list[int]] = {}
        self._aliases: dict[str, list[tuple[int, str]]] = {}
        self._forms = [forms.form(entity.name) for entity in gold.entities]
        self._blocks: dict[str, list[int]] = {}
        for at, entity in enumerate(gold.entities):
            for spelling in gold.spellings[at]:
                _add(self._exact, spelling, at)
                _add(self._normal, normalise(spelling), at)
            for alias in entity.aliases:
                self._aliases.setdefault(normalise(alias), []).append((at, alias))
        if "alias" in self._levels:
            for at, form in enumerate(self._forms):
                for key in {*block_keys(form), *letter_keys(form)}:
                    _add(self._blocks, key, at)
        self._aliases.pop("", None)
        names = [form.norm for form in self._forms] if "fuzzy" in self._levels else []
        self._fuzzy = FuzzyIndex(names, fuzzy)

    def hits(self, name: str, aliases: Sequence[str] = ()) -> Iterator[Hit]:
        """Every gold entity that an entity of this name and these aliases could be; one may come at several levels."""
        if "exact" in self._levels:
            yield from (Hit(at, 0) for at in self._exact.get(name, ()))
        form = forms.form(name) if self._levels & {"alias", "fuzzy"} else None
        normal = form.norm if form and len(name) <= LONGEST else normalise(name)
        if "normalised" in self._levels:
            yield from (Hit(at, 1) for at in self._normal.get(normal, ()) if normal)
        if form is None:
            return
        if "alias" in self._levels:
            yield from self._by_alias(name, normal, aliases)
            yield from self._by_form(form)
        if "fuzzy" in self._levels:
            yield from self._by_pieces(form)

    def _by_alias(self, name: str, normal: str, aliases: Sequence[str]) -> Iterator[Hit]:
        """Aliases of the gold entity or of the graph's, compared in normal form."""
        for at, alias in self._aliases.get(normal, ()):
            yield Hit(at, 2, why=f"gold alias '{alias}'")
        for other in aliases:
            known = normalise(other[:LONGEST])
            for at in self._normal.get(known, ()) if known else ():
                yield Hit(at, 2, why=f"alias '{other[:100]}' of {name[:100]}")
            for at, alias in self._aliases.get(known, ()) if known else ():
                yield Hit(at, 2, why=f"gold alias '{alias}' and alias '{other[:100]}'")

    def _by_form(self, form: Form) -> Iterator[Hit]:
        """Names of which one is a written form of the other: without title, with initials, as an acronym ..."""
        get = self._blocks.get
        candidates: set[int] = set()
        for key in block_keys(form):
            candidates.update(get(key, ()))
        for key in letter_keys(form, others=True):
            candidates.update(get(key, ()))
        for at in candidates:
            how = forms.relation_of(form, self._forms[at])
            if how in SAME_THING:
                yield Hit(at, 2, why=how, one_of=form.norm if how in SEVERAL else "")

    def _by_pieces(self, form: Form) -> Iterator[Hit]:
        for at, score in self._fuzzy.near(form.norm):
            if may_be_same(form, self._forms[at]):
                yield Hit(at, 3, score)


def block_keys(form: Form) -> Iterator[str]:
    """Under which keys two names meet that one of the forms of SAME_THING could join, initials and acronyms left out."""
    if not form.core:
        return
    yield "h:" + " ".join(form.core)
    bare = list(form.core)
    while len(bare) > 1 and bare[-1] in forms.LEGAL:
        bare.pop()
    yield "l:" + " ".join(bare)
    compact = form.compact
    yield "c:" + compact
    if compact.endswith("s"):
        yield from (f"c:{key}" for key in (compact[:-1], compact.removesuffix("es"), compact.removesuffix("ies") + "y"))
    if len(compact) >= SHORTEST_VARIANT:
        yield "v:" + (_folded(compact) if compact.isascii() else forms.folded(compact))


def letter_keys(form: Form, *, others: bool = False) -> Iterator[str]:
    """Keys of acronyms and of initials. `others`: those of the names that this one could meet.

    An acronym meets names of several words, never another one; of two names that initials join, one has a word of one letter.
    """
    if form.letters:
        yield ("long:" if others else "short:") + form.letters
    yield from (("short:" if others else "long:") + key for key in forms.acronym_keys(form))
    if len(form.core) < 2:
        return
    short = any(len(token) == 1 for token in form.core)
    ends = f"{form.core[0][0]} {form.core[-1]}"
    if not others:
        yield f"i{short:d}:{ends}"
        return
    yield f"i1:{ends}"
    if short:
        yield f"i0:{ends}"


def _folded(text: str) -> str:
    """forms.folded for letters without accents, at a third of its cost."""
    for old, new in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ph", "f"), ("h", ""), ("z", "s"), ("k", "c")):
        text = text.replace(old, new)
    return _DOUBLED.sub(r"\1", text)


def _add(index: dict[str, list[int]], key: str, at: int) -> None:
    numbers = index.setdefault(key, [])
    if at not in numbers:
        numbers.append(at)
