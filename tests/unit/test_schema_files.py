"""The three forms of a schema, and every way in which a file can be wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kgeval.auditing.schema import GraphSchema, PropertySpec, from_constraints, from_file, read_schema
from kgeval.errors import InputError
from kgeval.text.schema_types import property_types

DOCS = Path(__file__).parents[2] / "docs" / "schema-files.md"


def written(folder: Path, name: str, text: str) -> GraphSchema:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return from_file(path)


def in_docs(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.mark.parametrize(("language", "name"), [("json", "s.json"), ("yaml", "s.yaml"), ("toml", "s.toml")])
def test_the_examples_in_the_docs_say_the_same(tmp_path, language, name):
    schema = written(tmp_path, name, in_docs(language))
    assert [t.label for t in schema.node_types] == ["Person", "Company"]
    assert schema.patterns == [("Person", "WORKS_AT", "Company")]
    assert schema.node_types[0].properties[0] == PropertySpec(name="name", types=["STRING"], required=True)
    assert (schema.open_types, schema.open_relations, schema.open_patterns) == (False, False, False)
    assert schema.source == name


def test_constraints_make_properties_required(tmp_path):
    schema = written(tmp_path, "s.json", in_docs("json"))
    assert schema.node_types[1].properties == [PropertySpec(name="name", required=True)]
    assert schema.parameters()["node_required"] == [{"label": "Person", "property": "name"}, {"label": "Company", "property": "name"}]


def test_what_is_not_declared_is_open_unless_the_file_says_otherwise(tmp_path):
    schema = written(tmp_path, "a.json", '{"node_types": ["A"]}')
    assert (schema.open_types, schema.open_relations, schema.open_patterns) == (False, True, True)
    assert set(schema.unanswered()) == {"undeclared-relation", "pattern-violation", "missing-required-property", "property-type-mismatch"}
    assert not written(tmp_path, "b.toml", "open_relations = false\n[types.A]").open_relations


def test_patterns_may_be_objects_and_repeated_ones_count_once(tmp_path):
    pattern = {"source": "A", "relationship": "R", "target": "A"}
    text = json.dumps({"node_types": ["A"], "relationship_types": ["R"], "patterns": [pattern, ["A", "R", "A"]]})
    assert written(tmp_path, "s.json", text).patterns == [("A", "R", "A")]


def test_unknown_keys_of_other_versions_are_left_alone_in_json(tmp_path):
    assert written(tmp_path, "s.json", '{"node_types": [{"label": "A", "new": 1}], "newer": {}}').node_types[0].label == "A"


def test_all_faults_are_named_at_once(tmp_path):
    text = json.dumps({
        "node_types": ["A", "A"], "relationship_types": ["R"], "patterns": [["A", "S", "B"]],
        "constraints": [{"type": "KEY", "node_type": "C", "property_name": "x"}],
    })
    with pytest.raises(InputError) as caught:
        written(tmp_path, "s.json", text)
    assert list(caught.value.faults) == [
        "node_types: 'A' is declared 2 times", "patterns.0: there is no node type 'B'",
        "patterns.0: there is no relationship type 'S'", "constraints.0: 'C' is not declared",
    ]


def test_faults_of_form_are_named_at_once(tmp_path):
    text = json.dumps({"node_types": [{"properties": [{"name": "x", "type": "TEXT"}]}, 5], "patterns": [["A", "B"]]})
    with pytest.raises(InputError) as caught:
        written(tmp_path, "s.json", text)
    shown = "\n".join(caught.value.faults)
    for part in ("node_types.0.label", "unknown property type 'TEXT'", "node_types.1", "patterns.0"):
        assert part in shown


@pytest.mark.parametrize(("name", "text", "says"), [
    ("s.txt", "", "ends in .json, .yaml, .yml or .toml"), ("s.json", "", "not JSON"), ("s.json", "[]", "one object"),
    ("s.json", "{}", "not a schema"), ("s.json", "[" * 100_000, "not JSON"), ("s.toml", "x = ", "not TOML"),
    ("s.toml", "[typs.A]", "not a schema"),
    ("s.yaml", "a: [", "not YAML"), ("s.yaml", "a: &x [1]\nb: [*x, *x]", "aliases"), ("s.yaml", "!!python/object:os.system {}", "not YAML"),
])
def test_a_bad_file_is_a_clear_error(tmp_path, name, text, says):
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        written(tmp_path, name, text)
    assert caught.value.fix


def test_an_unreadable_file_is_a_clear_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        from_file(tmp_path / "none.json")
    (tmp_path / "wrong.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="cannot be read"):
        from_file(tmp_path / "wrong.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        from_file(tmp_path / "folder.json")


def test_the_database_needs_a_connection():
    with pytest.raises(InputError, match="connected database"):
        read_schema("database")


@pytest.mark.parametrize(("text", "types"), [
    ("STRING", ["STRING"]), ("ZONED_DATETIME", ["ZONED DATETIME"]), ("zoned datetime", ["ZONED DATETIME"]), ("INT", ["INTEGER"]),
    ("LIST<FLOAT NOT NULL>", ["LIST<FLOAT>"]), ("list<string>", ["LIST<STRING>"]), ("INTEGER | STRING", ["INTEGER", "STRING"]), ("ANY", []),
])
def test_property_types_of_both_spellings_are_one(text, types):
    assert property_types(text) == types


def test_an_unknown_property_type_of_a_database_is_kept():
    row = {"type": "NODE_PROPERTY_TYPE", "entityType": "NODE", "labelsOrTypes": ["A"], "properties": ["v"]}
    assert from_constraints([{**row, "propertyType": "VECTOR<FLOAT32>(3)"}]).node_types[0].properties[0].types == ["VECTOR<FLOAT32>(3)"]
