"""A metric of one's own: what its function may return, what is said of one that cannot be, its signature, and where it is found."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_page import unpacked

import kgeval
from kgeval.cli.main import run
from kgeval.errors import UsageError
from kgeval.metrics import own
from kgeval.metrics.own import OwnMetric, load_metric
from kgeval.metrics.select import select
from kgeval.records import Score
from kgeval.tables.score_forms import lower_metrics
from kgeval.tables.scores import read_scores

CODE = '''
import kgeval

@kgeval.metric(needs=["reference"])
def starts_right(row):
    """Whether the answer begins with the reference's first word."""
    return row.answer.startswith(row.reference.split()[0])

@kgeval.metric
def broken(row):
    raise KeyError(row.answer)

def plain(row):
    return 1

helpful = kgeval.Criterion(name="helpful", question="Does it help?", grades={1: "no", 2: "yes"})
'''
ANSWERS: list[dict[str, Any]] = [
    {"question_id": "q1", "question": "Who?", "answer": "Ann built it", "reference": "Ann Lee", "contexts": ["One.", " "], "shelf": 3},
    {"question_id": "q2", "question": "Where?", "answer": "Harrow", "reference": "Velmouth"},
    {"question_id": "q3", "question": "When?", "answer": "1850"},
]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_metrics.py").write_text(CODE, encoding="utf-8")
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ANSWERS), encoding="utf-8")


def scored(*metrics: Any, rows: Any = None, **options: Any) -> kgeval.ScoreResult:
    result: kgeval.ScoreResult = kgeval.score(
        ANSWERS if rows is None else rows, metrics=list(metrics), **{"config": False, **options},
    )
    return result


def of(function: Callable[[Any], Any], **options: Any) -> Score:
    """The score of the first row by a function."""
    return next(iter(scored(kgeval.metric(name="mine", **options)(function), rows=ANSWERS[:1]).scores))


def test_it_stands_beside_names_and_sees_the_row() -> None:
    seen = []

    @kgeval.metric(needs=["reference"])
    def starts_right(row: kgeval.MetricRow) -> float:
        """Whether it begins well.

        More of it.
        """
        seen.append(row)
        return float(row.answer.startswith((row.reference or "").split()[0]))

    result = scored("exact_match", starts_right, thresholds="starts_right>=0.9")
    values = {score.question_id: (score.status, score.value) for score in result.scores if score.metric == "starts_right"}
    assert values == {"q1": ("scored", 1.0), "q2": ("scored", 0.0), "q3": ("not_applicable", None)}
    assert [(row.question_id, row.contexts, row.references, dict(row.metadata)) for row in seen] == [
        ("q1", ("One.",), ("Ann Lee",), {"shelf": 3}), ("q2", None, ("Velmouth",), {}),
    ]
    info = result.report.metrics[1]
    assert (info.metric, info.summary) == ("starts_right", "Whether it begins well.")
    assert info.definition == "Whether it begins well. More of it."
    assert (result.exit_code, result.gates[0].met, result.report.summaries[1].overall.low) == (1, False, pytest.approx(0.0))
    assert "starts_right" in result.rendered("html") and "Whether it begins well." in result.rendered("html")
    assert starts_right(kgeval.MetricRow(question="", answer="Ann", reference="Ann Lee")) == 1


@pytest.mark.parametrize(("returned", "value", "detail", "reason"), [
    (1, 1.0, {}, None), (True, 1.0, {}, None), (np.float32(0.5), 0.5, {}, None), (np.bool_(False), 0.0, {}, None),
    (np.int64(1), 1.0, {}, None), ((0.25, "why"), 0.25, {}, "why"), ((0, {"n": 2, "a": [1, None]}), 0.0, {"n": 2, "a": [1, None]}, None),
])
def test_what_counts_as_a_value(returned: Any, value: float, detail: dict[str, Any], reason: str | None) -> None:
    score = of(lambda row: returned)
    assert (score.status, score.value, score.detail, score.reason) == ("scored", value, detail, reason)


@pytest.mark.parametrize(("returned", "words"), [
    (float("nan"), "nan is not in 0..1"), (1.01, "1.01 is not in 0..1"), (-0.1, "is not in 0..1"), (float("inf"), "inf is not"),
    (np.float64("nan"), "nan is not"), ("0.5", "a number is needed, not str"), ([1], "not list"), ((1, 2, 3), "not tuple"),
    ((1, 2), "the detail must be"), ((1, {"x": object()}), "the detail must be"), ((1, {"x": float("nan")}), "the detail must be"),
    ((1, None), "the detail must be"), pytest.param(10**5000, "a huge number is not in 0..1", id="huge"),
])
def test_what_is_no_value_is_a_failure_with_its_reason_and_never_a_number(returned: Any, words: str) -> None:
    score = of(lambda row: returned)
    assert (score.status, score.value) == ("unscored", None)
    assert (score.reason or "").startswith("metric_error: ") and words in (score.reason or "")


def test_none_is_not_applicable_with_or_without_a_reason() -> None:
    assert (of(lambda row: None).status, of(lambda row: (None, "too short")).reason) == ("not_applicable", "too short")


def test_an_exception_is_a_failure_counted_by_cause_with_the_line_and_the_others_go_on() -> None:
    class Strange(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def raises(row: kgeval.MetricRow) -> float:
        if row.question_id == "q1":
            raise Strange
        return 1 / (len(row.answer) - 4)

    result = scored(kgeval.metric(raises), max_error_rate=0.5)
    reasons = [score.reason for score in result.scores]
    assert reasons[0] == f"metric_error: Strange ({Path(__file__).name}, line {raises.__code__.co_firstlineno + 2})"
    assert reasons[1] is None and "ZeroDivisionError: " in (reasons[2] or "")
    mean = result.report.summaries[0].overall
    assert (mean.n_scored, mean.failures, result.exit_code) == (1, {"metric_error": 2}, 3)
    assert scored(kgeval.metric(raises), max_error_rate=0.7).exit_code == 0


def test_a_metric_that_ends_the_program_ends_its_row() -> None:
    @kgeval.metric
    def quits(row: kgeval.MetricRow) -> float:
        sys.exit("no licence")

    result = kgeval.score([{"question_id": "q", "question": "?", "answer": "a"}], metrics=[quits], config=False)
    assert result.exit_code == 3 and "SystemExit: no licence" in next(result.scores).reason


def test_people_and_a_matrix_are_told_which_way_is_better(tmp_path: Path) -> None:
    bad = kgeval.metric(name="bad", low_is_good=True)(lambda row: len(row.answer) / 100)
    result = scored(bad, "exact_match")
    labels = [
        {"id": f"i{n}", "question_id": f"q{n}", "system_a": "answers", "metric": "overall", "annotator": who, "label": str(6 - n)}
        for n in (1, 2, 3) for who in ("ann", "ben")
    ]
    table = kgeval.agree(labels, scores=result).to_pandas()
    assert any("bad (turned: lower is better)" in str(row) for row in table.to_dict("records"))
    for place in (tmp_path / "s.jsonl", tmp_path / "folder"):
        assert lower_metrics(result.save(place)) == {"bad"}
    assert lower_metrics(tmp_path / "none.jsonl") == frozenset()


def test_a_range_is_scaled_and_a_low_value_may_be_the_good_one() -> None:
    assert of(lambda row: 7.5, range=(5, 10)).value == 0.5
    assert "4 is not in 5..10" in (of(lambda row: 4, range=(5, 10)).reason or "")
    result = scored(kgeval.metric(name="bad", low_is_good=True)(lambda row: 0.2), thresholds="bad=0.3")
    assert result.report.metrics[0].better == "lower" and result.gates[0].met and result.gates[0].limit.startswith("<=")


def test_all_faults_of_a_decorator_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        @kgeval.metric(name="no word", needs=["refrence", "kind"], range=(1, 1))  # type: ignore[arg-type, list-item]
        async def bad(row: Any, other: Any) -> float:
            return 1
    for part in ("name: 'no word'", "needs: refrence: unknown", "range: (1, 1)", "neither async", "one argument"):
        assert part in str(caught.value), part
    with pytest.raises(UsageError, match="for functions, not for int"):
        kgeval.metric(3)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="'<lambda>' is no word"):
        kgeval.metric(lambda row: 1)


def test_names_that_are_taken_and_things_that_are_no_metric_are_refused() -> None:
    one = kgeval.metric(name="token_f1")(lambda row: 1)
    with pytest.raises(UsageError, match="token_f1 is what kgeval calls one of its own"):
        scored(one)
    with pytest.raises(UsageError, match="usual is what kgeval calls"):
        scored(kgeval.Criterion(name="usual", question="?", grades={0: "a", 1: "b"}))
    twice = [kgeval.metric(name="same")(function) for function in (lambda row: 1, lambda row: 0)]
    with pytest.raises(UsageError, match="two are called same"):
        scored(*twice)
    assert len(list(scored(twice[0], twice[0]).scores)) == 3
    with pytest.raises(UsageError) as caught:
        scored("token_f1", lambda row: 1, 7, nonsense=1)
    assert "<lambda> is no metric (put @kgeval.metric above it)" in str(caught.value) and "nonsense: unknown" in str(caught.value)
    with pytest.raises(UsageError, match="did you mean token_f1"):
        scored("token_f2", kgeval.metric(name="mine")(lambda row: 1))


def test_the_signature_has_the_code_and_what_was_asked_for() -> None:
    def signature(**options: Any) -> str:
        return of(lambda row: 0.5, **options).signature

    first = of(lambda row: 0.5).signature
    assert len({first, signature(low_is_good=True), signature(range=(0, 2)), signature(needs=["reference"])}) == 4
    before = load_metric("./my_metrics.py:starts_right")
    assert load_metric("my_metrics.py:starts_right") is before
    Path("my_metrics.py").write_text(CODE.replace("split()[0]", "split()[1]"), encoding="utf-8")
    after = load_metric("./my_metrics.py:starts_right")
    assert isinstance(before, OwnMetric) and isinstance(after, OwnMetric)
    assert before.metric.parameters != after.metric.parameters and after is not before


def test_code_that_has_no_file_is_told_apart_by_what_it_does() -> None:
    made = []
    for source in ("lambda row: 1", "lambda row: 0", "lambda row: 1"):
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(f"function = {source}", "<typed>", "exec"), names)
        made.append(kgeval.metric(name="mine")(names["function"]).metric.parameters[own.CODE])
    assert made[0] == made[2] != made[1]


def test_the_command_line_loads_it_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = ["score", "answers.jsonl", "--metrics", "token_f1,./my_metrics.py:starts_right", "-o", "s.jsonl", "--threshold"]
    assert run([*written, "starts_right>=0.5", "-q"]) == 0
    assert run([*written, "starts_right>=0.6", "-q"]) == 1
    assert {score.question_id: score.value for score in read_scores(tmp_path / "s.jsonl") if score.metric == "starts_right"} == {
        "q1": 1.0, "q2": 0.0, "q3": None,
    }
    Path("kgeval.toml").write_text('[metrics]\nnames = ["my_metrics.py:starts_right"]\n', encoding="utf-8")
    assert run(["trust"]) == 0 and run(["score", "answers.jsonl", "-o", "t.jsonl", "-q"]) == 0
    named = list(read_scores(tmp_path / "t.jsonl"))
    assert named == [score for score in read_scores(tmp_path / "s.jsonl") if score.metric == "starts_right"]
    capsys.readouterr()
    assert run(["metrics", "list", "--group", "own"]) == 0 and "my_metrics.py:starts_right" in capsys.readouterr().out
    assert run(["metrics", "show", "./my_metrics.py:helpful"]) == 0
    assert capsys.readouterr().out == "# ./my_metrics.py:helpful\n\nNot loaded: its code was not run.\n"
    assert list(scored(load_metric("./my_metrics.py:starts_right")).scores) == named, "the same from Python, signature and all"


@pytest.mark.parametrize(("name", "words"), [
    ("./my_metrics.py:nothing", "there is no nothing in it"), ("./my_metrics.py:plain", "plain has no @kgeval.metric above it"),
    ("./no_such.py:x", "there is no file ./no_such.py"), ("no_such_module:x", "ModuleNotFoundError"), ("json:dumps", "has no @kgeval"),
    ("./bad.py:x", "ZeroDivisionError: division by zero (bad.py, line 2)"), ("./worse.py:x", "SyntaxError"), ("./out.py:x", "SystemExit"),
])
def test_what_cannot_be_loaded_is_one_clear_error(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.py").write_text("\n1 / 0\n")
    Path("worse.py").write_text("def\n")
    Path("out.py").write_text("import sys\nsys.exit(0)\n")
    assert run(["score", "answers.jsonl", "--metrics", f"token_f1,{name}"]) == 2
    assert words in (told := " ".join(capsys.readouterr().err.split())) and "kgeval help own-metrics" in told


def test_a_file_may_import_what_stands_beside_it_and_hold_dataclasses(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "beside_it_all.py").write_text("LIMIT = 0.5\n")
    (folder / "metrics.py").write_text(textwrap.dedent('''
        from __future__ import annotations
        from dataclasses import dataclass
        import kgeval
        from beside_it_all import LIMIT

        @dataclass
        class Part:
            n: int

        @kgeval.metric
        def half(row):
            return LIMIT * Part(1).n
    '''))
    assert [score.value for score in scored("mine/metrics.py:half").scores] == [0.5, 0.5, 0.5]
    assert not list(folder.glob("__pycache__/metrics*"))


@pytest.mark.long
def test_workers_find_it_by_its_file_and_a_notebooks_is_refused(tmp_path: Path) -> None:
    Path("kgeval.toml").write_text('[score]\nexecutor = "local"\nworkers = 1\n', encoding="utf-8")
    metric = load_metric("my_metrics.py:starts_right")
    found = scored(metric, "exact_match", rows="answers.jsonl", config=None)
    assert list(found.scores) == list(scored(metric, "exact_match", rows="answers.jsonl").scores)
    with pytest.raises(UsageError, match="workers cannot find metrics that are defined in this notebook or script alone: mine"):
        scored(kgeval.metric(name="mine")(lambda row: 1), rows="answers.jsonl", config=None)


def test_a_run_is_gone_on_with_only_by_the_same_code(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "answers.jsonl", "--metrics", "./my_metrics.py:starts_right", "-o", "s.jsonl", "-q"]
    assert run(words) == 0 and run([*words, "--resume"]) == 0
    Path("my_metrics.py").write_text(CODE + "\n", encoding="utf-8")
    assert run([*words, "--resume"]) == 2 and "other" in capsys.readouterr().err


def test_redacted_results_have_its_figures_and_causes_alone(tmp_path: Path) -> None:
    Path("my_metrics.py").write_text(CODE.replace(
        "return row.answer.startswith(row.reference.split()[0])", 'return 0.5, {"first": row.reference, "n": 2}',
    ), encoding="utf-8")
    words = ["score", "answers.jsonl", "--metrics", "./my_metrics.py:starts_right,./my_metrics.py:broken", "-q", "--max-error-rate", "1"]
    assert run([*words, "-o", "s.jsonl"]) == 0 and "Velmouth" in Path("s.jsonl").read_text() and "1850" in Path("s.jsonl").read_text()
    assert run([*words, "--redact", "-o", "r.jsonl", "-o", "r.html"]) == 0
    assert run([*words, "--redact", "--resume", "-o", "s.jsonl"]) == 0
    assert "Velmouth" not in unpacked(Path("r.html").read_text())
    for file in ("r.jsonl", "s.jsonl"):
        first, _, _, failed = list(read_scores(tmp_path / file))[:4]
        assert (first.detail, failed.reason) == ({"n": 2}, "metric_error")
        assert not any(text in Path(file).read_text() for text in ("Velmouth", "1850"))
    saved = scored("./my_metrics.py:starts_right").save("p.jsonl", redact=True)
    assert "Velmouth" not in saved.read_text() and '"n":2' in saved.read_text().replace(" ", "")


def test_a_configuration_with_a_name_that_is_taken_stops_a_run_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("kgeval.toml").write_text(textwrap.dedent('''
        [answers]
        files = ["answers.jsonl"]
        [metrics]
        names = ["my_metrics.py:starts_right", "my_metrics.py:plain"]
        [[metrics.criteria]]
        name = "faithfulness"
        question = "?"
        grades = { 1 = "a", 2 = "b" }
    '''), encoding="utf-8")
    assert run(["run", "kgeval.toml"]) == 2
    told = capsys.readouterr().err
    assert "plain has no @kgeval.metric" in told and "faithfulness is what kgeval calls one of its own" in told


def test_a_changed_file_makes_a_stage_of_a_run_again() -> None:
    from kgeval.workflows.pipeline.ledger import _named

    assert [str(path) for path in _named(["./my_metrics.py:starts_right"])] == ["my_metrics.py"]


def test_select_takes_names_criteria_and_functions_together() -> None:
    criterion = kgeval.Criterion(name="helpful", question="Does it help?", grades={1: "no", 2: "yes"})
    chosen = select(["helpful", "token_f1", "./my_metrics.py:starts_right"], [criterion])
    assert [metric.name for metric in chosen.metrics] == ["token_f1", "helpful", "starts_right"]
    assert chosen.needing("judge") == ("helpful",)
