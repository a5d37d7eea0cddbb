"""The gold names as an index: one look-up a graph name tells which gold entities it could be, at which level. Pure.

Graph names stream past; only the gold side is kept in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kgeval.auditing.completeness.gold import Gold
from kgeval.names import forms
from kgeval.names.compare import (
    ACRONYM,
    HONORIFIC,
    INITIALS,
    LEGAL_FORM,
    NICKNAME,
    ORDER,
    PLURAL,
    SCRIPT,
    SHORT_FORMS,
    SPACING,
    VARIANT,
    are_told_apart,
    compare_forms,
    opposed,
)
from kgeval.names.forms import NameForm
from kgeval.records import LEVELS, Level
from kgeval.text.signs import identity_key

# Which near spellings are the same name: what a high token_sort_ratio lets through and a reader would not. Pure.

SHORT = 5  # a word of fewer letters that differs is rather another word
SHORTEST_ALONE = 6  # a name of one word needs this many letters to be recognised although it is misspelt


def may_be_same(a: NameForm, b: NameForm) -> bool:
    """Whether two names that are near in spelling can be one.

    Not where they differ in a number, in a word that tells things apart ("North"), or in the gender of a title. Words that
    stand in one name only must be near spellings of each other, at most one word in three; what one name has more must be one
    word, and no word that makes another thing of it ("Robertson" / "Robertson Bed", "Professor" / "Professor C").
    """
    from rapidfuzz.fuzz import ratio

    if are_told_apart(a, b) or a.is_identifier or b.is_identifier:  # fetchUser / fetchUsers
        return False
    left, right = _without(a.tokens, b.tokens), _without(b.tokens, a.tokens)
    if not left and not right:
        return True
    if len(left) > len(right):
        left, right = right, left
    if len(a.tokens) == len(b.tokens) == 1:
        x, y = left[0], right[0]  # a name of one word must be long, begin alike, and be near
        return min(len(x), len(y)) >= SHORTEST_ALONE and x[0] == y[0] and _near(x, y)
    # one word in three may be misspelt, and one in names of fewer than three
    most = max(1, min(len(a.tokens), len(b.tokens)) // 3)
    if len(left) > most or len(right) - len(left) > 1:
        return False
    extra = list(right)
    for word in left:
        best = max(extra, key=lambda other: (ratio(word, other), other))
        extra.remove(best)
        if not _near(word, best):
            return False
    return not any(len(word) == 1 or word in forms.HEADS or word in forms.GENERIC or word in forms.TELL_APART for word in extra)


def _without(tokens: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    """The tokens that the other name lacks, repeats counted."""
    left = list(other)
    kept = []
    for token in tokens:
        if token in left:
            left.remove(token)
        else:
            kept.append(token)
    return kept


def _near(x: str, y: str) -> bool:
    from rapidfuzz.fuzz import ratio

    short, long = sorted((x, y), key=len)
    if x.endswith(("woman", "women")) != y.endswith(("woman", "women")) or opposed(x, y):
        return False
    if len(short) >= 3 and (long.startswith(short) or long.endswith(short)) and len(long) - len(short) <= 3:
        return True
    return ratio(x, y) >= (85 if len(short) < SHORT else 70) and (x[0] == y[0] or len(short) >= 8)


# Which gold names come near a name, without comparing all with all, and without losing one. Pure.

LONGEST_KEY = 5  # letters; more would part pieces of nearly equal length into more look-ups, fewer give more wrong candidates


# a stretch of a name (start, end), and by text the gold names (numbers) that have it as a piece that may stand there
Window = tuple[int, int, dict[str, tuple[int, ...]]]


class FuzzyIndex:
    """Gold names (normalised) by pieces. `threshold`: token_sort_ratio, 70..100 (below, a name could have no unchanged piece)."""

    def __init__(self, names: Sequence[str], threshold: float) -> None:
        self._threshold = threshold
        self._names: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            if name:
                self._names.setdefault(sorted_tokens(name), []).append(number)
        self._texts = list(self._names)
        self._numbers = list(self._names.values())
        self._lengths: dict[int, list[int]] = {}
        for index, name in enumerate(self._texts):
            self._lengths.setdefault(len(name), []).append(index)
        self._windows: dict[int, list[Window]] = {}

    def near(self, name: str) -> Iterator[tuple[int, float]]:
        """Number and token_sort_ratio (threshold..100) of every gold name that reaches the threshold with `name` (normalised)."""
        from rapidfuzz.fuzz import ratio

        probe = sorted_tokens(name)
        for index in self._candidates(probe):
            score = ratio(probe, self._texts[index], score_cutoff=self._threshold)
            if score >= self._threshold:
                yield from ((number, score) for number in self._numbers[index])

    def _candidates(self, probe: str) -> set[int]:
        if len(probe) not in self._windows:
            self._windows[len(probe)] = self._windows_of(len(probe))
        numbers: set[int] = set()
        for start, end, table in self._windows[len(probe)]:
            numbers.update(table.get(probe[start:end], ()))
        return numbers

    def _windows_of(self, length: int) -> list[Window]:
        """Where the pieces of every gold name that a name of this length can reach may stand; made when such a name first comes."""
        tables: dict[tuple[int, int], dict[str, list[int]]] = {}
        for own, members in self._lengths.items():
            edits = most_edits(own, length, self._threshold)
            for piece in range(edits + 1):  # of nearly equal length; from a threshold of 70 on there are letters enough
                start, piece_end = own * piece // (edits + 1), own * (piece + 1) // (edits + 1)
                end = min(piece_end, start + LONGEST_KEY)  # of a piece that stands unchanged, its beginning does too
                for shift in range(-piece, piece + 1, 2):  # so far can a piece be shifted that has `piece` edits before it and none in it
                    too_far = abs(length - own - shift) > edits - piece  # the edits behind it cannot make up for the length
                    if too_far or start + shift < 0 or piece_end + shift > length:
                        continue
                    table = tables.setdefault((start + shift, end + shift), {})
                    for index in members:
                        table.setdefault(self._texts[index][start:end], []).append(index)
        return [(*place, {text: tuple(numbers) for text, numbers in tables[place].items()}) for place in sorted(tables)]


def sorted_tokens(name: str) -> str:
    """The name's tokens in alphabetical order, as token_sort_ratio compares them."""
    return " ".join(sorted(name.split()))


