"""Fixtures for test suites that look after a graph: loaded by pytest where kgeval is installed; nothing heavy before a test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    import neo4j

    from kgeval.workflows.audit import AuditResult
    from kgeval.workflows.audit_several import GraphsResult
    from kgeval.workflows.result import Result
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session

R = TypeVar("R", bound="Result")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a project sets for its suite."""
    parser.addini("kgeval_config", "kgeval.toml of the fixtures, from the folder of this file [default: that of the root folder, if any]")
    parser.addini("kgeval_graph", "Name of the graph that the fixtures look at where a test names none")


@pytest.fixture(scope="session")
def kgeval_connection() -> neo4j.Driver | str | None:
    """What the other fixtures work with: an open `neo4j.Driver` or an address. None: NEO4J_URI, else that of kgeval.toml, else the
    embedded server. Define a fixture of this name to give another."""
    return None


@pytest.fixture(scope="session")
def kgeval_session(kgeval_connection: neo4j.Driver | str | None, pytestconfig: pytest.Config) -> Iterator[Session]:
    """A session for all tests, closed after the last, with the file and the graph that the settings of pytest name."""
    import kgeval
    from kgeval.config import Config
    from kgeval.workflows.audit_gates import load_config

    root = pytestconfig.rootpath
    named = pytestconfig.getini("kgeval_config")
    file: Path = (pytestconfig.inipath or root).parent / named if named else root / "kgeval.toml"
    there = bool(named) or file.is_file()
    config = load_config(file, named=bool(named)) if there else Config()
    with kgeval.connect(kgeval_connection, config=config, graph=pytestconfig.getini("kgeval_graph") or None) as session:
        session.config_file = file if there else None
        yield session


@pytest.fixture(scope="session")
def kgeval_audit(kgeval_session: Session) -> Callable[..., AuditResult | GraphsResult]:
    """`kgeval.audit` for tests: `kgeval_audit(graph="novels", fail_on="error", must_pass=True)`. The first argument is a driver, an
    address or a session, else the suite's session is used; `must_pass`: the test fails with every gate that is missed or has no answer."""
    import kgeval

    def audit(
        connection: neo4j.Driver | str | Session | None = None, *, must_pass: bool = False, **options: Any,
    ) -> AuditResult | GraphsResult:
        result: AuditResult | GraphsResult = kgeval.audit(kgeval_session if connection is None else connection, **options)
        return _passed(result) if must_pass else result

    return audit


@pytest.fixture(scope="session")
def kgeval_score(kgeval_session: Session) -> Callable[..., ScoreResult]:
    """`kgeval.score` for tests, for metrics that look into a graph on the suite's session: `kgeval_score("answers.jsonl",
    metrics="lexical", thresholds="token_f1>=0.4", must_pass=True)`. `must_pass`: as of kgeval_audit."""
    import kgeval

    def score(answers: Any, *, must_pass: bool = False, **options: Any) -> ScoreResult:
        if options.get("connection") is None and not _is_connection(options.get("graph")):
            options["connection"] = kgeval_session
        result: ScoreResult = kgeval.score(answers, **options)
        return _passed(result) if must_pass else result

    return score


def _is_connection(graph: object) -> bool:
    return graph is not None and not isinstance(graph, str)


def _passed(result: R) -> R:
    """The result. Fails the test, with a line a gate and without a traceback through kgeval, where a gate is missed or has no answer.

    Raises: UsageError where there is no gate: the test could never fail.
    """
    from kgeval.errors import GateError, UsageError

    if not result.gates:
        raise UsageError("must_pass, and no gate is asked for", fix="give thresholds or fail_on, for one graph; or leave must_pass out")
    try:
        result.raise_for_gates()
    except GateError as missed:
        pytest.fail("gates of kgeval:\n  " + missed.message.replace("; gate ", "\n  gate "), pytrace=False)
    return result
