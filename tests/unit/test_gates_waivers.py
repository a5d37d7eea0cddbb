"""Waivers: what they match, what they take out of a count, and what is said of those that ended or match nothing."""

from __future__ import annotations

from datetime import date

import pytest
from gates_world import RULE, TODAY, answered, entity, of, outcome, shows, waived
from pydantic import ValidationError

from kgeval.auditing.gates import (
    Waiver,
    judged,
    silenced,
    waiver_notes,
    waiver_rows,
)
from kgeval.auditing.gates.waivers import waiver_faults
from kgeval.auditing.rulebook import load_rules
from kgeval.records import GraphRef, Waived


def test_waived_hits_leave_the_count_that_is_held_and_stay_in_the_count() -> None:
    gates = waived(Waiver("isolated-entity", "agreed", match="ada*"), Waiver("names", "other group", match="*"))
    found = judged(RULE, outcome(shows("Ada Lovelace"), shows("ADA"), shows("Bob")), gates)
    assert (found.held, found.suppressed, found.known, found.status) == (1, 2, 0, "failed")
    assert [one.waived for one in found.examples] == [None, "agreed", "agreed"]
    assert (found.taken, found.by_type) == ({0: 2}, {"Person": 1})
    assert judged(RULE, outcome(shows("Ada")), gates).status == "passed"


@pytest.mark.parametrize(("match", "hit"), [
    ("ada lovelace", True), ("Ada*", True), ("person:ada*", True), ("Place:Ada*", False), ("lovelace", False), ("*LOVELACE", True),
    ("?da lovelace", True), ("re:^ada\\b", False), ("re:^ada\\b.*", True), ("[a]da*", False), ("ＡＤＡ lovelace", True), ("k-1", True),
    ("Ada？lovelace", False), ("Ada ＊", False),
])
def test_a_match_is_a_pattern_of_name_type_and_name_or_key_whatever_the_case(match: str, hit: bool) -> None:
    item = GraphRef(element_id="4:1", key="K-1", name="Ada Lovelace", type="Person")
    assert Waiver("isolated-entity", "r", match=match).takes([item]) is hit


def test_brackets_of_relation_names_are_no_wildcards() -> None:
    relation = GraphRef(key="A -[MET]-> B", name="A -[MET]-> B", type="MET", kind="relation")
    assert Waiver("self-loop", "r", match="a -[met]-> *").takes([relation])
    assert not Waiver("self-loop", "r", match="a -[knew]-> *").takes([relation])


def test_a_waiver_covers_a_check_a_group_or_a_pattern() -> None:
    assert all(Waiver(rule, "r").covers("isolated-entity", "connectivity") for rule in ("isolated-entity", "connectivity", "*-entity", "*"))
    assert not Waiver("entity", "r").covers("isolated-entity", "connectivity")
    assert waiver_faults("nope", "re:(", ["self-loop"]) and not waiver_faults("self-*", "re:a", ["self-loop"])
    assert len(waiver_faults("nope", "re:(", ["self-loop"])) == 2


def test_what_only_illustrates_a_hit_is_not_matched() -> None:
    pair = outcome(shows("Ship", "Titanic"))
    by = waived(Waiver("isolated-entity", "r", match="Titanic"))
    assert judged(of("first"), pair, by).suppressed == 0
    assert judged(of("group"), pair, by).suppressed == 1


def test_a_waiver_without_match_takes_all_hits_also_those_that_are_not_listed() -> None:
    found = judged(RULE, outcome(shows("Ada"), count=900, total=1000), waived(Waiver("isolated-entity", "r")))
    assert (found.suppressed, found.held, found.status, found.matched) == (900, 0, "passed", {0: 900})
    both = waived(Waiver("isolated-entity", "first", match="Ada"), Waiver("isolated-entity", "rest"))
    assert judged(RULE, outcome(shows("Ada"), count=900, total=1000), both).taken == {1: 900}
    assert judged(RULE, outcome(shows("Ada"), shows("Bob"), total=1000), both).taken == {0: 1, 1: 1}


@pytest.mark.parametrize("count", [1, 5])
def test_a_match_takes_nothing_unless_the_examples_sum_up_to_the_count(count: int) -> None:
    """One that lists too few, for there are too many, and one that breaks its contract and lists too many: neither may pass."""
    hits = outcome(*(shows(name) for name in ("Ada", "Bob", "Cy")), count=count)
    found = judged(RULE, hits, waived(Waiver("isolated-entity", "r", match="*")))
    assert (found.held, found.suppressed, found.taken, found.status, found.by_type) == (count, 0, {}, "failed", None)
    assert f"not each of the {count} hits is listed" in (found.note or "")
    both = waived(Waiver("isolated-entity", "r", match="*"), Waiver("isolated-entity", "r"))
    assert judged(RULE, hits, both).taken == {1: count}


def test_a_waiver_never_took_less_than_nothing() -> None:
    with pytest.raises(ValidationError):
        Waived(rule="a", reason="r", hits=-1)


