"""The schema of an extraction: from a file, from a graph; what it lets through."""

from __future__ import annotations

import pytest

from kgeval.errors import InputError
from kgeval.text.extract.schema import Allowed, from_file, from_graph

TOML = """
[types.Person]
description = "a human being with a name"
[types.Ferry_Company]

[relations.WORKS_AT]
joins = [["Person", "Ferry_Company"]]
[relations.KNOWS]
"""


def written(folder, text, name="s.toml"):
    (folder / name).write_text(text, encoding="utf-8")
    return from_file(folder / name)


def test_types_and_labels_come_back_as_the_schema_writes_them(tmp_path):
    schema = written(tmp_path, TOML)
    assert schema.entity_types == (Allowed("Person", "a human being with a name"), Allowed("Ferry_Company"))
    assert [schema.entity_type(t) for t in ("PERSON", "ferry company", "FerryCompany", "Place", "", None)] == [
        "Person",
        "Ferry_Company",
        "Ferry_Company",
        None,
        None,
        None,
    ]
    assert [schema.relation_label(t) for t in ("works at", "Works-At", "likes")] == ["WORKS_AT", "WORKS_AT", None]


def test_a_pattern_binds_its_label_and_direction_and_a_label_without_one_is_free(tmp_path):
    schema = written(tmp_path, TOML)
    assert schema.fits("Person", "WORKS_AT", "Ferry_Company") and not schema.fits("Ferry_Company", "WORKS_AT", "Person")
    assert schema.fits("Ferry_Company", "KNOWS", "Person")
    assert written(tmp_path, "open_patterns = true\n" + TOML).fits("Ferry_Company", "WORKS_AT", "Person")


def test_what_a_file_leaves_open_lets_everything_through(tmp_path):
    schema = written(tmp_path, "open_types = true\n[types.Person]")
    assert [schema.entity_type(t) for t in ("person", "Place", None)] == ["Person", "Place", None] and not schema.types_matter
    assert schema.relation_label("likes") == "likes" and schema.fits("A", "likes", "B")


def test_neo4j_graphrag_files_are_read_with_their_descriptions(tmp_path):
    schema = written(
        tmp_path, '{"node_types": [{"label": "Person", "description": null}, {"label": "City", "description": "a town"}]}', "s.json"
    )
    assert schema.entity_types == (Allowed("Person"), Allowed("City", "a town"))


def test_names_that_the_extraction_could_not_tell_apart_are_faults(tmp_path):
    with pytest.raises(InputError, match="'Work_Of_Art' and 'WorkOfArt' differ only") as caught:
        written(tmp_path, "[types.Work_Of_Art]\n[types.WorkOfArt]\n[relations.KNOWS]\n[relations.knows]")
    assert len(caught.value.faults) == 2


def test_the_types_of_a_graph_make_a_closed_schema():
    schema = from_graph(
        "novel",
        types=["Person", "PLACE", "Place", " "],
        labels=["LIVES_IN"],
        patterns=[("Person", "LIVES_IN", "PLACE"), ("X", "LIVES_IN", "Y")],
    )
    assert schema.source == "graph novel" and [t.name for t in schema.entity_types] == ["Person", "PLACE"]
    assert schema.patterns == (("Person", "LIVES_IN", "PLACE"),) and schema.entity_type("place") == "PLACE"
    assert schema.entity_type("Event") is None and schema.relation_label("knows") is None
    assert not schema.fits("PLACE", "LIVES_IN", "Person")
    free = from_graph("lone", types=["Person"], labels=[])
    assert free.relation_label("knows") == "knows" and free.fits("Person", "knows", "Person")
    with pytest.raises(InputError, match="no entity types"):
        from_graph("empty", types=[], labels=[])
    with pytest.raises(InputError, match="601 types and relation labels"):
        from_graph("wild", types=["A"], labels=[f"keyword {n}" for n in range(600)])


def test_the_hash_changes_with_everything_that_the_model_is_told(tmp_path):
    texts = [TOML, TOML.replace("human being", "person"), TOML.replace("KNOWS", "LIKES"), "open_types = true\n" + TOML]
    assert len({written(tmp_path, text).hash for text in texts}) == len(texts)
    assert written(tmp_path, TOML).hash == written(tmp_path, TOML).hash
