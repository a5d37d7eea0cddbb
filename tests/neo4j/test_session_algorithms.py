"""The session's way gives the figures of the plugin's, on the plugin's endpoints and with the signatures of the session's client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_stand_in import client

from kgeval.auditing.completeness.bridging import communities_of
from kgeval.auditing.engine import run_check
from kgeval.auditing.structure import StructureOptions, measure
from kgeval.errors import ConnectError
from kgeval.graph.aura import AuraOptions, in_session
from kgeval.graph.aura import session as life
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.records import Layout

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from session_account import KEY, Account

LAYOUT = Layout(
    name="test", entity_labels=["E"], name_keys=["name"], type_key="type", relation_types=["R", "S"], relations_join_entities_only=True,
)
OWNED = LAYOUT.model_copy(update={"scope_property": "owner", "scope_value": "me", "relations_join_entities_only": False})
EVERYWHERE = AuraOptions(memory="2GB", cloud="gcp:europe-west1")
TRIANGLES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (6, 7), (9, 9)]


@contextmanager
def session(graph: Graph, monkeypatch: pytest.MonkeyPatch, calls: list[str] | None = None) -> Iterator[Account]:
    """The graph's algorithms in a stand-in session; the plugin is out of reach of everything else."""
    kept = [] if calls is None else calls
    account = Account(client=lambda: client(graph, kept))
    monkeypatch.setattr(life, "_check_database", lambda _: None)
    with in_session(graph, EVERYWHERE, say=lambda _: None, connect=account.connect, environ=KEY):  # type: ignore[arg-type]
        yield account


def write(graph: Graph, nodes: list[int], edges: list[tuple[int, int]]) -> None:
    """Entities with a loop on the first, so that the plugin takes its Cypher projection too: both then number nodes alike."""
    graph.write("MATCH (n) DETACH DELETE n")
    graph.write(
        "UNWIND $n AS i CREATE (:E {name: 'n' + i, type: 'T', i: i, owner: CASE WHEN i % 7 = 6 THEN 'other' ELSE 'me' END})", {"n": nodes},
    )
    graph.write(
        "UNWIND range(0, size($e) - 1) AS k MATCH (a:E {i: $e[k][0]}), (b:E {i: $e[k][1]}) CREATE (a)-[:$(['R', 'S'][k % 2])]->(b)",
        {"e": [list(edge) for edge in [*edges, (nodes[0], nodes[0])]]},
    )


def both(graph: Graph, monkeypatch: pytest.MonkeyPatch, layout: Layout) -> tuple[Any, Any]:
    """Figures, what was skipped, and two findings: by the plugin, and in a session. (No time limit: a busy machine would cut the runs
    of the stability short.)"""

    def look() -> list[Any]:
        found = measure(graph, layout, StructureOptions(properties=False, timeout=3600))
        checks = [run_check(graph, layout, rule, settings=changed) for rule, changed in CHECKS.items()]
        return [found.numbers, found.skipped, *(check.model_copy(update={"seconds": None}) for check in checks)]

    here = look()
    with session(graph, monkeypatch):
        return here, look()


def assert_same(here: Any, there: Any) -> None:
    """Floats to the last digits only: threads add them up in any order."""
    assert set(there[0]) == set(here[0])
    for name, value in here[0].items():
        assert there[0][name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), name
    assert there[1:] == here[1:]


CHECKS = {"small-component": {}, "bridge-only-access": {"min_part": 2}}


@pytest.mark.long
@pytest.mark.parametrize("layout", [LAYOUT, OWNED], ids=["whole", "scoped"])
@pytest.mark.parametrize("drawn", [
    (list(range(10)), TRIANGLES), (list(range(77)), list(nx.convert_node_labels_to_integers(nx.les_miserables_graph()).edges)),
    ([0, 1], []), ([0, 1, 2], [(0, 1)]),
], ids=["triangles", "miserables", "no edge", "a pair"])
def test_figures_and_findings_are_those_of_the_plugin(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, layout: Layout, drawn: tuple[list[int], list[tuple[int, int]]],
) -> None:
    write(graph, *drawn)
    here, there = both(graph, monkeypatch, layout)
    assert_same(here, there)


