"""A comparison on a terminal: the verdict, then short tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.format import chance, figure, number, share, signed
from kgeval.records import ComparisonReport, JudgeReport, PairResult
from kgeval.reports import comparison_view as shown
from kgeval.reports.comparison_checks import checks
from kgeval.reports.comparison_view import ALL, OVERALL, View, view_of, word
from kgeval.reports.comparison_words import facts, verdict
from kgeval.reports.console import more, notes, screen, table, text_of, title, where
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

_NAME = 24
_PAIRS = 15
_ASPECTS = 3  # pairs that are shown by aspect and group
_ROWS = 12


def terminal(report: ComparisonReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The summary as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    view = view_of(report)
    for at, line in enumerate(verdict(view)):
        console.print(line, style="" if at else "bold", overflow="fold")
    for line in facts(view):
        console.print(line, style="dim", overflow="fold")
    _pairs(console, view)
    _groups(console, view)
    _ranking(console, view)
    _judge(console, view)
    _contrast(console, view)
    _checks(console, view)
    _gates(console, view)
    console.print()
    notes(console, report.notes, most=8)
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    where(console, written, "Boxes, heat maps, judge, questions opened: add -o comparison.html")
    return text_of(out)


def _pair(one: PairResult | JudgeReport) -> str:
    return "all pairs" if one.system_a is None else f"{word(one.system_a, _NAME)}\n{word(one.system_b or '', _NAME)}"


def _pairs(console: Console, view: View) -> None:
    found = list(view.first())
    if not found:
        return
    title(console, "PAIRS (A above, B below)")
    made = table("PAIR", "A wins", "ties", "B wins", "relative", "p (Holm)", "points", "scored")
    for one in found[:_PAIRS]:
        rates = [one.rates.win, one.rates.tie, one.rates.loss] if one.rates else [None] * 3
        ends = shown.ends(one)
        made.add_row(
            _pair(one), *map(share, rates), signed(one.relative.value) + (f"\n{ends}" if ends else ""),
            chance(one.p_holm), shown.points(one.gap.value), shown.scored(one) + (f"\n{lost}" if (lost := shown.lost(one)) else ""),
        )
    console.print(made)
    more(console, len(found) - _PAIRS, "pair")


def _groups(console: Console, view: View) -> None:
    """By aspect, and overall by group: only where few pairs are compared."""
    if len(view.pairs) > _ASPECTS:
        return
    cells = [(aspect, ALL) for aspect in view.aspects] + [(OVERALL, group) for group in view.groups if group != ALL]
    title(console, "RELATIVE WIN RATE BY ASPECT AND GROUP")
    for a, b in view.pairs:
        made = table(f"{word(a, _NAME)} - {word(b, _NAME)}", "relative", "95 %", "p (Holm)", "scored")
        for aspect, group in cells[:_ROWS]:
            one = view.result(a, b, aspect, group)
            if one is not None:
                label = word(aspect, 40) if group == ALL else word(group.title, 40)
                made.add_row(
                    label, signed(one.relative.value), shown.ends(one), chance(one.p_holm), shown.scored(one),
                )
        console.print(made)
        more(console, len(cells) - _ROWS)


def _ranking(console: Console, view: View) -> None:
    ranking = view.report.ranking
    if ranking is None:
        return
    title(console, "RANKING")
    if not ranking.rankable or ranking.reason:
        why = word(ranking.reason or "no reason given", 300)
        console.print(why if ranking.rankable else f"not rankable: {why}", overflow="fold")
    made = table("SYSTEM", "rank", "strength", "95 %", "average win rate")
    for one in ranking.systems[:_PAIRS]:
        rank = "-" if one.rank is None else str(one.rank)
        made.add_row(
            word(one.system, 40), rank, shown.points(one.strength.value), shown.between(one.strength, shown.points),
            share(one.average_win_rate),
        )
    console.print(made)
    more(console, len(ranking.systems) - _PAIRS, "system")


def _judge(console: Console, view: View) -> None:
    if not view.report.judge:
        return
    title(console, "JUDGE")
    made = table("PAIR", "first place wins", "A first, second", "turned", "ties", "same again", "at equal lengths")
    for one in view.report.judge[: _ASPECTS + 1]:
        orders = f"{share(one.ab_win)}, {share(one.ba_win)}"
        made.add_row(
            _pair(one), share(one.first_wins.value), orders, share(one.flips), share(one.ties),
            share(one.self_agreement), signed(one.length_controlled.value),
        )
    console.print(made)
    more(console, len(view.report.judge) - _ASPECTS - 1, "pair")


def _contrast(console: Console, view: View) -> None:
    """What other procedures say of the first pairs."""
    if not view.report.contrast:
        return
    title(console, "WHAT THE BIASES DID (relative win rate, overall)")
    others = {name: view_of(view.report.model_copy(update={"pairs": pairs})) for name, pairs in view.report.contrast.items()}
    made = table("PAIR", word(view.report.procedure, 30), *(word(name, 30) for name in others))
    for one in list(view.first())[:_PAIRS]:
        parts = [one, *(other.result(one.system_a, one.system_b) for other in others.values())]
        made.add_row(_pair(one), *("-" if part is None else _with_ends(part) for part in parts))
    console.print(made)


def _with_ends(one: PairResult) -> str:
    ends = shown.ends(one)
    return signed(one.relative.value) + (f"\n{ends}" if ends else "")


def _checks(console: Console, view: View) -> None:
    for part in checks(view):
        title(console, part.title.upper())
        made = table(*part.head)
        for row in part.rows[:_PAIRS]:
            made.add_row(*(word(cell, 160) if cell else "" for cell in row))
        console.print(made)
        more(console, len(part.rows) - _PAIRS)
        for line in part.lines:
            console.print(word(line, 300), style="dim", overflow="fold")


def _gates(console: Console, view: View) -> None:
    if not view.report.gates:
        return
    title(console, "THRESHOLDS")
    made = table("PAIR", "aspect", "threshold", "value", "met")
    for gate in view.report.gates[:_ROWS]:
        met = "unanswered" if gate.met is None else "met" if gate.met else "MISSED"
        pair = f"{word(gate.system_a, _NAME)}\n{word(gate.system_b, _NAME)}"
        bound = f"{gate.figure} {'>=' if gate.least else '<='} {number(gate.limit)}"
        made.add_row(pair, word(gate.aspect, 30), bound, figure(gate.value, digits=4), met)
    console.print(made)
    more(console, len(view.report.gates) - _ROWS, "threshold")
