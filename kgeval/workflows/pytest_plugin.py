"""Fixtures for test suites that look after a graph: loaded by pytest where kgeval is installed; nothing heavy before a test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kgeval.workflows.audit import AuditResult
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session


@pytest.fixture(scope="session")
def kgeval_connection() -> Any:
    """What the other fixtures work with: an open `neo4j.Driver` or an address. None: NEO4J_URI, else that of kgeval.toml, else the
    embedded server. Define a fixture of this name to give another."""
    return None


@pytest.fixture(scope="session")
def kgeval_session(kgeval_connection: Any, pytestconfig: pytest.Config) -> Iterator[Session]:
    """A session for all tests, closed after the last, with the kgeval.toml of the folder that pytest takes for the root."""
    import kgeval

    file = pytestconfig.rootpath / "kgeval.toml"
    with kgeval.connect(kgeval_connection, config=file if file.is_file() else None) as session:
        yield session


@pytest.fixture(scope="session")
def kgeval_audit(kgeval_session: Session) -> Callable[..., AuditResult]:
    """`kgeval.audit` on that session: `kgeval_audit(graph="novels", fail_on="error").raise_for_gates()`."""
    import kgeval

    return partial(kgeval.audit, kgeval_session)


@pytest.fixture(scope="session")
def kgeval_score(kgeval_session: Session) -> Callable[..., ScoreResult]:
    """`kgeval.score` on that session: `kgeval_score("answers.jsonl", metrics="lexical", thresholds="token_f1>=0.4").raise_for_gates()`."""
    import kgeval

    return partial(kgeval.score, connection=kgeval_session)
