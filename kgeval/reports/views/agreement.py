"""Agreement with people, and metrics against metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kgeval.format import NONE, interval, joined, number, plural
from kgeval.format import figure as plain
from kgeval.records import (
    AgreementReport,
    Estimated,
    MatrixCell,
    MatrixGroup,
    MatrixReport,
    Nearest,
    PeopleAgreement,
    PredictorAgreement,
)
from kgeval.reports.document import Cell, Document, Section, Table, Text, as_cell, columns
from kgeval.reports.measures import causes

MOST_COLUMNS = 8  # of a matrix on a terminal
_MORE = "All tables with intervals, by level and data set: add -o report.html"
PAIR_TITLES = {
    "context_relevancy": "question and contexts", "factual_correctness": "answer and reference", "faithfulness": "answer and contexts",
    "answer_relevancy": "question and answer",
}


def agreement(report: AgreementReport) -> Document:
    """How far people agree, what is nearest to them, and all tables; by level and data set in the long forms."""
    what = "pair" if report.scope == "pairs" else "answer"
    about = (
        f"{plural(report.labels, 'label')} of {plural(len(report.annotators), 'annotator')} on {plural(report.items, what)} "
        f"({plural(report.questions, 'question')}), seed {report.seed}."
    )
    return Document(
        "Agreement with people", "annotate agreement", list(_sections(report)), about=about, lead=verdict(report),
        notes=report.notes, more=_MORE,
    )


def matrix(report: MatrixReport) -> Document:
    """A square a group; on a terminal the first, where it is narrow enough."""
    about = f"{plural(report.questions, 'question')}, {plural(len(report.systems), 'system')}, {report.coefficient}, seed {report.seed}."
    return Document(
        "Metrics beside metrics", "metrics correlate", list(_squares(report)), about=about, notes=report.notes, more=_MORE,
    )


def figure(value: float | None) -> str:
    """Two digits with a sign where it is negative; - where there is none."""
    return plain(value, digits=2)


def between(one: Estimated | MatrixCell) -> str:
    """`0.32 to 0.56`, or nothing where there is no interval with a width."""
    return interval(one.low, one.high, figure)


def cell(one: Estimated, *, shaded: bool = False) -> Cell:
    """A figure with its interval."""
    shade = round(10 * max(-1.0, min(1.0, one.value))) if shaded and one.value is not None else 0
    return Cell(figure(one.value), between(one), shade=shade)


def aspects(report: AgreementReport) -> list[str]:
    """In the order of the labels."""
    return list(dict.fromkeys(one.aspect for one in report.people))


def verdict(report: AgreementReport) -> list[str]:
    """The sentences that a reader takes away: how far people agree, what is nearest to them."""
    lines = []
    for one in (one for one in report.people if one.by == "all"):
        alpha, twice = one.alpha_ordinal, plural(one.items_twice, "item")
        ends = f", 95 %: {between(alpha)}" if between(alpha) else ""
        lines.append(
            f"{one.aspect}: nothing can be said of how far people agree ({twice} with two labels)." if alpha.value is None
            else f"{one.aspect}: people agree with alpha {figure(alpha.value)} (ordinal{ends}; {twice})."
        )
    for aspect in aspects(report):
        if near := [one for one in report.nearest if one.aspect == aspect]:
            lines.append(f"{aspect}: {_nearest_of(near)}")
        fitting = [one for one in report.predictors if one.by == "all" and one.fits and one.aspect == aspect]
        if own := sorted(((value, one.predictor) for one in fitting if (value := one.spearman.value) is not None), reverse=True):
            lines.append(f"{aspect}: its own metrics and judges: {joined([f'{name} {figure(value)}' for value, name in own], 4)}.")
    return lines


def _nearest_of(near: Sequence[Nearest]) -> str:
    """`nearest to people is token_f1 (Spearman 0.55, n 278; not told apart from it: rouge_l).`; of equal ones all are named."""
    first = [one for one in near if one.rank == near[0].rank]
    even = [one.predictor for one in near if one.rank != near[0].rank and one.told_apart is False]
    whose, it = ("is", "it") if len(first) == 1 else ("are, equally,", "them")
    also = f"; not told apart from {it}: {joined(even[:4])}" + (", ..." if len(even) > 4 else "") if even else ""
    names = joined([one.predictor for one in first], 4)
    return f"nearest to people {whose} {names} (Spearman {figure(first[0].spearman)}, n {first[0].n}{also})."


def _sections(report: AgreementReport) -> Iterator[Section]:
    """All tables of a report on agreement, in order."""
    whole = [one for one in report.predictors if one.by == "all"]
    names = list(dict.fromkeys(one.predictor for one in whole))
    yield _section("With people", Table(("", *aspects(report), "labels"), [
        _row(name, [_find(whole, name, aspect=aspect) for aspect in aspects(report)]) for name in names
    ]), (
        "Spearman's correlation with the labels, each label a row; 95 % interval over questions. The other people are the ceiling: nothing "
        "can be expected to agree with people better than they do themselves."
    ))
    if any(one.fits for one in report.predictors):  # each aspect with what measures it, the other people above [D figure 1 c]
        fitting = {one.aspect for one in whole if one.fits}
        yield _section("By dimension, with what measures it", columns([
            one for aspect in aspects(report) if aspect in fitting
            for one in whole if one.aspect == aspect and (one.fits or one.kind == "people")
        ], {
            "": lambda one: one.predictor,
            "aspect": lambda one: one.aspect,
            "Spearman": lambda one: cell(one.spearman, shaded=True),
            "Pearson": lambda one: cell(one.pearson),
            "Spearman with mean label": lambda one: cell(one.spearman_mean),
            "labels": lambda one: number(one.n),
        }), (
            "Only metrics and judges of the same dimension; the other people are the ceiling. Spearman with mean label: an item counts "
            "once."
        ))
    if report.scope == "pairs":
        yield _section("The same in other figures", columns(whole, {
            "": lambda one: one.predictor,
            "aspect": lambda one: one.aspect,
            "preferred scores higher": lambda one: cell(one.concordance),
            "Kendall tau-b": lambda one: cell(one.kendall),
            "Pearson": lambda one: cell(one.pearson),
            "Spearman with mean label": lambda one: cell(one.spearman_mean),
            "same winner": lambda one: cell(one.winner),
            "kappa": lambda one: cell(one.winner_kappa),
            "items": lambda one: number(one.items),
        }), (
            "Preferred scores higher: among labels that prefer a side, equal values half. Same winner and its kappa: judges only."
        ), main=False)
    yield _people([one for one in report.people if one.by == "all"], "People with each other")
    yield _section("Every two people", columns(report.pairs, {
        "": lambda one: f"{one.first} and {one.second}",
        "aspect": lambda one: one.aspect,
        "kappa, quadratic": lambda one: cell(one.quadratic),
        "kappa, linear": lambda one: cell(one.linear),
        "kappa": lambda one: cell(one.kappa),
        "same label": lambda one: cell(one.raw),
        "at most 1 apart": lambda one: cell(one.within_one),
        "items": lambda one: number(one.n),
    }), "Cohen's kappa with weights by squared steps, by steps, without weights.", main=len(report.pairs) <= 12)
    yield _section("Each person against the others", columns(report.each, {
        "": lambda one: one.annotator,
        "aspect": lambda one: one.aspect,
        "Spearman": lambda one: cell(one.spearman, shaded=True),
        "label minus others": lambda one: cell(one.bias),
        "items": lambda one: number(one.n),
        "labels used": lambda one: ", ".join(f"{label}: {n}" for label, n in one.used.items()),
    }), "Against the mean label of the others on the same item.", main=False)
    yield from _groups(report)
    yield _section("Which is nearest to people", columns(report.nearest, {
        "": lambda one: one.predictor,
        "aspect": lambda one: one.aspect,
        "place": lambda one: number(one.rank),
        "Spearman": lambda one: figure(one.spearman),
        "behind the nearest": lambda one: cell(one.behind),
        "told apart": lambda one: {True: "yes", False: "no", None: NONE}[one.told_apart],
        "labels": lambda one: number(one.n),
    }), (
        "On the labels for which every metric and judge has a value. Told apart: the interval of the difference does not hold 0."
    ), main=False)


def _section(title: str, table: Table, hint: str = "", *, main: bool = True) -> Section:
    """A table under its title; the names of its rows are those of users' metrics, judges and labellers. `main`: also on a terminal."""
    rows = [(replace(as_cell(row[0]), user=True), *row[1:]) for row in table.rows]
    words = frozenset({0, 1}) if list(table.head[1:2]) == ["aspect"] else frozenset({0})
    given = replace(table, rows=rows, words=words, short=100)
    return Section(title, [given], hint=hint, forms="all" if main else "long")