@pytest.mark.long
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30))
def test_they_agree_on_random_graphs(graph: Graph, monkeypatch: pytest.MonkeyPatch, edges: list[tuple[int, int]]) -> None:
    write(graph, list(range(14)), edges)
    here, there = both(graph, monkeypatch, LAYOUT)
    assert_same(here, there)


@pytest.mark.both_lines
@pytest.mark.long
def test_beyond_the_exact_limit_and_with_leiden_they_agree_too(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.auditing.structure.EXACT_DIAMETER_NODES", 3)
    monkeypatch.setattr("kgeval.auditing.communities.LOUVAIN_UP_TO", 3)
    write(graph, list(range(9)), [(i, i + 1) for i in range(8)])
    here, there = both(graph, monkeypatch, LAYOUT)
    assert_same(here, there)
    assert there[0]["diameter_lower_bound"] == 8
    assert there[0]["community_algorithm"].startswith("Leiden")


def test_communities_of_named_entities_are_those_of_the_plugin(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    write(graph, list(range(10)), TRIANGLES)
    ids = [row["id"] for row in graph.read("MATCH (e:E {owner: 'me'}) RETURN elementId(e) AS id ORDER BY e.i")]
    here = communities_of(graph, OWNED, ids, timeout=30)
    with session(graph, monkeypatch):
        assert communities_of(graph, OWNED, ids, timeout=30) == here
    assert len(here) == 9  # the seventh belongs to another


def test_one_session_and_one_projection_serve_a_whole_audit_and_nothing_is_written(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    write(graph, list(range(10)), TRIANGLES)
    before = graph.read("MATCH (n) RETURN sum(size(keys(n))) AS keys, count(n) AS nodes")
    calls: list[str] = []
    with session(graph, monkeypatch, calls) as account:
        measure(graph, LAYOUT)
        run_check(graph, LAYOUT, "small-component")
        run_check(graph, LAYOUT, "bridge-only-access")
    assert calls.count("graph.project.cypher") == account.events.count("create") == account.events.count("delete") == 1
    assert not [call for call in calls if "write" in call]
    assert graph.read("MATCH (n) RETURN sum(size(keys(n))) AS keys, count(n) AS nodes") == before
    assert graph.read("CALL gds.graph.list() YIELD graphName RETURN graphName") == []


def test_a_session_that_cannot_be_created_is_a_reason_of_every_figure_that_needs_it(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    write(graph, [0, 1], [(0, 1)])
    with session(graph, monkeypatch) as account:
        account.faults["create"] = RuntimeError("no more sessions")
        found = measure(graph, LAYOUT)
        check = run_check(graph, LAYOUT, "small-component")
    assert found.incomplete
    assert any("no more sessions" in skip.reason and "modularity" in skip.ids for skip in found.skipped)
    assert (check.status, "no more sessions" in (check.reason or "")) == ("error", True)
    assert found.numbers["entities"] == 2


def test_a_call_that_takes_too_long_is_incomplete_and_the_rest_goes_on(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.graph.aura.view import SessionView

    write(graph, list(range(10)), TRIANGLES)

    def slow(view: SessionView) -> int:
        raise QueryTimeout("the session did not answer in 1 s")

    monkeypatch.setattr(SessionView, "bridges", slow)
    with session(graph, monkeypatch):
        found = measure(graph, LAYOUT)
    assert [skip.ids for skip in found.skipped if "time limit" in skip.reason] == [["articulation_points", "bridges"]]
    assert "modularity" in found.numbers


def test_this_server_cannot_send_a_graph_to_a_session_and_it_is_said_before_aura_is_asked(graph: Graph) -> None:
    account = Account()
    foreign = Graph(graph._driver, graph.info.model_copy(update={"embedded": False}), graph.address)
    with (
        pytest.raises(ConnectError, match="cannot send a graph"),
        in_session(foreign, EVERYWHERE, say=lambda _: None, connect=account.connect, environ=KEY),  # type: ignore[arg-type]
    ):
        pass
    assert account.events == []
