"""One figure of several graphs as bars, as inline SVG. No name of a graph stands in a drawing: they are numbered, the page has the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgeval.reports.plots import ACCENT, INK, draw

_LABELLED = 12  # bars that have room for their values


def bars(values: Sequence[float | None], *, y: str, name: str, texts: Sequence[str]) -> str:
    """A bar a graph, numbered from 1, `texts` above them; a graph without the figure has a gap. An SVG element; "" where fewer than two
    graphs have the figure. `y`: our own word."""
    if sum(value is not None for value in values) < 2:
        return ""
    return draw(lambda axes: _plot(axes, values, texts), labels=("graph", y), name=name)


def _plot(axes: Any, values: Sequence[float | None], texts: Sequence[str]) -> None:
    places = range(1, len(values) + 1)
    axes.bar(places, [0.0 if value is None else value for value in values], color=ACCENT, width=0.62)
    for at, value, text in zip(places, values, texts, strict=True):
        if value is None or len(values) <= _LABELLED:
            axes.annotate(text, (at, value or 0.0), textcoords="offset points", xytext=(0, 4), ha="center", color=INK, fontsize=9)
    axes.set_xticks(list(places))
    axes.set_xlim(0.3, len(values) + 0.7)
    axes.margins(y=0.14)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if abs(value) >= 10 else f"{value:g}")
