"""The worlds of the proof: their truth worked out a second time, their draws, their figures, and the command. The proof itself, 1,000 runs,
stands in tests/models/test_simulated_proof.py."""

from __future__ import annotations

import json
import math
import random
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from kgeval.cli import main
from kgeval.comparison.results.pair import pair_results
from kgeval.comparison.simulate import Aligning, Scenario, SimulatedJudge, SimulatedSystems, SimulationSettings, simulate, standard
from kgeval.comparison.simulate.proof import play, true_rate
from kgeval.comparison.simulate.world import ASPECTS, DrawSize, draw
from kgeval.comparison.table import PairTable
from kgeval.records import SimulationReport
from kgeval.reports.write import Screen, rendered

FEW = SimulationSettings(trials=3, questions=60, resamples=1000)
EXACT = SimulatedJudge(position=0, length=0, noise=0.4, halo=0.2, tie=0, step=0.001, failed=0)
A_CALL = (0.4**2 / len(ASPECTS) + 0.2**2) / 4  # variance of one answer's mean over four calls


@pytest.mark.long
def test_the_truth_is_what_can_be_worked_out_by_hand_for_a_judge_without_steps() -> None:
    """A's lead is normal: difference, spread over questions, two answers' trials, the noise of four calls each; what lies within that
    noise is a tie: half the difference of two calls and two has the variance of their mean."""
    systems = SimulatedSystems(difference=0.3, spread=0.5, trial=0.3, level=2.5, difficulty=0.1)
    sd = math.sqrt(0.5**2 + 2 * 0.3**2 + 2 * A_CALL)
    band = math.sqrt(2 * A_CALL)
    expected = stats.norm.cdf((0.3 - band) / sd) - stats.norm.cdf((-0.3 - band) / sd)
    assert true_rate(Scenario("", "", systems, EXACT), seed=3) == pytest.approx(expected, abs=4 / math.sqrt(400_000))


@pytest.mark.long
def test_the_truth_is_what_a_plain_loop_over_a_judges_calls_gives() -> None:
    """Steps, ties, the sum of all aspects and the tie band, one question after the other, in plain Python."""
    judge, systems, rng = SimulatedJudge(tie=0.5, step=1.0), SimulatedSystems(difference=0.4), random.Random(8)
    leads, halves, drawn = [], [], 12_000
    for _ in range(drawn):
        lead = rng.gauss(systems.difference, systems.spread)
        level = [systems.level + sign * lead / 2 + rng.gauss(0, systems.trial) for sign in (1, -1)]
        level = [one + other for one, other in zip(level, [rng.gauss(0, systems.difficulty)] * 2, strict=True)]
        gaps = []
        for _call in range(4):
            halo = [rng.gauss(0, judge.halo) for _ in "ab"]
            felt = [[level[side] + halo[side] + rng.gauss(0, judge.noise) for side in (0, 1)] for _ in ASPECTS]
            if abs(sum(a - b for a, b in felt)) / 4 < judge.tie:
                felt = [[(a + b) / 2] * 2 for a, b in felt]
            gaps.append(sum(min(5, max(0, round(a))) - min(5, max(0, round(b))) for a, b in felt))
        leads.append(sum(gaps) / 4)
        halves.append((gaps[0] + gaps[1] - gaps[2] - gaps[3]) / 4)
    band = statistics.stdev(halves)
    total = sum((lead > band) - (lead < -band) for lead in leads)
    assert true_rate(Scenario("", "", systems, judge), seed=0) == pytest.approx(total / drawn, abs=4 / math.sqrt(drawn))


def test_lengths_are_brought_within_ten_words_or_the_pair_is_discarded_and_neither_side_gains() -> None:
    world = Scenario("", "", SimulatedSystems(words_a=280), SimulatedJudge(), Aligning(misses=25, forced=0.4))
    drawn = draw(world, DrawSize(1, 20_000, 1, 1), np.random.default_rng(1))
    gap = (drawn.words[..., 0] - drawn.words[..., 1])[~drawn.discarded]
    assert np.abs(gap).max() <= 10 and abs(gap.mean()) < 0.3
    assert (drawn.free_words[..., 0] - drawn.free_words[..., 1]).mean() == pytest.approx(80, abs=1)
    far = 0.6 * (1 - 2 * (stats.norm.cdf(10.5 / 25) - 0.5)) ** 5  # five attempts within 10 words, then forced alignment
    assert drawn.discarded.mean() == pytest.approx(far, abs=0.01)
    assert np.isnan(drawn.points[drawn.discarded]).all()


