"""When things take part in something: properties that say a moment, or a beginning and an end, and whose they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

from kgeval.auditing.suspects import TEXT, is_date, layout_keys, moment_words, plain_words, without_words
from kgeval.profiling.record import GraphProfile, LabelProfile, PropertyProfile, RelationEnds, RelationProfile
from kgeval.records import Layout
from kgeval.text.wordlists import word_lists, word_set

Kind = Literal["moment", "span", "open", "any"]
Asked = dict[str, str | int | float | bool | list[str] | None]
LEAST, MOST = 30, 200_000  # relations that are asked: of a type, at least, and in all, before only a share of the nodes is looked at
SAMPLED = 2_000  # relations of which times are compared with each other
PARTS = 1_000_003  # that the numbers of nodes are dealt into
MOST_ASKED = 60  # of all that could be
DATED, NUMBERED = 0.9, 0.9  # shares of values that are times of day, or numbers
WITH_HOURS = 15.0  # characters of a text, in the median, from which a date has a time of day
OPEN = (0.1, 0.9)  # shares of what has an end, between which a missing one may say that it goes on
FEW = 0.5  # share up to which a property says what is special
CATEGORIES = 12  # values of a text that says a kind of thing
MOST_TYPES = 4  # of relations between the same labels that are looked at together
SPANS = ("span", "stay", "work", "validity", "travel", "loan")  # pairs of in_order.toml that say how long something lasts
BOOKKEEPING = word_set("""
    created updated modified changed loaded imported inserted synced ingested indexed accessed seen deleted recorded entered booked ordered
    registered submitted requested posted paid invoiced due deadline expiry expires expires expiration birth born died death
    erstellt geandert geaendert angelegt gebucht bestellt bezahlt gemeldet modifie cree creado modificado
""")  # of when something was written down, or is wanted
ENDS = word_set("end ends ended finish until till to close closing ende bis fin hasta fine arrival ankunft arrivee llegada doors")
DURATION = word_set("duration dauer duree duracion durata duracao duur lasts minutes minuten minutos")
HOURS = word_set("h hour hours hrs std stunden heures horas ore uur")
DAYS = word_set("days day tage nights nachte naechte jours dias giorni weeks wochen months monate years jahre")
SECONDS = word_set("s sec secs seconds sekunden ms millis")
WEEKDAY = word_set("weekday day dow wochentag tag jour dia giorno dag")
PERIOD = word_set("term semester week woche year season trimester quarter block schuljahr halbjahr semestre semana semaine")
SLOT = word_set("period slot lesson hour stunde unterrichtsstunde")
STATE = word_set("status state stand zustand estado etat stato statut cancelled canceled deleted abgesagt storniert annule cancelado")
# who and what is in one place
ONE_PLACE = word_set("""
    teacher teaches taught instructor lecturer lectures professor tutor trainer coach coaches referee refereed umpire judge judged driver
    drives driven pilot piloted captain crew doctor physician surgeon nurse midwife anesthetist anaesthetist therapist dentist technician
    engineer inspector guide guided moderator speaker speaks chair chaired presenter conductor conducted soloist musician actor player
    worker employee staff operator guard officer
    room hall classroom theatre theater studio stage court pitch field stadium arena lab laboratory venue ward bed
    vehicle car bus truck lorry van tram train locomotive aircraft plane airplane helicopter ship vessel ferry boat crane machine berth
    gate stand dock runway track platform
    lehrer lehrerin dozent dozentin trainer schiedsrichter fahrer fahrerin pilotin arzt aerztin arztin pfleger techniker mitarbeiter
    raum saal zimmer halle buhne platz fahrzeug bus lkw zug flugzeug schiff maschine gleis
    profesor profesora imparte arbitro conductor medico sala aula vehiculo autobus tren avion barco empleado
    professeur enseignant enseigne arbitre chauffeur medecin salle vehicule navire bateau insegnante docente autista veicolo treno aereo
    leraar docent scheidsrechter chauffeur arts lokaal zaal voertuig trein vliegtuig schip
""")
# of two at one time nothing is wrong with these
CUSTOMER = word_set("""
    customer customers client clients buyer guest kunde kundin kunden auftraggeber besteller gast cliente clientes acheteur klant booker
    organizer organiser payer household family account
""")
BUYING = word_set("""
    booked books booking_by booked_by ordered orders order reserved reserves bought buys purchased paid pays requested placed organised
    organized organises hosts sponsors sponsored funds funded owns owned insured bestellt gebucht kauft reserva reservo compro
    interested likes liked rated reviewed watched viewed follows invited
""")
KIND_OF = word_set("""
    kind type role loan status mode basis category capacity function art typ rolle funktion tipo rol cargo funcion genre statut poste
    ruolo soort functie priority rank share percent part
