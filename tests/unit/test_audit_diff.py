"""Two audits of one graph: what became worse, better, new and gone; small reports, countable by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.diff import diff, diff_all, silent, unanswered_at, unpaired, worse_at
from kgeval.auditing.gates import Gates, Waiver, judged
from kgeval.auditing.rulebook import load_rules
from kgeval.errors import InputError
from kgeval.records import AuditDiff, AuditReport, Example, Finding, FindingChange, GraphRef, Layout, RunManifest, ShareInterval
from kgeval.reports.views.audit_diff import verdict
from kgeval.reports.write import rendered

SWAPPED = {"worse": "better", "better": "worse", "new": "gone", "gone": "new"}


def run_of(**more: Any) -> RunManifest:
    return RunManifest.model_validate({"kgeval": "0.1.0", "command": "audit", "started": "2026-01-01T00:00:00Z", "seconds": 1.0, **more})


def report(*findings: Finding, graph: str | None = "g", run: RunManifest | None = None, **more: Any) -> AuditReport:
    told = {"graph": graph, "run": run or run_of(), "layout": Layout(name="generic"), "findings": findings, **more}
    return AuditReport.model_validate(told)


def finding(rule: str = "isolated-entity", count: int | None = 3, total: int = 10, **more: Any) -> Finding:
    answered = {} if count is None else {
        "count": count, "total": total, "share": count / total if total else None, "status": "failed" if count else "passed",
    }
    told = {"rule_id": rule, "group": "connectivity", "status": "skipped", "severity": "warning", "title": rule, **answered, **more}
    return Finding.model_validate(told)


def example(name: str, type_: str = "Person", **more: Any) -> Example:
    return Example(items=[GraphRef(key=name, name=name, type=type_, **more)])


def whole(made: AuditDiff) -> FindingChange:
    (change,) = [one for one in made.findings if one.label is None]
    return change


@pytest.mark.parametrize(("then", "now", "became"), [
    ((18, 1_000), (18, 999), "same"),  # a clean entity was deleted: the share rose
    ((18, 1_000), (18, 1_002), "same"),  # two nodes were added that have nothing to do with it: the share fell
    ((3, 10), (30, 100), "worse"), ((3, 10), (4, 100), "worse"), ((4, 100), (3, 10), "better"),
])
def test_hits_decide_and_never_a_share_alone(then: tuple[int, int], now: tuple[int, int], became: str) -> None:
    assert whole(diff(report(finding(count=then[0], total=then[1])), report(finding(count=now[0], total=now[1])))).verdict == became


def test_a_new_hit_is_worse_whatever_the_number() -> None:
    """By name and type where all are listed, by type else; the same things in other pairs are none, and waived ones are none."""
    def listed(*names: str, **more: Any) -> AuditReport:
        return report(finding(count=len(names), examples=[example(name) for name in names], **more))

    swapped = whole(diff(listed("Ada", "Bob"), listed("Ada", "Cid")))
    assert (swapped.verdict, swapped.reason) == ("worse", "1 new, 1 gone")
    fewer = whole(diff(listed("Ada", "Bob", "Dan"), listed("Cid")))
    assert (fewer.verdict, fewer.reason) == ("worse", "1 new, 3 gone")
    assert whole(diff(listed("Ada", "Bob"), listed("bob"))).verdict == "better"
    waived = example("Cid").model_copy(update={"waived": "agreed"})
    some = report(finding(count=2, suppressed=1, examples=[example("Ada"), waived]))
    assert whole(diff(listed("Ada"), some)).verdict == "same"
    kinds = [report(finding(count=9, by_type=types)) for types in ({"Person": 6, "Place": 3}, {"Person": 2, "Place": 7})]
    assert (whole(diff(*kinds)).verdict, whole(diff(*kinds)).reason) == ("worse", "4 new, 4 gone")
    pairs = [Example(items=[example(one).items[0], example(two).items[0]], counts=1) for one, two in (("Ada", "Bob"), ("Bob", "Cid"))]
    other = Example(items=[example("Ada").items[0], example("Cid").items[0]], counts=2)
    apart = whole(diff(report(finding(count=2, examples=pairs)), report(finding(count=2, examples=[other]))))
    assert apart.verdict == "same"


def test_a_check_that_fails_by_its_share_alone_misses_no_gate() -> None:
    """The same 18 hits of fewer things pass the limit before and break it now."""
    made = diff(report(finding(count=18, total=1_000, status="passed")), report(finding(count=18, total=100)), fail_on_worse="warning")
    assert not worse_at(made, "warning") and not silent(made, "warning")


def test_a_gate_over_checks_of_which_none_can_be_compared_has_no_answer() -> None:
    made = diff(report(finding("a", None)), report(finding("a", None)), fail_on_worse="warning")
    assert silent(made, "warning") == ["no check was answered in both audits"]
    assert "Gate without an answer" in rendered(made, "text")
    other = diff(report(finding("a", None), finding("b", severity="info")), report(finding("a", None), finding("b", severity="info")))
    assert silent(other, "warning") and not silent(other, "info")


def test_without_a_share_the_counts_are_compared() -> None:
    assert whole(diff(report(finding(count=0, total=0)), report(finding(count=1, total=4)))).verdict == "worse"


@pytest.mark.parametrize(("changed", "why"), [
    ({"settings": {"min_degree": 50}}, "min_degree = 100 before, 50 now"), ({"parameters": {"sample_share": 0.5}}, "another sample share"),
    ({"query_hash": "b2"}, "its query was changed"), ({"total_of": "relations"}, "it counts relations now"),
])
def test_what_was_counted_otherwise_is_not_compared(changed: dict[str, Any], why: str) -> None:
    plain: dict[str, Any] = {
        "settings": {"min_degree": 100}, "parameters": {"sample_share": 1.0, "sample": 5}, "query": "// x\nMATCH (n) RETURN 1",
    }
    change = whole(diff(report(finding(**plain)), report(finding(**{**plain, **changed}, count=9))))
    assert change.verdict == "not_comparable"
    assert change.reason is not None and why in change.reason


def test_comments_spacing_and_the_number_of_examples_do_not_make_another_query() -> None:
    then = finding(query="MATCH (n:A) RETURN 1", query_hash="a1", parameters={"sample": 5})
    grown = finding(query="MATCH (n:A|B) RETURN 1", query_hash="a1", parameters={"sample": 9})
    assert whole(diff(report(then), report(grown))).verdict == "same", "with a label more the same is asked"


def test_what_a_check_reads_in_the_graph_first_is_compared_with_what_it_reads_later() -> None:
    then, now = (finding("null-text", parameters={"suspects": [{"label": "Order", "key": key}]}) for key in ("region", "country"))
    assert whole(diff(report(then), report(now))).verdict == "same", "each is a property with words for no value"


def test_a_check_that_cannot_be_answered_any_more_is_gone_with_its_reason() -> None:
    change = whole(diff(report(finding()), report(finding(count=None, reason="no chunks"))))
    assert (change.verdict, change.reason) == ("gone", "skipped now: no chunks")
    assert (change.count_before, change.count_after, change.status_after) == (3, None, "skipped")


def test_waived_hits_are_no_hits_and_both_numbers_are_told() -> None:
    made = diff(report(finding(count=3)), report(finding(count=5, suppressed=2)))
    change = whole(made)
    assert (change.verdict, change.count_after, change.suppressed_after) == ("same", 5, 2)
    assert any("waived" in note and "isolated-entity (0 hits before, 2 now)" in note for note in made.notes)


def test_types_are_compared_by_their_own_hits() -> None:
    then = report(finding(by_type={"Person": 2, "Place": 1, "Ship": 1}, count=4), structure={
        "entities": 10, "entities_by_type": {"Person": 4, "Place": 4, "Ship": 2},
    })
    now = report(finding(by_type={"Person": 2, "Place": 2, "River": 1}, count=5), structure={
        "entities": 15, "entities_by_type": {"Person": 8, "Place": 4, "River": 3},
    })
    found = {one.label: (one.verdict, one.share_before, one.share_after) for one in diff(then, now).findings if one.label}
    assert found == {
        "Person": ("same", 0.5, 0.25), "Place": ("worse", 0.25, 0.5), "Ship": ("gone", 0.5, None), "River": ("new", None, 1 / 3),
    }


def test_types_without_a_known_total_are_compared_by_count() -> None:
    made = diff(report(finding(by_type={"Person": 3})), report(finding(by_type={"Person": 3}, total=30)))
    assert [one.verdict for one in made.findings] == ["same", "same"]


def test_examples_are_known_by_type_and_name_and_not_by_element_id() -> None:
    then = finding(count=2, examples=[example("Ada", element_id="4:1"), example("The Ulm")])
    now = finding(count=2, examples=[example("ada", element_id="4:9"), example("Ulm", "Place")])
    change = whole(diff(report(then), report(now)))
    assert change.examples_compared
    assert [one.items[0].name for one in change.appeared] == ["Ulm"]
    assert [one.items[0].name for one in change.vanished] == ["The Ulm"]


def test_two_things_of_one_name_are_two() -> None:
    then, now = finding(count=1, examples=[example("Ada")]), finding(count=2, examples=[example("Ada"), example("Ada")])
    assert len(whole(diff(report(then), report(now))).appeared) == 1


def test_of_a_list_that_was_cut_nothing_is_said_to_have_appeared() -> None:
    made = diff(report(finding(count=9, examples=[example("Ada")])), report(finding(count=1, examples=[example("Bob")])))
    assert not whole(made).examples_compared and not whole(made).appeared
    assert any("not all hits are listed" in note for note in made.notes)
    hashed = report(finding(count=1, examples=[example("#1")]), run=run_of(arguments={"redact": True}))
    assert not whole(diff(hashed, hashed)).examples_compared


def test_samples_differ_only_beyond_their_interval() -> None:
    def sampled(count: int, low: float, high: float) -> Finding:
        interval = ShareInterval(low=low, high=high, sampled=100, population=10_000, method="wilson")
        return finding(count=count, total=100, interval=interval)

    near = whole(diff(report(sampled(10, 0.055, 0.175)), report(sampled(13, 0.078, 0.21))))
    assert near.verdict == "same" and near.reason is not None
    assert whole(diff(report(sampled(10, 0.055, 0.175)), report(sampled(40, 0.31, 0.5)))).verdict == "worse"
    # Newcombe's interval of 0.13 - 0.10 by hand: 0.03 -/+ sqrt(...): (-0.061, 0.122) holds 0
    assert -0.062 < 0.03 - (0.052**2 + 0.075**2) ** 0.5 < -0.060


def test_waived_hits_of_a_sample_are_no_hits_either() -> None:
    def sampled(suppressed: int) -> Finding:  # 20 of 100, of 10,000 things: Wilson 0.13..0.29
        interval = ShareInterval(low=0.133, high=0.289, sampled=100, population=10_000, method="wilson")
        return finding(count=20, total=100, suppressed=suppressed, interval=interval)

    assert whole(diff(report(sampled(20)), report(sampled(0)))).verdict == "worse", "the waivers are gone, 20 hits are back"
    assert whole(diff(report(sampled(0)), report(sampled(20)))).verdict == "better"
    near = whole(diff(report(sampled(8)), report(sampled(6))))  # 0.12 and 0.14
    assert near.verdict == "same" and near.reason is not None


def test_checks_without_an_answer_in_either_are_not_counted_with_those_that_are_the_same() -> None:
    made = diff(report(finding("a"), finding("b", None)), report(finding("a"), finding("b", None)))
    assert [(one.verdict, one.reason) for one in made.findings] == [("same", None), ("unanswered", "skipped")]
    assert verdict(made) == "Of 2 checks: 1 the same and 1 without an answer before and now."
    told = [rendered(made, form) for form in ("text", "md", "html", "xml")]  # type: ignore[arg-type]
    assert not any("No answer before and now" in text for text in told), "what was skipped in both is no news"
    other = diff(report(finding("b", None)), report(finding("b", None, status="incomplete")))
    assert whole(other).reason == "skipped before, incomplete now" and "No answer before and now" in rendered(other, "md")


def test_a_graph_without_anything_left_to_look_at_is_not_better() -> None:
    made = diff(report(finding(count=5, total=100)), report(finding(count=0, total=0)), fail_on_worse="warning")
    assert (whole(made).verdict, whole(made).reason) == ("gone", "nothing to look at: 0 entities now, 100 before")
    assert [one.rule_id for one in unanswered_at(made, "warning")] == ["isolated-entity"]
    assert whole(diff(report(finding(count=0, total=0)), report(finding(count=0, total=0)))).verdict == "same"
    clean = diff(report(finding(count=0, total=100)), report(finding(count=0, total=0)))
    assert whole(clean).verdict == "gone", "no hits of nothing are no good answer either"
    assert "nothing to look at" in rendered(made, "md") and "passes now" not in rendered(made, "md")


def test_hits_by_type_are_compared_without_waived_ones_too() -> None:
    rule = load_rules()["isolated-entity"].model_copy(update={"threshold": 0.0})
    hits = CheckOutcome(2, 10, [example("Ada"), example("Ulm", "Place")])
    then, now = (judged(rule, hits, Gates(waivers=waivers)) for waivers in ((), (Waiver("isolated-entity", "agreed", "Ada"),)))
    sides = [report(finding(count=2, suppressed=one.suppressed, by_type=one.by_type)) for one in (then, now)]
    assert [(one.label, one.verdict) for one in diff(*sides).findings] == [(None, "better"), ("Person", "better"), ("Place", "same")]


def test_an_element_id_in_place_of_a_name_is_no_name() -> None:
    then, now = (
        finding(count=1, examples=[Example(items=[GraphRef(element_id=at, key=at, name=at, kind="chunk")])]) for at in ("4:a:1", "4:b:7")
    )
    change = whole(diff(report(then), report(now)))
    assert change.examples_compared and not change.appeared and not change.vanished


def test_a_few_pairs_that_hold_every_entity_are_no_whole_list() -> None:
    some = finding(count=2, examples=[example("Ada").model_copy(update={"counts": 2})], examples_total=3)
    assert not whole(diff(report(some), report(some))).examples_compared
    every = some.model_copy(update={"examples_total": 1})
    assert whole(diff(report(every), report(every))).examples_compared


def test_a_list_without_its_waived_hits_is_no_whole_list() -> None:
    every = finding(count=2, suppressed=1, examples=[example("Ada"), example("Bob").model_copy(update={"waived": "r"})])
    cut = every.model_copy(update={"examples": every.examples[:1]})
    assert not whole(diff(report(every), report(cut))).vanished, "Bob is there, and waived"
    assert whole(diff(report(every), report(every))).examples_compared


def test_figures_say_which_way_is_better_only_where_that_is_known() -> None:
    then = report(structure={"entities": 10, "isolated_share": 0.1, "giant_share": 0.9, "diameter": 4, "tokenizer": "a", "tokens": 50})
    now = report(structure={"entities": 12, "isolated_share": 0.2, "giant_share": 0.95, "tokenizer": "b", "tokens": 50}, structure_skipped=[
        {"ids": ["diameter"], "reason": "timed out"},
    ])
    found = {one.id: (one.verdict, one.reason) for one in diff(then, now).figures}
    assert found == {
        "entities": ("changed", None), "isolated_share": ("worse", None), "giant_share": ("better", None),
        "diameter": ("gone", "timed out"), "tokens": ("not_comparable", "tokenizer is b now and was a"),
    }


def test_maps_of_figures_are_compared_by_label() -> None:
    then = report(structure={"relations_by_type": {"MET": 2, "OWNS": 1}, "property_fill": {"Person.born": 0.5}})
    now = report(structure={"relations_by_type": {"MET": 3, "SOLD": 1}, "property_fill": {"Person.born": 0.25}})
    found = {(one.id, one.label): one.verdict for one in diff(then, now).figures}
    assert found == {
        ("relations_by_type", "MET"): "changed", ("relations_by_type", "OWNS"): "gone", ("relations_by_type", "SOLD"): "new",
        ("property_fill", "Person.born"): "worse",
    }


def test_without_figures_on_one_side_none_is_compared_and_that_is_said() -> None:
    made = diff(report(structure={"entities": 1}), report())
    assert not made.figures and any("later audit measured no structure" in note for note in made.notes)


def test_two_moments_are_compared_whatever_their_time_zones() -> None:
    def swapped(before: str, after: str) -> bool:
        made = diff(report(run=run_of(started=before)), report(run=run_of(started=after)))
        return any("are the two swapped" in note for note in made.notes)

    assert not swapped("2026-01-02T01:00:00+09:00", "2026-01-01T20:00:00Z"), "four hours later"
    assert swapped("2026-01-01T20:00:00Z", "2026-01-02T01:00:00+09:00")
    assert not swapped("yesterday", "2026-01-01T20:00:00Z")


@pytest.mark.parametrize(("other", "words"), [
    ({"graph": "h"}, "different graphs: graph g before, graph h now"),
    ({"layout": Layout(name="kgeval")}, "layout was generic and is kgeval"),
    ({"layout": Layout(name="generic", name_keys=["title"])}, "name_keys (none before, title now)"),
    ({"run": run_of(kgeval="0.2.0")}, "kgeval 0.1.0 before, 0.2.0 now"),
    ({"run": run_of(seed=7)}, "--seed was None and is 7 now: community stability"),
    ({"run": run_of(started="2025-01-01T00:00:00Z")}, "are the two swapped"),
    ({"findings": [finding(threshold="share <= 0.1")]}, "isolated-entity (None before, share <= 0.1 now)"),
    ({"findings": []}, "not run now: isolated-entity"),
    ({"run": run_of(arguments={"corpus": "novel.txt"})}, "those of the graph's chunks before, those of novel.txt now"),
])
def test_what_makes_two_audits_hard_to_compare_is_said(other: dict[str, Any], words: str) -> None:
    then = report(finding(), structure={"entities": 10})
    notes = diff(then, then.model_copy(update=other)).notes
    assert any(words in note for note in notes), notes


def test_the_gate_sees_what_is_worse_or_newly_fails_and_what_has_no_answer() -> None:
    then = report(
        finding("a", 1), finding("b", 0), finding("c", 1, severity="info"), finding("d", 1), finding("e", 2, settings={"n": 1}),
        finding("f", 1), finding("g", 5),
    )
    now = report(
        finding("a", 2), finding("b", 1, total=10_000), finding("c", 9, severity="info"), finding("d", None),
        finding("e", 2, settings={"n": 2}), finding("h", 1), finding("g", 1),
    )
    made = diff(then, now)
    assert [one.rule_id for one in worse_at(made, "warning")] == ["a", "b", "h"]
    assert [one.rule_id for one in worse_at(made, "info")] == ["a", "b", "c", "h"]
    assert [one.rule_id for one in unanswered_at(made, "warning")] == ["d", "e"], "f was left out on purpose"
    assert not worse_at(made, "error")


def test_several_graphs_are_paired_by_name() -> None:
    then = [report(finding(count=1), graph="a"), report(finding(count=1), graph="b")]
    now = [report(finding(count=1), graph="c"), report(finding(count=2), graph="b")]
    made = diff_all(then, now, names=("x.json", "y.json"))
    assert [one.graph_after for one in made.graphs] == ["b"]
    assert made.notes == ["graph a is only in x.json", "graph c is only in y.json"] == unpaired(made)
    assert (made.only_before, made.only_after) == (["a"], ["c"])
    assert [one.rule_id for one in worse_at(made, "warning")] == ["isolated-entity"]
    with pytest.raises(InputError, match="no graph in common"):
        diff_all(then[:1], now, names=("x.json", "y.json"))


COUNTS = st.one_of(st.none(), st.integers(0, 6))
ONE = st.tuples(COUNTS, st.integers(6, 9), st.integers(0, 2), st.integers(1, 2))
FINDINGS = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), ONE)


def made_of(drawn: dict[str, tuple[int | None, int, int, int]], persons: int) -> AuditReport:
    findings = []
    for rule, (count, total, waived, setting) in drawn.items():
        suppressed = min(waived, count or 0)
        open_ = {"Person": (count or 0) - suppressed}  # hits by type are those that are not waived
        findings.append(finding(rule, count, total, settings={"n": setting}, suppressed=suppressed, by_type=open_ if count else {}))
    numbers = {"entities": persons, "isolated_share": persons / 10, "entities_by_type": {"Person": persons} if persons else {}}
    return report(*findings, structure=numbers)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(FINDINGS, st.integers(0, 9))
def test_an_audit_against_itself_holds_only_the_same(drawn: dict[str, Any], persons: int) -> None:
    made = diff(made_of(drawn, persons), made_of(drawn, persons))
    assert {one.verdict for one in (*made.findings, *made.figures)} <= {"same", "unanswered"}
    assert all((one.verdict == "unanswered") is (one.count_after is None) for one in made.findings)
    assert not made.notes or all("kgeval" not in note for note in made.notes)
    assert not worse_at(made, "info") and not unanswered_at(made, "info")


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(FINDINGS, FINDINGS, st.integers(0, 9), st.integers(0, 9))
def test_swapping_the_sides_swaps_worse_with_better_and_new_with_gone(one: dict[str, Any], two: dict[str, Any], n: int, m: int) -> None:
    there, back = diff(made_of(one, n), made_of(two, m)), diff(made_of(two, m), made_of(one, n))

    def told(made: AuditDiff, *, swap: bool) -> dict[tuple[str, str | None], str]:
        changes = [*((c.rule_id, c.label, c.verdict) for c in made.findings), *((c.id, c.label, c.verdict) for c in made.figures)]
        return {(rule, label): SWAPPED.get(verdict, verdict) if swap else verdict for rule, label, verdict in changes}

    assert told(there, swap=False) == told(back, swap=True)
