"""Tables become the import tool's files: the same graph as the ordinary importer writes, bad rows with their lines, hostile cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_sheets import graph_of, graph_of_ordinary

from kgeval.errors import InputError
from kgeval.graph.load import naming, values
from kgeval.graph.load.bulk import cells, source
from kgeval.graph.load.bulk.convert import ToolFiles, convert
from kgeval.graph.load.bulk.id_numbers import IdNumbers, keys
from kgeval.graph.load.table_files import TableInputs, in_folder
from kgeval.graph.load.tables import read
from kgeval.graph.load.values import Misfit
from kgeval.text.names import name_keys, normalise

NODES = (
    'id,name,type,description,aliases,chunk_ids,rank,"odd:name{x}",embedding\n'
    'e1,Captain Ahab,Person,"a ""hunter"", of\nthe whale",Ahab;Old Thunder,c1;c2,007,x,"[0.5, 1]"\n'
    'e2,Moby Dick,Whale,,,"[""c2""]",,,\n'
    'e3,The Pequod,Ship,back\\slash,,c9,1e5,"a;b",\n'
    "e4,,,,,,,,\n"
    "e5,\u00c9clair \u2014 na\u00efve,:Entity:Cake,\u2028 line,,,,,\n"
    "e6,Chunk thing,Chunk,,,,,,\n"
)
RELATIONS = (
    "source,target,predicate,weight,description,chunk_ids,since\n"
    "e1,e2,hunts,2,he does,c1|c2,1851\n"
    "e1,e2,hunts, 1.5 ,,,\n"
    "e2,e9,isSeenBy,,,c1,\n"
    'e8,e9,FROM CHUNK,1e-3,"x\ny",,\n'
)
CHUNKS = 'id,text,index,document\nc1,"Ahab, the ""captain"",\nhunts.",1,book\nc2,The whale.,0,book\nc3,Alone.,,\n'
DOCUMENTS = "id,title\nbook,Moby-Dick\nempty,\n"


def put(folder: Path, **tables: str) -> TableInputs:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        (folder / f"{name}.csv").write_bytes(text.encode())
    return in_folder(folder)


def run(inputs: TableInputs, folder: Path) -> ToolFiles:
    folder.mkdir(exist_ok=True)
    return convert(inputs, folder, "moby", name_keys=name_keys)


def same(inputs: TableInputs, folder: Path) -> ToolFiles:
    """Both importers mean the same graph, and count the same; returns the bulk one's."""
    made, loaded = run(inputs, folder), read(inputs)
    assert graph_of(made) == graph_of_ordinary(inputs, "moby")
    assert made.counts.get("bad", 0) == len(loaded.faults) and made.counts["rows"] == loaded.rows
    assert list(made.faults) == loaded.faults[:50]
    for key in ("dangling_entities", "dangling_relations", "dangling_chunks", "same_names", "unnamed"):
        assert made.counts.get(key, 0) == loaded.counts.get(key, 0), key
    assert made.nodes == len(loaded.entities) + len(loaded.chunks) + len(loaded.documents)
    return made


