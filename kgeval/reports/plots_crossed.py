"""Curves over an amount as inline SVG: one a system, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgeval.reports.document import Figure
from kgeval.reports.plots import ACCENT, GRID, INK, draw

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
Line = tuple[str | None, ...]  # what a curve is of
Point = tuple[float, float, float | None, float | None]  # x, mean, low, high


def curves(lines: Mapping[Line, Sequence[Point]], *, title: str, x: str, y: str, name: str) -> Iterator[Figure]:
    """A figure with a curve for each of the lines that has two points, told apart by number, mark and dashes, not by colour; nothing where
    none has. The list beside the plot names them all."""
    numbered = [(number, sorted(points, key=lambda point: point[:2])) for number, points in enumerate(lines.values(), start=1)]
    if drawn := [(number, points) for number, points in numbered if len(points) > 1]:
        drawing = draw(lambda axes: _plot(axes, drawn), labels=(x, y), name=name)
        yield Figure(drawing, title, names=[", ".join(part for part in line if part) for line in lines])


def _plot(axes: Any, lines: Sequence[tuple[int, Sequence[Point]]]) -> None:
    for number, points in lines:
        for x, _, low, high in points:
            if low is not None and high is not None:
                axes.plot((x, x), (low, high), "-", color=GRID, linewidth=1.4)
        style = {"linestyle": DASHES[number % len(DASHES)], "marker": MARKS[number % len(MARKS)]}
        axes.plot([x for x, *_ in points], [mean for _, mean, *_ in points], color=ACCENT, linewidth=1.6, markersize=6, **style)
        axes.annotate(str(number), points[-1][:2], textcoords="offset points", xytext=(8, -3), color=INK, fontsize=11)
    axes.margins(x=0.1, y=0.1)
