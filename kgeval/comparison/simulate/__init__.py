"""Judges with known biases and a known truth: the proof that the procedure is unbiased. Pure.

    world.py   systems, judges, scenarios, settings; and qualities, lengths and points of many comparisons at once, drawn from them -> the
               tables that a real run gives
    proof.py   what a fair judge would say, the product's own statistics on each drawn comparison, and whether they hold what is promised
"""

from __future__ import annotations

from kgeval.comparison.simulate.proof import Bound, ScenarioResult, Simulation, simulate
from kgeval.comparison.simulate.world import Aligning, Scenario, SimulatedJudge, SimulatedSystems, SimulationSettings, standard

__all__ = [
    "Aligning", "Bound", "Scenario", "ScenarioResult", "SimulatedJudge", "SimulatedSystems", "Simulation", "SimulationSettings",
    "simulate", "standard",
]
