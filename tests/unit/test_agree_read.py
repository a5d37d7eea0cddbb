"""Labels back in: what a label means whatever stood first, partly filled sheets, and every fault at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from people_world import fill, header_of, key_at, rows_of, write_world

from kgeval.cli.main import run
from kgeval.comparison.people.reading import read_filled
from kgeval.comparison.people.scales import label_of, word_of
from kgeval.records import HumanLabel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sheets of three people; alpha-rag's answers end with "words of a."."""
    assert run(["annotate", "sheet", *write_world(tmp_path), "-o", str(tmp_path / "s"), "--key", str(tmp_path / "key.json"), "--n", "6",
                "--annotators", "ann,ben,cem", "--aspects", "relevance"]) == 0
    return tmp_path


def prefers_alpha(row: dict[str, str], aspect: str) -> str:
    """Alpha is better, much better all in all."""
    side = "1" if row["answer_1"].endswith("of a.") else "2"
    return f"{side} much" if aspect == "overall" else side


def read(folder: Path, *names: str) -> list[HumanLabel]:
    assert run(["annotate", "read", *(str(folder / "s" / name) for name in names), "--key", str(folder / "key.json"),
                "-o", str(folder / "labels.jsonl")]) == 0
    return [HumanLabel.model_validate_json(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_a_label_says_how_much_better_a_is_whatever_stood_first(folder: Path) -> None:
    for name in ("ann", "ben"):
        fill(folder / "s" / f"{name}.csv", prefers_alpha)
    labels = read(folder, "ann.csv", "ben.csv")
    assert len(labels) == 2 * 6 * 2
    for label in labels:
        better = 2 if label.metric == "overall" else 1
        assert int(label.label) == (better if label.system_a == "alpha-rag" else -better)
        assert {label.system_a, label.system_b} == {"alpha-rag", "beta-rag"} and label.level in ("node", "edge", "path")
    firsts = key_at(folder / "key.json").first["ann"]
    assert set(firsts.values()) == {"alpha-rag", "beta-rag"}, "both orders were on the sheet"


def test_empty_cells_are_counted_and_people_without_a_sheet_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(folder / "s" / "ann.csv", lambda row, aspect: "equal" if aspect == "overall" else "")
    labels = read(folder, "ann.csv")
    assert {(label.label, label.metric) for label in labels} == {("0", "overall")} and len(labels) == 6
    told = capsys.readouterr().err
    assert "ann: 6 of 12 labels" in told and "no sheet of: ben, cem (2 of 3 people)" in told


def test_the_page_s_file_and_the_sheet_say_the_same(folder: Path) -> None:
    key = key_at(folder / "key.json")
    fill(folder / "s" / "ann.csv", prefers_alpha)
    page = {
        "mark": "kgeval annotate sheet", "run": key.run, "annotator": "ann", "scope": "pairs",
        "notes": {next(iter(key.first["ann"])): "unsure"},
        "labels": [
            {"id": item, "aspect": aspect, "label": ("1" if first == "alpha-rag" else "2") + (" much" if aspect == "overall" else "")}
            for item, first in key.first["ann"].items() for aspect in key.aspects
        ],
    }
    (folder / "s" / "ann.json").write_text(json.dumps(page))
    one, other = (read_filled([folder / "s" / name], key).labels for name in ("ann.csv", "ann.json"))
    assert {(a.id, a.metric, a.label) for a in one} == {(b.id, b.metric, b.label) for b in other}
    assert sum(label.note == "unsure" for label in other) == 2
    assert len(read_filled([folder / "s" / "ann.csv", folder / "s" / "ann.json"], key).labels) == 12, "the same label twice counts once"


def test_sheets_that_a_spreadsheet_changed_are_read(folder: Path) -> None:
    """Semicolons, a byte order mark, numbers with a decimal, capitals, other line ends."""
    path = fill(folder / "s" / "ann.csv", lambda row, aspect: "1.0" if aspect == "overall" else "Equal ")
    rows = rows_of(path)
    at = header_of(rows)
    text = "\ufeff" + "\r\n".join(";".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows[: at + 10])
    path.write_text(text, encoding="utf-8")
    labels = read(folder, "ann.csv")
    assert {label.label for label in labels if label.metric == "relevance"} == {"0"}
    assert {label.label for label in labels if label.metric == "overall"} == {"1", "-1"}


@pytest.mark.parametrize(("given", "word"), [
    ("1 much", "1 much"), ("1-MUCH", "1 much"), ("1 much better", "1 much"), ("Answer 2", "2"), ("2 better.", "2"), ("tie", "equal"),
    ("0", "equal"), ("-1", None), ("3", None), ("A", None), ("better", None),
])
def test_words_of_pairs(given: str, word: str | None) -> None:
    assert word_of(given, "pairs") == word


@pytest.mark.parametrize(("given", "word"), [
    ("4", "4"), ("4.0", "4"), ("4,0", "4"), ("6", None), ("-1", None), ("4.5", None), ("good", None),
])
def test_words_of_single_answers(given: str, word: str | None) -> None:
    assert word_of(given, "answers") == word


def test_labels_are_turned_with_the_answers() -> None:
    assert [label_of(word, "pairs", turned=False) for word in ("1 much", "1", "equal", "2", "2 much")] == ["2", "1", "0", "-1", "-2"]
    assert [label_of(word, "pairs", turned=True) for word in ("1 much", "2 much")] == ["-2", "2"]
    assert label_of("4", "answers", turned=True) == "4"


def faults(folder: Path, capsys: pytest.CaptureFixture[str], *names: str) -> str:
    out = folder / "labels.jsonl"
    assert run(["annotate", "read", *(str(folder / "s" / name) for name in names), "--key", str(folder / "key.json"), "-o", str(out)]) == 2
    assert not out.exists()
    return capsys.readouterr().err


def test_every_fault_of_every_sheet_comes_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = iter(["perhaps", "-2", *["1"] * 100])
    rows = rows_of(fill(folder / "s" / "ann.csv", lambda row, aspect: next(words)))
    at = header_of(rows)
    rows[at + 3][0] = "i999"
    rows[at + 4] = rows[at + 5][:1] + ["2"] * 2 + rows[at + 5][3:]
    (folder / "s" / "ann.csv").write_text("\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows))
    (folder / "s" / "ben.json").write_text(json.dumps({"mark": "kgeval annotate sheet", "run": "other", "annotator": "ben", "labels": []}))
    told = faults(folder, capsys, "ann.csv", "ben.json")
    assert "label 'perhaps' is none of 1 much, 1, equal, 2, 2 much" in told and "label '-2'" in told
    assert "id 'i999' is no item of this run" in told and "and otherwise at ann.csv:" in told
    assert "ben.json: the sheet is of run other" in told and "ann.csv:" in told


@pytest.mark.slow
@pytest.mark.parametrize(("text", "what"), [
    ("id,relevance,overall\ni001,1,1\n", "nobody knows whose it is"),
    ("# kgeval annotate sheet (run={run} scope=pairs annotator=zoe)\nid,relevance,overall\n", "nobody is called 'zoe'"),
    ("# kgeval annotate sheet (run={run} scope=pairs annotator=ann)\nid,overall\n", "the header lacks relevance"),
    ("# kgeval annotate sheet (run={run} scope=pairs annotator=ann)\n", "no header with the column id"),
])
def test_a_sheet_that_cannot_be_told_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], text: str, what: str) -> None:
    (folder / "s" / "x.csv").write_text(text.replace("{run}", key_at(folder / "key.json").run))
    assert what in faults(folder, capsys, "x.csv")


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "what"), [
    ([{"id": "i001"}], "needs id, aspect and label"), ([{"id": "i001", "aspect": "charm", "label": "1"}], "aspect 'charm' is none of"),
    ([{"id": "zz", "aspect": "overall", "label": "1"}], "is no item of this run"), ("none", "holds no labels of a page"),
])
def test_faulty_files_of_a_page_are_refused(folder: Path, capsys: pytest.CaptureFixture[str], labels: object, what: str) -> None:
    page = {"mark": "kgeval annotate sheet", "run": key_at(folder / "key.json").run, "annotator": "ann", "labels": labels}
    (folder / "s" / "x.json").write_text(json.dumps(page))
    assert what in faults(folder, capsys, "x.json")


