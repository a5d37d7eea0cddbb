"""Gates: limits with severities, what each came to, and the file and flags that ask for them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from gates_world import RULE, answered, limits, outcome, shows
from hypothesis import given
from hypothesis import strategies as st

from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.gates import (
    CheckJudgement,
    Gates,
    gate_rows,
    judged,
    read_limits,
    written_as_flag,
    written_in_file,
)
from kgeval.cli.main import run
from kgeval.config import AuditOptions, Config
from kgeval.errors import ConfigError, UsageError
from kgeval.format import beyond
from kgeval.records import StructureSkip
from kgeval.stats.thresholds import Threshold
from kgeval.workflows.audit import audit_request
from kgeval.workflows.audit_gates import check_part, load_config


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
    assert not found["duplicate-name"][0].met(4) and found["duplicate-name"][0].met(3)
    assert not found["giant_share"][0].met(0.49) and found["giant_share"][0].met(0.5)


@pytest.mark.parametrize(("flag", "word"), [
    ("isolated-entity<=2", "no share"), ("isolated-entity>=0.1", "write <="), ("nope<=0.1", "no such check"),
    ("self-loop<=x", "not a number"),
    ("self-loop:fatal<=0.1", "no severity"), ("components=3", "write >= or <="), ("giant_share>=1 hit", "no hits"),
    ("property_fill>=0.5", "many numbers"), ("isolated-entity<=1.5 hits", "no number of hits"), ("isolated-entity<=nan", "not a number"),
    ("isolated_entity<=0.1", "did you mean isolated-entity"),
])
def test_limits_that_make_no_sense_are_named(flag: str, word: str) -> None:
    found, faults = read_limits([written_as_flag(flag)])
    assert not found and len(faults) == 1 and word in faults[0] and flag in faults[0]
    assert isinstance(written_as_flag("nonsense")[1], str)


def test_an_error_that_is_broken_before_the_warning_is_a_fault() -> None:
    entries = [written_in_file("w", "self-loop", "warning", "<=0.2"), written_in_file("e", "self-loop", "error", "<=0.05")]
    assert "error (share <= 0.05) is not beyond warning (share <= 0.2)" in read_limits(entries)[1][0]


def test_a_share_at_its_limit_passes_whatever_rounding_does() -> None:
    gates = Gates(limits("isolated-entity<=0.3"))
    assert judged(RULE, outcome(*(shows(str(at)) for at in range(3))), gates).status == "passed"


def test_large_numbers_are_written_out() -> None:
    (limit,) = limits("duplicate-name<=1234567 hits")["duplicate-name"]
    assert limit.text == "hits <= 1234567"
    assert beyond(2345678.0, limit.text) == "2,345,678"


def test_limits_in_hits_do_not_go_with_a_part_of_the_graph() -> None:
    options = AuditOptions(sample_share=0.1)
    for flag in ("empty-name<=3 hits", "empty-name:error<=3 hits"):
        with pytest.raises(UsageError, match="a limit in hits says nothing: empty-name"):
            check_part(limits(flag), options)
    check_part(limits("empty-name<=0.1", "isolated-entity<=3 hits"), options)  # a share; a check that looks at everything
    check_part(limits("empty-name<=3 hits"), AuditOptions())


def test_a_report_replaces_no_file_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "accuracy.json"
    path.write_text("{}", encoding="utf-8")
    for flag in ("--with", "--schema", "--corpus"):
        assert run(["audit", flag, str(path), "-o", str(path)]) == 2
        assert "is read and would be replaced" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "{}"


@given(st.lists(st.integers(0, 60), min_size=2, max_size=2).map(sorted), st.floats(0.01, 1))
def test_more_hits_never_pass_where_fewer_fail(hits: list[int], share: float) -> None:
    gates = Gates({"isolated-entity": (Threshold("isolated-entity", "<=", share, unit="share"),)})
    states: list[CheckJudgement] = [judged(RULE, CheckOutcome(n, 60), gates) for n in hits]
    assert all(not (few.status == "failed" and many.status == "passed") for few, many in pairwise(states))


def test_rows_say_what_each_gate_came_to() -> None:
    flags = ("isolated-entity:error<=0.05", "isolated-entity:warning<=0.01", "giant_share>=0.5", "modularity>=0.3", "self-loop<=0.1")
    gates = Gates(limits(*flags))
    rows = gate_rows(gates, [answered()], {"giant_share": 0.4}, [StructureSkip(ids=["modularity"], reason="no GDS")], fail_on=None)
    assert [(one.name, one.met, one.value, one.decides, one.reason) for one in rows] == [
        ("isolated-entity", False, 0.1, True, None), ("isolated-entity", False, 0.1, False, None), ("giant_share", False, 0.4, True, None),
        ("modularity", None, None, True, "no GDS"), ("self-loop", None, None, True, "it was left out of this run"),
    ]
    assert gate_rows(gates, [answered()], {}, [], fail_on="warning")[1].decides


def test_every_fault_of_the_file_comes_at_once_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "kgeval.toml"
    path.write_text("""
        [audit.thresholds]
        isolated-entity = { warning = "<=0.3", error = "<=2" }
        self-loop = []
        nonsense = 0.1
        components = 5
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
        "audit.thresholds.components",
        "ignore (rule nope, match re:(): rule: 'nope'", "match: 're:('", "ignore.1.reason", "ignore.1.until",
    ):
        assert part in str(caught.value), part


def test_every_fault_of_the_flags_comes_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "debt.json").write_text("[]", encoding="utf-8")
    debt_file = str(tmp_path / "debt.json")
    words = ("--threshold", "nonsense<=1", "--ratchet", debt_file, "--write-ratchet", debt_file, "G1", "G2")
    assert run(["audit", *words]) == 2
    told = capsys.readouterr().err
    for part in ("no such check or figure", "are about one graph", "no ratchet file", "is read and would be replaced", "Fix: "):
        assert part in told, part


def test_flags_replace_what_the_file_says_of_their_check(tmp_path: Path) -> None:
    path = tmp_path / "kgeval.toml"
    path.write_text('[audit.thresholds]\nself-loop = 0.1\nisolated-entity = { warning = 0.1, error = "<=5 hits" }\n', encoding="utf-8")
    config = load_config(path)
    request = audit_request(config, {"thresholds": ["self-loop<=0.5"]})
    written = ("isolated-entity:warning=0.1", "isolated-entity:error<=5 hits", "self-loop<=0.5")
    assert request.options.thresholds == written and limits(*written) == request.limits
    assert [limit.text for limit in request.limits["isolated-entity"]] == ["hits <= 5", "share <= 0.1"]
    assert [limit.text for limit in request.limits["self-loop"]] == ["share <= 0.5"]


def test_a_faulty_threshold_of_the_file_is_told_with_its_key_and_one_of_a_flag_as_it_was_written() -> None:
    config = Config.model_validate({"audit": {"thresholds": {"self-loop": "<=2", "isolated-entity": {"warning": "<=0.1 hits"}}}})
    request = audit_request(config, {"thresholds": ["nonsense<=1"]})
    assert [fault.partition(": ")[0] for fault in request.threshold_faults] == [
        "audit.thresholds.self-loop", "audit.thresholds.isolated-entity.warning", "'nonsense<=1'",
    ]
    assert request.limits == {} and list(request.faults) == ["thresholds"]
