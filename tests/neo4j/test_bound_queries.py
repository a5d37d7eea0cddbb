"""A query with a layout's names in it finds what its file finds, whatever the names are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.structure import StructureOptions
from kgeval.graph.binding import bind_query, bind_text
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import load_profile
from kgeval.graph.queries import Query, all_queries
from kgeval.records import LabelName, Layout

HOSTILE = Layout(
    name="hostile", entity_labels=["Per`son", "Big Place", "MATCH"], entity_excluded_labels=["No\\u0041ne"], name_keys=["na`me", "the id"],
    key_property="the id", alias_keys=["al`ias"], description_key="te'xt", type_label_ignored=["MATCH"],
    type_label_rank={"Per`son": 0, "Big Place": 1}, relation_types=["KNOWS `x", "IS IN", "BACK\\SLASH"], relation_label_key="pre dicate",
    valid_from_key="from `day", valid_to_key="to day", chunk_labels=["Chu`nk"], chunk_text_keys=["bo dy"], chunk_id_keys=["id"],
    document_labels=["Doc"], mention_types=["MEN`TION"], chunk_document_types=["IN"], entity_source_key="sour\\ce",
    relation_source_key="sour ces", source_separator="|", source_limit=2, scope_property="gr oup", scope_value="mine'",
    embedding_key="vec tor", placeholder_values=["UNKNOWN"],
)
PEOPLE = Layout(
    name="people", entity_labels=["Person", "Order"], type_label_ignored=[], name_keys=["first"],
    label_names=[LabelName(label="Person", keys=["first", "last"]), LabelName(label="Order", keys=["number"], is_id=True)],
    relation_types=["KNOWS", "BOUGHT"], relations_join_entities_only=True, scope_label="G raph",
)
KEYLESS = Layout(
    name="keyless", entity_labels=["Person", "Order", "Big Place"], name_keys=["first", "number"], key_property="number",
    label_names=[
        LabelName(label="Person", keys=["first"]), LabelName(label="Big Place", is_id=True), LabelName(keys=["number"], is_id=True),
    ],
    relation_types=["KNOWS", "BOUGHT"], type_label_rank={"Big Place": 0, "MATCH": 1},
)
GRAPH = """
UNWIND range(1, 60) AS i
CREATE (a:`Per``son` {`na``me`: CASE i % 5 WHEN 0 THEN 'Ada' WHEN 1 THEN 'the company' WHEN 2 THEN NULL ELSE 'Name ' + i END,
    `the id`: 'e' + i, `gr oup`: CASE i % 7 WHEN 0 THEN 'other' ELSE "mine'" END, `al``ias`: ['alias ' + i], `te'xt`: 'text',
    `sour\\u005Cce`: 'c1|c9', `vec tor`: [toFloat(i), 1.0]})
