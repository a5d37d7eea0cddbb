"""Tables of other tools beside kgeval's scores [D 5.1]: ragas' columns, joined by ids or texts; what cannot be joined is said."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import spearmanr

import kgeval
from kgeval.cli.main import run
from kgeval.comparison.people.dimensions import pair_kind
from kgeval.records import AgreementReport, HumanLabel, MatrixReport, Score

VALUES = [0.1, 0.4, 0.2, 0.9, 0.7, 0.3]
THEIRS = [0.2, 0.3, 0.1, 0.8, 0.9, 0.5]
Cell = str | float | None


def write_scores(folder: Path, systems: str = "a") -> str:
    scores = [
        Score(question_id=f"q{n}", system=system, metric=metric, value=value, status="scored", signature="x")
        for system in systems for metric in ("faithfulness", "kg_matching_faithfulness")
        for n, value in enumerate(VALUES if metric == "faithfulness" else VALUES[::-1])
    ]
    (folder / "scores.jsonl").write_text("".join(score.model_dump_json() + "\n" for score in scores))
    questions = [{"id": f"q{n}", "question": f"Who is  {n}?"} for n in range(6)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    return str(folder / "scores.jsonl")


def write_ragas(path: Path, **columns: list[Cell]) -> str:
    """As `to_pandas().to_csv()` writes it: an index, texts, lists as text, and the metrics."""
    own: dict[str, list[Cell]] = {
        "": list(range(6)), "user_input": [f"Who is {n}?" for n in range(6)], "retrieved_contexts": ["['a text', 'more']"] * 6,
        "response": [f"It is {n}" for n in range(6)], "reference": ["Somebody"] * 6,
        "faithfulness": [*THEIRS[:5], None], "factual_correctness(mode=f1)": [1 - value for value in THEIRS],
    } | columns
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(own), *zip(*own.values(), strict=True)])
    return str(path)


def correlated(folder: Path, *given: str) -> MatrixReport:
    assert run(["metrics", "correlate", *given, "-q", "-o", str(folder / "m.json")]) == 0
    return MatrixReport.model_validate_json((folder / "m.json").read_text())


def test_ragas_columns_stand_beside_ours_by_the_texts_of_questions(tmp_path: Path) -> None:
    report = correlated(tmp_path, write_scores(tmp_path), write_ragas(tmp_path / "r.csv"), "--questions", str(tmp_path / "questions.jsonl"))
    group = report.groups[0]
    assert group.metrics == ["faithfulness", "kg_matching_faithfulness", "ragas: faithfulness", "ragas: factual_correctness(mode=f1)"]
    cells = {(cell.first, cell.second): cell for cell in group.cells}
    cell = cells["faithfulness", "ragas: faithfulness"]
    assert cell.n == 5 and cell.value == pytest.approx(spearmanr(VALUES[:5], THEIRS[:5]).statistic), "its last cell is empty"
    assert cells["faithfulness", "ragas: factual_correctness(mode=f1)"].n == 6 and report.systems == ["a"]
    own = next(one for one in report.groups if one.by == "pair_kind" and one.value == "faithfulness")
    assert own.metrics == ["faithfulness", "kg_matching_faithfulness", "ragas: faithfulness"]


def test_tables_with_ids_and_systems_need_nothing_else_and_their_other_rows_are_counted(tmp_path: Path) -> None:
    rows = [
        {"question_id": f"q{n}", "system": system, "verdict": value, "latency_s": 9.5, "why": "long", "passed": value > 0.5}
        for system in "ab" for n, value in enumerate([*THEIRS, 0.4])
    ]
    (tmp_path / "mytool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = correlated(tmp_path, write_scores(tmp_path, "ab"), str(tmp_path / "mytool.jsonl"))
    assert report.groups[0].metrics[2:] == ["mytool: verdict", "mytool: passed"] and report.groups[0].n["mytool: verdict"] == 12
    assert report.notes == ["mytool.jsonl: 2 of 14 rows are about questions that the other files do not have"]


def test_a_file_a_system_is_called_after_it(tmp_path: Path) -> None:
    given = [write_ragas(tmp_path / f"{system}.csv", question_id=[f"q{n}" for n in range(6)]) for system in "ab"]
    report = correlated(tmp_path, write_scores(tmp_path, "ab"), *given)
    assert report.groups[0].n["ragas: factual_correctness(mode=f1)"] == 12 and report.systems == ["a", "b"]


def test_files_of_one_name_are_all_read(tmp_path: Path) -> None:
    """a.jsonl of kgeval and a.csv of ragas lie side by side; a second table of the same answers is another one."""
    own = tmp_path / "a.jsonl"
    own.write_text(Path(write_scores(tmp_path)).read_text())
    (tmp_path / "b").mkdir()
    given = [write_ragas(tmp_path / folder / "a.csv", question_id=[f"q{n}" for n in range(6)]) for folder in ("", "b")]
    assert correlated(tmp_path, str(own), *given).groups[0].metrics == [
        "faithfulness", "kg_matching_faithfulness", "ragas: faithfulness", "ragas: factual_correctness(mode=f1)",
    ]
    labels = [
        HumanLabel(id=f"i{n}", annotator="ann", label="1", question_id=f"q{n}", metric="faithfulness", system_a="a") for n in range(6)
    ]
    (tmp_path / "labels.jsonl").write_text("".join(label.model_dump_json() + "\n" for label in labels))
    found = kgeval.agree(tmp_path / "labels.jsonl", scores=[str(own), *given]).to_pandas()
    names = set(found["predictor"]) - {"the other people"}
    assert {name for name in names if "ragas" not in name} == {"faithfulness", "kg_matching_faithfulness"}
    assert len(names) == 6, "each of ragas' two metrics from both tables"


@pytest.mark.parametrize(("columns", "systems", "what"), [
    ({}, "a", "none of its 6 rows is about a question of the others"),
    ({"question_id": [f"q{n}" for n in range(6)]}, "ab", "does not say of which system its scores are; there are a, b"),
    ({"question_id": ["q1"] * 6}, "a", "r.csv:3: a second row of 'a' for the place of r.csv:2"),
    ({"question_id": [f"q{n}" for n in range(6)], "faithfulness": [*THEIRS[:5], "high"]}, "a", "r.csv:7: faithfulness: a number expected"),
    ({"question_id": [f"q{n}" for n in range(6)], "faithfulness": [None] * 6, "factual_correctness(mode=f1)": ["no idea"] * 6}, "a",
     "holds no scores: no column of numbers"),
])
def test_what_cannot_be_joined_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: dict[str, list[Cell]], systems: str, what: str,
) -> None:
    assert run(["metrics", "correlate", write_scores(tmp_path, systems), write_ragas(tmp_path / "r.csv", **columns)]) == 2
    assert what in capsys.readouterr().err


def test_rows_of_a_text_that_several_questions_have_need_ids_and_repeats_are_trials(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    own = [write_scores(tmp_path), "--questions", str(tmp_path / "questions.jsonl")]
    questions = [{"id": f"q{n}", "question": f"Who is {max(n, 1)}?"} for n in range(6)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    table = write_ragas(tmp_path / "r.csv", user_input=[f"Who is {max(n, 1)}?" for n in range(6)])
    assert run(["metrics", "correlate", *own, table, write_ragas(tmp_path / "s.csv", user_input=["Who?"] * 6)]) == 2
    told = capsys.readouterr().err
    assert "r.csv:2: several questions have the text 'Who is 1?'" in told and "add a column question_id" in told
    assert "s.csv: none of its 6 rows" in told, "every file's faults at once"
    rows = [{"question_id": f"q{n}", "trial": trial, "theirs": value + trial} for trial in (1, 2) for n, value in enumerate(THEIRS)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    group = correlated(tmp_path, *own, str(tmp_path / "t.jsonl")).groups[0]
    cell = next(cell for cell in group.cells if (cell.first, cell.second) == ("faithfulness", "t: theirs"))
    assert cell.n == 6 and cell.value == pytest.approx(spearmanr(VALUES, THEIRS).statistic), "trials count with their mean"
    (tmp_path / "t.jsonl").write_text('{"question_id": ["q1"], "m": 1}\n{"question_id": "q1", "trial": "second", "m": 1}\n')
    assert run(["metrics", "correlate", *own, str(tmp_path / "t.jsonl")]) == 2
    told = capsys.readouterr().err
    assert "t.jsonl:1: question_id: a text expected, found a list" in told and "t.jsonl:2: trial: a number expected" in told
    longs = [{"question_id": f"q{n}", "metric": name, "score": 0.5} for n in range(6) for name in "xy"]
    (tmp_path / "long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in longs))
    assert run(["metrics", "correlate", *own, str(tmp_path / "long.jsonl")]) == 2
    assert "a column of numbers a metric" in capsys.readouterr().err


def test_ragas_is_held_against_people_in_its_dimension_and_lower_is_turned(tmp_path: Path) -> None:
    labels = [
        HumanLabel(id=f"i{n}", annotator=who, label=str(label), question_id=f"q{n}", metric="faithfulness", system_a="a")
        for n, label in enumerate((0, 1, 0, 4, 5, 2)) for who in ("ann", "ben")
    ]
    (tmp_path / "labels.jsonl").write_text("".join(label.model_dump_json() + "\n" for label in labels))
    write_scores(tmp_path)
    table = write_ragas(tmp_path / "r.csv", **{
        "faithfulness": list(THEIRS), "noise_sensitivity(mode=relevant)": [1 - x for x in THEIRS], "Hallucination": [1 - x for x in THEIRS],
    })
    assert run(["annotate", "agreement", str(tmp_path / "labels.jsonl"), "--scores", table, "--scores", str(tmp_path / "scores.jsonl"),
                "--questions", str(tmp_path / "questions.jsonl"), "-q", "-o", str(tmp_path / "r.json")]) == 0
    report = AgreementReport.model_validate_json((tmp_path / "r.json").read_text())
    by_name = {one.predictor: one for one in report.predictors if one.by == "all"}
    assert {name for name, one in by_name.items() if one.fits} == {"faithfulness", "kg_matching_faithfulness", "ragas: faithfulness"}
    expected = spearmanr([value for value in THEIRS for _ in range(2)], [int(label.label) for label in labels]).statistic
    assert by_name["ragas: faithfulness"].spearman.value == pytest.approx(expected)
    for name in ("noise_sensitivity(mode=relevant)", "Hallucination"):
        assert by_name[f"ragas: {name} (turned: lower is better)"].spearman.value == pytest.approx(expected)


def test_names_of_tools_have_their_pair_of_texts() -> None:
    assert pair_kind("ragas: factual_correctness(mode=f1)") == "factual_correctness" == pair_kind("deepeval: Answer Correctness")
    assert pair_kind("ragas: context_recall") is None and pair_kind("ragas: response_relevancy") == "answer_relevancy"


def test_a_data_frame_of_ragas_is_taken_as_it_is(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user_input": [f"Who is {n}?" for n in range(6)], "response": "So.", "faithfulness": THEIRS})
    label = {"annotator": "ann", "metric": "faithfulness", "system_a": "a"}
    labels = [{**label, "id": f"i{n}", "label": str(n), "question_id": f"q{n}"} for n in range(6)]
    questions = [{"id": f"q{n}", "question": f"Who is {n}?"} for n in range(6)]
    found = kgeval.agree(labels, scores=frame, questions=questions).to_pandas()
    assert found.loc[found["predictor"] == "ragas: faithfulness", "fits"].tolist() == [True]
