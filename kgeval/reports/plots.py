"""Plots as inline SVG without style attributes, so that they stand under a strict content security policy.

matplotlib draws; its styles are turned into attributes, its text stays text (the page's own font: no missing glyphs),
and its ink becomes `currentColor`, so that light and dark pages both work.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
INK = "#010203"
ACCENT = "#0f8a7e"
GRID = "#8b95a1"
_BARS = 20  # the largest value that is drawn as bars
_SPAN, _DENSE = 20, 300  # factors from which an axis is logarithmic, and has powers of ten only
Drawing = Callable[[], str]  # an SVG element, made when it is asked for
_OF_STYLE = frozenset({
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
    "stroke-dasharray", "stroke-dashoffset", "opacity", "text-anchor", "font-size",
})


def histogram(points: Sequence[tuple[int, int]], *, x: str, y: str, name: str) -> Drawing | None:
    """A plot of (value, how many) pairs; None with fewer than two distinct values.

    Bars where the largest value is at most 20. Else dots, and an axis whose numbers span more than a factor of 20 is logarithmic (zero
    cannot be drawn then and is left out). Each axis has two numbers at least. `name` prefixes the ids inside, so that several plots stand
    on one page.
    """
    shown = sorted((value, n) for value, n in points if n > 0)
    wide = bool(shown) and shown[-1][0] > _BARS
    if wide and _spans([value for value, _ in shown if value > 0]):
        shown = [(value, n) for value, n in shown if value > 0]
    return draw(lambda axes: _plot(axes, shown, wide), labels=(x, y), name=name) if len(shown) > 1 else None


def calibration(points: Sequence[tuple[float, float, int]], *, name: str) -> Drawing | None:
    """A plot of (mean confidence, accuracy, how many) with the line of perfect calibration; None without points."""
    def plot(axes: Any) -> None:
        axes.plot((0, 1), (0, 1), ":", color=GRID, linewidth=1.6)
        for confidence, accuracy, n in points:
            axes.plot(confidence, accuracy, "o", color=ACCENT, markersize=4 + 2 * len(str(n)), markeredgewidth=0)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)

    return draw(plot, labels=("stored confidence", "judged accuracy"), name=name) if points else None


def draw(plot: Callable[[Any], None], *, labels: tuple[str, str], name: str) -> Drawing:
    """What `plot` puts on the axes. `labels`: of both axes; `name` prefixes the ids inside. matplotlib is loaded, and draws, when the
    SVG element is asked for: a form without pictures does not wait for it."""
    return lambda: _drawn(plot, labels, name)


def _drawn(plot: Callable[[Any], None], labels: tuple[str, str], name: str) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    buffer = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # a matplotlibrc in the working directory may have LaTeX typeset all texts, with a preamble of its own
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 11, "text.parse_math": False})
        figure = Figure(figsize=(5.2, 3.1), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        plot(axes)
        _dress(axes, labels)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue().decode(), name)


def _plot(axes: Any, points: Sequence[tuple[int, int]], wide: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    values, numbers = zip(*points, strict=True)
    if not wide:
        axes.bar(values, numbers, color=ACCENT, width=0.75)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        return
    axes.plot(values, numbers, "o", color=ACCENT, markersize=4.5, alpha=0.75, markeredgewidth=0)
    for axis, given in ((axes.xaxis, values), (axes.yaxis, numbers)):
        _scale(axis, given)
    if axes.get_yscale() == "log":
        axes.set_ylim(0.7, max(numbers) * 1.6)
    else:
        axes.set_ylim(0, max(numbers) * 1.15)


def _spans(values: Sequence[int]) -> bool:
    """Whether an axis of these numbers is logarithmic."""
    return bool(values) and max(values) > _SPAN * min(values)


def _scale(axis: Any, values: Sequence[int]) -> None:
    """Logarithmic where the numbers span much, else plain. Without numbers between the powers of ten, an axis from 30 to 90 has none."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if 0 in values or not _spans(values):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=2))
    else:
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
        few = max(values) < _DENSE * min(values)
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 or value == 0 else ""))


def _dress(axes: Any, labels: tuple[str, str]) -> None:
    axes.set_xlabel(labels[0], color=INK)
    axes.set_ylabel(labels[1], color=INK)
    axes.tick_params(colors=INK, which="both", length=3, width=0.6)
    axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GRID)


def _inline(text: str, name: str) -> str:
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(text)  # noqa: S314 - our own drawing
    for child in list(root):
        if child.tag == f"{{{_SVG}}}metadata" or child.find(f"{{{_SVG}}}style") is not None:
            root.remove(child)
    for node in root.iter():
        _plain(node, name)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib.update({"class": "plot", "stroke-linejoin": "round", "aria-hidden": "true", "focusable": "false"})
    return ElementTree.tostring(root, encoding="unicode")


def _plain(node: ElementTree.Element, name: str) -> None:
    """Styles become attributes, ids get a prefix, links lose the xlink namespace."""
    for key, value in _styles(node.attrib.pop("style", "")):
        if key == "font":
            node.set("font-size", (re.search(r"([\d.]+)px", value) or ["", "10"])[1])
        elif key in _OF_STYLE:
            node.set(key, "currentColor" if value == INK else value)
            if value == ACCENT and key == "fill":
                node.set("class", "mark")  # the page's style gives it the colour for light and for dark
    if "id" in node.attrib:
        node.set("id", f"{name}-{node.attrib['id']}")
    if _LINK in node.attrib:
        node.set("href", f"#{name}-{node.attrib.pop(_LINK).lstrip('#')}")
    for key, value in node.attrib.items():
        if "url(#" in value:
            node.set(key, value.replace("url(#", f"url(#{name}-"))


def _styles(text: str) -> list[tuple[str, str]]:
    pairs = (part.partition(":") for part in text.split(";") if ":" in part)
    return [(key.strip(), value.strip()) for key, _, value in pairs]
