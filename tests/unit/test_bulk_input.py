"""What strangers' tables hold: quotes that do not fit, rows of blanks, bytes, ids of another type. Both importers mean the same by it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_bulk_convert import put, run, same
from tool_sheets import graph_of

from kgeval.errors import InputError
from kgeval.graph.load import table_files, values
from kgeval.graph.load.bulk import cells, convert, quotes, sheets, source
from kgeval.graph.load.table_files import TableInputs, in_folder

EDGES = "source,target\na,b\n"


@pytest.mark.parametrize(("text", "what"), [
    ('x,y\n"a"b,c\n', "relations.csv:3: a quote is closed inside a cell"),
    ('x,"q" \n', "relations.csv:2: a quote is closed inside a cell"),
    ('"a\nb","c""d"e\n', "relations.csv:3: a quote is closed inside a cell"),
    ('5" disk,b\n"a",""x\n', "relations.csv:3: a quote is closed inside a cell"),
    ('x,y\na,"b\nc,d\n', "relations.csv:3: the row that begins here holds a quote that is never closed"),
])
def test_quotes_that_do_not_fit_are_refused_with_file_and_line(tmp_path: Path, text: str, what: str) -> None:
    inputs = put(tmp_path / "in", relations="source,target\n" + text)
    with pytest.raises(InputError, match=what) as told:
        run(inputs, tmp_path / "out")
    assert 'written ""' in str(told.value)


def test_quotes_in_the_midst_of_a_cell_without_quotes_are_letters(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", relations='\ufeff"source","target"\n5" disk,"a ""b"""\n"c",6"\n'), tmp_path / "out")
    assert [relation[0] for relation in graph_of(made)[1]] == ['5" disk', "c"]


@pytest.mark.slow
@given(st.lists(st.sampled_from(['"', '"', '"', ",", "\n", "\r", "a"]), max_size=14), st.integers(1, 6))
def test_quotes_fit_just_where_a_strict_reader_can_read_the_file(tmp_path_factory: Any, parts: list[str], block: int) -> None:
    path = tmp_path_factory.getbasetemp() / "quotes.csv"
    path.write_bytes("".join(parts).encode())
    fits = True
    try:
        list(csv.reader(io.StringIO("".join(parts), newline=""), strict=True))
    except csv.Error:
        fits = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotes, "BLOCK", block)
        assert quotes._fit(path, ",") == fits


def test_a_row_that_is_too_long_is_named_and_not_a_long_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", 1000)
    rows = "a," + "b" * 900 + "\n" + "c,d\n" * 5 + "e," + "\u20ac" * 900 + "\n" + "f,g\n" * 1000
    with pytest.raises(InputError, match=r"relations.csv:8: the row that begins here is longer"):
        run(put(tmp_path / "in", relations="source,target\n" + rows), tmp_path / "out")


def test_rows_of_blanks_are_passed_over(tmp_path: Path) -> None:
    nodes = 'id\na\n""\n  \n\nb\n'
    relations = 'source,target\n,\n \na,b\n"",""\n,,,\n,b\n'
    made = same(put(tmp_path / "in", nodes=nodes, relations=relations), tmp_path / "out")
    assert made.faults == ("relations.csv:7: source: missing or empty",)
    assert (made.counts["rows"], made.counts["bad"], made.counts["entities"]) == (4, 1, 2)


@pytest.mark.parametrize("before", ["\n", "\r\n\r\n", "\ufeff", "\ufeff\n"])
def test_the_separator_is_that_of_the_first_line_that_is_not_empty(tmp_path: Path, before: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"{before}source;target;x\na,b;c,d,e;f,g\n".encode())
    assert table_files.delimiter(path) == ";"


def test_empty_lines_before_the_header_do_no_harm(tmp_path: Path) -> None:
    made = same(put(tmp_path / "in", relations="\n\nsource;target\na;b\n"), tmp_path / "out")
    assert made.counts["relations"] == 1


def written(folder: Path, nodes: pa.Table, relations: pa.Table) -> TableInputs:
    folder.mkdir()
    pq.write_table(nodes, folder / "nodes.parquet")
    pq.write_table(relations, folder / "relations.parquet")
    return in_folder(folder)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2)])