def most_edits(n: int, m: int, threshold: float) -> int:
    """The most deletions and insertions between names of n and m letters that keep the ratio at the threshold; -1 if none do.

    The number of edits has the parity of m - n.
    """
    # ratio = 100 * (1 - edits / (n + m)), a replaced letter being two edits; 1e-9 for what floats lose at whole numbers
    allowed = int((n + m) * (1 - threshold / 100) + 1e-9)
    edits = allowed - (allowed - abs(m - n)) % 2
    return edits if edits >= abs(m - n) else -1


RANK: dict[Level, int] = {level: at for at, level in enumerate(LEVELS)}
SAME_THING = (HONORIFIC, INITIALS, ACRONYM, LEGAL_FORM, SPACING, PLURAL, VARIANT, NICKNAME, ORDER, SCRIPT)
SHORTEST_VARIANT = 6  # letters, as compare_forms asks for
LONGEST = 300  # characters that forms and fuzzy matching look at


@dataclass(frozen=True, slots=True)
class NameHit:
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
        for item, entity in enumerate(gold.entities):
            for spelling in gold.spellings[item]:
                _add(self._exact, spelling, item)
                _add(self._normal, identity_key(spelling), item)
            for alias in entity.aliases:
                self._aliases.setdefault(identity_key(alias), []).append((item, alias))
        if "alias" in self._levels:
            for item, form in enumerate(self._forms):
                for key in {*block_keys(form), *letter_keys(form)}:
                    _add(self._blocks, key, item)
        self._aliases.pop("", None)
        names = [form.norm for form in self._forms] if "fuzzy" in self._levels else []
        self._fuzzy = FuzzyIndex(names, fuzzy)

    def hits(self, name: str, aliases: Sequence[str] = ()) -> Iterator[NameHit]:
        """Every gold entity that an entity of this name and these aliases could be; one may come at several levels."""
        if "exact" in self._levels:
            yield from (NameHit(item, 0) for item in self._exact.get(name, ()))
        form = forms.form(name) if self._levels & {"alias", "fuzzy"} else None
        normal = form.identity if form and len(name) <= LONGEST else identity_key(name)
        if "normalised" in self._levels:
            yield from (NameHit(item, 1) for item in self._normal.get(normal, ()) if normal)
        if form is None:
            return
        if "alias" in self._levels:
            yield from self._by_alias(name, normal, aliases)
            yield from self._by_form(form)
        if "fuzzy" in self._levels:
            # a high ratio alone is not enough: `may_be_same` drops what a reader would not take for one name
            yield from (NameHit(item, 3, score) for item, score in self._fuzzy.near(form.norm) if may_be_same(form, self._forms[item]))

    def _by_alias(self, name: str, normal: str, aliases: Sequence[str]) -> Iterator[NameHit]:
        """Aliases of the gold entity or of the graph's, compared in normal form."""
        for item, alias in self._aliases.get(normal, ()):
            yield NameHit(item, 2, why=f"gold alias '{alias}'")
        for other in aliases:
            known = identity_key(other[:LONGEST])
            for item in self._normal.get(known, ()) if known else ():
                yield NameHit(item, 2, why=f"alias '{other[:100]}' of {name[:100]}")
            for item, alias in self._aliases.get(known, ()) if known else ():
                yield NameHit(item, 2, why=f"gold alias '{alias}' and alias '{other[:100]}'")

    def _by_form(self, form: NameForm) -> Iterator[NameHit]:
        """Names of which one is a written form of the other: without title, with initials, as an acronym ..."""
        keys = (*block_keys(form), *letter_keys(form, others=True))
        for item in {item for key in keys for item in self._blocks.get(key, ())}:
            verdict = compare_forms(form, self._forms[item])
            how = verdict.form
            if verdict.joins and (how in SAME_THING or verdict.certainty == "sure"):
                yield NameHit(item, 2, why=how, one_of=form.norm if how in SHORT_FORMS else "")


def block_keys(form: NameForm) -> Iterator[str]:
    """Under which keys two names meet that one of the forms of SAME_THING could join, initials and acronyms left out."""
    if not form.core:
        return
    yield "h:" + " ".join(form.core)
    yield "l:" + " ".join(forms.without_legal(form.core))
    compact = form.compact
    yield "c:" + compact
    if compact.endswith("s"):
        yield from (f"c:{key}" for key in (compact[:-1], compact.removesuffix("es"), compact.removesuffix("ies") + "y"))
    if len(compact) >= SHORTEST_VARIANT:
        yield "v:" + forms.folded(compact)


def letter_keys(form: NameForm, *, others: bool = False) -> Iterator[str]:
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


def _add(index: dict[str, list[int]], key: str, at: int) -> None:
    numbers = index.setdefault(key, [])
    if at not in numbers:
        numbers.append(at)
