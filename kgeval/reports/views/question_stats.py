"""Figures of sets of questions, side by side [X figures 2 and 9, table 8]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from kgeval.format import number, percent, plural
from kgeval.records import LEVELS_OF_X, Amounts, QuestionGroup, QuestionSet, QuestionStats
from kgeval.reports.document import Cell, Document, Section, Table, Text
from kgeval.reports.views.parts import notes_list
from kgeval.tables.fields import level_of

Side = Literal["levels", "kinds"]
_HEADS = ("level", "questions", "breadth", "depth", "words", "answer", "evidence")
_MEANING = (
    "Mean and, in brackets, median of: breadth (relations that the answer needs), depth (hops between them), words of the question "
    "and of its right answer, pieces of evidence. \"of N\": only so many questions have it."
)
_NAMELESS = "(none)"
_MOST_SIDE = 30  # levels or kinds side by side; the others are added up


def document(report: QuestionStats) -> Document:
    """Shares of all files side by side, then a table a file."""
    names = _short_names(report.sets)
    sections = [
        Section(title, [Table(("", *names), _side_by_side(report.sets, side), short=_MOST_SIDE + 1)]) for title, side in _sides(report.sets)
    ]
    for name, one in zip(names, report.sets, strict=True):
        groups = [*one.levels, *([one.overall] if len(one.levels) > 1 else [])]
        names_of = [Cell("all" if group is one.overall else group.name or _NAMELESS, user=True) for group in groups]
        rows: list[Sequence[str | Cell]] = [(cell, *_row(group)) for cell, group in zip(names_of, groups, strict=True)]
        about = Text(f"{plural(one.n, 'question')}, {plural(one.documents, 'document')} named.")
        sections.append(Section(name, [about, Table(_HEADS, rows, short=100), notes_list(one.notes)]))
    total = plural(sum(set_.n for set_ in report.sets), "question")
    return Document(
        "Sets of questions", "questions stats", sections, about=f"{total} in {plural(len(report.sets), 'file')}", foot=[_MEANING],
        more="All figures with their sources: add -o report.json",
    )


def _short_names(sets: Sequence[QuestionSet]) -> list[str]:
    """The files' names, with their folders where two are called the same."""
    short = [Path(set_.file).name or set_.file for set_ in sets]
    return [one.file if short.count(name) > 1 else name for one, name in zip(sets, short, strict=True)]


def _sides(sets: Sequence[QuestionSet]) -> list[tuple[str, Side]]:
    """Levels, and kinds where they say more than levels do."""
    kinds = [group for set_ in sets for group in set_.kinds if group.name is not None]
    more = any(level_of(group.name or "") not in LEVELS_OF_X for group in kinds)
    return [("Shares by level", "levels"), *([("Shares by kind", "kinds")] if more else [])]  # type: ignore[list-item]


def _side_by_side(sets: Sequence[QuestionSet], side: Side) -> Iterable[Sequence[str | Cell]]:
    """A row a level or kind, a cell a file: the four levels of [X] first, then by how many questions there are."""
    groups: list[dict[str | None, QuestionGroup]] = [{group.name: group for group in getattr(set_, side)} for set_ in sets]
    total: dict[str | None, int] = {}
    for of in groups:
        for name, group in of.items():
            total[name] = total.get(name, 0) + group.n
    order = sorted(total, key=lambda name: (
        LEVELS_OF_X.index(name) if name in LEVELS_OF_X else len(LEVELS_OF_X) + (name is None), -total[name], name or "",
    ))
    for name in order[:_MOST_SIDE]:
        shares = [f"{number(of[name].n)} ({percent(of[name].share)})" if name in of else "0" for of in groups]
        yield Cell(_NAMELESS if name is None else name, user=True), *shares
    if rest := order[_MOST_SIDE:]:
        yield f"{len(rest)} more", *(number(sum(of[name].n for name in rest if name in of)) for of in groups)


def _row(group: QuestionGroup) -> tuple[str, ...]:
    amounts = (group.breadth, group.depth, group.question_words, group.answer_words, group.evidence)
    return number(group.n), *(_amount(one, group.n) for one in amounts)


def _amount(amounts: Amounts, of: int) -> str:
    """`2.60 (2)`, `2.60 (2) of 240` where not all questions have it, `-` where none has."""
    if amounts.mean is None or amounts.median is None:
        return "-"
    return f"{amounts.mean:.2f} ({amounts.median:g})" + (f" of {number(amounts.n)}" if amounts.n < of else "")
