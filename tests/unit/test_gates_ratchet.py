"""The ratchet: what was accepted is known again after a rebuild, and only what is new or worse counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from gates_world import RULE, answered, debt, entity, of, outcome, shows, waived
from hypothesis import given
from hypothesis import strategies as st

from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.gates import (
    Gates,
    Waiver,
    differences,
    gate_rows,
    judged,
    keys_of,
    read_ratchet,
)
from kgeval.auditing.gates.keys import by_type, hashed, key_of, recounted
from kgeval.auditing.rulebook import Hit
from kgeval.errors import InputError
from kgeval.records import AuditReport, Example, Finding, GraphRef, Layout, Ratchet, RatchetRule
from kgeval.workflows.audit_gates import ratchet_notes


def test_a_check_of_the_ratchet_that_is_left_out_is_said() -> None:
    report = AuditReport.model_validate({
        "graph": None, "run": {"kgeval": "1", "command": "audit", "started": "2026-01-01T00:00:00Z", "seconds": 1.0},
        "layout": Layout(name="own"),
    })
    gates = Gates(ratchet=debt(RULE, shows("Ada")))
    assert ratchet_notes(report, gates, []) == [
        "ratchet: checks of it that were not run now, of which it says nothing: isolated-entity",
    ]
    assert ratchet_notes(report, gates, [answered(known=1, status="passed")]) == []


def test_a_key_is_type_and_normalised_name_and_never_an_id() -> None:
    assert key_of(entity("The  Ada-Lovelace")) == key_of(entity("ada lovelace", "PERSON", "4:77")) == "person: ada lovelace"
    relation = GraphRef(element_id="5:1", key="", name="The Door -[IS IN]-> the House", type="IS IN", kind="relation")
    assert key_of(relation) == "is in: door -> house"
    chunk = GraphRef(element_id="4:x:9", key="4:x:9", name="4:x:9", kind="chunk")
    assert key_of(chunk) == "chunk: "


def test_only_what_is_new_fails() -> None:
    gates = Gates(ratchet=debt(RULE, shows("Ada"), shows("Bob")))
    same = judged(RULE, outcome(shows("bob"), shows("The Ada")), gates)
    assert (same.known, same.held, same.status) == (2, 0, "passed")
    more = judged(RULE, outcome(shows("Ada"), shows("Cy"), shows("Bob")), gates)
    assert (more.known, more.held, more.status, [one.known for one in more.examples]) == (2, 1, "failed", [False, True, True])


def test_two_hits_of_a_key_where_one_was_known_are_one_new() -> None:
    found = judged(RULE, outcome(shows("Ada"), shows("ada")), Gates(ratchet=debt(RULE, shows("Ada"))))
    assert (found.known, found.held) == (1, 1)


def test_a_group_that_grew_is_new_by_what_it_grew() -> None:
    rule = of("group")
    found = judged(rule, outcome(shows("Ada", "ADA", counts=5)), Gates(ratchet=debt(rule, shows("ada", "Ada", counts=3))))
    assert (found.known, found.held, found.examples[0].known) == (3, 2, False)


def test_items_of_a_group_are_hits_of_their_own() -> None:
    rule = of("items")
    before = Example(items=[entity("Mercury", "Planet"), entity("Mercury", "Person")], counts=2)
    now = Example(items=[entity("Mercury", "Element"), entity("Mercury", "Person"), entity("Mercury", "Planet")], counts=3)
    found = judged(rule, outcome(now), Gates(ratchet=debt(rule, before)))
    assert (found.known, found.held, found.by_type) == (2, 1, {"Element": 1, "Person": 1, "Planet": 1})


def test_pairs_count_each_thing_once_and_what_a_held_pair_has_is_held() -> None:
    rule, pairs = of("pairs"), outcome(shows("A", "B"), shows("A", "C"), shows("D", "E"), count=5)
    assert [one.counts for one in recounted(pairs.examples)] == [2, 1, 2]
    assert judged(rule, pairs, Gates()).by_type == {"Person": 5}
    found = judged(rule, pairs, waived(Waiver("isolated-entity", "r", match="B"), Waiver("isolated-entity", "r", match="D")))
    assert (found.held, found.suppressed) == (2, 3)  # A and C are held; B, D and E are not
    known = judged(rule, pairs, Gates(ratchet=debt_of_pairs(shows("B", "A"))))
    assert (known.held, known.known) == (4, 1)  # A, C, D, E; B alone is only in a known pair


def test_pairs_that_hold_everything_are_not_all_pairs_if_the_check_knows_of_more() -> None:
    part = CheckOutcome(4, 10, [shows("A", "B"), shows("C", "D")], examples_total=6)  # the other four join the same four entities
    rule, waiver = of("pairs"), Waiver("isolated-entity", "r", match="re:[ABC]")
    found = judged(rule, part, waived(waiver))
    assert (found.status, found.held, found.suppressed, found.listed) == ("failed", 4, 0, False)
    assert found.note is not None and "waivers with a match take nothing here" in found.note
    whole = replace(part, examples_total=2)
    assert judged(rule, whole, waived(waiver)).listed


def debt_of_pairs(*pairs: Example) -> Ratchet:
    found = judged(of("pairs"), outcome(*pairs, count=2), Gates(remember=True)).debt
    assert found is not None and found.keys == {"person: a | person: b": 1}
    return Ratchet(kgeval="1", written="2026", layout="own", rules=[found])


def test_hits_that_cannot_be_told_apart_are_compared_by_their_share() -> None:
    rule = of("share")
    ratchet = debt(rule, *(shows(f"a{at}") for at in range(4)), total=100)
    assert ratchet.rules[0].keys is None
    for hits, total, held in ((4, 100, 0), (5, 100, 1), (8, 200, 0), (4, 50, 2)):
        found = judged(rule, outcome(*(shows(f"b{at}") for at in range(hits)), total=total), Gates(ratchet=ratchet))
        assert (found.held, found.known) == (held, hits - held)
    unlisted = judged(RULE, outcome(shows("x"), count=50, total=100), Gates(ratchet=debt(RULE, shows("a"), shows("b"), total=10)))
    assert (unlisted.known, unlisted.held) == (20, 30) and "share" in (unlisted.note or "")


def test_a_waived_hit_is_no_debt_and_uses_none_up() -> None:
    gates = waived(Waiver("isolated-entity", "r", match="Ada"), remember=True)
    found = judged(RULE, outcome(shows("Ada"), shows("Bob")), gates)
    assert found.debt == RatchetRule(rule_id="isolated-entity", count=1, total=10, keys={"person: bob": 1})


def test_hashed_keys_are_known_again_and_name_nobody() -> None:
    ratchet = debt(RULE, shows("Ada"), hide=True)
    assert "ada" not in ratchet.model_dump_json()
    assert judged(RULE, outcome(shows("ADA")), Gates(ratchet=ratchet)).known == 1
    assert hashed("a", "x") != hashed("b", "x")


NAMES = st.sampled_from(["Ada", "ada", "Bob", "The Bob", "Cy", ""])
HITS = st.lists(st.builds(lambda name, n: shows(name, counts=n), NAMES, st.integers(1, 4)), max_size=8)


@pytest.mark.slow
@given(HITS, HITS, st.sampled_from(["first", "group", "items", "share"]), st.booleans())
def test_nothing_is_lost_and_the_same_graph_has_nothing_new(before: list[Example], now: list[Example], hit: Hit, waive: bool) -> None:
    rule = of(hit)
    gates = waived(*([Waiver("isolated-entity", "r", match="bob")] if waive else []), ratchet=debt(rule, *before, total=50))
    found = judged(rule, outcome(*now, total=50), gates)
    assert found.held + found.suppressed + found.known == sum(one.counts for one in now)
    assert min(found.held, found.suppressed, found.known) >= 0 and len(found.examples) == len(now)
    assert judged(rule, outcome(*reversed(before), total=50), Gates(ratchet=gates.ratchet)).held == 0


@pytest.mark.slow
@given(HITS, st.sampled_from(["first", "group", "items"]))
def test_keys_and_types_account_for_every_hit(examples: list[Example], hit: Hit) -> None:
    count = sum(one.counts for one in examples)
    assert sum(n for one in examples for _, n in keys_of(one, hit)) == count
    assert sum((by_type(examples, hit) or {}).values()) == count
    found = judged(of(hit), outcome(*examples), waived(Waiver("isolated-entity", "r", match="bob")))
    assert sum((found.by_type or {}).values()) == count - found.suppressed == found.held


def test_a_ratchet_of_another_graph_layout_or_version_is_said() -> None:
    ratchet = Ratchet(kgeval="1", written="2026", graph="old", layout="own")
    assert differences(ratchet, "old", Layout(name="own"), "1") == []
    assert len(differences(ratchet, None, Layout(name="other"), "2")) == 3


HEAD = '{"schema_version": "1", "kgeval": "1", "written": "x", "layout": "l", "rules": '


@pytest.mark.parametrize(("text", "word"), [
    ("{", "not JSON"), ("[]", "no ratchet file"), ('{"findings": []}', "audit report"),
    ('{"schema_version": "2", "kgeval": "1", "written": "x", "layout": "l", "rules": []}', "schema version '2'"),
    (HEAD + '[{"rule_id": 7}]}', "is broken"), (HEAD + '[{"rule_id": "a", "count": -1, "total": 0}]}', "below 0"),
    (HEAD + '[{"rule_id": "a", "count": 1, "total": 2}, {"rule_id": "a", "count": 2, "total": 2}]}', "a: more than one entry"),
    (HEAD + "[" + ", ".join(['{"rule_id": 7}'] * 6) + "]}", "... and 13 more"),
])
def test_files_that_are_no_ratchet_are_refused(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_ratchet(path)
    assert word in str(caught.value)


def test_the_ratchet_is_a_gate_of_its_own_and_a_check_without_an_answer_is_no_pass() -> None:
    gates = Gates(ratchet=debt(RULE, shows("Ada")))
    assert gate_rows(gates, [answered(known=1, status="passed")], {}, [], fail_on=None)[-1].met is True
    assert gate_rows(gates, [answered(count=3, known=1)], {}, [], fail_on=None)[-1].value == 2
    assert gate_rows(gates, [answered(count=3, known=1)], {}, [], fail_on="error")[0].met is True  # a warning
    silent = gate_rows(gates, [answered("skipped", None)], {}, [], fail_on=None)[-1]
    assert silent.met is None and "isolated-entity" in (silent.reason or "")
    passed = answered("passed", 0, severity="info")
    assert gate_rows(gates, [answered("skipped", None), passed], {}, [], fail_on="error")[0].met is True, "a warning decides nothing"
    assert gate_rows(gates, [answered("skipped", None)], {}, [], fail_on="error")[0].met is None, "nothing was judged"
    assert gate_rows(gates, [answered("skipped", None)], {}, [], fail_on="warning")[0].met is None
    assert silent.limit == "no check fails on new hits"


def test_fail_on_is_a_row_that_names_what_fails_or_has_no_answer() -> None:
    def row(*findings: Finding) -> tuple[bool | None, str | None]:
        (one,) = gate_rows(Gates(), findings, {}, [], fail_on="warning", own=lambda _: False)
        return one.met, one.reason

    late, info = answered("incomplete", None), answered(severity="info")
    assert row(answered(), late) == (False, "isolated-entity")
    assert row(late, info) == (None, "no answer: isolated-entity")
    assert row(info, answered("passed", 0), answered("skipped", None)) == (True, None)
    assert row(info, answered("skipped", None)) == (None, "none of 1 checks could be judged"), "of the checks that decide"
    assert row(answered("skipped", None, severity="info")) == (None, "none of 1 checks could be judged")
    assert row() == (None, "no check was run")
    assert gate_rows(Gates(), [answered()], {}, [], fail_on=None) == []


def test_a_ratchet_reads_back(tmp_path: Path) -> None:
    ratchet, path = debt(RULE, shows("Ada")), tmp_path / "r.json"
    path.write_text(ratchet.model_dump_json(), encoding="utf-8")
    assert read_ratchet(path) == ratchet and json.loads(path.read_text())["rules"][0]["keys"] == {"person: ada": 1}
