"""A comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kgeval.format import chance, figure, joined, number, plural, share, signed
from kgeval.records import ComparisonReport, PairResult
from kgeval.reports import comparison_view as shown
from kgeval.reports import page
from kgeval.reports import plots_comparison as plots
from kgeval.reports.comparison_checks import checks
from kgeval.reports.comparison_view import ALL, OVERALL, Group, View, view_of
from kgeval.reports.comparison_words import facts, verdict, winner

MOST_OPENED = 100  # questions of the drill-down on the page
MOST_PAIRS = 60  # pairs with bars and boxes
MOST_MATRIX = 50  # systems in a heat map that stands open
MOST_FOLDED = 20  # systems in a folded one
MOST_SUBS = 8  # systems up to which n and interval stand in the cells of a heat map
MOST_LINES = 6  # pairs with a plot over trials


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map: what it shows, its shade, what lies behind it."""

    text: str
    shade: str = ""
    subs: tuple[str, ...] = ()
    title: str = ""
    sure: bool = False


@dataclass(frozen=True)
class Map:
    """A heat map. `open`: on the page at once, not folded."""

    title: str
    heads: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    open: bool = False


def render(report: ComparisonReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/gzip">`."""
    return page.render("comparison.html.j2", report, context(report))


def context(report: ComparisonReport) -> dict[str, Any]:
    """What the templates `comparison*.html.j2` are filled with."""
    view = view_of(report)
    first, *others = verdict(view)
    pairs = list(view.first())
    return {
        "heading": _heading(view), "sizes": _sizes(view), "verdict": first, "others": others, "facts": list(facts(view)), "view": view,
        "gates": [(title, kind, sum(gate.met is met for gate in report.gates)) for title, kind, met in _GATES],
        "pairs": pairs[:MOST_PAIRS], "all_pairs": len(pairs), "maps": list(maps(view)), "lines_of": pairs[:MOST_LINES],
        "several": len(view.systems) > 2, "stamp": shown.stamp(view), "most_opened": MOST_OPENED, "ask": _lookup(view),
        "contrast": list(_contrast(view)), "checks": list(checks(view)),
        "grades": list(report.grades.items()), "OVERALL": OVERALL, **_FORMS, **_PLOTS,
    }


_GATES: tuple[tuple[str, str, bool | None], ...] = (("missed", "error", False), ("unanswered", "open", None), ("met", "passed", True))
_FORMS: dict[str, Any] = {
    "signed": signed, "share_of": share, "points": shown.points, "chance": chance,
    "plain": lambda value, digits=2: figure(value, digits=digits),
    "between": shown.between, "ends": shown.ends, "scored": shown.scored, "lost": shown.lost, "text_of": shown.text_of,
    "procedures": shown.PROCEDURES, "too_few": shown.TOO_FEW.capitalize(), "least": shown.FEW,
}


def _drawn(plot: Any) -> Any:
    return lambda *given: page.raw(plot(*given))


_PLOTS: dict[str, Any] = {
    "rates_bar": _drawn(plots.rates_bar), "shares_bar": _drawn(plots.shares_bar), "boxes": _drawn(plots.boxes),
    "relative_box": _drawn(plots.relative_box), "relative_dot": _drawn(plots.relative_dot), "over_trials": _drawn(plots.over_trials),
}


def _heading(view: View) -> str:
    names = [shown.word(system) for system in view.systems]
    return joined(names) if 0 < len(names) <= 4 else plural(len(names), "system")


def _sizes(view: View) -> str:
    judges = [shown.word(one.name) for one in view.report.run.models if one.role == "judge"]
    least = min((one.n_scored for one in view.first()), default=0)
    least_words = f"at least {plural(least, 'question')} a pair"
    return ", ".join([plural(len(view.pairs), "pair"), least_words, *(f"judge {name}" for name in judges)])


def _lookup(view: View) -> Any:
    """(result, aspect) -> the result of the same pair in that aspect on all questions."""
    return lambda one, aspect: view.result(one.system_a, one.system_b, aspect)


def maps(view: View) -> Iterable[Map]:
    """Heat maps: of two systems, aspects by groups; of more, row against column, overall and by aspect, level and data set."""
    if len(view.systems) < 3:
        if view.pairs:
            yield _grid(view, *view.pairs[0])
        return
    yield _matrix(view, "Overall, all questions", OVERALL, ALL, opened=True)
    for group in view.groups:
        if group != ALL:
            yield _matrix(view, f"Overall, {group.title}", OVERALL, group, opened=group.mean)
    for aspect in view.aspects:
        if aspect != OVERALL:
            yield _matrix(view, f"{aspect.capitalize()}, all questions", aspect, ALL)
            mean = next((group for group in view.groups if group.mean), None)
            if mean is not None and any(key[2:] == (aspect, mean) for key in view.results):
                yield _matrix(view, f"{aspect.capitalize()}, {mean.title}", aspect, mean)


def _grid(view: View, a: str, b: str) -> Map:
    rows: list[tuple[str, list[Cell | None]]] = [
        (aspect, [_cell(view, view.result(a, b, aspect, group), sub=True) for group in view.groups]) for aspect in view.aspects
    ]
    return Map(f"{a} minus {b}, by aspect and group", [group.title for group in view.groups], rows, open=True)


def _matrix(view: View, title: str, aspect: str, group: Group, *, opened: bool = False) -> Map:
    most = MOST_MATRIX if opened else MOST_FOLDED
    systems = view.systems[:most]
    title += f" (the first {most} of {number(len(view.systems))} systems; the JSON has all)" if len(view.systems) > most else ""
    sub = len(systems) <= MOST_SUBS
    rows = [
        (row, [None if row == column else _cell(view, view.result(row, column, aspect, group), sub=sub) for column in systems])
        for row in systems
    ]
    return Map(title, systems, rows, open=opened)


def _cell(view: View, one: PairResult | None, *, sub: bool) -> Cell:
    """Shaded by its value; under FEW questions without shade and star, and said to be too few."""
    if one is None or one.relative.value is None:
        return Cell("-", title="no result")
    ends, few = shown.ends(one), shown.few(one)
    p = "" if one.p_holm is None else f"; p {chance(one.p_holm)} (Holm)"
    told = f"n {shown.scored(one)}" + (f"; 95 %: {ends}" if ends else "") + p
    count = f"n {number(one.n_scored)}" + (f", {shown.TOO_FEW}" if few else "")
    below = (*((ends,) if ends else ()), count) if sub else ()
    stop = view.stop(one.system_a, one.system_b) if (one.aspect, shown.group_of(one)) == (OVERALL, ALL) else None
    shade = "few" if few else plots.heat(one.relative.value)
    return Cell(signed(one.relative.value), shade, below, told, winner(one, stop) is not None)


def _contrast(view: View) -> Iterable[tuple[PairResult, list[tuple[str, PairResult | None]]]]:
    """Each pair under the main procedure, and under the others, turned the same way."""
    views = {name: view_of(view.report.model_copy(update={"pairs": pairs})) for name, pairs in view.report.contrast.items()}
    if not views:
        return
    for one in list(view.first())[:MOST_PAIRS]:
        yield one, [(name, other.result(one.system_a, one.system_b)) for name, other in views.items()]
