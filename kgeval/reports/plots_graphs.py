"""Pictures of several graphs or audits, as inline SVG: a figure as bars, shares before and now. No name of a graph stands in a drawing:
they are numbered, the page has the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.format import percent, visible
from kgeval.reports.plots import ACCENT, INK, Drawing, draw

_LABELLED = 12  # bars that have room for their values


def bars(values: Sequence[float | None], *, y: str, name: str, texts: Sequence[str]) -> Drawing | None:
    """A bar a graph, numbered from 1, `texts` above them; a graph without the figure has a gap. None where fewer than two graphs have
    the figure. `y`: our own word."""
    if sum(value is not None for value in values) < 2:
        return None
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


@dataclass(frozen=True)
class Move:
    """A share (0..1) before and now; `worse`: which way it went."""

    name: str
    before: float
    now: float
    worse: bool


def moves(rows: Sequence[Move]) -> str:
    """A line a share: a ring where it was, a dot where it is now, on one scale from 0. An SVG element, "" without rows, drawn by hand: text
    of matplotlib would be too small on a phone."""
    if not rows:
        return ""
    from markupsafe import escape

    most = max(max(row.before, row.now) for row in rows) or 1.0
    lines = []
    for at, row in enumerate(rows):
        y, before, now = 34 + 44 * at, *(10 + 225 * value / most for value in (row.before, row.now))
        kind = "worse" if row.worse else "better"
        lines.append(
            f'<text x="4" y="{y - 14}">{escape(visible(row.name, longest=52))}</text>'
            f'<text x="356" y="{y + 4}" text-anchor="end" class="dim">{escape(percent(row.before))} → {escape(percent(row.now))}</text>'
            f'<line x1="10" x2="235" y1="{y}" y2="{y}" class="rail"/>'
            f'<line x1="{before:.1f}" x2="{now:.1f}" y1="{y}" y2="{y}" class="{kind}"/>'
            f'<circle cx="{before:.1f}" cy="{y}" r="5" class="then {kind}"/><circle cx="{now:.1f}" cy="{y}" r="5.5" class="{kind}"/>'
        )
    return f'<svg class="moves" viewBox="0 0 360 {44 * len(rows) + 6}" aria-hidden="true" focusable="false">{"".join(lines)}</svg>'