def test_a_waiver_holds_through_its_last_day_and_is_said_when_it_has_ended() -> None:
    last, gone = Waiver("isolated-entity", "r", "Ada", TODAY), Waiver("isolated-entity", "r", "Ada", date(2026, 4, 30))
    assert judged(RULE, outcome(shows("Ada")), waived(last)).suppressed == 1
    found = judged(RULE, outcome(shows("Ada")), waived(gone))
    assert (found.suppressed, found.status) == (0, "failed")
    rows = waiver_rows(waived(gone), [found.taken], [found.matched], [answered()])
    assert rows[0].expired
    assert waiver_notes(rows) == ["waiver 1 (rule isolated-entity, match Ada) ended on 2026-04-30: its hits count again"]


def test_a_waiver_that_matches_nothing_is_said_only_where_its_check_ran() -> None:
    gates = waived(*(Waiver("isolated-entity", "r", match=match) for match in ("Zed", "A*", "Ada")))
    found = judged(RULE, outcome(shows("Ada")), gates)
    rows = waiver_rows(gates, [found.taken], [found.matched], [answered()])
    assert [(one.stale, one.hits) for one in rows] == [(True, 0), (False, 1), (False, 0)]  # the third matches what the second took
    assert not any(one.stale for one in waiver_rows(gates, [], [], [answered("skipped", None)]))


def test_a_waiver_of_several_checks_is_stale_only_where_all_of_them_ran() -> None:
    names = [rule.id for rule in load_rules().values() if rule.group == "connectivity"]
    gates = waived(Waiver("connectivity", "r", match="Zed"), Waiver("*-entity", "r", match="Zed"), Waiver("isolated-entity", "r", "Zed"))
    one = [answered(status="passed", count=0)]
    assert [row.stale for row in waiver_rows(gates, [], [], one)] == [False, False, True]
    every = [one[0].model_copy(update={"rule_id": name}) for name in names]
    assert [row.stale for row in waiver_rows(gates, [], [], every)] == [True, False, True]
    assert not waiver_rows(gates, [], [], [*every[:-1], answered("skipped", None, rule_id=names[-1])])[0].stale


def test_a_waiver_of_joined_findings_too_is_not_stale_without_them() -> None:
    own, joining = load_rules()["isolated-entity"], {"isolated-fact": "accuracy"}
    whole, matched = Waiver("isolated-*", "r"), Waiver("isolated-*", "r", match="Zed")
    names = [name for name in load_rules() if name.startswith("isolated-")]
    ran = [answered("passed", 0, rule_id=name, group=own.group) for name in names]
    assert [one.stale for one in waiver_rows(waived(whole, matched), [], [], ran, joining=joining)] == [False, True], "not given now"
    joined = answered("passed", 0, rule_id="isolated-fact", group="accuracy")
    assert waiver_rows(waived(whole), [], [], [*ran, joined], joining=joining)[0].stale


def test_a_match_on_findings_that_only_join_is_a_fault() -> None:
    known, joining = ["self-loop", "contradicted-relation"], ["contradicted-relation"]
    for rule in ("accuracy", "completeness", "contradicted-*"):
        (fault,) = waiver_faults(rule, "Ada", known, joining)
        assert "waived as a whole: leave match out" in fault
        assert not waiver_faults(rule, None, known, joining)
    assert not waiver_faults("*", "Ada", known, joining)


def test_of_hits_that_are_not_all_listed_no_waiver_is_said_to_match_nothing() -> None:
    gates = waived(Waiver("isolated-entity", "r", match="Zed"))
    found = judged(RULE, outcome(shows("Ada"), count=900, total=1000), gates)
    assert not found.listed
    rows = waiver_rows(gates, [found.taken], [found.matched], [answered()], unlisted={"isolated-entity"})
    assert not rows[0].stale and not waiver_notes(rows)


def test_full_width_signs_in_a_match_stand_for_themselves() -> None:
    assert Waiver("isolated-entity", "r", match="Who？").takes([entity("Who?")])
    assert not Waiver("isolated-entity", "r", match="Who？").takes([entity("Whox")])


def test_a_thing_without_a_type_is_not_of_the_type_none() -> None:
    assert not Waiver("isolated-entity", "r", "None:*").takes([entity("Ada", None)])
    assert Waiver("isolated-entity", "r", "Person:*").takes([entity("Ada")])


def test_a_pattern_that_cannot_be_made_is_a_fault() -> None:
    for match in ("re:(", "re:a{99999999999999999999}"):
        assert any("no regular expression" in one for one in waiver_faults("isolated-entity", match, ["isolated-entity"]))


def test_a_finding_of_a_joined_report_is_silenced_as_a_whole_only() -> None:
    finding = answered(count=4).model_copy(update={"rule_id": "contradicted-relation", "group": "accuracy"})
    done, places = silenced(finding, waived(Waiver("accuracy", "sampled badly"), Waiver("contradicted-relation", "the same again")))
    assert (done.status, done.suppressed, places) == ("passed", 4, [0, 1])
    assert done.examples == [] and done.waived[0].reason == "sampled badly"
    assert silenced(finding, waived(Waiver("accuracy", "r", match="*"))) == (finding, [])