""")  # words of what makes two of a thing differ


@dataclass(frozen=True)
class Times:
    """Properties that say when. `day`, `clock`: of the beginning; `last`, `last_clock`: of the end; `lasts`: how long, in units of `unit`
    minutes; `within`: what says the day besides (a weekday, a term)."""

    kind: Kind
    day: str | None = None
    clock: str | None = None
    last: str | None = None
    last_clock: str | None = None
    lasts: str | None = None
    unit: float = 1.0
    within: tuple[str, ...] = ()
    has_hours: bool = True

    @property
    def end(self) -> str:
        """What is missing where it goes on."""
        return self.last or ""


@dataclass(frozen=True)
class TwoAtOnce:
    """The nodes of a label at one side of relations, and what they take part in there. `is_own`: the relation says when; else the node at
    the other side does. `flags`: properties by which two at one time are two kinds of thing; `states`: those that say whether one was
    called off; `count`: about how many relations there are."""

    types: tuple[str, ...]
    start: str
    end: str
    holder: Literal["start", "end"]
    times: Times
    is_own: bool
    flags: tuple[str, ...] = field(default=(), compare=False)
    states: tuple[str, ...] = field(default=(), compare=False)
    count: float = field(default=0.0, compare=False)

    @property
    def is_named(self) -> bool:
        """Whether it is the name of what cannot be in two places (a referee, a room) for some hours."""
        words = {*plain_words(self.label), *(word for name in self.types for word in plain_words(name))}
        return bool(words & ONE_PLACE) and self.times.has_hours

    @property
    def label(self) -> str:
        """Of the nodes that take part."""
        return self.start if self.holder == "start" else self.end

    def asked(self, at: int, looked_at: float = 1.0) -> Asked:
        """As the query takes it. `looked_at`: the share of the nodes that are."""
        times = self.times
        sampled = min(1.0, SAMPLED / max(1.0, self.count * looked_at))
        return {
            "at": at, "types": [*self.types], "start": self.start, "end": self.end, "holder": self.holder, "own": self.is_own,
            "kind": times.kind, "day": times.day, "clock": times.clock, "last": times.last, "last_clock": times.last_clock,
            "lasts": times.lasts, "unit": times.unit, "within": [*times.within], "flags": [*self.flags],
            "states": [*self.states], "nodes": math.ceil(PARTS * looked_at), "share": math.ceil(PARTS * sampled),
        }


def all_that_take_part(profile: GraphProfile, layout: Layout) -> list[TwoAtOnce]:
    """All that may be asked; types between the same two labels by themselves, and together."""
    own = layout_keys(layout)
    labels = {one.label: one for one in profile.labels if one.label and one.role in ("entity", "record", "value") and not one.is_from_texts}
    known = [(relation, ends) for relation in profile.types for ends in relation.ends if _is_asked(relation, ends, labels)]
    single = [one for relation, ends in known for one in _of_type(relation, ends, labels, own)]
    return [*single, *_together(single)][:MOST_ASKED]


def share_looked_at(known: Sequence[TwoAtOnce]) -> float:
    """The share of the nodes that are looked at, so that a server's memory is enough."""
    return min(1.0, MOST / max(1.0, sum(one.count for one in known)))


def _is_asked(relation: RelationProfile, ends: RelationEnds, labels: dict[str, LabelProfile]) -> bool:
    are_known = ends.start in labels and ends.end in labels
    if not are_known or ends.share * relation.count < LEAST:
        return False
    return not {*plain_words(relation.type)} & BUYING


def _of_type(
    relation: RelationProfile, ends: RelationEnds, labels: dict[str, LabelProfile], own: frozenset[str],
) -> Iterator[TwoAtOnce]:
    has_several = {"start": (relation.most_per_start or 2) > 1, "end": (relation.most_per_end or 2) > 1}
    holders: list[tuple[Literal["start", "end"], str, str]] = [("start", ends.start, ends.end), ("end", ends.end, ends.start)]
    for side, holder, other in holders:
        if not has_several[side] or {*plain_words(holder)} & CUSTOMER:
            continue
        for is_own, properties in ((True, relation.properties), (False, labels[other].properties)):
            known = [found for found in properties if not (is_own and found.key in own)]
            size = relation.sampled if is_own else labels[other].sampled
            for times in times_in(known):
                flags = tuple(found.key for found in known if is_own and _is_flag(found, size, times))
                states = tuple(found.key for found in known if _is_state(found))
                yield TwoAtOnce((relation.type,), ends.start, ends.end, side, times, is_own, flags, states, ends.share * relation.count)


def _together(single: Sequence[TwoAtOnce]) -> Iterator[TwoAtOnce]:
    """Of a match that a club plays at home and another one away."""
    alike: dict[TwoAtOnce, list[TwoAtOnce]] = {}
    for one in single:
        if not one.is_own:
            alike.setdefault(replace(one, types=()), []).append(one)
    for several in alike.values():
        if 1 < len(several) <= MOST_TYPES:
            types = tuple(sorted(one.types[0] for one in several))
            yield replace(several[0], types=types, count=sum(one.count for one in several))


