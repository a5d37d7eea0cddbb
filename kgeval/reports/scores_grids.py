"""The tables of a score report, once for all forms. Names in them are as they were given: each form makes them safe in its own way."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.format import figure, joined, number
from kgeval.records import LEVELS_OF_X, By, GateResult, LeaderRow, Mean
from kgeval.reports.measures import causes
from kgeval.reports.scores_view import (
    LEAST,
    LEAST_DIFFER,
    View,
    between,
    difference,
    gate_name,
    is_significant,
    level_title,
    scored,
    standing,
    word,
)

MOST_ACROSS = 8  # metrics side by side at one question type
BY_WORDS: dict[By, str] = {"hops": "hops", "kind": "kind of question", "document": "document", "dataset": "dataset", "level": "level"}


@dataclass(frozen=True)
class Cell:
    """A table's cell. `sub`: what stands below or behind the text. The numbers place an interval on a line from 0 to 1.

    `best`: apart from all others. `heat`: 0 (worst) to 10, for a shade. `bad`: to be seen at once.
    """

    text: str
    sub: str = ""
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False
    heat: int | None = None
    bad: bool = False


@dataclass(frozen=True)
class Grid:
    """A table. `heads`: the first is the labels'. `main`: also in the short forms. `bare`: the short forms leave `sub` out.

    `words`: how many columns after the label hold words (to the left), the others hold numbers. `over`: what `sub` tells, where it
    may have a column of its own.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    main: bool = True
    bare: bool = False
    words: int = 0
    over: str = ""


@dataclass(frozen=True)
class Section:
    """Tables that belong together. `id`: the anchor. `hint`: how to read them."""

    id: str
    title: str
    hint: str
    grids: tuple[Grid, ...]


def cell(mean: Mean | None, *, lower: bool = False, best: bool = False, short: bool = False) -> Cell:
    """A mean as a cell: `0.712 [0.671, 0.752]` over `96/100`. `short`: the interval goes below."""
    if mean is None:
        return Cell("-")
    interval, over = between(mean.low, mean.high), scored(mean)
    heat = None if mean.mean is None or not 0 <= mean.mean <= 1 else round(10 * (1 - mean.mean if lower else mean.mean))
    text = figure(mean.mean) + (f" {interval}" if interval and not short else "")
    sub = f"{interval} {over}".strip() if short else over
    return Cell(text, sub, mean.mean, mean.low, mean.high, best, heat)


def plain(*texts: str) -> tuple[Cell, ...]:
    """Cells of texts."""
    return tuple(Cell(text) for text in texts)


def gates(view: View) -> Section | None:
    """Thresholds with what became of them, missed ones first, then unanswered ones."""
    order = {False: 0, None: 1, True: 2}
    given = sorted(view.report.gates, key=lambda gate: order[gate.met])
    rows = tuple((gate_name(gate), _gate(gate)) for gate in given)
    hint = (
        "A threshold is unanswered where there is no value, or where rows that failed and questions without an answer could decide it: "
        "it is never counted as met."
    )
    return Section("gates", "Gates", hint, (Grid("", ("gate", "system", "result", "value"), rows, words=2),)) if rows else None


def _gate(gate: GateResult) -> tuple[Cell, ...]:
    result = {True: "met", False: "MISSED", None: "unanswered"}[gate.met]
    return Cell(word(gate.system)), Cell(result, bad=gate.met is False), Cell(figure(gate.value))


def scores(view: View) -> Section | None:
    """Metrics by systems: the mean with its interval, how many of the questions were scored; then the parts of metrics."""
    rows = tuple((metric, _scores(view, metric)) for metric in view.metrics)
    if not rows or not view.systems:
        return None
    pairs = dict.fromkeys((one.metric, part) for one in view.report.summaries for part in one.aspects)
    parts = tuple((f"{metric}: {part}", tuple(_aspect(view, system, metric, part) for system in view.systems)) for metric, part in pairs)
    grids = [Grid("", ("metric", *view.systems), rows, over="scored")]
    if parts:
        grids.append(Grid("Parts of metrics, means", ("part", *view.systems), parts, main=False))
    return Section("scores", "Scores", " ".join(_how_to_read(view)), tuple(grids))


