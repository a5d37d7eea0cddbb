"""The published half of RAGChecker's labels through the commands, against the figures given with it and those of docs/results-human.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.records import AgreementReport, Estimated, PredictorAgreement

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
from human_pairs import ASPECTS, PAIRS, RESULTS, documented, pairs

pytestmark = pytest.mark.timeout(900)  # 15 s of one core, on a busy machine far more

# README of the data, over the full published set; this half may differ by sampling
FULL_SET = {
    "the other people": (0.59, 0.68, 0.69), "rouge_l_compat": (0.43, 0.53, 0.52), "token_f1": (0.40, 0.54, 0.51),
    "length in words": (0.05, 0.42, 0.25),
}
NAMES = {"the other people": "the other annotator"}


def measured(folder: Path, *arguments: str) -> AgreementReport:
    assert run(["annotate", "agreement", *arguments, "-q", "-o", str(folder / "report.json")]) == 0
    return AgreementReport.model_validate_json((folder / "report.json").read_text())


def found(report: AgreementReport, predictor: str, aspect: str = "overall", by: str = "all") -> PredictorAgreement:
    return next(one for one in report.predictors if (one.predictor, one.aspect, one.by) == (predictor, aspect, by))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> AgreementReport:
    """Through the commands alone: labels and answers out of RAGChecker's form, scores, measure."""
    pairs()  # skips aloud where the data are absent
    folder = tmp_path_factory.mktemp("ragchecker")
    file = {name: str(folder / f"{name}.jsonl") for name in ("labels", "answers", "questions", "scores")}
    assert run(["annotate", "read", str(PAIRS), "--labels-format", "ragchecker", "-o", file["labels"], "--write-answers", file["answers"],
                "--write-questions", file["questions"]]) == 0
    assert run(["score", file["answers"], "--questions", file["questions"], "--metrics", "token_f1,rouge_l_compat,exact_match",
                "-q", "-o", file["scores"]]) == 0
    return measured(folder, file["labels"], "--scores", file["scores"], "--answers", file["answers"], "--questions", file["questions"])


@pytest.mark.long
@pytest.mark.parametrize("predictor", FULL_SET)
def test_the_figures_of_the_published_set_come_out_on_its_half(published: AgreementReport, predictor: str) -> None:
    for aspect, full, page in zip(ASPECTS, FULL_SET[predictor], documented(NAMES.get(predictor, predictor)), strict=True):
        one = found(published, predictor, aspect)
        assert one.n == 278 and one.items == 139
        assert one.spearman.value == pytest.approx(page, abs=0.006), "as docs/results-human.md says"
        assert one.spearman.value == pytest.approx(full, abs=0.09)
        assert one.spearman.low is not None and one.spearman.high is not None and one.spearman.low <= full <= one.spearman.high


def test_people_agree_exactly_on_half_and_within_one_on_nine_tenths(published: AgreementReport) -> None:
    """Given with the data: 50 to 60 % and 90 to 92 % over the full set."""
    for one in published.people:
        if one.by == "all":
            assert one.raw.value is not None and 0.48 <= one.raw.value <= 0.61
            assert one.within_one.value is not None and 0.88 <= one.within_one.value <= 0.93


def test_people_and_kappa_are_what_scikit_learn_and_evalica_compute(published: AgreementReport) -> None:
    import evalica
    import pandas as pd
    from sklearn.metrics import cohen_kappa_score

    seen: dict[str, list[int]] = {}
    for pair in pairs():
        seen.setdefault(pair["dataset"] + pair["query_id"], []).append(int(pair["overall_label"]))
    first, second = ([both[at] for both in seen.values()] for at in (0, 1))
    two = next(one for one in published.pairs if one.aspect == "overall")
    assert two.quadratic.value == pytest.approx(cohen_kappa_score(first, second, weights="quadratic"), abs=1e-9)
    assert two.linear.value == pytest.approx(cohen_kappa_score(first, second, weights="linear"), abs=1e-9)
    assert two.kappa.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)
    whole = next(one for one in published.people if (one.aspect, one.by) == ("overall", "all"))
    theirs = evalica.alpha(pd.DataFrame([first, second]), distance="ordinal").alpha
    assert whole.alpha_ordinal.value == pytest.approx(theirs, abs=1e-9)


def test_a_metric_that_says_nothing_is_named_and_not_ranked(published: AgreementReport) -> None:
    one = found(published, "exact_match")
    assert one.spearman.value is None and one.reason == "its value is always the same"
    ranked = [near.predictor for near in published.nearest if near.aspect == "overall"]
    assert set(ranked) == {"token_f1", "rouge_l_compat"} and all(near.told_apart is not True for near in published.nearest)


BETWEEN = {
    "same label": "raw", "at most one step apart": "within_one", "kappa": "kappa", "kappa, linear weights": "linear",
    "kappa, quadratic weights": "quadratic", "alpha, ordinal": "alpha_ordinal", "alpha, interval": "alpha_interval",
}


@pytest.mark.parametrize("row", BETWEEN)
def test_the_page_says_of_the_two_people_what_comes_out(published: AgreementReport, row: str) -> None:
    line = next(one for one in RESULTS.read_text(encoding="utf-8").splitlines() if one.startswith(f"| {row} |"))
    said = [tuple(map(float, re.findall(r"-?[0-9.]+", cell))) for cell in line.split("|")[2:5]]
    for aspect, page in zip(ASPECTS, said, strict=True):
        of = published.people if row.startswith("alpha") else published.pairs
        one = next(figures for figures in of if figures.aspect == aspect and getattr(figures, "by", "all") == "all")
        figure: Estimated = getattr(one, BETWEEN[row])
        assert (figure.value, figure.low, figure.high) == pytest.approx(page, abs=0.0051)
