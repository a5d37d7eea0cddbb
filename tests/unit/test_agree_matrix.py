"""Metrics beside metrics: groups, pairs of texts, constant metrics, trials, forms."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scipy.stats import kendalltau, spearmanr

from kgeval.cli.main import run
from kgeval.comparison.people.dimensions import pair_kind
from kgeval.metrics.table import all_metrics
from kgeval.records import MatrixGroup, MatrixReport, Score
from kgeval.reports.write import rendered

ONE = [0.1, 0.4, 0.2, 0.9, 0.7, 0.3]
OTHER = [0.2, 0.3, 0.1, 0.8, 0.9, 0.5]


def scores(metric: str, values: list[float | None], **fields: object) -> list[Score]:
    return [
        Score(
            question_id=f"q{n}", system="s", metric=metric, value=value, status="scored" if value is not None else "unscored",
            signature="x", **fields,  # type: ignore[arg-type]
        )
        for n, value in enumerate(values)
    ]


def matrix(folder: Path, given: list[Score], *options: str, code: int = 0) -> MatrixReport:
    (folder / "s.jsonl").write_text("".join(score.model_dump_json() + "\n" for score in given))
    assert run(["metrics", "correlate", str(folder / "s.jsonl"), "-q", "-o", str(folder / "m.json"), *options]) == code
    return MatrixReport.model_validate_json((folder / "m.json").read_text())


def values(group: MatrixGroup) -> dict[tuple[str, str], float | None]:
    return {(cell.first, cell.second): cell.value for cell in group.cells}


@pytest.mark.parametrize(("kind", "other"), [("spearman", spearmanr), ("kendall", kendalltau)])
def test_cells_are_scipy_s_over_answers_with_both_scores(tmp_path: Path, kind: str, other: object) -> None:
    report = matrix(tmp_path, [*scores("faithfulness", [*ONE, 0.5]), *scores("token_f1", [*OTHER, None])], "--coefficient", kind)
    cell, = report.groups[0].cells
    assert cell.n == 6 and cell.value == pytest.approx(other(ONE, OTHER).statistic)  # type: ignore[operator]
    assert report.groups[0].n == {"faithfulness": 7, "token_f1": 6} and cell.low is not None and cell.low <= (cell.value or 0)


def test_a_constant_metric_is_named_and_is_no_number(tmp_path: Path) -> None:
    report = matrix(tmp_path, [*scores("a", ONE), *scores("b", [0.5] * 6), *scores("c", [None] * 6)])
    group = report.groups[0]
    assert group.constant == {"b": 0.5} and values(group) == {("a", "b"): None, ("a", "c"): None, ("b", "c"): None}
    assert [cell.reason for cell in group.cells] == [
        "b: always the same value here", "fewer than 3 answers have both", "fewer than 3 answers have both",
    ]
    assert "b (always 0.5)" in rendered(report, "text") and "nan" not in rendered(report, "json").casefold()


def test_groups_by_data_set_and_by_pair_of_texts(tmp_path: Path) -> None:
    questions = [{"id": f"q{n}", "question": f"Q {n}?", "dataset": ("novel", "medical")[n % 2]} for n in range(6)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    given = [*scores("faithfulness", ONE), *scores("kg_matching_faithfulness", OTHER), *scores("token_f1", ONE[::-1])]
    report = matrix(tmp_path, given, "--questions", str(tmp_path / "q.jsonl"))
    assert [(group.by, group.value, group.dataset, len(group.cells)) for group in report.groups] == [
        ("all", None, None, 3), ("pair_kind", "faithfulness", None, 1), ("dataset", "medical", "medical", 3),
        ("pair_kind", "faithfulness", "medical", 1), ("dataset", "novel", "novel", 3), ("pair_kind", "faithfulness", "novel", 1),
    ]
    assert values(report.groups[4])["faithfulness", "kg_matching_faithfulness"] == pytest.approx(spearmanr(ONE[::2], OTHER[::2]).statistic)


def test_trials_are_averaged_first(tmp_path: Path) -> None:
    twice = [*scores("a", [value - 0.1 for value in ONE], trial=1), *scores("a", [value + 0.1 for value in ONE], trial=2)]
    report = matrix(tmp_path, [*twice, *scores("b", OTHER)])
    assert report.groups[0].cells[0].n == 6 and report.groups[0].cells[0].value == pytest.approx(spearmanr(ONE, OTHER).statistic)


def test_every_kg_metric_of_two_texts_has_its_pair() -> None:
    kinds = {name: pair_kind(name) for name in all_metrics()}
    assert all(kinds[name] and name.endswith(str(kinds[name])) for name in kinds if name.startswith("kg_") and name.endswith(
        ("relevancy", "correctness", "faithfulness")))
    assert kinds["faithfulness"] == "faithfulness" and kinds["rouge_l_compat"] == "factual_correctness" and kinds["mrr"] is None
    assert kinds["kg_matching_stored"] is None


def test_one_metric_is_nothing_to_compare(tmp_path: Path) -> None:
    assert matrix(tmp_path, scores("a", ONE), code=3).notes == ["there are not two metrics to compare"]


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_every_form_shows_the_square(tmp_path: Path, form: str) -> None:
    report = matrix(tmp_path, [*scores("aaa", ONE), *scores("bbb", OTHER), *scores("ccc", [1 - value for value in ONE])])
    text = rendered(report, form)  # type: ignore[arg-type]
    assert "0.83" in text and re.search(r"-1\b(?!\.)", text) and "bbb" in text.casefold()
    assert form != "html" or ('class="n m10"' in text and 'class="n h8"' in text)


@pytest.mark.parametrize(("text", "what"), [("{}\n", "is no score"), ("", "is empty")])
def test_files_that_hold_no_scores_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, what: str) -> None:
    (tmp_path / "s.jsonl").write_text(text)
    assert run(["metrics", "correlate", str(tmp_path / "s.jsonl")]) == 2
    assert what in capsys.readouterr().err
