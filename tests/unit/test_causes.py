"""What causes take out of other findings, by what an example of a check stands for; and when two audits can be compared."""

from __future__ import annotations

import pytest

from kgeval.auditing.causes import Causes
from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.diff import diff
from kgeval.auditing.rulebook import Rule, load_rules
from kgeval.records import AuditReport, Example, Finding, GraphRef, Layout, RunManifest


def example(*ids: str, counts: int = 1) -> Example:
    return Example(items=[GraphRef(element_id=f"4:x:{one}", key=one, name=one) for one in ids], counts=counts)


def rule(hit: str, *explains: str) -> Rule:
    return load_rules()["isolated-entity"].model_copy(update={"id": f"a-{hit}", "hit": hit, "explains": [*explains]})


def causes(*ids: str, explains: str = "*", count: int | None = None) -> Causes:
    found = Causes()
    own = load_rules()["leaked-output"].model_copy(update={"explains": [explains]})
    found.add(own, CheckOutcome(len(ids) if count is None else count, 9, [example(one) for one in ids]))
    return found


@pytest.mark.parametrize(("hit", "examples", "taken", "left"), [
    ("first", [example("a", "z"), example("b", "a")], 1, [["b", "a"]]),
    ("items", [example("a", "b", "c", counts=3), example("a", counts=1)], 2, [["b", "c"]]),
    ("group", [example("a", "b"), example("b", "c"), example("a", "b", "c", counts=2)], 1, [["b", "c"], ["a", "b", "c"]]),
    ("pairs", [example("a", "b", counts=2), example("b", "c", counts=1)], 1, [["b", "c"]]),
    ("share", [example("a")], 0, [["a"]]),
])
def test_an_example_loses_what_the_cause_explains_of_it(hit: str, examples: list[Example], taken: int, left: list[list[str]]) -> None:
    count = sum(one.counts for one in examples)
    pairs = len(examples) if hit == "pairs" else None
    found = causes("a").take_out(rule(hit), CheckOutcome(count, 9, examples, examples_total=pairs))
    assert (found.outcome.count, dict(found.by)) == (count - taken, {"leaked-output": taken} if taken else {})
    assert [[item.name for item in one.items] for one in found.outcome.examples] == left


def test_wrong_forms_alone_explain_nothing_unless_the_things_are_to_go() -> None:
    outcome = CheckOutcome(1, 9, [example("a", "b")])
    assert causes("a", "b", explains="a-group").take_out(rule("group"), outcome).outcome.count == 1
    assert causes("a", "b").take_out(rule("group"), outcome).outcome.count == 0


def test_of_hits_that_are_not_listed_none_is_taken() -> None:
    outcome = CheckOutcome(1, 9, [example("a")])
    found = causes("a", count=3).take_out(rule("first"), outcome)
    assert (found.outcome.count, found.by) == (1, {})
    assert found.outcome.note == "what leaked-output explains of it is not taken out: not each hit of leaked-output is listed"


def report(*findings: Finding) -> AuditReport:
    manifest = RunManifest(kgeval="1", command="audit", started="2026-01-01T00:00:00Z", seconds=1)
    return AuditReport(layout=Layout(name="x"), run=manifest, findings=[*findings])


def finding(rule_id: str, count: int, **more: object) -> Finding:
    told = {"rule_id": rule_id, "group": "names", "status": "failed", "severity": "warning", "title": rule_id, "count": count, "total": 9}
    return Finding.model_validate({**told, **more})


def test_two_audits_of_which_one_did_not_ask_the_cause_are_not_compared() -> None:
    whole = report(finding("leaked-output", 2), finding("isolated-entity", 1, explained={"leaked-output": 2}))
    part = report(finding("isolated-entity", 3))
    verdicts = {one.rule_id: (one.verdict, one.reason) for one in diff(whole, part).findings}
    why = "hits that leaked-output explains are counted in one audit and not in the other"
    assert verdicts["isolated-entity"] == ("not_comparable", why)
    assert diff(whole, whole).findings[1].verdict == "same"
