"""Thresholds on what a closed book knows: `marked<=0.1`, `known_documents<=0`, `vector:false_answers<=0.2`; less is better everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgeval.metrics.summary.gates import answered
from kgeval.records import ContaminationReport, Gate, Mean
from kgeval.stats.thresholds import Threshold, parse_thresholds, without_at

OF_CLOSED_BOOK = ("accuracy", "marked", "attempted", "known_documents")
BY_SYSTEM = "false_answers"
FIGURES = (*OF_CLOSED_BOOK, BY_SYSTEM)


def parse_gates(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """The thresholds in the order given; `of` is a system, of false_answers alone.

    Raises: UsageError that names every fault of all texts.
    """
    def faults(threshold: Threshold) -> list[str]:
        wrong = [] if threshold.name in FIGURES else [f"{threshold.name[:60]} is no figure of contamination"]
        if threshold.of is not None and threshold.name in OF_CLOSED_BOOK:
            wrong.append(f"{threshold.name} is of the closed book: leave {threshold.of[:60]}: out")
        return [*wrong, *without_at(threshold)]

    fix = f"write NAME<=X, NAME>=X, NAME=X (at most) or SYSTEM:{BY_SYSTEM}<=X with X from 0 to 1; names: {', '.join(FIGURES)}"
    return tuple(threshold.resolved("lower") for threshold in parse_thresholds(texts, faults, fix=fix))


def unknown_systems(gates: Sequence[Threshold], systems: Sequence[str]) -> list[str]:
    """The systems that thresholds name and the run does not have."""
    return [gate.of for gate in gates if gate.of is not None and gate.of not in systems]


def evaluated(gates: Sequence[Threshold], report: ContaminationReport) -> list[Gate]:
    """One gate a threshold and system. `met` None: there is no value, the run was stopped, or what is unscored or missing could turn
    it."""
    return [
        answered(gate, mean, system, missing, complete=report.complete)
        for gate in gates for system, mean, missing in _figures(gate, report)
    ]


def _figures(gate: Threshold, report: ContaminationReport) -> Iterator[tuple[str, Mean | None, int]]:
    """System, share, and how many questions without an answer could turn it."""
    if gate.name != BY_SYSTEM:
        shares = {
            "accuracy": report.accuracy, "marked": marked_share(report), "attempted": report.attempted,
            "known_documents": report.known_documents,
        }
        yield report.closed_book, shares[gate.name], 0 if gate.name == "known_documents" else report.missing
        return
    rates = {row.system: row.mean for row in report.false_answers}
    for system in [gate.of] if gate.of is not None else list(rates) or ["all systems"]:  # of nothing no gate is met
        mean = rates.get(system)
        yield system, mean, report.negative - mean.n if mean else 0


def marked_share(report: ContaminationReport) -> Mean:
    """Marked questions of those whose closed-book answer has a value; what is unscored is taken as not marked and as marked in the
    bounds."""
    accuracy, marked = report.accuracy, len(report.marked)
    asked = accuracy.n - accuracy.not_applicable
    known = Mean(n=accuracy.n, n_scored=accuracy.n_scored, not_applicable=accuracy.not_applicable, failures=accuracy.failures)
    if not accuracy.n_scored:
        return known
    bounds = {"bound_low": marked / asked, "bound_high": (marked + asked - accuracy.n_scored) / asked}
    return known.model_copy(update={"mean": marked / accuracy.n_scored, **bounds})
