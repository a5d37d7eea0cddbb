"""Small hits of one check, countable by hand, for the tests of gates."""

from __future__ import annotations

from datetime import date

from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.gates import (
    Gates,
    Limits,
    Waiver,
    judged,
    read_limits,
    written_as_flag,
)
from kgeval.auditing.gates.ratchet import hidden
from kgeval.auditing.rulebook import Hit, Rule, load_rules
from kgeval.records import Example, Finding, GraphRef, Ratchet

TODAY = date(2026, 5, 1)
RULE = load_rules()["isolated-entity"].model_copy(update={"threshold": 0.0})


def of(hit: Hit) -> Rule:
    return RULE.model_copy(update={"hit": hit})


def entity(name: str, kind: str | None = "Person", at: str | None = None) -> GraphRef:
    return GraphRef(element_id=at or f"4:{name}:{kind}", key=name, name=name, type=kind)


def shows(*names: str, counts: int = 1, kind: str = "Person") -> Example:
    return Example(items=[entity(name, kind) for name in names], counts=counts)


def outcome(*examples: Example, total: int = 10, count: int | None = None) -> CheckOutcome:
    return CheckOutcome(sum(one.counts for one in examples) if count is None else count, total, list(examples))


def limits(*flags: str) -> Limits:
    found, faults = read_limits(map(written_as_flag, flags))
    assert not faults
    return found


def waived(*waivers: Waiver, **more: object) -> Gates:
    return Gates(waivers=waivers, today=TODAY, **more)  # type: ignore[arg-type]


def debt(rule: Rule, *examples: Example, total: int = 10, hide: bool = False) -> Ratchet:
    found = judged(rule, outcome(*examples, total=total), Gates(remember=True)).debt
    assert found is not None
    return Ratchet(kgeval="1", written="2026-01-01", layout="own", hashed=hide, rules=[hidden(found) if hide else found])


def answered(status: str = "failed", count: int | None = 1, **more: object) -> Finding:
    return Finding.model_validate({
        "rule_id": "isolated-entity", "group": "connectivity", "status": status, "severity": "warning", "title": "T", "count": count,
        "total": None if count is None else 10, **more,
    })
