"""What a graph is: by hand-written expectation on drawn cases, on graphs that people made, and on every pictured layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from property_graphs import PROPERTY_GRAPHS, load_property_graph

import kgeval
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, detect, load_profile
from kgeval.profiling import engine, reads
from kgeval.records import GraphProfile, LabelProfile, ProfileReport, RelationProfile

PICTURES = Path(__file__).parents[1] / "graphs" / "layouts"


def profile(graph: Graph, layout: str | None = None, **options: Any) -> GraphProfile:
    chosen = layout or detect(graph, None).choice or "generic"
    return engine.profile_graph(graph, bind(graph, load_profile(chosen).layout, None), **options)


def label(found: GraphProfile, name: str) -> LabelProfile:
    return next(one for one in found.labels if one.label == name)


def type_(found: GraphProfile, name: str) -> RelationProfile:
    return next(one for one in found.types if one.type == name)


@pytest.fixture
def constrain(graph: Graph) -> Iterator[Callable[[str, str], None]]:
    """Declares a property of a label unique, for one test."""
    made = []

    def declare(of: str, key: str) -> None:
        made.append(f"profile_{len(made)}")
        graph.schema_command(f"CREATE CONSTRAINT {made[-1]} FOR (n:`{of}`) REQUIRE n.`{key}` IS UNIQUE")

    yield declare
    for name in made:
        graph.schema_command(f"DROP CONSTRAINT {name}")


# --- labels -------------------------------------------------------------------------------------------------------------------------------


def test_a_marker_is_no_type_and_a_subtype_is_one_of_its_type(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 20) AS i CREATE (u:User {name: 'User ' + toString(i * 7919), email: 'u' + i + '@a.org'})
      FOREACH (x IN CASE WHEN i % 5 = 0 THEN [1] ELSE [] END | SET u:HighValue)
      FOREACH (x IN CASE WHEN i % 4 = 0 THEN [1] ELSE [] END | SET u:Employee, u.desk = 'D' + i)""")
    found = profile(graph)
    assert [one.label for one in found.labels] == ["User"]
    assert (found.labels[0].nodes, found.labels[0].subtypes, found.labels[0].markers) == (20, ["Employee"], ["HighValue"])


def test_labels_that_part_a_type_are_its_subtypes_and_a_label_of_everything_is_none(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 12) AS i
      CREATE (p:Thing:Person {name: 'P' + toString(i * 7919)}), (:Thing:Town {name: 'T' + toString(i * 7877)})
      FOREACH (x IN CASE WHEN i % 2 = 0 THEN [1] ELSE [] END | SET p:Actor)
      FOREACH (x IN CASE WHEN i % 2 = 1 THEN [1] ELSE [] END | SET p:Poet)""")
    found = profile(graph)
    assert {one.label: (one.subtypes, one.markers) for one in found.labels} == {"Person": (["Actor", "Poet"], []), "Town": ([], [])}


@pytest.mark.parametrize("name", ["Entity", "Type", "Process", "Session", "Document"])
def test_a_word_of_a_writer_is_a_label_like_any_other_where_no_writer_was(graph: Graph, draw: Callable[[str], None], name: str) -> None:
    thing = f"(:`{name}` {{name: 'Thing ' + toString(i * 7919)}})"
    draw(f"UNWIND range(1, 12) AS i CREATE {thing}-[:OWNED_BY]->(:Person {{name: 'P ' + i}})")
    one = label(profile(graph), name)
    assert (one.role, one.kind, one.nodes) == ("entity", "hand-made", 12)


def test_a_property_on_all_nodes_that_says_what_they_are_is_the_type(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 20) AS i CREATE (:Item {name: 'I ' + toString(i * 7919), type: ['pump', 'valve'][i % 2], colour: 'C' + i})")
    assert label(profile(graph), "Item").type_property == "type"
    draw("MATCH (n:Item) WHERE n.name ENDS WITH '9' REMOVE n.type")
    assert label(profile(graph), "Item").type_property is None


def test_events_have_a_time_and_no_name_and_values_are_only_led_to(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 20) AS i CREATE (o:Order {number: i, at: datetime('2020-01-01T00:00:00Z') + duration({days: i})})
      MERGE (c:Colour {name: ['red', 'green'][i % 2]}) CREATE (o)-[:HAS]->(c)""")
    found = profile(graph)
    assert {one.label: one.role for one in found.labels} == {"Order": "record", "Colour": "value"}


