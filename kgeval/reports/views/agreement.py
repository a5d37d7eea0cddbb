"""Agreement with people, and metrics against metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kgeval.format import figure as plain
from kgeval.format import interval, joined, number, plural
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
from kgeval.reports.document import Cell, Document, Section, Table, Text
from kgeval.reports.measures import causes

NONE = "-"
MOST_COLUMNS = 8  # of a matrix on a terminal
_MORE = "All tables with intervals, by level and data set: add -o report.html"
PAIR_TITLES = {
    "context_relevancy": "question and contexts", "factual_correctness": "answer and reference", "faithfulness": "answer and contexts",
    "answer_relevancy": "question and answer",
}


def agreement(report: AgreementReport) -> Document:
    """How far people agree, what is nearest to them, and all tables; by level and data set in the long forms."""
    return Document(
        "Agreement with people", "annotate agreement", list(_sections(report)), about=_read(report), lead=verdict(report),
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


def _read(report: AgreementReport) -> str:
    what = "pair" if report.scope == "pairs" else "answer"
    return (
        f"{plural(report.labels, 'label')} of {plural(len(report.annotators), 'annotator')} on {plural(report.items, what)} "
        f"({plural(report.questions, 'question')}), seed {report.seed}."
    )


def verdict(report: AgreementReport) -> list[str]:
    """The sentences that a reader takes away: how far people agree, what is nearest to them."""
    lines = []
    for one in (one for one in report.people if one.by == "all"):
        alpha = one.alpha_ordinal
        if alpha.value is None:
            lines.append(f"{one.aspect}: nothing can be said of how far people agree ({plural(one.items_twice, 'item')} with two labels).")
        else:
            told = f", 95 %: {between(alpha)}" if between(alpha) else ""
            lines.append(f"{one.aspect}: people agree with alpha {figure(alpha.value)} (ordinal{told}; {plural(one.items_twice, 'item')}).")
    for aspect in aspects(report):
        near = [one for one in report.nearest if one.aspect == aspect]
        if near:
            lines.append(f"{aspect}: {_nearest_of(near)}")
        fitting = [one for one in report.predictors if one.by == "all" and one.fits and one.aspect == aspect]
        own = sorted(((value, one.predictor) for one in fitting if (value := one.spearman.value) is not None), reverse=True)
        if own:
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
    yield _table("With people", ("", *aspects(report), "labels"), _predictors(report), (
        "Spearman's correlation with the labels, each label a row; 95 % interval over questions. The other people are the ceiling: nothing "
        "can be expected to agree with people better than they do themselves."
    ))
    if any(one.fits for one in report.predictors):
        yield _dimensions(report)
    if report.scope == "pairs":
        yield _choices(report)
    yield _people([one for one in report.people if one.by == "all"], "People with each other")
    yield _pairs(report)
    yield _each(report)
    yield from _groups(report)
    yield _nearest(report)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], hint: str = "", *, main: bool = True) -> Section:
    """A table under its title. `main`: also on a terminal."""
    named = [(replace(row[0], user=True), *row[1:]) for row in rows]
    words = frozenset({0, 1}) if len(head) > 1 and head[1] == "aspect" else frozenset({0})
    return Section(title, [Table(head, named, words=words, short=100)] if named else [], hint=hint, forms="all" if main else "long")


def _predictors(report: AgreementReport) -> list[tuple[Cell, ...]]:
    """Predictor x aspect: Spearman."""
    whole = [one for one in report.predictors if one.by == "all"]
    return [_row(name, [_find(whole, name, aspect) for aspect in aspects(report)]) for name in _names(whole)]


def _names(found: Iterable[PredictorAgreement]) -> list[str]:
    return list(dict.fromkeys(one.predictor for one in found))


def _find(found: Iterable[PredictorAgreement], name: str, aspect: str) -> PredictorAgreement | None:
    return next((one for one in found if (one.predictor, one.aspect) == (name, aspect)), None)


def _row(name: str, found: Sequence[PredictorAgreement | None]) -> tuple[Cell, ...]:
    """A predictor's Spearman in each column, and over how many labels: in the last column, or in the cell where it differs."""
    usual = max((one.n for one in found if one is not None), default=0)
    return Cell(name), *(_spearman(one, usual) for one in found), Cell(number(usual))


