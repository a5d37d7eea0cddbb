"""Thresholds: `faithfulness=0.8`, `faithfulness>=0.8`, `intrinsic_hallucination<=0.05`, `SYSTEM:METRIC>=X`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from kgeval.metrics.definition import Metric
from kgeval.metrics.summary.values import ANSWER_ERROR
from kgeval.metrics.table import all_metrics
from kgeval.records import Gate, Mean, MetricSummary
from kgeval.stats.thresholds import Better, Threshold, parse_thresholds, without_at


def parse_gates(texts: Sequence[str], metrics: Sequence[Metric], systems: Sequence[str] | None = None) -> tuple[Threshold, ...]:
    """The thresholds on means of metrics (0..1) in the order given; `of` is a system, None for every one. `metrics`: those of this run;
    `=` means at least where higher is better, at most where lower is.
    `systems`: names of the run's systems, None where they are not known yet.

    Raises: UsageError that names every fault of all texts.
    """
    computed: dict[str, Better] = {metric.name: metric.better for metric in metrics}
    thresholds = parse_thresholds(
        texts, lambda one: _faults(one, computed, systems),
        fix="write METRIC=X, METRIC>=X, METRIC<=X or SYSTEM:METRIC>=X with X from 0 to 1, for metrics that --metrics names",
    )
    return tuple(one.resolved(computed[one.name]) for one in thresholds)


def _faults(one: Threshold, computed: Mapping[str, Better], systems: Sequence[str] | None) -> list[str]:
    faults = [] if one.name in computed else [_unknown(one.name, computed)]
    if one.of is not None and systems is not None and one.of not in systems:
        faults.append(f"no system is called {one.of[:100]}")
    return [*faults, *without_at(one)]


def _unknown(metric: str, computed: Mapping[str, Better]) -> str:
    if metric in all_metrics():
        return f"{metric} is not computed in this run"
    near = get_close_matches(metric, [*computed, *all_metrics()], n=1)
    return f"there is no metric {metric[:60]}" + (f" (did you mean {near[0]}?)" if near else "")


def evaluate(
    gates: Sequence[Threshold], summaries: Sequence[MetricSummary], *, complete: bool = True, missing: Mapping[str, int] | None = None,
    silent: Mapping[tuple[str, str], int] | None = None,
) -> list[Gate]:
    """One result a gate and system, in the order of the gates. A system without the metric gives an unanswered one.

    `complete`: the run was not stopped; else no gate is answered, for rows are missing. `missing`: by system, questions that it did
    not answer: a file that broke off must not pass. `silent`: by system and metric, questions whose answer is empty or says nothing, so
    that the metric has no meaning: whoever says nothing must not pass as faithful.
    """
    results = []
    for gate in gates:
        means = {summary.system: summary.overall for summary in summaries if summary.metric == gate.name}
        for system in ((means or ("all systems",)) if gate.of is None else (gate.of,)):  # of nothing no gate is met
            gone = (missing or {}).get(system, 0) + (silent or {}).get((system, gate.name), 0)
            results.append(answered(gate, means.get(system), system, gone, complete=complete))
    return results


def answered(gate: Threshold, mean: Mean | None, of: str, missing: int, *, complete: bool) -> Gate:
    """What a threshold on a mean came to. `missing`: questions without an answer, which could turn it."""
    met = _met(gate, mean, missing) if mean and complete else None
    return gate.gate(mean.mean if mean else None, met, of=of, reason=_why_not(mean, missing) if met is None else None)


def _met(gate: Threshold, mean: Mean, missing: int) -> bool | None:
    """None where the unscored or missing questions could turn it: the limit lies between the bounds."""
    if mean.mean is None or mean.bound_low is None or mean.bound_high is None:
        return None
    # questions without an answer are taken as 0 and as 1, as unscored ones are in the bounds
    applicable = mean.n - mean.not_applicable
    low, high = (end * applicable / (applicable + missing) for end in (mean.bound_low, mean.bound_high))
    return gate.met_between(low, high + missing / (applicable + missing))


def _why_not(mean: Mean | None, missing: int) -> str:
    """Why a gate has no answer."""
    if mean is not None and mean.n and mean.n_scored == 0 and not mean.failures:
        return f"the metric has no meaning for any of {mean.n} questions; a gate SYSTEM:METRIC asks one system only"
    if mean is None or mean.n_scored == 0:
        return "it has no value"
    if failed := sum(mean.failures.values()):
        lost = mean.failures.get(ANSWER_ERROR, 0)
        why = f" ({lost} answers are errors)" if 0 < lost < failed else ""
        return f"{failed} of its {mean.n} {'answers are errors' if lost == failed else f'questions failed{why}'}, and could decide it"
    return "answers are missing, empty or say nothing, which could decide it" if missing else "the run was stopped before its end"