def test_both_importers_make_the_same_graph_of_csv_tables(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", nodes=NODES, relations=RELATIONS, chunks=CHUNKS, documents=DOCUMENTS), tmp_path / "out")
    assert (made.counts["entities"], made.counts["relations"], made.counts["chunks"], made.counts["documents"]) == (8, 4, 4, 2)
    assert (made.counts["dangling_entities"], made.counts["dangling_relations"]) == (2, 2)
    nodes, relations = graph_of(made)
    assert (["Person", "__Entity__", "moby"], {
        "id": "e1", "name": "Captain Ahab", "name_key": "captain ahab", "type": "Person", "description": 'a "hunter", of\nthe whale',
        "aliases": ["Ahab", "Old Thunder"], "rank": "007", "odd_name_x_": "x", "embedding": [0.5, 1.0],
    }) in nodes
    assert ("c2", "NEXT_CHUNK", {}, "c1") in relations and ("e8", "RELATED", {"predicate": "FROM CHUNK"}, "e9") not in relations


def parquet_inputs(folder: Path) -> TableInputs:
    folder.mkdir()
    pq.write_table(pa.table({
        "id": pa.array([1, 2, 3]), "name": ["A", "The B", "C"], "type": pa.array(["x", None, "x"]).dictionary_encode(),
        "n": pa.array([1, None, 3]), "f": pa.array([1.0, float("inf"), float("nan")]), "b": [True, False, None],
        "tags": [["p", "q"], [], ["r", None]], "ns": pa.array([[1, 2], [3], None]), "st": [{"k": 1}, None, {"k": 2}],
        "embedding": pa.array([[0.25, 1e-9], None, [3.0]], pa.list_(pa.float32())),
        "when": pa.array([0, None, 86_400_000_000], pa.timestamp("us")), "chunk_ids": [["c1"], ["c1", "c2"], None],
        "dangling": ["no", "no", "no"],
    }), folder / "nodes.parquet")
    pq.write_table(pa.table({
        "source": [1, 2, 3], "target": [2, 3, 1], "type": ["knows", "Is A", "knows"], "weight": [1, 2, 3],
        "score2": pa.array([0.1, 0.2, 1e22]),
    }), folder / "relations.parquet")
    return in_folder(folder)


def test_both_importers_keep_the_types_of_parquet(tmp_path: Path) -> None:
    nodes, relations = graph_of(same(parquet_inputs(tmp_path / "in"), tmp_path / "out"))
    assert (["__Entity__", "moby", "x"], {
        "id": "1", "name": "A", "name_key": "a", "type": "x", "n": 1, "f": 1.0, "b": True, "tags": ["p", "q"], "ns": [1, 2],
        "st": '{"k": 1}', "embedding": pa.array([0.25, 1e-9], pa.float32()).to_pylist(), "when": "1970-01-01 00:00:00.000000",
    }) in nodes
    assert ("2", "IS_A", {"predicate": "Is A", "weight": 2.0, "score2": 0.2}, "3") in relations


def test_without_a_table_of_nodes_the_ends_are_the_entities(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", relations="subject,relation,object,chunk_id\nA,knows,B,c1\nB,knows,A,c2\n"), tmp_path / "out")
    assert (made.counts["entities"], made.counts["dangling_entities"], made.counts["chunks"]) == (2, 0, 2)


def test_bad_rows_are_told_with_file_line_and_field_by_both(tmp_path: Path) -> None:
    nodes = 'id,name\na,"x\ny"\n,none\nb\na,again\nc,d,e\n'
    relations = "source,target,predicate,weight\na,b,p,1\na,,p,1\na,b, ,1\na,b,p,heavy\n"
    inputs = put(tmp_path / "in", nodes=nodes, relations=relations)
    made = run(inputs, tmp_path / "out")
    assert sorted(made.faults) == sorted([
        "nodes.csv:4: id: missing or empty", "nodes.csv:5: 1 cells, the header has 2",
        "nodes.csv:6: the entity id 'a' was given before; ids must be unique", "nodes.csv:7: 3 cells, the header has 2",
        "relations.csv:3: target: missing or empty", "relations.csv:4: predicate: missing or empty",
        "relations.csv:5: weight: a number expected, found 'heavy'",
    ])
    assert sorted(read(inputs).faults) == sorted(made.faults)
    assert graph_of(made) == graph_of_ordinary(inputs, "moby") and made.counts["relations"] == 1


def test_an_id_that_a_later_file_gives_again_is_a_fault_also_where_it_is_the_very_first(tmp_path: Path) -> None:
    inputs = put(tmp_path / "in", nodes="id,name\na,first\nb,second\n", nodes_2="id,name\na,again\nc,third\n")
    inputs = replace(inputs, nodes=tuple(sorted((tmp_path / "in").glob("nodes*.csv"))))
    made = run(inputs, tmp_path / "out")
    assert list(made.faults) == ["nodes_2.csv:2: the entity id 'a' was given before; ids must be unique"]
    assert made.counts["entities"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(("column", "count"), [("type", 1000), ("type", 1001)])
def test_more_than_a_thousand_types_or_predicates_make_no_labels_and_no_relation_types(tmp_path: Path, column: str, count: int) -> None:
    nodes = "id,type\n" + "".join(f"n{k},t{k}\n" for k in range(count))
    relations = "source,target,predicate\n" + "".join(f"n{k},new{k},p{k}\n" for k in range(count))
    made = same(put(tmp_path / "in", nodes=nodes, relations=relations), tmp_path / "out")
    assert len(made.notes) == (2 if count > 1000 else 0) and made.counts["entities"] == 2 * count


def test_a_file_that_is_not_utf8_is_named_with_line_and_column(tmp_path: Path) -> None:
    inputs = put(tmp_path / "in", relations="source,target\na,b\n")
    inputs.relations[0].write_bytes(b'source,target\na,"b\nc"\nd,M\xfcller\n')
    with pytest.raises(InputError, match=r"relations.csv:4: target: is not UTF-8"):
        run(inputs, tmp_path / "out")


def test_a_quote_that_is_never_closed_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", 1000)
    inputs = put(tmp_path / "in", relations="source,target\na,b\nc,\"d\n" + "e,f\n" * 1000)
    with pytest.raises(InputError, match=r"relations.csv:3: the row that begins here holds a quote"):
        run(inputs, tmp_path / "out")


@pytest.mark.parametrize(("text", "what"), [
    ("name\nx\n", "no column for id"), ("id,id\nx,y\n", "two columns are called 'id'"), ("id,a:b,a;b\nx,y,z\n", "two columns would become"),
    ("id," + ",".join(f"c{k}" for k in range(201)) + "\n", "201 further columns"),
])
def test_a_head_that_cannot_be_used_is_refused(tmp_path: Path, text: str, what: str) -> None:
    inputs = put(tmp_path / "in", nodes=text, relations="source,target\na,b\n")
    for reader in (lambda: run(inputs, tmp_path / "out"), lambda: read(inputs)):
        with pytest.raises(InputError, match=what):
            reader()


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\x1f"), max_size=12) | st.sampled_from([
    '"', '""', "a\nb", "\r", ":ID", "=cmd", "[]", '["x", "x"]', "c1;c2", "\u2028", "\\", "-1.5", "1e400", "nan", "RELATED", "__Entity__",
])


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_stands_in_the_cells_both_importers_make_the_same_of_it(data: st.DataObject, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("cells")
    size = data.draw(st.integers(1, 5))

    def column(cell: Any = CELL) -> Any:
        return pa.array(data.draw(st.lists(st.none() | cell, min_size=size, max_size=size)), pa.string())

    ids = st.sampled_from(["a", "b", "c:d", "a\nb", '"'])
    (folder / "in").mkdir()
    nodes = {"id": column(ids), "name": column(), "type": column(), "aliases": column(), "chunk_ids": column(), "more": column()}
    relations = {"source": column(ids), "target": column(ids), "predicate": column(), "weight": column(), "chunk_ids": column(ids)}
    pq.write_table(pa.table(nodes), folder / "in" / "nodes.parquet")
    pq.write_table(pa.table(relations), folder / "in" / "relations.parquet")
    same(in_folder(folder / "in"), folder / "out")


@pytest.mark.slow
@given(st.lists(st.none() | CELL | st.sampled_from(["The Whale", "the", "THE END", "a b", "Der Hai", "x" * 1600, "An-x"])))
def test_name_keys_of_a_column_are_those_of_its_names(names: list[str | None]) -> None:
    assert name_keys(pa.array(names, pa.string())).to_pylist() == [naming.name_key(name, normalise) for name in names]


@pytest.mark.slow
@given(st.lists(st.none() | CELL | st.from_regex(r"\s*[+-]?[0-9.]{1,6}(e[+-]?[0-9]{1,3})?\s*", fullmatch=True)))
def test_a_column_of_numbers_is_read_as_each_cell_alone(words: list[str | None]) -> None:
    def alone(word: str | None) -> float | str | None:
        try:
            return values.number(word, "weight")
        except Misfit as misfit:
            return str(misfit)

    found, faults = cells.number(pa.array(words, pa.string()), "weight")
    assert [faults.get(at, number) for at, number in enumerate(found.to_pylist())] == [alone(word) for word in words]


@pytest.mark.slow
@given(st.lists(st.lists(st.text(max_size=3), max_size=20), max_size=12))
def test_places_find_what_was_added_as_a_dict_does(parts: list[list[str]]) -> None:
    import numpy as np

    places, known = IdNumbers(), {}
    for part in parts:
        new = [word for word in dict.fromkeys(part) if word not in known]
        asked = places.find(keys(pa.array(part, pa.string())))
        assert asked.tolist() == [known.get(word, -1) for word in part]
        places.add(keys(pa.array(new, pa.string())), np.arange(len(known), len(known) + len(new)))
        known.update({word: len(known) + at for at, word in enumerate(new)} if new else {})
    assert places.size == len(known)


def test_rows_are_read_in_batches_whatever_the_size_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", 400)
    nodes = "id,name\n" + "".join(f"n{k},Name {k % 7}\n" for k in range(300))
    relations = "source,target\n" + "".join(f"n{k},n{(k * k) % 320}\n" for k in range(300))
    inputs = put(tmp_path / "in", nodes=nodes, relations=relations)
    assert sum(1 for _ in source.InputTable(inputs.nodes[0], ("id", "name")).batches()) > 5
    assert same(inputs, tmp_path / "out").counts["same_names"] == 300


def test_an_embedding_must_be_numbers(tmp_path: Path) -> None:
    inputs = put(tmp_path / "in", nodes='id,embedding\na,"[1, null]"\nb,many\nc,[]\n', relations="source,target\na,b\n")
    made = run(inputs, tmp_path / "out")
    assert list(made.faults) == read(inputs).faults and len(made.faults) == 2


def test_a_batch_of_chunks_without_one_good_row_is_passed_over(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", chunks="id,document,index\n,d,1\n,d,2\n", relations="source,target\na,b\n"), tmp_path / "out")
    assert (made.counts["bad"], made.counts["chunks"], made.counts["documents"]) == (2, 0, 0)


@pytest.mark.parametrize("cell", ["[" * 100_000, '"[' + "1" * 5000 + ']"'])
def test_a_list_that_no_json_reader_can_take_is_text_or_a_fault_and_never_a_crash(tmp_path: Path, cell: str) -> None:
    nodes = f"id,aliases,embedding\na,{cell},\nb,,{cell}\n"
    made = same(put(tmp_path / "in", nodes=nodes, relations="source,target\na,a\n"), tmp_path / "out")
    assert len(made.faults) == 1 and made.faults[0].startswith("nodes.csv:3: embedding: a JSON list of numbers expected")


@pytest.mark.parametrize("index", ["1e300", "-1e19", "9223372036854775808", "inf", "0.5"])
def test_an_index_that_is_no_whole_number_of_64_bits_is_a_fault(tmp_path: Path, index: str) -> None:
    made = same(put(tmp_path / "in", chunks=f"id,document,index\nc,d,{index}\n", relations="source,target\na,b\n"), tmp_path / "out")
    assert made.faults == (f"chunks.csv:2: index: a whole number expected, found {index!r}",)


def test_large_whole_numbers_stay_exact() -> None:
    assert [values.whole_number(n, "index") for n in (2**53 + 1, -(2**63), True)] == [2**53 + 1, -(2**63), 1]
    assert values.whole_number(" 7.0 ", "index") == 7


def test_a_second_column_called_embedding_is_left_out_aloud(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", nodes='id,Embedding,embedding\na,"[1]",x\nb,,y\n', relations="source,target\na,b\n"), tmp_path / "out")
    assert made.notes == ("nodes.csv: column 'embedding' is left out: kgeval writes this property itself",)


def test_the_longest_row_is_told_not_the_longest_text(tmp_path: Path) -> None:
    row = ",".join('"' + letter * 1000 + '"' for letter in "abc")
    made = run(put(tmp_path / "in", nodes=f"id,a,b,c\nn,{row}\n", relations="source,target\nn,n\n"), tmp_path / "out")
    assert max(map(len, (tmp_path / "out" / "entities-0-rows.csv").read_bytes().splitlines())) <= made.longest < 3400


def test_rows_of_a_wrong_length_are_counted_however_many_and_the_lines_of_others_stay_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MOST_TORN", 3)
    text = "source,target\n" + "".join(f"a{k},b,c\nx,\n" for k in range(20))
    made = run(put(tmp_path / "in", relations=text), tmp_path / "out")
    assert made.counts["bad"] == made.counts["rows"] == 40
    wanted = [f"relations.csv:{2 * k + 3}: target: missing or empty" for k in range(20)]
    assert [fault for fault in made.faults if "target" in fault] == wanted
    assert sum("3 cells" in fault for fault in made.faults) == 3


def test_types_that_are_too_many_for_labels_are_not_kept_in_memory(tmp_path: Path) -> None:
    from collections import Counter

    from kgeval.graph.load.bulk import stages
    from kgeval.graph.load.bulk.conversion import Conversion

    for labelled in (True, False):
        stage = stages.EntityStage(Conversion(tmp_path, "g", name_keys, counts=Counter()), typed=labelled)
        for k in range(100):
            stage._labels({"id": pa.array(["n"]), "type": pa.array([f"t{k}" if labelled is False else f"__t{k}"])})
        assert len(stage._types) == 0 and len(stage._left) <= 5
