"""Rows of JSONL, JSON, CSV, TSV, Parquet and YAML: every shape they come in, and what broken files are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kgeval.errors import InputError
from kgeval.tables import cells, read_jsonl
from kgeval.tables.rows import RowSelection, open_rows
from kgeval.tables.stream import CHUNK, stream


def values(path: Path, text: str | bytes) -> list[Any]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [line.value if line.fault is None else f"{line.where}: {line.fault}" for line in stream(path)]


ROW = {"a": 1}


@pytest.mark.parametrize("text", [
    '[{"a": 1}, {"a": 1}]', ' [\n{"a": 1}\n,\n{"a": 1}\n]\n', '{"results": [{"a": 1}, {"a": 1}]}', '{"mine": [{"a": 1}, {"a": 1}], "n": 2}',
    '{"data": [{"a": 1}, {"a": 1}], "other": [{"b": 2}]}', '{"a": [1, 1]}', '{"a": {"0": 1, "1": 1}}', '{"a": 1}\n\n{"a": 1}\n',
    '\ufeff[{"a": 1}, {"a": 1}]', '\ufeff{"a": 1}\n{"a": 1}\n',
])
def test_a_json_file_may_be_an_array_lines_or_an_object_that_holds_rows(text: str, tmp_path: Path) -> None:
    assert values(tmp_path / "x.json", text) == [ROW, ROW]


def test_objects_by_type_and_by_id_keep_the_key(tmp_path: Path) -> None:
    by_type = values(tmp_path / "t.json", '{"type1": [{"a": 1}], "Creative Generation": {"average_scores": {}, "detailed": [{"a": 2}]}}')
    assert by_type == [{"question_type": "type1", "a": 1}, {"question_type": "Creative Generation", "a": 2}]
    assert values(tmp_path / "i.json", '{"q1": {"x": "A"}, "q2": {"question_id": "own", "x": "B"}}') == [
        {"question_id": "q1", "x": "A"}, {"question_id": "own", "x": "B"},
    ]
    assert values(tmp_path / "one.json", '{"question": "Q", "answer": "A"}') == [{"question": "Q", "answer": "A"}]


@pytest.mark.slow
def test_an_array_that_is_larger_than_a_piece_is_read_item_by_item(tmp_path: Path) -> None:
    items = [{"n": n, "text": f"ü{n}\\" + "x" * (n * 40_000 % (3 * CHUNK // 2))} for n in range(30)]
    path = tmp_path / "big.json"
    assert values(path, json.dumps(items, ensure_ascii=False, indent=1)) == items
    assert values(path, json.dumps(items)) == items


@pytest.mark.parametrize(("text", "said"), [
    ('[{"a": 1},\n{"a": }]', "x.json:2: not JSON: Expecting value (row 2); nothing after it was read"),
    ('[{"a": 1}\n{"a": 2}]', "x.json:2: not JSON: a comma or ] expected, found '{' (after row 1); nothing after it was read"),
    ('[{"a": 1},', "x.json:1: not JSON: Expecting value (row 2); nothing after it was read"),
    ('[{"a": 1}', "x.json:1: not JSON: the file ends inside the array (after row 1); nothing after it was read"),
    ('[{"a": 1}]\n x', "x.json:2: something follows the array: 'x'"),
    ("[3]", "x.json: row 1: a row must be an object with fields, found: int"),
])
def test_what_is_no_json_is_a_fault_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    assert values(tmp_path / "x.json", text)[-1] == said


@pytest.mark.parametrize("form", ['[{}]', '[\n {} ,{{"a": 1}}\n]', '{}\n{{"a": 1}}\n', '{{"results": [{}]}}'])
@pytest.mark.parametrize(("row", "value"), [
    ('{"a": NaN}', None), ('{"a": -Infinity}', float("-inf")), ('{"a": 1e400}', float("inf")), (f'{{"a": {10**30}}}', 10**30),
    (r'{"a": "\ud800x"}', "\ud800x"), (r'{"a": "\ud83d\ude00"}', "\U0001f600"), ('{"a": 1, "a": 2}', 2), ('{"a": 2.0}', 2.0),
])
def test_a_value_is_the_same_in_every_form_of_json(form: str, row: str, value: Any, tmp_path: Path) -> None:
    """Also what strict readers refuse or change: json.dump writes NaN, infinities and numbers of any size, and half surrogate pairs."""
    read = values(tmp_path / "x.json", form.format(row))[0]["a"]
    assert type(read) is type(value) and read == value


@pytest.mark.parametrize(("name", "data", "message"), [
    ("x.jsonl", b"", "is empty"), ("x.jsonl", b"\n \n", "holds no row"), ("x.json", b"[]", "holds no row"),
    ("x.csv", b"a,b\n", "holds no row"),
    ("x.json", b"{}", "it cannot be told where its rows are"), ("x.json", b"3", "holds no rows"),
    ("x.json", b'{"a": }', "x.json:1: not JSON"),
    ("x.jsonl", '{"a": 1}'.encode("utf-16"), "is UTF-16, not UTF-8"), ("x.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16, not UTF-8"),
    ("x.jsonl", b'{"a": 1}\n{"a": "\xe4"}\n', r"x.jsonl:2: is not UTF-8"), ("x.json", b'[{"a": "\n\xe4"}]', r"x.json:2: is not UTF-8"),
    ("x.csv", b"a\n1\n\xe4\n", "x.csv:3: is not UTF-8"), ("x.csv", b"a,a\n1,2\n", "two columns are called a"),
    ("x.parquet", b"PAR0 nothing", "not a Parquet file"), ("x.jsonl", b"\x1f\x8b\x08rest", "is a gzip file"),
    ("x.yaml", b"a: [", "not YAML"),
])
def test_files_that_are_no_files_of_rows_are_refused(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as refused:
        values(tmp_path / name, data)
    assert refused.value.fix


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        open_rows(RowSelection((tmp_path / "none.jsonl",)))
    with pytest.raises(InputError, match="is a folder"):
        open_rows(RowSelection((tmp_path,)))


def test_deep_nesting_and_endless_numbers_are_faults_and_no_crash(tmp_path: Path) -> None:
    found = values(tmp_path / "x.jsonl", '{"a": ' + "[" * 100_000 + "\n" + '{"a": ' + "9" * 5_000 + '}\n{"a": 1}\n')
    assert [isinstance(one, str) for one in found] == [True, True, False]
    lines = list(read_jsonl(tmp_path / "x.jsonl"))
    assert [line.fault for line in lines] == [line.fault for line in stream(tmp_path / "x.jsonl")] and lines[2].value == {"a": 1}


def test_a_table_with_byte_order_mark_other_separators_and_lists_in_cells(tmp_path: Path) -> None:
    head = "question_id,question,answer,contexts,latency_s,reference_contexts\n"
    row = 'q1,"Q, with comma",A,"[""c1"", ""c2; more""]",1.5,"[\'g1\', ""it\'s""]"\n'
    path = tmp_path / "a.csv"
    path.write_text("\ufeff" + head + row + "\nq2,Q2,,plain text,,\n", encoding="utf-8")
    with open_rows(RowSelection((path,))) as rows:
        one, two = rows
        assert any("one text, which is one context: 1" in note for note in rows.notes)
    assert one.answer.context_texts == ("c1", "c2; more")
    assert [e.text for e in one.question.evidence] == ["g1", "it's"]
    assert (two.answer.answer, two.answer.error, two.answer.context_texts, two.answer.latency_s) == ("", None, ("plain text",), None)
    assert two.where == "a.csv:4"
    assert values(tmp_path / "x.csv", "a;b\n1;2,5\n") == [{"a": "1", "b": "2,5"}]
    assert values(tmp_path / "x.tsv", "a\tb\n1\t\n") == [{"a": "1", "b": None}]


def test_a_cell_too_many_and_an_open_quote_are_faults(tmp_path: Path) -> None:
    assert values(tmp_path / "x.csv", "a,b\n1,2,3\n1\n") == [
        "x.csv:2: 3 cells, the header has 2 (a separator inside an unquoted cell?)", {"a": "1"},
    ]
    assert "not a row of a table" in values(tmp_path / "x.csv", 'a,b\n1,"2\n')[-1]


def test_a_list_as_numpy_prints_it_is_refused_because_its_parts_would_be_glued(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question_id,question,answer,contexts\n1,Q,A,\"['c1' 'c2']\"\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 fault") as refused:
        open_rows(RowSelection((path,)))
    assert "contexts: a list without commas, as numpy prints it" in refused.value.faults[0]


@pytest.mark.parametrize(("value", "expected"), [
    ('["a", "b"]', ["a", "b"]), ("['a', 'b']", ["a", "b"]), ("[not a list]", ["[not a list]"]), ("[1] see there", ["[1] see there"]),
    ("[", ["["]), ("[__import__('os').system('true')]", ["[__import__('os').system('true')]"]), ("[" * 5_000 + "]" * 5_000, None),
    ("nan", None), ("", None), (["a", None, float("nan"), " "], ["a"]), (["a", 3, 4.0, True], ["a", "3", "4", "True"]), ([], []),
])
def test_lists_are_read_from_text_without_running_anything(value: Any, expected: list[str] | None) -> None:
    if isinstance(value, str) and value.startswith("[["):
        assert cells.texts(value) == [value]
    else:
        assert cells.texts(value) == expected


def test_parquet_comes_in_batches_with_missing_values_as_null(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"n": n, "x": None if n % 2 else 0.5, "l": [str(n)]} for n in range(2_500)]
    as_pandas = [{**row, "x": float("nan") if row["x"] is None else row["x"]} for row in rows]
    pq.write_table(pa.Table.from_pylist(as_pandas), tmp_path / "x.parquet")
    found = list(stream(tmp_path / "x.parquet"))
    assert [line.value for line in found] == rows
    assert found[-1].where == "x.parquet: row 2500"


def test_yaml_holds_what_json_would(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    assert values(tmp_path / "x.yaml", "- template_id: t\n  questions:\n  - id: 1\n  - id: 2\n") == [
        {"template_id": "t", "id": 1}, {"template_id": "t", "id": 2},
    ]


@pytest.mark.long
def test_a_large_array_is_not_held_in_memory(tmp_path: Path) -> None:
    """40 MB of JSON; the peak stays far below what the parsed rows would take."""
    path = tmp_path / "huge.json"
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        file.writelines(("," if n else "") + json.dumps({"n": n, "text": "x" * 4_000}) for n in range(10_000))
        file.write("]")
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom kgeval.tables.stream import stream\n"
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nprint(sum(1 for _ in stream(Path(sys.argv[1]))))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    rows, grown = done.stdout.split()
    assert rows == "10000"
    assert int(grown) / (1024 if sys.platform == "linux" else 1024**2) < 20


def test_a_name_that_ends_in_a_slash_is_a_folder_whatever_is_in_it(tmp_path: Path) -> None:
    """`-o run.v1/` was taken for a file of the form .v1: pathlib drops the slash."""
    import click
    from click.testing import CliRunner

    from kgeval.cli.common import OutputPath
    from kgeval.cli.main import cli
    from kgeval.tables.answers import targets

    given = tmp_path / "mine.jsonl"
    given.write_text(json.dumps({"id": "1", "question": "Q?", "answer": "A", "reference": "A"}) + "\n", encoding="utf-8")
    output = tmp_path / "deep" / "run.v1"
    done = CliRunner().invoke(cli, ["score", str(given), "--metrics", "exact_match", "-o", f"{output}/"])
    assert done.exit_code in (0, None) and {"run.json", "summary.json"} <= {file.name for file in output.iterdir()}, done.output

    @click.command()
    @click.option("-o", "output", type=OutputPath(path_type=Path))
    def nothing(output: Path) -> None:
        [target] = targets([output], ["a"])
        assert target.files == (tmp_path / "other.v1" / "a.jsonl",)

    assert CliRunner().invoke(nothing, ["-o", f"{tmp_path}/other.v1/"], catch_exceptions=False).exit_code == 0
    assert not (tmp_path / "other.v1").exists(), "what was not used goes again"
    refused = CliRunner().invoke(nothing, ["-o", f"{given}/"])
    assert refused.exit_code == 2 and "is a file" in refused.output
