"""fragmented-entity: two entities of one type that are probably the same thing under two surface forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from kgeval.auditing.blocking import affordable, collect, pairs, split
from kgeval.auditing.check import Check, Outcome
from kgeval.auditing.contexts import Contexts, Shared
from kgeval.auditing.entity_columns import EntityColumns
from kgeval.auditing.nearness import cosines
from kgeval.auditing.similar import is_person
from kgeval.auditing.slices import rows
from kgeval.graph.connect import Row
from kgeval.records import Example
from kgeval.text import forms
from kgeval.text.forms import NameForm
from kgeval.text.names import normalise

ALIAS = "alias"
SURE = (ALIAS, forms.LEGAL_FORM, forms.SPACING, forms.VARIANT)
PERSONAL = (forms.SUBSET, forms.HONORIFIC, forms.INITIALS)
DOUBTED = (forms.SUBSET, forms.PLURAL, forms.SPELLING)


class Entities:
    """Every entity with a name: `roll` (id, key, name, type), the few that have aliases (normalised), their types case-folded."""

    def __init__(self, check: Check) -> None:
        self.roll = EntityColumns()
        self.aliases: dict[int, frozenset[str]] = {}
        self._unknown = set(check.layout.placeholder_values)
        for row in rows(check, "entity-slices", aliases=True):
            if normalise(row["name"][:300]):
                self._add(row)
        self._folded = [(kind or "").strip().casefold() for kind in self.roll.kinds]
        self.form: Callable[[str], NameForm] = lru_cache(maxsize=2_000)(forms.form)

    def _add(self, row: Row) -> None:
        kind = row["type"] if row["type"] not in self._unknown else None
        if aliases := frozenset(filter(None, (normalise(a[:300]) for a in row["aliases"][:50]))):
            self.aliases[len(self.roll)] = aliases
        self.roll.append(row["element_id"], row["key"], row["name"][:300], kind)

    def __len__(self) -> int:
        return len(self.roll)

    def name(self, at: int) -> str:
        """The entity's name."""
        return self.roll.names[at]

    def kind(self, at: int) -> str:
        """The entity's type, case-folded; "" if it has none."""
        return self._folded[self.roll.kind_code(at)]

    def form_of(self, at: int) -> NameForm:
        """The entity's name taken apart."""
        return self.form(self.roll.names[at])

    def joined_by(self, a: int, b: int) -> str | None:
        """The form that joins the names of two entities, if there is one."""
        x, y = self.form_of(a), self.form_of(b)
        if x.norm != y.norm and (x.norm in self.aliases.get(b, ()) or y.norm in self.aliases.get(a, ())):
            return ALIAS
        return forms.relation_of(x, y)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities (numbers), the form that joins their names, what they share, and the cosine of their embeddings where it is known."""

    a: int
    b: int
    form: str
    shared: Shared
    cosine: float | None = None


def run(check: Check) -> Outcome:
    """`count`: entities in at least one listed pair; `total`: entities with a name. Each example is one pair."""
    entities = Entities(check)
    candidates, bearers, note = _candidates(check, entities)
    found = _judged(entities, candidates, bearers, check)
    found.sort(key=lambda p: (-p.shared.strength, p.form not in SURE, entities.name(p.a), entities.name(p.b), p.a, p.b))
    involved = {number for pair in found for number in (pair.a, pair.b)}
    return Outcome(len(involved), len(entities), [_example(entities, pair) for pair in found[: check.sample]], note, len(found))


Candidates = list[tuple[int, int, str]]


def _candidates(check: Check, entities: Entities) -> tuple[Candidates, frozenset[str], str | None]:
    """Pairs whose names a form joins: within what they share where a word is common, anywhere where it is rare.

    The words that only people bear; and a note, if the search ended at `max_pairs`.
    """
    most, budget = int(check.settings["max_block"]), int(check.settings["max_pairs"])
    bearers: set[str] = set()
    blocks = collect(_forms(entities, bearers), most=most, crowd=int(check.settings["max_crowd"]))
    near = Contexts(check, {number: entities.roll.element_id(number) for number in blocks.crowd()})
    parts = split(blocks.large(), near.codes, most=most)
    small = blocks.small_sizes
    left = len(parts) + len(small) - affordable(chain(map(len, parts), map(int, small)), budget=budget)
    note = f"{left} of {len(parts) + len(small)} groups of like names were not compared (max_pairs = {budget})" if left else None
    found = list(pairs(chain(parts, blocks.small()), _joining(entities), budget=budget))
    return found, frozenset(bearers - forms.GENERIC), note


def _forms(entities: Entities, bearers: set[str]) -> Iterator[tuple[NameForm, Sequence[str]]]:
    """Each name taken apart, and the entity's aliases. `bearers` receives the words that stand after an honorific somewhere in the
    graph: names of people, where the types do not tell."""
    for at in range(len(entities)):
        parts = forms.form(entities.name(at))
        if parts.titles:
            bearers.update(parts.core)
        yield parts, tuple(entities.aliases.get(at, ()))


def _joining(entities: Entities) -> Callable[[int, int], str | None]:
    """The form that joins the names of two entities of the same type (or one has none); null where none does."""

    def joined(a: int, b: int) -> str | None:
        x, y = entities.kind(a), entities.kind(b)
        return entities.joined_by(a, b) if x == y or not x or not y else None

    return joined


def _judged(entities: Entities, found: Candidates, bearers: frozenset[str], check: Check) -> list[Pair]:
    """The candidates with enough in common for their form, and not torn between several partners."""
    members = sorted({number for a, b, _ in found for number in (a, b)})[: int(check.settings["max_crowd"])]
    contexts = Contexts(check, {number: entities.roll.element_id(number) for number in members})
    known = _cosines(check, entities, found)
    judged = [Pair(a, b, how, contexts.shared(a, b), known.get((a, b))) for a, b, how in found]
    rivals = _rivals(judged)
    return [p for p in judged if _enough(p, entities, bearers, check.settings) and not _torn(p, rivals, entities)]


def _cosines(check: Check, entities: Entities, found: Candidates) -> dict[tuple[int, int], float]:
    """The cosine of the embeddings of the pairs that a weak form joins (the first `max_crowd` of them), where embeddings are known."""
    if check.embedding is None and check.layout.embedding_key is None:
        return {}
    weak = [(a, b) for a, b, how in found if how not in SURE][: int(check.settings["max_crowd"])]
    refs = [(entities.roll.reference(a), entities.roll.reference(b)) for a, b in weak]
    known = cosines(check, refs)
    keys = [(a.element_id or "", b.element_id or "") for a, b in refs]
    return {pair: known[key] for pair, key in zip(weak, keys, strict=True) if key in known}


def _enough(pair: Pair, entities: Entities, bearers: frozenset[str], settings: Mapping[str, Any]) -> bool:
    """Whether a pair shares as much as its form asks for. Related entities are rather two: they must share more."""
    x, y, near = entities.form_of(pair.a), entities.form_of(pair.b), pair.shared
    if pair.form in SURE:
        return True
    if pair.cosine is not None and (decided := _by_meaning(pair, pair.cosine, settings)) is not None:
        return decided
    signal = near.neighbours + near.chunks > 0 and not (near.related and near.neighbours < 3)
    if pair.form == forms.HONORIFIC:
        return signal or min(len(x.core), len(y.core)) > 1
    if pair.form == forms.ACRONYM:
        return signal or max(len(x.letters), len(y.letters)) >= 4
    if pair.form == forms.INITIALS:
        return signal or min(len(x.core), len(y.core)) > 2
    if pair.form == forms.SUBSET:
        return not (near.related and near.neighbours < 3) and _close(pair, _person(pair, entities, bearers), settings)
    if pair.form == forms.PLURAL:
        return signal and _person(pair, entities, bearers) is not True
    return near.neighbours > 0 and not near.related


def _by_meaning(pair: Pair, cosine: float, settings: Mapping[str, Any]) -> bool | None:
    """What near embeddings (true) or far ones (false) decide; null where they do not. The names of one and of many are always near, so
    that a plural can only be doubted; an acronym and initials are far from what they stand for, so that they can only be supported."""
    if pair.form in DOUBTED and cosine < settings["far_cosine"]:
        return False
    if pair.form == forms.PLURAL or cosine < settings["near_cosine"]:
        return None
    return True if not (pair.shared.related and pair.shared.neighbours < 3) else None


def _person(pair: Pair, entities: Entities, bearers: frozenset[str]) -> bool | None:
    """True for people, false for another type, null where neither types nor honorifics tell."""
    kind = entities.kind(pair.a) or entities.kind(pair.b)
    if kind:
        return is_person(kind)
    short = min(entities.form_of(pair.a).core, entities.form_of(pair.b).core, key=len)
    return True if bearers.issuperset(short) else None


def _close(pair: Pair, person: bool | None, settings: Mapping[str, Any]) -> bool:
    """For a part of a name: people need little in common, things much."""
    near = pair.shared
    if person:
        return near.neighbours >= 2 or (near.neighbours == 1 and near.jaccard >= settings["min_jaccard"])
    return near.neighbours >= 2 and near.jaccard >= settings["min_jaccard_things"]


def _rivals(judged: list[Pair]) -> dict[int, list[Pair]]:
    """The pairs of each entity whose form could mean several partners."""
    out: dict[int, list[Pair]] = {}
    for pair in judged:
        if pair.form in PERSONAL:
            out.setdefault(pair.a, []).append(pair)
            out.setdefault(pair.b, []).append(pair)
    return out


def _torn(pair: Pair, rivals: Mapping[int, list[Pair]], entities: Entities) -> bool:
    """Whether the shorter name fits another, unrelated longer name nearly as well ("Mr. Hall": Asaph or Angelo?)."""
    if pair.form not in PERSONAL:
        return False
    short, long = sorted((pair.a, pair.b), key=lambda number: (len(entities.form_of(number).core), entities.name(number)))
    one, other_name = entities.form_of(short), entities.form_of(long)
    for other in rivals.get(short, ()):
        partner = other.b if other.a == short else other.a
        third = entities.form_of(partner)
        alone = forms.relation_of(third, other_name) is None
        same = third.norm == other_name.norm
        shorter = len(third.core) < len(one.core)
        if partner != long and alone and not same and not shorter and other.shared.strength * 1.5 >= pair.shared.strength:
            return True
    return False


def _example(entities: Entities, pair: Pair) -> Example:
    items = [entities.roll.reference(at) for at in (pair.a, pair.b)]
    cosine = "" if pair.cosine is None else f"; cosine {pair.cosine:.3f}"
    return Example(items=items, why=f"{pair.form}; {pair.shared}{cosine}")