def test_a_label_that_reads_like_two_is_one(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 3) AS i CREATE (:`a|b` {name: 'x' + i, own: 1}), (:a:b {name: 'y' + i, other: 1}), (:a {name: 'z' + i})")
    found = profile(graph)
    assert {part.key: part.filled for part in label(found, "a|b").properties} == {"name": 1.0, "own": 1.0}
    assert label(found, "a").nodes == 6


@pytest.mark.parametrize("statement", [
    "UNWIND range(1, 20) AS i CREATE (u:User {name: 'U' + i}) FOREACH (x IN CASE WHEN i % 4 = 0 THEN [1] ELSE [] END | SET u:HighValue)",
    """UNWIND range(1, 40) AS i CREATE (n:Base {name: 'U' + i}) FOREACH (x IN CASE WHEN i > 2 THEN [1] ELSE [] END | SET n:Person)
      FOREACH (x IN CASE WHEN i % 2 = 0 THEN [1] ELSE [] END | SET n:Poet)""",
    """CREATE (:ZCat:Animal {name: 'a'})-[:EATS]->(:Animal {name: 'b'}), (:ACat:Animal {name: 'c'}), (:Animal:ZCat:Red {name: 'd'}),
      (:Stone {name: 'e'}), (:Red:Stone {name: 'f'})""",
], ids=["marker", "base", "meeting"])
def test_a_type_is_the_one_that_an_audit_takes(graph: Graph, draw: Callable[[str], None], statement: str) -> None:
    draw(statement)
    audited = kgeval.audit(graph.driver, checks="isolated-entity")
    # the one of forty that has the label of all alone has no type to an audit: an extractor left it without
    types = {"(none)" if one.label == "Base" else one.label: one.nodes for one in audited.report.profile.labels}
    assert audited.report.structure["entities_by_type"] == types


# --- keys and names -----------------------------------------------------------------------------------------------------------------------


def test_a_key_is_declared_or_filled_and_different_on_every_node(
    graph: Graph, draw: Callable[[str], None], constrain: Callable[[str, str], None],
) -> None:
    constrain("Player", "licence")
    draw("""UNWIND range(1, 400) AS i
      CREATE (:Player {licence: i, nick: 'n' + i}), (:Row {n: i % 390}),
        (:Case {primaryid: toString(100000 + i), country: ['DE', 'FR'][i % 2]})""")
    found = profile(graph)
    assert label(found, "Player").keys == ["licence"], "what else differs is no key beside a declared one"
    case = label(found, "Case")
    assert (case.keys, case.name) == (["primaryid"], []) and "400 of 400 nodes have it" in case.keys_because
    assert label(found, "Row").keys == [], "a sample may see no repeat: the count does"


@pytest.mark.parametrize(("statement", "identify", "why"), [
    ("UNWIND range(1, 40) AS i CREATE (:Answer {id: 'a' + i, title: 'Question ' + (i % 20), text: 'T' + i})", False, "differ in other"),
    ("UNWIND range(1, 40) AS i CREATE (:Firm {id: 'f' + i, name: 'Firm ' + (i % 10), town: 'Town ' + (i % 10)})", True, "agree in all"),
    ("UNWIND range(1, 40) AS i CREATE (:Firm {id: 'f' + i, name: 'F ' + CASE WHEN i < 3 THEN 1 ELSE i END, town: 'T' + i})", True, "rare"),
    ("UNWIND range(1, 36) AS i CREATE (:Firm {id: 'f' + i, name: 'F ' + i % 34, town: 'T' + i})", True, "two namesakes"),
    ("UNWIND range(1, 36) AS i CREATE (:Firm {id: 'f' + i, name: 'F ' + i % 30, town: 'T' + i})", False, "differ in other"),
    ("UNWIND range(1, 60) AS i CREATE (:Run {id: 'f' + i, name: CASE WHEN i < 5 THEN 0 ELSE i END + 'x', n: i})", False, "differ in"),
    ("UNWIND range(1, 40) AS i CREATE (:Firm {id: 'f' + i, name: 'Firm ' + i})", None, "no two"),
    ("UNWIND range(1, 40) AS i CREATE (:Run {id: 'f' + i, name: 'php'})", False, "nothing but keys"),
])
def test_whether_two_of_one_name_are_one_thing(
    graph: Graph, draw: Callable[[str], None], statement: str, identify: bool | None, why: str,
) -> None:
    draw(statement)
    [one] = profile(graph).labels
    assert one.names_identify is identify and why in one.names_because


