"""fragmented-entity: two entities of one type that are probably the same thing under two surface forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kgeval.audit.blocking import affordable, collect, pairs, split
from kgeval.audit.check import Check, Outcome
from kgeval.audit.contexts import Contexts, Shared
from kgeval.records import Example, GraphRef
from kgeval.text import forms
from kgeval.text.forms import Form
from kgeval.text.names import normalise

ALIAS = "alias"
SURE = (ALIAS, forms.LEGAL_FORM, forms.SPACING, forms.VARIANT)
PEOPLE = ("person", "people", "human", "character", "individual", "persona", "personne", "человек", "人物", "osoba")
PERSONAL = (forms.SUBSET, forms.HONORIFIC, forms.INITIALS)


@dataclass(frozen=True, slots=True)
class Entity:
    """What is kept of an entity: id, key, name, type, aliases (normalised)."""

    element_id: str
    key: str
    name: str
    type: str | None
    kind: str
    aliases: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities (numbers), the form that joins their names, and what they share."""

    a: int
    b: int
    form: str
    shared: Shared


def run(check: Check) -> Outcome:
    """`count`: entities in at least one listed pair; `total`: entities with a name. Each example is one pair."""
    entities = _entities(check)
    candidates, note = _candidates(check, entities)
    found = _judged(entities, candidates, check)
    found.sort(key=lambda p: (-p.shared.strength, p.form not in SURE, entities[p.a].name, entities[p.b].name, p.a, p.b))
    involved = {number for pair in found for number in (pair.a, pair.b)}
    return Outcome(len(involved), len(entities), [_example(entities, pair) for pair in found[: check.sample]], note)


def _entities(check: Check) -> list[Entity]:
    out = []
    unknown = set(check.layout.placeholder_values)
    for row in check.graph.stream(check.query, check.params(), timeout=check.timeout):
        kind = row["type"] if row["type"] not in unknown else None
        if normalise(row["name"]):
            aliases = frozenset(filter(None, (normalise(a[:300]) for a in row["aliases"][:50]))) or forms.NOTHING
            out.append(Entity(row["element_id"], row["key"][:200], row["name"], kind, (kind or "").strip().casefold(), aliases))
    return out


def _candidates(check: Check, entities: list[Entity]) -> tuple[list[tuple[int, int, str]], str | None]:
    """Pairs whose names a form joins: within what they share where a word is common, anywhere where it is rare.

    And a note, if the search ended at `max_pairs`.
    """
    form = lru_cache(maxsize=50_000)(forms.form)
    fits = _fitting(entities, form)
    most, budget = int(check.settings["max_block"]), int(check.settings["max_pairs"])
    blocks = collect(((form(e.name), tuple(e.aliases)) for e in entities), most=most)
    crowd = sorted({number for _, block in blocks.large for number in block})[: int(check.settings["max_crowd"])]
    near = Contexts(check, {number: entities[number].element_id for number in crowd})
    parts = split(blocks.large, near.of, most=most)
    searched = [*parts, *blocks.small]
    done = affordable(searched, budget=budget)
    left = len(searched) - done
    note = f"{left} of {len(searched)} groups of like names were not compared (max_pairs = {budget})" if left else None
    found = list(pairs(searched, fits, budget=budget))
    named = {pair: _form(entities, form, *pair) for pair in found}
    return [(a, b, how) for (a, b), how in named.items() if how], note


def _fitting(entities: list[Entity], form: Callable[[str], Form]) -> Callable[[int, int], bool]:
    """Whether two entities may be one: same type (or one has none), and a form joins the names."""

    def fits(a: int, b: int) -> bool:
        x, y = entities[a], entities[b]
        return (x.kind == y.kind or not x.kind or not y.kind) and _form(entities, form, a, b) is not None

    return fits


