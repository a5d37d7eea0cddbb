"""What must never happen: a write mode, a silent pass, a figure that vanishes without a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neo4j
import pytest

from kgeval.auditing import engine, same_names, structure
from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import choose
from kgeval.auditing.structure import PARTS, StructureOptions, gds_ids, measure
from kgeval.errors import QueryError
from kgeval.graph.algorithms import Expected
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost, OutOfMemory, QueryTimeout
from kgeval.graph.pipelining import send_together
from kgeval.graph.views import projected
from kgeval.records import Layout

LAYOUT = Layout(
    name="test", entity_labels=["E"], name_keys=["name"], type_key="type", relation_types=["R"], chunk_labels=["C"],
    chunk_text_keys=["text"], chunk_id_keys=["id"], mention_types=["IN"], relations_join_entities_only=True,
)
PICTURE = """CREATE (a:E {name: 'Ada', type: 'R', x: 1})-[:R {x: 1}]->(b:E {name: 'Bob', type: 'R', x: 2})-[:R {x: 3}]->(a),
(a)-[:IN]->(:C {id: 'c', text: 'Ada and Bob.'})"""


@pytest.mark.parametrize("concurrent", [1, 2])
def test_every_session_of_an_audit_is_read_only(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, concurrent: int,
) -> None:
    draw(PICTURE)
    modes: list[Any] = []
    session, execute = graph._driver.session, graph._driver.execute_query

    def watched(**config: Any) -> Any:
        modes.append(config.get("default_access_mode"))
        return session(**config)

    def executed(*arguments: Any, **more: Any) -> Any:
        modes.append({neo4j.RoutingControl.READ: neo4j.READ_ACCESS}.get(more.get("routing_")))
        return execute(*arguments, **more)

    def sent(session: Any, queries: Any, *arguments: Any, **more: Any) -> None:
        modes.extend([session._config.default_access_mode] * len(queries))
        send_together(session, queries, *arguments, **more)

    monkeypatch.setattr(graph._driver, "session", watched)
    monkeypatch.setattr(graph._driver, "execute_query", executed)
    monkeypatch.setattr("kgeval.graph.connect.send_together", sent)
    audit(graph, LAYOUT, EngineOptions(rules=choose([], []), concurrent_queries=concurrent))
    assert len(modes) > 50
    assert set(modes) == {neo4j.READ_ACCESS}


def test_the_gds_client_cannot_write_either(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(PICTURE)
    handle = graph.gds.graph.project.native("kgeval_test_client", ["E"], ["R"]).graph
    try:
        with pytest.raises(neo4j.exceptions.ClientError):
            graph.gds.wcc.write(handle, "component")
    finally:
        graph.gds.graph.drop("kgeval_test_client")


def test_calls_of_the_gds_client_stop_at_their_time_limit_and_others_have_none(graph: Graph) -> None:
    slow = "UNWIND range(1, 1000000000) AS i WITH i WHERE i < 0 RETURN i"
    with pytest.raises(QueryTimeout, match="time limit"):
        graph.ask_gds(lambda gds: gds.run_cypher(slow, mode="READ"), timeout=0.2)
    assert graph.ask_gds(lambda gds: gds.run_cypher("RETURN 1 AS one", mode="READ"), timeout=None)["one"].tolist() == [1]


def test_a_client_that_does_not_understand_this_gds_is_named_and_no_traceback(graph: Graph) -> None:
    from graphdatascience.procedure_surface.cypher.catalog.projection_cypher_endpoints import GraphProjectResult

    with pytest.raises(QueryError, match="does not understand GDS") as caught:
        graph.ask_gds(lambda gds: GraphProjectResult(graphName="x"), timeout=None)  # type: ignore[call-arg]
    assert "graphdatascience" in str(caught.value.fix)


def test_communities_are_found_as_often_as_they_are_asked_for_and_leave_no_property(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(0, 5) AS i CREATE (:E {i: i, name: 'n' + i})")
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    graph.write("UNWIND $edges AS edge MATCH (a:E {i: edge[0]}), (b:E {i: edge[1]}) CREATE (a)-[:R]->(b)", {"edges": edges})
    with projected(graph, LAYOUT, Expected(6, 7, 0), timeout=60) as view:
        first, modularity = view.communities("leiden", 1)
        second, again = view.communities("leiden", 1)
        assert (first.groups.tolist(), modularity) == (second.groups.tolist(), again)
        assert view.crossing(first).edges == view.crossing(second).edges == 1
        assert len(view.again("leiden", 1).nodes) == len(view.again("louvain", 1).nodes) == 6
        (row,) = graph.read("CALL gds.graph.list() YIELD schemaWithOrientation RETURN schemaWithOrientation.nodes AS kept")
        assert [len(kept) for kept in row["kept"].values()] == [2]  # those of the two calls, none of `again`


def test_without_gds_every_figure_that_needs_it_is_named_with_the_reason(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(PICTURE)
    monkeypatch.setattr(graph, "info", graph.info.model_copy(update={"gds": None}))
    found = measure(graph, LAYOUT)
    reasons = {figure: skip.reason for skip in found.skipped for figure in skip.ids}
    assert all("Graph Data Science" in reasons[figure] for figure in gds_ids())
    assert not set(reasons) & set(found.numbers)
    checks = {f.rule_id: f for f in audit(graph, LAYOUT, EngineOptions(rules=choose([], []), structure=None)).findings}
    assert checks["small-component"].status == "skipped"
    assert "Graph Data Science" in (checks["small-component"].reason or "")


def test_a_type_named_like_a_relation_does_not_mix_their_properties(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(PICTURE)
    fill = measure(graph, LAYOUT, StructureOptions(communities=False)).numbers["property_fill"]
    assert (fill["R.x"], fill["[:R].x"]) == (1.0, 1.0)


def test_what_cannot_be_counted_in_time_is_not_reported_as_empty(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any, **__: Any) -> Any:
        raise QueryTimeout("stopped at its time limit")

    monkeypatch.setattr(graph, "read", slow)
    found = measure(graph, LAYOUT)
    assert found.numbers == {}
    named = {figure for skip in found.skipped for figure in skip.ids}
    assert {figure for part in PARTS.values() for figure in part} <= named


def test_checks_are_incomplete_when_it_is_unknown_what_the_graph_has(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(PICTURE)

    def slow(*_: Any, **__: Any) -> Any:
        raise QueryTimeout("stopped at its time limit")

    monkeypatch.setattr(engine, "missing_roles", slow)
    found = audit(graph, LAYOUT, EngineOptions(rules=choose([], []), structure=None))
    statuses = {f.rule_id: f.status for f in found.findings}
    assert statuses["pronoun-entity"] == statuses["duplicate-name"] == "incomplete"
    assert found.incomplete


def test_two_parts_at_once_find_what_one_at_a_time_finds_in_the_same_order(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(PICTURE)
    one, two = (audit(graph, LAYOUT, EngineOptions(rules=choose([], []), concurrent_queries=concurrent)) for concurrent in (1, 2))
    assert list(two.structure.numbers) == list(one.structure.numbers)
    assert two.structure == one.structure and two.reading == one.reading and two.judged == one.judged
    timeless = [[finding.model_copy(update={"seconds": None}) for finding in audit.findings] for audit in (one, two)]
    assert timeless[0] == timeless[1]


@pytest.mark.parametrize(("refusal", "status"), [
    (OutOfMemory("the query takes more memory than the server grants it"), "error"),
    (QueryTimeout("stopped at its time limit"), "incomplete"),
], ids=["memory", "time"])
def test_what_had_too_little_memory_or_time_beside_another_query_is_run_again_alone(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, refusal: QueryError, status: str,
) -> None:
    draw(PICTURE)
    read, refused = graph.read, list[str]()

    def crowded(query: Any, *arguments: Any, **more: Any) -> Any:
        name = getattr(query, "name", "")
        if name in ("self-loop", "relation-properties") and refused.count(name) < (2 if name == "self-loop" else 1):
            refused.append(name)
            raise refusal
        return read(query, *arguments, **more)

    monkeypatch.setattr(graph, "read", crowded)
    found = audit(graph, LAYOUT, EngineOptions(rules=choose(["relations"], []), concurrent_queries=2))
    findings = {finding.rule_id: finding for finding in found.findings}
    assert "[:R].x" in found.structure.numbers["property_fill"] and not found.structure.incomplete
    assert (findings["self-loop"].status, findings["parallel-relation"].status) == (status, "passed")  # alone it had too little too
    assert sorted(refused) == ["relation-properties", "self-loop", "self-loop"]


def test_algorithms_and_counts_that_had_no_end_beside_another_query_are_asked_once_more_alone(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(PICTURE)
    options = EngineOptions(rules=choose(["self-loop", "duplicate-name", "type-conflict"], []), concurrent_queries=2)
    whole, asked = audit(graph, LAYOUT, options), list[str]()

    def once(module: Any, name: str) -> None:
        work = getattr(module, name)

        def crowded(*arguments: Any, **more: Any) -> Any:
            asked.append(name)
            if asked.count(name) == 1:
                raise QueryTimeout("stopped at its time limit")
            return work(*arguments, **more)

        monkeypatch.setattr(module, name, crowded)

    once(structure, "projected")
    once(engine, "read_share")
    once(same_names, "_read")  # duplicate-name has no end; type-conflict, which shares what is read, reads itself and has one
    found = audit(graph, LAYOUT, options)
    assert found.structure.numbers == whole.structure.numbers and not found.structure.skipped and found.reading == whole.reading
    assert [finding.status for finding in found.findings] == [finding.status for finding in whole.findings]
    assert found.judged == whole.judged and asked.count("read_share") == 2 and asked.count("_read") == 3


@pytest.mark.parametrize("concurrent", [1, 2])
def test_when_the_server_goes_away_the_rest_is_said_to_have_failed_at_once(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, concurrent: int,
) -> None:
    draw(PICTURE)
    read, calls = graph.read, []

    def dying(*arguments: Any, **more: Any) -> Any:
        calls.append(arguments)
        if len(calls) > 8:
            raise ConnectionLost("the server went away")
        return read(*arguments, **more)

    monkeypatch.setattr(graph, "read", dying)
    rules = choose(["names", "properties", "types"], [])
    found = audit(graph, LAYOUT, EngineOptions(rules=rules, structure=None, concurrent_queries=concurrent))
    failed = [f for f in found.findings if f.status == "error"]
    assert failed
    assert 9 <= len(calls) < 9 + concurrent  # what was under way
    assert all(f.count is None and "went away" in (f.reason or "") for f in failed)


@pytest.mark.parametrize("picture", [
    "CREATE (:X)", "CREATE (:E)", "CREATE (:E {name: 'Ada'})-[:R]->(:E {name: 'Bob'})", "CREATE (:E {name: 'Ada', type: 'unknown'})",
    "CREATE (:E {name: 'Ada'})-[:IN]->(:C {id: 'c'})", "CREATE (:E {name: 'Ada', x: 1})-[:R {x: 1, valid: 1}]->(:E {name: 'Bob'})",
], ids=["nothing", "no names", "no types", "placeholder types", "no texts", "no roles"])
def test_nothing_to_look_at_is_never_a_pass(graph: Graph, draw: Callable[[str], None], picture: str) -> None:
    draw(picture)
    layout = LAYOUT.model_copy(update={
        "relation_label_key": "kind", "valid_from_key": "valid", "document_labels": ["D"], "source_limit": 3,
        "placeholder_values": ["unknown"], "type_label_ignored": ["E"],
        "embedding_key": "vector", "description_key": "about", "relation_source_key": "from", "alias_keys": ["also"],
    })
    schema = {
        "node_types": [], "relation_types": [], "patterns": [], "open_types": False, "open_relations": False, "open_patterns": False,
        "node_properties": [], "relation_properties": [], "node_required": [], "relation_required": [],
    }
    found = audit(graph, layout, EngineOptions(rules=choose([], []), schema=schema, structure=None)).findings
    answered = [f for f in found if f.status in ("passed", "failed")]
    assert [f.rule_id for f in answered if not f.total] == []
    assert [f.rule_id for f in found if f not in answered and not (f.status == "skipped" and f.reason and f.count is None)] == []
    types = {"signature-outlier", "type-conflict", "rare-type", "type-inconsistency", "missing-type"}
    assert "type: " in picture or not types & {f.rule_id for f in answered}
    assert not {"missing-index", "false-merger"} & {f.rule_id for f in answered}


def test_a_graph_without_types_has_its_type_checks_skipped(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("CREATE (:E {name: 'Ada'})-[:R]->(:E {name: 'Bob'})")
    bare = LAYOUT.model_copy(update={"type_key": None, "type_label_ignored": ["E"]})
    found = {f.rule_id: f for f in audit(graph, bare, EngineOptions(rules=choose(["types", "duplicates"], []))).findings}
    assert found["missing-type"].status == found["type-conflict"].status == "skipped"
    assert found["duplicate-name"].status == "passed"


def test_what_rests_on_absence_is_neither_passed_nor_failed_where_rights_hide_a_part(
    graph: Graph, draw: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(PICTURE)
    rules = choose([], [])
    options = EngineOptions(rules=rules, structure=None)
    before = {finding.rule_id: finding for finding in audit(graph, LAYOUT, options).findings}
    monkeypatch.setattr(graph, "info", graph.info.model_copy(update={"hidden": ["denied: NODE(Payment)"]}))
    after = {finding.rule_id: finding for finding in audit(graph, LAYOUT, options).findings}
    rests = {rule.id for rule in rules if "whole_view" in rule.needs}
    assert {"isolated-entity", "entity-without-source", "chunk-without-entities", "missing-type"} <= rests
    assert all(after[name].status == "skipped" and "may hold what is missing" in (after[name].reason or "") for name in rests)
    assert all(after[name].status == before[name].status for name in after.keys() - rests)
    assert any(finding.status in ("passed", "failed") for name, finding in after.items() if name not in rests)
