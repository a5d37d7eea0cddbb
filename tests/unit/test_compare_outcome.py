"""What pairs are concluded from: documents, the judge's own noise, padding, and a judge that sees nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from comparison_sample import NAN, found, tabled

from kgeval.comparison.results.build import build_report
from kgeval.comparison.results.pair import pair_results
from kgeval.comparison.table import PairQuestion, PairTable
from kgeval.records import Drift, Estimated, Outcome


def of_documents(documents: int, each: int, rng: np.random.Generator, *, lead: float = 0.0, alike: float = 0.4) -> PairTable:
    """A pair whose documents differ: `alike` of a question's variance is its document's."""
    groups = np.repeat(np.arange(documents), each)
    felt = lead + rng.normal(size=documents)[groups] * alike**0.5 + rng.normal(size=len(groups)) * (1 - alike) ** 0.5
    gaps = np.where(felt > 0.4, 1.0, np.where(felt < -0.4, -1.0, 0.0))
    asked = [PairQuestion(f"q{n}", document=f"d{group}") for n, group in enumerate(groups.tolist())]
    return tabled(gaps[:, None], asked=asked)


def alone(table: PairTable) -> PairTable:
    """The same, as if each question stood for itself."""
    return replace(table, questions=tuple(replace(question, document=None) for question in table.questions))


def concluded(*tables: PairTable, **more: Any) -> Outcome:
    return build_report(found(tables, texts=None, **more)).outcomes[0]


@pytest.mark.parametrize(("documents", "each"), [(6, 20), (12, 10), (40, 3)])
def test_equal_systems_are_called_different_no_more_often_than_said(documents: int, each: int) -> None:
    rng = np.random.default_rng(documents)
    held = alarms = bare = 0
    times = 200
    for _ in range(times):
        table = of_documents(documents, each, rng)
        (result,) = pair_results(table, seed=1, by=("all",), aspects=("overall",))
        held += result.relative.low <= 0 <= result.relative.high
        alarms += result.p < 0.05 and not result.relative.low <= 0 <= result.relative.high
        if documents == 12:
            (plain,) = pair_results(alone(table), seed=1, by=("all",), aspects=("overall",))
            bare += plain.p < 0.05
    assert held / times >= 0.91 and alarms / times <= 0.08  # 95 % and 5 %, three standard errors off at most
    assert documents != 12 or bare / times > 0.2, "without documents the same draws alarm far more often"


def test_the_effective_number_of_questions_lies_between_documents_and_questions() -> None:
    table = of_documents(12, 10, np.random.default_rng(4))
    outcome = concluded(table)
    assert (outcome.groups.unit, outcome.groups.groups, outcome.groups.questions) == ("document", 12, 120)
    assert 10 < outcome.groups.effective < 60
    assert concluded(alone(table)).groups.groups == 120


def noisy(noise: float, lead: float, rng: np.random.Generator, *, questions: int = 60, bias: float = 1.0) -> PairTable:
    """Both orders see the lead, a preference for the first place, and noise of their own."""
    table = tabled(np.zeros((questions, 1)), aspects=("quality",))
    for position, sign in enumerate((1, -1)):
        felt = rng.normal(0, 0.2, questions) * 0 + lead + sign * bias + rng.normal(0, noise, questions)
        table.points[:, 0, position, 0, 0, 0], table.points[:, 0, position, 0, 0, 1] = 2.5 + felt / 2, 2.5 - felt / 2
    return table


def test_a_difference_within_the_judges_own_noise_is_a_tie() -> None:
    table = noisy(0.8, 0.0, np.random.default_rng(1), questions=400)
    band = table.tie_band()
    assert band == pytest.approx(0.8 / 2**0.5, rel=0.1), "the preference for a place is no noise"
    assert (table.judged_wins() == 0).mean() == pytest.approx(0.683, abs=0.07)
    assert (replace(table, banded=False).judged_wins() == 0).mean() == 0
    clear = noisy(0.1, 1.0, np.random.default_rng(1))
    assert (clear.judged_wins() == 1).all()
    assert tabled([[1]] * 9, procedure="pairwise-choice").tie_band() is None and tabled([[1]] * 9, positions=1).tie_band() is None
    assert tabled([[1]] * 9, bias=2.0).tie_band() == 0


def test_verdicts_that_agree_between_orders_by_chance_only_find_no_equality() -> None:
    rng = np.random.default_rng(2)
    table = tabled(np.zeros((100, 1)), procedure="pairwise-choice")
    for position in range(2):
        first_wins = rng.random(100) < 0.75
        a_wins = first_wins if position == 0 else ~first_wins
        table.points[:, 0, position, 0, 0, 0], table.points[:, 0, position, 0, 0, 1] = a_wins, ~a_wins
    outcome = concluded(table, tie_region=0.5)
    assert outcome.conclusion == "not decidable" and "where one who does not read the answers would" in outcome.because[0]
    reading = tabled(np.where(np.arange(100) % 2, 1.0, -1.0)[:, None], procedure="pairwise-choice")
    assert concluded(reading, tie_region=0.5).conclusion == "equal"


def test_a_judge_that_misses_its_anchors_decides_nothing() -> None:
    clear = tabled([[2]] * 30)
    assert concluded(clear).conclusion == "a better"
    missed = Drift(anchors=40, n_scored=40, agreement=Estimated(value=0.4), kappa=0.05)
    assert "on the anchors the judge agrees with people no better than by chance" in concluded(clear, drift=missed).because[0]
    assert concluded(clear, drift=missed.model_copy(update={"n_scored": 12})).conclusion == "a better"


def padded(gaps: list[float], those: int) -> PairTable:
    """The first `those` questions were lengthened by a model."""
    asked = [PairQuestion(f"q{n}", padded=frozenset({1}) if n < those else frozenset()) for n in range(len(gaps))]
    return tabled([[gap] for gap in gaps], asked=asked)


def test_a_padder_of_the_judges_family_must_agree_with_answers_that_nobody_padded() -> None:
    gaps = [2.0] * 40 + [-1.0] * 15 + [1.0] * 5
    taste = concluded(padded(gaps, 40), pads_itself=True)
    assert taste.conclusion == "not decidable" and "over the 20 other questions the rate is -50.0 %" in taste.because[0]
    assert concluded(padded(gaps, 40)).conclusion == "a better", "another family pads"
    assert taste.beside["answers that no model lengthened"].value == -0.5
    agreeing = concluded(padded([2.0] * 40 + [1.0] * 20, 40), pads_itself=True)
    assert agreeing.conclusion == "a better"
    assert "too few others" in concluded(padded([2.0] * 40, 35), pads_itself=True).because[0]
    assert concluded(padded(gaps, 8), pads_itself=True).conclusion == "a better", "few answers were padded"


def test_discarded_questions_could_turn_a_small_difference() -> None:
    gaps = [[1.0]] * 40 + [[0.0]] * 30 + [[-1.0]] * 20 + [[NAN]] * 30
    asked = [PairQuestion(f"q{n}", discarded=frozenset({1}) if n >= 90 else frozenset()) for n in range(120)]
    outcome = concluded(tabled(gaps, asked=asked))
    assert outcome.missing == 30 and outcome.conclusion == "not decidable"
    assert (outcome.lowest.value, outcome.highest.value) == (pytest.approx(-10 / 120), pytest.approx(50 / 120))
    few = tabled(gaps[:95], asked=asked[:95])
    assert concluded(few).conclusion == "a better"
