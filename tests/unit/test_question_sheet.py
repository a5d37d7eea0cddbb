"""The sheet on which people confirm questions: safe in a spreadsheet, read back without loss, faults all at once."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgeval.cli.main import run
from kgeval.errors import InputError, UsageError
from kgeval.questions.sheet import COLUMNS, Confirmed, confirmed, write_sheet
from kgeval.records import Passage, Question, QuestionCheck


def three() -> list[Question]:
    return [
        Question(id=f"q{n}", question=f"Who is number {n}?", reference=f"Number {n}.", kind="node", level="node",
                 evidence=[Passage(text=f"Number {n} is he.")], checks=[QuestionCheck(name="leak", passed=True)])
        for n in range(3)
    ]


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(), newline="")))


def filled(path: Path, name: str, decisions: dict[str, str], **texts: dict[str, str]) -> Path:
    """A copy of a sheet with decisions, and with other texts: question={id: text}."""
    rows = rows_of(path)
    header = next(row for row in rows if row[0] == "id")
    for row in rows[rows.index(header) + 1:]:
        row[1] = decisions.get(row[0], "")
        for column, new in texts.items():
            row[header.index(column)] = new.get(row[0], row[header.index(column)])
    out = path.with_name(name)
    with out.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return out


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    write_sheet(tmp_path / "sheet.csv", three())
    return tmp_path / "sheet.csv"


def test_no_cell_is_a_formula_and_a_sheet_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    write_sheet(path, [Question(id="=1", question="=HYPERLINK(1)", reference="+1\x00\r\n-2", evidence=[Passage(text="@x")])])
    rows = rows_of(path)
    assert rows[4] == list(COLUMNS)
    assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="may hold decisions"):
        write_sheet(path, three())


def test_kept_questions_are_kept_as_they_were_and_dropped_ones_go(sheet: Path) -> None:
    result = Confirmed()
    kept = list(confirmed(three(), [filled(sheet, "a.csv", {"q0": "Keep", "q1": "no", "q2": "y"})], "refuse", result))
    assert [q.id for q in kept] == ["q0", "q2"] and (result.kept, result.dropped, result.edited) == (2, 1, 0)
    assert kept[0].model_copy(update={"checks": kept[0].checks[:-1]}) == three()[0]
    assert kept[0].checks[-1] == QuestionCheck(name="confirmed", passed=True, reason="1 of 1 keep it")


def test_a_text_written_anew_takes_the_place_of_the_old_one_and_its_checks_go(sheet: Path) -> None:
    given = filled(sheet, "a.csv", dict.fromkeys(("q0", "q1", "q2"), "keep"), question={"q1": "Who was  first?"}, reference={"q2": "Ada"})
    result = Confirmed()
    kept = list(confirmed(three(), [given], "refuse", result))
    assert [q.question for q in kept] == ["Who is number 0?", "Who was first?", "Who is number 2?"]
    assert kept[2].reference == "Ada" and result.edited == 2
    assert kept[1].extra == {"question_before": "Who is number 1?"} and [c.name for c in kept[1].checks] == ["confirmed"]


def test_most_people_decide_and_a_tie_is_no_decision(sheet: Path) -> None:
    sheets = [filled(sheet, f"{n}.csv", {"q0": a, "q1": b, "q2": c}) for n, (a, b, c) in enumerate(
        (("keep", "keep", "drop"), ("keep", "drop", "drop"), ("drop", "", "keep")))]
    result = Confirmed()
    assert [q.id for q in confirmed(three(), sheets, "drop", result)] == ["q0"] and result.undecided == ["q1"]
    result = Confirmed()
    kept = list(confirmed(three(), sheets, "keep", result))
    assert [q.id for q in kept] == ["q0", "q1"] and kept[1].checks[-1].passed is None


def test_all_faults_of_all_sheets_come_at_once(sheet: Path) -> None:
    one = filled(sheet, "a.csv", {"q0": "perhaps", "q1": "keep", "q2": "keep"}, question={"q2": "One?", "q1": "See passage 3?"})
    two = filled(sheet, "b.csv", {"q2": "keep"}, question={"q2": "Two?"}, id={"q0": "q9", "q1": "q2"})
    with pytest.raises(InputError) as caught:
        list(confirmed(three(), [one, two], "refuse", Confirmed()))
    told = str(caught.value)
    for part in ("decision 'perhaps'", "'q2' stands twice", "'q9' is none of the questions", "different texts for the", "passage 3"):
        assert part in told, told


@pytest.mark.parametrize("text", ["", "no,header\n1,2\n", "# only a note\n"])
def test_a_file_that_is_no_sheet_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError):
        list(confirmed(three(), [tmp_path / "x.csv"], "refuse", Confirmed()))


@settings(max_examples=25, deadline=None)
@example(["\x850", "a\u2028b", "c\x0bd"])
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), min_size=1, max_size=4))
def test_any_text_goes_through_a_sheet_and_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("s") / "s.csv"
    questions = [Question(id=f"q{n}", question=text, reference=text) for n, text in enumerate(texts)]
    write_sheet(path, questions)
    given_back = filled(path, "back.csv", {q.id: "keep" for q in questions})
    kept = list(confirmed(questions, [given_back], "refuse", Confirmed()))
    assert [(q.question, q.reference) for q in kept] == [(q.question, q.reference) for q in questions]


def test_the_command_writes_a_sheet_and_takes_it_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.jsonl").write_text("".join(q.model_dump_json(exclude_defaults=True) + "\n" for q in three()))
    base = ["questions", "confirm", str(tmp_path / "q.jsonl")]
    assert run([*base, "--sheet", str(tmp_path / "s.csv")]) == 0
    assert run([*base, str(tmp_path / "s.csv"), "-o", str(tmp_path / "kept.jsonl")]) == 3
    assert "3 questions have no decision: q0, q1, q2" in capsys.readouterr().err and not (tmp_path / "kept.jsonl").exists()
    given_back = filled(tmp_path / "s.csv", "done.csv", {"q0": "keep", "q1": "drop"})
    assert run([*base, str(given_back), "-o", str(tmp_path / "kept.jsonl"), "--undecided", "keep"]) == 0
    assert [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()] == ["q0", "q2"]
    assert run([*base, str(given_back), "-o", str(tmp_path / "q.jsonl")]) == 2
    assert run(base) == 2
