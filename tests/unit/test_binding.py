"""Roles in Cypher files written for one graph: what each form becomes, and what stays a parameter."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kgeval.graph.binding import MOST, NO_NAME, bind_text
from kgeval.graph.queries import FIELDS, all_queries, blank
from kgeval.records import LabelName, Layout

LAYOUT = Layout(
    name="test", entity_labels=["Person", "Big Place"], entity_excluded_labels=["Mark"], name_keys=["name"], type_key="kind",
    type_label_ignored=["Person"], relation_types=["KNOWS", "IS IN"], mention_types=["FROM"], chunk_labels=["Chunk"],
)


def written(text: str, **update: Any) -> str:
    return bind_text(text, LAYOUT.model_copy(update=update))[0]


@pytest.mark.parametrize(("update", "pattern", "condition"), [
    ({"entity_excluded_labels": []}, "(e:Person|`Big Place`)", "(e:Person|`Big Place`) = true"),
    ({}, "(e:(Person|`Big Place`)&!Mark)", "(e:(Person|`Big Place`)&!Mark) = true"),
    ({"entity_labels": ["A"], "scope_label": "gra`ph"}, "(e:A&!Mark&`gra``ph`)", "(e:A&!Mark&`gra``ph`) = true"),
    ({"entity_labels": [], "entity_excluded_labels": ["X", "Y"]}, f"(e:{NO_NAME}&!(X|Y))", f"(e:{NO_NAME}&!(X|Y)) = true"),
    ({"scope_property": "in graph", "scope_value": "it's"}, "(e:(Person|`Big Place`)&!Mark WHERE e.`in graph` = 'it\\'s')",
     "((e:(Person|`Big Place`)&!Mark) = true AND e.`in graph` = 'it\\'s')"),
])
def test_a_role_in_a_pattern_may_be_looked_up_and_as_a_condition_is_a_value(update: dict[str, Any], pattern: str, condition: str) -> None:
    """A value, so that the planner never begins at it: the labels of an end that relations lead to."""
    assert written("MATCH (e:@Entity) RETURN e", **update) == f"MATCH {pattern} RETURN e"
    assert written("MATCH (a)--(e) WHERE @is(e, Entity) RETURN e", **update) == f"MATCH (a)--(e) WHERE {condition} RETURN e"


def test_other_roles_of_nodes() -> None:
    text = "MATCH (c:@Chunk), (d:@Document), (n:@Node) WHERE @is(c, Node)"
    assert written(text, document_labels=["Doc"]) == "MATCH (c:Chunk), (d:Doc), (n) WHERE true"
    assert written(text, document_labels=["Doc"], scope_label="G") == "MATCH (c:Chunk&G), (d:Doc&G), (n:G) WHERE (c:G) = true"
    assert written("WITH @has_label(a, Excluded) AS x", scope_label="G") == "WITH (a:Mark) AS x"


def test_an_end_is_asked_only_where_relations_join_other_nodes_too() -> None:
    text = "MATCH (a)-[r:@RELATION]->(b)\n  WHERE a <> b AND @is(b, Endpoint)\n  RETURN b"
    assert written(text) == "MATCH (a)-[r:KNOWS|`IS IN`]->(b)\n  WHERE a <> b AND (b:(Person|`Big Place`)&!Mark) = true\n  RETURN b"
    assert written(text, relations_join_entities_only=True) == "MATCH (a)-[r:KNOWS|`IS IN`]->(b)\n  WHERE a <> b\n  RETURN b"
    assert written("MATCH (a:@Endpoint)", relations_join_entities_only=True) == "MATCH (a)"


@pytest.mark.parametrize(("text", "left"), [
    ("MATCH (b) WHERE @is(b, Endpoint) RETURN b", "MATCH (b) RETURN b"),
    ("MATCH (b) WHERE @is(b, Endpoint) AND b.x RETURN b", "MATCH (b) WHERE b.x RETURN b"),
    ("MATCH (b) WHERE b.x\n  AND @is(b, Endpoint)\n  AND b.y RETURN b", "MATCH (b) WHERE b.x\n  AND b.y RETURN b"),
    ("MATCH (b) WHERE NOT @is(b, Endpoint) AND b.x RETURN b", "MATCH (b) WHERE NOT true AND b.x RETURN b"),
    ("MATCH (b) WHERE b.x OR @is(b, Endpoint) RETURN b", "MATCH (b) WHERE b.x OR true RETURN b"),
    ("RETURN any(b IN x WHERE @is(b, Endpoint))", "RETURN any(b IN x WHERE true)"),
    ("RETURN [b IN x WHERE @is(b, Endpoint) | b]", "RETURN [b IN x WHERE true | b]"),
    ("RETURN COUNT { (a)--(b) WHERE @is(b, Endpoint) }", "RETURN COUNT { (a)--(b) WHERE true }"),
    ("RETURN @is(b, Endpoint) AS x", "RETURN true AS x"),
])
def test_what_always_holds_is_left_out_where_nothing_else_changes(text: str, left: str) -> None:
    assert written(text, relations_join_entities_only=True) == left


def test_types_expand_in_a_pattern_and_are_a_condition_elsewhere() -> None:
    assert written("MATCH (a)-[r:@RELATION]-(b)<-[m:@MENTION]-(c)") == "MATCH (a)-[r:KNOWS|`IS IN`]-(b)<-[m:FROM]-(c)"
    assert written("MATCH (a)-[r]-(b) WHERE @is(r, RELATION)") == "MATCH (a)-[r]-(b) WHERE type(r) IN ['KNOWS', 'IS IN']"
    assert written("MATCH (a)-[r:@RELATION]-(b) WHERE @is(r, IN_DOCUMENT)", relation_types=[]) == (
        f"MATCH (a)-[r:{NO_NAME}]-(b) WHERE type(r) IN ['{NO_NAME}']"
    ), "no type means none, not any"


@pytest.mark.parametrize(("keys", "wanted"), [
    ([], "null"), (["name"], "toStringOrNull(e.name)"), (["n`", "id"], "toStringOrNull(coalesce(e.`n```, e.id))"),
])
def test_a_name_is_the_first_of_the_properties_that_is_there(keys: list[str], wanted: str) -> None:
    assert written("RETURN @name(e)", name_keys=keys) == written("RETURN @shown(e)", name_keys=keys) == f"RETURN {wanted}"


def test_names_by_label_come_one_after_the_other() -> None:
    by_label = [LabelName(label="Person", keys=["first", "last"]), LabelName(label="Order", keys=["no"], is_id=True)]
    names = [*by_label, LabelName(keys=["title"])]
    first, last, number, title = (f"toStringOrNull(e.{key})" for key in ("first", "last", "no", "title"))
    person = (
        f"WHEN (e:Person) = true AND ({first} IS NOT NULL OR {last} IS NOT NULL) "
        f"THEN trim(coalesce({first} + ' ', '') + coalesce({last} + ' ', ''))"
    )
    order = f"WHEN (e:Order) = true AND ({number} IS NOT NULL) THEN 'Order ' + trim({number})"
    other = f"WHEN {title} IS NOT NULL THEN trim({title})"
    assert written("@shown(e)", label_names=names) == f"CASE {person} {order} {other} END"
    assert written("@name(e)", label_names=names) == f"CASE {person} {other} END", "an id is no name"
    nothing = [LabelName(label="Spot", is_id=True), LabelName(keys=["uuid"], is_id=True)]
    uuid = "toStringOrNull(e.uuid)"
    assert written("@shown(e)", label_names=nothing) == f"CASE WHEN {uuid} IS NOT NULL THEN trim({uuid}) END", "nothing is no case"
    assert written("@name(e)", label_names=nothing) == "null"


def test_what_a_report_calls_a_node_is_never_empty() -> None:
    assert written("@display(e)", name_keys=["name"]) == "head([d_ IN [toStringOrNull(e.name), elementId(e)] WHERE trim(d_) <> ''])"
    lorry, on = (f"coalesce(', {key}=' + left(toStringOrNull(e.{key}), 60), '')" for key in ("lorry", "on"))
    described = f"CASE WHEN (e:Transport) = true THEN substring({lorry} + {on}, 2) END"
    assert written("@display(e)", label_names=[LabelName(label="Transport", is_id=True)], label_details={"Transport": ["lorry", "on"]}) == (
        f"head([d_ IN [{described}, elementId(e)] WHERE trim(d_) <> ''])"
    )
    unwritten = {"A\\": ["x"], "B": ["y\n"]}
    assert written("@display(e)", name_keys=[], label_details=unwritten) == "head([d_ IN [elementId(e)] WHERE trim(d_) <> ''])"


def test_a_type_is_ranked_only_where_labels_stand_together() -> None:
    first = "head([l_ IN labels(e) WHERE NOT l_ IN ['Person']])"
    assert written("@type(e)") == f"coalesce(toStringOrNull(e.kind), {first})"
    assert written("@kind(labels(e))", type_label_ignored=[]) == "head(labels(e))"
    assert written("@type(e)", type_key=None, type_label_rank={"Big Place": 1, "Inn": 0}) == (
        f"CASE WHEN (e:Inn) = true THEN 'Inn' WHEN (e:`Big Place`) = true THEN 'Big Place' ELSE {first} END"
    )
    assert written("@kind(found)", type_label_ignored=[], type_label_rank={"Inn": 0}) == (
        "CASE WHEN 'Inn' IN found THEN 'Inn' ELSE head(found) END"
    )


def test_fields_are_properties_conditions_and_values() -> None:
    text = "r.@valid_to_key, @valid_to_key IS NULL, @valid_to_key IS NOT NULL, r[@valid_to_key], @alias_keys, @source_limit"
    assert written(text, valid_to_key="to day", alias_keys=["a'b"], source_limit=3) == (
        "r.`to day`, false, true, r['to day'], ['a\\'b'], 3"
    )
    assert written(text) == "null, true, false, r[null], [], null"


def test_nothing_is_put_into_texts_and_comments() -> None:
    text = "// @name(e)\nRETURN '@name(e)', \"(e:@Entity)\", `e.@type_key` /* @type(e) */"
    assert written(text) == text


@pytest.mark.parametrize("names", [["a\\u0060b"], ["a\0b"], [""], ["two\nlines"], [f"L{at}" for at in range(MOST + 1)]])
def test_what_cannot_stand_in_a_text_stays_a_parameter(names: list[str]) -> None:
    for text, field, general in (
        ("MATCH (e:@Entity)", "entity_labels", "MATCH (e:!Mark WHERE any(l_ IN labels(e) WHERE l_ IN $entity_labels))"),
        ("@is(e, Entity)", "entity_labels", "((e:!Mark) = true AND any(l_ IN labels(e) WHERE l_ IN $entity_labels))"),
        ("(a)-[r:@RELATION]->(b)", "relation_types", "(a)-[r WHERE type(r) IN $relation_types]->(b)"),
        ("@is(r, RELATION)", "relation_types", "type(r) IN $relation_types"),
        ("@name(e)", "name_keys", "head([k_ IN $name_keys WHERE e[k_] IS NOT NULL | toStringOrNull(e[k_])])"),
        ("@aliases(e)", "alias_keys", "reduce(all_ = [], k_ IN $alias_keys | all_ + CASE"),
    ):
        if names == [""] and text == "@is(r, RELATION)":
            continue  # no name, and a text like any other
        bound, left = bind_text(text, LAYOUT.model_copy(update={field: names}))
        assert bound.startswith(general)
        assert left == {field: names}
    if len(names) == 1 and names[0]:
        bound, left = bind_text("e.@type_key", LAYOUT.model_copy(update={"type_key": names[0]}))
        assert (bound, left) == ("e[$type_key]", {"type_key": names[0]})


def test_a_name_that_looks_like_a_form_stays_a_name() -> None:
    assert written("MATCH (e:@Entity) WHERE e.@type_key IS NULL", entity_labels=["@Entity)"], type_key="@is(e, Entity)") == (
        "MATCH (e:`@Entity)`&!Mark) WHERE e.`@is(e, Entity)` IS NULL"
    )


@pytest.mark.slow
def test_every_query_keeps_its_brackets_and_asks_no_parameter_but_its_own_and_what_is_left() -> None:
    for query in (query for query in all_queries().values() if query.speaks_roles):
        for update in ({}, {"scope_label": "G", "source_separator": "|"}, {"relations_join_entities_only": True, "type_key": None}):
            for most in (MOST, 0):
                text, left = bind_text(query.text, LAYOUT.model_copy(update=update), most=most)
                code = blank(text)
                assert [code.count(bracket) for bracket in "({["] == [code.count(bracket) for bracket in ")}]"], query.name
                asked = set(re.findall(r"\$(?!(?:any|all)\b)(\w+)", code))
                assert asked & FIELDS == set(left), query.name
                assert asked - FIELDS <= {parameter.name for parameter in query.params}, query.name
                assert "@" not in code and "\0" not in text, query.name
