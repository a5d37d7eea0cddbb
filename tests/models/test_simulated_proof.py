"""The proof: known biases, a known truth, 1,000 runs; what the procedure says, and what the biased baseline says on the same draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgeval.comparison.simulate import Simulation, SimulationSettings, simulate, standard

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]  # 40 s of one core, on a busy machine far more
FEW = SimulationSettings(trials=3, questions=60, resamples=1000)


@pytest.fixture(scope="module")
def proof() -> Simulation:
    """1,000 runs where there is nothing to find, nothing but length, and a small difference that the judge's biases make large."""
    return simulate(replace(FEW, scenarios=standard((0.2,))[:3]))


@pytest.fixture(scope="module")
def clear() -> Simulation:
    """1,000 runs with all 25 trials where the difference is clear and both biases hide it."""
    return simulate(SimulationSettings(resamples=1000, scenarios=(standard((0.5,))[3],)))


def test_intervals_hold_the_truth_in_93_to_97_of_100_runs(proof: Simulation, clear: Simulation) -> None:
    covered = {one.scenario.name: one.unbiased.covered for one in (*proof.results, *clear.results)}
    assert len(covered) == 4 and all(0.93 <= share <= 0.97 for share in covered.values()), covered


def test_equal_systems_are_told_apart_in_at_most_6_5_of_100_runs_however_the_judge_leans(proof: Simulation) -> None:
    alarms = {one.scenario.name: one.unbiased.alarms for one in proof.results if one.scenario.equal}
    assert len(alarms) == 2 and all(share <= 0.065 for share in alarms.values()), alarms


def test_the_biased_baseline_fails_on_the_same_draws(proof: Simulation, clear: Simulation) -> None:
    for one in proof.results:
        assert one.biased.covered < 0.1, one.scenario.name
        if one.scenario.equal:
            assert one.biased.alarms > 0.9, one.scenario.name
    flattered, hidden = proof.results[-1], clear.results[0]
    assert (flattered.biased.off or 0) > 0.4 and (hidden.biased.off or 0) < -0.05, "length speaks for A, then for B"
    assert abs(flattered.unbiased.off or 1) < 0.02 and abs(hidden.unbiased.off or 1) < 0.02
    assert hidden.biased.covered < 0.85


def test_stopping_when_sure_is_wrong_in_at_most_6_5_of_100_runs_at_any_time(proof: Simulation, clear: Simulation) -> None:
    for one in (*proof.results, *clear.results):
        assert one.sequential.wrong <= 0.065 and one.sequential.missed <= 0.065, one.scenario.name
    twice = proof.results[0].sequential
    assert twice.a + twice.b <= 0.05
    assert twice.peeking > 0.15, "an ordinary interval does not hold that"


def test_a_clear_difference_is_found_with_a_fifth_of_the_calls_of_25_trials(clear: Simulation) -> None:
    found = clear.results[0]
    assert found.sequential.same >= 0.95
    assert found.sequential.calls_most <= 0.2
    assert found.sequential.calls_share < 0.06 and found.sequential.questions < 50
    assert found.unbiased.alarms > 0.99


def test_all_bounds_are_held_and_named(proof: Simulation, clear: Simulation) -> None:
    assert proof.passed and clear.passed
    assert len({(bound.scenario, bound.what) for bound in proof.bounds}) == len(proof.bounds) == 5 + 5 + 4
    assert len(clear.bounds) == 6
