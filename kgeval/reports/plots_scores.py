"""Plots of scores as inline SVG: the distribution of one metric of one system, and quality against what it takes.

No name of a system or metric stands in a drawing: systems are numbered there, and the page has the key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgeval.records import Spread
from kgeval.reports.plots import ACCENT, GRID, INK, Drawing, draw

_WIDTH, _HEIGHT, _BOX = 200.0, 34.0, 10.0


@dataclass(frozen=True)
class Point:
    """A system in the plane of amount and quality. `number`: its place in the page's key."""

    number: int
    amount: float
    mean: float
    low: float | None
    high: float | None


def distribution(spread: Spread, mean: float | None) -> str:
    """Bars for the bins of 0..1 with the mean; below them the box from quartile to quartile with the median, and the whole range. ""
    without values; what lies outside of 0..1 is not drawn."""
    most = max(spread.bins, default=0)
    if not most and spread.median is None:
        return ""
    step, y = _WIDTH / max(1, len(spread.bins)), _HEIGHT + 2
    parts = [
        f'<rect class="bin" x="{at * step + 0.4:.2f}" y="{_HEIGHT - tall:.2f}" width="{step - 0.8:.2f}" height="{tall:.2f}"/>'
        for at, n in enumerate(spread.bins) if n > 0 and (tall := max(1.0, _HEIGHT * n / most))
    ]
    parts.append(f'<line class="axis" x1="0" x2="{_WIDTH:.0f}" y1="{_HEIGHT + 0.5}" y2="{_HEIGHT + 0.5}"/>')
    ends = [end for end in (spread.minimum, spread.q25, spread.median, spread.q75, spread.maximum) if end is not None and 0 <= end <= 1]
    if len(ends) == 5:
        low, left, middle, right, high = (_WIDTH * end for end in ends)
        parts += [
            f'<line class="axis" x1="{low:.2f}" x2="{high:.2f}" y1="{y + _BOX / 2}" y2="{y + _BOX / 2}"/>',
            f'<rect class="box" x="{left:.2f}" y="{y + 1}" width="{max(0.8, right - left):.2f}" height="{_BOX - 2}"/>',
            f'<rect class="median" x="{min(_WIDTH - 1.2, max(0.0, middle - 0.6)):.2f}" y="{y}" width="1.2" height="{_BOX}"/>',
        ]
    if mean is not None and 0 <= mean <= 1:
        x = min(_WIDTH - 1.0, max(0.0, _WIDTH * mean - 0.5))
        parts.append(f'<rect class="mean" x="{x:.2f}" y="0" width="1" height="{_HEIGHT:.0f}"/>')
    return (
        f'<svg class="dist" viewBox="0 0 {_WIDTH:.0f} {y + _BOX:.0f}" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def plane(points: Sequence[Point], *, amount: str, quality: str, name: str) -> Drawing | None:
    """Quality with its intervals against an amount, on a logarithmic axis where amounts span more than a factor of 20.

    None with fewer than two points that can be drawn. `quality` is our own word, never a name from a report.
    """
    shown = [one for one in points if math.isfinite(one.amount) and math.isfinite(one.mean) and one.amount >= 0]
    wide = bool(shown) and max(one.amount for one in shown) > 20 * min(one.amount for one in shown)
    if wide:
        shown = [one for one in shown if one.amount > 0]
    if len(shown) < 2:
        return None
    return draw(lambda axes: _plane(axes, shown, wide), labels=(amount, quality), name=name)


def _plane(axes: Any, points: Sequence[Point], wide: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for one in points:
        if one.low is not None and one.high is not None:
            axes.plot((one.amount, one.amount), (one.low, one.high), "-", color=GRID, linewidth=1.6)
        axes.plot(one.amount, one.mean, "o", color=ACCENT, markersize=8, markeredgewidth=0)
        axes.annotate(str(one.number), (one.amount, one.mean), textcoords="offset points", xytext=(8, 5), color=INK, fontsize=11)
    if wide:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=8))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.margins(x=0.12, y=0.1)
    axes.set_xlim(right=axes.get_xlim()[1] * (1.4 if wide else 1.06))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}"))
