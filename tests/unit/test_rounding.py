"""Rounding decides nothing: not who is better, not how many questions it takes, not whether a limit is kept."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest
from comparison_sample import found, tabled
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stats_files import in_a_folder_of_its_own, refused, report, wide  # noqa: F401

from kgeval.comparison.given.scores import ScoreColumn, paired_result
from kgeval.comparison.results.build import build_report
from kgeval.comparison.results.pair import is_first, pair_results
from kgeval.records import ComparisonReport, DrawnGroups, Estimated, PairedResult, PairResult, StatsReport, SystemCoverage
from kgeval.reports import csv_, junit
from kgeval.reports.measures import items_needed
from kgeval.reports.render import html, markdown, terminal
from kgeval.reports.views import stats
from kgeval.reports.views.comparison import document as comparison
from kgeval.reports.views.pairs import sentence
from kgeval.rounding import at_least, at_most, is_equal, is_zero, side, sign
from kgeval.stats.correlations import correlate
from kgeval.stats.intervals import needed as items
from kgeval.stats.outcome import PairEvidence, conclude
from kgeval.stats.paired import sign_flip, wilcoxon
from kgeval.stats.rests import differences_of, mean_of, tied
from kgeval.stats.thresholds import Threshold

REST = 0.1 + 0.2 - 0.3  # 5.6e-17


def test_the_rule_is_relative_to_the_scale_and_exact_beyond_it() -> None:
    assert is_zero(REST) and not is_zero(1e-8) and not is_zero(REST, scale=1e-16)
    assert is_equal(0.1 * 3, 0.3) and is_equal(1e300, 1e300 * (1 + 1e-15)) and not is_equal(1e-300, 2e-300, scale=1e-300)
    assert [sign(value) for value in (REST, -REST, 0.1, -0.1)] == [0, 0, 1, -1]
    assert [side(*ends) for ends in ((REST, 0.4), (-0.4, -REST), (0.1, 0.4), (-0.4, -0.1), (None, 0.4))] == [0, 0, 1, -1, 0]


@pytest.mark.parametrize("limit", [n / 100 for n in range(1, 101)])
def test_a_sum_that_is_the_limit_on_paper_keeps_it_either_way(limit: float) -> None:
    hundredths = sum([0.01] * round(limit * 100))  # 0.7 comes out as 0.7000000000000004, 0.06 as 0.060000000000000005
    assert at_least(hundredths, limit) and at_most(hundredths, limit)
    for written in ("<=", ">="):
        assert Threshold("m", written, limit).met(hundredths)  # type: ignore[arg-type]
    assert not at_least(limit - 1e-6, limit) and not at_most(limit + 1e-6, limit)


def test_one_hit_among_a_thousand_million_is_more_than_none() -> None:
    assert not Threshold("isolated-entity", "<=", 0.0).met(1 / 1_000_000_000)


def test_last_digits_are_no_difference_however_many_questions_have_them() -> None:
    a, b = [0.1 + 0.2] * 20, [0.3] * 20
    differences = differences_of(a, b)
    assert not differences.any() and sign_flip(differences, seed=0) == 1.0 == wilcoxon(differences)
    same = paired(a, b)
    assert (same.difference.value, same.p, same.effect, same.sd, same.superiority) == (0.0, 1.0, None, 0.0, 0.5)


def test_one_score_out_of_all_bounds_makes_no_rests_of_the_others() -> None:
    rng = random.Random(3)
    a, b = ([rng.random() for _ in range(30)] for _ in range(2))
    differences = differences_of([*a, 1e12], [*b, 0.0])
    assert np.count_nonzero(differences) == 31


def test_values_that_rounding_alone_tells_apart_share_a_rank() -> None:
    assert tied([0.3, 0.1 + 0.2, 0.5, REST, 0.0]).tolist() == [0.3, 0.3, 0.5, 0.0, 0.0]
    x, y = [0.3, 0.1 + 0.2, 0.5, 0.7, 0.9], [1.0, 2.0, 3.0, 4.0, 5.0]
    exact = correlate([0.3, *x[:1], *x[2:]], y, seed=1).values["spearman"].value
    assert correlate(x, y, seed=1).values["spearman"].value == exact
    assert correlate([0.3, 0.1 + 0.2, 0.3], y[:3], seed=1).constant == "first"


SCORES = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 100)).map(lambda pair: (pair[0] / 100, pair[1] / 100)), min_size=1, max_size=14,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SCORES, st.randoms(use_true_random=False), st.sampled_from([1e-300, 1e-12, 0.1, 1.0, 3.0, 1e9, 9e99]))
@example([(0.6, 0.5), (0.4, 0.5), (0.8, 0.5), (0.4, 0.5), (0.3, 0.5)], random.Random(1), 0.1)
@example([(0.3, 0.3)], random.Random(1), 1e-300)
def test_neither_the_order_of_rows_nor_the_unit_of_scores_changes_what_is_concluded(
    scores: list[tuple[float, float]], rng: random.Random, unit: float,
) -> None:
    """The same scores in another order, each multiplied: the same side, p, tests and count; sizes in the new unit."""
    before = paired(*zip(*scores, strict=True))
    rng.shuffle(scores)
    after = paired(*zip(*((a * unit, b * unit) for a, b in scores), strict=True))
    assert sign(before.difference.value or 0.0) == sign(after.difference.value or 0.0, scale=unit)
    assert (before.needed is None, before.needed_above) == (after.needed is None, after.needed_above)
    assert before.needed is None or after.needed is None or abs(before.needed - after.needed) <= 1
    for figure in ("p", "wilcoxon_p", "effect", "superiority"):
        assert getattr(after, figure) == near(getattr(before, figure), 1.0), figure
    for figure in ("sd", "mean_a", "mean_b"):
        assert getattr(after, figure) == near(getattr(before, figure), unit), figure
    for end in ("value", "low", "high"):
        assert getattr(after.difference, end) == near(getattr(before.difference, end), unit), end


def test_a_mean_is_the_same_in_any_order_and_0_where_only_a_rest_is_left() -> None:
    for order in itertools.permutations([0.1, -0.1, 0.3, -0.1, -0.2]):
        assert mean_of(order) == 0.0
    assert mean_of([1e-300, 3e-300]) == pytest.approx(2e-300) and mean_of([0.1, 0.2]) == pytest.approx(0.15)


@pytest.mark.parametrize("seed", range(8))
def test_equal_systems_are_told_what_the_questions_show_and_no_count(seed: int) -> None:
    """Shares of three trials that cancel out: 1/3 + 1/3 - 2/3 in some order leaves a rest."""
    rows = [(1, 0, 0), (1, 0, 0), (-1, -1, 0), (1, 1, 1), (-1, -1, -1), (0, 0, 0)] * 5
    random.Random(seed).shuffle(rows)
    made = build_report(found([tabled(np.array(rows, dtype=float))], drill=0))
    pair = next(filter(is_first, made.pairs))
    assert (pair.relative.value, pair.needed, pair.needed_above) == (0.0, None, None)
    text = sentence(pair, made.outcomes[0])
    assert text.startswith("No difference found between A and B: they win and lose equally often, relative win rate 0 %, 95% CI [")
    assert "30 questions show a difference of " in text and " more would" not in text


def test_a_count_beyond_100_000_is_told_as_such_on_every_face() -> None:
    rows = [(1,), (-1,)] * 1000 + [(1,)]  # 0.05 % +- 100 %: 31 million questions
    made = build_report(found([tabled(np.array(rows, dtype=float))], drill=0))
    pair = next(filter(is_first, made.pairs))
    assert (pair.needed, pair.needed_above) == (None, 100_000)
    assert sentence(pair, made.outcomes[0]).endswith("If it is as small as it looks here, it takes more than 100,000 questions to show it.")
    for shown in (terminal.render(comparison(made)), markdown.render(comparison(made)), html.render(comparison(made), made)):
        assert "more than 100,000" in " ".join(shown.split())
    stored = json.loads(made.model_dump_json())["pairs"][0]
    assert (stored["needed"], stored["needed_above"]) == (None, 100_000)
    assert ComparisonReport.model_validate_json(made.model_dump_json()) == made
    head, row, *_ = csv_.comparison(made).splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["needed_above"] == "100000"
    assert 'name="needed_above" value="100000"' in junit.comparison(made)


@pytest.mark.slow
def test_stats_say_more_than_100_000_and_that_no_difference_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(5)
    a = [rng.choice((0.0, 0.5, 1.0)) for _ in range(2000)]
    b = [*rng.sample(a, len(a) - 1), 0.75]
    differ = report(capsys, "paired", wide({"A": a, "B": b}))
    assert (differ.paired[0].needed, differ.paired[0].needed_above) == (None, 100_000)
    assert "for the difference seen, more than 100,000 questions are needed" in shown(differ)
    same = report(capsys, "paired", wide({"A": a, "B": rng.sample(a, len(a))}))
    assert "with 80 % power; no difference was seen." in shown(same)
    power = report(capsys, "power", "--sd", "0.4", "--difference", "0.000001").power
    assert [(row.needed, row.needed_above) for row in power] == [(None, 100_000)]


def test_more_than_100_000_items_to_label_are_told_as_such() -> None:
    assert [items(0.5, 0.01), items(0.5, 0.001), items(0.5, 0.001, population=5000)] == [9600, None, 4975]
    assert [items_needed(9600), items_needed(None)] == ["9,600", "more than 100,000"]


def test_scores_too_large_to_compute_with_are_refused_by_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    text = refused(capsys, "paired", wide({"A": [1e308, 0.5], "B": [-1.7e308, 0.4]}))
    assert "s.csv:2: A: a number from -1e+100 to 1e+100 expected, found 1e+308" in text and "found -1.7e+308" in text


def test_an_end_of_an_interval_that_is_0_but_for_rounding_holds_0() -> None:
    for low, sure in ((REST, False), (0.02, True)):
        figure = Estimated(value=0.1, low=low, high=0.2)
        found = conclude(PairEvidence(
            pair=("A", "B"), of="m", figure=figure, p=0.01, groups=DrawnGroups(groups=40, questions=40), missing=0, lowest=figure,
            highest=figure, coverage=(SystemCoverage(system="A", questions=40), SystemCoverage(system="B", questions=40)), within=0.0,
        ))
        assert (found.conclusion == "a better") is sure


def near(value: float | None, unit: float) -> Any:
    return None if value is None else pytest.approx(value * unit, rel=1e-6, abs=1e-9 * unit)


def paired(a: Any, b: Any) -> PairedResult:
    columns = (
        ScoreColumn(name, "m", {f"q{at}": float(value) for at, value in enumerate(values)}) for name, values in (("A", a), ("B", b))
    )
    return paired_result(*columns, seed=1)


def first_of(rows: list[tuple[int, ...]]) -> PairResult:
    return next(filter(is_first, pair_results(tabled(np.array(rows, dtype=float)), seed=1)))


def shown(given: StatsReport) -> str:
    return " ".join(terminal.render(stats.document(given)).split())
