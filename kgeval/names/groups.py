"""Names that are one thing, among many: groups around what is sure, never across what contradicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.names.compare import (
    ACRONYM,
    HONORIFIC,
    IN_BRACKETS,
    INITIALS,
    NICKNAME,
    QUALIFIER,
    SUBSET,
    NameVerdict,
    compare_forms,
    latin_sound,
)
from kgeval.names.forms import LINKS, NameForm, acronym_keys, folded, form, kind_of
from kgeval.names.tables import given_names

SHORT_FORMS = frozenset((ACRONYM, SUBSET, INITIALS, HONORIFIC, NICKNAME, QUALIFIER, IN_BRACKETS))  # what several names can have
MOST = 200  # names in a block: a commoner word tells nothing


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
    names: Sequence[str], types: Sequence[str | None] | None = None, *, cosines: Mapping[tuple[int, int], float] | None = None,
    near: float = 0.9,
) -> list[list[int]]:
    """The places of names that are one thing, for all names: each in one group, first places first.

    What is sure is joined first, then what is likely; a short form ("Holm", "CIA") only where the fuller names that it fits are one thing.
    No group holds two names that are apart. `types`: what the things are; different ones never join, an unknown one fits any.
    `cosines`: of pairs of places, first < second, from embeddings: from `near` on nearness joins what no rule contradicts.
    """
    forms = [form(name) for name in names]
    kinds = [(kind or "").strip().casefold() for kind in types] if types is not None else [""] * len(names)
    found = [pair for pair in name_pairs(forms, kinds) if pair.verdict.form or pair.verdict.certainty == "apart"]
    joined = _Joined(list(range(len(names))), {place: {place} for place in range(len(names))}, dict(enumerate(kinds)))
    for pair in found:
        if pair.verdict.certainty == "apart":
            joined.apart[pair.first].add(pair.second)
            joined.apart[pair.second].add(pair.first)
    for pair in found:
        if pair.verdict.certainty == "sure":
            joined.join(pair.first, pair.second)
    likely = [pair for pair in found if pair.verdict.certainty in ("likely", "unlikely") and pair.verdict.form]
    for pair in likely:
        if pair.verdict.form not in SHORT_FORMS and pair.verdict.certainty == "likely":
            joined.join(pair.first, pair.second)
    _join_short_forms(likely, forms, joined)
    for (first, second), cosine in sorted((cosines or {}).items(), key=lambda item: (-item[1], item[0])):
        if cosine < near or (kinds[first] != kinds[second] and kinds[first] and kinds[second]):
            continue
        verdict = compare_forms(forms[first], forms[second], kind=kind_of(kinds[first] or kinds[second]), thorough=True)
        if verdict.certainty != "apart":
            joined.join(first, second)
    return sorted(sorted(members) for members in joined.members.values())


def _join_short_forms(pairs: Sequence[NamePair], forms: Sequence[NameForm], joined: _Joined) -> None:
    """Joins each short form to the one thing that it fits, the fullest names first."""
    fuller: dict[int, list[NamePair]] = defaultdict(list)
    for pair in pairs:
        if pair.verdict.form in SHORT_FORMS:
            short = min((pair.first, pair.second), key=lambda place: (len(forms[place].core), len(forms[place].compact), place))
            fuller[short].append(pair)
    for short in sorted(fuller, key=lambda place: (-len(forms[place].core), -len(forms[place].compact), place)):
        # a name that is written as an acronym is first of all that of its words
        acronyms = [pair for pair in fuller[short] if pair.verdict.form == ACRONYM]
        partners = [pair.second if pair.first == short else pair.first for pair in acronyms or fuller[short]]
        if len({joined.group[partner] for partner in partners} - {joined.group[short]}) == 1:
            joined.join(short, partners[0])


def name_pairs(forms: Sequence[NameForm], kinds: Sequence[str]) -> Iterator[NamePair]:
    """Every pair of names that share a key and not two types, compared. `kinds`: types, case-folded."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(forms):
        for key in set(meeting_keys(name)):
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
    yield from (f"t:{token}" for token in name.core if token not in LINKS)
    yield from (f"t:{token}" for token in (name.base or ()) if token not in LINKS)
    if len(name.core) > 1:
        yield f"i:{name.core[0][0]}{name.core[-1]}"
        yield from (f"i:{full[0]}{name.core[-1]}" for full in given_names().get(name.core[0], ()))
    letters = [name.letters] if name.letters else []
    yield from (f"a:{key}" for key in (*letters, *([name.bracketed] if name.bracketed else ()), *(() if letters else acronym_keys(name))))
    compact = name.compact
    yield f"n:{name.norm}"
    yield f"f:{folded(compact)}"
    yield f"l:{latin_sound(compact) if not compact.isascii() else folded_sound(compact)}"
    yield from (f"c:{key}" for key in (compact, compact.removesuffix("s"), compact.removesuffix("es"), compact.removesuffix("ies") + "y"))
    if 5 <= len(compact) <= 8:  # one inner letter less is as far as the middle of a short name
        yield f"d:{compact}"
        yield from (f"d:{compact[:at]}{compact[at + 1:]}" for at in range(1, len(compact) - 1))
    if len(compact) >= 6:
        for half in {len(compact) // 2, (len(compact) - 1) // 2}:
            yield f"p:{half}:{compact[:half]}"
            yield f"s:{half}:{compact[-half:]}"


def folded_sound(text: str) -> str:
    """As `latin_sound`, of Latin letters."""
    return latin_sound(text)
