"""One grammar of thresholds and one rule at the edge, whichever command reads them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.auditing.accuracy.estimates import share_names
from kgeval.auditing.gates import read_limits, written_as_flag
from kgeval.comparison.results.build import gates as comparison_gates
from kgeval.errors import UsageError
from kgeval.metrics.summary.gates import parse_gates
from kgeval.metrics.table import all_metrics
from kgeval.questions.checking.gates import parse_check_gates
from kgeval.questions.coverage import FACETS
from kgeval.records import Estimated, PairResult
from kgeval.records.accuracy import Estimate
from kgeval.records.completeness import Proportion
from kgeval.stats.thresholds import Threshold, passes, split
from kgeval.workflows import accuracy, completeness
from kgeval.workflows import report as report_workflow
from kgeval.workflows.compare_inputs import thresholds_of

METRICS = [all_metrics()[name] for name in ("exact_match", "intrinsic_hallucination")]


def _limits(texts: list[str]) -> list[Threshold]:
    limits, faults = read_limits(map(written_as_flag, split(texts)))
    if faults:
        raise UsageError("; ".join(faults))
    return [one for of in limits.values() for one in of]


def _shares(texts: list[str]) -> list[tuple[str, bool, float]]:
    return [(one.name, one.least(share_names()[one.name]), one.limit) for one in accuracy.parse_gates(texts)]


# how each command reads its thresholds, a name of it where high is good, and one where low is
READERS: dict[str, tuple[Callable[[list[str]], Any], str | None, str | None]] = {
    "audit": (_limits, "giant_share", "isolated-entity"),
    "accuracy": (_shares, "accuracy", "contradicted"),
    "completeness": (completeness.parse_gates, "entity_coverage", None),
    "score": (lambda texts: parse_gates(texts, METRICS), "exact_match", "intrinsic_hallucination"),
    "compare": (lambda texts: thresholds_of(texts, ["new", "old"], ["directness"]), "win", "loss"),
    "questions check": (lambda texts: parse_check_gates(texts, ["leak", "unique"], ["q.jsonl"]), "leak", None),
    "questions coverage": (lambda texts: parse_check_gates(texts, FACETS, ["q.jsonl"], noun="facet"), "types", None),
    "report": (lambda texts: report_workflow.parsed_thresholds(texts), "faithfulness", None),
}


@pytest.mark.parametrize("command", READERS)
def test_all_commands_read_the_same_grammar(command: str) -> None:
    """At least, at most and equal; with blanks; several by comma or repeated."""
    read, good, bad = READERS[command]
    for name, signs in ((good, (">=", "<=", "=")), (bad, ("<=", "="))):
        if name is None:
            continue
        assert len(read([f"{name}{sign}0.5" for sign in signs[:1]])) == 1
        for sign in signs:
            (plain,) = read([f"{name}{sign}0.5"])
            assert [plain] == list(read([f" {name} {sign} 0.5 "]))
        assert read([f"{name}{signs[0]}0.25,{name}{signs[0]}0.5"]) == read([f"{name}{signs[0]}0.25", f"{name}{signs[0]}0.5"])
    if bad is not None:  # = means at least for what is good when high, at most for what is not
        assert read([f"{good}=0.5"]) == read([f"{good}>=0.5"]) or command == "report"
        assert read([f"{bad}=0.5"]) == read([f"{bad}<=0.5"])


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("text", ["{}", "{}>0.5", "{}==0.5", "{}>=", "{}>=x", "{}>=nan", "{}>=inf", "{}>=5000", ">=0.5", "{}>=0.5 hits"])
def test_what_is_no_threshold_is_refused_everywhere(command: str, text: str) -> None:
    read, good, _ = READERS[command]
    if command == "audit" and "5000" in text:
        return  # structure figures have any size
    with pytest.raises(UsageError):
        read([text.format(good)])


def test_names_of_systems_may_have_commas_and_signs() -> None:
    (gate,) = parse_gates(["m=1,t=2:exact_match>=0.8"], METRICS)
    assert (gate.of, gate.name, gate.limit) == ("m=1,t=2", "exact_match", 0.8)
    assert [one.of for one in parse_gates(["a:exact_match>=0.8,b, c:exact_match>=0.7"], METRICS)] == ["a", "b, c"]
    with pytest.raises(UsageError, match="exact_mach"):
        parse_gates(["exact_mach>=0.8,b:exact_match>=0.7"], METRICS)


@given(st.integers(0, 1000), st.integers(1, 1000), st.booleans())
def test_a_share_that_is_the_limit_but_for_rounding_meets_it(hits: int, total: int, least: bool) -> None:
    """Summed up in any way, a share meets the limit that it is equal to."""
    share = min(hits, total) / total
    summed = sum([share / 7] * 7)
    assert passes(summed, share, least=least) and passes(share, summed, least=least)


def test_the_edge_is_where_numbers_differ() -> None:
    """A hit among a thousand million is a hit; whole numbers are compared exactly."""
    assert passes(0.7999999999, 0.8, least=True)
    assert not passes(0.79999, 0.8, least=True)
    assert not passes(1 / 3_000_000_000, 0, least=False)
    assert not passes(5_000_000_001, 5_000_000_000, least=False)


def test_the_edge_is_the_same_in_audit_comparison_accuracy_and_completeness() -> None:
    """0.7999999999 meets 0.8 wherever a gate is asked."""
    near = 0.7999999999
    assert Threshold("giant_share", ">=", 0.8).met(near)
    (threshold,) = thresholds_of(["relative>=0.8"], ["a", "b"], [])
    pair = PairResult(system_a="a", system_b="b", n=5, n_scored=5, relative=Estimated(value=near))
    assert [one.met for one in comparison_gates([threshold], [pair], [], complete=True)] == [True]
    estimate = Estimate(of="accuracy", labelled_by="people", method="", n=5, n_scored=5, value=near)
    judged: Any = SimpleNamespace(estimates=[estimate])
    assert [gate.met for gate in accuracy._answered(judged, accuracy.parse_gates(["accuracy>=0.8"]))] == [True]
    coverage = SimpleNamespace(entity_coverage=Proportion(count=0, total=0, share=near))
    measured: Any = SimpleNamespace(verdict_level="exact", scope="documents", levels={"exact": coverage})

    def met(text: str) -> list[bool | None]:
        return [gate.met for gate in completeness._answered(measured, completeness.parse_gates([text]))]

    assert met("entity_coverage=0.8") == [True]
    assert met("entity_coverage<=0.8, entity_coverage@exact<=0.7") == [True, False]