def _how_to_read(view: View) -> list[str]:
    """What the table needs to be understood, and no more."""
    given = [one.overall for one in view.report.summaries]
    lines = ["Mean over questions [95 % interval], and how many of the questions were scored."]
    if len(view.systems) > 1:
        lines.append("* = apart from all other systems.")
    if lower := [word(metric) for metric in view.metrics if view.lower(metric)]:
        lines.append(f"Lower is better: {joined(lower)}.")
    if any(mean.not_applicable for mean in given):
        lines.append("n/a: the metric has no meaning for so many questions.")
    if any(mean.low is not None and mean.low == mean.high for mean in given):
        lines.append("No interval: all values are the same.")
    return lines


def _scores(view: View, metric: str) -> tuple[Cell, ...]:
    place = standing(view, metric)
    first = place.order[0][0] if place and place.clear else None
    lower = view.lower(metric)
    return tuple(cell(view.mean(system, metric), lower=lower, best=system == first) for system in view.systems)


def _aspect(view: View, system: str, metric: str, part: str) -> Cell:
    found = view.summaries.get((system, metric))
    return Cell(number(round(value, 4)) if found and (value := found.aspects.get(part)) is not None else "-")


def systems(view: View) -> Section | None:
    """What each system handed in."""
    given = view.report.systems
    rows = tuple(
        (one.system, plain(*map(number, (one.answers, one.errors, one.empty, one.questions_missing, one.trials)))) for one in given
    )
    heads = ("system", "answers", "errors", "empty", "questions without answer", "repetitions")
    hint = "An empty answer scores 0 on correctness, never 1. Systems that answered different questions are compared with care."
    return Section("systems", "Answers read", hint, (Grid("", heads, rows),)) if rows else None


def types(view: View) -> Section | None:
    """One table a level: systems by the metrics that have scores there (GraphRAG-Bench's tables 3 and 9, a block of columns each).

    With many metrics, metrics by systems, and only in the long forms: nobody reads a line of 60 figures.
    """
    table = view.groups.get("level", {})
    levels = list(dict.fromkeys(level for values in table.values() for level in values))
    order = [*(level for level in LEVELS_OF_X if level in levels), *(level for level in levels if level not in LEVELS_OF_X)]
    grids = []
    for level in order:
        metrics = [metric for metric in view.metrics if any(_has(mean) for mean in table.get(metric, {}).get(level, {}).values())]
        if metrics and view.systems:
            grids.append((level, metrics))
    hint = "Means over the questions of one type, as in the tables of GraphRAG-Bench (there in percent)."
    shape = _tall if max((len(metrics) for _, metrics in grids), default=0) > MOST_ACROSS else _across
    return Section("types", "By question type", hint, tuple(shape(view, *one) for one in grids)) if grids else None


def _across(view: View, level: str, metrics: list[str]) -> Grid:
    """Systems by metrics."""
    rows = tuple((system, tuple(_of_level(view, level, system, metric, short=True) for metric in metrics)) for system in view.systems)
    return Grid(level_title(level), ("system", *metrics), rows, bare=True)


def _tall(view: View, level: str, metrics: list[str]) -> Grid:
    """Metrics by systems."""
    rows = tuple((metric, tuple(_of_level(view, level, system, metric) for system in view.systems)) for metric in metrics)
    return Grid(level_title(level), ("metric", *view.systems), rows, main=False, over="scored")


def _of_level(view: View, level: str, system: str, metric: str, *, short: bool = False) -> Cell:
    return cell(view.groups["level"][metric][level].get(system), lower=view.lower(metric), short=short)


