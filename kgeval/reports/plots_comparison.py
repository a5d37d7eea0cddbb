"""Plots of a comparison as inline SVG without style attributes. Lengths are percentages of the drawing's width, so that it fits any page.

No name of a system stands in a drawing: the tables around the drawings have them. Colours are classes of the page's style.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kgeval.records import Box, PairResult, Rates, TrialRates

_OPEN = 'aria-hidden="true" focusable="false"'
_BOX = 14  # height of a box
_GRID = "".join(f'<line class="grid" x1="{at}.00%" x2="{at}.00%" y1="0" y2="100%"/>' for at in (0, 25, 50, 75, 100))
_W, _H, _PAD = 640.0, 170.0, 34.0  # the plot over trials


def rates_bar(rates: Rates) -> str:
    """One bar: wins from the left, ties, losses to the right."""
    widths = {"win": rates.win, "tie": rates.tie, "loss": rates.loss}
    parts = [
        f'<rect class="{kind}" x="{_x(start)}" y="0" width="{_x(width)}" height="100%"/>'
        for (kind, width), start in zip(widths.items(), accumulate(widths.values(), initial=0.0), strict=False) if width > 0
    ]
    return f'<svg class="wtl" {_OPEN}>{"".join(parts)}<line class="half" x1="50%" x2="50%" y1="0" y2="100%"/></svg>'


def boxes(result: PairResult) -> str:
    """The boxes of wins of A (above) and of B (below) over trials, on 0..100 %; "" without trials."""
    if result.box_win is None or result.box_loss is None:
        return ""
    upper, lower = _box(result.box_win, 3, "win", 0.0, 1.0), _box(result.box_loss, 3 + _BOX + 4, "loss", 0.0, 1.0)
    return f'<svg class="boxes" {_OPEN}>{_GRID}{upper}{lower}</svg>'


def relative_box(box: Box | None) -> str:
    """The box of the relative win rate over trials, on -100..100 %; "" without trials."""
    return "" if box is None else f'<svg class="boxes one" {_OPEN}>{_GRID}{_box(box, 4, "tie", -1.0, 1.0)}</svg>'


def relative_dot(value: float | None, low: float | None, high: float | None) -> str:
    """A relative win rate with its interval on -100..100 %; "" for null."""
    if value is None:
        return ""
    span = "" if low is None or high is None else (
        f'<rect class="span" x="{_x((low + 1) / 2)}" y="4" width="{_x(max(0.004, (high - low) / 2))}" height="6" rx="3"/>'
    )
    ground = '<rect class="track" width="100%" y="6" height="2"/><line class="half" x1="50%" x2="50%" y1="0" y2="14"/>'
    return f'<svg class="range relative" {_OPEN}>{ground}{span}<circle class="at" cx="{_x((value + 1) / 2)}" cy="7" r="4"/></svg>'


def _box(box: Box, y: float, kind: str, low: float, high: float) -> str:
    def at(value: float) -> str:
        return _x((value - low) / (high - low))

    middle, bottom = y + _BOX / 2, y + _BOX
    wide = _x(max(0.003, (box.q75 - box.q25) / (high - low)))
    ends = "".join(
        f'<line class="whisker" x1="{at(end)}" x2="{at(end)}" y1="{y + 3}" y2="{bottom - 3}"/>' for end in (box.low, box.high)
    )
    outside = "".join(f'<circle class="{kind}" cx="{at(one)}" cy="{middle}" r="2.2"/>' for one in box.outliers)
    return (
        f'<line class="whisker" x1="{at(box.low)}" x2="{at(box.high)}" y1="{middle}" y2="{middle}"/>{ends}'
        f'<rect class="{kind}" x="{at(box.q25)}" y="{y}" width="{wide}" height="{_BOX}"/>'
        f'<line class="median" x1="{at(box.median)}" x2="{at(box.median)}" y1="{y}" y2="{bottom}"/>{outside}'
    )


def _x(share: float) -> str:
    return f"{100 * share:.2f}%"


def over_trials(trials: Sequence[TrialRates]) -> str:
    """Win rates of A and of B trial by trial; "" with fewer than two trials."""
    if len(trials) < 2:
        return ""
    first, last = trials[0].trial, trials[-1].trial
    ticks = sorted({first, last, *(one.trial for one in trials if len(trials) <= 10 or one.trial % 5 == 0)})
    across = [_at(tick, first, last) for tick in ticks]
    grid = [f'<line class="grid" x1="{_PAD}" x2="{_W - 10}" y1="{_y(level)}" y2="{_y(level)}"/>' for level in (0, 0.25, 0.5, 0.75, 1)]
    labels = [f'<text x="{_PAD - 6}" y="{_y(level) + 4}" text-anchor="end">{100 * level:.0f}</text>' for level in (0, 0.5, 1)]
    labels += [f'<text x="{x:.1f}" y="{_H - 4}" text-anchor="middle">{tick}</text>' for tick, x in zip(ticks, across, strict=True)]
    sides = (("win", [one.rates.win for one in trials]), ("loss", [one.rates.loss for one in trials]))
    lines = [_line([(_at(one.trial, first, last), y) for one, y in zip(trials, rates, strict=True)], kind) for kind, rates in sides]
    return f'<svg class="trials" viewBox="0 0 {_W:.0f} {_H:.0f}" {_OPEN}>{"".join([*grid, *labels, *lines])}</svg>'


def _line(points: Sequence[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{x:.1f},{_y(share):.1f}" for x, share in points)
    dots = "".join(f'<circle class="{kind}" cx="{x:.1f}" cy="{_y(share):.1f}" r="3"/>' for x, share in points)
    return f'<polyline class="{kind}" points="{path}"/>{dots}'


def _at(trial: int, first: int, last: int) -> float:
    return _PAD + 8 + (_W - _PAD - 30) * (trial - first) / max(1, last - first)


def _y(share: float) -> float:
    return 8 + (_H - 32) * (1 - share)
