"""Sheets for people, wherever they come from: written once, read back from any spreadsheet, with every fault."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from kgeval.errors import UsageError
from kgeval.tables.sheets import FilledSheet, write_sheet


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_sheet_comes_back_as_it_was_from_a_spreadsheet_of_any_country(tmp_path: Path, mark: str) -> None:
    path, cells = tmp_path / "new" / "s.csv", ["-1", "'tis", "a, b; c\td", "two\nlines", "bell\x07"]
    write_sheet(path, ["id", "label", "x", "y", "z"], [cells], head=["# made by somebody (n=1)", "# two, three; four"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    if mark != ",":
        rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=mark).writerows(rows)
    faults: list[str] = []
    sheet = FilledSheet(path, faults)
    assert sheet.head == [("s.csv:1", "# made by somebody (n=1)"), ("s.csv:2", "# two, three; four")]
    assert sheet.has("id", "label") and sheet.where == "s.csv:3"
    assert list(sheet.rows()) == [("s.csv:5", dict(zip(("id", "label", "x", "y", "z"), cells, strict=True)))] and not faults
    with pytest.raises(UsageError, match="may hold labels"):
        write_sheet(path, ["id"], [])


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet"])
def test_labels_may_come_as_rows_with_named_fields(tmp_path: Path, ending: str) -> None:
    path, rows = tmp_path / f"s{ending}", [{"id": 7.0, "label": "right"}, {"id": 8.0, "label": None}]
    if ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)) + "\n[3]\n" if ending == ".jsonl" else json.dumps(rows), encoding="utf-8")
    faults: list[str] = []
    sheet = FilledSheet(path, faults)
    assert sheet.has("id", "label") and [row for _, row in sheet.rows()] == [{"id": "7", "label": "right"}, {"id": "8", "label": ""}]
    assert faults == (["s.jsonl:3: a row must be an object with fields, found: list"] if ending == ".jsonl" else [])


def test_a_file_of_rows_that_cannot_be_read_is_no_sheet(tmp_path: Path) -> None:
    path, faults = tmp_path / "s.jsonl", list[str]()
    path.write_text("3\n{\n", encoding="utf-8")
    assert not FilledSheet(path, faults).has("id", "label")
    assert [fault.partition(": ")[0] for fault in faults] == ["s.jsonl:1", "s.jsonl:2", "s.jsonl"]


def test_faults_of_a_sheet_are_gathered_in_their_order(tmp_path: Path) -> None:
    path, faults = tmp_path / "s.csv", list[str]()
    path.write_text('a "b" c\n# note\n"x"y,1\nId,Note\n"1"2,3\n4,"5\n', encoding="utf-8")
    sheet = FilledSheet(path, faults)
    path.write_text("# note\n", encoding="utf-8")
    assert not FilledSheet(path, faults).has("id", "label") and not FilledSheet(path, faults).has("id")
    assert not sheet.has("id", "label")
    assert faults == [
        "s.csv: no header with the columns id and label", "s.csv: no header with the column id",
        "s.csv:1: the header lacks id, label; it has a \"b\" c",
    ]
    assert [row for _, row in sheet.rows()] == [{'a "b" c': "# note"}, {'a "b" c': "Id"}] and len(faults) == 6
