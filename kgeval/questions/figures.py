"""Figures of a set of questions: shares of levels and kinds, breadth and depth, lengths, evidence [X figures 2 and 9,
table 8].

Breadth and depth are the file's own where it has them (`triples_needed`, `hops`), else counted from its gold triples.
What a file does not tell is not guessed: each figure says how many questions it is over. """

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from kgeval.questions.gold_triples import Amount, GoldTriples, breadth_of, depth_of, gold_of
from kgeval.records import LEVELS_OF_X, Amounts, Question, QuestionGroup, QuestionSet
from kgeval.text.scripts import RUNNING

FIGURES = ("breadth", "depth", "question_words", "answer_words", "evidence")
_WORD = re.compile(rf"[{RUNNING}]|(?:(?![{RUNNING}_])\w)+(?:['’‐-](?:(?![{RUNNING}_])\w)+)*")


@dataclass
class _Column:
    """The values of one figure as they come: a number a question, and nothing more in memory."""

    values: array[int] = field(default_factory=lambda: array("q"))
    sources: Counter[str] = field(default_factory=Counter)

    def amounts(self) -> Amounts:
        if not self.values:
            return Amounts(n=0)
        return Amounts(
            n=len(self.values), mean=fmean(self.values), median=float(median(self.values)), lowest=min(self.values),
            highest=max(self.values), sources=dict(sorted(self.sources.items())),
        )


@dataclass
class _FigureTally:
    n: int = 0
    columns: dict[str, _Column] = field(default_factory=lambda: {name: _Column() for name in FIGURES})

    def add(self, figures: dict[str, Amount | None]) -> None:
        self.n += 1
        for name, amount in figures.items():
            if amount is not None:
                self.columns[name].values.append(amount[0])
                self.columns[name].sources[amount[1]] += 1

    def group(self, name: str | None, of: int) -> QuestionGroup:
        figures = {name: column.amounts() for name, column in self.columns.items()}
        return QuestionGroup(name=name, n=self.n, share=self.n / of if of else 0.0, **figures)


def words_in(text: str) -> int:
    """Words of a text; in scripts without spaces between words, their letters."""
    return sum(1 for _ in _WORD.finditer(text))


def figures(questions: Iterable[Question], file: Path | str) -> QuestionSet:
    """The figures of one set of questions, which is gone through once."""
    overall, levels, kinds = _FigureTally(), dict[str | None, _FigureTally](), dict[str | None, _FigureTally]()
    documents, broken = set[str](), 0
    for question in questions:
        gold = gold_of(question)
        amounts = _amounts(question, gold)
        broken += gold.broken
        documents |= {name for name in (question.document, *(p.document for p in question.evidence)) if name}
        overall.add(amounts)
        levels.setdefault(question.level, _FigureTally()).add(amounts)
        for kind in dict.fromkeys(question.kinds) or (None,):
            kinds.setdefault(kind, _FigureTally()).add(amounts)
    result = QuestionSet(
        file=str(file), n=overall.n, overall=overall.group(None, overall.n), documents=len(documents),
        broken_triples=broken,
        levels=_groups(levels, overall.n), kinds=_groups(kinds, overall.n),
    )
    return result.model_copy(update={"notes": _notes(result)})


def _amounts(question: Question, gold: GoldTriples) -> dict[str, Amount | None]:
    right = question.right_answers
    pieces = len(question.evidence) or len(question.evidence_groups)  # passages, else groups of chunks that are known by their ids
    return {
        "breadth": breadth_of(question, gold), "depth": depth_of(question, gold),
        "question_words": (words_in(question.question), "texts"),
        "answer_words": (words_in(right[0]), "texts") if right else None,
        "evidence": (pieces, "file") if pieces else None,
    }


def _groups(tallies: dict[str | None, _FigureTally], of: int) -> list[QuestionGroup]:
    """The levels of [X] in their order, then the others by size, then what has no name."""
    def place(name: str | None) -> tuple[int, int, str]:
        known = LEVELS_OF_X.index(name) if name in LEVELS_OF_X else len(LEVELS_OF_X) + (name is None)
        return known, -tallies[name].n, name or ""

    return [tallies[name].group(name, of) for name in sorted(tallies, key=place)]


def _notes(result: QuestionSet) -> list[str]:
    """What a reader must know of the figures: what they are over, and what cannot be told."""
    notes, overall, n = [], result.overall, result.n
    if nameless := sum(group.n for group in result.levels if group.name is None):
        notes.append(f"{nameless:,} of {n:,} questions have no level: kgeval questions classify gives them one of four")
    for name, own, amounts in (("breadth", "triples_needed", overall.breadth), ("depth", "hops", overall.depth)):
        if amounts.n < n:
            notes.append(
                f"{name}: {n - amounts.n:,} of {n:,} questions have neither {own} nor gold triples that tell it",
            )
    if counted := overall.breadth.sources.get("triples"):
        notes.append(f"breadth: of {counted:,} questions the different gold triples were counted")
    if counted := overall.depth.sources.get("triples"):
        notes.append(
            f"depth: of {counted:,} questions over their gold triples alone, as if the graph held no other; "
            "published depths that were measured in a whole graph are not comparable",
        )
    if result.broken_triples:
        notes.append(f"{result.broken_triples:,} gold triples cannot be taken apart: they count for breadth, their questions have no depth")
    return notes
