"""`kgeval.score` from Python, without a model: rows as objects of every kind, and what is said of those that cannot be read."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from report_page import unpacked
from test_audit_diff import finding, report

import kgeval
from kgeval.errors import GateError, InputError, UsageError
from kgeval.records import Answer
from kgeval.tables.scores import read_scores
from kgeval.workflows.audit import AuditResult

QUESTIONS = [
    {"question_id": "q1", "question": "Who?", "reference": "Ann Lee"}, {"question_id": "q2", "question": "Where?", "reference": "Rome"},
]
ANSWERS: list[dict[str, Any]] = [{"question_id": "q1", "answer": "Ann"}, {"question_id": "q2", "answer": "Rome"}]
EXPECTED = {"q1": 2 / 3, "q2": 1.0}  # one word of one, one of two: 2 * 1 * 0.5 / 1.5


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def scored(answers: Any, **options: Any) -> kgeval.ScoreResult:
    return kgeval.score(answers, metrics="token_f1", **{"questions": QUESTIONS, "config": False, **options})


def values(result: kgeval.ScoreResult) -> dict[str, float | None]:
    return {score.question_id: score.value for score in result.scores}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["list", "tuple", "iterator", "frame", "records", "file", "numpy"])
def test_rows_of_every_kind_score_the_same_and_leave_nothing_behind(form: str, tmp_path: Path) -> None:
    pd.DataFrame(ANSWERS).to_json("answers.jsonl", orient="records", lines=True)
    rows: Any = {
        "list": ANSWERS, "tuple": tuple(ANSWERS), "iterator": iter(ANSWERS), "frame": pd.DataFrame(ANSWERS),
        "records": [Answer(question_id=row["question_id"], system="answers", answer=row["answer"]) for row in ANSWERS],
        "file": "answers.jsonl", "numpy": [row | {"contexts": np.array(["a", "b"])} for row in ANSWERS],
    }[form]
    result = scored(rows)
    assert values(result) == pytest.approx(EXPECTED)
    assert [file.path for file in result.report.run.inputs] == [str(rows) if form == "file" else "answers", "questions"]
    assert list(result.to_pandas()["value"]) == pytest.approx([2 / 3, 1.0])
    assert [score.value for score in read_scores(result.save("scores.jsonl"))] == pytest.approx([2 / 3, 1.0])
    assert "token_f1" in result.rendered("html") and "<iframe" in result._repr_html_()
    del result
    assert not list(tmp_path.glob("kgeval-*")), "private files are gone"


def test_frames_of_several_systems_are_one_run() -> None:
    result = scored([pd.DataFrame(ANSWERS).assign(system="a"), pd.DataFrame(ANSWERS[:1]).assign(system="b")])
    assert [(system.system, system.answers) for system in result.report.systems] == [("a", 2), ("b", 1)]


def test_missing_cells_of_a_frame_are_absent() -> None:
    frame = pd.DataFrame([{"question_id": "q1", "answer": "Ann", "latency": np.nan}, {"question_id": "q2", "answer": None, "latency": 2.0}])
    assert values(scored(frame)) == pytest.approx({"q1": 2 / 3, "q2": 0.0}), "as a null in a file: an empty answer"
    frame["answer"] = ["Ann", "Rome"]
    frame["when"] = [pd.NaT, pd.Timestamp("2026-01-01")]
    assert values(scored(frame)) == pytest.approx(EXPECTED)


def test_columns_of_mixed_types_are_read_cell_by_cell() -> None:
    frame = pd.DataFrame({"question_id": [1, "q2"], "answer": [1907, "Rome"], "contexts": [["a"], float("nan")]}, dtype=object)
    questions = [{"question_id": "1", "question": "When?", "reference": "1907"}, QUESTIONS[1]]
    assert values(scored(frame, questions=questions)) == {"1": 1.0, "q2": 1.0}
    with pytest.raises(InputError, match="answers:2: contexts: "):
        scored(frame.assign(contexts=[["a"], 7]), questions=questions)


def test_a_gate_can_be_looked_at_or_raised() -> None:
    result = scored(ANSWERS, thresholds="token_f1>=0.9")
    assert (result.exit_code, [gate.met for gate in result.gates]) == (1, [False])
    with pytest.raises(GateError, match=r"answers: token_f1 >= 0\.9 \(0\.8333\)"):
        result.raise_for_gates()


def raising() -> Iterator[dict[str, Any]]:
    yield ANSWERS[0]
    raise ZeroDivisionError("mine")


def test_what_a_generator_raises_comes_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="mine"):
        scored(raising())
    assert not list(tmp_path.glob("kgeval-*"))


@pytest.mark.parametrize(("answers", "faults"), [
    ([ANSWERS[0], 7, {"answer": object()}], ("answers:2: a row is a mapping, not int", "answers:3: a value of type object cannot be read")),
    ([ANSWERS[0], {"question_id": "q2"}], ("answers:2: answer: missing (looked for: answer; null is an empty answer)",)),
    ([], ()), (iter(()), ()), (pd.DataFrame([["q1", "x", "y"]], columns=["question_id", "answer", "answer"]), ()),
    (pd.DataFrame([["q1", "x", "y"]], columns=["question_id", "answer", 7]), ()),
])
def test_rows_that_cannot_be_read_are_named_with_the_name_of_the_argument(answers: Any, faults: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as fault:
        scored(answers)
    assert "kgeval-rows" not in str(fault.value) and "jsonl" not in str(fault.value)
    assert fault.value.faults[:1] == faults[:1] or not faults
    if not faults:
        assert fault.value.message in (
            "answers: there are no rows", "answers: columns of the same name: answer", "answers: names of columns that are no text: 7",
        )


@pytest.mark.parametrize("answers", [7, None, b"x", {"question_id": "q1"}])
def test_data_of_another_kind_is_refused_by_its_type(answers: Any) -> None:
    with pytest.raises(UsageError, match=f"answers: a path, a DataFrame, .* not {type(answers).__name__}"):
        scored(answers)


def test_faulty_keywords_come_all_at_once_before_anything_is_read() -> None:
    with pytest.raises(UsageError) as fault:
        kgeval.score(raising(), judg="x", trials="no", max_calls=-1, embedding_batch=0, resume=True, cost_limit="a lot", judge=7)  # type: ignore[call-overload]
    for line in ("judg: unknown (did you mean judge?)", "trials: no whole number", "; max_calls: ", "embedding_batch: ", "resume: unknown",
                 "; cost_limit: no number", "judge: "):
        assert line in str(fault.value)


def test_results_make_one_report_and_an_earlier_one_is_its_baseline(tmp_path: Path) -> None:
    first, second = scored(ANSWERS), scored([ANSWERS[0] | {"answer": "Bo"}, ANSWERS[1]])
    whole = kgeval.report([first], baseline=second, thresholds="token_f1>=0.9", title="Two", config=False)
    assert whole.exit_code == 1 and whole.report.title == "Two" and whole.messages == ["gate missed: answers: token_f1 >= 0.9 (0.8333)"]
    assert "token_f1" in set(whole.to_pandas()["name"]) and whole.save("w.html").is_file()
    assert [source.file for source in whole.report.sources] == ["runs-1"] and "kgeval-rows" not in unpacked(whole.rendered("html"))
    both = kgeval.report([first, second], config=False).rendered("json")
    assert '"runs-2"' in both and "kgeval-rows" not in both and not list(tmp_path.glob("kgeval-rows*"))
    with pytest.raises(GateError, match="gate missed: answers: token_f1"):
        whole.raise_for_gates()
    with pytest.raises(UsageError, match="runs: a result of kgeval, a report file or a folder is needed, not int"):
        kgeval.report(7)
    with pytest.raises(UsageError, match=r"fail_on: .*title: |title: .*fail_on: "):
        kgeval.report([first], title=7, fail_on="all")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".json", ".html", ".md"])
def test_the_file_says_whether_texts_are_left_out_and_the_call_of_save_has_the_last_word(ending: str, tmp_path: Path) -> None:
    Path("red.toml").write_text("[report]\nredact = true\n", encoding="utf-8")
    questions, answers = [QUESTIONS[0] | {"question": "Who is Zebedee?"}, QUESTIONS[1]], [ANSWERS[0] | {"answer": "Zebedee"}, ANSWERS[1]]
    result = scored(answers, questions=questions, config="red.toml")

    def holds(**options: Any) -> bool:
        return "Zebedee" in unpacked(result.save(f"x{ending}", **options).read_text(encoding="utf-8"))

    assert (holds(), holds(redact=True), holds(redact=False)) == (False, False, True)
    framed = html.unescape(re.findall(r'srcdoc="([^"]*)"', result._repr_html_())[0])
    assert "Zebedee" not in unpacked(framed) + str(result) + kgeval.report([result], config="red.toml").rendered("json")
    assert "Zebedee" in scored(answers, questions=questions)._repr_html_()
    checked = kgeval.check_questions(questions, no_model=True, config="red.toml")
    assert checked.redact and "Zebedee" in checked.save("q.jsonl").read_text(encoding="utf-8"), "questions are written whole"


def test_a_failed_check_is_a_gate_of_the_report_over_it(tmp_path: Path) -> None:
    result = AuditResult(report(finding(count=1, total=4, severity="error")))
    whole = kgeval.report([result], fail_on="error", config=False)
    missed = "gate missed: fail-on no check of severity error or worse fails (1)"
    assert (whole.exit_code, [gate.met for gate in whole.gates], whole.messages) == (1, [False], [missed])
    with pytest.raises(GateError, match=re.escape(missed)):
        whole.raise_for_gates()
    assert kgeval.report([result], config=False).gates == []


def test_scores_are_held_against_labels_that_are_objects() -> None:
    rows = [row | {"question_id": f"q{n}", "answer": " ".join(["Rome"] * n)} for n, row in enumerate([QUESTIONS[1]] * 5, 1)]
    labels = [
        {"id": f"i{n}", "question_id": f"q{n}", "system_a": "answers", "metric": "overall", "annotator": who, "label": str(5 - n)}
        for n in range(1, 6) for who in ("ann", "ben")
    ]
    result = kgeval.agree(pd.DataFrame(labels), scores=scored(rows, questions=None), answers=rows, config=False)
    table = result.to_pandas().set_index("predictor")
    assert table.loc["token_f1", "spearman"]["value"] == pytest.approx(1) and result.report.annotators == {"ann": 5, "ben": 5}
    assert [file.path for file in result.report.run.inputs] == ["labels", "scores", "answers"]
    with pytest.raises(InputError, match="labels: 1 fault"):
        kgeval.agree([{"id": 1}], config=False)


def test_a_file_without_one_good_row_is_no_file_of_which_bad_rows_are_left_out() -> None:
    """Nothing would be scored then, and no gate missed."""
    questions = [{"id": f"q{n}", "question": "Who?", "reference": "Ann"} for n in range(9)]
    with pytest.raises(InputError) as fault:
        kgeval.score([{"nope": 1}], questions=questions, metrics="lexical", max_bad_rows=0.5, thresholds="token_f1>=0.4", config=False)
    assert any("none of its 1 rows can be read" in line for line in fault.value.faults)
