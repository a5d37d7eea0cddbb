"""Gates: limits with severities, waivers, the ratchet. Hits that are waived or known are taken out, and nothing is lost from the count."""

from __future__ import annotations

import json
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.audit.check import Outcome
from kgeval.audit.gates import (
    Entry,
    Gates,
    Judged,
    Limit,
    Waiver,
    differences,
    entry_of,
    gate_rows,
    judged,
    keys_of,
    read_limits,
    read_ratchet,
    silenced,
    waiver_notes,
    waiver_rows,
)
from kgeval.audit.gates.keys import by_type, hashed, key_of, recounted
from kgeval.audit.gates.ratchet import hidden
from kgeval.audit.gates.waivers import waiver_faults
from kgeval.audit.rulebook import Hit, Rule, load_rules
from kgeval.cli.audit_gates import check_part, load_config, ratchet_notes, threshold_texts
from kgeval.cli.main import run
from kgeval.errors import ConfigError, InputError, UsageError
from kgeval.records import AuditGate, AuditReport, Example, Finding, GraphRef, Layout, Ratchet, RatchetRule, StructureSkip
from kgeval.report.audit_gates import value

TODAY = date(2026, 5, 1)
RULE = load_rules()["isolated-entity"].model_copy(update={"threshold": 0.0})


def of(hit: Hit) -> Rule:
    return RULE.model_copy(update={"hit": hit})


def entity(name: str, kind: str | None = "Person", at: str | None = None) -> GraphRef:
    return GraphRef(element_id=at or f"4:{name}:{kind}", key=name, name=name, type=kind)


def shows(*names: str, counts: int = 1, kind: str = "Person") -> Example:
    return Example(items=[entity(name, kind) for name in names], counts=counts)


def outcome(*examples: Example, total: int = 10, count: int | None = None) -> Outcome:
    return Outcome(sum(one.counts for one in examples) if count is None else count, total, list(examples))


def limits(*flags: str) -> dict[str, tuple[Limit, ...]]:
    entries = [one for flag in flags if isinstance(one := entry_of(flag), Entry)]
    found, faults = read_limits(entries)
    assert not faults
    return found


def waived(*waivers: Waiver, **more: object) -> Gates:
    return Gates(waivers=waivers, today=TODAY, **more)  # type: ignore[arg-type]


def debt(rule: Rule, *examples: Example, total: int = 10, hide: bool = False) -> Ratchet:
    found = judged(rule, outcome(*examples, total=total), Gates(remember=True)).debt
    assert found is not None
    return Ratchet(kgeval="1", written="2026-01-01", layout="own", hashed=hide, rules=[hidden(found) if hide else found])


def test_what_is_broken_sets_the_severity() -> None:
    gates = Gates(limits("isolated-entity:warning<=0.05", "isolated-entity:error<=0.2"))
    expected = ((0, "passed", RULE.severity), (1, "failed", "warning"), (2, "failed", "warning"), (3, "failed", "error"))
    for hits, status, severity in expected:
        found = judged(RULE, outcome(*(shows(f"a{at}") for at in range(hits))), gates)
        assert (found.status, found.severity) == (status, severity), hits


def test_limits_are_shares_or_hits_of_checks_and_bounds_of_figures() -> None:
    found = limits("isolated-entity<=0.05", "self-loop=0.1", "duplicate-name<=3 hits", "giant_share>=0.5", "modularity:warning<=0.9")
    assert {name: [one.text for one in ones] for name, ones in found.items()} == {
        "isolated-entity": ["share <= 0.05"], "self-loop": ["share <= 0.1"], "duplicate-name": ["hits <= 3"],
        "giant_share": [">= 0.5"], "modularity": ["<= 0.9"],
    }
    assert found["duplicate-name"][0].broken(4) and not found["duplicate-name"][0].broken(3)
    assert found["giant_share"][0].broken(0.49) and not found["giant_share"][0].broken(0.5)


@pytest.mark.parametrize(("flag", "word"), [
    ("isolated-entity<=2", "no share"), ("isolated-entity>=0.1", "write <="), ("nope<=0.1", "no such check"), ("self-loop<=x", "no limit"),
    ("self-loop:fatal<=0.1", "no severity"), ("giant_share=0.5", "write >= or <="), ("giant_share>=1 hit", "no hits"),
    ("property_fill>=0.5", "many numbers"), ("isolated-entity<=1.5 hits", "no number of hits"), ("isolated-entity<=nan", "no limit"),
    ("isolated_entity<=0.1", "did you mean isolated-entity"),
])
def test_limits_that_make_no_sense_are_named(flag: str, word: str) -> None:
    entry = entry_of(flag)
    assert isinstance(entry, Entry)
    found, faults = read_limits([entry])
    assert not found and len(faults) == 1 and word in faults[0] and flag in faults[0]
    assert isinstance(entry_of("nonsense"), str)


