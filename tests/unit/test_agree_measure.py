"""Agreement in figures: cases counted by hand, judges, lengths, files of others. Published labels: tests/models/test_agree_published.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report_page import unpacked

from kgeval.cli.main import run
from kgeval.records import AgreementReport, ComparisonVerdict, HumanLabel, PredictorAgreement, Score
from kgeval.reports.write import rendered


def measured(folder: Path, *arguments: str) -> AgreementReport:
    assert run(["annotate", "agreement", *arguments, "-q", "-o", str(folder / "report.json")]) == 0
    return AgreementReport.model_validate_json((folder / "report.json").read_text())


def found(report: AgreementReport, predictor: str, aspect: str = "overall", by: str = "all") -> PredictorAgreement:
    return next(one for one in report.predictors if (one.predictor, one.aspect, one.by) == (predictor, aspect, by))


def label(
    item: int, who: str, value: int, *, aspect: str = "overall", systems: tuple[str, ...] = ("a", "b"), level: str | None = None,
) -> HumanLabel:
    return HumanLabel(
        id=f"i{item}", annotator=who, label=str(value), question_id=f"q{item}", metric=aspect, system_a=systems[0],
        system_b=systems[1] if len(systems) > 1 else None, level=level,
    )


def write(path: Path, records: list[HumanLabel] | list[Score] | list[ComparisonVerdict]) -> str:
    path.write_text("".join(record.model_dump_json() + "\n" for record in records))
    return str(path)


def score(question: int, system: str, value: float | None, metric: str = "m", reason: str | None = None) -> Score:
    return Score(
        question_id=f"q{question}", system=system, metric=metric, value=value, status="scored" if value is not None else "unscored",
        reason=reason, signature="x",
    )


def test_by_hand(tmp_path: Path) -> None:
    """Five pairs, two people. Differences of the metric: .4 .2 0 -.2 and no score for the last."""
    ann, ben = (2, 1, 0, -1, 1), (1, 1, 1, -2, 1)
    labels = write(tmp_path / "l.jsonl", [label(n, who, own[n]) for who, own in (("ann", ann), ("ben", ben)) for n in range(5)])
    scores = [score(n, "a", 0.5 + gap) for n, gap in enumerate((0.4, 0.2, 0.0, -0.2))] + [score(n, "b", 0.5) for n in range(4)]
    scores += [score(4, "a", None, reason="timeout: too late"), score(4, "b", 0.5)]
    report = measured(tmp_path, labels, "--scores", write(tmp_path / "s.jsonl", scores))
    one = found(report, "m")
    assert (one.n, one.items, one.missing) == (8, 4, {"timeout": 1})
    # of the 7 labels that prefer a side, 6 have the metric on it, and one a difference of 0: a half
    assert one.concordance.value == pytest.approx(6.5 / 7)
    whole = report.people[0]
    assert (whole.items, whole.items_twice, whole.labels, whole.tied) == (5, 5, 10, 3)
    assert (whole.raw.value, whole.within_one.value) == (pytest.approx(2 / 5), 1)
    bias = next(each for each in report.each if each.annotator == "ann").bias
    assert bias.value == pytest.approx((1 + 0 - 1 + 1 + 0) / 5)


def test_lower_is_better_metrics_are_turned_and_said_to_be(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [label(n, "ann", n - 2) for n in range(5)])
    scores = [score(n, "a", 0.9 - n / 10, "hallucination") for n in range(5)] + [score(n, "b", 0.5, "hallucination") for n in range(5)]
    report = measured(tmp_path, labels, "--scores", write(tmp_path / "s.jsonl", scores))
    assert found(report, "hallucination (turned: lower is better)").spearman.value == pytest.approx(1)
    assert report.people[0].alpha_ordinal.value is None and not report.pairs, "one person agrees with nobody"
    assert not any(one.kind == "people" for one in report.predictors)


def test_one_metric_of_two_files_is_two_predictors(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [label(n, "ann", n - 2) for n in range(5)])
    one, other = ([score(n, s, abs(n / 10 - (0.5 if s == "b" else turn))) for n in range(5) for s in "ab"] for turn in (0, 0.4))
    report = measured(tmp_path, labels, "--scores", write(tmp_path / "gpt.jsonl", one), "--scores", write(tmp_path / "qwen.jsonl", other))
    assert {one.predictor for one in report.predictors} == {"m (gpt)", "m (qwen)"}


def verdict(question: int, a: str, b: str, first: str, points: tuple[float | None, float | None]) -> ComparisonVerdict:
    return ComparisonVerdict(
        question_id=f"q{question}", system_a=a, system_b=b, first=first, aspect="relevance", score_a=points[0], score_b=points[1],
        failure=None if points[0] is not None else "timeout: too late",
    )


def test_a_judge_of_pairs_is_held_against_people(tmp_path: Path) -> None:
    """Both orders are averaged; verdicts written the other way round are turned; a failed question is missing with its cause."""
    labels = write(tmp_path / "l.jsonl", [
        label(n, who, value, aspect=aspect) for who in ("ann", "ben", "cem") for n, value in enumerate((2, 1, 0, -1, -2, 1))
        for aspect in ("relevance", "correctness")
    ])
    verdicts = []
    for n, gap in enumerate((3, 1, 0, -1, -3)):
        better, worse = 3 + gap / 2, 3 - gap / 2  # whoever stands first gets half a point more
        verdicts += [verdict(n, "a", "b", "a", (better + 0.5, worse)), verdict(n, "b", "a", "b", (worse + 0.5, better))]
    verdicts += [verdict(5, "a", "b", "a", (1, 5)), verdict(5, "b", "a", "b", (None, None))]  # half an exchange is no verdict
    report = measured(tmp_path, labels, "--verdicts", write(tmp_path / "judge.jsonl", verdicts))
    one = found(report, "judge: relevance", "relevance")
    assert (one.items, one.missing, one.spearman.value) == (5, {"timeout": 1}, pytest.approx(1))
    assert (one.winner.value, one.winner_kappa.value, one.concordance.value) == (1, 1, 1)
    assert found(report, "judge: overall", "correctness").kind == "judge"
    assert not any(one.predictor == "judge: relevance" and one.aspect == "correctness" for one in report.predictors)


def test_single_answers_and_levels(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [
        label(n, who, (n + (who == "ben")) % 6, systems=("a",), level=("node", "edge")[n % 2], aspect="relevance")
        for n in range(12) for who in ("ann", "ben")
    ])
    report = measured(tmp_path, labels, "--scores", write(tmp_path / "s.jsonl", [score(n, "a", (n % 6) / 5) for n in range(12)]))
    assert report.scope == "answers" and report.scale == ["0", "1", "2", "3", "4", "5"]
    assert {(one.by, one.value) for one in report.people} == {("all", None), ("level", "edge"), ("level", "node")}
    assert found(report, "m", "relevance", "level").n == 12 and found(report, "m", "relevance").concordance.value is None


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "md", "html", "json"])
def test_every_form_has_the_figures_and_hides_nothing(tmp_path: Path, form: str) -> None:
    people = ("ann", "<b>ben\x1b")
    labels = write(tmp_path / "l.jsonl", [label(n, who, (n + at) % 5 - 2) for n in range(9) for at, who in enumerate(people)])
    scores = [score(n, s, n / 10 if s == "a" else 0.2) for n in range(9) for s in "ab"]
    report = measured(tmp_path, labels, "--scores", write(tmp_path / "s.jsonl", scores))
    text = rendered(report, form)  # type: ignore[arg-type]
    assert "overall" in text and ("\x1b" not in text)
    if form in ("html", "md"):
        assert "<b>ben" not in text
    hidden = unpacked(rendered(report, form, redact=True))  # type: ignore[arg-type]
    assert "ben" not in hidden.replace("benchmark", "") and '"ann"' not in hidden


@pytest.mark.parametrize(("rows", "what"), [
    ([{"id": "i", "label": "1"}], "question_id, metric, system_a missing"),
    ([{"id": "i", "label": 1}], "label"),
    ([{"id": "i", "label": "3", "question_id": "q", "metric": "m", "system_a": "a", "system_b": "b"}], "'3' is none of -2"),
    ([{"id": "i", "label": "1", "question_id": "q", "metric": "m", "system_a": "a", "annotator": "x"}] * 2, "already at l.jsonl:1"),
    ([{"id": "i", "label": "1", "question_id": "q", "metric": "m", "system_a": "a"},
      {"id": "j", "label": "1", "question_id": "q", "metric": "m", "system_a": "a", "system_b": "b"}], "are mixed"),
    (["text"], "a row must be an object"),
])
def test_faulty_labels_are_refused_with_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[object], what: str,
) -> None:
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["annotate", "agreement", str(tmp_path / "l.jsonl"), "-o", str(tmp_path / "r.json")]) == 2
    assert what in capsys.readouterr().err and not (tmp_path / "r.json").exists()


def test_an_output_never_replaces_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "l.json").write_text("[]")
    assert run(["annotate", "agreement", str(tmp_path / "l.json"), "-o", str(tmp_path / "l.json")]) == 2
    assert "would replace" in capsys.readouterr().err
