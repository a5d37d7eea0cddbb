"""Checks of the group schema: what a schema says against what a small graph holds."""

from __future__ import annotations

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.schema import GraphSchema, PropertySpec, TypeSpec, from_constraints, read_schema
from kgeval.records import Finding, Layout

PLAIN = Layout(
    name="plain", entity_labels=["__Entity__"], type_label_ignored=["__Entity__"], name_keys=["name"],
    relation_types=["KNOWS", "WORKS_AT", "LIKES"], relations_join_entities_only=True,
)
TYPED = Layout(
    name="typed", entity_labels=["base"], name_keys=["entity_id"], type_key="entity_type", scope_label="base",
    relation_types=["DIRECTED"], relation_label_key="keywords",
)
SCHEMA = GraphSchema(
    source="schema.toml",
    node_types=[
        TypeSpec(label="Person", properties=[PropertySpec(name="name", types=["STRING"], required=True),
                                             PropertySpec(name="born", types=["INTEGER"])]),
        TypeSpec(label="Company", properties=[PropertySpec(name="worth", types=["FLOAT"]),
                                              PropertySpec(name="tags", types=["LIST<STRING>"])]),
    ],
    relation_types=[
        TypeSpec(label="KNOWS"),
        TypeSpec(label="WORKS_AT", properties=[PropertySpec(name="since", types=["DATE"], required=True)]),
    ],
    patterns=[("Person", "KNOWS", "Person"), ("Person", "WORKS_AT", "Company")],
)
RULES = ["undeclared-type", "undeclared-relation", "pattern-violation", "missing-required-property", "property-type-mismatch"]


def check(graph, rule: str, layout: Layout = PLAIN, schema: GraphSchema = SCHEMA) -> Finding:
    finding = run_check(graph, layout, rule, schema=schema.parameters())
    assert finding.status in ("passed", "failed"), finding.reason
    return finding


def found(finding: Finding) -> list[tuple[str, str | None]]:
    return [(example.items[0].name, example.why) for example in finding.examples]


@pytest.mark.parametrize("rule", RULES)
def test_without_a_schema_the_check_is_skipped_with_the_reason(graph, draw, rule):
    draw("CREATE (:__Entity__:Person {name: 'Ada'})-[:KNOWS]->(:__Entity__:Person {name: 'Bob'})")
    finding = run_check(graph, PLAIN, rule)
    assert finding.status == "skipped"
    assert "no schema given (--schema FILE" in (finding.reason or "")


@pytest.mark.parametrize("layout", [PLAIN, TYPED], ids=["plain", "typed"])
@pytest.mark.parametrize("rule", RULES)
def test_an_empty_database_breaks_no_schema(graph, rule, layout):
    finding = run_check(graph, layout, rule, schema=SCHEMA.parameters())
    assert (finding.status, finding.count) == ("skipped", None)


@pytest.mark.parametrize("rule", RULES)
def test_a_graph_that_follows_the_schema_passes(graph, draw, rule):
    draw("""CREATE (a:__Entity__:Person {name: 'Ada', born: 1815})-[:KNOWS]->(:__Entity__:Person {name: 'Bob'}),
              (a)-[:WORKS_AT {since: date('1840-01-01')}]->(:__Entity__:Company {name: 'Acme', worth: 5, tags: ['x']}),
              (:__Entity__:Company {tags: []})""")
    finding = check(graph, rule)
    assert (finding.status, finding.count) == ("passed", 0)
    assert finding.total


def test_an_undeclared_type_is_named_and_an_untyped_entity_is_not_its_business(graph, draw):
    draw("""CREATE (:__Entity__:Persn {name: 'Ada'})-[:KNOWS]->(:__Entity__:Person:Robot {name: 'Bob'}),
                   (:__Entity__:Person {name: 'Eve'}), (:__Entity__ {name: 'untyped'})""")
    finding = check(graph, "undeclared-type")
    assert (finding.count, finding.total) == (2, 4)
    assert found(finding) == [
        ("Ada", "the schema has no type Persn (1 such entities)"), ("Bob", "the schema has no type Robot (1 such entities)"),
    ]


