"""The sheet for people: blind, safe in a spreadsheet, read back with all faults at once."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from kgeval.auditing.accuracy.sample import Sample, SampleItem, SampleSpec
from kgeval.auditing.accuracy.sheet import read_sheets, write_sheet
from kgeval.errors import InputError, UsageError
from kgeval.records import GraphRef, Passage, SampleDesign

WANTED = SampleSpec(n=3, seed=5)


def item(name: str, **shown: str) -> SampleItem:
    return SampleItem(
        id=name, ref=GraphRef(key=name, name=name, type="KNOWS", kind="relation"), shown={"subject": name, "predicate": "KNOWS", **shown},
        stratum="", cluster=f"|c|{name}", home="c", weight=1.0, passages=(Passage(text="Ada wrote,\nto \"Bob\".", chunk_id="c"),),
    )


def sample(*names: str) -> Sample:
    items = [item(name) for name in names]
    design = SampleDesign(
        method="", seed=5, wanted=3, drawn=len(items), population=9, without_source=0, clusters=9, clusters_drawn=len(items),
    )
    return Sample(items, design, {"": 9})


def labelled(path: Path, labels: dict[str, str], **columns: str) -> Path:
    """Fills in the label column as a person would."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines(keepends=True)))
    header = next(row for row in rows if row[0] == "id")
    for row in rows:
        if row[0] in labels:
            row[header.index("label")] = labels[row[0]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "ada.csv"
    write_sheet(path, sample("a1", "b2", "c3"), WANTED, graph="my graph")
    return path


def test_the_sheet_says_what_to_do_shows_no_verdict_and_is_private(sheet: Path) -> None:
    text = sheet.read_text(encoding="utf-8")
    assert "entailed, contradicted, not_stated" in text
    rows = [row for row in csv.reader(text.splitlines(keepends=True)) if not row[0].startswith("#")]
    assert rows[0][:2] == ["id", "label"]
    assert [(row[0], row[1]) for row in rows[1:]] == [("a1", ""), ("b2", ""), ("c3", "")]
    assert rows[1][rows[0].index("passage")] == "Ada wrote,\nto \"Bob\"."
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o600


def test_a_sheet_that_is_there_is_never_overwritten(sheet: Path) -> None:
    with pytest.raises(UsageError, match="may hold labels"):
        write_sheet(sheet, sample("a1"), WANTED, graph=None)


def test_labels_are_read_whatever_their_spelling_and_the_cells_separator(sheet: Path) -> None:
    labelled(sheet, {"a1": " Entailed ", "b2": "NOT STATED"})
    found = read_sheets([sheet], sample("a1", "b2", "c3"), WANTED)
    assert found.votes == {"a1": ("entailed",), "b2": ("not_stated",)}
    assert found.rows == {"a1", "b2", "c3"}
    sheet.write_text("id;label\na1;contradicts\n", encoding="utf-8")
    assert read_sheets([sheet], sample("a1"), WANTED).votes == {"a1": ("contradicted",)}
    sheet.write_text("\ufeffid\tannotator\tlabel\na1\teva\tnot-stated\n", encoding="utf-8")
    assert read_sheets([sheet], sample("a1"), WANTED).labels[0].annotator == "eva"


def test_labels_kept_elsewhere_are_rows_with_an_id_and_a_label(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": "a1", "label": "Entailed", "n": 1}, {"id": "b2", "annotator": "eva", "label": "not stated"}, {"id": "c3", "label": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = read_sheets([path], sample("a1", "b2", "c3"), WANTED)
    assert [(one.id, one.annotator, one.label) for one in read.labels] == [("a1", "rows", "entailed"), ("b2", "eva", "not_stated")]
    assert read.rows == {"a1", "b2", "c3"}
    path.write_text('{"id": "x", "label": "entailed"}\nnonsense\n{"id": "a1", "label": 5}\n', encoding="utf-8")
    with pytest.raises(InputError) as fault:
        read_sheets([path], sample("a1"), WANTED)
    assert sorted(line.partition(": ")[0] for line in fault.value.faults) == ["rows.jsonl:1", "rows.jsonl:2", "rows.jsonl:3"]


def test_several_people_vote_and_a_tie_has_no_majority(tmp_path: Path) -> None:
    paths = []
    for name, label in (("ada", "entailed"), ("bob", "entailed"), ("eva", "contradicted"), ("tom", "not_stated")):
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text(f"id,label\na1,{label}\n", encoding="utf-8")
    found = read_sheets(paths, sample("a1"), WANTED)
    assert found.majority("a1") == "entailed"
    assert found.share("a1", ("entailed",)) == 0.5
    assert read_sheets(paths[1:3], sample("a1"), WANTED).majority("a1") is None
    assert found.majority("zz") is None


def test_all_faults_come_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,label\na1,perhaps\nzz,entailed\nb2,entailed\nb2,entailed\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_sheets([path], sample("a1", "b2"), WANTED)
    assert wrong.value.faults == (
        "x.csv:2: label 'perhaps' is none of entailed, contradicted, not_stated", "x.csv:3: id 'zz' is not in this sample",
        "annotator 'x' labelled id 'b2' 2 times",
    )


def test_consistency_is_asked_beside_what_the_graph_has_elsewhere_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "ada.csv"
    write_sheet(path, sample("a1", "b2"), WANTED, graph=None, elsewhere={"a1": "KNOWS: 12\nKNOWN_BY: 3"})
    text = path.read_text(encoding="utf-8")
    rows = [row for row in csv.reader(text.splitlines(keepends=True)) if not row[0].startswith("#")]
    assert rows[0][:3] == ["id", "label", "consistency"] and rows[1][rows[0].index("elsewhere")] == "KNOWS: 12\nKNOWN_BY: 3"
    assert "# consistency: consistent = the graph joins such things elsewhere" in text
    assert read_sheets([path], sample("a1", "b2"), WANTED).consistency is None, "nobody has filled it in"
    others = tmp_path / "bob.csv"
    others.write_text("id,label,consistency\na1,,Inconsistent\nb2,entailed,\n", encoding="utf-8")
    path.write_text("id,label,consistency\na1,entailed,consistent\nb2,not stated,perhaps\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_sheets([path], sample("a1", "b2"), WANTED)
    assert wrong.value.faults == ("ada.csv:3: consistency 'perhaps' is none of consistent, inconsistent",)
    path.write_text("id,label,consistency\na1,entailed,consistent\na1,,consistent\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_sheets([path], sample("a1", "b2"), WANTED)
    assert wrong.value.faults == ("annotator 'ada' judged the consistency of id 'a1' 2 times",)
    path.write_text("id,label,consistency\na1,entailed,consistent\nb2,not stated,\n", encoding="utf-8")
    found = read_sheets([path, others], sample("a1", "b2"), WANTED)
    assert found.votes == {"a1": ("entailed",), "b2": ("not_stated", "entailed")} and found.consistency is not None
    assert found.consistency.votes == {"a1": ("consistent", "inconsistent")} and found.consistency.rows == {"a1", "b2"}


def test_a_sheet_of_another_sample_is_told_by_its_head(sheet: Path) -> None:
    with pytest.raises(InputError) as wrong:
        read_sheets([sheet], sample("a1"), SampleSpec(n=2, seed=6, strata="type"))
    assert wrong.value.faults == (
        "ada.csv:1: the sheet was drawn with --seed 5, this run with --seed 6",
        "ada.csv:1: the sheet was drawn with --strata none, this run with --strata type",
        "ada.csv:1: the sheet was drawn with --n 3, this run has only --n 2",
    )


@pytest.mark.parametrize("text", ["label\nentailed\n", "# only a comment\n", "name,age\na,1\n"])
def test_a_file_without_the_columns_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="1 faults"):
        read_sheets([path], sample("a1"), WANTED)


def test_formulas_in_names_and_passages_are_harmless_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    hostile = Sample([item("a1", object="=HYPERLINK(\"http://x\")", description="@SUM(A1)\x00\x07")], sample("a1").design, {"": 9})
    write_sheet(path, hostile, WANTED, graph="=cmd|' /C calc'!A0")
    cells = [cell for row in csv.reader(path.read_text(encoding="utf-8").splitlines(keepends=True)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert "\x00" not in path.read_text(encoding="utf-8")
