"""The headline figures of scores: every metric of every system, accuracy by hops, latency, cost, differences between systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kgeval.overview.metric_parts import part_of
from kgeval.records import CostSummary, Mean, ReasoningSummary, ScoreReport

# The metric that the verdict speaks of: the leaderboard's, else the first of these that has values, else the first of all.
HEADLINES = (
    "answer_accuracy", "factual_correctness", "answer_completeness", "binary_accuracy", "binary_accuracy_compat", "semantic_similarity",
    "token_f1", "exact_match",
)
MOST_GAINS = 60  # differences between systems, of the metric that the verdict speaks of


def scores(report: ScoreReport) -> Iterator[dict[str, Any]]:
    """All figures of a score report."""
    info = {one.metric: one for one in report.metrics}
    for one in report.summaries:
        known = info.get(one.metric)
        better, signature = (known.better, known.signature) if known else ("higher", None)
        yield _mean(part_of(one.metric), one.metric, one.metric, one.overall, of=one.system, better=better, signature=signature)
    for row in report.leaderboard:
        where = f" on {row.dataset}" if row.dataset else ""
        yield {
            "part": "answers", "name": "mean_of_levels", "title": f"Mean of {len(row.levels)} levels, {row.metric}{where}",
            "value": row.average, "of": row.system, "better": "higher", "note": None if row.complete else "not all four levels",
        }
    for reasoning in report.reasoning:
        yield from _reasoning(reasoning)
    for cost in report.costs:
        yield from _cost(cost)
    yield from _gains(report)


def _mean(part: str, name: str, title: str, mean: Mean, **more: Any) -> dict[str, Any]:
    return {
        "part": part, "name": name, "title": title, "value": mean.mean, "low": mean.low, "high": mean.high,
        "n": mean.n - mean.not_applicable, "n_scored": mean.n_scored, **more,
    }


def _reasoning(one: ReasoningSummary) -> Iterator[dict[str, Any]]:
    for hops, mean in sorted(one.accuracy_by_hop.items()):
        name = "hops_" + hops.replace("+", "_up")
        title = f"Questions of {hops} {'hop' if hops == '1' else 'hops'}: {one.accuracy_metric}"
        yield _mean("reasoning", name, title, mean, of=one.system, better="higher")
    wrong = wrong_step_questions(one)
    shares = (("error_propagation", "Wrong answers after a wrong step", one.error_propagation, wrong),
              ("lucky", "Right answers after a wrong step", one.lucky, wrong),
              ("wrong_step_share", "Questions with a wrong step", one.wrong_step_share, one.questions))
    for name, title, value, n in shares:
        if value is not None:
            yield {
                "part": "reasoning", "name": name, "title": title, "value": value, "of": one.system, "n": n, "n_scored": n,
                "better": "lower",
            }


def wrong_step_questions(one: ReasoningSummary) -> int:
    """What `error_propagation` and `lucky` are shares of. Reports of the first versions do not count these answers: there it is all
    questions with a wrong step."""
    counted = one.wrong_step_answers or (one.error_propagation is None and one.lucky is None)
    return one.wrong_step_answers if counted else one.with_wrong_step


def _cost(one: CostSummary) -> Iterator[dict[str, Any]]:
    if one.latency_s is not None and one.latency_s.n:
        for name in ("p50", "p95", "p99"):
            yield {
                "part": "latency", "name": f"latency_{name}", "title": f"Seconds an answer, {name}", "unit": "seconds",
                "value": getattr(one.latency_s, name), "of": one.system, "n": one.n, "n_scored": one.latency_s.n, "better": "lower",
            }
    for stage, took in sorted(one.stages.items()):
        if took.n:
            yield {
                "part": "latency", "name": f"{stage}_p50", "title": f"Seconds in {stage}, p50", "unit": "seconds", "value": took.p50,
                "of": one.system, "n": one.n, "n_scored": took.n, "better": "lower",
            }
    for name, title, unit in (("cost", "Cost an answer", "usd"), ("total_tokens", "Tokens an answer", "number")):
        if one.means.get(name) is not None:
            yield {
                "part": "cost", "name": f"answer_{name}", "title": title, "unit": unit, "value": one.means[name], "of": one.system,
                "n": one.n, "n_scored": one.known.get(name, one.n), "better": "lower",
            }


def _gains(report: ScoreReport) -> Iterator[dict[str, Any]]:
    """Paired differences between systems in the metric of the verdict."""
    metric = headline_metric(report)
    lower = {one.metric for one in report.metrics if one.better == "lower"}
    for gain in [one for one in report.gains if one.metric == metric][:MOST_GAINS]:
        yield {
            "part": "baseline", "name": f"{gain.metric}_gain", "title": f"{gain.metric}: paired difference", "unit": "difference",
            "value": gain.mean, "low": gain.low, "high": gain.high, "of": f"{gain.system} - {gain.baseline}", "n": gain.n,
            "n_scored": gain.n, "better": "lower" if gain.metric in lower else "higher",
        }


def headline_metric(report: ScoreReport) -> str | None:
    """The metric that the verdict on a score report speaks of; None where none has a value."""
    metrics = dict.fromkeys([*(one.metric for one in report.metrics), *(one.metric for one in report.summaries)])
    told = Counter(one.metric for one in report.summaries if one.overall.mean is not None)
    most = max(told.values(), default=0)
    for name in (*(row.metric for row in report.leaderboard), *HEADLINES, *metrics):
        if most and told[name] == most:
            return name
    return None
