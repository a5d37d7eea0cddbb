"""Layouts' names put into queries: what is written, what stays as it is, and where a relation's types become part of its pattern."""

from __future__ import annotations

import re

import pytest

from kgeval.graph.binding import MOST, NO_LABEL, bound
from kgeval.graph.queries import all_queries, blank, with_roles
from kgeval.records import LabelName, Layout

LAYOUT = Layout(
    name="test", entity_labels=["Person", "Big Place"], entity_excluded_labels=["Mark"], name_keys=["name"], type_key="kind",
    type_label_ignored=["Person"], relation_types=["KNOWS", "IS IN"], mention_types=["FROM"], chunk_labels=["Chunk"],
)


def changed(text: str, **update: object) -> str:
    return bound(with_roles(text), LAYOUT.model_copy(update=update))


def test_an_entity_is_a_condition_on_labels_of_which_the_planner_makes_an_index_scan() -> None:
    assert changed("MATCH (e) WHERE @is(e, Entity) RETURN e", scope_label="gra`ph") == (
        "MATCH (e) WHERE ((e:Person|`Big Place`)\n  AND (NOT e:Mark)\n  AND (e:`gra``ph`)\n"
        "  AND (true OR null = $layout.scope_value)) RETURN e"
    )


@pytest.mark.parametrize(("keys", "wanted"), [
    ([], "null"), (["name"], "toStringOrNull(e.name)"),
    (["n`", "id"], "CASE WHEN e.`n``` IS NOT NULL THEN toStringOrNull(e.`n```) WHEN e.id IS NOT NULL THEN toStringOrNull(e.id) END"),
])
def test_a_name_is_the_first_of_the_properties_that_is_there(keys: list[str], wanted: str) -> None:
    assert changed("RETURN @name(e)", name_keys=keys) == changed("RETURN @shown(e)", name_keys=keys) == f"RETURN {wanted}"


def test_names_by_label_are_asked_as_they_were() -> None:
    text = "RETURN @shown(e)"
    assert changed(text, label_names=[LabelName(label="Person", keys=["first", "last"])]) == with_roles(text)


def test_a_type_is_ranked_only_where_labels_stand_together() -> None:
    assert changed("RETURN @type(e)") == (
        "RETURN coalesce(toStringOrNull(e.kind), head([l_ IN labels(e) WHERE NOT l_ IN $layout.type_label_ignored]))"
    )
    assert "$layout.type_label_rank" in changed("RETURN @type(e)", type_label_rank={"Person": 0, "Big Place": 1})


@pytest.mark.parametrize("names", [["a\\u0060b"], ["a\0b"], [""], ["e[$layout.type_key]"], [f"L{at}" for at in range(MOST + 1)]])
def test_what_cannot_stand_in_a_text_stays_a_parameter(names: list[str]) -> None:
    for text, role in (
        ("MATCH (e) WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels) RETURN e", "entity_labels"),
        ("COUNT { (e)-[r]->() WHERE type(r) IN $layout.relation_types }", "relation_types"),
        ("RETURN @name(e)", "name_keys"),
    ):
        assert changed(text, **{role: names}) == with_roles(text)
    if len(names) == 1:
        assert changed("RETURN e[$layout.type_key]", type_key=names[0]) == "RETURN e[$layout.type_key]"


def test_no_node_has_one_of_no_labels_and_no_relation_type_means_none_not_any() -> None:
    text = "WHERE any(l IN labels(e) WHERE l IN $layout.chunk_labels) AND none(l IN labels(e) WHERE l IN $layout.chunk_labels)"
    assert changed(text, chunk_labels=[]) == f"WHERE (e:{NO_LABEL}) AND true"
    text = "COUNT { (e)-[r]->() WHERE type(r) IN $layout.relation_types }"
    assert changed(text, relation_types=[]) == text


@pytest.mark.parametrize(("text", "wanted"), [
    ("CALL (a) { MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types RETURN r }",
     "CALL (a) { MATCH (a)-[r:KNOWS|`IS IN`]->(b) WHERE true RETURN r }"),
    ("CALL (x, b) { MATCH (a)-[r]-(b) WHERE a <> b AND type(r) IN $layout.relation_types AND (a.x OR b.x) WITH r",
     "CALL (x, b) { MATCH (a)-[r:KNOWS|`IS IN`]-(b) WHERE a <> b AND true AND (a.x OR b.x) WITH r"),
    ("CALL (s) { UNWIND s AS a MATCH (a)-[r]-(b) WHERE r.x IS NOT NULL AND type(r) IN $layout.relation_types WITH r WHERE r.x OR r.y",
     "CALL (s) { UNWIND s AS a MATCH (a)-[r:KNOWS|`IS IN`]-(b) WHERE r.x IS NOT NULL AND true WITH r WHERE r.x OR r.y"),
    ("COUNT { (e)-[r]-() WHERE type(r) IN $layout.relation_types } > 0 OR e.x", "COUNT { (e)-[r:KNOWS|`IS IN`]-() WHERE true } > 0 OR e.x"),
    ("WITH {a: 1} AS n WHERE EXISTS { MATCH (e)-[m]-(c)-[r]-(d) WHERE type(m) IN $layout.mention_types "
     "AND type(r) IN $layout.relation_types }",
     "WITH {a: 1} AS n WHERE EXISTS { MATCH (e)-[m:FROM]-(c)-[r:KNOWS|`IS IN`]-(d) WHERE true AND true }"),
])
def test_types_that_a_relation_must_have_are_part_of_its_pattern(text: str, wanted: str) -> None:
    assert changed(text) == wanted


