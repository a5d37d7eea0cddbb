"""What the audit says of nodes that take part in two things at one time, where that never happens otherwise; and of what only looks so."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest

import kgeval
from kgeval.auditing.steps.two_at_once import chance_of_so_few, share_that_meets
from kgeval.auditing.times_of import times_in
from kgeval.graph.connect import Graph
from kgeval.profiling.record import PropertyProfile

Properties = dict[str, Any]
Relation = tuple[int, int, Properties]  # from a thing to a holder


class World:
    """Things, each with one holder or several, some of them at two at once."""

    def __init__(self, holder: str, thing: str, type_: str, holders: int, *, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.holder, self.thing, self.type, self.holders = holder, thing, type_, holders
        self.things: list[Properties] = []
        self.relations: list[Relation] = []

    def add(self, holder: int, thing: Properties, relation: Properties | None = None) -> int:
        self.things.append({"nr": f"T{len(self.things)}", **thing})
        self.relations.append((len(self.things) - 1, holder, relation or {}))
        return len(self.things) - 1

    def hits(self, graph: Graph, *, outgoing: bool = False) -> list[str]:
        """What the check finds: the things of the relations, and why."""
        graph.write(
            f"UNWIND $holders AS i CREATE (:{self.holder} {{name: $label + ' No ' + i, code: 'c' + i}})",
            {"holders": list(range(self.holders)), "label": self.holder},
        )
        graph.write(f"UNWIND $rows AS row CREATE (n:{self.thing}) SET n = row", {"rows": self.things})
        pattern = "(b)-[r:{0}]->(a)" if outgoing else "(a)-[r:{0}]->(b)"
        graph.write(
            f"UNWIND $rows AS row MATCH (a:{self.thing} {{nr: 'T' + row[0]}}), (b:{self.holder} {{code: 'c' + row[1]}}) "
            f"CREATE {pattern.format(self.type)} SET r = row[2]", {"rows": [list(row) for row in self.relations]},
        )
        return found(graph)


def found(graph: Graph) -> list[str]:
    finding = kgeval.audit(graph.driver, checks="two-at-once", no_structure=True, examples=0).findings[0]
    assert finding.status != "error", finding.reason
    assert finding.count is None or finding.count == len(finding.examples)
    return [f"{example.items[0].name}: {example.why}" for example in finding.examples]


DAY = date(2024, 3, 1)


def matches() -> World:
    """Rounds of eight matches at two kickoffs, each with another referee."""
    world = World("Referee", "Match", "REFEREED_BY", 10)
    for round_ in range(20):
        free = world.random.sample(range(10), 8)
        for at in range(8):
            world.add(free[at], {"date": DAY + timedelta(7 * round_), "kickoff": ["15:00", "17:30"][at % 2]})
    return world


def test_a_referee_of_two_matches_at_one_kickoff_is_found(graph: Graph) -> None:
    world = matches()
    thing, holder, _ = world.relations[8]
    world.relations[10] = (10, holder, {})
    hits = world.hits(graph)
    assert len(hits) == 1
    assert f"Referee No {holder}" in hits[0] and "kickoff 15:00 beside" in hits[0]
    assert thing == 8


def test_without_such_a_match_nothing_is_told(graph: Graph) -> None:
    assert matches().hits(graph) == []


def booked(label: str, make: Callable[[datetime, datetime], Properties], *, slips: int = 2, own: bool = False) -> World:
    """Bookings of rooms by hours, each day from eight on, one behind the other."""
    world = World(label, "Booking", "IN", 6)
    for day in range(25):
        for room in range(6):
            begin = datetime(2024, 3, 1, 8) + timedelta(day)
            for _ in range(3):
                end = begin + timedelta(minutes=60 + 30 * world.random.randrange(3))
                values = make(begin, end)
                world.add(room, {} if own else values, values if own else None)
                begin = end + timedelta(minutes=30 * world.random.randrange(2))
    for slip in range(slips):
        begin = datetime(2024, 3, 5 + slip, 8, 30)
        values = make(begin, begin + timedelta(minutes=45))
        world.add(slip, {} if own else values, values if own else None)
    return world


@pytest.mark.parametrize("make", [
    lambda begin, end: {"start": begin, "end": end},
    lambda begin, end: {"from": begin.isoformat(), "until": end.isoformat()},
    lambda begin, end: {"day": begin.date(), "start_time": f"{begin:%H:%M}", "end_time": f"{end:%H:%M}"},
    lambda begin, end: {"datum": f"{begin:%d.%m.%Y}", "beginn": begin.time(), "ende": end.time()},
    lambda begin, end: {"fecha": begin.date(), "hora_inicio": f"{begin:%H:%M}", "hora_fin": f"{end:%H:%M}"},
    lambda begin, end: {"startsAt": begin.replace(tzinfo=UTC), "durationMinutes": (end - begin).seconds // 60},
    lambda begin, end: {"checkIn": f"{begin:%Y-%m-%d %H:%M}", "checkOut": f"{end:%Y-%m-%d %H:%M}"},
], ids=["times", "texts", "hours", "German", "Spanish", "duration", "stay"])
@pytest.mark.parametrize("own", [False, True], ids=["of the thing", "of the relation"])
def test_a_room_with_two_bookings_that_overlap_is_found(graph: Graph, make: Callable[[datetime, datetime], Properties], own: bool) -> None:
    hits = booked("Room", make, own=own).hits(graph)
    assert len(hits) == 2
    assert all(" beside " in hit for hit in hits)


def test_what_nobody_names_is_learned_from_the_times_alone(graph: Graph) -> None:
    assert len(booked("Asset", lambda begin, end: {"start": begin, "end": end}).hits(graph, outgoing=True)) == 2


def test_a_timetable_by_weekday_knows_a_class_in_two_rooms(graph: Graph) -> None:
    world = World("Teacher", "Lesson", "TAUGHT_BY", 12)
    for day in ("Mon", "Tue", "Wed", "Thu", "Fri"):
        for hour in range(8, 14):
            for teacher in world.random.sample(range(12), 7):
                world.add(teacher, {"weekday": day, "start": time(hour), "end": time(hour, 45)})
    world.add(world.relations[0][1], {"weekday": "Mon", "start": time(8), "end": time(8, 45)})
    assert len(world.hits(graph)) == 1


def employed(*, flag: bool) -> World:
    """People with one employer each, a third with one before, and three with two of which neither has an end."""
    world = World("Person", "Firm", "WORKS_FOR", 150)
    world.things = [{"nr": f"T{at}", "title": f"Firm {at}"} for at in range(20)]
    for person in range(150):
        first, last = world.random.sample(range(20), 2)
        begin = DAY - timedelta(world.random.randrange(1000, 2000))
        if person % 3 == 0:
            end = begin + timedelta(300)
            world.relations.append((first, person, {"since": begin, "until": end, "secondary": False}))
            begin = end + timedelta(world.random.randrange(1, 90))
        world.relations.append((last, person, {"since": begin, "secondary": False}))
    for person in (4, 7, 10):
        taken = {thing for thing, holder, _ in world.relations if holder == person}
        thing = next(at for at in range(20) if at not in taken)
        world.relations.append((thing, person, {"since": DAY, "secondary": flag}))
    return world


def test_a_second_employer_without_an_end_of_the_first_is_found(graph: Graph) -> None:
    hits = employed(flag=False).hits(graph, outgoing=True)
    assert [hit.split(" -[")[0] for hit in hits] == ["Person No 10", "Person No 4", "Person No 7"]


def test_a_flag_on_one_of_the_two_says_that_it_is_right(graph: Graph) -> None:
    assert employed(flag=True).hits(graph, outgoing=True) == []


def test_times_of_two_zones_are_compared_as_moments(graph: Graph) -> None:
    """Flights one behind the other whose local times overlap."""
    world = World("Aircraft", "Flight", "FLOWN_WITH", 6)
    east, west = timezone(timedelta(hours=3)), timezone(timedelta(hours=-3))
    for plane in range(6):
        for day in range(10):
            first = datetime(2024, 3, 1 + day, 6, plane, tzinfo=UTC)
            for leg in range(3):
                begin = first + timedelta(hours=3 * leg)
                zones = (east, west) if leg % 2 else (west, east)
                end = (begin + timedelta(hours=2)).astimezone(zones[1])
                world.add(plane, {"departure": begin.astimezone(zones[0]).isoformat(), "arrival": end.isoformat()})
    assert world.hits(graph) == []


def goals() -> World:
    """Of one player in one match, several."""
    world = World("Player", "Match", "SCORED_IN", 40)
    for at in range(30):
        world.add(at, {"kickoff": datetime(2024, 3, 1, 15) + timedelta(at // 5)}, {"minute": 3})
        world.relations += [(at, at, {"minute": 20 + more}) for more in range(at % 4)]
    return world


def second_jobs() -> World:
    """One in twelve has two employers at once."""
    world = employed(flag=False)
    for person in range(1, 150, 12):
        taken = {thing for thing, holder, _ in world.relations if holder == person}
        world.relations.append((next(at for at in range(20) if at not in taken), person, {"since": DAY, "secondary": False}))
    return world


def days_alone() -> World:
    """Dates without a time."""
    world = World("Doctor", "Visit", "BY", 8)
    for at in range(300):
        world.add(at % 8, {"date": DAY + timedelta(at // 9)})
    return world


def all_day() -> World:
    """A holiday beside what happens on that day."""
    world = booked("Room", lambda begin, end: {"day": begin.date(), "start": f"{begin:%H:%M}", "end": f"{end:%H:%M}"}, slips=0)
    for at in range(3):
        world.add(at, {"day": date(2024, 3, 4 + at), "start": "00:00", "end": "23:59"})
    return world


def of_customers() -> World:
    """A family books two rooms."""
    world = booked("Asset", lambda begin, end: {"start": begin, "end": end})
    world.holder, world.type = "Customer", "MADE_FOR"
    return world


def touching() -> World:
    """What ends at ten and what begins at ten."""
    world = World("Room", "Course", "IN", 5)
    for at in range(200):
        begin = datetime(2024, 3, 1 + at // 40, 8 + at // 5 % 8)
        world.add(at % 5, {"start": begin, "end": begin + timedelta(hours=1)})
    return world


def called_off() -> World:
    """Bookings that were cancelled, and others in their place."""
    world = booked("Room", lambda begin, end: {"start": begin, "end": end, "status": "confirmed"})
    for thing in world.things[-2:]:
        thing["status"] = "Cancelled by guest"
    return world


def nobody_yet() -> World:
    """A teacher called N.N., who stands for all that are not known."""
    world = booked("Teacher", lambda begin, end: {"start": begin, "end": end}, slips=0)
    for at in range(30):
        world.add(0, {"start": datetime(2024, 4, 1 + at // 4, 9), "end": datetime(2024, 4, 1 + at // 4, 11)})
    world.relations = [(thing, holder if holder else (6 if thing % 2 else 1), {}) for thing, holder, _ in world.relations]
    world.holders = 7
    return world


def payments() -> World:
    """Two by one account in one minute, which nothing forbids: there are few."""
    world = World("Ledger", "Payment", "FROM", 60)
    for at in range(300):
        world.add(at % 60, {"at": datetime(2024, 1, 1, 9) + timedelta(minutes=world.random.randrange(200_000))})
    for at in range(2):
        world.add(at, {"at": world.things[at]["at"]})
    return world


def nights() -> World:
    """Shifts that end in the morning, and others on the evening of that day."""
    world = World("Nurse", "Shift", "WORKED_BY", 10)
    for day in range(20):
        for nurse in range(10):
            night = nurse % 2 == 0
            hours = ("22:00", "06:00") if night else ("06:00", "14:00")
            world.add(nurse, {"date": DAY + timedelta(day), "start": hours[0], "end": hours[1]})
    return world


def readings() -> World:
    """Of a sensor, a temperature and a humidity at each moment."""
    world = World("Sensor", "Reading", "FROM", 10)
    for at in range(300):
        world.add(at % 10, {"at": datetime(2024, 3, 1) + timedelta(minutes=10 * (at // 20) + 5), "kind": ["t", "h"][at // 10 % 2]})
    return world


def any_exam() -> World:
    """Students who are down for exams at any hour."""
    world = World("Student", "Exam", "FOR", 40)
    for at in range(200):
        world.add(world.random.randrange(40), {"at": datetime(2024, 3, 1 + at % 5, 9 + at % 4)})
    return world


def residents() -> World:
    """Of people who never moved nobody knows that one home is all they may have."""
    world = World("Person", "Home", "LIVES_IN", 120)
    for person in range(120):
        world.add(person, {"street": f"Lane {person}"}, {"since": DAY - timedelta(person)})
    for person in range(3):
        world.add(person, {"street": f"Beach {person}"}, {"since": DAY, "until": None})
    return world


def meetings() -> World:
    """People who are asked to several meetings at one time."""
    world = World("Colleague", "Meeting", "INVITED", 20)
    for at in range(60):
        thing = world.add(at % 20, {"start": datetime(2024, 3, 1 + at // 10, 10), "end": datetime(2024, 3, 1 + at // 10, 11)})
        world.relations += [(thing, (at + more) % 20, {}) for more in range(1, 6)]
    return world


@pytest.mark.parametrize("make", [
    goals, second_jobs, days_alone, all_day, of_customers, touching, called_off, nobody_yet, payments, nights, readings, any_exam,
    residents, meetings,
], ids=lambda make: make.__name__)
def test_what_may_be_at_one_time_is_no_hit(graph: Graph, make: Callable[[], World]) -> None:
    assert make().hits(graph) == []


def values(key: str, types: Mapping[str, float], formats: Mapping[str, float] | None = None) -> PropertyProfile:
    return PropertyProfile(key=key, filled=1.0, types=dict(types), distinct=0.5, formats=dict(formats or {}))


def test_what_says_when() -> None:
    clock, day = {"STRING": 1.0}, {"DATE": 1.0}
    told = times_in([values("date", day), values("kickoff", clock, {"time of day": 1.0}), values("created", {"ZONED DATETIME": 1.0})])
    assert [(one.kind, one.day, one.clock) for one in told] == [("moment", "date", "kickoff")]
    told = times_in([values("born", day), values("dateTo", day), values("dateFrom", day)])
    assert [(one.kind, one.day, one.last) for one in told] == [("span", "dateFrom", "dateTo")]
    assert times_in([values("day", day), values("note", clock)]) == []


@pytest.mark.parametrize(("times", "share"), [
    ([[(0, 2, 1), (1, 3, 2)], [(2, 4, 3)]], 2 / 3), ([[(0, 1, 1), (0, 1, 1)]], 0.0), ([], 0.0), ([[(0, 1, 1), (1, 2, 2)]], 0.0),
])
def test_how_many_pairs_meet(times: Sequence[Sequence[tuple[float, float, int]]], share: float) -> None:
    assert share_that_meets(times) == pytest.approx(share)


def test_how_likely_so_few_are() -> None:
    assert chance_of_so_few(0, 5) == pytest.approx(0.0067, abs=1e-4)
    assert chance_of_so_few(2, 2) > 0.5
    assert chance_of_so_few(9, 10_000) == 0.0