def test_an_error_that_is_broken_before_the_warning_is_a_fault() -> None:
    entries = [Entry("w", "self-loop", "warning", "<=0.2"), Entry("e", "self-loop", "error", "<=0.05")]
    assert "error (share <= 0.05) is not beyond warning (share <= 0.2)" in read_limits(entries)[1][0]


def test_a_share_at_its_limit_passes_whatever_rounding_does() -> None:
    gates = Gates(limits("isolated-entity<=0.3"))
    assert judged(RULE, outcome(*(shows(str(at)) for at in range(3))), gates).status == "passed"


def test_waived_hits_leave_the_count_that_is_held_and_stay_in_the_count() -> None:
    gates = waived(Waiver("isolated-entity", "agreed", match="ada*"), Waiver("names", "other group", match="*"))
    found = judged(RULE, outcome(shows("Ada Lovelace"), shows("ADA"), shows("Bob")), gates)
    assert (found.held, found.suppressed, found.known, found.status) == (1, 2, 0, "failed")
    assert [one.waived for one in found.sample] == [None, "agreed", "agreed"]
    assert (found.taken, found.by_type) == ({0: 2}, {"Person": 3})
    assert judged(RULE, outcome(shows("Ada")), gates).status == "passed"


@pytest.mark.parametrize(("match", "hit"), [
    ("ada lovelace", True), ("Ada*", True), ("person:ada*", True), ("Place:Ada*", False), ("lovelace", False), ("*LOVELACE", True),
    ("?da lovelace", True), ("re:^ada\\b", False), ("re:^ada\\b.*", True), ("[a]da*", False), ("ＡＤＡ lovelace", True), ("k-1", True),
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
    assert judged(RULE, outcome(shows("Ada"), count=900, total=1000), both).taken == {0: 1, 1: 899}


def test_a_waiver_holds_through_its_last_day_and_is_said_when_it_has_ended() -> None:
    last, gone = Waiver("isolated-entity", "r", "Ada", TODAY), Waiver("isolated-entity", "r", "Ada", date(2026, 4, 30))
    assert judged(RULE, outcome(shows("Ada")), waived(last)).suppressed == 1
    found = judged(RULE, outcome(shows("Ada")), waived(gone))
    assert (found.suppressed, found.status) == (0, "failed")
    rows = waiver_rows(waived(gone), [found.taken], [found.matched], [answered()])
    assert rows[0].expired
    assert waiver_notes(rows) == ["waiver 1 (rule isolated-entity, match Ada) ended on 2026-04-30: its hits count again"]


def answered(status: str = "failed", count: int | None = 1, **more: object) -> Finding:
    return Finding.model_validate({
        "rule_id": "isolated-entity", "group": "connectivity", "status": status, "severity": "warning", "title": "T", "count": count,
        "total": None if count is None else 10, **more,
    })


def test_a_waiver_that_matches_nothing_is_said_only_where_its_check_ran() -> None:
    gates = waived(*(Waiver("isolated-entity", "r", match=match) for match in ("Zed", "A*", "Ada")))
    found = judged(RULE, outcome(shows("Ada")), gates)
    rows = waiver_rows(gates, [found.taken], [found.matched], [answered()])
    assert [(one.stale, one.hits) for one in rows] == [(True, 0), (False, 1), (False, 0)]  # the third matches what the second took
    assert not any(one.stale for one in waiver_rows(gates, [], [], [answered("skipped", None)]))


def test_of_hits_that_are_not_all_listed_no_waiver_is_said_to_match_nothing() -> None:
    gates = waived(Waiver("isolated-entity", "r", match="Zed"))
    found = judged(RULE, outcome(shows("Ada"), count=900, total=1000), gates)
    assert not found.listed
    rows = waiver_rows(gates, [found.taken], [found.matched], [answered()], unlisted={"isolated-entity"})
    assert not rows[0].stale and not waiver_notes(rows)


def test_large_numbers_are_written_out() -> None:
    (limit,) = limits("duplicate-name<=1234567 hits")["duplicate-name"]
    assert limit.text == "hits <= 1234567"
    assert value(AuditGate(id="duplicate-name", limit=limit.text, value=2345678.0, met=False)) == "2,345,678"


def test_a_thing_without_a_type_is_not_of_the_type_none() -> None:
    assert not Waiver("isolated-entity", "r", "None:*").takes([entity("Ada", None)])
    assert Waiver("isolated-entity", "r", "Person:*").takes([entity("Ada")])


def test_a_pattern_that_cannot_be_made_is_a_fault() -> None:
    for match in ("re:(", "re:a{99999999999999999999}"):
        assert any("no regular expression" in one for one in waiver_faults("isolated-entity", match, ["isolated-entity"]))


def test_limits_in_hits_do_not_go_with_a_part_of_the_graph() -> None:
    options: dict[str, object] = {"sample_share": 0.1}
    for flag in ("empty-name<=3 hits", "empty-name:error<=3 hits"):
        with pytest.raises(UsageError, match="a limit in hits says nothing: empty-name"):
            check_part(limits(flag), options)
    check_part(limits("empty-name<=0.1", "isolated-entity<=3 hits"), options)  # a share; a check that looks at everything
    check_part(limits("empty-name<=3 hits"), {"sample_share": None})


def test_a_report_replaces_no_file_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "accuracy.json"
    path.write_text("{}", encoding="utf-8")
    for flag in ("--with", "--schema", "--corpus"):
        assert run(["audit", flag, str(path), "-o", str(path)]) == 2
        assert "is read and would be replaced" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "{}"


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


def test_a_finding_of_a_joined_report_is_silenced_as_a_whole_only() -> None:
    finding = answered(count=4).model_copy(update={"rule_id": "contradicted-relation", "group": "accuracy"})
    done, place = silenced(finding, waived(Waiver("accuracy", "sampled badly")))
    assert (done.status, done.suppressed, place) == ("passed", 4, 0)
    assert silenced(finding, waived(Waiver("accuracy", "r", match="*"))) == (finding, None)


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
    assert (more.known, more.held, more.status, [one.known for one in more.sample]) == (2, 1, "failed", [False, True, True])


def test_two_hits_of_a_key_where_one_was_known_are_one_new() -> None:
    found = judged(RULE, outcome(shows("Ada"), shows("ada")), Gates(ratchet=debt(RULE, shows("Ada"))))
    assert (found.known, found.held) == (1, 1)


def test_a_group_that_grew_is_new_by_what_it_grew() -> None:
    rule = of("group")
    found = judged(rule, outcome(shows("Ada", "ADA", counts=5)), Gates(ratchet=debt(rule, shows("ada", "Ada", counts=3))))
    assert (found.known, found.held, found.sample[0].known) == (3, 2, False)


def test_items_of_a_group_are_hits_of_their_own() -> None:
    rule = of("items")
    before = Example(items=[entity("Mercury", "Planet"), entity("Mercury", "Person")], counts=2)
    now = Example(items=[entity("Mercury", "Element"), entity("Mercury", "Person"), entity("Mercury", "Planet")], counts=3)
    found = judged(rule, outcome(now), Gates(ratchet=debt(rule, before)))
    assert (found.known, found.held, found.by_type) == (2, 1, {"Element": 1, "Person": 1, "Planet": 1})


def test_pairs_count_each_thing_once_and_what_a_held_pair_has_is_held() -> None:
    rule, pairs = of("pairs"), outcome(shows("A", "B"), shows("A", "C"), shows("D", "E"), count=5)
    assert [one.counts for one in recounted(pairs.sample)] == [2, 1, 2]
    assert judged(rule, pairs, Gates()).by_type == {"Person": 5}
    found = judged(rule, pairs, waived(Waiver("isolated-entity", "r", match="B"), Waiver("isolated-entity", "r", match="D")))
    assert (found.held, found.suppressed) == (2, 3)  # A and C are held; B, D and E are not
    known = judged(rule, pairs, Gates(ratchet=debt_of_pairs(shows("B", "A"))))
    assert (known.held, known.known) == (4, 1)  # A, C, D, E; B alone is only in a known pair


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


@given(HITS, HITS, st.sampled_from(["first", "group", "items", "share"]), st.booleans())
def test_nothing_is_lost_and_the_same_graph_has_nothing_new(before: list[Example], now: list[Example], hit: Hit, waive: bool) -> None:
    rule = of(hit)
    gates = waived(*([Waiver("isolated-entity", "r", match="bob")] if waive else []), ratchet=debt(rule, *before, total=50))
    found = judged(rule, outcome(*now, total=50), gates)
    assert found.held + found.suppressed + found.known == sum(one.counts for one in now)
    assert min(found.held, found.suppressed, found.known) >= 0 and len(found.sample) == len(now)
    assert judged(rule, outcome(*reversed(before), total=50), Gates(ratchet=gates.ratchet)).held == 0


@given(HITS, st.sampled_from(["first", "group", "items"]))
def test_keys_and_types_account_for_every_hit(examples: list[Example], hit: Hit) -> None:
    count = sum(one.counts for one in examples)
    assert sum(n for one in examples for _, n in keys_of(one, hit)) == count
    assert sum((by_type(examples, hit) or {}).values()) == count


@given(st.lists(st.integers(0, 60), min_size=2, max_size=2).map(sorted), st.floats(0.01, 1))
def test_more_hits_never_pass_where_fewer_fail(hits: list[int], share: float) -> None:
    gates = Gates({"isolated-entity": (Limit("isolated-entity", share),)})
    states: list[Judged] = [judged(RULE, Outcome(n, 60), gates) for n in hits]
    assert all(not (few.status == "failed" and many.status == "passed") for few, many in pairwise(states))


def test_a_ratchet_of_another_graph_layout_or_version_is_said() -> None:
    ratchet = Ratchet(kgeval="1", written="2026", graph="old", layout="own")
    assert differences(ratchet, "old", Layout(name="own"), "1") == []
    assert len(differences(ratchet, None, Layout(name="other"), "2")) == 3


HEAD = '{"schema_version": "1", "kgeval": "1", "written": "x", "layout": "l", "rules": '


@pytest.mark.parametrize(("text", "word"), [
    ("{", "not JSON"), ("[]", "no ratchet file"), ('{"findings": []}', "audit report"),
    ('{"schema_version": "2", "kgeval": "1", "written": "x", "layout": "l", "rules": []}', "schema version '2'"),
    (HEAD + '[{"rule_id": 7}]}', "is broken"), (HEAD + '[{"rule_id": "a", "count": -1, "total": 0}]}', "below 0"),
])
def test_files_that_are_no_ratchet_are_refused(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        read_ratchet(path)


def test_rows_say_what_each_gate_came_to() -> None:
    flags = ("isolated-entity:error<=0.05", "isolated-entity:warning<=0.01", "giant_share>=0.5", "modularity>=0.3", "self-loop<=0.1")
    gates = Gates(limits(*flags))
    rows = gate_rows(gates, [answered()], {"giant_share": 0.4}, [StructureSkip(ids=["modularity"], reason="no GDS")], fail_on=None)
    assert [(one.id, one.met, one.value, one.decides, one.reason) for one in rows] == [
        ("isolated-entity", False, 0.1, True, None), ("isolated-entity", False, 0.1, False, None), ("giant_share", False, 0.4, True, None),
        ("modularity", None, None, True, "no GDS"), ("self-loop", None, None, True, "it was left out of this run"),
    ]
    assert gate_rows(gates, [answered()], {}, [], fail_on="warning")[1].decides


def test_the_ratchet_is_a_gate_of_its_own_and_a_check_without_an_answer_is_no_pass() -> None:
    gates = Gates(ratchet=debt(RULE, shows("Ada")))
    assert gate_rows(gates, [answered(known=1, status="passed")], {}, [], fail_on=None)[-1].met is True
    assert gate_rows(gates, [answered(count=3, known=1)], {}, [], fail_on=None)[-1].value == 2
    assert gate_rows(gates, [answered(count=3, known=1)], {}, [], fail_on="error")[-1].met is True  # a warning
    silent = gate_rows(gates, [answered("skipped", None)], {}, [], fail_on=None)[-1]
    assert silent.met is None and "isolated-entity" in (silent.reason or "")


def test_every_fault_of_the_file_comes_at_once_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "kgeval.toml"
    path.write_text("""
        [audit.thresholds]
        isolated-entity = { warning = "<=0.3", error = "<=2" }
        self-loop = []
        nonsense = 0.1
        giant_share = 0.5
        [[ignore]]
        rule = "nope"
        match = "re:("
        reason = "x"
        [[ignore]]
        rule = "self-loop"
        reason = "  "
        until = 2026-02-30x
        """.replace("2026-02-30x", '"2026-02-30"'), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    for part in (
        str(path), "audit.thresholds.isolated-entity.error", "audit.thresholds.self-loop", "audit.thresholds.nonsense",
        "audit.thresholds.giant_share", "ignore.rule: 'nope'", "ignore.match: 're:('", "ignore.1.reason", "ignore.1.until",
    ):
        assert part in str(caught.value), part


def test_flags_replace_what_the_file_says_of_their_check(tmp_path: Path) -> None:
    path = tmp_path / "kgeval.toml"
    path.write_text('[audit.thresholds]\nself-loop = 0.1\nisolated-entity = { warning = 0.1, error = "<=5 hits" }\n', encoding="utf-8")
    config = load_config(path)
    assert threshold_texts(config, ["self-loop<=0.5"]) == ("isolated-entity:warning=0.1", "isolated-entity:error<=5 hits", "self-loop<=0.5")
    found = limits(*threshold_texts(config, []))
    assert [one.text for one in found["isolated-entity"]] == ["hits <= 5", "share <= 0.1"]


def test_a_ratchet_reads_back(tmp_path: Path) -> None:
    ratchet, path = debt(RULE, shows("Ada")), tmp_path / "r.json"
    path.write_text(ratchet.model_dump_json(), encoding="utf-8")
    assert read_ratchet(path) == ratchet and json.loads(path.read_text())["rules"][0]["keys"] == {"person: ada": 1}