def test_bytes_in_parquet_are_read_as_utf8(tmp_path: Path, kind: pa.DataType) -> None:
    nodes = pa.table({"id": pa.array([b"e1", b"e2"], kind), "aliases": pa.array([[b"x"], None], pa.list_(pa.binary()))})
    inputs = written(tmp_path / "in", nodes, pa.table({"source": ["e1"], "target": ["e2"]}))
    found = graph_of(same(inputs, tmp_path / "out"))[0]
    assert [row["name"] for _, row in found] == ["e1", "e2"] and found[0][1]["aliases"] == ["x"]


@pytest.mark.parametrize("column", [pa.array([b"\xff\xd8"]), pa.array([{"thumb": b"\xff\xd8"}])])
def test_bytes_that_are_no_text_are_refused_with_their_column(tmp_path: Path, column: pa.Array) -> None:
    inputs = written(tmp_path / "in", pa.table({"id": ["a"], "image": column}), pa.table({"source": ["a"], "target": ["a"]}))
    with pytest.raises(InputError, match="column 'image'") as told:
        run(inputs, tmp_path / "out")
    assert "leave the column out" in str(told.value)


def test_uuids_are_texts(tmp_path: Path) -> None:
    key = UUID(int=7)
    ids = pa.array([key.bytes], pa.uuid())
    made = same(written(tmp_path / "in", pa.table({"id": ids}), pa.table({"source": ids, "target": [str(key)]})), tmp_path / "out")
    assert made.counts["dangling_entities"] == 0 and graph_of(made)[0][0][1]["id"] == str(key)


def test_whole_floats_are_the_ids_that_they_were_before_a_gap_made_floats_of_them(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2], "chunk_ids": [3.0, None]})
    relations = pa.table({"source": [1.0, None], "target": [2.0, 1.0], "predicate": [1.0, 1.0]})
    made = same(written(tmp_path / "in", nodes, relations), tmp_path / "out")
    assert (made.counts["dangling_entities"], made.counts["relations"], made.counts["bad"]) == (0, 1, 1)
    assert graph_of(made)[1] == [("1", "1_0", {"predicate": "1.0"}, "2"), ("1", "FROM_CHUNK", {}, "3")]


FLOATS = st.sampled_from([1.0, -0.0, 1.5, 2.0**53, 2.0**53 - 1, 1e300, float("nan"), float("inf")])


@given(st.lists(st.none() | FLOATS, max_size=4))
def test_a_column_of_ids_is_read_as_each_cell_alone(found: list[float | None]) -> None:
    column, faults = cells.key(pa.array(found, pa.float64()), "id")
    for at, cell in enumerate(found):
        try:
            assert column[at].as_py() == values.key(cell, "id")
        except values.Misfit as misfit:
            assert faults[at] == str(misfit)


def test_large_whole_numbers_stay_exact_in_text_too() -> None:
    assert values.whole_number(" 9007199254740993 ", "index") == 2**53 + 1
    assert values.whole_number("-9223372036854775808", "index") == -(2**63)


def test_a_stage_that_begins_again_leaves_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[sheets.ToolSheet] = []

    class Noted(sheets.ToolSheet):
        def __init__(self, folder: Path, stem: str, *, relation_type: str | None = None) -> None:
            super().__init__(folder, stem, relation_type=relation_type)
            made.append(self)

    monkeypatch.setattr(convert.stages, "ToolSheet", Noted)
    monkeypatch.setattr(source, "BLOCK", 4000)
    many = "".join(f"n{k},t{k}\n" for k in range(1500))
    put(tmp_path / "in", nodes="id,type\n" + many, relations="source,target,predicate\n" + "".join(f"n1,n2,p{k}\n" for k in range(1500)))
    same(in_folder(tmp_path / "in"), tmp_path / "out")
    files = [file for sheet in made for file in sheet._files.values()]
    assert len(files) == 4 and all(file.closed for file in files)  # two sheets, each written twice