def times_in(properties: Iterable[PropertyProfile]) -> list[Times]:
    """What says when, of the properties of a label or a type: spans first, and moments that begin none."""
    known = [found for found in properties if not {*plain_words(found.key)} & BOOKKEEPING]
    days, clocks = [found for found in known if is_date(found)], [found for found in known if is_clock(found)]
    spans = [*_spans_of_days(days), *_spans_of_clocks(known, days, clocks)]
    used = {key for one in spans for key in (one.day if one.clock is None else None, one.clock, one.last, one.last_clock) if key}
    moments = [one for one in _moments(known, days, clocks) if (one.clock or one.day) not in used]
    lasting = [one for moment in moments for one in _with_duration(moment, known)]
    return [*spans, *lasting, *(moments if not lasting else [])]


def _spans_of_days(days: Sequence[PropertyProfile]) -> Iterator[Times]:
    for first, last in _named_pairs(days):
        span = Times("span", day=first.key, last=last.key, has_hours=has_hours(first) and has_hours(last))
        if OPEN[0] * first.filled <= last.filled <= OPEN[1] * first.filled:
            yield replace(span, kind="any")
            yield span
            yield replace(span, kind="open")
        else:
            yield span


def _spans_of_clocks(
    known: Sequence[PropertyProfile], days: Sequence[PropertyProfile], clocks: Sequence[PropertyProfile],
) -> Iterator[Times]:
    for (first, last), (day, within) in product(_named_pairs(clocks), _days_of(known, days)):
        yield Times("span", day=day, clock=first.key, last_clock=last.key, within=within)


def _moments(
    known: Sequence[PropertyProfile], days: Sequence[PropertyProfile], clocks: Sequence[PropertyProfile],
) -> Iterator[Times]:
    for found in days:
        if has_hours(found) and not {*plain_words(found.key)} & ENDS:
            yield Times("moment", day=found.key)
    slots = [found for found in known if {*plain_words(found.key)} & SLOT and found.types.get("INTEGER", 0.0) >= NUMBERED]
    for found, (day, within) in product([*clocks, *slots], _days_of(known, days)):
        if not {*plain_words(found.key)} & ENDS and (found not in slots or within):
            yield Times("moment", day=day, clock=found.key, within=within)


def _with_duration(moment: Times, known: Sequence[PropertyProfile]) -> Iterator[Times]:
    for found in known:
        words = {*plain_words(found.key)}
        if words & DURATION and not words & (DAYS | SECONDS) and _is_number(found):
            yield replace(moment, kind="span", lasts=found.key, unit=60.0 if words & HOURS else 1.0)
            return


def _days_of(known: Sequence[PropertyProfile], days: Sequence[PropertyProfile]) -> list[tuple[str | None, tuple[str, ...]]]:
    """What says the day of a time of day: a date, the plainest (day, or the only one), else a weekday, with the term."""
    plain = [found for found in days if not has_hours(found)]
    plainest = [found for found in plain if not moment_words(found.key)] or (plain if len(plain) == 1 else [])
    if plainest:
        return [(plainest[0].key, ())]
    weekdays = [found for found in known if not is_date(found) and {*plain_words(found.key)} & WEEKDAY and found.distinct < FEW]
    if not weekdays or days:
        return []
    terms = [found.key for found in known if {*plain_words(found.key)} & PERIOD and found is not weekdays[0]]
    return [(None, (weekdays[0].key, *terms))]


def _named_pairs(found: Sequence[PropertyProfile]) -> Iterator[tuple[PropertyProfile, PropertyProfile]]:
    tables = [(word_set(first), word_set(last)) for first, last in (word_lists("in_order")[name] for name in SPANS)]
    for first, last in product(found, found):
        if first is not last and any(without_words(first.key, one) & without_words(last.key, other) for one, other in tables):
            yield first, last


def has_hours(found: PropertyProfile) -> bool:
    """Whether a date has a time of day."""
    timed = found.types.get("LOCAL DATETIME", 0.0) + found.types.get("ZONED DATETIME", 0.0)
    return timed >= DATED or (found.formats.get("date", 0.0) >= DATED and (found.length or 0) >= WITH_HOURS)


def is_clock(found: PropertyProfile) -> bool:
    """Whether nearly all sampled values are times of day."""
    timed = found.types.get("LOCAL TIME", 0.0) + found.types.get("ZONED TIME", 0.0)
    return timed + found.types.get(TEXT, 0.0) * found.formats.get("time of day", 0.0) >= DATED


def _is_state(found: PropertyProfile) -> bool:
    """Whether it says that something was called off."""
    return bool({*plain_words(found.key)} & STATE) and (found.types.get(TEXT, 0.0) + found.types.get("BOOLEAN", 0.0)) > 0


def _is_number(found: PropertyProfile) -> bool:
    return found.types.get("INTEGER", 0.0) + found.types.get("FLOAT", 0.0) >= NUMBERED


def _is_flag(found: PropertyProfile, size: int, times: Times) -> bool:
    """Whether it says what is special of one of two, or of what kind they are."""
    if found.key in (times.day, times.clock, times.last, times.last_clock, times.lasts, *times.within):
        return False
    if found.types.get("BOOLEAN", 0.0) > 0:
        return True
    is_kind = bool({*plain_words(found.key)} & KIND_OF) and found.distinct * found.filled * size <= CATEGORIES
    return is_kind and found.types.get(TEXT, 0.0) > 0
