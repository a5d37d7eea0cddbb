"""Pairs that were stopped when sure: no figure of a fixed sample size stands anywhere, the always-valid interval does."""

from __future__ import annotations

import csv
import io
import re
from itertools import combinations

import pytest
from comparison_sample import drawn, found, sample
from report_page import Page

from kgeval.comparison.results.build import build_report
from kgeval.comparison.results.inputs import PairThreshold
from kgeval.comparison.results.pair import is_first, pair_results
from kgeval.comparison.results.stopped_pairs import NO_INTERVAL, NO_RANKS
from kgeval.records import ComparisonReport, CorrectedRate, Estimated, Stopped
from kgeval.reports.document import Table, as_cell
from kgeval.reports.views import pairs as shown
from kgeval.reports.views.comparison import maps
from kgeval.reports.write import Form, rendered
from kgeval.stats.thresholds import Threshold

FORMS: tuple[Form, ...] = ("text", "md", "html", "json", "xml", "csv")


def stop(a: str, b: str, *, low: float = 0.1234, high: float = 0.8765) -> Stopped:
    return Stopped(
        system_a=a, system_b=b, questions=24, of_questions=80, calls=96, of_calls=480, low=low, high=high, tie_region=0.1, decision="a",
    )


@pytest.fixture(scope="module")
def report() -> ComparisonReport:
    """Two systems, an A/A check written the other way round, a correction and a threshold on the low end."""
    return build_report(found(
        [drawn(("x", "y"), 0.9, 0), drawn(("x", "x again"), 0.0, 9)], self_check={"x again": "x"},
        stopped=(stop("x", "y"), stop("x again", "x", low=-0.05, high=0.31)), thresholds=(PairThreshold(Threshold("low", ">=", 0.0)),),
        corrected=(CorrectedRate(system_a="y", system_b="x", method="ppi++", labels=9, relative=Estimated(value=0.3, low=0.1, high=0.5)),),
    ))


@pytest.mark.slow
def test_the_first_result_has_the_sequence_as_its_interval_and_the_rest_has_none(report: ComparisonReport) -> None:
    ordinary = pair_results(drawn(("x", "y"), 0.9, 0), seed=7)
    for one, before in zip(report.pairs, ordinary, strict=True):
        ends = (0.1234, 0.8765) if is_first(one) else (None, None)
        assert (one.relative.low, one.relative.high) == ends and one.relative.value == before.relative.value
        assert one.always_valid and {one.p, one.p_holm, one.wilcoxon_p, one.detectable, one.needed, one.gap.low, one.gap.high} == {None}
        assert (one.rates, one.gap.value, one.effect, one.n_scored) == (before.rates, before.gap.value, before.effect, before.n_scored)


def test_thresholds_checks_corrections_and_the_judge_follow_the_sequence(report: ComparisonReport) -> None:
    assert [(gate.value, gate.met) for gate in report.gates] == [(0.1234, True)]
    (check,) = report.self_checks
    assert (check.relative.low, check.relative.high, check.passed) == (-0.31, 0.05, True)
    (rate,) = report.corrected
    assert (rate.relative, rate.reason) == (Estimated(value=0.3), NO_INTERVAL)
    (judge,) = report.judge
    assert {judge.raw.low, judge.length_controlled.low, judge.length_slope.low} == {None} and judge.raw.value is not None
    assert judge.first_wins.low is not None


@pytest.mark.slow
def test_no_form_shows_a_p_or_an_ordinary_interval_of_a_stopped_pair(report: ComparisonReport) -> None:
    first = pair_results(drawn(("x", "y"), 0.9, 0), seed=7)[0]
    p, low = first.p, first.relative.low
    assert p is not None and low is not None
    for form in FORMS:
        text = rendered(report, form)
        text = Page(text).text if form == "html" else re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), text)
        assert shown.between(first.relative) not in text and str(low) not in text and str(p) not in text, form
        assert not re.search(r"p (=|<)", text), form
        if form in ("text", "md", "html"):
            assert "[+12.3 %, +87.6 %]" in text.replace("87.7", "87.6") and shown.ALWAYS in text, form
            assert "24 of 80" in text and "96 of 480" in text and "confidence sequence" in text, form
    rows = list(csv.DictReader(io.StringIO(rendered(report, "csv"))))
    assert {(row["p"], row["p_holm"], row["wilcoxon_p"], row["always_valid"]) for row in rows} == {("", "", "", "true")}
    assert 'name="always_valid" value="true"' in rendered(report, "xml") and 'name="p"' not in rendered(report, "xml")


def test_a_star_follows_the_decision_of_the_sequence(report: ComparisonReport) -> None:
    def starred(one: ComparisonReport) -> list[str]:
        (made,) = maps(shown.view_of(one))
        assert isinstance(made, Table)
        return [f"{row[0]} {head}" for row in made.rows for head, cell in zip(made.head, row, strict=True) if as_cell(cell).best]

    assert starred(report) == ["overall all questions"]
    still = [report.outcomes[0].model_copy(update={"conclusion": "no difference found"})]
    assert starred(report.model_copy(update={"outcomes": still})) == []


@pytest.mark.slow
def test_a_ranking_over_stopped_pairs_has_no_intervals_and_says_why() -> None:
    pairs = list(combinations(("x", "y", "z"), 2))
    made = build_report(found([drawn(pair, 0.5, at) for at, pair in enumerate(pairs)], stopped=(stop("x", "y"),)))
    assert made.ranking is not None and made.ranking.rankable and made.ranking.reason == NO_RANKS
    assert {(one.strength.low, one.rank_low) for one in made.ranking.systems} == {(None, None)}
    assert all(one.strength.value is not None for one in made.ranking.systems)
    kept = [one for one in made.pairs if is_first(one) and not one.always_valid]
    assert len(kept) == 2 and all(one.p_holm is not None and one.relative.low is not None for one in kept)
    assert all(NO_RANKS[:40] in " ".join(rendered(made, form).split()) for form in ("text", "md", "html"))


@pytest.mark.slow
def test_groups_of_few_questions_have_no_colour_and_no_star_and_say_so() -> None:
    two = sample().model_copy(update={"stopped": []})
    small = [one if shown.group_of(one) == shown.ALL else one.model_copy(update={"n_scored": 9, "p_holm": 0.001}) for one in two.pairs]
    report = two.model_copy(update={"pairs": small})
    (made,) = maps(shown.view_of(report))
    assert isinstance(made, Table)
    for row in made.rows:
        whole, *groups = map(as_cell, row[1:])
        assert whole.shade > 0 and "too few" not in whole.note
        assert {(cell.shade, cell.best, cell.note[-12:]) for cell in groups} == {(0, False, "n 9, too few")}
    for form in ("text", "md", "html"):
        assert re.search(r"9 of (8|12), too few", " ".join(rendered(report, form).split())), form
