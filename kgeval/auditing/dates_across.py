"""Dates of the two ends of a relation, and its own, of which one comes before the other: a birth and what the person did, an order and its
delivery, two dates that stand in one order nearly everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from kgeval.auditing.endings import is_end, is_event
from kgeval.auditing.suspects import PropertyAt, Side, is_date, is_plan, layout_keys, moment_words, plain_words, without_words
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, PropertyProfile, RelationProfile
from kgeval.records import Layout
from kgeval.text.wordlists import word_lists, word_set

LEAST, LEAST_LEARNED = 5, 30  # relations with both values that show which comes first: by their names, or by their values
WRONG, WRONG_LEARNED = 0.05, 0.03  # shares of them up to which the wrong order is a mistake
BEFORE, BEFORE_NAMED = 0.9, 0.5  # shares of them of which the first is before the last, not the same: by their values, or by names
SHARP = 10  # times as many in the right order, and no farther apart than those in the wrong one: the order has an edge, not a tail
AFTER_END, AFTER_END_OF_ALL = 0.34, 0.02  # shares up to which what happens to what had ended is a mistake: of what ended, and of all
NEAR, USUAL = 0.1, 0.5  # shares of those in the right order: the nearest, and half of them
DOUBLINGS, YEAR = 2, 8  # how much nearer the nearest are, in doublings; a year in them
OLD = 0.5  # share of numbers before the year 1000 above which they are no years, if the name leaves that open
MOST = 300  # pairs that are asked
NUMBER_TYPES = ("INTEGER", "FLOAT")
NUMBERS = 0.9  # share of values that are numbers
BIRTH = word_set("""
    born birth birthday birthdate dob hatched geboren geburt geburtsdatum geburtstag geburtsjahr naissance nacimiento nacido nascita nato
    nascimento geboorte geboortedatum geboortejaar
""")
BEGINNING = BIRTH | word_set("""
    founded established incorporated formed built constructed erected opened opening launched commissioned inaugurated planted installed
    colonised colonized premiered premiere uraufgefuhrt urauffuhrung estreno gegrundet gegruendet grundung gruendung gebaut baujahr
    eroffnet fonde fondation construit
    fundado fundacion construido fondato fondazione costruito fundacao opgericht gebouwd
""")  # before it there is nothing that could take part in anything
MOMENT = word_set("""
    since from start started begin began hired hire joined employed enrolled admitted visited ordered placed shipped delivered paid issued
    signed played performed treated inspected sampled measured married wedding wed marriage mariage heirat hochzeit boda matrimonio
    casamento huwelijk seit depuis desde beginn debut inicio inizio aufgefuhrt aufgefuehrt
""")  # of what happens to something that is there
DATES = BEGINNING | MOMENT | word_set("""
    year died death deceased dissolved closed released published written recorded painted completed discovered invented ended until elected
    appointed created made premiered jahr annee ano anno jaar gestorben todesjahr deces mort muerte defuncion morte overleden
""")  # words by which a number is a year
YEARS = BIRTH | word_set("""
    year died death deceased founded built jahr annee ano anno jaar gestorben todesjahr deces muerte morte overleden baujahr
""")  # of what is counted in nothing else
BOOKKEEPING = word_set("created updated modified changed loaded imported inserted synced ingested indexed accessed seen last next")
MAKING = word_set("""
    wrote written write author authored directed director direct composed composer painted painter created creator founded founder invented
    inventor designed designer discovered discoverer acted acts produced producer developed performed recorded
""")  # of a person and what there was not before that
MADE = word_set("painted composed written sculpted drawn designed recorded")  # of a date, the same
FAMILY = word_set("""
    parent mother father offspring sire dam child son daughter ancestor descendant pupil apprentice children parents vater mutter kind
    sohn tochter elternteil pere mere fils fille enfant padre madre hijo hija progenitor figlio figlia genitore pai mae filho filha vader
    moeder zoon dochter ouder allievo allieva discepolo schuler schueler schulerin lehrling eleve disciple alumno discipulo aluno leerling
    teacher lehrer maitre maestro mestre
