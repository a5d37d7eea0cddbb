"""Commands that need no server: exit code, stdout, stderr and files as they are kept in tests/goldens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from cases import COMMANDS
from golden import EXPECTED, Case, check, check_names, transcript


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that would start Neo4j belongs to GRAPHS."""
    from kgeval.graph import server

    monkeypatch.setattr(server, "ensure_started", lambda *_, **__: pytest.fail("this case starts Neo4j"))


def test_every_golden_of_a_command_has_a_case() -> None:
    check_names("commands", [f"{case.name}.txt" for case in COMMANDS])


@pytest.mark.slow
@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case.name)
def test_command(case: Case, tmp_path: Path) -> None:
    check(EXPECTED / "commands" / f"{case.name}.txt", transcript(case, tmp_path))
