"""Verdicts from any file as tables of pairs. Pure.

Other tools number trials from 0, repeat some questions more often than others, or judge each question in one order only. What a table
needs, full places, is made here; nothing is invented: what is lacking stays lacking, with its cause.
"""

from __future__ import annotations

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


def judged(verdicts: Sequence[ComparisonVerdict], *, procedure: Procedure | None = None) -> GivenPairs:
    """The tables of all pairs, in the order of first sight. `procedure`: which; null: that of the first verdict."""
    chosen = procedure or (verdicts[0].procedure if verdicts else "pairwise-choice")
    others: dict[str, int] = {}
    by_pair: dict[frozenset[str], list[ComparisonVerdict]] = {}
    for one in verdicts:
        if one.procedure == chosen:
            by_pair.setdefault(frozenset((one.system_a, one.system_b)), []).append(one)
        else:
            others[one.procedure] = others.get(one.procedure, 0) + 1
    made = [_Pair.of(group) for group in by_pair.values()]
    every = dict.fromkeys(one.question_id for pair in made for one in pair.asked)
    return GivenPairs(
        tuple(pair.table(chosen) for pair in made), chosen, dict(_lacking(made, list(every))), others,
        frozenset(pair.names for pair in made if pair.random_order), (RAGGED,) if any(pair.ragged for pair in made) else (),
    )


def _lacking(pairs: Iterable[_Pair], every: Sequence[str]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    for pair in pairs:
        own = {asked.question_id for asked in pair.asked}
        if len(own) < len(every):
            yield pair.names, [one for one in every if one not in own]


@dataclass(frozen=True)
class _Pair:
    """The verdicts of one pair with what its table needs."""

    names: tuple[str, str]
    verdicts: Sequence[ComparisonVerdict]
    asked: tuple[PairQuestion, ...]
    exchanged: bool
    random_order: bool
    ragged: bool

    @classmethod
    def of(cls, verdicts: Sequence[ComparisonVerdict]) -> _Pair:
        asked: dict[str, PairQuestion] = {}
        orders: dict[tuple[str, int], set[str | None]] = {}
        repeats: dict[tuple[str, int, str | None, str], set[int]] = {}
        for one in verdicts:
            asked.setdefault(one.question_id, PairQuestion(one.question_id, one.dataset, one.level))
            orders.setdefault((one.question_id, one.trial), set()).add(one.first)
            repeats.setdefault((one.question_id, one.trial, one.first, one.aspect), set()).add(one.repeat)
        seen = set().union(*orders.values()) - {None}
        exchanged = any(len(found - {None}) == 2 for found in orders.values())
        names = (verdicts[0].system_a, verdicts[0].system_b)
        ragged = len({frozenset(found) for found in repeats.values()}) > 1
        return cls(names, verdicts, tuple(asked.values()), exchanged, len(seen) == 2 and not exchanged, ragged)

    def table(self, procedure: Procedure) -> PairTable:
        """The pair's table; a question-trial with one order of two has the cause ONE_ORDER."""
        trials = _numbered((one.trial, one.repeat) if self.ragged else (one.trial, 0) for one in self.verdicts)
        repeats = _numbered((0, 0) if self.ragged else (one.repeat, 0) for one in self.verdicts)
        placed = [
            one.model_copy(update={
                "trial": trials[(one.trial, one.repeat if self.ragged else 0)],
                "repeat": 1 if self.ragged else repeats[(one.repeat, 0)],
            }) for one in self.verdicts
        ]
        aspects = tuple(dict.fromkeys(one.aspect for one in self.verdicts))
        made = table_of(
            placed, self.asked, pair=self.names, aspects=aspects, trials=len(trials), positions=2 if self.exchanged else 1,
            repeats=len(repeats), procedure=procedure,
        )
        return _with_causes(made) if self.exchanged else made


def _numbered(values: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Each value's place among all that occur, from 1."""
    return {value: at for at, value in enumerate(sorted(set(values)), start=1)}


def _with_causes(table: PairTable) -> PairTable:
    import numpy as np

    known = np.any(~np.isnan(table.points), axis=(3, 4, 5))  # (questions, trials, positions): something was said
    half = np.not_equal(known.take(0, axis=-1), known.take(1, axis=-1))
    causes = {(int(q), int(t)): ONE_ORDER for q, t in zip(*np.nonzero(half), strict=True)}
    return replace(table, failures={**causes, **table.failures})


def first_in_random_order(verdicts: Iterable[ComparisonVerdict], pair: tuple[str, str]) -> tuple[list[float], list[float]]:
    """For files with one order a question: A's wins (1, ties 0.5, 0) where A stood first, and where B did; one mean a question."""
    found: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for one in verdicts:
        if {one.system_a, one.system_b} == set(pair) and one.winner is not None and one.first is not None:
            won = {"a": one.system_a, "b": one.system_b, "tie": None}[one.winner]
            value = 0.5 if won is None else float(won == pair[0])
            found[int(one.first != pair[0])].setdefault(one.question_id, []).append(value)
    first, second = ([sum(values) / len(values) for values in part.values()] for part in found)
    return first, second