def test_an_open_schema_allows_further_types_and_says_that_it_cannot_judge(graph, draw):
    draw("CREATE (:__Entity__:Robot)")
    opened = SCHEMA.model_copy(update={"open_types": True})
    assert check(graph, "undeclared-type", schema=opened).count == 0
    assert opened.unanswered() == {"undeclared-type": "schema.toml allows further entity types"}


def test_an_undeclared_relation_is_found(graph, draw):
    draw("""CREATE (a:__Entity__ {name: 'Ada'})-[:LIKES]->(b:__Entity__ {name: 'Bob'}), (a)-[:KNOWS]->(b), (a)-[:LIKES]->(:Chunk)""")
    finding = check(graph, "undeclared-relation", PLAIN.model_copy(update={"relations_join_entities_only": False}))
    assert (finding.count, finding.total, finding.share) == (1, 2, 0.5)
    assert found(finding) == [("Ada -[LIKES]-> Bob", "the schema has no relation LIKES (1 such relations)")]


def test_types_and_relations_held_in_properties_are_read(graph, draw):
    draw("""CREATE (:base {entity_id: 'Ada', entity_type: 'Person'})-[:DIRECTED {keywords: 'KNOWS'}]->
                     (:base {entity_id: 'X', entity_type: 'Robot'}), (:other),
                   (:base {entity_id: 'Y', entity_type: 'Person'})-[:DIRECTED {keywords: 'ADMIRES'}]->(:base {entity_id: 'Z'})""")
    assert found(check(graph, "undeclared-type", TYPED)) == [("X", "the schema has no type Robot (1 such entities)")]
    finding = check(graph, "undeclared-relation", TYPED)
    assert (finding.count, finding.total) == (1, 2)
    assert found(finding) == [("Y -[ADMIRES]-> Z", "the schema has no relation ADMIRES (1 such relations)")]


def test_a_reversed_relation_violates_the_pattern_and_says_so(graph, draw):
    draw("""CREATE (c:__Entity__:Company {name: 'Acme'})-[:WORKS_AT]->(a:__Entity__:Person {name: 'Ada'})-[:WORKS_AT]->(c),
                   (c)-[:KNOWS]->(:__Entity__:Company {name: 'Corp'}), (a)-[:LIKES]->(c), (a)-[:KNOWS]->(:__Entity__:Robot)""")
    finding = check(graph, "pattern-violation")
    assert (finding.count, finding.total) == (2, 3)
    assert found(finding) == [
        ("Acme -[KNOWS]-> Corp", "the schema does not allow Company -[KNOWS]-> Company (1 such relations)"),
        ("Acme -[WORKS_AT]-> Ada", "the schema does not allow Company -[WORKS_AT]-> Person, but allows the reverse (1 such relations)"),
    ]


def test_patterns_are_read_from_property_layouts_too(graph, draw):
    draw("""CREATE (:base {entity_id: 'Ada', entity_type: 'Person'})-[:DIRECTED {keywords: 'WORKS_AT'}]->
                     (:base {entity_id: 'B', entity_type: 'Person'})""")
    assert check(graph, "pattern-violation", TYPED).count == 1


def test_absent_required_properties_of_entities_and_relations_are_counted(graph, draw):
    draw("""CREATE (a:__Entity__:Person {name: 'Ada'})-[:WORKS_AT]->(c:__Entity__:Company),
                   (:__Entity__:Person {born: 1}), (a)-[:WORKS_AT {since: date('1840-01-01')}]->(c)""")
    finding = check(graph, "missing-required-property")
    assert (finding.count, finding.total) == (2, 4)
    (nameless, whys), (employed, since) = found(finding)
    assert (nameless, whys) == (finding.examples[0].items[0].element_id, "no name, which Person requires (1 such)")
    assert employed.startswith("Ada -[WORKS_AT]-> ") and since == "no since, which WORKS_AT requires (1 such)"