""")
# of what may be older or younger than those who have to do with it
ANY_AGE = word_set("""
    read reads reading like likes liked rate rated review reviewed visit visited own owns owned use uses used know knows knew follow follows
    friend watch watched heard listens influenced inspired cites cited references mentions lives lived located based named interested
    collects studied studies similar related about subject borrowed lent bought sold stolen restored translated edited
""")


@dataclass(frozen=True)
class DateAt(PropertyAt):
    """A property with a date at one side of a relation."""

    @property
    def words(self) -> set[str]:
        return set(plain_words(self.key))


@dataclass(frozen=True)
class OrderAcross:
    """Two dates at different sides of the relations of a type between two labels, of which one comes first. `is_named`: by names; else that
    is to be seen in the values. `is_end`: the last one ends its node, to which nothing happens after that. `relations`: between the labels,
    with and without dates."""

    type: str
    start: str
    end: str
    first: DateAt
    last: DateAt
    is_named: bool
    is_end: bool = False
    relations: float = 0.0

    def asked(self, place: int) -> dict[str, str | list[str] | int | None]:
        """As the query takes it. Without owners, which would not tell the two apart, it says the nodes' names."""
        are_told = self.first.owner != self.last.owner
        return {
            "place": place, "owner": self.type, "labels": [], "type": self.type, "start": self.start, "end": self.end,
            "first": self.first.key, "first_of": self.first.side, "first_owner": self.first.owner if are_told else None,
            "last": self.last.key, "last_of": self.last.side, "last_owner": self.last.owner if are_told else None,
        }

    def are_slips(self, row: Row) -> bool:
        """Whether the few values that stand the other way round are mistakes."""
        of, hits = row["compared"], row["hits"]
        are_years = (self.first.words & YEARS and self.last.words & YEARS) or row["old"] <= OLD * of
        if row["before"] < (BEFORE_NAMED if self.is_named else BEFORE) * of or not are_years:
            return False
        if self.is_end and of >= LEAST and 0 < hits <= min(AFTER_END * of, AFTER_END_OF_ALL * self.relations):
            return True
        if self.is_named:
            return bool(of >= LEAST and hits <= max(1, WRONG * of))
        return bool(of >= LEAST_LEARNED and 0 < hits <= WRONG_LEARNED * of and _has_edge(row["gaps"], hits))


def _has_edge(gaps: Sequence[tuple[bool, int, int]], hits: int) -> bool:
    """Whether the order is a law, and not the tail of dates that know nothing of each other: those in the right order begin near each
    other, within a year or far nearer than most, and many are as near as the ones in the wrong order.

    `gaps`: whether reversed, how far apart (doubling), how many.
    """
    farthest = max(gap for is_reversed, gap, _ in gaps if is_reversed)
    right = sorted((gap, times) for is_reversed, gap, times in gaps if not is_reversed)
    within = sum(times for gap, times in right if gap <= farthest)
    near, usual = _quantile(right, NEAR), _quantile(right, USUAL)
    return within >= SHARP * hits and (usual <= YEAR or near <= usual - DOUBLINGS)


def _quantile(right: Sequence[tuple[int, int]], share: float) -> int:
    """The gap that a share of them do not exceed."""
    left = share * sum(times for _, times in right)
    for gap, times in right:
        left -= times
        if left <= 0:
            return gap
    return right[-1][0]


def orders_across(profile: GraphProfile, layout: Layout) -> list[OrderAcross]:
    """All that may be asked, by their names first."""
    if profile.is_from_texts:
        return []
    own = layout_keys(layout)
    found = [one for relation in profile.types for one in _orders_of(profile, relation, own)]
    return sorted(found, key=lambda one: not one.is_named)[:MOST]


def without_repeats(found: Sequence[tuple[OrderAcross, Row]]) -> list[tuple[OrderAcross, Row]]:
    """Without those that say the same of one slip: of pairs with a date in common and as many hits, the nearest one is kept."""
    kept: list[tuple[OrderAcross, Row]] = []
    for order, row in sorted(found, key=lambda item: nearness(item[1])):
        if not any(row["hits"] and row["hits"] == other["hits"] and _have_one_date(order, one) for one, other in kept):
            kept.append((order, row))
    return kept


