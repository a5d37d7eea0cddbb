"""What verdicts of somebody's own judge say: the order of the systems, the judge's biases, where a stream is sure. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from kgeval.comparison.given.tables import GivenPairs, first_in_random_order
from kgeval.comparison.results.build import PairOutcomes
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.tally import JudgeTally, tally
from kgeval.comparison.table import PairTable
from kgeval.records import (
    ComparisonVerdict,
    Estimated,
    JudgeReport,
    Ranking,
    SelfCheck,
    SequencePoint,
    SequenceResult,
)
from kgeval.rounding import side

Order = Literal["random", "file"]
POINTS = 200  # of a sequence's path, at most
ONE_ORDER_EACH = (
    "each question was judged in one order, not all in the same: the preference is told from different questions, so it is less sure, and "
    "it does not cancel out of single questions"
)
NO_ORDER = "the file does not say which answer stood first (a field `first` or `swapped`): no position bias can be seen"


def ranking_of(tables: Sequence[PairTable], *, seed: int, confidence: float, half: bool = False) -> Ranking:
    """Bradley-Terry with ties (Newman), or with each tie as half a win for both (`half`); intervals over questions. Two systems will do."""
    outcomes = PairOutcomes()
    for table in tables:
        outcomes.add(table)
    return outcomes.ranking(seed=seed, confidence=confidence, ties="half" if half else "model")


def judge_reports(given: GivenPairs, verdicts: Sequence[ComparisonVerdict], *, seed: int) -> list[JudgeReport]:
    """Over all pairs first, then each; one pair alone where there is one. Trials of a file count as repeats: its answers are the same."""
    whole = JudgeTally()
    reports = []
    for table in given.tables:
        counts = tally(table, trial_kind="rejudge")
        whole.join(counts)
        report = judge_report(table, seed=seed, trial_kind="rejudge", counts=counts)
        reports.append(report.model_copy(update=_of_one_order(report, table, given, verdicts, seed)))
    return reports if len(reports) == 1 else [whole_report(whole, seed=seed), *reports]


def _of_one_order(
    report: JudgeReport, table: PairTable, given: GivenPairs, verdicts: Iterable[ComparisonVerdict], seed: int,
) -> dict[str, object]:
    """The first position's share where each question was judged in one order: (A's rate when first + B's rate when first) / 2. What the
    report says of one order only is about a run of our own, and goes."""
    from kgeval.stats.bootstrap import bootstrap_difference

    pair, others = (table.system_a, table.system_b), [note for note in report.notes if "one order only" not in note]
    if pair not in given.random_order:
        known = any(verdict.first is not None for verdict in verdicts if {verdict.system_a, verdict.system_b} == set(pair))
        return {} if known else {"notes": [NO_ORDER, *others]}
    first, second = first_in_random_order((verdict for verdict in verdicts if verdict.procedure == given.procedure), pair)
    notes = [ONE_ORDER_EACH, *others]
    if not first or not second:
        return {"notes": notes}
    ab, ba = sum(first) / len(first), sum(second) / len(second)
    interval = bootstrap_difference(first, second, seed=seed)
    share = Estimated(value=(ab - ba + 1) / 2)
    if interval is not None:
        share = Estimated(value=share.value, low=(interval.low + 1) / 2, high=(interval.high + 1) / 2)
    return {"first_wins": share, "ab_win": ab, "ba_win": ba, "notes": notes}


def self_check_of(table: PairTable, *, seed: int, confidence: float) -> SelfCheck:
    """A/A from verdicts: two runs of one system under two names. Passed where the interval holds 0."""
    import numpy as np

    from kgeval.comparison.given.scores import estimated

    wins = table.question_wins()
    scored = wins[~np.isnan(wins)]
    relative = estimated(scored, seed=seed, confidence=confidence, span=(-1.0, 1.0))
    passed = None if relative.low is None or relative.high is None else not side(relative.low, relative.high)
    return SelfCheck(system=f"{table.system_a} / {table.system_b}", relative=relative, n=len(scored), passed=passed)


def _by_document(table: PairTable) -> list[list[float]]:
    """Win minus loss of each question, those that were drawn together in one row, rows in the order of first sight."""
    rows: dict[int, list[float]] = {}
    for number, value in zip(table.documents.tolist(), table.question_wins().tolist(), strict=True):
        rows.setdefault(number, []).append(value)
    longest = max(map(len, rows.values()), default=0)
    return [[*row, *[float("nan")] * (longest - len(row))] for row in rows.values()]


def sequence_of(
    table: PairTable, *, seed: int, confidence: float, tie_region: float, order: Order = "random", least: int = 1,
) -> SequenceResult:
    """The stream of a pair's questions under a confidence sequence, in random order (by `seed`) or as the file has them.

    The file's order is right only where the questions came at random: sorted by difficulty, no such interval holds.
    """
    import numpy as np

    from kgeval.comparison.given.scores import estimated
    from kgeval.comparison.stopping import Stopping
    from kgeval.stats.clustered import question_means
    from kgeval.stats.sequence import ConfidenceSequence

    wins = question_means(_by_document(table))
    if order == "random":
        wins = wins[np.random.default_rng(seed).permutation(len(wins))]
    scored = wins[~np.isnan(wins)]
    stopping, running = Stopping(tie_region, confidence, least=least), ConfidenceSequence(confidence)
    path: list[SequencePoint] = []
    step = max(1, len(scored) // POINTS)
    for number, value in enumerate(scored.tolist(), start=1):
        stopping.add(value)
        interval = running.add([value])
        if number % step == 0 or number == len(scored):
            path.append(SequencePoint(n=number, mean=float(scored[:number].mean()), low=interval.low, high=interval.high))
    last = path[-1] if path else None
    return SequenceResult(
        system_a=table.system_a, system_b=table.system_b, n=len(scored), failures=len(wins) - len(scored), tie_region=tie_region,
        decision=stopping.decision or "open", decided_at=stopping.questions if stopping.decision else None,
        relative=Estimated.of(last.mean, last) if last else Estimated(),
        fixed=estimated(scored, seed=seed, confidence=confidence, span=(-1.0, 1.0)), path=path,
    )