def _find(given: Iterable[PredictorAgreement], name: str, **where: str) -> PredictorAgreement | None:
    """The agreement of a metric or judge, of an aspect or of a value."""
    return next((one for one in given if one.predictor == name and all(getattr(one, key) == value for key, value in where.items())), None)


def _row(name: str, found: Sequence[PredictorAgreement | None]) -> tuple[Cell, ...]:
    """A predictor's Spearman in each column, and over how many labels: in the last column, or in the cell where it differs."""
    usual = max((one.n for one in found if one is not None), default=0)
    return Cell(name), *(_spearman(one, usual) for one in found), Cell(number(usual))


def _spearman(one: PredictorAgreement | None, usual: int | None = None) -> Cell:
    if one is None:
        return Cell("")
    missing = sum(one.missing.values())
    known = cell(one.spearman, shaded=True) if one.spearman.value is not None else Cell(NONE, one.reason or "")
    notes = (
        known.note, "" if one.n == usual else f"n {number(one.n)}",
        f"{plural(missing, 'item')} without: {causes(one.missing)}" if missing else "",
    )
    return replace(known, note=", ".join(filter(None, notes)))


def _people(given: Sequence[PeopleAgreement], title: str, *, main: bool = True) -> Section:
    return _section(title, columns(given, {
        "aspect": lambda one: one.aspect if main else f"{one.value}: {one.aspect}",
        "alpha, ordinal": lambda one: cell(one.alpha_ordinal, shaded=True),
        "alpha, interval": lambda one: cell(one.alpha_interval),
        "alpha, nominal": lambda one: cell(one.alpha_nominal),
        "same label": lambda one: cell(one.raw),
        "at most 1 apart": lambda one: cell(one.within_one),
        "items": lambda one: Cell(number(one.items_twice), f"of {number(one.items)}"),
        "no majority": lambda one: number(one.tied),
    }), "Krippendorff's alpha: 1 full agreement, 0 what chance gives. Items: with two labels or more.", main=main)