def test_required_properties_of_types_in_properties_are_counted(graph, draw):
    draw("CREATE (:base {entity_type: 'Person'}), (:base {entity_type: 'Company'}), (:base {entity_type: 'Person', name: 'x'})")
    assert (check(graph, "missing-required-property", TYPED).count, check(graph, "missing-required-property", TYPED).total) == (1, 2)


def test_values_of_another_type_than_declared_are_found(graph, draw):
    draw("""CREATE (:__Entity__:Person {name: 'Ada', born: '1815'}), (:__Entity__:Person {name: ['B']}),
                   (:__Entity__:Company {worth: 1.5, tags: [1]}), (a:__Entity__)-[:WORKS_AT {since: 1840}]->(a)""")
    finding = check(graph, "property-type-mismatch")
    assert (finding.count, finding.total) == (4, 6)
    assert [why for _, why in found(finding)] == [
        "Company.tags is LIST<INTEGER>, declared LIST<STRING> (1 such values)",
        "Person.born is STRING, declared INTEGER (1 such values)",
        "Person.name is LIST<STRING>, declared STRING (1 such values)",
        "WORKS_AT.since is INTEGER, declared DATE (1 such values)",
    ]


@pytest.mark.both_lines
@pytest.mark.parametrize("rule", ["missing-required-property", "property-type-mismatch"])
def test_nodes_and_relations_are_told_apart_where_the_key_is_the_name(graph, draw, rule):
    """The writers' layouts list their key as a name: read twice of what is a node or a relation, the server took one for the other."""
    draw("""CREATE (a:__Entity__:Person {name: 'Ada', born: '1815'})-[:KNOWS]->(b:__Entity__:Person {born: 1900}),
      (a)-[:WORKS_AT {since: 'long'}]->(c:__Entity__:Company {name: 'Acme'}), (b)-[:WORKS_AT]->(c)""")
    finding = check(graph, rule, PLAIN.model_copy(update={"key_property": "name"}))
    nameless = graph.read("MATCH (p:Person) WHERE p.name IS NULL RETURN elementId(p) AS id")[0]["id"]
    kinds = {(one.items[0].kind, one.items[0].key) for one in finding.examples}
    assert kinds == {
        "missing-required-property": {("entity", nameless), ("relation", f"{nameless} -[WORKS_AT]-> Acme")},
        "property-type-mismatch": {("entity", "Ada"), ("relation", "Ada -[WORKS_AT]-> Acme")},
    }[rule]


def test_the_databases_constraints_are_a_schema(graph, draw):
    graph.schema_command("CREATE CONSTRAINT kg_person IF NOT EXISTS FOR (p:Person) REQUIRE p.id IS UNIQUE")
    try:
        schema = read_schema("database", graph)
    finally:
        graph.schema_command("DROP CONSTRAINT kg_person")
    draw("CREATE (:__Entity__:Person {id: 1}), (:__Entity__:Person)")
    assert (check(graph, "missing-required-property", schema=schema).count, schema.open_types) == (1, True)


def test_graph_types_and_property_types_in_constraints_are_read():
    node = {"entityType": "NODE", "labelsOrTypes": ["P"], "properties": ["x"]}
    relation = {"entityType": "RELATIONSHIP", "labelsOrTypes": ["R"]}
    rows = [
        {"type": "NODE_PROPERTY_TYPE", **node, "propertyType": "INTEGER | STRING"},
        {"type": "NODE_PROPERTY_EXISTENCE", **node, "propertyType": None},
        {"type": "RELATIONSHIP_SOURCE_LABEL", **relation, "properties": None, "enforcedLabel": "P"},
        {"type": "RELATIONSHIP_TARGET_LABEL", **relation, "properties": None, "enforcedLabel": "Q"},
    ]
    schema = from_constraints(rows)
    assert schema.patterns == [("P", "R", "Q")]
    assert schema.node_types[0].properties == [PropertySpec(name="x", types=["INTEGER", "STRING"], required=True)]
    assert not schema.open_patterns
