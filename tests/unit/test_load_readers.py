"""What each reader makes of a small input, countable by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgeval.errors import InputError
from kgeval.graph.load import graphml
from kgeval.graph.load.detect import load
from kgeval.graph.load.model import Loaded
from kgeval.graph.load.tables import titled


def lines(loaded: Loaded) -> list[str]:
    """Relations as `a -predicate-> b`, with names."""
    names = [entity.name for entity in loaded.entities]
    return [f"{names[r.source]} -{r.predicate}-> {names[r.target]}" for r in loaded.relations]


def tables(folder: Path, *, old: bool = False, **rows: list[dict[str, Any]]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, table in rows.items():
        pq.write_table(pa.Table.from_pylist(table), folder / f"{'create_final_' if old else ''}{name}.parquet")
    return folder


def stores(folder: Path, **content: dict[str, Any]) -> Path:
    for name, store in content.items():
        (folder / f"kv_store_{name}.json").write_text(json.dumps(store))
    return folder


AHAB = {"id": "u1", "title": "Ahab", "type": "PERSON", "description": "captain", "text_unit_ids": ["t1"]}


def test_graphrag_relations_are_joined_by_title_and_a_missing_end_is_kept_as_dangling(tmp_path: Path) -> None:
    loaded = load(tables(
        tmp_path, entities=[AHAB],
        relationships=[{"source": "Ahab", "target": "Whale", "description": "hunts", "weight": 2.0, "text_unit_ids": ["t1"]}],
        text_units=[{"id": "t1", "text": "one", "document_id": "d"}, {"id": "t2", "text": "two", "document_id": "d"}],
        documents=[{"id": "d", "title": "Moby Dick", "text_unit_ids": ["t2", "t1"]}],
    ))
    assert lines(loaded) == ["Ahab -None-> Whale"]
    assert [(e.id, e.dangling, e.chunks) for e in loaded.entities] == [("u1", False, ["t1"]), ("Whale", True, [])]
    assert loaded.counts["dangling_relations"] == 1
    assert loaded.next_chunks == [("t2", "t1")]
    assert loaded.documents[0].title == "Moby Dick"


def test_two_graphrag_entities_with_one_title_stay_two_and_the_end_goes_to_the_one_that_shares_chunks(tmp_path: Path) -> None:
    loaded = load(tables(
        tmp_path, entities=[AHAB, {**AHAB, "id": "u2", "type": "SHIP", "text_unit_ids": ["t2"]}],
        relationships=[
            {"source": "Ahab", "target": "Ahab", "text_unit_ids": ["t2"]}, {"source": "Ahab", "target": "u1", "text_unit_ids": []},
        ],
    ))
    assert [(r.source, r.target) for r in loaded.relations] == [(1, 1), (0, 0)]
    assert (loaded.counts["ambiguous_ends"], loaded.counts["same_names"], loaded.counts["dangling_entities"]) == (3, 2, 0)


def test_older_graphrag_tables_and_columns_are_read(tmp_path: Path) -> None:
    loaded = load(tables(
        tmp_path, old=True, entities=[{"id": "u1", "name": "Ahab", "type": None, "description": None, "text_unit_ids": ["t1"]}],
        relationships=[{"source": "Ahab", "target": "Ahab", "description": "x", "weight": None, "text_unit_ids": None}],
        text_units=[{"id": "t1", "text": "one", "document_ids": ["d1", "d2"]}],
    ))
    assert loaded.entities[0].name == "Ahab" and loaded.chunks[0].documents == ["d1", "d2"]


def test_graphrag_rows_with_a_repeated_id_or_without_an_end_are_faults_with_their_row(tmp_path: Path) -> None:
    loaded = load(tables(
        tmp_path, entities=[AHAB, {**AHAB, "title": "Ishmael"}, {**AHAB, "id": "u3", "title": None}],
        relationships=[{"source": "Ahab", "target": None}, {"source": "Ahab", "target": "Ahab"}],
    ))
    assert [fault.partition(" id ")[0] for fault in loaded.faults[:1]] == ["entities.parquet: row 2: the entity"]
    assert loaded.faults[1] == "relationships.parquet: row 1: target: missing or empty"
    assert (loaded.rows, loaded.counts["unnamed"]) == (5, 1)


LIGHTRAG: dict[str, dict[str, Any]] = {
    "full_entities": {"d1": {"entity_names": ["Ahab", "Whale"]}, "d2": {"entity_names": ["Ahab"]}},
    "full_relations": {"d1": {"relation_pairs": [["Ahab", "Whale"], ["Ahab", "Sea"]]}, "d2": {"relation_pairs": [["Whale", "Ahab"]]}},
    "entity_chunks": {"Ahab": {"chunk_ids": ["c1", "c3"]}, "Whale": {"chunk_ids": ["c2"]}},
    "relation_chunks": {"Ahab<SEP>Whale": {"chunk_ids": ["c1", "c2"]}, "Ahab<SEP>Sea": {"chunk_ids": ["c1"]}},
    "doc_status": {"d1": {"file_path": "one.txt", "chunks_list": ["c1", "c2"]}, "d2": {"file_path": "two.txt", "chunks_list": ["c3"]}},
}


def test_lightrag_stores_alone_give_one_entity_a_name_with_the_chunks_of_all_its_documents(tmp_path: Path) -> None:
    loaded = load(stores(tmp_path, **LIGHTRAG))
    assert [(e.name, e.chunks, e.dangling) for e in loaded.entities] == [
        ("Ahab", ["c1", "c3"], False), ("Whale", ["c2"], False), ("Sea", [], True),
    ]
    assert [r.chunks for r in loaded.relations] == [["c1", "c2"], ["c1"]]
    assert [(c.id, c.documents, c.text) for c in loaded.chunks] == [("c1", ["d1"], None), ("c2", ["d1"], None), ("c3", ["d2"], None)]
    assert [d.title for d in loaded.documents] == ["one.txt", "two.txt"]


def test_documents_without_names_of_their_own_get_them_from_a_table(tmp_path: Path) -> None:
    unnamed = {key: {**row, "file_path": "unknown_source"} for key, row in LIGHTRAG["doc_status"].items()}
    loaded = load(stores(tmp_path, **{**LIGHTRAG, "doc_status": unnamed}))
    assert titled(loaded, ()).notes[-1].startswith("2 documents have no name of their own")
    table = tmp_path / "map.csv"
    table.write_text("id,title\nd1,Moby Dick\n")
    made = titled(loaded, (table,))
    assert [d.title for d in made.documents] == ["Moby Dick", "unknown_source"] and table in made.inputs
    assert made.notes[-1] == "1 documents are not in map.csv and keep their names"
    table.write_text("id,title\nd1,\nd9,Nowhere\nunknown_source,Both\nd2,Two\nd2,Three\n")
    with pytest.raises(InputError) as caught:
        titled(loaded, (table,))
    told = "\n".join(caught.value.faults)
    assert len(caught.value.faults) == 4 and "no documents of the input are called 'd9'" in told and "2 documents" in told


def test_a_lightrag_entity_without_chunks_keeps_its_documents(tmp_path: Path) -> None:
    loaded = load(stores(tmp_path, full_entities=LIGHTRAG["full_entities"]))
    assert [(e.name, e.documents) for e in loaded.entities] == [("Ahab", ["d1", "d2"]), ("Whale", ["d1"])]


def test_a_lightrag_graphml_is_completed_by_the_stores_and_unknown_ends_are_dangling(tmp_path: Path) -> None:
    (tmp_path / "graph_chunk_entity_relation.graphml").write_text(
        '<graphml><key id="t" for="node" attr.name="entity_type"/><key id="s" for="node" attr.name="source_id"/>'
        '<key id="k" for="edge" attr.name="keywords"/><graph>'
        '<node id="Ahab"><data key="t">person</data><data key="s">c1&lt;SEP&gt;c2</data></node>'
        '<node id="Sea"><data key="t">UNKNOWN</data></node>'
        '<edge source="Ahab" target="Sea"><data key="k">sails, roams</data></edge></graph></graphml>'
    )
    loaded = load(stores(tmp_path, text_chunks={
        "c1": {"content": "one", "full_doc_id": "d", "chunk_order_index": 0},
        "c3": {"content": "three", "full_doc_id": "d", "chunk_order_index": 1},
    }))
    assert lines(loaded) == ["Ahab -sails, roams-> Sea"]
    assert [(e.type, e.dangling) for e in loaded.entities] == [("person", False), (None, True)]
    assert [(c.id, c.text, c.dangling) for c in loaded.chunks] == [("c1", "one", False), ("c3", "three", False), ("c2", None, True)]


def test_graphml_attributes_are_typed_named_and_faults_have_a_line(tmp_path: Path) -> None:
    file = tmp_path / "g.graphml"
    file.write_text(
        '<graphml><key id="d0" for="node" attr.name="name"/>'
        '<key id="d1" for="node" attr.name="age" attr.type="int"><default>7</default></key>\n'
        '<key id="d2" for="edge" attr.name="label"/><key id="d3" for="edge" attr.name="weight" attr.type="double"/><graph>\n'
        '<node id="n0" labels=":Person"><data key="d0">Ahab</data><data key="d1">58</data></node>\n'
        '<node id="n1"/>\n'
        '<node id="n2"><data key="d1">old</data></node>\n'
        '<edge source="n0" target="n9"><data key="d2">HUNTS</data><data key="d3">0.5</data></edge>\n'
        '</graph></graphml>'
    )
    loaded = load(file)
    assert [(e.id, e.name, e.extra) for e in loaded.entities] == [("n0", "Ahab", {"age": 58}), ("n1", "n1", {"age": 7}), ("n9", "n9", {})]
    assert lines(loaded) == ["Ahab -HUNTS-> n9"] and loaded.relations[0].weight == 0.5
    assert loaded.faults == ["g.graphml:5: age: int expected, found 'old'"]


@pytest.mark.parametrize("form", ["graphml", "json"])
def test_a_label_that_most_nodes_share_is_their_type_and_the_id_their_name(tmp_path: Path, form: str) -> None:
    """networkx: `G.add_node("Ada", label="Person")`."""
    pairs = [("Ada", "Person"), ("Bao", "Person"), ("Cid", "Person"), ("Acme", "Company"), ("Zenit", "Company")]
    file = tmp_path / f"g.{form}"
    if form == "json":
        file.write_text(json.dumps({"nodes": [{"id": name, "label": kind} for name, kind in pairs], "links": []}))
    else:
        inner = "".join(f'<node id="{name}"><data key="d0">{kind}</data></node>' for name, kind in pairs)
        file.write_text(f'<graphml><key id="d0" for="node" attr.name="label" attr.type="string"/><graph>{inner}</graph></graphml>')
    loaded = load(file)
    assert [(entity.name, entity.type) for entity in loaded.entities] == pairs
    assert loaded.notes == []


def test_labels_that_differ_are_names_and_names_that_most_share_are_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "g.json"
    file.write_text(json.dumps({"nodes": [{"id": n, "label": f"Person {n}", "type": "Person"} for n in range(4)], "links": []}))
    assert [entity.name for entity in load(file).entities] == [f"Person {n}" for n in range(4)]
    file.write_text(json.dumps({"nodes": [{"id": n, "name": ["Person", "Company"][n % 2]} for n in range(4)], "links": []}))
    assert load(file).notes == [
        "warning: 4 of 4 entities have a name that others have too: is that the property that holds their names?"
    ]


def test_node_link_json_keeps_further_attributes_and_names_bad_items(tmp_path: Path) -> None:
    file = tmp_path / "g.json"
    file.write_text(json.dumps({
        "nodes": [{"id": 1, "name": "Ahab", "type": "Person", "ship": "Pequod"}, {"name": "no id"}],
        "edges": [{"source": 1, "target": 2, "relation": "hunts"}, {"source": 1}, 5],
    }))
    loaded = load(file)
    assert loaded.entities[0].extra == {"ship": "Pequod"} and loaded.entities[0].type == "Person"
    assert lines(loaded) == ["Ahab -hunts-> 2"]
    assert loaded.faults == [
        "g.json: edges, item 2: target: missing or empty", "g.json: edges, item 3: a map with source and target expected, found int",
        "g.json: nodes, item 2: id: missing or empty",
    ]


@pytest.mark.parametrize(("name", "text"), [
    ("t.csv", "Head,Relation,Tail\nAhab,hunts,Whale\n"),
    ("t.csv", "Ahab,hunts,Whale\n"),
    ("t.csv", "subject;predicate;object\nAhab;hunts;Whale\n"),
    ("t.tsv", "source\tlabel\ttarget\nAhab\thunts\tWhale\n"),
    ("t.jsonl", '{"subject": "Ahab", "predicate": "hunts", "object": "Whale"}\n'),
    ("t.jsonl", '\ufeff["Ahab", "hunts", "Whale"]\n\n'),
    ("t.json", '{"entities": ["Ahab"], "edges": ["hunts"], "relations": [["Ahab", "hunts", "Whale"]]}'),
])
def test_triples_are_read_in_every_shape(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert lines(load(tmp_path / name)) == ["Ahab -hunts-> Whale"]


def test_triples_with_missing_cells_and_surplus_cells_are_faults_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('subject,predicate,object,weight\nAhab,,Whale,1\n"Ah\nab",hunts,,1\nA,b,c,heavy\nA,b,c,1,2\nA,b,c,1\n')
    loaded = load(file)
    assert loaded.faults == [
        "t.csv:2: predicate: missing or empty", "t.csv:4: object: missing or empty",
        "t.csv:5: weight: a number expected, found 'heavy'",
        "t.csv:6: 5 cells, the header has 4 (a separator inside an unquoted cell?)",
    ]
    assert loaded.rows == 5 and len(loaded.relations) == 1


def test_one_name_under_two_types_stays_two_entities_and_repeated_rows_stay_two_relations(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(
        "subject,subject_type,predicate,object,object_type\n"
        "Paris,City,in,France,Country\nParis,City,in,France,Country\nParis,Person,loves,Helen,\nParis,,on,Seine,\n"
    )
    loaded = load(file)
    assert [(e.id, e.type) for e in loaded.entities][:3] == [("Paris", "City"), ("France", "Country"), ("Paris [Person]", "Person")]
    assert len(loaded.relations) == 4 and loaded.relations[3].source == 0
    assert loaded.notes == ["1 names have more than one type; each name and type is an entity of its own"]


def test_triples_carry_chunks_texts_documents_and_further_columns(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    rows = [
        {"subject": "A", "predicate": "p", "object": "B", "chunk_id": "c1", "chunk_text": "one", "document": "d", "mood": "dark"},
        {"subject": "A", "predicate": "p", "object": "B", "chunk_id": "c1", "chunk_text": "other"},
        {"subject": "B", "predicate": "p", "object": "C", "document": "e"},
    ]
    bad = '{broken\n["a", "b"]\n{"subject": "\\ud800", "predicate": "p", "object": "o"}\n'
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + bad)
    loaded = load(file)
    assert [(c.id, c.text, c.documents, c.index) for c in loaded.chunks] == [("c1", "one", ["d"], None)]
    assert loaded.relations[0].extra == {"mood": "dark", "document": "d"}
    assert [(e.chunks, e.documents) for e in loaded.entities] == [(["c1"], []), (["c1"], ["e"]), ([], ["e"])]
    assert [fault.split(": ")[0] for fault in loaded.faults] == ["t.jsonl:2", "t.jsonl:4", "t.jsonl:5", "t.jsonl:6"]


def test_a_default_of_graphml_that_is_not_of_its_type_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.graphml"
    file.write_text(
        '<graphml>\n<key id="d" for="node" attr.name="age" attr.type="int"><default>old</default></key>\n'
        '<graph edgedefault="directed"><node id="a"/></graph></graphml>', encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"a\.graphml:2: the <default> of age: int expected, found 'old'"):
        graphml.read(file)


@pytest.mark.parametrize("text", [
    '<node id="K&ouml;ln"/>', '<node id="a"><data key="d">K&ouml;ln</data></node>', '<node id="a"/><edge source="a" target="K&ouml;ln"/>',
    "x" * 70_000 + '<node id="K&ouml;ln"/>',
])
def test_a_letter_that_only_a_dtd_elsewhere_declares_is_never_left_out(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.graphml"
    whole = '<?xml version="1.0"?><!DOCTYPE graphml SYSTEM "graphml.dtd"><graphml><graph edgedefault="directed">{}</graph></graphml>'
    file.write_text(whole.format(text), encoding="utf-8")
    with pytest.raises(InputError, match="&ouml; is not declared"):
        graphml.read(file)
    file.write_text(whole.format('<node id="K&#246;ln &amp; &lt;B&#xf6;&gt;"/>'), encoding="utf-8")
    assert [entity.id for entity in graphml.read(file).entities] == ["Köln & <Bö>"]