def test_a_declared_name_identifies(graph: Graph, draw: Callable[[str], None], constrain: Callable[[str, str], None]) -> None:
    constrain("Tag", "name")
    draw("UNWIND range(1, 20) AS i CREATE (:Tag {name: 'tag ' + i})")
    assert label(profile(graph), "Tag").names_identify is True


# --- relations ----------------------------------------------------------------------------------------------------------------------------


def test_what_a_relation_says_and_what_tells_two_of_a_pair_apart(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 12) AS i CREATE (a:Player {name: 'A' + i}), (m:Match {name: 'M' + i})
      CREATE (a)-[:SCORED {minute: 3, half: 1}]->(m), (a)-[:SCORED {minute: 41 + i, half: 1}]->(m)
      CREATE (a)-[:DIRECTED]->(m), (m)-[:LINKS]->(a)""")
    found = profile(graph)
    scored = type_(found, "SCORED")
    assert (scored.tells_apart, scored.repeated_pairs, scored.most_per_start, scored.count) == (["minute"], 12, 2, 24)
    assert [(one.start, one.end, one.share) for one in scored.ends] == [("Player", "Match", 1.0)]
    assert {one.type: one.says for one in found.types} == {"SCORED": "type", "DIRECTED": "type", "LINKS": "type"}


def test_a_placeholder_is_one_only_where_it_is_the_one_type(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 12) AS i CREATE (:A {name: 'A' + i})-[:RELATED_TO]->(:A {name: 'B' + i})")
    assert type_(profile(graph), "RELATED_TO").says == "nothing"


def test_relations_that_are_stored_both_ways_have_no_direction(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 12) AS i CREATE (a:A {name: 'A' + i}), (b:A {name: 'B' + i}) CREATE (a)-[:KNOWS]->(b), (b)-[:KNOWS]->(a)
      CREATE (a)-[:PAYS]->(b)""")
    found = profile(graph)
    assert (type_(found, "KNOWS").directed, type_(found, "PAYS").directed) == (False, True)


# --- the whole ----------------------------------------------------------------------------------------------------------------------------


def test_rdf_as_neosemantics_writes_it(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""CREATE (:_GraphConfig {_handleVocabUris: 0}), (:_NsPrefDef {skos: 'http://www.w3.org/2004/02/skos/core#'})
      WITH 1 AS x UNWIND range(1, 20) AS i
      CREATE (:Resource:skos__Concept {uri: 'http://e.org/' + i, skos__prefLabel: ['concept ' + i + '@en', 'begriff@de']})""")
    found = profile(graph)
    assert (found.kind, {one.label: one.role for one in found.labels}) == (
        "RDF", {"skos__Concept": "entity", "_GraphConfig": "technical", "_NsPrefDef": "technical"},
    )
    assert (label(found, "skos__Concept").keys, label(found, "skos__Concept").with_it) == (["uri"], [])


def test_an_empty_database_is_refused_as_everywhere(graph: Graph, address: Address, capsys: pytest.CaptureFixture[str],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    assert run(["profile", "--uri", address.uri]) == 2
    assert "is empty" in capsys.readouterr().err


@pytest.mark.slow
def test_hostile_names_large_values_and_odd_types_are_looked_at_and_nothing_is_long(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""UNWIND range(1, 5) AS i
      CREATE (:`a``b|c` {`k``ey`: i, text: reduce(t = '', x IN range(1, 3000) | t + 'word here '), at: point({latitude: 1, longitude: i}),
        when: date('2020-01-01'), vector: [x IN range(1, 384) | toFloat(x)], some: [1, 2, 3], ok: true, long: duration('P1D')}),
      ({name: 'no label ' + i})-[:`re|l ``x`]->(:`` {name: 'odd'})""".replace("(:`` {name: 'odd'})", "(:`\\n` {name: 'odd'})"))
    found = profile(graph)
    one = label(found, "a`b|c")
    types = {part.key: next(iter(part.types)) for part in one.properties}
    assert (types["at"], types["when"], types["ok"], types["long"]) == ("POINT", "DATE", "BOOLEAN", "DURATION")
    assert one.embeddings == ["vector"] and label(found, "").nodes == 5
    assert next(part.length for part in one.properties if part.key == "text") == 30_000
    assert len(found.model_dump_json()) < 20_000 and "word here word here" not in found.model_dump_json()


