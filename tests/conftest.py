"""How the tests are dealt to workers: those that share a server stay together, and so do those that share a file's fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests on Neo4j are one group: they share one server and wipe its database. Of the others each file is one."""
    for item in items:
        room, *rest = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ("", "")
        item.add_marker(pytest.mark.xdist_group("neo4j" if room == "neo4j" else f"{room}/{rest[0] if rest else ''}"))
