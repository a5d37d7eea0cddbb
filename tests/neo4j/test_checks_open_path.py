"""What the audit says of relations without the way around that all others have; and of ways that are no rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

import kgeval
from kgeval.auditing.ways_around import EndsOf, Relations, Step, Way, steps_from, ways_of
from kgeval.graph.connect import Graph


class World:
    """Nodes of labels by number, and relations between them."""

    def __init__(self, *, seed: int = 1, **labels: int) -> None:
        self.random = random.Random(seed)
        self.labels = labels
        self.relations: dict[tuple[str, str, str], set[tuple[int, int]]] = {}

    def add(self, start: str, type_: str, end: str, pairs: Iterable[tuple[int, int]]) -> None:
        self.relations.setdefault((start, type_, end), set()).update(pairs)

    def any_of(self, label: str) -> int:
        return self.random.randrange(self.labels[label])

    def hits(self, graph: Graph) -> dict[str, str]:
        for label, size in self.labels.items():
            graph.write(f"UNWIND range(0, {size - 1}) AS i CREATE (:{label} {{code: 'c' + i, name: '{label} No ' + i}})")
        for (start, type_, end), pairs in self.relations.items():
            graph.write(
                f"UNWIND $pairs AS p MATCH (a:{start} {{code: 'c' + p[0]}}), (b:{end} {{code: 'c' + p[1]}}) CREATE (a)-[:{type_}]->(b)",
                {"pairs": [list(pair) for pair in sorted(pairs)]},
            )
        finding = kgeval.audit(graph.driver, checks="open-path", no_structure=True, examples=0).findings[0]
        assert finding.status != "error", finding.reason
        assert finding.count is None or finding.count == len(finding.examples)
        return {example.items[0].name: example.why or "" for example in finding.examples}


def league() -> World:
    """Players score in matches of their club."""
    world = World(Player=120, Club=12, Match=80)
    world.add("Player", "PLAYS_FOR", "Club", ((player, player % 12) for player in range(120)))
    for match in range(80):
        home, away = world.random.sample(range(12), 2)
        world.add("Match", "HOME", "Club", [(match, home)])
        world.add("Match", "AWAY", "Club", [(match, away)])
        scorers = [world.random.choice([home, away]) + 12 * world.random.randrange(10) for _ in range(3)]
        world.add("Player", "SCORED_IN", "Match", ((scorer, match) for scorer in scorers))
    return world


def clubs_of(world: World, match: int) -> set[int]:
    return {club for type_ in ("HOME", "AWAY") for at, club in world.relations["Match", type_, "Club"] if at == match}


def test_a_scorer_of_a_third_club_is_found(graph: Graph) -> None:
    world = league()
    stranger = next(club for club in range(12) if club not in clubs_of(world, 7))
    world.add("Player", "SCORED_IN", "Match", [(stranger, 7)])
    of = len(world.relations["Player", "SCORED_IN", "Match"])
    assert world.hits(graph) == {
        f"Player No {stranger} -[SCORED_IN]-> Match No 7":
            f"no Player -[PLAYS_FOR]-> (Club) <-[AWAY or HOME]- Match, which {of - 1} of {of} SCORED_IN have",
    }


def pilots() -> World:
    """Pilots fly on aircraft of types that they are rated on."""
    world = World(Pilot=60, Kind=8, Plane=30, Flight=200)
    ratings = {pilot: set(world.random.sample(range(8), 2)) for pilot in range(60)}
    world.add("Pilot", "RATED_ON", "Kind", ((pilot, kind) for pilot, kinds in ratings.items() for kind in kinds))
    world.add("Plane", "OF_KIND", "Kind", ((plane, plane % 8) for plane in range(30)))
    for flight in range(200):
        plane = world.any_of("Plane")
        world.add("Flight", "WITH", "Plane", [(flight, plane)])
        able = [pilot for pilot, kinds in ratings.items() if plane % 8 in kinds]
        world.add("Pilot", "FLIES", "Flight", ((pilot, flight) for pilot in world.random.sample(able, 2)))
    return world


def test_a_pilot_without_the_rating_for_the_type_is_found(graph: Graph) -> None:
    world = pilots()
    plane = next(plane for flight, plane in world.relations["Flight", "WITH", "Plane"] if flight == 5)
    rated = {pilot for pilot, kind in world.relations["Pilot", "RATED_ON", "Kind"] if kind == plane % 8}
    stranger = next(pilot for pilot in range(60) if pilot not in rated)
    world.add("Pilot", "FLIES", "Flight", [(stranger, 5)])
    hits = world.hits(graph)
    assert [*hits] == [f"Pilot No {stranger} -[FLIES]-> Flight No 5"]
    why = hits[f"Pilot No {stranger} -[FLIES]-> Flight No 5"]
    assert why.startswith("no Pilot -[RATED_ON]-> (Kind) <-[OF_KIND]- (Plane) <-[WITH]- Flight")


def test_who_leads_a_team_and_is_in_another_one_is_found(graph: Graph) -> None:
    world = World(Worker=300, Team=60)
    world.add("Worker", "MEMBER_OF", "Team", ((worker, worker % 60) for worker in range(300)))
    world.add("Worker", "LEADS", "Team", ((team, team) for team in range(60)))
    world.relations["Worker", "LEADS", "Team"] -= {(3, 3)}
    world.add("Worker", "LEADS", "Team", [(64, 3)])
    assert [*world.hits(graph)] == ["Worker No 64 -[LEADS]-> Team No 3"]


def test_an_exam_of_a_course_that_the_student_does_not_take_is_found(graph: Graph) -> None:
    world = World(Student=150, Course=20, Exam=40)
    world.add("Exam", "ABOUT", "Course", ((exam, exam % 20) for exam in range(40)))
    for student in range(150):
        taken = world.random.sample(range(20), 3)
        world.add("Student", "TAKES", "Course", ((student, course) for course in taken))
        world.add("Student", "SITS", "Exam", ((student, course + 20 * world.random.randrange(2)) for course in taken[:2]))
    taken = {course for student, course in world.relations["Student", "TAKES", "Course"] if student == 9}
    exam = next(course for course in range(20) if course not in taken)
    world.add("Student", "SITS", "Exam", [(9, exam)])
    assert [*world.hits(graph)] == [f"Student No 9 -[SITS]-> Exam No {exam}"]


def by_chance() -> World:
    """Who likes what has nothing to do with where they live."""
    world = World(Person=100, Film=50, Town=10)
    world.add("Person", "LIVES_IN", "Town", ((person, person % 10) for person in range(100)))
    world.add("Film", "SET_IN", "Town", ((film, film % 10) for film in range(50)))
    world.add("Person", "LIKES", "Film", ((person, world.any_of("Film")) for person in range(100) for _ in range(4)))
    return world


def one_country() -> World:
    """All but two share a country."""
    world = World(Person=100, Shop=30, Country=2)
    world.add("Person", "FROM", "Country", ((person, person < 2) for person in range(100)))
    world.add("Shop", "IN", "Country", ((shop, 0) for shop in range(30)))
    world.add("Person", "SHOPS_AT", "Shop", ((person, world.any_of("Shop")) for person in range(100)))
    return world


def tail_of_many() -> World:
    """What a shop has in stock was sold there, most of it often."""
    world = World(Shop=10, Product=60, Sale=1500)
    for shop in range(10):
        world.add("Shop", "STOCKS", "Product", ((shop, product) for product in range(60) if (product + shop) % 5 < 3))
    for sale in range(1500):
        shop = world.any_of("Shop")
        stock = [product for at, product in sorted(world.relations["Shop", "STOCKS", "Product"]) if at == shop]
        world.add("Sale", "AT", "Shop", [(sale, shop)])
        world.add("Sale", "OF", "Product", [(sale, world.random.choice(stock))])
    return world


def often_not() -> World:
    """One in fifteen scores for another club: they are lent."""
    world = league()
    world.add("Player", "SCORED_IN", "Match", ((world.any_of("Player"), world.any_of("Match")) for _ in range(20)))
    return world


def no_club_known() -> World:
    """Of some players no club is known."""
    world = league()
    world.labels["Player"] = 123
    world.add("Player", "SCORED_IN", "Match", ((player, player - 115) for player in (120, 121)))
    return world


def few() -> World:
    """Thirty relations show no rule."""
    world = league()
    pairs = sorted(world.relations["Player", "SCORED_IN", "Match"])[:30]
    world.relations["Player", "SCORED_IN", "Match"] = {*pairs}
    stranger = next(club for club in range(12) if club not in clubs_of(world, 7))
    world.add("Player", "SCORED_IN", "Match", [(stranger, 7)])
    return world


def two_halves() -> World:
    """Half of all pairs share a half of the town."""
    world = World(Pupil=200, School=20, Half=2)
    world.add("Pupil", "LIVES_IN", "Half", ((pupil, pupil % 2) for pupil in range(200)))
    world.add("School", "LIES_IN", "Half", ((school, school % 2) for school in range(20)))
    world.add("Pupil", "GOES_TO", "School", ((pupil, (2 * world.any_of("School") + pupil % 2) % 20) for pupil in range(200)))
    world.add("Pupil", "GOES_TO", "School", ((pupil, (pupil + 1) % 2) for pupil in range(0, 200, 25)))
    return world


def friends() -> World:
    """Friends have friends in common, mostly."""
    world = World(Person=80, Club=20)
    world.add("Person", "IN", "Club", ((person, club) for person in range(80) for club in world.random.sample(range(20), 4)))
    members = {club: [one for one, at in sorted(world.relations["Person", "IN", "Club"]) if at == club] for club in range(20)}
    for club in range(20):
        world.add("Person", "KNOWS", "Person", (tuple(world.random.sample(members[club], 2)) for _ in range(8)))  # type: ignore[misc]
    world.add("Person", "KNOWS", "Person", ((person, (person + 31) % 80) for person in range(0, 80, 8)))
    return world


def co_bought() -> World:
    """What people buy others bought who bought the same."""
    world = World(Buyer=80, Product=40, Topic=8)
    world.add("Buyer", "BOUGHT", "Product", ((buyer, world.any_of("Product") // (1 + buyer % 2)) for buyer in range(80) for _ in range(6)))
    world.add("Product", "ABOUT", "Topic", ((product, product % 8) for product in range(40)))
    world.add("Buyer", "INTERESTED_IN", "Topic", ((buyer, world.any_of("Topic")) for buyer in range(80) for _ in range(5)))
    return world


def chain() -> World:
    """Orders, their lines and products, which close nothing."""
    world = World(Order=60, Line=200, Product=30, Maker=6)
    world.add("Order", "HAS", "Line", ((line % 60, line) for line in range(200)))
    world.add("Line", "OF", "Product", ((line, world.any_of("Product")) for line in range(200)))
    world.add("Product", "BY", "Maker", ((product, product % 6) for product in range(30)))
    return world


def all_closed() -> World:
    """A rule without exception."""
    return league()


def tree() -> World:
    """Who reports to somebody is mostly in the same team; managers of managers are not."""
    world = World(Worker=130, Team=12)
    world.add("Worker", "IN_TEAM", "Team", ((worker, worker % 12) for worker in range(130)))
    world.add("Worker", "REPORTS_TO", "Worker", ((worker, worker % 12) for worker in range(12, 130)))
    world.add("Worker", "REPORTS_TO", "Worker", ((worker, 0) for worker in range(1, 12)))
    return world


def authors() -> World:
    """Papers cite papers of their field, and of others now and then."""
    world = World(Paper=150, Field=6)
    world.add("Paper", "IN_FIELD", "Field", ((paper, paper % 6) for paper in range(150)))
    for paper in range(20, 150):
        world.add("Paper", "CITES", "Paper", [(paper, paper - 6), (paper, paper - 12)])
    world.add("Paper", "CITES", "Paper", ((paper, paper - 1) for paper in range(20, 150, 10)))
    return world


@pytest.mark.parametrize("make", [
    by_chance, one_country, tail_of_many, often_not, no_club_known, few, two_halves, friends, co_bought, chain, all_closed, tree, authors,
], ids=lambda make: make.__name__)
def test_what_is_no_rule_is_not_told(graph: Graph, make: Callable[[], World]) -> None:
    assert make().hits(graph) == {}


KNOWS, MEMBER = EndsOf(0, "KNOWS", "Person", "Person", 90), EndsOf(1, "IN", "Person", "Club", 90)


def test_ways_do_not_go_along_what_they_go_around() -> None:
    ways = ways_of([KNOWS, MEMBER])
    assert {(way.of.type, *(step.types[0] for step in way.steps)) for way in ways} == {("KNOWS", "IN", "IN")}
    assert {step.target for step in steps_from([KNOWS, MEMBER])["Person"]} == {"Person", "Club"}


def test_ways_are_counted_by_the_nodes_between() -> None:
    relations = Relations()
    relations.add(0, [1, 1], [2, 9])
    relations.add(1, [1, 2, 1, 2], [5, 5, 6, 6])
    way = Way(KNOWS, (Step((MEMBER,), along=True), Step((MEMBER,), along=False)))
    assert relations.times(way, 1, 2) == 2
    assert relations.times(way, 1, 9) is None
