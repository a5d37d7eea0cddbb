"""fragmented-entity: two entities of one type that are probably the same thing under two surface forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from kgeval.auditing.blocking import affordable, collect, pairs, split
from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.constants import node_comparison, told_apart
from kgeval.auditing.contexts import Contexts, SharedContext
from kgeval.auditing.entity_columns import EntityColumns
from kgeval.auditing.nearness import cosines
from kgeval.names import forms
from kgeval.names.compare import ACRONYM, HONORIFIC, INITIALS, PLURAL, SHORT_FORMS, SPELLING, SUBSET, NameVerdict, compare_forms
from kgeval.names.forms import NameForm
from kgeval.records import Example
from kgeval.text.signs import identity_key

ALIAS = "alias"
DOUBTED = (SUBSET, PLURAL, SPELLING)
DOUBTED_MADE = (SUBSET, PLURAL)  # of things in what people made, whose names are those of goods
BY_ALIAS = NameVerdict("sure", ALIAS)


class NamedEntities:
    """Every entity with a name: `roll` (id, key, name, type), the few that have aliases (by identity), their types case-folded."""

    def __init__(self, check: CheckRun) -> None:
        self.roll = EntityColumns()
        self.aliases: dict[int, frozenset[str]] = {}
        unknown = set(check.layout.placeholder_values)
        for row in check.sliced_rows("entity-slices", aliases=True):
            if identity_key(row["name"][:300]):
                kind = row["type"] if row["type"] not in unknown else None
                if aliases := frozenset(filter(None, (identity_key(alias[:300]) for alias in row["aliases"][:50]))):
                    self.aliases[len(self.roll)] = aliases
                self.roll.append(row["element_id"], row["key"], row["name"][:300], kind)
        self._folded = [(kind or "").strip().casefold() for kind in self.roll.kinds]
        self.form: Callable[[str], NameForm] = lru_cache(maxsize=2_000)(forms.form)

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

    def joined_by(self, a: int, b: int) -> NameVerdict | None:
        """What joins the names of two entities of the same type (or one has none); None where nothing does."""
        kind, other = self.kind(a), self.kind(b)
        if kind != other and kind and other:
            return None
        x, y = self.form_of(a), self.form_of(b)
        if x.identity == y.identity:
            return None
        if x.identity in self.aliases.get(b, ()) or y.identity in self.aliases.get(a, ()):
            return BY_ALIAS
        verdict = compare_forms(x, y, kind=forms.kind_of(kind or other))
        return verdict if verdict.joins else None


@dataclass(frozen=True, slots=True)
class FormPair:
    """Two entities (numbers), what joins their names, what they share, and the cosine of their embeddings where it is known."""

    a: int
    b: int
    verdict: NameVerdict
    shared: SharedContext
    cosine: float | None = None

    @property
    def form(self) -> str:
        """The form that joins the names."""
        return self.verdict.form

    @property
    def is_sure(self) -> bool:
        """Whether the names alone say that they are one thing."""
        return self.verdict.certainty == "sure"


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities in at least one listed pair; `total`: entities with a name. Each example is one pair.

    A pair is listed if it has as much in common as the form of its names asks for, and is not torn between several partners.
    """
    entities = NamedEntities(check)
    candidates, bearers, note = _candidates(check, entities)
    members = sorted({number for a, b, _ in candidates for number in (a, b)})[: int(check.settings["max_crowd"])]
    contexts = Contexts(check, {number: entities.roll.element_id(number) for number in members})
    cosine_of = _cosines(check, entities, candidates)
    judged = [FormPair(a, b, verdict, contexts.shared(a, b), cosine_of.get((a, b))) for a, b, verdict in candidates]
    rivals: dict[int, list[FormPair]] = {}  # by entity the pairs whose form could mean several partners
    for pair in judged:
        if pair.form in SHORT_FORMS:
            rivals.setdefault(pair.a, []).append(pair)
            rivals.setdefault(pair.b, []).append(pair)
    enough = [p for p in judged if _enough(p, entities, bearers, check.settings) and not _torn(p, rivals, entities)]
    listed = _without_told_apart(check, entities, enough, contexts)
    listed.sort(key=lambda p: (not p.is_sure, -p.shared.strength, entities.name(p.a), entities.name(p.b), p.a, p.b))
    examples = []
    for pair in listed[: check.sample]:
        cosine = "" if pair.cosine is None else f"; cosine {pair.cosine:.3f}"
        items = [entities.roll.reference(entity) for entity in (pair.a, pair.b)]
        examples.append(Example(items=items, why=f"{pair.form}; {pair.shared}{cosine}"))
    involved = {number for pair in listed for number in (pair.a, pair.b)}
    return CheckOutcome(len(involved), len(entities), examples, note, len(listed))


def _without_told_apart(check: CheckRun, entities: NamedEntities, pairs: list[FormPair], contexts: Contexts) -> list[FormPair]:
    """The pairs without those of people's own labels whose other values, or a relation between them, tell them apart. Of things a name
    that is a part of another one is no sign (squid, squid ink): their values must say that they are one."""
    compared, id_of = node_comparison(check), entities.roll.element_id
    made = [pair for pair in pairs if entities.roll.kind(pair.a) in compared.by_label]
    compared.read(id_of(at) for pair in made for at in (pair.a, pair.b))
    related = {(pair.a, pair.b) for pair in made if told_apart(contexts.between(pair.a, pair.b))}

    def may_be_one(pair: FormPair) -> bool:
        first, second, label = id_of(pair.a), id_of(pair.b), entities.roll.kind(pair.a)
        if label in compared.by_label and pair.form in DOUBTED_MADE and not forms.is_person((label or "").casefold()):
            return compared.speak_for_one(first, second, label) and not compared.differ_in_telling(first, second, label)
        return compared.may_be_one(first, second, label, share_neighbours=pair.shared.neighbours > 0)

    return [pair for pair in pairs if (pair.a, pair.b) not in related and may_be_one(pair)]