@pytest.mark.slow
@pytest.mark.parametrize(("options", "what"), [
    (["s/ann.csv", "-o", "l.jsonl"], "cannot be read without their key"),
    (["s/ann.csv", "--key", "questions.jsonl", "-o", "l.jsonl"], "Fix:"),
    (["s/ann.csv", "--key", "key.json", "-o", "s/ann.csv"], "would replace a file that is read"),
    (["s/ann.csv", "--key", "key.json", "-o", "l.jsonl", "--write-answers", "a.jsonl"], "are for --labels-format ragchecker"),
    (["questions.jsonl", "--labels-format", "ragchecker", "-o", "l.jsonl"], "is no row of RAGChecker's"),
    (["questions.jsonl", "--labels-format", "ragchecker", "-o", "l.jsonl", "--write-answers", "l.jsonl"], "two outputs are one file"),
])
def test_wrong_options(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], what: str,
) -> None:
    monkeypatch.chdir(folder)
    assert run(["annotate", "read", *options]) == 2
    assert what in capsys.readouterr().err and not (folder / "l.jsonl").exists()


def test_ragchecker_s_form_becomes_labels_answers_and_questions(tmp_path: Path) -> None:
    row = {
        "dataset": "kiwi", "query_id": "7", "query": "Why?", "gt_answer": "Because.", "model1": {"model_name": "x", "response": "one"},
        "model2": {"model_name": "y", "response": "two"}, "correctness_label": 2, "completeness_label": -1, "overall_label": 0,
    }
    (tmp_path / "pairs.json").write_text(json.dumps([row, {**row, "overall_label": 1}]))
    names = {name: str(tmp_path / f"{name}.jsonl") for name in ("labels", "answers", "questions")}
    assert run(["annotate", "read", str(tmp_path / "pairs.json"), "--labels-format", "ragchecker", "-o", names["labels"],
                "--write-answers", names["answers"], "--write-questions", names["questions"]]) == 0
    labels = [HumanLabel.model_validate_json(line) for line in Path(names["labels"]).read_text().splitlines()]
    assert [(one.annotator, one.metric, one.label) for one in labels] == [
        ("person-1", "correctness", "-2"), ("person-1", "completeness", "1"), ("person-1", "overall", "0"),
        ("person-2", "correctness", "-2"), ("person-2", "completeness", "1"), ("person-2", "overall", "-1"),
    ], "RAGChecker's labels are positive where the second answer is better, kgeval's where A is"
    assert {(one.question_id, one.system_a, one.system_b, one.dataset) for one in labels} == {("kiwi/7", "x", "y", "kiwi")}
    assert len(Path(names["answers"]).read_text().splitlines()) == 2
    assert json.loads(Path(names["questions"]).read_text())["reference"] == "Because."


def test_faults_of_ragchecker_s_rows_come_with_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"query_id": "7", "query": "Why?", "model1": {"model_name": "x"}, "model2": {"model_name": "y", "response": "b"},
           "correctness_label": 3, "completeness_label": True, "overall_label": 0}
    (tmp_path / "pairs.json").write_text(json.dumps([row]))
    assert run(["annotate", "read", str(tmp_path / "pairs.json"), "--labels-format", "ragchecker", "-o", str(tmp_path / "l.jsonl")]) == 2
    told = capsys.readouterr().err
    assert "model1: needs model_name and response" in told and "correctness_label: 3" in told and "completeness_label: True" in told


def test_sheets_that_nobody_has_filled_in_are_refused_and_nothing_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["annotate", "read", str(folder / "s" / "ann.csv"), "--key", str(folder / "key.json"), "-o", str(folder / "labels.jsonl")]
    assert run(given) == 2
    assert "no sheet has a label yet" in capsys.readouterr().err and not (folder / "labels.jsonl").exists()
