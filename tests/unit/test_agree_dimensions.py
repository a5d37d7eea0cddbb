"""The four dimensions of an answer, as people label them [D 3.3]: sheets with retrieved texts, a share of the rows, two people, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from people_world import fill, header_of, key_at, rows_of
from scipy.stats import kendalltau, pearsonr, spearmanr

from kgeval.cli.main import run
from kgeval.comparison.judge.grades import chosen_aspects
from kgeval.comparison.people.dimensions import NEEDS, PAIR_KINDS, sheet_aspects
from kgeval.errors import UsageError
from kgeval.metrics.table import all_metrics
from kgeval.records import AgreementReport, HumanLabel, Score
from kgeval.reports.write import rendered

DONG = ["factual_correctness", "context_relevancy", "answer_relevancy", "faithfulness"]


def write_answers(folder: Path, n: int = 40) -> Path:
    """Answers of one system; to every tenth question nothing is known of what was retrieved, or of the right answer."""
    rows = [
        {
            "question_id": f"q{at}", "question": f"Who is {at}?", "system": "graph-rag", "answer": f"It is {at}.",
            **({} if at % 10 == 1 else {"contexts": [f"Text {at} one.", f"Text {at} <two>."] if at % 10 else []}),
            **({} if at % 10 == 2 else {"reference": f"Number {at}."}),
        } for at in range(n)
    ]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sheets(folder: Path, *options: str, code: int = 0) -> None:
    arguments = [str(write_answers(folder)), "-o", str(folder / "s"), "--key", str(folder / "key.json"), "--of", "answers", *options]
    assert run(["annotate", "sheet", *arguments]) == code


def test_two_people_label_a_tenth_of_the_rows_in_four_dimensions_with_what_was_retrieved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    sheets(tmp_path, "--aspects", "dong", "--share", "0.1", "--annotators", "ann,ben")
    key = key_at(tmp_path / "key.json")
    assert key.aspects == DONG and len(key.items) == 3, "of 40 rows 8 lack what people need; a tenth of 32"
    assert key.first["ann"].keys() == key.first["ben"].keys() == key.items.keys()
    told = capsys.readouterr().err
    assert "left out: 4 answers whose retrieved texts are not known" in told and "4 answers to questions without a right answer" in told
    assert "nobody can judge without: contexts, reference" in told
    table = rows_of(tmp_path / "s" / "ann.csv")
    at = header_of(table)
    assert table[at] == ["id", *DONG, "question", "reference", "answer", "contexts", "note"]
    page = (tmp_path / "s" / "ann.html").read_text()
    for row in (dict(zip(table[at], cells, strict=True)) for cells in table[at + 1 :]):
        number = row["question"].removeprefix("Who is ").removesuffix("?")
        told_texts = f"[1] Text {number} one.\n\n[2] Text {number} <two>." if int(number) % 10 else "(nothing was retrieved)"
        assert row["contexts"] == told_texts and row["reference"] == f"Number {number}."
        assert f"Text {number} &lt;two&gt;." in page or "(nothing was retrieved)" in page
    assert "graph-rag" not in page and sheet_aspects()["faithfulness"].asks in page


def test_contexts_are_shown_for_any_aspect_and_unknown_ones_said_to_be(tmp_path: Path) -> None:
    sheets(tmp_path, "--aspects", "relevance", "--show", "contexts", "--n", "40")
    table = rows_of(tmp_path / "s" / "annotator-1.csv")
    shown = {dict(zip(table[header_of(table)], row, strict=True))["contexts"] for row in table[header_of(table) + 1 :]}
    assert len(key_at(tmp_path / "key.json").items) == 40
    assert {"(not known)", "(nothing was retrieved)", "[1] Text 5 one.\n\n[2] Text 5 <two>."} <= shown
    assert "Right answer" not in (tmp_path / "s" / "annotator-1.html").read_text()


def test_two_answers_have_their_own_contexts(tmp_path: Path) -> None:
    for system in "ab":
        row = {"question_id": "q", "question": "Who?", "system": system, "answer": f"By {system}", "contexts": [f"Of {system}"]}
        (tmp_path / f"{system}.jsonl").write_text(json.dumps(row) + "\n")
    assert run(["annotate", "sheet", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "-o", str(tmp_path / "s"), "--key",
                str(tmp_path / "k.json"), "--aspects", "faithfulness"]) == 0
    table = rows_of(tmp_path / "s" / "annotator-1.csv")
    row = dict(zip(table[header_of(table)], table[header_of(table) + 1], strict=True))
    assert [row[f"contexts_{at}"] for at in (1, 2)] == [f"[1] Of {row[f'answer_{at}'][-1]}" for at in (1, 2)]


@pytest.mark.parametrize(("options", "what"), [
    (["--aspects", "dong", "--filter-id", "q1,q11"], "left out: 2 answers whose retrieved texts are not known"),
    (["--aspects", "dong", "--filter-id", "q1,q11"], "Fix: give answers with what was retrieved for them, or other --aspects"),
    (["--show", "context"], "--show"),
    (["--share", "0"], "--share"),
])
def test_what_cannot_be_shown_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], what: str) -> None:
    sheets(tmp_path, *options, code=2)
    assert what in capsys.readouterr().err and not (tmp_path / "s").exists()


def test_a_judge_of_pairs_is_not_asked_in_dimensions_of_texts_that_it_does_not_see() -> None:
    with pytest.raises(UsageError, match="there is no aspect dong"):
        chosen_aspects(["dong"])


@pytest.mark.long
def test_agreement_by_dimension_with_the_metrics_that_measure_it(tmp_path: Path) -> None:
    sheets(tmp_path, "--aspects", "dong", "--share", "1", "--annotators", "ann,ben")
    for at, who in enumerate(("ann", "ben")):  # a dimension is as many points behind as its place; ben is milder with every third item
        fill(tmp_path / "s" / f"{who}.csv", lambda row, aspect, at=at: str(  # type: ignore[misc]
            min(5, max(0, int(row["question"][7:-1]) % 6 - DONG.index(aspect) + at * (int(row["id"][1:]) % 3 == 0)))))
    assert run(["annotate", "read", str(tmp_path / "s" / "ann.csv"), str(tmp_path / "s" / "ben.csv"), "--key", str(tmp_path / "key.json"),
                "-o", str(tmp_path / "labels.jsonl")]) == 0
    values = {
        "faithfulness": lambda n: n % 6 / 6 + n / 1000, "kg_matching_faithfulness": lambda n: (n * 7 % 11) / 11,
        "context_relevance": lambda n: 0.9 - n % 6 / 6 + n / 1000,
    }
    scores = [
        Score(question_id=f"q{n}", system="graph-rag", metric=name, value=of(n), status="scored", signature="x")
        for name, of in values.items() for n in range(40)
    ]
    (tmp_path / "scores.jsonl").write_text("".join(score.model_dump_json() + "\n" for score in scores))
    assert run(["annotate", "agreement", str(tmp_path / "labels.jsonl"), "--scores", str(tmp_path / "scores.jsonl"), "-q",
                "-o", str(tmp_path / "r.json")]) == 0
    report = AgreementReport.model_validate_json((tmp_path / "r.json").read_text())
    whole = [one for one in report.predictors if one.by == "all"]
    assert {(one.predictor, one.aspect) for one in whole if one.fits} == {
        ("faithfulness", "faithfulness"), ("kg_matching_faithfulness", "faithfulness"), ("context_relevance", "context_relevancy"),
    }
    labels = [HumanLabel.model_validate_json(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    for one in (one for one in whole if one.fits):
        own = [(values[one.predictor](int(str(label.question_id)[1:])), int(label.label)) for label in labels if label.metric == one.aspect]
        for figure, other in ((one.spearman, spearmanr), (one.kendall, kendalltau), (one.pearson, pearsonr)):
            assert figure.value == pytest.approx(other(*zip(*own, strict=True)).statistic)
    assert [one.aspect for one in report.people if one.by == "all"] == DONG
    text = rendered(report, "text")
    rows = [line.split()[0:2] for line in text.split("By dimension, with what measures it")[1].splitlines() if "faithfulness" in line]
    assert ["faithfulness", "faithfulness"] in rows and ["kg_matching_faithfulness", "faithfulness"] in rows
    assert "faithfulness: its own metrics and judges: faithfulness" in text and "answer_relevancy: its own" not in text


def test_every_dimension_is_asked_and_measured_and_the_page_says_by_what() -> None:
    assert set(PAIR_KINDS) == set(DONG) >= set(NEEDS) and {len(sheet_aspects()[name].grades) for name in DONG} == {6}
    page = (Path(__file__).parents[2] / "docs" / "agree.md").read_text()
    for name, metrics in PAIR_KINDS.items():
        line = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        assert all(metric in all_metrics() and f"`{metric}`" in line for metric in metrics)
