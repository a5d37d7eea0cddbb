"""Which format a path holds, and what is said where none or two fit."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from kgeval.errors import InputError
from kgeval.graph.load.detect import detect, load

GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node id="a"/></graph></graphml>'


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(("name", "text", "form"), [
    ("g.graphml", GRAPHML, "graphml"),
    ("g.xml", GRAPHML, "graphml"),
    ("export", GRAPHML, "graphml"),
    ("t.csv", "subject,predicate,object\na,b,c\n", "triples"),
    ("t.jsonl", '["a", "b", "c"]\n', "triples"),
    ("t.json", '[["a", "b", "c"]]', "triples"),
    ("kggen.json", '{"entities": ["a"], "edges": ["b"], "relations": [["a", "b", "c"]]}', "triples"),
    ("n.json", '{"nodes": [{"id": 1}], "links": []}', "json"),
])
def test_a_file_is_known_by_its_ending_and_its_content(tmp_path: Path, name: str, text: str, form: str) -> None:
    assert detect(put(tmp_path / name, text)) == form


@pytest.mark.parametrize(("files", "form"), [
    (["entities.parquet", "relationships.parquet"], "msgraphrag"),
    (["create_final_entities.parquet"], "msgraphrag"),
    (["kv_store_full_entities.json"], "lightrag"),
    (["graph_chunk_entity_relation.graphml"], "lightrag"),
])
def test_a_folder_is_known_by_its_files(tmp_path: Path, files: list[str], form: str) -> None:
    for name in files:
        put(tmp_path / name, "x")
    assert detect(tmp_path) == form


def refused(path: Path, form: str | None = None) -> str:
    with pytest.raises(InputError) as error:
        load(path, form)
    assert error.value.fix
    return str(error.value)


def test_a_folder_with_two_formats_names_both_and_asks_for_as(tmp_path: Path) -> None:
    put(tmp_path / "entities.parquet", "x")
    put(tmp_path / "kv_store_full_docs.json", "{}")
    message = refused(tmp_path)
    assert "entities.parquet" in message and "kv_store_full_docs.json" in message and "--as msgraphrag or --as lightrag" in message


def test_a_folder_above_the_output_says_where_the_graph_is(tmp_path: Path) -> None:
    put(tmp_path / "output" / "entities.parquet", "x")
    assert str(tmp_path / "output") in refused(tmp_path)


def test_an_unknown_folder_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "notes.docx", "x")
    assert "notes.docx" in refused(tmp_path)
    put(tmp_path / "triples.csv", "x")
    assert "triples.csv" in refused(tmp_path).partition("Fix:")[2]


def test_a_zip_of_a_folder_says_unzip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "index.zip", "w") as archive:
        archive.writestr("entities.parquet", b"")
    assert "unzip index.zip" in refused(tmp_path / "index.zip")
    assert "unpack index.zip" in refused(tmp_path)


@pytest.mark.parametrize(("name", "content", "said"), [
    ("empty.csv", b"", "empty (0 bytes)"),
    ("numbers.json", b"[1, 2, 3]", "no list of triples"),
    ("word.json", b'"word"', "neither triples nor node-link"),
    ("broken.json", b'{"nodes": [', "broken.json:1: not JSON"),
    ("latin.csv", "subject,predicate,object\na,b,caf\xe9\n".encode("latin-1"), "latin.csv:2: is not UTF-8 (byte 0xe9)"),
    ("wide.csv", "subject,predicate,object\na,b,c\n".encode("utf-16"), "UTF-16"),
    ("page.graphml", b"<html></html>", "not GraphML"),
    ("cut.graphml", b"<graphml>\n<graph>", "cut.graphml:2: not XML"),
    ("table.csv", b"who,what\nx,y\n", "the first row is: who, what"),
    ("head.csv", b"subject,predicate,object\n", "no entity"),
    ("entities.parquet", b"x", "one table of several"),
    ("thing.xyz", b"x", "no format is known by the ending '.xyz'"),
])
def test_bad_files_are_named_with_a_way_out(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    assert said in refused(put(tmp_path / name, content))


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    assert "no such file or folder" in refused(tmp_path / "nothing")


def test_a_parquet_file_of_0_bytes_is_said(tmp_path: Path) -> None:
    put(tmp_path / "entities.parquet", b"")
    put(tmp_path / "relationships.parquet", b"")
    assert "entities.parquet: is empty (0 bytes)" in refused(tmp_path)


def test_a_folder_format_refuses_a_file(tmp_path: Path) -> None:
    assert "is a folder" in refused(put(tmp_path / "x.json", json.dumps({})), "lightrag")


@pytest.mark.parametrize("declared", [
    '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>',
    '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
])
def test_xml_entities_are_refused_and_not_expanded(tmp_path: Path, declared: str) -> None:
    file = put(tmp_path / "bomb.graphml", declared + '<graphml><graph><node id="&a;"/></graph></graphml>')
    assert "declares XML entities" in refused(file)


def test_attributes_that_a_dtd_gives_to_all_nodes_are_refused(tmp_path: Path) -> None:
    declared = f'<!DOCTYPE graphml [<!ATTLIST node about CDATA "{"x" * 100_000}">]>'
    nodes = "".join(f'<node id="{n}"/>' for n in range(5_000))
    file = put(tmp_path / "bomb.graphml", f"{declared}<graphml><graph>{nodes}</graph></graphml>")
    assert "bomb.graphml: its DTD declares attributes of <node> (<!ATTLIST>); this is refused" in refused(file)


@pytest.mark.parametrize("declared", [
    '<!DOCTYPE graphml SYSTEM "http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd">',
    '<!DOCTYPE graphml PUBLIC "-//GraphML//DTD" "graphml.dtd">', "<!DOCTYPE graphml>", "<!DOCTYPE graphml [<!ELEMENT graph (node*)>]>",
])
def test_a_dtd_that_is_only_named_or_names_elements_is_passed_over(tmp_path: Path, declared: str) -> None:
    file = put(tmp_path / "a.graphml", f'<?xml version="1.0"?>{declared}<graphml><graph><node id="a"/></graph></graphml>')
    assert [entity.id for entity in load(file).entities] == ["a"]


def test_an_entity_of_a_dtd_that_is_not_fetched_is_refused(tmp_path: Path) -> None:
    data = '<key id="k" for="node" attr.name="about"/><graph><node id="a"><data key="k">x&nbsp;y</data></node></graph>'
    file = put(tmp_path / "a.graphml", f'<!DOCTYPE graphml SYSTEM "graphml.dtd">\n<graphml>{data}</graphml>')
    assert "a.graphml:2: &nbsp; is not declared in the file" in refused(file)
