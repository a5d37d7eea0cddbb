"""Numbers as reports show them: one formatter, and what it promises holds of every function that shows a share or an interval."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgeval
from kgeval import format as display
from kgeval.overview import score_verdict
from kgeval.overview import wording as told
from kgeval.records import CrossedCell, Estimate, Estimated, Mean, Proportion, RunPlace
from kgeval.reports import measures
from kgeval.reports.views import agreement, contamination, crossed, pairs, scores, stats

# every way in which a share becomes a text
SHARES: dict[str, Callable[[float], str]] = {
    "percent": display.percent, "share": display.share, "figure": display.figure,
    "two digits": lambda value: display.figure(value, digits=2), "four digits": lambda value: display.figure(value, digits=4),
    "signed": display.signed, "signed figure": lambda value: display.figure(value, sign=True), "points": display.points,
    "one report": lambda value: told.value_of(value, None, None, "share"),
    "a difference of one report": lambda value: told.value_of(value, None, None, "difference"),
    "scores": lambda value: scores.difference(value, None, None),
    "agreement": agreement.figure, "points of a comparison": pairs.points, "statistics": display.plus,
    "a proportion": lambda value: measures.share(Proportion(count=1, total=2, share=value)),
    "an estimate": lambda value: measures.estimated(_estimate(value)),
    "contamination": lambda value: contamination.mean_cells(_mean(value))[0],
    "a matrix": lambda value: crossed.cell(_cell(value)).split()[0] if value >= 0.001 else display.figure(value),
}
# every way in which an interval becomes a text
INTERVALS: dict[str, Callable[[float, float], str]] = {
    "interval": display.interval, "bracketed": display.bracketed,
    "one report": lambda low, high: told.value_of(0.5, low, high, "share").removeprefix("50.0 %"),
    "scores": score_verdict.confidence,
    "a difference of scores": lambda low, high: scores.difference(0.5, low, high).removeprefix("+0.500"),
    "a comparison": lambda low, high: pairs.between(Estimated(value=0.5, low=low, high=high)),
    "agreement": lambda low, high: agreement.between(Estimated(value=0.5, low=low, high=high)),
    "statistics": lambda low, high: stats.between(Estimated(value=0.5, low=low, high=high)).strip("-"),
    "an estimate": lambda low, high: measures.estimated(_estimate(0.5, low, high)).removeprefix("50.0 %"),
    "a proportion": lambda low, high: measures.full(_proportion(low, high)).removeprefix("50.0 % (1 of 2)"),
    "contamination": lambda low, high: contamination.mean_cells(_mean(0.5, low, high))[1].strip("-"),
    "a matrix": lambda low, high: crossed.cell(_cell(0.5, low, high)).removeprefix("0.500 n 5"),
}


def _estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(of="accuracy", labelled_by="people", method="", n=5, n_scored=5, value=value, low=low, high=high)


def _proportion(low: float, high: float) -> Proportion:
    return Proportion(count=1, total=2, share=0.5, low=low, high=high)


def _mean(value: float, low: float | None = None, high: float | None = None) -> Mean:
    return Mean(n=5, n_scored=5, mean=value, low=low, high=high)


def _cell(value: float, low: float | None = None, high: float | None = None) -> CrossedCell:
    return CrossedCell(place=RunPlace(), system="a", metric="m", n=5, n_scored=5, mean=value, low=low, high=high)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARES)
@given(st.floats(1e-9, 1, exclude_max=True))
def test_a_share_that_is_not_0_or_1_is_never_shown_as_0_or_1(name: str, value: float) -> None:
    """Neither `0 %`, `0.000` nor `100.0 %`, `1.000`; what is nearly that is shown with a sign of comparison."""
    text = SHARES[name](value)
    bare, whole = text.removesuffix(" %").lstrip("+"), 100 if text.endswith("%") or name == "points" else 1
    assert bare[0] in "<>" or float(bare) not in (0, whole), text


@pytest.mark.parametrize("name", SHARES)
def test_0_and_1_are_shown_as_such(name: str) -> None:
    assert {SHARES[name](value).strip("+") for value in (0.0, 1.0)} <= {"0", "1", "100", "0 %", "100 %"}


@pytest.mark.parametrize("name", INTERVALS)
def test_an_interval_without_width_is_not_shown(name: str) -> None:
    """Equal values do not prove that the next one is equal; what adding up leaves is no width."""
    shown = INTERVALS[name]
    assert shown(0.25, 0.75).strip() != ""
    for low, high in ((0.5, 0.5), (0.0, 0.0), (1.0, 1.0), (0.1 + 0.2, 0.3)):
        assert shown(low, high).strip() in ("", "(1 of 2)"), (low, high)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_value_is_never_shown_as_the_limit_that_it_misses(value: float, limit: float) -> None:
    for given_ in (limit, f"share <= {limit:.15g}"):
        text = display.beyond(value, given_)
        wanted = float(f"{limit:.15g}") if isinstance(given_, str) else limit
        assert value == wanted or float(text) != wanted, text


def test_durations_and_money_above_0_are_not_shown_as_0() -> None:
    assert display.seconds(0.0042) == "0.0042" and display.seconds(0.0) == "0.00" and display.seconds(1234.5) == "1,234.50"
    assert display.money(0.00001) != "$0.0000" and display.money(0.0) == "$0.00"


@pytest.mark.slow
def test_no_other_module_formats_shares() -> None:
    """`:.1%` and `100 * share` within a text round to 0 % and 100 %: only format.py may, which sees to it. Drawings have lengths."""
    wrong = []
    for path in sorted(Path(kgeval.__file__).parent.rglob("*.py")):
        name = path.relative_to(Path(kgeval.__file__).parent).as_posix()
        if name == "format.py" or "/plots" in name or "/scripts/" in name:
            continue
        text = path.read_text(encoding="utf-8")
        if not re.search(r":[^{}\"'\n]*(?:%|\.\d[fe])", text):  # no format of the kind anywhere: most modules need not be parsed
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                spec, value = ast.unparse(node.format_spec), ast.unparse(node.value)
                if "%" in spec or (re.search(r"\.\d[fe]", spec) and re.search(r"\b100 \*|\* 100\b", value)):
                    wrong.append(f"{name}:{node.lineno}: {value}")
    assert wrong == []


@pytest.mark.parametrize(("items", "most", "text"), [
    ([], 2, ""), (["a"], 2, "a"), (["a", "b"], 2, "a, b"), (["a", "b", "c"], 2, "a, b and 1 more"),
    (["x"] * 2002, 2, "x, x and 2,000 more"),
])
def test_names_are_cut_with_how_many_more_there_are(items: list[str], most: int, text: str) -> None:
    assert display.first_of(items, most) == text
    assert display.first_of(["a b", "c d", "e f"], 1, "; ", noun="pair") == "a b and 2 more pairs"


def test_lines_are_cut_with_how_many_more_there_are() -> None:
    assert display.first_lines(["a", "b"], 2) == ["a", "b"] and display.first_lines(["a", "b", "c"], 1) == ["a", "... and 2 more"]
    assert display.first_lines(["a"], 1, of=1001) == ["a", "... and 1,000 more"] and display.first_lines(["a"], 1, of=1) == ["a"]


def test_how_many_more_there_are_is_said_in_one_place() -> None:
    """Of names and lines; what is left has words of its own around the number."""
    own = {"metrics/summary/worst.py", "reports/views/parts.py", "reports/render/terminal.py", "reports/render/markdown.py", "errors.py"}
    folder = Path(kgeval.__file__).parent
    written = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py")
        if re.search(r"""and \{[^{}]*(?:\([^{}]*\))?[^{}]*\} more["'{]""", path.read_text(encoding="utf-8"))
    }
    assert written - own == {"format.py"}