Candidates = list[tuple[int, int, NameVerdict]]


def _candidates(check: CheckRun, entities: NamedEntities) -> tuple[Candidates, frozenset[str], str | None]:
    """Pairs whose names a form joins: within what they share where a word is common, anywhere where it is rare.

    The words that only people bear (they stand after an honorific somewhere in the graph), which tell people where the types do not;
    and a note, if the search ended at `max_pairs`.
    """
    most, budget = int(check.settings["max_block"]), int(check.settings["max_pairs"])
    bearers: set[str] = set()

    def named() -> Iterator[tuple[NameForm, Sequence[str]]]:
        for number in range(len(entities)):
            # Not by the cache: every name comes once, and would push out the others.
            form = forms.form(entities.name(number))
            if form.titles:
                bearers.update(form.core)
            yield form, tuple(entities.aliases.get(number, ()))

    blocks = collect(named(), most=most, crowd=int(check.settings["max_crowd"]))
    near = Contexts(check, {number: entities.roll.element_id(number) for number in blocks.crowd()})
    parts = split(blocks.large(), near.codes, most=most)
    small = blocks.small_sizes
    left = len(parts) + len(small) - affordable(chain(map(len, parts), map(int, small)), budget=budget)
    note = f"{left} of {len(parts) + len(small)} groups of like names were not compared (max_pairs = {budget})" if left else None
    candidates = list(pairs(chain(parts, blocks.small()), entities.joined_by, budget=budget))
    return candidates, frozenset(bearers - forms.GENERIC), note


def _cosines(check: CheckRun, entities: NamedEntities, found: Candidates) -> dict[tuple[int, int], float]:
    """The cosine of the embeddings of the pairs that a weak form joins (the first `max_crowd` of them), where embeddings are known."""
    if check.embedding is None and check.layout.embedding_key is None:
        return {}
    weak = [(a, b) for a, b, verdict in found if verdict.certainty != "sure"][: int(check.settings["max_crowd"])]
    refs = [(entities.roll.reference(a), entities.roll.reference(b)) for a, b in weak]
    known = cosines(check, refs)
    keys = [(a.element_id or "", b.element_id or "") for a, b in refs]
    return {pair: known[key] for pair, key in zip(weak, keys, strict=True) if key in known}


def _enough(pair: FormPair, entities: NamedEntities, bearers: frozenset[str], settings: Mapping[str, Any]) -> bool:
    """Whether a pair shares as much as its form asks for. Related entities are rather two: they must share more.

    Near embeddings list a pair and far ones drop it, with two exceptions. The names of one and of many are always near, so that a plural
    can only be doubted; an acronym and initials are far from what they stand for, so that they can only be supported.
    """
    if pair.is_sure:
        return True
    near = pair.shared
    rather_two = near.related and near.neighbours < 3
    if pair.cosine is not None:
        if pair.form in DOUBTED and pair.cosine < settings["far_cosine"]:
            return False
        if pair.form != PLURAL and pair.cosine >= settings["near_cosine"] and not rather_two:
            return True
    x, y = entities.form_of(pair.a), entities.form_of(pair.b)
    signal = near.neighbours + near.chunks > 0 and not rather_two
    if pair.form == HONORIFIC:
        return signal or min(len(x.core), len(y.core)) > 1
    if pair.form == ACRONYM:
        return signal or max(len(x.letters), len(y.letters)) >= 4
    if pair.form == INITIALS:
        return signal or min(len(x.core), len(y.core)) > 2
    if pair.form not in (SUBSET, PLURAL):
        return near.neighbours > 0 and not near.related
    kind = entities.kind(pair.a) or entities.kind(pair.b)
    person = forms.is_person(kind) if kind else bearers.issuperset(x.core if len(x.core) <= len(y.core) else y.core)
    if pair.form == PLURAL:
        return signal and not person
    if person:  # a part of a name: people need little in common, things much
        return not rather_two and (near.neighbours >= 2 or (near.neighbours == 1 and near.jaccard >= settings["min_jaccard"]))
    return not rather_two and near.neighbours >= 2 and near.jaccard >= settings["min_jaccard_things"]


def _torn(pair: FormPair, rivals: Mapping[int, list[FormPair]], entities: NamedEntities) -> bool:
    """Whether the shorter name fits another, unrelated longer name nearly as well ("Mr. Hall": Asaph or Angelo?)."""
    if pair.form not in SHORT_FORMS:
        return False
    short, long = sorted((pair.a, pair.b), key=lambda number: (len(entities.form_of(number).core), entities.name(number)))
    short_form, long_form = entities.form_of(short), entities.form_of(long)
    for rival in rivals.get(short, ()):
        partner = rival.b if rival.a == short else rival.a
        third = entities.form_of(partner)
        unrelated = third.identity != long_form.identity and not compare_forms(third, long_form).joins
        fits_as_well = len(third.core) >= len(short_form.core) and rival.shared.strength * 1.5 >= pair.shared.strength
        if partner != long and unrelated and fits_as_well:
            return True
    return False
