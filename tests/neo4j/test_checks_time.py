"""Checks of the group time, in the layout of a graph with a time axis and in one with other keys and types."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.steps.inverted_interval import is_inverted
from kgeval.records import Finding, Layout

FACTS = Layout(
    name="facts", entity_labels=["Entity"], type_label_ignored=["Entity"], name_keys=["name"], key_property="uuid",
    relation_types=["RELATES_TO"], relation_label_key="name", scope_property="group_id", scope_value="mine",
    valid_from_key="valid_at", valid_to_key="invalid_at", expired_key="expired_at",
)
PLAIN = Layout(
    name="plain", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"],
    relation_types=["KNOWS", "LIKES"], relations_join_entities_only=True, valid_from_key="since", valid_to_key="until",
)
RULES = ["expired-relation", "inverted-interval", "mass-invalidation", "implausible-invalidation"]
PEOPLE = "UNWIND ['Ada', 'Bob', 'Cid', 'Dee'] AS n CREATE (:Entity {name: n, group_id: 'mine'})"


def pair(*facts: str) -> str:
    """Two entities joined by one KNOWS relation for each property map."""
    return "CREATE (a:__Entity__ {name: 'a'}), (b:__Entity__ {name: 'b'})" + "".join(f", (a)-[:KNOWS {{{fact}}}]->(b)" for fact in facts)


def fact(source: str, name: str, target: str, times: str) -> str:
    return (f"MATCH (s:Entity {{name: '{source}'}}), (t:Entity {{name: '{target}'}}) "
            f"CREATE (s)-[:RELATES_TO {{name: '{name}', {times}}}]->(t)")


def counted(finding: Finding) -> tuple[int | None, int | None]:
    assert finding.status in ("passed", "failed"), finding.reason
    return finding.count, finding.total


@pytest.mark.parametrize("layout", [FACTS, PLAIN], ids=["facts", "plain"])
@pytest.mark.parametrize("rule", RULES)
def test_an_empty_database_and_one_without_times_are_skipped(graph, draw, rule, layout):
    assert run_check(graph, layout, rule).status == "skipped"
    draw("CREATE (:__Entity__)-[:KNOWS]->(:__Entity__), (:Entity {group_id: 'mine'})-[:RELATES_TO]->(:Entity {group_id: 'mine'})")
    assert run_check(graph, layout, rule).reason == f"relations carry no validity times that layout '{layout.name}' reads"


@pytest.mark.parametrize(("value", "hits"), [
    ("datetime('2020-01-01T00:00Z')", 1), ("date('2020-01-01')", 1), ("localdatetime('2020-01-01T00:00')", 1), ("'2020-01-01'", 1),
    ("'2020-01-01T10:00:00+02:00'", 1), ("'2020'", 1), ("1577836800", 1), ("1577836800000", 1), ("1577836800.5", 1),
    ("datetime('2999-01-01T00:00Z')", 0), ("date('2999-01-01')", 0), ("'2999-01-01'", 0), ("32472144000", 0), ("32472144000000", 0),
    ("'present'", 0), ("true", 0), ("[1, 2]", 0), ("''", 0),
])
def test_a_relation_that_ended_before_now_is_expired_in_every_type_of_value(graph, draw, value, hits):
    draw(pair(f"until: {value}", "since: 1"))
    assert counted(run_check(graph, PLAIN, "expired-relation")) == (hits, 2)


def test_a_relation_marked_as_expired_counts_and_another_group_does_not(graph, draw):
    draw(PEOPLE)
    draw(fact("Ada", "LIKES", "Bob", "expired_at: datetime()"))
    draw(fact("Ada", "LIKES", "Cid", "invalid_at: null"))
    draw("CREATE (:Entity {group_id: 'other'})-[:RELATES_TO {expired_at: datetime()}]->(:Entity {group_id: 'other'})")
    finding = run_check(graph, FACTS, "expired-relation")
    assert counted(finding) == (1, 2)
    assert finding.examples[0].items[0].name == "Ada -[LIKES]-> Bob"


@pytest.mark.parametrize(("since", "until", "hits"), [
    ("date('2021-01-01')", "date('2020-01-01')", 1), ("date('2020-01-01')", "date('2021-01-01')", 0),
    ("date('2020-01-01')", "date('2020-01-01')", 0), ("5", "4", 1), ("4", "5", 0), ("10", "9", 1),
    ("'2021-01-01'", "'2020-12-31'", 1), ("'2021-01-01'", "'2021-06-01'", 0), ("'2021-06-01'", "'2021'", 0),
    ("'2021-01-01'", "'2021-01-01'", 0),
    ("datetime('2021-01-02T00:00Z')", "date('2021-01-01')", 1), ("datetime('2021-01-01T10:00Z')", "date('2021-01-01')", 0),
    ("'2021-01-01T10:00:00+02:00'", "'2021-01-01T08:30:00Z'", 0), ("'2021-01-01T10:00:00Z'", "'2021-01-01T11:30:00+02:00'", 1),
    ("'spring'", "'autumn'", 0), ("[1]", "[0]", 0), ("true", "false", 0), ("1609459200", "'2020-12-31'", 1),
])
def test_an_interval_is_inverted_if_it_ends_before_it_begins(graph, draw, since, until, hits):
    draw(pair(f"since: {since}, until: {until}", "since: 1"))
    assert run_check(graph, PLAIN, "inverted-interval").count == hits


def test_inverted_intervals_of_the_group_are_listed_with_both_times(graph, draw):
    draw(PEOPLE)
    draw(fact("Ada", "LIKES", "Bob", "valid_at: date('2021-01-01'), invalid_at: date('2019-01-01')"))
    draw("CREATE (:Entity {group_id: 'x'})-[:RELATES_TO {valid_at: 2, invalid_at: 1}]->(:Entity {group_id: 'x'})")
    finding = run_check(graph, FACTS, "inverted-interval")
    assert counted(finding) == (1, 1)
    assert finding.examples[0].why == "valid from 2021-01-01 to 2019-01-01"


@pytest.mark.parametrize(("start", "end", "expected"), [
    ("1609459200", "2020-12-31", True), ("1609459200000", "2021-01-02", False), ("2021-13", "2020", False),
    ("2021-02-30", "2020-01-01", False), ("2021-01-01T00:00:00.123456789Z", "2021-01-01T00:00:00Z", True),
    ("2021-01-01T00:00:00+01:00[Europe/Paris]", "2020-12-31T23:00:00Z", False), ("-5", "9", False), ("inf", "0", False),
    ("1999-05-01", "1999", False), ("1999-05-01", "1999-05", False), ("1999-05-01", "1998", True), ("1999", "1998-12-31", True),
])
def test_texts_are_compared_as_instants(start, end, expected):
    assert is_inverted(start, end) is expected


RETIRED = """UNWIND range(1, 40) AS i
    CREATE (:Entity {name: 'a', group_id: 'mine'})-[:RELATES_TO {name: 'R', expired_at:
      CASE WHEN i <= 25 THEN datetime({epochMillis: 1700000000000 + i}) ELSE datetime({epochMillis: 1800000000000 + 60000 * i}) END}
    ]->(:Entity {name: 'b', group_id: 'mine'})"""


def test_25_facts_retired_within_a_second_are_a_mass_invalidation(graph, draw):
    draw(RETIRED)
    finding = run_check(graph, FACTS, "mass-invalidation")
    assert counted(finding) == (25, 40)
    assert finding.examples[0].why == "25 relations retired at 2023-11-14T22:13:20"
    assert len(finding.examples[0].items) == 3
    assert counted(run_check(graph, FACTS, "mass-invalidation", settings={"min_facts": 26})) == (0, 40)


def test_without_a_retirement_time_the_end_counts_only_with_a_time_of_day(graph, draw):
    ends = ("date('2020-12-31')", "datetime('2020-12-31T00:00Z')", "'2020'", "1577836800", "'2020-12-31T10:00:00Z'", "1577836801")
    draw(pair(*(f"until: {end}" for end in ends for _ in range(2))))
    assert counted(run_check(graph, PLAIN, "mass-invalidation", settings={"min_facts": 2})) == (4, 4)


T = "datetime('2024-05-01T10:00:00Z')"
OLD, NEW = f"invalid_at: {T}, expired_at: datetime()", f"valid_at: {T}"


@pytest.mark.parametrize(("new", "hits"), [
    (("Ada", "LEFT", "Bob"), 0), (("Bob", "LEFT", "Ada"), 0), (("Ada", "LIVES_IN", "Cid"), 0), (("Cid", "LIVES_IN", "Bob"), 0),
    (("Ada", "LIKES", "Cid"), 1), (("Cid", "LIVES_IN", "Dee"), 1),
])
def test_a_successor_must_share_both_ends_or_one_end_and_the_relation(graph, draw, new, hits):
    draw(PEOPLE)
    draw(fact("Ada", "LIVES_IN", "Bob", OLD))
    draw(fact(*new, NEW))
    finding = run_check(graph, FACTS, "implausible-invalidation")
    assert counted(finding) == (hits, 1)
    if hits:
        assert [item.name for item in finding.examples[0].items] == ["Ada -[LIVES_IN]-> Bob", f"{new[0]} -[{new[1]}]-> {new[2]}"]


def test_one_plausible_successor_among_others_is_enough_and_none_is_no_hit(graph, draw):
    draw(PEOPLE)
    draw(fact("Ada", "LIVES_IN", "Bob", OLD))
    assert counted(run_check(graph, FACTS, "implausible-invalidation")) == (0, 1)
    draw(fact("Cid", "LIKES", "Dee", NEW))
    assert counted(run_check(graph, FACTS, "implausible-invalidation")) == (1, 1)
    draw(fact("Ada", "LEFT", "Bob", NEW))
    assert counted(run_check(graph, FACTS, "implausible-invalidation")) == (0, 1)


def test_a_fact_of_no_duration_does_not_succeed_itself(graph, draw):
    draw(PEOPLE)
    draw(fact("Ada", "LIVES_IN", "Bob", f"{OLD}, {NEW}"))
    draw(fact("Cid", "LIKES", "Dee", NEW))
    assert counted(run_check(graph, FACTS, "implausible-invalidation")) == (1, 1)


def test_layouts_without_a_retirement_time_use_the_end_alone(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'a'})-[:KNOWS {until: 5}]->(b:__Entity__ {name: 'b'}),
                   (:__Entity__ {name: 'c'})-[:KNOWS {since: 5}]->(:__Entity__ {name: 'd'})""")
    assert counted(run_check(graph, PLAIN, "implausible-invalidation")) == (1, 1)
