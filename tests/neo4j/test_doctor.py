"""`kgeval doctor` on real graphs: what will run, what is blocked, and the way out of each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.server_info import inspect


@pytest.fixture
def doctor(address: Address, graph: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)

    def ask(*options: str, rc: int = 0) -> str:
        assert run(["doctor", *options]) == rc
        return capsys.readouterr().out

    return ask


def test_a_bare_graph_hears_of_everything_that_it_lacks(graph: Graph, doctor: Callable[..., str]) -> None:
    graph.write("CREATE (:Person {name: 'Ada'})-[:MET]->(:Person {name: 'Bob'})")
    told = doctor("--layout", "generic")
    assert "isolated-entity" in told.partition("\nblocked")[0] and "similar-entity" not in told.partition("\nblocked")[0]
    assert "blocked: similar-entity\n  why:      no entity has an embedding" in told
    assert "kgeval audit --embed makes embeddings beside the graph" in told
    assert told.count("  why:") - told.count("left out:") == told.count("  unblock:") >= 8


@pytest.mark.both_lines
@pytest.mark.long
def test_commands_that_unblock_name_the_graph_that_was_named_and_the_extra_that_is_missing(
    graph: Graph, doctor: Callable[..., str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("old town", "port"):
        graph.write(f"CREATE (:__KgevalGraph__ {{name: '{name}', status: 'ready'}}), (:__Entity__:`{name}` {{id: 'a', name: 'Ada'}})")
    told = doctor("--graph", "old town")
    assert "unblock:  kgeval audit --graph 'old town' --schema FILE, or --schema database" in told
    assert "kgeval audit --graph 'old town' --embed makes" in told and "kgeval audit --" not in told.replace("audit --graph", "")
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "lancedb" else found(name, *more))
    told = doctor("--graph", "port")
    assert "unblock:  pip install 'kgeval-toolkit[vectors]'; then kgeval audit --graph port --embed makes" in told
    told = doctor("--graph", "port", "--layout", "graphiti", rc=2)
    assert "layout 'graphiti' finds no entity here" in told and "parts the graphs" not in told


def test_what_is_there_blocks_nothing(graph: Graph, doctor: Callable[..., str]) -> None:
    graph.write("CREATE (:Person {name: 'Ada'})")
    before = doctor("--layout", "generic", "--set", "embedding_key=vector")
    graph.write("MATCH (p:Person) SET p.vector = [0.5, 0.5]")
    now = doctor("--layout", "generic", "--set", "embedding_key=vector", "--schema", "database")
    assert "missing-embedding" in before.partition("\nblocked")[2] and "missing-embedding" in now.partition("\nblocked")[0]
    assert "undeclared-type" in now.partition("\nblocked")[0]


def test_no_connection_is_said_and_is_the_exit_code(doctor: Callable[..., str]) -> None:
    assert "connection  blocked: " in doctor("--uri", "bolt://127.0.0.1:1", rc=2)


def test_a_password_that_was_wrong_too_often_is_told_as_that(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    import neo4j
    from neo4j.exceptions import Neo4jError

    from kgeval.errors import ConnectError

    class Locked:
        """A driver whose server takes no password for some seconds."""

        def session(self, **_: object) -> neo4j.Session:
            raise Neo4jError._hydrate_neo4j(code="Neo.ClientError.Security.AuthenticationRateLimit", message="too many times in a row")

    with pytest.raises(ConnectError, match="too many wrong ones") as caught:
        inspect(Locked(), address)  # type: ignore[arg-type]
    assert caught.value.fix.startswith("wait some seconds")