def _has(mean: Mean) -> bool:
    return mean.n > mean.not_applicable


def leaderboard(view: View) -> Section | None:
    """Systems by rank; the mean over the types and the mean over questions stand side by side, each under its name."""
    grids = []
    for dataset, metric in dict.fromkeys((row.dataset, row.metric) for row in view.report.leaderboard):
        given = [row for row in view.report.leaderboard if (row.dataset, row.metric) == (dataset, metric)]
        levels = [level for level in LEVELS_OF_X if any(level in row.levels for row in given)]
        levels += sorted({level for row in given for level in row.levels} - set(levels))
        rows = tuple(
            (row.system, (
                Cell(number(row.rank)), Cell(figure(row.average), "" if row.complete else f"{len(row.levels)} types only"),
                Cell(_by_question(view, row)), *(Cell(figure(row.levels.get(level))) for level in levels),
            ))
            for row in sorted(given, key=lambda row: row.rank)
        )
        heads = ("system", "rank", "mean of types", "mean of questions", *(level_title(level) for level in levels))
        grids.append(Grid(metric + (f", dataset {dataset}" if dataset else ""), heads, rows))
    hint = (
        "Mean of types: unweighted mean of the types' means, the average that GraphRAG-Bench ranks by. "
        "Mean of questions: every question counts the same."
    )
    return Section("leaderboard", "Leaderboard", hint, tuple(grids)) if grids else None


def _by_question(view: View, row: LeaderRow) -> str:
    if row.dataset is None:  # beside questions with a dataset, the mean of those without one is not in the report
        mean = None if view.groups.get("dataset", {}).get(row.metric) else view.mean(row.system, row.metric)
    else:
        mean = view.groups.get("dataset", {}).get(row.metric, {}).get(row.dataset, {}).get(row.system)
    return figure(mean.mean if mean else None)


def groups(view: View) -> Section | None:
    """Values of hops, kind, document and dataset by systems, a table for each metric, the verdict's metric first and in the short forms
    too. Of hops one table for all metrics, if they are few: it shows at which depth retrieval and answers give way."""
    grids = []
    for by in ("hops", "kind", "document", "dataset"):
        table = view.groups.get(by, {})
        metrics = sorted(table, key=lambda name: (name != view.headline, view.metrics.index(name) if name in view.metrics else 0))
        rows = {metric: _by_value(view, by, metric) for metric in metrics}
        several = [metric for metric in metrics if len(rows[metric]) > 1]  # a single group is the whole
        heads = (BY_WORDS[by], *view.systems)
        if by == "hops" and 1 < len(several) <= MOST_ACROSS:
            joint = tuple((f"{metric}, {_hops(name)}", cells) for metric in several for name, cells in rows[metric])
            grids.append(Grid("By hops", ("metric, hops", *view.systems), joint, over="scored"))
            continue
        for metric in several:
            grids.append(Grid(f"By {BY_WORDS[by]}: {metric}", heads, rows[metric], main=metric == view.headline, over="scored"))
    hint = "The same means over parts of the questions. Small groups have wide intervals: read them as hints."
    return Section("groups", "By hops, kind, document, dataset", hint, tuple(grids)) if grids else None


def _by_value(view: View, by: By, metric: str) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """A metric's groups by one field: value, and a cell a system."""
    table = view.groups[by][metric]
    names = sorted(table, key=lambda value: _place(by, value, table[value].values()))
    return tuple((name, tuple(cell(table[name].get(system), lower=view.lower(metric)) for system in view.systems)) for name in names)


def _hops(value: str) -> str:
    return f"{value} hop" + ("" if value == "1" else "s")