def nearness(row: Row) -> float:
    """How far apart two dates that stand in the right order are, in doublings of days."""
    right = [(gap, times) for is_reversed, gap, times in row["gaps"] if not is_reversed]
    return float(sum(gap * times for gap, times in right) / max(1, sum(times for _, times in right)))


def _have_one_date(one: OrderAcross, other: OrderAcross) -> bool:
    same = (one.type, one.start, one.end) == (other.type, other.start, other.end)
    return same and (one.first == other.first or one.last == other.last)


def _orders_of(profile: GraphProfile, relation: RelationProfile, own: frozenset[str]) -> Iterator[OrderAcross]:
    labels = {label.label: label for label in profile.labels if label.label and label.role not in ("technical", "community")}
    of_relation = _dates("relation", relation.type, (found for found in relation.properties if found.key not in own))
    for ends in relation.ends:
        if ends.start not in labels or ends.end not in labels or ends.share * relation.count < LEAST:
            continue
        of_start = _dates("start", ends.start, labels[ends.start].properties)
        known = [*of_start, *of_relation, *_dates("end", ends.end, labels[ends.end].properties)]
        for first, last in permutations(known, 2):
            if first.side == last.side or not _may_be_ordered(relation, first, last):
                continue
            ended = happens_before_end(relation.type, first, last)
            named = ended or is_named(relation.type, first, last)
            yield OrderAcross(relation.type, ends.start, ends.end, first, last, named, ended, ends.share * relation.count)


def _dates(side: Side, owner: str, properties: Iterable[PropertyProfile]) -> list[DateAt]:
    dated = [DateAt(side, owner, found.key) for found in properties if _holds_dates(found)]
    return [date for date in dated if not date.words & BOOKKEEPING and not is_plan(date.key)]


def _holds_dates(found: PropertyProfile) -> bool:
    """Whether values are dates, or numbers that the name calls years."""
    numbers = max(sum(found.types.get(name, 0.0) for name in NUMBER_TYPES), found.formats.get("number", 0.0))
    return is_date(found) or (numbers >= NUMBERS and bool({*plain_words(found.key)} & DATES))


def _may_be_ordered(relation: RelationProfile, first: DateAt, last: DateAt) -> bool:
    """Whether the two know something of each other: a relation's own date does of its ends; two ends do where one does not only read, own
    or visit the other, and where the relation has a direction, if both are of one label."""
    if "relation" in (first.side, last.side):
        return True
    kinds = {*plain_words(relation.type)} - {*plain_words(first.owner), *plain_words(last.owner)}  # who HAD a VISIT was there then
    return not kinds & ANY_AGE and (relation.directed or first.owner != last.owner)


def happens_before_end(type_: str, first: DateAt, last: DateAt) -> bool:
    """Whether names say that one date ends a node (who left, what was closed), and the other is of what cannot happen to it after that."""
    return last.side != "relation" and is_end(last.owner, last.key) and is_event(first.owner, first.key, (type_,))


def is_named(type_: str, first: DateAt, last: DateAt) -> bool:
    """Whether names say that one date comes before the other: a beginning, and what happens to what has begun; a birth, and what somebody
    made; a parent's birth and a child's; an order, and its delivery."""
    kinds = {*plain_words(type_)}
    if first.words & BIRTH and last.words & BIRTH:
        return bool(kinds & FAMILY)
    if first.words & BEGINNING and not last.words & BEGINNING:
        happens = last.side == "relation" or not moment_words(last.key) or last.words & MOMENT
        return bool(happens or (first.words & BIRTH and (kinds & MAKING or last.words & MADE)))
    tables = word_lists("in_order").values()
    return any(without_words(first.key, word_set(firsts)) & without_words(last.key, word_set(lasts)) for firsts, lasts in tables)