def _form(entities: list[Entity], form: Callable[[str], Form], a: int, b: int) -> str | None:
    x, y = form(entities[a].name), form(entities[b].name)
    if x.norm != y.norm and (x.norm in entities[b].aliases or y.norm in entities[a].aliases):
        return ALIAS
    return forms.relation_of(x, y)


def _judged(entities: list[Entity], found: list[tuple[int, int, str]], check: Check) -> list[Pair]:
    """The candidates with enough in common for their form, and not torn between several partners."""
    members = sorted({number for a, b, _ in found for number in (a, b)})[: int(check.settings["max_crowd"])]
    contexts = Contexts(check, {number: entities[number].element_id for number in members})
    judged = [Pair(a, b, how, contexts.shared(a, b)) for a, b, how in found]
    bearers = _bearers(entities)
    rivals = _rivals(judged)
    return [p for p in judged if _enough(p, entities, bearers, check.settings) and not _torn(p, rivals, entities)]


def _bearers(entities: list[Entity]) -> frozenset[str]:
    """Words that stand after an honorific somewhere in the graph: names of people, where the types do not tell."""
    out: set[str] = set()
    for entity in entities:
        parts = forms.form(entity.name)
        if parts.titles:
            out.update(parts.core)
    return frozenset(out - forms.GENERIC)


def _enough(pair: Pair, entities: list[Entity], bearers: frozenset[str], settings: Mapping[str, Any]) -> bool:
    """Whether a pair shares as much as its form asks for. Related entities are rather two: they must share more."""
    x, y, near = entities[pair.a], entities[pair.b], pair.shared
    if pair.form in SURE:
        return True
    signal = near.neighbours + near.chunks > 0 and not (near.related and near.neighbours < 3)
    if pair.form == forms.HONORIFIC:
        return signal or min(len(forms.form(e.name).core) for e in (x, y)) > 1
    if pair.form == forms.ACRONYM:
        return signal or max(len(forms.form(e.name).letters) for e in (x, y)) >= 4
    if pair.form == forms.INITIALS:
        return signal or min(len(forms.form(e.name).core) for e in (x, y)) > 2
    if pair.form == forms.SUBSET:
        return not (near.related and near.neighbours < 3) and _close(pair, _person(x, y, bearers), settings)
    if pair.form == forms.PLURAL:
        return signal and _person(x, y, bearers) is not True
    return near.neighbours > 0 and not near.related


def _person(x: Entity, y: Entity, bearers: frozenset[str]) -> bool | None:
    """True for people, false for another type, null where neither types nor honorifics tell."""
    kind = x.kind or y.kind
    if kind:
        return any(word in kind for word in PEOPLE)
    short = min((forms.form(e.name).core for e in (x, y)), key=len)
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


def _torn(pair: Pair, rivals: Mapping[int, list[Pair]], entities: list[Entity]) -> bool:
    """Whether the shorter name fits another, unrelated longer name nearly as well ("Mr. Hall": Asaph or Angelo?)."""
    if pair.form not in PERSONAL:
        return False
    short, long = sorted((pair.a, pair.b), key=lambda number: (len(forms.form(entities[number].name).core), entities[number].name))
    for other in rivals.get(short, ()):
        partner = other.b if other.a == short else other.a
        alone = forms.relation_of(forms.form(entities[partner].name), forms.form(entities[long].name)) is None
        same = forms.form(entities[partner].name).norm == forms.form(entities[long].name).norm
        shorter = len(forms.form(entities[partner].name).core) < len(forms.form(entities[short].name).core)
        if partner != long and alone and not same and not shorter and other.shared.strength * 1.5 >= pair.shared.strength:
            return True
    return False


def _example(entities: list[Entity], pair: Pair) -> Example:
    items = [
        GraphRef(element_id=e.element_id, key=e.key, name=e.name[:200], type=e.type) for e in (entities[pair.a], entities[pair.b])
    ]
    return Example(items=items, why=f"{pair.form}; {pair.shared}")
