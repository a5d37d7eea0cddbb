"""Verdicts from any file as tables of pairs. Pure.

Other tools number trials from 0, repeat some questions more often than others, or judge each question in one order only. What a table
needs, full places, is made here; nothing is invented: what is lacking stays lacking, with its cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgeval.comparison.table import PairQuestion, PairTable, table_of
from kgeval.records import ComparisonVerdict, Procedure

ONE_ORDER = "one order only"
RAGGED = "questions have different numbers of repeats: each repeat counts as a trial"


@dataclass(frozen=True)
class GivenPairs:
    """The pairs of a file. `lacking`: pair -> questions that another pair has and this one has not; `others`: verdicts of other
    procedures, left out, by procedure. `random_order`: pairs where each question was judged in one order, but not all in the same."""

    tables: tuple[PairTable, ...]
    procedure: Procedure = "pairwise-choice"
    lacking: Mapping[tuple[str, str], list[str]] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    random_order: frozenset[tuple[str, str]] = frozenset()
    notes: tuple[str, ...] = ()


def tables_of_verdicts(verdicts: Sequence[ComparisonVerdict], *, procedure: Procedure | None = None) -> GivenPairs:
    """The tables of all pairs, in the order of first sight. `procedure`: which; None: that of the first verdict."""
    chosen = procedure or (verdicts[0].procedure if verdicts else "pairwise-choice")
    others = Counter[str](verdict.procedure for verdict in verdicts if verdict.procedure != chosen)
    by_pair: dict[frozenset[str], list[ComparisonVerdict]] = {}
    for verdict in verdicts:
        if verdict.procedure == chosen:
            by_pair.setdefault(frozenset((verdict.system_a, verdict.system_b)), []).append(verdict)
    pairs = [_Pair.of(group) for group in by_pair.values()]
    every = dict.fromkeys(question_id for pair in pairs for question_id in pair.questions)
    lacking = {pair.names: [question_id for question_id in every if question_id not in pair.questions] for pair in pairs}
    return GivenPairs(
        tuple(pair.table(chosen) for pair in pairs), chosen, {names: ids for names, ids in lacking.items() if ids}, dict(others),
        frozenset(pair.names for pair in pairs if pair.random_order), (RAGGED,) if any(pair.ragged for pair in pairs) else (),
    )


@dataclass(frozen=True)
class _Pair:
    """The verdicts of one pair with what its table needs. `exchanged`: some question-trial was judged in both orders."""

    names: tuple[str, str]
    verdicts: Sequence[ComparisonVerdict]
    questions: Mapping[str, PairQuestion]
    exchanged: bool
    random_order: bool
    ragged: bool

    @classmethod
    def of(cls, verdicts: Sequence[ComparisonVerdict]) -> _Pair:
        questions: dict[str, PairQuestion] = {}
        orders: dict[tuple[str, int], set[str | None]] = {}
        repeats: dict[tuple[str, int, str | None, str], set[int]] = {}
        for verdict in verdicts:
            asked = PairQuestion(verdict.question_id, verdict.dataset, verdict.level, document=verdict.document)
            questions.setdefault(verdict.question_id, asked)
            orders.setdefault((verdict.question_id, verdict.trial), set()).add(verdict.first)
            repeats.setdefault((verdict.question_id, verdict.trial, verdict.first, verdict.aspect), set()).add(verdict.repeat)
        all_orders = set().union(*orders.values()) - {None}
        exchanged = any(len(firsts - {None}) == 2 for firsts in orders.values())
        names = (verdicts[0].system_a, verdicts[0].system_b)
        ragged = len({frozenset(numbers) for numbers in repeats.values()}) > 1
        return cls(names, verdicts, questions, exchanged, len(all_orders) == 2 and not exchanged, ragged)

    def table(self, procedure: Procedure) -> PairTable:
        """The pair's table; a question-trial with one order of two has the cause ONE_ORDER."""
        import numpy as np

        # places from 1, without holes; of ragged repeats each counts as a trial
        trials = _numbered((verdict.trial, verdict.repeat if self.ragged else 0) for verdict in self.verdicts)
        repeats = _numbered((0 if self.ragged else verdict.repeat, 0) for verdict in self.verdicts)
        placed = [
            verdict.model_copy(update={
                "trial": trials[verdict.trial, verdict.repeat if self.ragged else 0],
                "repeat": repeats[0 if self.ragged else verdict.repeat, 0],
            }) for verdict in self.verdicts
        ]
        aspects = tuple(dict.fromkeys(verdict.aspect for verdict in self.verdicts))
        table = table_of(
            placed, self.questions.values(), pair=self.names, aspects=aspects, trials=len(trials), positions=2 if self.exchanged else 1,
            repeats=len(repeats), procedure=procedure,
        )
        if not self.exchanged:
            return table
        judged = np.any(~np.isnan(table.points), axis=(3, 4, 5))  # (questions, trials, positions)
        half = np.not_equal(judged.take(0, axis=-1), judged.take(1, axis=-1))
        causes = {(int(q), int(t)): ONE_ORDER for q, t in zip(*np.nonzero(half), strict=True)}
        return replace(table, failures={**causes, **table.failures})


def _numbered(values: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Each value's place among all that occur, from 1."""
    return {value: place for place, value in enumerate(sorted(set(values)), start=1)}


def first_in_random_order(verdicts: Iterable[ComparisonVerdict], pair: tuple[str, str]) -> tuple[list[float], list[float]]:
    """For files with one order a question: A's wins (1, ties 0.5, 0) where A stood first, and where B did; one mean a question."""
    by_order: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for verdict in verdicts:
        if {verdict.system_a, verdict.system_b} == set(pair) and verdict.winner is not None and verdict.first is not None:
            won = {"a": verdict.system_a, "b": verdict.system_b, "tie": None}[verdict.winner]
            value = 0.5 if won is None else float(won == pair[0])
            by_order[int(verdict.first != pair[0])].setdefault(verdict.question_id, []).append(value)
    first, second = ([sum(values) / len(values) for values in questions.values()] for questions in by_order)
    return first, second


def single_outcomes(tables: Iterable[PairTable]) -> Iterator[tuple[str, str, int, str]]:
    """(A, B, outcome, question) of every question and trial with a result: 1 A wins, 0 tie, -1 B wins, over both orders and all repeats."""
    import numpy as np

    for table in tables:
        wins = table.wins()
        for place, trial in zip(*np.nonzero(~np.isnan(wins)), strict=True):
            yield table.system_a, table.system_b, int(wins[place, trial]), table.questions[place].question_id
