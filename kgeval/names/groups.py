"""Names that are one thing, among many: groups around what is sure, never across what contradicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kgeval.names.compare import ACRONYM, BRACKETS, SHORT_FORMS, SUBSET, NameVerdict, compare_forms, latin_sound
from kgeval.names.forms import LINKS, NameForm, acronym_keys, folded, form, kind_of, spelling_keys
from kgeval.names.tables import given_names
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    import numpy as np

MOST = 60  # names in a block: a commoner word tells nothing
AROUND = 5  # nearest names whose mean cosine says how near a name is to anything
LEAST = -0.25  # nearness of two groups: what surrounds them may be nearer by an eighth of a cosine
CLEAR = 0.04  # by which two groups must be nearer to each other than to any third


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names by their places, first < second, and what they are to each other."""

    first: int
    second: int
    verdict: NameVerdict


@dataclass
class _Joined:
    """Groups so far: names by their group's place, its type, and which names are apart."""

    group: list[int]
    members: dict[int, set[int]]
    kinds: dict[int, str]
    apart: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def join(self, first: int, second: int) -> bool:
        """Joins two groups, where nothing in them is apart; whether they are one now."""
        into, other = sorted((self.group[first], self.group[second]))
        if into == other:
            return True
        if self.kinds[into] and self.kinds[other] and self.kinds[into] != self.kinds[other]:
            return False
        if any(not self.apart[name].isdisjoint(self.members[other]) for name in self.members[into]):
            return False
        for name in self.members[other]:
            self.group[name] = into
        self.members[into] |= self.members.pop(other)
        self.kinds[into] = self.kinds[into] or self.kinds[other]
        return True


def group_names(
    names: Sequence[str], types: Sequence[str | None] | None = None, *, vectors: np.ndarray[Any, Any] | None = None,
) -> list[list[int]]:
    """The places of names that are one thing, for all names: each in one group, first places first.

    What is sure is joined first, then what is likely; a short form ("Holm", "CIA") only where the fuller names that it fits are one thing.
    No group holds two names that are apart. `types`: what the things are; different ones never join, an unknown one fits any.
    `vectors`: embeddings of unit length, shape (names, dimensions), of texts as `with_type` makes them. With them what is nearest to each
    other in meaning is joined too, where no rule contradicts. That is for lists in which most things stand under several names: where each
    stands once, it joins different things (docs/names.md says how many). Memory: 8 bytes for each pair of names.
    """
    kinds = [(kind or "").strip().casefold() for kind in types] if types is not None else [""] * len(names)
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)  # names that are the same are one from the start, however many
    for place, name in enumerate(names):
        alike[identity_key(name) or f"\0{place}", kinds[place]].append(place)
    first_of = [places[0] for places in alike.values()]
    forms, kinds_of = [form(names[place]) for place in first_of], [kinds[place] for place in first_of]
    joined = _Joined(list(range(len(forms))), {at: {at} for at in range(len(forms))}, dict(enumerate(kinds_of)))
    found = [pair for pair in name_pairs(forms, kinds_of) if pair.verdict.form or pair.verdict.certainty == "apart"]
    for pair in found:
        if pair.verdict.certainty == "apart":
            joined.apart[pair.first].add(pair.second)
            joined.apart[pair.second].add(pair.first)
    for certainty in ("sure", "likely"):
        for pair in found:
            if pair.verdict.certainty == certainty and pair.verdict.form not in SHORT_FORMS:
                joined.join(pair.first, pair.second)
    _join_short_forms([pair for pair in found if _may_be_short(pair, kinds_of)], forms, joined)
    if vectors is not None:
        _join_nearest(vectors[first_of], forms, kinds_of, joined)
    groups = list(alike.values())
    return sorted(sorted(place for at in members for place in groups[at]) for members in joined.members.values())


def _may_be_short(pair: NamePair, kinds: Sequence[str]) -> bool:
    """Whether one name may be short for the other: a part of a name with people only, for elsewhere it names another thing (React, React
    Native)."""
    if not pair.verdict.joins or pair.verdict.form not in SHORT_FORMS:
        return False
    person = "person" in (kind_of(kinds[pair.first]), kind_of(kinds[pair.second]))
    return pair.verdict.certainty != "unlikely" or person or pair.verdict.form != SUBSET


def with_type(name: str, type_: str | None) -> str:
    """A name as it is embedded: with what it is a name of."""
    return f"{name} ({type_})" if type_ else name


