"""Options: thresholds, settings, environment variables, gates. All faults at once, nothing silently ignored."""

from __future__ import annotations

import click
import pytest

from kgeval.audit.engine import Audit
from kgeval.audit.structure import Structure
from kgeval.cli.audit_exit import exit_code, unanswered
from kgeval.cli.audit_options import parse_settings, parse_thresholds
from kgeval.cli.main import COMMANDS, cli
from kgeval.errors import ConnectError, UsageError
from kgeval.graph.connect import Address, open_graph
from kgeval.records import Finding, Severity, Status


def finding(rule_id: str, status: Status, severity: Severity = "warning") -> Finding:
    return Finding(rule_id=rule_id, group="names", status=status, severity=severity, title="T")


def result(*findings: Finding) -> Audit:
    return Audit(Structure(), list(findings))


def test_thresholds_are_shares_of_known_checks() -> None:
    assert parse_thresholds(["isolated-entity<=0.05", "self-loop=0.1"]) == {"isolated-entity": 0.05, "self-loop": 0.1}
    with pytest.raises(UsageError) as caught:
        parse_thresholds(["isolated-entity<=2", "nope<=0.1", "self-loop<=x"])
    assert all(word in str(caught.value) for word in ("2 is no share", "'nope'", "self-loop<=x"))


@pytest.mark.parametrize(("text", "value"), [("True", True), ("no", False), ("ON", True), ("0", False)])
def test_yes_and_no_settings_take_every_usual_word(text: str, value: bool) -> None:
    assert parse_settings([f"inverse-duplicate.any_label={text}"]) == {"inverse-duplicate.any_label": value}


@pytest.mark.parametrize("text", [
    "inverse-duplicate.any_label=maybe", "super-node.mad_factor=nan", "super-node.min_degree=99999999999999999999999",
    "super-node.min_degree=many", "nope.x=1", "super-node.nope=1",
])
def test_settings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_settings([text])


def test_exit_codes_follow_the_findings() -> None:
    assert exit_code(result(finding("a", "failed", "error")), None, set()) == 0
    assert exit_code(result(finding("a", "failed", "warning")), "error", set()) == 0
    assert exit_code(result(finding("a", "failed", "warning")), "warning", set()) == 1
    assert exit_code(result(finding("a", "failed", "info")), None, {"a"}) == 1
    assert exit_code(result(finding("a", "incomplete")), "error", set()) == 3


def test_a_gate_without_an_answer_is_no_pass() -> None:
    for found in (result(finding("a", "skipped")), result()):
        assert unanswered(found, {"a"}) == ["a"]
        assert exit_code(found, None, {"a"}) == 3


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
        walk(command, f"KGEVAL_{name}".upper())
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
