"""Precision and recall of kgeval.names: on the labelled pairs of names (names.csv), and of groups of names against a column of truth."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from kgeval.names import NameVerdict, compare_names

NAMES = Path(__file__).with_name("names.csv")


@dataclass(frozen=True)
class NamesRow:
    """One labelled pair. `half`: dev was looked at while the rules were made, held was not."""

    half: str
    kind: str
    type: str | None
    a: str
    b: str
    is_same: bool
    verdict: NameVerdict

    @property
    def is_linked(self) -> bool:
        """Whether kgeval takes them for one thing, surely or likely."""
        return self.verdict.certainty in ("sure", "likely")


@dataclass
class Figures:
    """Pairs by what they are and what was said."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    passed: int = 0

    @property
    def precision(self) -> float | None:
        """Of the pairs that were taken for one thing, how many are; None without one."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Of the pairs that are one thing, how many were found; None without one."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float | None:
        """2 right / (2 right + wrong + missed)."""
        whole = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / whole if whole else None

    def count(self, *, same: bool, linked: bool) -> None:
        """Takes one pair in."""
        self.right += same and linked
        self.wrong += linked and not same
        self.missed += same and not linked
        self.passed += not same and not linked

    def __str__(self) -> str:
        shown = ["-" if value is None else f"{value:.3f}" for value in (self.precision, self.recall, self.f1)]
        return f"precision {shown[0]}  recall {shown[1]}  F1 {shown[2]}  ({self.right} right, {self.wrong} wrong, {self.missed} missed)"


def labelled_names() -> Iterator[NamesRow]:
    """The pairs of names.csv, compared."""
    with NAMES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            verdict = compare_names(row["a"], row["b"], type=row["type"] or None)
            yield NamesRow(row["half"], row["kind"], row["type"] or None, row["a"], row["b"], row["label"] == "same", verdict)


def figures_of(rows: Collection[NamesRow]) -> Figures:
    """The figures of some pairs."""
    figures = Figures()
    for row in rows:
        figures.count(same=row.is_same, linked=row.is_linked)
    return figures


def of_groups(groups: Sequence[Sequence[int]], truth: Sequence[str], among: Collection[int] | None = None) -> Figures:
    """Groups against what each name is: over all pairs of names, or of those places."""
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    figures = Figures()
    for a, b in combinations(range(len(truth)) if among is None else sorted(among), 2):
        figures.count(same=truth[a] == truth[b], linked=group_of[a] == group_of[b])
    return figures


def by_form(rows: Collection[NamesRow]) -> Iterator[tuple[str, str, int, int]]:
    """What joined them, how surely, how many are one thing, and how many were joined by it."""
    joined: Counter[tuple[str, str]] = Counter((row.verdict.form, row.verdict.certainty) for row in rows if row.verdict.joins)
    right = Counter((row.verdict.form, row.verdict.certainty) for row in rows if row.verdict.joins and row.is_same)
    for (form, certainty), times in sorted(joined.items()):
        yield form, certainty, right[form, certainty], times