def test_points_are_points_of_the_scale_and_a_tie_gives_the_same_to_both() -> None:
    drawn = draw(Scenario("", "", judge=SimulatedJudge(step=0.5, failed=0)), DrawSize(2, 200, 2, 2), np.random.default_rng(2))
    known = drawn.points[~np.isnan(drawn.points)]
    assert set(np.unique(known)) <= {at / 2 for at in range(11)}
    always = draw(Scenario("", "", judge=SimulatedJudge(tie=100.0, failed=0)), DrawSize(1, 50, 1, 2), np.random.default_rng(2))
    table, biased = next(always.tables())
    assert set(table.wins()[~np.isnan(table.wins())]) == {0.0}
    assert set(biased.wins().ravel()) <= {-1.0, 1.0}, "the baseline knows no ties"


def test_position_exchange_takes_a_preference_for_the_first_away_and_one_order_keeps_it() -> None:
    """What it cannot give back are ties: docs/simulation.md."""
    leaning = Scenario("", "", judge=SimulatedJudge(position=3.0, length=0, failed=0))
    table = next(draw(leaning, DrawSize(1, 4000, 1, 2), np.random.default_rng(5)).tables())[0]
    assert abs(np.nanmean(table.wins())) < 4 / math.sqrt(4000)
    half = PairTable("a", "b", table.questions, ASPECTS, table.points[:, :, :1], table.words)
    assert np.nanmean(half.wins()) > 0.9


def test_half_an_exchange_of_positions_is_no_result() -> None:
    world = Scenario("", "", judge=SimulatedJudge(position=3.0, failed=0), aligning=Aligning(forced=1.0))
    drawn = draw(world, DrawSize(1, 3, 1, 2), np.random.default_rng(1))
    drawn.points[0, 1, 0, 1] = np.nan
    drawn.points[0, 2, 0, 0, 0, 3] = np.nan
    wins = next(drawn.tables())[0].wins().ravel()
    assert np.isnan(wins).tolist() == [False, True, True]


def test_the_baseline_chooses_by_the_first_of_the_same_calls_with_the_answers_lengths_as_first_written() -> None:
    """Without steps and ties his choice can be read off the points of the first call, plus what the free lengths would have done."""
    world = Scenario("", "", SimulatedSystems(words_a=260, difficulty=0.1, level=2.5), replace(EXACT, position=0.5, length=0.5))
    drawn = draw(world, DrawSize(2, 300, 2, 2), np.random.default_rng(3))
    first = drawn.points[:, :, 0, 0, 0]
    before = (drawn.free_words - drawn.words)[:, :, 0]
    lead = (first[..., 0] - first[..., 1]).mean(axis=-1) + 0.005 * (before[..., 0] - before[..., 1])
    sure = (np.abs(lead) > 0.01) & ~drawn.discarded[:, :, 0]
    assert sure.mean() > 0.8 and (before[sure] != 0).any()
    assert (np.sign(lead)[sure] == drawn.chosen[sure]).all()


def test_one_run_gives_the_figures_that_the_product_gives() -> None:
    world, settings = standard((0.2,))[2], replace(FEW, runs=3, resamples=10_000)
    played = play(world, settings, truth=0.2, stream=0)
    drawn = draw(world, DrawSize(3, 60, 3, 2), np.random.default_rng([0, 2, 0, 0]))
    for run, (table, _) in enumerate(drawn.tables()):
        found = pair_results(table, seed=run, by=("all",), aspects=("overall",))[0]
        ours = played.unbiased
        assert found.relative.value == pytest.approx(ours.mean[run], abs=1e-12)
        assert (found.relative.low, found.relative.high) == pytest.approx((ours.low[run], ours.high[run]), abs=1e-12)
        assert found.p == pytest.approx(ours.p[run], abs=1e-12)
        assert found.n == 60


