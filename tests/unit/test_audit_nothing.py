"""A check that had nothing to look at is not measurable, whichever check it is: the engine says it for all of them."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from kgeval.auditing import engine
from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import Rule, load_rules
from kgeval.records import Finding, Layout

NO_GRAPH: Any = SimpleNamespace(info=SimpleNamespace(hidden=[]), remembering=nullcontext, read_ahead=lambda *_, **__: [])


def _finding(rule: Rule, outcome: CheckOutcome, monkeypatch: pytest.MonkeyPatch) -> Finding:
    monkeypatch.setattr(engine, "missing_roles", lambda *_, **__: {})
    monkeypatch.setattr(engine, "sharing", lambda _: nullcontext())
    monkeypatch.setattr(engine, "_outcome", lambda *_: outcome)
    return audit(NO_GRAPH, Layout(name="a"), EngineOptions(rules=[rule], structure=None)).findings[0]


@pytest.mark.parametrize("rule", load_rules().values(), ids=lambda rule: str(rule.id))
def test_of_nothing_no_check_passes(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = _finding(rule, CheckOutcome(0, 0, note="the search ended early"), monkeypatch)
    assert (finding.status, finding.count, finding.total, finding.share) == ("skipped", None, None, None)
    assert finding.reason == f"there is nothing to look at: 0 {rule.total_of}; the search ended early"
    assert _finding(rule, CheckOutcome(0, 1), monkeypatch).status == "passed"
    assert _finding(rule, CheckOutcome(1, 0), monkeypatch).status == "failed"