def _spearman(one: PredictorAgreement | None, usual: int | None = None) -> Cell:
    if one is None:
        return Cell("")
    missing = sum(one.missing.values())
    told = [] if one.n == usual else [f"n {number(one.n)}"]
    told += [f"{plural(missing, 'item')} without: {causes(one.missing)}"] if missing else []
    if one.spearman.value is None:
        return Cell(NONE, ", ".join([*([one.reason] if one.reason else []), *told]))
    found = cell(one.spearman, shaded=True)
    return replace(found, note=", ".join([*([found.note] if found.note else []), *told]))


def _dimensions(report: AgreementReport) -> Section:
    """Each aspect with the metrics and judges of that very aspect, and the other people above them [D figure 1 c]."""
    whole = [one for one in report.predictors if one.by == "all"]
    rows = [
        (
            Cell(one.predictor), Cell(aspect), cell(one.spearman, shaded=True), cell(one.pearson), cell(one.spearman_mean),
            Cell(number(one.n)),
        )
        for aspect in aspects(report) if any(one.fits and one.aspect == aspect for one in whole)
        for one in whole if one.aspect == aspect and (one.fits or one.kind == "people")
    ]
    return _table(
        "By dimension, with what measures it", ("", "aspect", "Spearman", "Pearson", "Spearman with mean label", "labels"), rows,
        "Only metrics and judges of the same dimension; the other people are the ceiling. Spearman with mean label: an item counts once.",
    )


def _choices(report: AgreementReport) -> Section:
    whole = [one for one in report.predictors if one.by == "all"]
    rows = []
    for one in whole:
        rows.append((
            Cell(one.predictor), Cell(one.aspect), cell(one.concordance), cell(one.kendall), cell(one.pearson), cell(one.spearman_mean),
            cell(one.winner), cell(one.winner_kappa), Cell(number(one.items)),
        ))
    return _table(
        "The same in other figures",
        ("", "aspect", "preferred scores higher", "Kendall tau-b", "Pearson", "Spearman with mean label", "same winner", "kappa", "items"),
        rows, "Preferred scores higher: among labels that prefer a side, equal values half. Same winner and its kappa: judges only.",
        main=False,
    )


def _people(found: Sequence[PeopleAgreement], title: str, *, main: bool = True) -> Section:
    rows = [
        (
            Cell(one.aspect if main else f"{one.value}: {one.aspect}"), cell(one.alpha_ordinal, shaded=True), cell(one.alpha_interval),
            cell(one.alpha_nominal), cell(one.raw), cell(one.within_one), Cell(number(one.items_twice), f"of {number(one.items)}"),
            Cell(number(one.tied)),
        ) for one in found
    ]
    return _table(
        title, ("aspect", "alpha, ordinal", "alpha, interval", "alpha, nominal", "same label", "at most 1 apart", "items", "no majority"),
        rows, "Krippendorff's alpha: 1 full agreement, 0 what chance gives. Items: with two labels or more.", main=main,
    )


def _pairs(report: AgreementReport) -> Section:
    rows = [
        (
            Cell(f"{one.first} and {one.second}"), Cell(one.aspect), cell(one.quadratic), cell(one.linear), cell(one.kappa), cell(one.raw),
            cell(one.within_one), Cell(number(one.n)),
        ) for one in report.pairs
    ]
    return _table(
        "Every two people", ("", "aspect", "kappa, quadratic", "kappa, linear", "kappa", "same label", "at most 1 apart", "items"), rows,
        "Cohen's kappa with weights by squared steps, by steps, without weights.", main=len(rows) <= 12,
    )


