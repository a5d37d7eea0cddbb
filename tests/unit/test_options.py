"""Options: thresholds, settings, environment variables, gates. All faults at once, nothing silently ignored."""

from __future__ import annotations

import click
import pytest

from kgeval.auditing.gates import failing
from kgeval.auditing.rulebook import Setting
from kgeval.cli.main import COMMANDS, cli
from kgeval.errors import ConnectError, UsageError
from kgeval.graph.connect import Address, open_graph
from kgeval.records import Finding, Gate, Severity, Status
from kgeval.workflows.audit import read_settings
from kgeval.workflows.result import exit_code


def finding(rule_id: str, status: Status, severity: Severity = "warning") -> Finding:
    return Finding(rule_id=rule_id, group="names", status=status, severity=severity, title="T")


@pytest.mark.parametrize(("text", "value"), [("True", True), ("no", False), ("ON", True), ("0", False)])
def test_yes_and_no_settings_take_every_usual_word(text: str, value: bool) -> None:
    assert read_settings({"inverse-duplicate.any_label": text}) == {"inverse-duplicate": {"any_label": value}}


@pytest.mark.parametrize(("name", "value", "words"), [
    ("inverse-duplicate.any_label", "maybe", "is no yes or no"), ("super-node.mad_factor", "nan", "is no finite number"),
    ("super-node.min_degree", "99999999999999999999999", "is no whole number"), ("super-node.min_degree", "many", "is no whole number"),
    ("super-node.min_degree", 5.5, "is no whole number"), ("super-node.mad_factor", True, "is no finite number"),
    ("super-node.mad_factor", float("inf"), "is no finite number"), ("nope.x", 1, "is no setting"),
    ("super-node.nope", "1", "is no setting"),
])
def test_settings_that_make_no_sense_are_refused(name: str, value: Setting, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_settings({name: value})


def test_settings_are_read_once_with_their_types_and_all_faults_are_told_at_once() -> None:
    given: dict[str, Setting] = {"super-node.min_degree": "50", "super-node.mad_factor": 4, "inverse-duplicate.any_label": True}
    assert read_settings(given) == {"super-node": {"min_degree": 50, "mad_factor": 4.0}, "inverse-duplicate": {"any_label": True}}
    with pytest.raises(UsageError) as caught:
        read_settings({"super-node.min_degree": "many", "super-nod.min_degree": 3})
    assert "'super-node.min_degree=many' is no whole number; 'super-nod.min_degree' is no setting (did you mean" in caught.value.message


def gate(met: bool | None, *, decides: bool = True) -> Gate:
    return Gate(name="a", limit="share <= 0", met=met, decides=decides)


def code(*findings: Finding, gates: tuple[Gate, ...] = (), fail_on: Severity | None = None) -> int:
    return exit_code([*gates, *failing(findings, fail_on)], incomplete=any(one.status == "incomplete" for one in findings))


def test_exit_codes_follow_the_findings() -> None:
    assert code(finding("a", "failed", "error")) == 0
    assert code(finding("a", "failed", "warning"), fail_on="error") == 0
    assert code(finding("a", "failed", "warning"), fail_on="warning") == 1
    assert code(finding("a", "failed", "info"), gates=(gate(False),)) == 1
    assert code(finding("a", "failed", "info"), gates=(gate(False, decides=False),)) == 0
    assert code(finding("a", "incomplete"), fail_on="error") == 3


def test_a_gate_without_an_answer_is_no_pass() -> None:
    assert code(finding("a", "skipped"), gates=(gate(None),)) == 3
    assert code(finding("a", "failed", "error"), gates=(gate(None), gate(False)), fail_on="error") == 3
    assert code(gates=(gate(None, decides=False),)) == 0


def every_option() -> list[tuple[str, click.Option]]:
    found: list[tuple[str, click.Option]] = []

    def walk(command: click.Command, prefix: str) -> None:
        found.extend((prefix, p) for p in command.params if isinstance(p, click.Option))
        if isinstance(command, click.Group):
            for name, child in command.commands.items():
                walk(child, f"{prefix}_{name}".upper().replace("-", "_"))

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        walk(command, f"KGEVAL_{name}".upper().replace("-", "_"))
    return found


def test_every_flag_has_an_environment_variable_of_its_own_name() -> None:
    for prefix, option in every_option():
        flag = max(option.opts, key=len).lstrip("-").replace("-", "_").upper()
        names = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or [])
        assert f"{prefix}_{flag}" in names


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConnectError) as caught:
        open_graph(Address("bolt://neo4j:sekret@localhost", "neo4j", "x"))
    assert "sekret" not in str(caught.value)
    assert "NEO4J_PASSWORD" in caught.value.fix
