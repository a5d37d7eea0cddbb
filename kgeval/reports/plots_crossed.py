"""Curves over an amount as inline SVG: one a system, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.reports.plots import ACCENT, GRID, INK, draw

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Curve:
    """One curve. `number`: its mark on the plot; `name`: for the list beside it; `points`: (x, mean, low, high), x rising."""

    number: int
    name: str
    points: tuple[tuple[float, float, float | None, float | None], ...]


def curves(given: Sequence[Curve], *, x: str, y: str, name: str) -> str:
    """The curves as an SVG element, told apart by number, mark and dashes, not by colour; "" where none has two points."""
    shown = [one for one in given if len(one.points) > 1]
    return draw(lambda axes: _plot(axes, shown), labels=(x, y), name=name) if shown else ""


def _plot(axes: Any, given: Sequence[Curve]) -> None:
    for one in given:
        xs = [point[0] for point in one.points]
        for at, _, low, high in one.points:
            if low is not None and high is not None:
                axes.plot((at, at), (low, high), "-", color=GRID, linewidth=1.4)
        style = {"linestyle": DASHES[one.number % len(DASHES)], "marker": MARKS[one.number % len(MARKS)]}
        axes.plot(xs, [point[1] for point in one.points], color=ACCENT, linewidth=1.6, markersize=6, **style)
        axes.annotate(str(one.number), (xs[-1], one.points[-1][1]), textcoords="offset points", xytext=(8, -3), color=INK, fontsize=11)
    axes.margins(x=0.1, y=0.1)
