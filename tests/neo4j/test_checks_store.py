"""missing-index: what the layout's readers rely on against what the database has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.steps.missing_index import ExpectedIndex, lack, parse
from kgeval.graph.connect import Graph
from kgeval.records import Finding, Layout

LOOKUPS = Layout(name="lookups", entity_labels=["__Entity__"], expected_indexes=["__Entity__.id", "Chunk.id", "Absent.id"])
SEARCHES = Layout(name="searches", entity_labels=["base"], expected_indexes=["vector:base.embedding", "fulltext:base.entity_id"])


@pytest.fixture
def indexed(graph: Graph) -> Iterator[Graph]:
    """The graph, with every index of the test dropped at the end."""
    yield graph
    for row in graph.read("SHOW INDEXES YIELD name, type, owningConstraint WHERE type <> 'LOOKUP' RETURN name, owningConstraint"):
        kind = "CONSTRAINT" if row["owningConstraint"] else "INDEX"
        graph.schema_command(f"DROP {kind} `{row['owningConstraint'] or row['name']}`")


def faults(finding: Finding) -> list[str | None]:
    assert finding.status in ("passed", "failed"), finding.reason
    return [example.why for example in finding.examples]


def test_an_empty_database_relies_on_nothing_even_where_indexes_are_left(indexed):
    indexed.schema_command("CREATE INDEX left_over IF NOT EXISTS FOR (e:__Entity__) ON (e.other)")
    finding = run_check(indexed, LOOKUPS, "missing-index")
    assert (finding.status, finding.count) == ("skipped", None)
    assert finding.reason.startswith("there is nothing to look at: 0 ")


def test_an_absent_index_is_named_and_unused_labels_are_not(graph, draw):
    draw("CREATE (:__Entity__ {id: 'a'})-[:FROM_CHUNK]->(:Chunk {id: 1})")
    finding = run_check(graph, LOOKUPS, "missing-index")
    assert (finding.count, finding.total) == (2, 2)
    assert faults(finding) == ["there is no lookup index on __Entity__.id", "there is no lookup index on Chunk.id"]


def test_a_plain_index_or_a_constraint_answers_and_a_composite_one_does_not(indexed, draw):
    draw("CREATE (:__Entity__ {id: 'a', x: 1})-[:FROM_CHUNK]->(:Chunk {id: 1})")
    indexed.schema_command("CREATE INDEX both FOR (c:Chunk) ON (c.id, c.x)")
    indexed.schema_command("CREATE CONSTRAINT one FOR (e:__Entity__) REQUIRE e.id IS UNIQUE")
    assert faults(run_check(indexed, LOOKUPS, "missing-index")) == ["there is no lookup index on Chunk.id"]
    indexed.schema_command("CREATE INDEX alone FOR (c:Chunk) ON (c.id)")
    indexed.schema_command("CALL db.awaitIndexes()")
    assert run_check(indexed, LOOKUPS, "missing-index").status == "passed"


@pytest.mark.both_lines
@pytest.mark.long
def test_vector_and_fulltext_indexes_of_another_layout(indexed, draw):
    draw("CREATE (:base {entity_id: 'a'})")
    indexed.schema_command("CREATE INDEX plain FOR (n:base) ON (n.entity_id)")
    assert len(faults(run_check(indexed, SEARCHES, "missing-index"))) == 2
    indexed.schema_command("CREATE VECTOR INDEX v FOR (n:base) ON n.embedding OPTIONS {indexConfig: {`vector.dimensions`: 3}}")
    indexed.schema_command("CREATE FULLTEXT INDEX f FOR (n:base|Other) ON EACH [n.entity_id, n.x]")
    indexed.schema_command("CALL db.awaitIndexes()")
    assert faults(run_check(indexed, SEARCHES, "missing-index")) == []


def test_an_index_that_is_not_online_is_a_fault():
    index = {"type": "RANGE", "entity_type": "NODE", "labels": ["A"], "properties": ["id"], "state": "FAILED"}
    assert lack(parse("A.id"), [index]) == "the lookup index on A.id is failed, not online"


def test_entries_name_kind_label_and_property():
    assert parse("vector:My.Label.x") == ExpectedIndex("vector", "My.Label", "x")
    assert parse("a:b.x") == ExpectedIndex("lookup", "a:b", "x")