def _join_nearest(vectors: np.ndarray[Any, Any], forms: Sequence[NameForm], kinds: Sequence[str], joined: _Joined) -> None:
    """Joins groups that are each other's nearest and clear of any third, until none is left. Nearness is the mean over their names of
    twice the cosine, less how near each of the two is to its neighbours (CSLS; Conneau et al. 2018): what is near to everything is near
    to nothing. Names of two types, and names that are apart, are never joined."""
    import numpy as np

    if len(vectors) < 2:
        return
    cosines = vectors @ vectors.T
    others = cosines - 3 * np.eye(len(vectors))  # a name is none of its own neighbours
    around = np.sort(others, axis=1)[:, -min(AROUND, len(vectors) - 1):].mean(axis=1)
    nearness = 2 * cosines - around[:, None] - around[None, :]
    refused = np.array([[bool(a) and bool(b) and a != b for b in kinds] for a in kinds])
    for a, b in combinations(range(len(forms)), 2):
        if not refused[a, b] and compare_forms(forms[a], forms[b], kind=kind_of(kinds[a] or kinds[b]), thorough=True).certainty == "apart":
            refused[a, b] = refused[b, a] = True
    while pairs := list(_mutually_nearest(nearness, refused, joined)):
        for first, second in pairs:
            joined.join(first, second)


def _mutually_nearest(nearness: np.ndarray[Any, Any], refused: np.ndarray[Any, Any], joined: _Joined) -> Iterator[tuple[int, int]]:
    """A name of each of two groups that are each other's nearest."""
    import numpy as np

    groups = sorted(joined.members)
    if len(groups) < 2:
        return
    held = np.zeros((len(groups), len(nearness)))
    for row, group in enumerate(groups):
        held[row, sorted(joined.members[group])] = 1
    sizes = held.sum(axis=1)
    means = held @ nearness @ held.T / sizes[:, None] / sizes[None, :]
    means[(held @ refused @ held.T) > 0] = -np.inf
    np.fill_diagonal(means, -np.inf)
    nearest = means.argmax(axis=1)
    best = means.max(axis=1)
    second = np.partition(means, -2, axis=1)[:, -2]
    for row, other in enumerate(nearest.tolist()):
        is_clear = best[row] >= max(LEAST, second[row] + CLEAR, second[other] + CLEAR)
        if row < other and nearest[other] == row and is_clear and np.isfinite(best[row]):
            yield groups[row], groups[other]


def _join_short_forms(pairs: Sequence[NamePair], forms: Sequence[NameForm], joined: _Joined) -> None:
    """Joins each short form to the one thing that it fits, the fullest names first."""
    fuller: dict[int, list[NamePair]] = defaultdict(list)
    for pair in pairs:
        short = min((pair.first, pair.second), key=lambda place: (len(forms[place].core), len(forms[place].compact), place))
        fuller[short].append(pair)
    for short in sorted(fuller, key=lambda place: (-len(forms[place].core), -len(forms[place].compact), place)):
        # an acronym is first of all that of the name that it stands beside, then that of a name's words
        by_form = ([pair for pair in fuller[short] if pair.verdict.form == form_] for form_ in (BRACKETS, ACRONYM))
        chosen = next(filter(None, by_form), fuller[short])
        partners = [pair.second if pair.first == short else pair.first for pair in chosen]
        if len({joined.group[partner] for partner in partners} - {joined.group[short]}) == 1:
            joined.join(short, partners[0])


def name_pairs(forms: Sequence[NameForm], kinds: Sequence[str]) -> Iterator[NamePair]:
    """Every pair of names that share a key and not two types, compared. `kinds`: types, case-folded."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(forms):
        for key in dict.fromkeys(meeting_keys(name)):  # in an order that is the same in every run
            blocks[key].append(place)
    seen: set[tuple[int, int]] = set()
    for block in blocks.values():
        for at, first in enumerate(block if len(block) <= MOST else ()):
            for second in block[at + 1:]:
                if (first, second) in seen or (kinds[first] != kinds[second] and kinds[first] and kinds[second]):
                    continue
                seen.add((first, second))
                kind = kind_of(kinds[first] or kinds[second])
                yield NamePair(first, second, compare_forms(forms[first], forms[second], kind=kind, thorough=True))


def meeting_keys(name: NameForm) -> Iterator[str]:
    """The keys under which a name meets others that it may be: words, initials, acronym, sound, both halves of the spelling, singular."""
    yield from (f"t:{token}" for token in (*name.core, *name.base) if token not in LINKS)
    if len(name.core) > 1:
        yield f"i:{name.core[0][0]}{name.core[-1]}"
        yield from (f"i:{full[0]}{name.core[-1]}" for full in given_names().get(name.core[0], ()))
    yield from (f"a:{key}" for key in ([name.letters] if name.letters else acronym_keys(name)))
    if name.bracketed:
        yield f"a:{name.bracketed}"
    compact = name.compact
    yield f"n:{name.norm}"
    yield f"f:{folded(compact)}"
    yield f"l:{latin_sound(compact)}"
    yield from spelling_keys(compact)
    if 5 <= len(compact) <= 8:  # one inner letter less is as far as the middle of a short name
        yield f"d:{compact}"
        yield from (f"d:{compact[:at]}{compact[at + 1:]}" for at in range(1, len(compact) - 1))