def _groups(report: AgreementReport) -> Iterator[Section]:
    for by in ("level", "dataset", "difficulty"):
        parts = [one for one in report.predictors if one.by == by]
        values = list(dict.fromkeys(one.value or "" for one in parts))
        for aspect in aspects(report) if values else ():
            own = [one for one in parts if one.aspect == aspect]
            yield _section(f"With people in {aspect}, by {by}", Table(("", *values), [
                (name, *(_spearman(_find(own, name, value=value)) for value in values))
                for name in dict.fromkeys(one.predictor for one in own)
            ]), "Spearman's correlation with the labels.", main=False)
        if people := [one for one in report.people if one.by == by]:
            yield _people(people, f"People with each other, by {by}", main=False)


def _squares(report: MatrixReport) -> Iterator[Section]:
    for group in report.groups:
        constant = joined([f"{name} (always {value:g})" for name, value in group.constant.items()])
        hint = f"Always the same value, so no correlation: {constant}." if constant else ""
        wide, table = len(group.metrics) > MOST_COLUMNS, Table(("", *group.metrics), _square(group))
        yield _section(matrix_title(group), table, hint, main=group.by == "all" and not wide)
        if wide and group.by == "all":
            size = f"{len(group.metrics)} by {len(group.metrics)}: too wide for a terminal, see the report."
            yield Section(matrix_title(group), [Text(size, style="hint")], forms="short")


def matrix_title(group: MatrixGroup) -> str:
    """`All answers`, `novel`, `answer and contexts, novel`."""
    if group.by == "all":
        return "All answers"
    if group.by == "dataset":
        return f"Data set {group.value}"
    title = PAIR_TITLES.get(group.value or "", group.value or "")
    return f"Metrics of {title}" + (f", data set {group.dataset}" if group.dataset else "")


def _square(group: MatrixGroup) -> list[list[Cell]]:
    """Each metric with each other; on the diagonal how many values it has."""
    cells = {(one.first, one.second): one for one in group.cells} | {(one.second, one.first): one for one in group.cells}
    own = {metric: Cell("", f"n {number(group.n.get(metric, 0))}") for metric in group.metrics}
    return [
        [Cell(metric), *(_matrix_cell(one) if (one := cells.get((metric, other))) else own[metric] for other in group.metrics)]
        for metric in group.metrics
    ]


def _matrix_cell(one: MatrixCell) -> Cell:
    note = ", ".join(filter(None, [between(one), f"n {number(one.n)}"]))
    return Cell(NONE, f"n {number(one.n)}") if one.value is None else Cell(figure(one.value), note, shade=round(10 * one.value))
