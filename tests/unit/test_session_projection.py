"""A graph on its way into a session: its query carries our mark, is ended where it is given up, and what arrives is counted."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from session_account import Database

from kgeval.config import AuditOptions
from kgeval.errors import QueryError
from kgeval.graph.aura import AuraOptions
from kgeval.graph.aura.view import ProjectionSpec, open_view
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.processes import mark
from kgeval.records import Layout
from kgeval.workflows.audit import dry_run_lines
from kgeval.workflows.session import Session

LAYOUT = Layout(name="a", entity_labels=["E"], name_keys=["name"], relation_types=["R"])


class Graph:
    """As much of a Graph as a projection touches. `now`: entities that it has when it is asked again."""

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self.stopped: list[str] = []

    def stop_signed(self, name: str) -> None:
        self.stopped.append(name)

    def read(self, *_: Any, timeout: float | None) -> list[dict[str, Any]]:
        return [{"type": "T", "count": self.now}]


def client(project: Any) -> Any:
    return SimpleNamespace(graph=SimpleNamespace(project=SimpleNamespace(cypher=project)))


def arrived(entities: int) -> Any:
    handle = SimpleNamespace(node_count=lambda: entities, relationship_count=lambda: 0)
    return client(lambda *_, **__: SimpleNamespace(graph=handle))


def interrupted(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("work", "cause"), [
    (lambda *_, **__: threading.Event().wait(60), QueryTimeout), (interrupted, KeyboardInterrupt),
], ids=["too late", "interrupt"])
def test_a_projection_that_is_given_up_is_ended_in_the_database(work: Any, cause: type[BaseException]) -> None:
    graph: Any = Graph()
    with pytest.raises(cause):
        open_view(client(work), graph, ProjectionSpec(LAYOUT, "name_g0", 2), 0.05)
    assert graph.stopped == ["name_g0"]


def test_its_query_begins_with_our_mark_and_its_name() -> None:
    asked: list[str] = []
    graph: Any = Graph()

    def project(name: str, query: str, **_: Any) -> Any:
        asked.append(query)
        return SimpleNamespace(graph=SimpleNamespace(node_count=lambda: 2, relationship_count=lambda: 0))

    open_view(client(project), graph, ProjectionSpec(LAYOUT, "name_g0", 2), None)
    assert asked[0].startswith(f"// {mark()} name_g0\n")


@pytest.mark.parametrize(("before", "now", "entities"), [(5, 0, 5), (5, 8, 8), (5, 8, 6), (5, 3, 4)])
def test_what_arrives_is_what_the_database_has_or_had(before: int, now: int, entities: int) -> None:
    graph: Any = Graph(now)
    assert open_view(arrived(entities), graph, ProjectionSpec(LAYOUT, "g", before), None).nodes == entities


@pytest.mark.parametrize(("before", "now", "entities"), [(5, 5, 0), (5, 5, 4), (5, 8, 9), (5, 3, 2)])
def test_other_entities_than_the_database_has_are_refused(before: int, now: int, entities: int) -> None:
    graph: Any = Graph(now)
    with pytest.raises(QueryError, match=f"{entities} entities arrived in the session where the database has {now}"):
        open_view(arrived(entities), graph, ProjectionSpec(LAYOUT, "g", before), None)


def test_a_dry_run_asks_nothing_of_aura_and_says_where_the_algorithms_would_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    graph: Any = Database()
    monkeypatch.setattr(Session, "_opened", lambda _: nullcontext(graph))
    monkeypatch.setattr("kgeval.graph.project.clear", lambda _: [])
    plan = AuraOptions(memory="8GB")
    with Session("audit", dry=True, gds_session=plan) as session:
        assert session.graph is graph and graph.algorithms is None
    held = SimpleNamespace(nodes=3, relations=2, labels={}, types={}, source="count store")
    monkeypatch.setattr("kgeval.graph.layouts.catalogue", lambda _: held)
    assert "in a session of Aura Graph Analytics with 8GB of memory; nothing was asked" in list(
        dry_run_lines(graph, LAYOUT, AuditOptions(timeout=9.0), [], session=plan.memory_told),
    )[-1]
