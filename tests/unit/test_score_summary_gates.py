"""Thresholds: what is understood, what is refused, and when a gate has no answer."""

from __future__ import annotations

import pytest

from kgeval.errors import UsageError
from kgeval.metrics.definition import Metric, scored
from kgeval.metrics.summary.gates import evaluate, parse_gates
from kgeval.records import Mean, MetricSummary
from kgeval.stats.thresholds import Threshold

COMPUTED = [
    Metric("faithfulness", "grounding", "", "", "", lambda subject: scored(1)),
    Metric("intrinsic_hallucination", "grounding", "", "", "", lambda subject: scored(1), better="lower"),
]


def summary(mean: float | None, *, low: float | None = None, high: float | None = None, system: str = "S") -> MetricSummary:
    bounds = {"bound_low": mean if low is None else low, "bound_high": mean if high is None else high}
    return MetricSummary(system=system, metric="faithfulness", overall=Mean(n=10, n_scored=9, mean=mean, **bounds))


@pytest.mark.parametrize(("text", "gate"), [
    ("faithfulness=0.8", Threshold("faithfulness", ">=", 0.8)),
    ("faithfulness>=0.8", Threshold("faithfulness", ">=", 0.8)),
    (" faithfulness <= 1 ", Threshold("faithfulness", "<=", 1.0)),
    ("intrinsic_hallucination=0.05", Threshold("intrinsic_hallucination", "<=", 0.05)),
    ("intrinsic_hallucination>=0.05", Threshold("intrinsic_hallucination", ">=", 0.05)),
    ("my system: v2:faithfulness>=.5", Threshold("faithfulness", ">=", 0.5, "my system: v2")),
])
def test_a_threshold_is_a_metric_a_sign_and_a_limit_and_equals_means_the_good_side(text: str, gate: Threshold) -> None:
    assert parse_gates([text], COMPUTED) == (gate,)


def test_all_faults_of_all_thresholds_are_named_at_once() -> None:
    texts = ["faithfullness=0.8", "faithfulness=80%", "S:faithfulness>=0.5", "faithfulness>0.5", "faithfulness=nan", "exact=2"]
    with pytest.raises(UsageError) as caught:
        parse_gates(texts, COMPUTED, ["T"])
    message = caught.value.message
    for part in (
        "there is no metric faithfullness (did you mean faithfulness?)", "80% is not a number", "no system is called S",
        "'faithfulness>0.5': this is not NAME>=X", "nan is not a number", "there is no metric exact ", "2 is not a number from 0 to 1",
    ):
        assert part in message


def test_a_gate_is_met_at_its_limit_and_floating_point_noise_does_not_miss_it() -> None:
    gate = Threshold("faithfulness", ">=", 0.8)
    values = [0.8, 0.7999999999999999, 0.79, 1.0]
    assert [evaluate([gate], [summary(value)])[0].met for value in values] == [True, True, False, True]


def test_a_gate_has_no_answer_where_the_unscored_rows_could_turn_it() -> None:
    gate = Threshold("faithfulness", ">=", 0.8)
    open_, sure, lost = summary(0.82, low=0.75, high=0.9), summary(0.9, low=0.81, high=0.95), summary(0.2, low=0.1, high=0.7)
    assert [evaluate([gate], [one])[0].met for one in (open_, sure, lost, summary(None))] == [None, True, False, None]
    assert evaluate([gate], [sure], complete=False)[0].met is None


def test_a_file_of_answers_that_broke_off_meets_no_gate_that_the_missing_ones_could_turn() -> None:
    gate = Threshold("faithfulness", ">=", 0.8)
    whole = summary(0.9, system="S")
    asked = whole.overall.n - whole.overall.not_applicable
    few, many = asked // 10, asked * 9
    assert [evaluate([gate], [whole], missing={"S": count})[0].met for count in (0, few, many)] == [True, True, None]
    assert evaluate([gate], [whole], missing={"T": many})[0].met is True
    low = Threshold("faithfulness", "<=", 0.2)
    assert [evaluate([low], [summary(0.1)], missing={"S": count})[0].met for count in (0, few, many)] == [True, True, None]
    assert evaluate([gate], [summary(0.1)], missing={"S": few})[0].met is False, "nor can the missing ones save it"


def test_a_gate_without_a_system_is_for_every_system_and_one_with_an_unknown_system_has_no_answer() -> None:
    summaries = [summary(0.9, system="S"), summary(0.5, system="T")]
    results = evaluate([Threshold("faithfulness", ">=", 0.8), Threshold("faithfulness", ">=", 0.8, "U")], summaries)
    assert [(one.of, one.value, one.met) for one in results] == [("S", 0.9, True), ("T", 0.5, False), ("U", None, None)]