@pytest.mark.slow
def test_300_labels_and_1000_types_cost_no_more_queries(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph.write("""UNWIND range(1, 300) AS i
      CREATE (n:$('Label ' + i) {name: 'N' + i})-[:$('TYPE_' + i)]->(m:$('Label ' + (i % 7)) {name: 'M' + i})
      FOREACH (x IN [1, 2, 3] | CREATE (n)-[:$('MORE_' + i + '_' + x)]->(m))""")
    layout = bind(graph, load_profile("generic").layout, None)
    asked: list[str] = []
    real_read, real_stream = Graph.answer, Graph.stream
    monkeypatch.setattr(Graph, "answer", lambda self, request, **more: (asked.append(request.text), real_read(self, request, **more))[1])
    monkeypatch.setattr(Graph, "stream", lambda self, query, *a, **k: (asked.append(str(query)), real_stream(self, query, *a, **k))[1])
    found = engine.profile_graph(graph, layout)
    own = [text for text in asked if not text.startswith("// layout-")]  # the catalogue is what the layout was bound by
    assert (len(found.labels), len(found.types)) == (301, 1200) and len(own) <= 5


@pytest.mark.slow
def test_a_sample_is_the_same_for_a_seed_and_counts_are_of_all(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 3000) AS i CREATE (:Part {name: 'Part ' + toString(i * 7919), size: i % 3})")
    layout = bind(graph, load_profile("generic").layout, None)
    first, second, other = (reads.read_sample(graph, layout, seed=seed) for seed in (1, 1, 2))
    names = [{node.values["name"].text for node in one.nodes} for one in (first, second, other)]
    assert names[0] == names[1] != names[2] and 200 <= len(names[0]) <= 400
    found = profile(graph, seed=1)
    assert (found.labels[0].nodes, found.sampled) == (3000, len(names[0]))


def test_the_command_and_the_function_give_the_same(
    graph: Graph, draw: Callable[[str], None], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw("UNWIND range(1, 12) AS i CREATE (:Ship {name: 'S' + toString(i * 7919)})-[:SAILED_TO]->(:Port {name: 'P' + toString(i * 7877)})")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    file = tmp_path / "p.json"
    assert run(["profile", "--uri", address.uri, "-o", str(file), "-o", str(tmp_path / "p.html")]) == 0
    printed = capsys.readouterr().out
    assert "Kind: hand-made" in printed and "Ship -> Port" in printed
    written = ProfileReport.model_validate_json(file.read_text(encoding="utf-8")).profile
    result = kgeval.profile(graph.driver)
    assert result.profile == written and list(result.to_pandas()["label"]) == ["Port", "Ship"]
    audited = kgeval.audit(graph.driver, checks="isolated-entity", no_structure=True)
    assert audited.report.profile == written.without_properties()
    audited.save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "What this graph is" in page and "Ship is an entity: nothing marks it as" in page


# --- every writer's graph, and graphs that people made ----------------------------------------------------------------------

WRITTEN = {
    "cognee": "extracted", "generic": "hand-made", "graphiti": "memory", "kg-gen": "extracted", "kgeval": "extracted",
    "langchain": "extracted", "langchain-nobase": "extracted", "lightrag": "extracted", "lightrag-1.4": "extracted",
    "llamaindex": "extracted", "llm-graph-builder": "extracted", "ms-graphrag-neo4j": "extracted", "msgraphrag-notebook": "extracted",
    "nano-graphrag": "extracted", "neo4j-agent-memory": "memory", "neo4j-graphrag": "extracted",
}
PASSAGES = {
    "cognee": "DocumentChunk", "graphiti": "Episodic", "kgeval": "Chunk", "langchain": "Document", "langchain-nobase": "Document",
    "llamaindex": "Chunk", "llm-graph-builder": "Chunk", "ms-graphrag-neo4j": "__Chunk__", "msgraphrag-notebook": "__Chunk__",
    "neo4j-agent-memory": "Message", "neo4j-graphrag": "Chunk",
}
KEYWORDS, NOTHING = {"lightrag", "lightrag-1.4"}, {"ms-graphrag-neo4j", "msgraphrag-notebook", "nano-graphrag"}


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_the_graph_of_a_writer(graph: Graph, name: str) -> None:
    for statement in (PICTURES / f"{name}.cypher").read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            graph.write(statement)
    found = profile(graph)
    assert (found.written_by, found.kind) == (name, WRITTEN[name])
    assert [one.label for one in found.labels if one.role == "passage"] == ([PASSAGES[name]] if name in PASSAGES else [])
    assert all(one.name and one.name_because for one in found.labels if one.role == "entity" and one.label not in ("Session", "Message"))
    says = {one.says for one in found.types}
    assert ("keywords" in says) == (name in KEYWORDS) and ("nothing" in says) == (name in NOTHING)


# label -> role, keys, name, whether names identify
MADE: dict[str, tuple[str, dict[str, tuple[str, list[str], list[str], bool | None]]]] = {
    "movies": ("hand-made", {
        "Person": ("entity", ["name"], ["name"], True), "Movie": ("entity", ["title"], ["title"], True),
    }),
    "northwind": ("hand-made", {
        "Order": ("record", ["orderID"], [], None), "Customer": ("entity", ["customerID"], ["companyName"], None),
        "Product": ("entity", ["productID"], ["productName"], None), "Supplier": ("entity", ["supplierID"], ["companyName"], None),
        "Category": ("entity", ["categoryID"], ["categoryName"], None),
    }),
    "entity-resolution": ("hand-made", {
        "User": ("entity", ["userId"], ["firstName", "lastName"], True), "IpAddress": ("entity", ["address"], [], None),
        "Movie": ("entity", ["movieId"], ["title"], None), "Genre": ("value", ["name"], ["name"], True),
    }),
    "stackoverflow": ("hand-made", {
        "Question": ("entity", ["uuid"], ["title"], None), "Answer": ("entity", ["uuid"], ["title"], False),
        "Comment": ("entity", ["uuid"], [], None), "User": ("entity", ["uuid"], ["display_name"], None),
        "Tag": ("value", ["name"], ["name"], True),
    }),
    "skos-neosemantics": ("RDF", {
        "skos__Concept": ("entity", ["uri"], ["skos__prefLabel"], True), "_GraphConfig": ("technical", [], ["_classLabel"], None),
        "_NsPrefDef": ("technical", [], [], None),
    }),
    "code-of-click": ("code", {
        "Function": ("entity", ["id"], ["name"], False), "Class": ("entity", ["id"], ["name"], None),
        "File": ("entity", ["name", "path"], ["name"], None),
    }),
}


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_graph_that_people_made(graph: Graph, name: str) -> None:
    file = PROPERTY_GRAPHS / f"{name}.jsonl.gz"
    if not file.is_file():
        pytest.skip(f"{file} is not on this machine")
    constraints = load_property_graph(graph, file)
    try:
        found = profile(graph)
    finally:
        for constraint in constraints:
            graph.schema_command(f"DROP CONSTRAINT {constraint}")
    kind, labels = MADE[name]
    assert (found.kind, {one.label: (one.role, one.keys, one.name, one.names_identify) for one in found.labels}) == (kind, labels)
    assert all(one.says == "type" and one.directed for one in found.types)
    if name == "code-of-click":
        assert type_(found, "CALLS").tells_apart == ["line"]
    if name == "northwind":
        held = {f"{one.label}.{part.key}": part.formats for one in found.labels for part in one.properties}
        assert held["Order.orderDate"] == {"date": 1.0} and held["Customer.region"]["null word"] > 0.5


# --- what an audit makes of it ------------------------------------------------------------------------------------------------------------


def test_a_duplicate_across_a_type_and_its_subtype_is_found(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("""CREATE (:Person {name: 'Ada Moor'}), (:Person:Employee {name: 'Ada Moor', desk: 1}), (:Person {name: 'Bo Lund'}),
      (:Person:Customer {name: 'Bo Lund'}), (:Town {name: 'Ulm'})""")
    audited = kgeval.audit(graph.driver, checks="duplicate-name,type-conflict", no_structure=True)
    counts = {one.rule_id: one.count for one in audited.findings}
    # a copy beside each first one; what people keep under one name in two types is no conflict
    assert counts == {"duplicate-name": 2, "type-conflict": None}


def test_a_node_without_a_name_is_shown_by_what_tells_it_apart(graph: Graph, draw: Callable[[str], None]) -> None:
    draw("UNWIND range(1, 40) AS i CREATE (:Case {primaryid: 'x' + i, country: ['DE', 'FR'][i % 2]})")
    [finding] = kgeval.audit(graph.driver, checks="isolated-entity", no_structure=True).findings
    assert {item.name for one in finding.examples for item in one.items} == {f"Case x{i}" for i in (1, 10, 11, 12, 13)}