def _each(report: AgreementReport) -> Section:
    rows = [
        (
            Cell(one.annotator), Cell(one.aspect), cell(one.spearman, shaded=True), cell(one.bias), Cell(number(one.n)),
            Cell(", ".join(f"{label}: {n}" for label, n in one.used.items())),
        ) for one in report.each
    ]
    return _table(
        "Each person against the others", ("", "aspect", "Spearman", "label minus others", "items", "labels used"), rows,
        "Against the mean label of the others on the same item.", main=False,
    )


def _groups(report: AgreementReport) -> Iterator[Section]:
    for by in ("level", "dataset", "difficulty"):
        parts = [one for one in report.predictors if one.by == by]
        values = list(dict.fromkeys(one.value or "" for one in parts))
        for aspect in aspects(report) if values else ():
            own = [one for one in parts if one.aspect == aspect]
            rows = [
                (Cell(name), *(_spearman(next((o for o in own if (o.predictor, o.value) == (name, value)), None)) for value in values))
                for name in _names(own)
            ]
            yield _table(f"With people in {aspect}, by {by}", ("", *values), rows, "Spearman's correlation with the labels.", main=False)
        people = [one for one in report.people if one.by == by]
        if people:
            yield _people(people, f"People with each other, by {by}", main=False)


def _nearest(report: AgreementReport) -> Section:
    rows = [
        (
            Cell(one.predictor), Cell(one.aspect), Cell(number(one.rank)), Cell(figure(one.spearman)), cell(one.behind),
            Cell({True: "yes", False: "no", None: NONE}[one.told_apart]), Cell(number(one.n)),
        ) for one in report.nearest
    ]
    return _table(
        "Which is nearest to people", ("", "aspect", "place", "Spearman", "behind the nearest", "told apart", "labels"), rows,
        "On the labels for which every metric and judge has a value. Told apart: the interval of the difference does not hold 0.",
        main=False,
    )


def _squares(report: MatrixReport) -> Iterator[Section]:
    for group in report.groups:
        hint = ""
        if group.constant:
            told = joined([f"{name} (always {value:g})" for name, value in group.constant.items()])
            hint = f"Always the same value, so no correlation: {told}."
        title, heads, square = matrix_title(group), ("", *group.metrics), _square(group)
        wide = len(group.metrics) > MOST_COLUMNS
        yield _table(title, heads, square, hint, main=group.by == "all" and not wide)
        if wide and group.by == "all":
            size = f"{len(square)} by {len(group.metrics)}: too wide for a terminal, see the report."
            yield Section(title, [Text(size, style="hint")], forms="short")


def matrix_title(group: MatrixGroup) -> str:
    """`All answers`, `novel`, `answer and contexts, novel`."""
    if group.by == "all":
        return "All answers"
    if group.by == "dataset":
        return f"Data set {group.value}"
    title = PAIR_TITLES.get(group.value or "", group.value or "")
    return f"Metrics of {title}" + (f", data set {group.dataset}" if group.dataset else "")


def _square(group: MatrixGroup) -> list[tuple[Cell, ...]]:
    found = {(one.first, one.second): one for one in group.cells} | {(one.second, one.first): one for one in group.cells}
    rows = []
    for metric in group.metrics:
        row = [Cell(metric)]
        for other in group.metrics:
            one = found.get((metric, other))
            row.append(Cell("", f"n {number(group.n.get(metric, 0))}") if one is None else _matrix_cell(one))
        rows.append(tuple(row))
    return rows


def _matrix_cell(one: MatrixCell) -> Cell:
    if one.value is None:
        return Cell(NONE, f"n {number(one.n)}")
    told = f"{between(one)}, n {number(one.n)}".removeprefix(", ")
    return Cell(figure(one.value), told, shade=round(10 * one.value))