CREATE (b:`Big Place`:MATCH {`na``me`: 'Place ' + i, `gr oup`: "mine'", size: CASE i % 2 WHEN 0 THEN i ELSE toString(i) END})
CREATE (c:`Chu``nk` {id: 'c' + i, `bo dy`: 'Ada met Place ' + i, `gr oup`: "mine'"})-[:IN]->(:Doc {`gr oup`: "mine'"})
CREATE (a)-[:`KNOWS ``x` {`pre dicate`: 'knows', `sour ces`: ['c' + i], `from ``day`: '2020-01-02', `to day`: '2020-01-01'}]->(b)
CREATE (b)-[:`IS IN`]->(a), (b)-[:`IS IN`]->(b), (a)-[:`BACK\\u005CSLASH`]->(b), (a)-[:OTHER]->(b), (a)-[:`MEN``TION`]->(c)
CREATE (x:`Per``son`:`No\\u005Cu0041ne` {`na``me`: 'excluded', `gr oup`: "mine'"})-[:`IS IN`]->(a), (a)-[:`IS IN`]->(:Nobody)
CREATE (p:Person:`G raph` {first: 'A', last: CASE i % 3 WHEN 0 THEN 'B' ELSE 'C' + i END})-[:BOUGHT]->(o:Order:`G raph` {number: i})
CREATE (p)-[:KNOWS]->(p), (p)-[:KNOWS]->(:Person:`G raph` {last: 'it'}), (:Person {first: 'of another graph'})
"""


def general(query: str | Query, params: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """As `bind_query`, with every name as a parameter."""
    given = dict(params or {})
    if isinstance(query, str) or not query.speaks_roles:
        return bind_query(query, params)
    text, left = bind_text(query.text, Layout.model_validate(given.pop("layout")), most=0)
    return text, given | left


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("layout", [HOSTILE, PEOPLE], ids=lambda layout: layout.name)
def test_names_in_queries_change_nothing_that_is_found(graph: Graph, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    graph.write(GRAPH)
    audits = []
    for put_in in (bind_query, general):
        monkeypatch.setattr("kgeval.graph.connect.bind_query", put_in)
        monkeypatch.setattr("kgeval.graph.project.bind_query", put_in)
        monkeypatch.setattr("kgeval.auditing.graph_reader.bind_query", put_in)
        result = audit(graph, layout, EngineOptions(rules=list(load_rules().values()), structure=StructureOptions(communities=False)))
        findings: dict[str, Any] = {f.rule_id: f.model_dump(exclude={"seconds"}) for f in result.findings}
        audits.append((findings, result.structure.numbers, result.reading))
    assert audits[0] == audits[1]
    counted = {rule for rule, finding in audits[0][0].items() if finding["total"]}
    assert {"empty-name", "isolated-entity", "dangling-relation", "rare-relation-type", "low-fill-property"} <= counted
    assert not {rule: finding["reason"] for rule, finding in audits[0][0].items() if finding["status"] == "error"}


def with_real_ids(value: Any, nodes: list[str], relations: list[str]) -> Any:
    """An example value with element ids of this graph for made-up ones, all of them for a list."""
    if isinstance(value, list) and value and all(isinstance(part, str) and part[:2] in ("4:", "5:") for part in value):
        return nodes if value[0].startswith("4:") else relations
    if isinstance(value, list):
        return [with_real_ids(part, nodes, relations) for part in value]
    if isinstance(value, dict):
        return {key: with_real_ids(part, nodes, relations) for key, part in value.items()}
    return (nodes[3] if value.startswith("4:") else relations[0]) if isinstance(value, str) and value[:2] in ("4:", "5:") else value


def shown(row: Mapping[str, Any]) -> str:
    """A row as text; of examples how many there are: some queries take those that the server comes to first. Lists come in any order."""
    return repr(in_order({**row, "sample": len(row["sample"])} if "sample" in row else row))


def in_order(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: in_order(inside) for key, inside in value.items()}
    return sorted(map(in_order, value), key=repr) if isinstance(value, list) else value


@pytest.mark.both_lines
@pytest.mark.parametrize("layout", [HOSTILE, PEOPLE, KEYLESS], ids=lambda layout: layout.name)
def test_no_query_gives_other_rows_for_the_names_in_it(graph: Graph, layout: Layout) -> None:
    graph.write(GRAPH)
    nodes = [row["id"] for row in graph.read("MATCH (n) RETURN elementId(n) AS id ORDER BY id LIMIT 200")]
    relations = [row["id"] for row in graph.read("MATCH ()-[r]->() RETURN elementId(r) AS id ORDER BY id LIMIT 200")]
    given = {
        "layout": layout.model_dump(), "terms": ["ada", "place", "a"], "predicates": ["knows", "isin"],
        "types": ["knows", "IS IN", "BOUGHT"], "pairs": [nodes[at : at + 2] for at in range(0, 100, 2)],
    }
    different, empty = {}, set[str]()
    for query in all_queries().values():
        if query.mode != "read" or not query.speaks_roles or query.needs:
            continue
        values = {
            parameter.name: given[parameter.name] if parameter.name in given and not re.search(r"term:|\{", parameter.example)
            else with_real_ids(graph.read(f"RETURN {parameter.example} AS v")[0]["v"], nodes, relations)
            for parameter in query.params
        }
        if query.name == "relation-patterns":
            values["pairs"] = [["Per`son", "Big Place"], ["Person", "Order"]]
        if query.name == "entry-by-index":  # there is no index
            continue
        values["layout"] = given["layout"]
        found = [sorted(map(shown, graph.read(*how(query, values), timeout=60))) for how in (general, bind_query)]
        if found[0] != found[1]:
            different[query.name] = found
        if not found[0]:
            empty.add(query.name)
    assert different == {}
    # which ids come first depends on what stood in the database before
    assert len(empty) < {"hostile": 48, "people": 72, "keyless": 84}[layout.name], empty


def leaves(plan: Mapping[str, Any], *, in_turn: bool = False) -> Iterator[str]:
    """What a plan begins with once for each row that it has already: operators with the names in them."""
    first, *rest = plan.get("children") or [None]
    if first is None and in_turn:
        yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    if first is not None:
        yield from leaves(first, in_turn=in_turn)
    for child in rest:
        yield from leaves(child, in_turn=in_turn or "Apply" in plan["operatorType"])


@pytest.mark.both_lines
@pytest.mark.long
def test_no_query_looks_through_all_entities_for_each_entity_though_the_planner_knows_of_few(graph: Graph) -> None:
    """As when a plan made for a small graph is still kept while a large one has taken its place. (Patterns that a plan asks for within an
    expression are not in what the server tells of it.)"""
    graph.write("CREATE (:__Entity__:G {name: 'Ada'})-[:R]->(:__Entity__:G {name: 'Bob'})-[:FROM_CHUNK]->(:Chunk:G {id: 'c', text: 'Ada'})")
    layout = load_profile("neo4j-graphrag").model_copy(update={"relation_types": ["R"], "scope_label": "G"})
    began: dict[str, list[str]] = {}
    for query in all_queries().values():
        text, left = bind_text(query.text, layout) if query.mode == "read" else ("", {})
        if reached := set(re.findall(r"\((\w+):[^()]*\) = true", text)):
            values = {**dict.fromkeys(parameter.name for parameter in query.params), **left}
            plan = graph.driver.execute_query("EXPLAIN " + text, values).summary.plan
            began[query.name] = [
                leaf for leaf in leaves(plan)
                if not leaf.startswith(("Argument", "NodeByElementIdSeek")) and reached & {*re.findall(r"\w+", leaf)}
            ]
    assert len(began) >= 16
    assert not any(began.values()), began
