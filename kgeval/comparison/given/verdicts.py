"""What verdicts of somebody's own judge say: the order of the systems, the judge's biases, where a stream is sure. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from kgeval.comparison.given.outcomes import question_wins
from kgeval.comparison.given.tables import GivenPairs, first_in_random_order
from kgeval.comparison.results.judge import judge_report, whole_report
from kgeval.comparison.results.tally import JudgeTally, tally
from kgeval.comparison.table import PairTable
from kgeval.records import (
    ComparisonVerdict,
    Estimated,
    JudgeReport,
    Ranked,
    Ranking,
    SelfCheck,
    SequencePoint,
    SequenceResult,
)

if TYPE_CHECKING:
    from kgeval.stats.strengths import Strength

Order = Literal["random", "file"]
POINTS = 200  # of a sequence's path, at most
ONE_ORDER_EACH = (
    "each question was judged in one order, not all in the same: the preference is told from different questions, so it is less sure, and "
    "it does not cancel out of single questions"
)
NO_ORDER = "the file does not say which answer stood first (a field `first` or `swapped`): no position bias can be seen"


def ranking_of(tables: Sequence[PairTable], *, seed: int, confidence: float, half: bool = False) -> Ranking:
    """Bradley-Terry with ties (Newman), or with each tie as half a win for both (`half`); intervals over questions. Two systems will do."""
    from kgeval.stats.strengths import strengths_of_trials

    places: dict[str, int] = {}
    for table in tables:
        for name in (table.system_a, table.system_b):
            places.setdefault(name, len(places))
    pairs = (
        (places[table.system_a], places[table.system_b], [one.question_id for one in table.questions], table.wins()) for table in tables
    )
    found = strengths_of_trials(pairs, list(places), seed=seed, confidence=confidence, ties="half" if half else "model")
    made = sorted((_ranked(one) for one in found.systems), key=_order)
    return Ranking(rankable=found.rankable, reason=found.reason or found.interval_reason, systems=made)


def _ranked(one: Strength) -> Ranked:
    return Ranked(
        system=one.system, strength=Estimated(value=one.strength, low=one.low, high=one.high), average_win_rate=one.average_win_rate,
        rank=one.rank, rank_low=one.rank_low, rank_high=one.rank_high,
    )


def _order(one: Ranked) -> tuple[float, float, str]:
    strength, rate = one.strength.value, one.average_win_rate
    return (-strength if strength is not None else 0.0, -rate if rate is not None else 0.0, one.system)


def judge_reports(found: GivenPairs, verdicts: Sequence[ComparisonVerdict], *, seed: int) -> list[JudgeReport]:
    """Over all pairs first, then each; one pair alone where there is one. Trials of a file count as repeats: its answers are the same."""
    whole = JudgeTally()
    made = []
    for table in found.tables:
        counts = tally(table, trial_kind="rejudge")
        whole.join(counts)
        one = judge_report(table, seed=seed, trial_kind="rejudge", seen=counts)
        made.append(_with_order(one, table, found, verdicts, seed))
    return made if len(made) == 1 else [whole_report(whole, seed=seed), *made]


def _with_order(
    one: JudgeReport, table: PairTable, found: GivenPairs, verdicts: Iterable[ComparisonVerdict], seed: int,
) -> JudgeReport:
    """With the first position's share where each question was judged in one order: (A's rate when first + B's rate when first) / 2."""
    from kgeval.stats.bootstrap import bootstrap_difference

    pair = (table.system_a, table.system_b)
    if pair not in found.random_order:
        told = any(verdict.first is not None for verdict in verdicts if {verdict.system_a, verdict.system_b} == set(pair))
        return one if told else one.model_copy(update={"notes": [NO_ORDER, *(note for note in one.notes if "one order only" not in note)]})
    first, second = first_in_random_order((verdict for verdict in verdicts if verdict.procedure == found.procedure), pair)
    notes = [ONE_ORDER_EACH, *(note for note in one.notes if "one order only" not in note)]
    if not first or not second:
        return one.model_copy(update={"notes": notes})
    ab, ba = sum(first) / len(first), sum(second) / len(second)
    interval = bootstrap_difference(first, second, seed=seed)
    ends = (None, None) if interval is None else ((interval.low + 1) / 2, (interval.high + 1) / 2)
    share = Estimated(value=(ab - ba + 1) / 2, low=ends[0], high=ends[1])
    return one.model_copy(update={"first_wins": share, "ab_win": ab, "ba_win": ba, "notes": notes})


def self_check_of(table: PairTable, *, seed: int, confidence: float) -> SelfCheck:
    """A/A from verdicts: two runs of one system under two names. Passed where the interval holds 0."""
    import numpy as np

    from kgeval.comparison.given.scores import estimated

    wins = question_wins(table)
    known = wins[~np.isnan(wins)]
    found = estimated(known, seed=seed, confidence=confidence, span=(-1.0, 1.0))
    return SelfCheck(system=f"{table.system_a} / {table.system_b}", relative=found, n=len(known), passed=_holds(found))


def _holds(found: Estimated) -> bool | None:
    return None if found.low is None or found.high is None else found.low <= 0 <= found.high


def sequence_of(
    table: PairTable, *, seed: int, confidence: float, tie_region: float, order: Order = "random", least: int = 1,
) -> SequenceResult:
    """The stream of a pair's questions under a confidence sequence, in random order (by `seed`) or as the file has them.

    The file's order is right only where the questions came at random: sorted by difficulty, no such interval holds.
    """
    import numpy as np

    from kgeval.comparison.given.scores import estimated
    from kgeval.comparison.stopping import Stopping
    from kgeval.stats.sequence import ConfidenceSequence

    wins = question_wins(table)
    if order == "random":
        wins = wins[np.random.default_rng(seed).permutation(len(wins))]
    known = wins[~np.isnan(wins)]
    stopping, running = Stopping(tie_region, confidence, least=least), ConfidenceSequence(confidence)
    path: list[SequencePoint] = []
    step = max(1, len(known) // POINTS)
    for at, value in enumerate(known.tolist(), start=1):
        stopping.add(value)
        interval = running.add([value])
        if at % step == 0 or at == len(known):
            path.append(SequencePoint(n=at, mean=float(known[:at].mean()), low=interval.low, high=interval.high))
    last = path[-1] if path else None
    return SequenceResult(
        system_a=table.system_a, system_b=table.system_b, n=len(known), failures=len(wins) - len(known), tie_region=tie_region,
        decision=stopping.decision or "open", decided_at=stopping.questions if stopping.decision else None,
        relative=Estimated(value=last.mean, low=last.low, high=last.high) if last else Estimated(),
        fixed=estimated(known, seed=seed, confidence=confidence, span=(-1.0, 1.0)), path=path,
    )
