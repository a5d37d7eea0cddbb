"""Verdicts of any file as tables of pairs."""

from __future__ import annotations

from kgeval.comparison.given.tables import tables_of_verdicts
from kgeval.records import ComparisonVerdict


def won(question: str, winner: str, loser: str) -> ComparisonVerdict:
    """A verdict written with the winner as system A, whoever that is."""
    return ComparisonVerdict(
        question_id=question, system_a=winner, system_b=loser, aspect="overall", score_a=1, score_b=0, length_a=30, length_b=10,
    )


def test_verdicts_of_a_pair_written_the_other_way_round_are_turned() -> None:
    (table,) = tables_of_verdicts([won("q1", "graph", "vector"), won("q2", "vector", "graph"), won("q3", "graph", "vector")]).tables
    assert (table.system_a, table.system_b) == ("graph", "vector")
    assert table.wins().tolist() == [[1.0], [-1.0], [1.0]]
    assert table.words.tolist() == [[[30.0, 10.0]], [[10.0, 30.0]], [[30.0, 10.0]]]