@pytest.mark.parametrize("text", [
    "MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types OR a.x RETURN r",
    "MATCH (a)-[r]->(b) WHERE a.x OR type(r) IN $layout.relation_types RETURN r",
    "MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types AND a.x STARTS WITH 'y' OR a.z RETURN r",
    "MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types AND a.x XOR a.z RETURN r",
    "MATCH (a)-[r]->(b) WHERE NOT type(r) IN $layout.relation_types RETURN r",
    "MATCH (a)-[r]->(b) WHERE a.x AND (b.x OR type(r) IN $layout.relation_types) RETURN r",
    "MATCH (a)-[r]->(b) WITH r WHERE type(r) IN $layout.relation_types RETURN r",
    "MATCH (a)-[r]->(b) RETURN type(r) IN $layout.relation_types AS known",
    "MATCH (a)-[r]->(b) WHERE CASE WHEN type(r) IN $layout.relation_types THEN true END RETURN r",
    "MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types + ['MORE'] RETURN r",
    "MATCH (a)-[r*1..3]->(b) WHERE type(r) IN $layout.relation_types RETURN r",
])
def test_types_that_a_relation_need_not_have_stay_a_condition(text: str) -> None:
    assert changed("CALL (a) { " + text) == "CALL (a) { " + text


@pytest.mark.parametrize("before", [
    "", "CALL () { ", "CALL (c) { ", "WITH {x: 1} AS m ", "CALL (a) { RETURN 1 AS c } ", "CALL () { MATCH (a) RETURN 1 AS c } ",
])
def test_a_look_at_all_relations_stays_one(before: str) -> None:
    text = before + "MATCH (a)-[r]->(b) WHERE type(r) IN $layout.relation_types RETURN r"
    assert changed(text) == text


IS_CHUNK = (
    "any(l IN labels({0}) WHERE l IN $layout.chunk_labels) AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels({0}))"
    " AND none(l IN labels({0}) WHERE l IN $layout.entity_excluded_labels)"
)
LIKE_CYPHER = {
    "chunk_labels": ["TRADE_UNION", "x (b)", "MATCH (b) AS b"], "scope_label": "a UNION {", "entity_excluded_labels": ["(a)-[r]->(b)"],
}
WRITTEN = "({0}:TRADE_UNION|`x (b)`|`MATCH (b) AS b`)", "({0}:`a UNION {{`)", "(NOT {0}:`(a)-[r]->(b)`)"


@pytest.mark.parametrize("pattern", [
    "CALL (a) {{ MATCH (a)-[r]->(b) WHERE {}", "CALL (a) {{ MATCH (b)<-[r]-(a) WHERE {}",
    "CALL (s) {{ UNWIND s AS a MATCH (b)-[r]-(a) WHERE {}",
    "MATCH (a) WITH a, NOT EXISTS {{ MATCH (a)-[r]-(b) WHERE b <> a AND (a.x OR {}", "MATCH (a) RETURN COUNT {{ (a)-[r]-(b) WHERE {}",
    "MATCH (a) CALL (a) {{ MATCH (a)-[m]-(c)-[d]-(b) WHERE {}", "CALL () {{ MATCH (a) WITH a LIMIT 1 MATCH (a)-[r]->(b) WHERE {}",
])
def test_labels_of_a_node_that_relations_lead_to_are_no_index_to_begin_at(pattern: str) -> None:
    labels, scope, excluded = (written.format("b") for written in WRITTEN)
    wanted = f"({labels} = true) AND ({scope} = true) AND {excluded}"
    assert changed(pattern.format(IS_CHUNK.format("b")), **LIKE_CYPHER) == pattern.format(wanted)


@pytest.mark.parametrize(("pattern", "node"), [
    ("MATCH (a)-[r]->(b) WHERE {}", "b"), ("CALL (a) {{ MATCH (a)-[r]->(b) WHERE {}", "a"),
    ("CALL (a, b) {{ MATCH (a)-[r]->(b) WHERE {}", "b"),
    ("CALL () {{ MATCH (a)-[r]->(b) WHERE {}", "b"), ("MATCH (a) CALL (x) {{ MATCH (b) WHERE {}", "b"),
    ("MATCH (a)-[r]->(a) RETURN r UNION ALL MATCH (a)-[r]->(b) WHERE {}", "b"),
    ("RETURN EXISTS {{ MATCH (a)-[r]->(b) }} AS x, EXISTS {{ MATCH (a)-[r]->(b) WHERE {}", "b"),
])
def test_other_labels_are_one(pattern: str, node: str) -> None:
    assert changed(pattern.format(IS_CHUNK.format(node)), **LIKE_CYPHER) == pattern.format(" AND ".join(WRITTEN).format(node))


@pytest.mark.slow
def test_every_query_of_an_audit_keeps_its_brackets_and_asks_no_other_parameter() -> None:
    for query in all_queries().values():
        for update in ({}, {"scope_label": "G", "source_separator": "|"}, {"relations_join_entities_only": True, "type_key": None}):
            text = blank(bound(query.text, LAYOUT.model_copy(update=update)))
            assert [text.count(bracket) for bracket in "({["] == [text.count(bracket) for bracket in ")}]"], query.name
            assert set(re.findall(r"\$(\w+)", text)) <= set(re.findall(r"\$(\w+)", blank(query.text))), query.name
