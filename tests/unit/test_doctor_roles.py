"""`kgeval doctor`: what it says of what is blocked. With a real database: tests/neo4j/test_doctor.py."""

from __future__ import annotations

from kgeval.auditing.rulebook import load_rules
from kgeval.cli.doctor import UNBLOCK


def test_there_is_a_way_out_for_everything_that_a_check_needs() -> None:
    assert {role for rule in load_rules().values() for role in rule.needs} <= set(UNBLOCK)