def _place(by: By, value: str, means: object) -> tuple[float, str]:
    """Hops by number; other values the largest first."""
    if by == "hops":
        digits = value.rstrip("+")
        return (float(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else float("inf")), value
    return -max((mean.n for mean in means), default=0), value  # type: ignore[attr-defined]


def failures(view: View) -> Section | None:
    """What could not be scored, by cause, most first; the mean with all failed rows as 0 and as 1."""
    failed = [one for one in view.report.summaries if sum(one.overall.failures.values())]
    failed.sort(key=lambda one: (-sum(one.overall.failures.values()), one.metric, one.system))
    rows = tuple((one.metric, (Cell(word(one.system)), *_failed(one.overall))) for one in failed)
    hint = "The mean is over scored rows only. Bounds: the mean if all failed rows had scored 0, and if they had scored 1."
    heads = ("metric", "system", "causes", "failed", "mean", "bounds")
    return Section("failures", "Failed rows", hint, (Grid("", heads, rows, words=2),)) if rows else None


def _failed(mean: Mean) -> tuple[Cell, ...]:
    share = f"{number(sum(mean.failures.values()))}/{number(mean.n)}"
    return plain(causes(mean.failures), share, figure(mean.mean), between(mean.bound_low, mean.bound_high) or "-")


def repeats(view: View) -> Section | None:
    """Spread between repeated runs beside the interval over questions; the two answer different questions and are never mixed."""
    rows = tuple(
        (one.metric, (
            Cell(word(one.system)), Cell(number(one.repeats.runs), _first(one.repeats.means)),
            *plain(figure(one.repeats.sd), figure(one.repeats.se), between(one.overall.low, one.overall.high) or "-"),
        ))
        for one in view.report.summaries if one.repeats is not None
    )
    heads = ("metric", "system", "runs", "sd between runs", "standard error", "95 % over questions")
    hint = "Between runs: how much the judging itself varies. Over questions: how much another set of questions could change the mean."
    return Section("repeats", "Repeated runs", hint, (Grid("", heads, rows, words=1, bare=True),)) if rows else None


def _first(means: list[float]) -> str:
    return ", ".join(figure(mean) for mean in means[:5]) + (" ..." if len(means) > 5 else "")


def gains(view: View) -> Section | None:
    """Differences between systems on the questions that both have a score for."""
    rows = []
    for gain in sorted(view.report.gains, key=lambda gain: gain.metric != view.headline):
        up = ((gain.mean or 0.0) > 0) is not view.lower(gain.metric)
        told = ("better" if up else "worse") if is_significant(gain) else "no clear difference"
        words = (word(gain.system), word(gain.baseline), told)
        rows.append((gain.metric, plain(*words, difference(gain.mean, gain.low, gain.high), number(gain.n))))
    hint = (
        "System minus baseline, question by question, with the 95 % interval. n: questions that both have a score for. Better or worse: "
        f"the interval leaves 0 out, with {LEAST} questions or more and {LEAST_DIFFER} that differ."
    )
    heads = ("metric", "system", "baseline", "system is", "difference", "n")
    return Section("gains", "Differences between systems", hint, (Grid("", heads, tuple(rows), words=3),)) if rows else None


def audit(view: View) -> Section | None:
    """Questions that touch what the audit flagged, against the others."""
    rows = tuple(
        (one.metric, (
            *plain(word(one.system), "any rule" if one.rule is None else word(one.rule)),
            Cell(figure(one.touched.mean), scored(one.touched)),
            Cell(figure(one.untouched.mean), scored(one.untouched)), Cell(difference(one.difference, one.low, one.high)),
        ))
        for one in sorted(view.report.joined, key=lambda one: (one.metric != view.headline, one.rule is not None))
    )
    hint = (
        "Questions whose path or evidence touches an entity or relation that the audit flagged, against the others; the difference is "
        "touched minus untouched with its 95 % interval. A difference is no proof of cause: flagged parts may hold harder questions."
    )
    heads = ("metric", "system", "rule", "touched", "untouched", "difference")
    return Section("audit", "Scores and the graph's faults", hint, (Grid("", heads, rows, words=2),)) if rows else None