def test_the_same_seed_gives_the_same_figures_and_another_does_not() -> None:
    small = replace(FEW, runs=5, questions=20, scenarios=standard(())[:1])
    assert simulate(small).results == simulate(small).results
    assert simulate(small).results != simulate(replace(small, seed=1)).results


def test_a_judge_that_always_says_the_same_finds_nothing_and_has_no_interval_to_be_wrong_with() -> None:
    stubborn = Scenario("always 5", "", judge=SimulatedJudge(tie=100.0, failed=0.0), systems=SimulatedSystems(level=9))
    found = simulate(replace(FEW, runs=10, questions=20, scenarios=(stubborn,))).results[0]
    assert (found.unbiased.covered, found.unbiased.alarms, found.unbiased.width) == (1.0, 0.0, 0.0)


def test_two_questions_and_a_judge_that_never_replies_have_no_interval_and_are_not_counted_as_right() -> None:
    silent = Scenario("silent", "", judge=SimulatedJudge(failed=1.0))
    found = simulate(replace(FEW, runs=4, questions=2, scenarios=(silent,))).results[0]
    assert (found.unbiased.n_scored, found.unbiased.mean, found.unbiased.covered, found.unbiased.alarms) == (0, None, 0.0, 0.0)
    assert found.sequential.open == 1.0


@pytest.mark.parametrize("wrong", [
    {"runs": 0}, {"questions": 1}, {"trials": 0}, {"effects": (9.0,)}, {"confidence": 1.0}, {"tie_region": 1.0}, {"resamples": 5},
])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        SimulationSettings(**wrong)


def test_all_wrong_settings_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"runs is 0.*trials is 0.*tie region of 2"):
        SimulationSettings(runs=0, trials=0, tie_region=2)


def command(tmp_path: Path, *more: object) -> list[str]:
    given = ["compare", "--simulate", "--simulate-runs", 6, "--simulate-questions", 20, "--trials", 2, "-o", tmp_path / "r.json"]
    return [str(word) for word in (*given, *more)]


@pytest.mark.long
def test_the_command_writes_a_report_in_every_form(tmp_path: Path) -> None:
    assert main.run(command(tmp_path, "-o", tmp_path / "r.md", "-q")) in (0, 1)
    report = SimulationReport.model_validate_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (report.runs, report.trials, report.seed, len(report.scenarios)) == (6, 2, 0, 7)
    assert report.passed == all(bound.held for bound in report.bounds)
    assert report.run.arguments["n_questions"] == 20 and report.run.command == "compare --simulate"
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert text.count("| one system twice |") == 3 + 5
    assert "one system twice" in rendered(report, "text", screen=Screen(width=140))
    assert json.loads(rendered(report, "json", redact=True))["seed"] == 0


@pytest.mark.long
@pytest.mark.slow
def test_a_bound_that_is_not_held_is_said_and_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("kgeval.comparison.simulate.proof.ALARMS_OFF", -1.0)
    assert main.run(command(tmp_path, "-q")) == 1
    said = capsys.readouterr()
    assert "not all bounds are held; 6 runs are too few to judge by (--simulate-runs 50)" in said.err
    assert "drawn" not in said.err and not said.out
    assert main.run(command(tmp_path)) == 1
    said = capsys.readouterr()
    assert "6 comparisons a scenario are too few to judge bounds by" in " ".join(said.out.split())
    assert "NOT held" in said.out and "not held: 0.5 points, flattered: wrong decisions" in said.out
    assert "drawn: one system twice" in said.err


@pytest.mark.parametrize(("more", "expected"), [
    (("--simulate-runs", 0), "'--simulate-runs'"), (("-f", "xml"), "no form 'xml'"), (("-o", "x.csv"), "x.csv"),
    (("--simulate-questions", 100_000, "--trials", 1000), "memory"), (("a.jsonl",), "no answers"), (("--shard", "1/2"), "one computation"),
])
def test_wrong_input_is_refused_before_anything_is_drawn(
    tmp_path: Path, more: tuple[object, ...], expected: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(command(tmp_path, *more)) == 2
    said = capsys.readouterr().err
    assert expected in said and "drawn" not in said
