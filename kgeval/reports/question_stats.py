"""Figures of sets of questions, side by side, on a terminal and in Markdown [X figures 2 and 9, table 8]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from kgeval.files.fields import level_of
from kgeval.records import LEVELS_OF_X, Amounts, QuestionGroup, QuestionSet, QuestionStats
from kgeval.reports.console import screen, table, text_of, title, where
from kgeval.reports.display import number, percent, plural, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of

Side = Literal["levels", "kinds"]
HEADS = ("questions", "breadth", "depth", "words", "answer", "evidence")
MEANING = (
    "Mean and, in brackets, median of: breadth (relations that the answer needs), depth (hops between them), words of the question "
    "and of its right answer, pieces of evidence. \"of N\": only so many questions have it."
)
_NAMELESS = "(none)"
_MOST_SIDE = 30


def terminal(report: QuestionStats, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The figures as text: shares of all files side by side, then a table a file. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    total = sum(one.n for one in report.sets)
    console.print(f"kgeval questions stats: {plural(total, 'question')} in {plural(len(report.sets), 'file')}", style="dim")
    names = [visible(name, longest=40) for name in short_names(report.sets)]
    for heading, side in sides(report.sets):
        title(console, heading)
        made = table("", *names)
        for name, cells in side_by_side(report.sets, side):
            made.add_row(_shown(name), *cells)
        console.print(made)
    for name, one in zip(names, report.sets, strict=True):
        title(console, f"{name}: {plural(one.n, 'question')}, {plural(one.documents, 'document')} named")
        made = table("LEVEL", *HEADS)
        made.columns[0].no_wrap = True
        for group in _groups(one):
            made.add_row(_of(group, one), *cells_of(group))
        console.print(made)
        for note in one.notes:
            console.print(f"note: {visible(note, longest=300)}", style="dim", overflow="fold")
    console.print()
    console.print(MEANING, style="dim", overflow="fold")
    where(console, written, "All figures with their sources: add -o report.json")
    return text_of(out)


def markdown(report: QuestionStats) -> str:
    """The figures in Markdown."""
    names = short_names(report.sets)
    parts = ["# Sets of questions"]
    for heading, side in sides(report.sets):
        rows = [(code(_NAMELESS if name is None else name), *cells) for name, cells in side_by_side(report.sets, side)]
        parts.append(f"## {heading.capitalize()}\n\n" + rows_of(("", *map(escape, names)), rows))
    for name, one in zip(names, report.sets, strict=True):
        about = f"{plural(one.n, 'question')}, {plural(one.documents, 'document')} named."
        rows = [(code(_of(group, one)), *cells_of(group)) for group in _groups(one)]
        parts.append(f"## {escape(name)}\n\n{about}\n\n" + rows_of(("Level", *HEADS), rows))
        if one.notes:
            parts.append("\n".join(f"- {prose(note)}" for note in one.notes))
    return "\n\n".join([*parts, MEANING]) + "\n"


def short_names(sets: Sequence[QuestionSet]) -> list[str]:
    """The files' names, with their folders where two are called the same."""
    short = [Path(one.file).name or one.file for one in sets]
    return [one.file if short.count(name) > 1 else name for one, name in zip(sets, short, strict=True)]


def sides(sets: Sequence[QuestionSet]) -> list[tuple[str, Side]]:
    """What is set side by side: levels, and kinds where they say more than levels do."""
    kinds = [group for one in sets for group in one.kinds if group.name is not None]
    more = any(level_of(group.name or "") not in LEVELS_OF_X for group in kinds)
    return [("SHARES BY LEVEL", "levels"), *([("SHARES BY KIND", "kinds")] if more else [])]  # type: ignore[list-item]


def side_by_side(sets: Sequence[QuestionSet], side: Side) -> Iterable[tuple[str | None, list[str]]]:
    """A row a level or kind, a cell a file: the four levels of [X] first, then by how many questions there are."""
    groups: list[dict[str | None, QuestionGroup]] = [{group.name: group for group in getattr(one, side)} for one in sets]
    total: dict[str | None, int] = {}
    for of in groups:
        for name, group in of.items():
            total[name] = total.get(name, 0) + group.n
    order = sorted(total, key=lambda name: (
        LEVELS_OF_X.index(name) if name in LEVELS_OF_X else len(LEVELS_OF_X) + (name is None), -total[name], name or "",
    ))
    for name in order[:_MOST_SIDE]:
        yield name, [_share(of[name]) if name in of else "0" for of in groups]
    if order[_MOST_SIDE:]:
        rest = [sum(of[name].n for name in order[_MOST_SIDE:] if name in of) for of in groups]
        yield f"{len(order) - _MOST_SIDE} more", [number(n) for n in rest]


def cells_of(group: QuestionGroup) -> tuple[str, ...]:
    """The figures of a group, in the order of HEADS."""
    amounts = (group.breadth, group.depth, group.question_words, group.answer_words, group.evidence)
    return number(group.n), *(amount_text(one, group.n) for one in amounts)


def amount_text(amounts: Amounts, of: int) -> str:
    """`2.60 (2)`, `2.60 (2) of 240` where not all questions have it, `-` where none has."""
    if amounts.mean is None or amounts.median is None:
        return "-"
    return f"{amounts.mean:.2f} ({amounts.median:g})" + (f" of {number(amounts.n)}" if amounts.n < of else "")


def _share(group: QuestionGroup) -> str:
    return f"{number(group.n)} ({percent(group.share)})"


def _groups(one: QuestionSet) -> list[QuestionGroup]:
    return [*one.levels, *([one.overall] if len(one.levels) > 1 else [])]


def _of(group: QuestionGroup, one: QuestionSet) -> str:
    return "all" if group is one.overall else _shown(group.name)


def _shown(name: str | None) -> str:
    return _NAMELESS if name is None else visible(name, longest=40)
