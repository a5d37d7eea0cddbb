"""A matrix of runs: a metric by data set and as the mean, and what each change does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.format import bracketed, chance, figure, number, percent, plural
from kgeval.records import CrossedCell, CrossedChange, CrossedReport, Mean, RunPlace
from kgeval.reports.document import Cell, Document, Figure, Section, Table
from kgeval.reports.plots_crossed import Curve, curves
from kgeval.reports.plots_scores import distribution

AXES = {
    "setting": "One setting of a system changed", "variant": "The graph built otherwise", "share": "Less of the corpus",
    "reader": "Another reader",
}
MEAN = "mean over data sets"
ALL = "all questions"
MOST_PLOTS = 60
MEANING = (
    "Each value is a mean over questions with its 95 % interval; a mean over data sets weighs each of them the same. A change is the mean "
    "of paired differences, changed minus base, over the questions that both have a value for; p: sign-flip, corrected over the whole "
    "report (Holm)."
)


def document(report: CrossedReport) -> Document:
    """All metrics of every system and variant, what one change does, plots over shares of the corpus, then metric by metric."""
    of_metrics, changes, values = list(metric_tables(report)), list(change_tables(report)), list(value_tables(report))
    by = ", by data set and as their mean" if len(report.datasets) > 1 else ""
    sections = [
        Section("Every system and variant, all metrics", of_metrics, id="all"), Section("What one change does", changes, id="changes"),
        Section("Against the share of the corpus", list(_plots(report)), id="plots", forms="page"),
        Section("How the values lie", list(spread_tables(report)), id="spreads", forms="page", hint=(
            "Over questions, from 0 to 1: bars for how many, each drawing with its own height; the upright line is the mean; below them "
            "the box from quartile to quartile with the median."
        )),
        Section(f"Metric by metric{by}", values, id="values", forms="all" if len(report.metrics) == 1 else "long"),
    ]
    sizes = f"{plural(len(report.systems), 'system')}, {plural(len(report.metrics), 'metric')}"
    return Document(
        "Matrix of runs", "matrix", [one for one in sections if one.blocks], about=sizes, lead=lead(report), notes=report.notes,
        foot=[MEANING], more="All tables and plots: add -o matrix.html",
    )


def lead(report: CrossedReport) -> list[str]:
    """What was crossed, and what is missing."""
    parts = [
        plural(len(names), noun) for names, noun in (
            (report.datasets, "data set"), (report.variants, "graph variant"), (report.shares, "corpus share"),
            (report.readers, "reader"), (report.systems, "system"), (report.metrics, "metric"),
        ) if names
    ]
    lines = ["Crossed: " + ", ".join(parts) + "."]
    if report.missing:
        lines.append(f"Without scores, and in no table: {', '.join(report.missing)}.")
    if report.known:
        counts = sorted(one.left_out.left_out for one in report.known)
        many = number(counts[0]) if counts[0] == counts[-1] else f"{number(counts[0])} to {number(counts[-1])}"
        lines.append(
            f"Without the questions that a closed book answers without any text: {many} at {plural(len(counts), 'place')}; the scores of "
            "each place have the figures with them too."
        )
    good = [one for one in _main(report) if one.better]
    bad = [one for one in _main(report) if one.better is False]
    if report.changes:
        counts = f"{number(len(good))} are better and {number(len(bad))} are worse with a corrected p below 0.05"
        lines.append(f"Of {plural(len(_main(report)), 'change')} of one thing in one metric, {counts}.")
    return lines


def _main(report: CrossedReport) -> list[CrossedChange]:
    """The changes without those of single data sets, where there is their mean."""
    several = len(report.datasets) > 1
    return [one for one in report.changes if not several or one.place.dataset is None]


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> Table:
    """A table whose first `words` columns hold words."""
    return Table(head, rows, title=title, words=frozenset(range(words)), short=40)


def metric_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a data set (the mean first): a row a system and place, ablations below their system, a column a metric
    [X tables 16-17, with intervals]. None where there is one metric: its own table says the same."""
    if len(report.metrics) < 2:
        return
    cells = {(one.metric, one.system, one.place): one for one in report.cells}
    head = ("System", *_axes(report), *(name + (" (less is better)" if name in report.lower_is_better else "") for name in report.metrics))
    for scope in _scopes(report):
        rows = [
            (system, *_of_place(report, place), *(cell(cells.get((metric, system, _at(place, scope)))) for metric in report.metrics))
            for system, place in _rows(report, None) if any((metric, system, _at(place, scope)) in cells for metric in report.metrics)
        ]
        if rows:
            where = f": {scope or MEAN}" if report.datasets else ""
            yield _table(f"All metrics{where}", head, rows, words=1 + len(_axes(report)))


def _scopes(report: CrossedReport) -> list[str | None]:
    """The mean over data sets, then each; the only one; or none."""
    return [None, *report.datasets] if len(report.datasets) > 1 else [report.datasets[0] if report.datasets else None]


def value_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a metric: a row a system and place, a column a data set, and their mean."""
    columns: list[str | None] = [*report.datasets] if report.datasets else [None]
    means = [None] if len(report.datasets) > 1 else []
    head = ("System", *_axes(report), *(name or ALL for name in columns), *(MEAN for _ in means))
    cells = {(one.metric, one.system, one.place): one for one in report.cells}
    for metric in report.metrics:
        rows = [
            (system, *_of_place(report, place), *(cell(cells.get((metric, system, _at(place, name)))) for name in (*columns, *means)))
            for system, place in _rows(report, metric)
        ]
        less = " (less is better)" if metric in report.lower_is_better else ""
        yield _table(f"{metric}{less}", head, rows, words=1 + len(_axes(report)))


def spread_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a metric: a row a system and place, a column a data set, with bars and a box [Z figure 10]."""
    columns: list[str | None] = [*report.datasets] if report.datasets else [None]
    cells = {(one.metric, one.system, one.place): one for one in report.cells if one.spread}
    for metric in report.metrics:
        rows: list[tuple[str | Cell, ...]] = [
            (system, *_of_place(report, place), *(_drawn(cells.get((metric, system, _at(place, name)))) for name in columns))
            for system, place in _rows(report, metric) if any((metric, system, _at(place, name)) in cells for name in columns)
        ]
        if rows:
            head = ("System", *_axes(report), *(name or ALL for name in columns))
            yield Table(head, rows, title=metric, words=frozenset(range(len(head))))


def _drawn(one: CrossedCell | None) -> Cell:
    if one is None or one.spread is None:
        return Cell("–")
    return Cell(f"median {figure(one.spread.median)}", note=f"n {number(one.n_scored)}",
                svg=distribution(one.spread, Mean(n=one.n, n_scored=one.n_scored, mean=one.mean)))


def _at(place: RunPlace, dataset: str | None) -> RunPlace:
    return place.model_copy(update={"dataset": dataset})


def _rows(report: CrossedReport, metric: str | None) -> list[tuple[str, RunPlace]]:
    """The rows that a metric (null: any) has something in; a system's ablations stand below it."""
    seen = ((one.system, _at(one.place, None)) for one in report.cells if metric in (None, one.metric))
    order = {name: at for at, name in enumerate(report.systems)}

    def key(row: tuple[str, RunPlace]) -> tuple[int, tuple[int, float, int], int]:
        return order.get(row[0].partition("@")[0], order[row[0]]), _order(report, row[1]), order[row[0]]

    return sorted(dict.fromkeys(seen), key=key)


def _order(report: CrossedReport, place: RunPlace) -> tuple[int, float, int]:
    variant = report.variants.index(place.variant) if place.variant in report.variants else 0
    reader = report.readers.index(place.reader) if place.reader in report.readers else 0
    return variant, -(place.share or 0), reader


def _axes(report: CrossedReport) -> tuple[str, ...]:
    axes = (("Graph", report.variants), ("Corpus", report.shares), ("Reader", report.readers))
    return tuple(name for name, values in axes if values)


def _of_place(report: CrossedReport, place: RunPlace) -> tuple[str, ...]:
    share = "–" if place.share is None else _share(report, place)
    axes = ((report.variants, place.variant or "–"), (report.shares, share), (report.readers, place.reader or "–"))
    return tuple(text for values, text in axes if values)


def _share(report: CrossedReport, place: RunPlace) -> str:
    """`50 %`; where documents that questions name were kept on top: `50 % (10 of 11 documents, 93.1 % of the tokens)`."""
    kept = [
        one for one in report.corpora
        if one.place.share == place.share and place.variant in (None, one.place.variant) and place.dataset in (None, one.place.dataset)
    ]
    asked = percent(place.share)
    if not kept:
        return asked
    documents, of_documents = sum(one.documents for one in kept), sum(one.of_documents for one in kept)
    tokens, of_tokens = sum(one.tokens for one in kept), sum(one.of_tokens for one in kept)
    real = f", {percent(tokens / of_tokens)} of the tokens" if of_tokens else ""
    return f"{asked} ({number(documents)} of {number(of_documents)} documents{real})"


def cell(one: CrossedCell | None) -> str:
    """A mean with its interval and what it is over; a dash where nothing was measured."""
    if one is None or one.mean is None:
        return "–" if one is None else f"– (0 of {number(one.n)})"
    over = f"n {number(one.n)}" if one.n == one.n_scored else f"{number(one.n_scored)} of {number(one.n)}"
    return " ".join(filter(None, [figure(one.mean), bracketed(one.low, one.high), over]))


def change_tables(report: CrossedReport) -> Iterator[Table]:
    """One table an axis and data set (the mean first): a row a change, a column a metric [X tables 16-17]."""
    scopes = _scopes(report)
    for axis, title in AXES.items():
        for scope in scopes:
            given = [one for one in report.changes if one.axis == axis and one.place.dataset == scope]
            if given:
                where = "" if len(scopes) == 1 else f": {scope or MEAN}"
                yield _changes(report, f"{title}{where}", given)


def _changes(report: CrossedReport, title: str, given: Sequence[CrossedChange]) -> Table:
    rows: dict[tuple[str, ...], dict[str, CrossedChange]] = {}
    for one in given:
        place = _at(one.place, None)
        key = (one.system, one.base, one.changed, *_of_place(report, place))
        rows.setdefault(key, {})[one.metric] = one
    head = ("System", "Base", "Changed to", *_axes(report), *report.metrics)
    made = [(*key, *(difference(found.get(metric)) for metric in report.metrics)) for key, found in rows.items()]
    return _table(title, head, made, words=3 + len(_axes(report)))


def difference(one: CrossedChange | None) -> str:
    """A difference with its interval, n and corrected p; better and worse in a word, so that no colour is needed."""
    if one is None or one.mean is None:
        return "–"
    word = "" if one.better is None else " better" if one.better else " worse"
    p = "" if one.p_holm is None else f", p {chance(one.p_holm)}"
    ends = bracketed(one.low, one.high, lambda end: figure(end, sign=True))
    return " ".join(filter(None, [figure(one.mean, sign=True), ends, f"n {number(one.n)}{p}{word}"]))


def _plots(report: CrossedReport) -> Iterator[Figure]:
    """Every metric against the share of the corpus, by data set and as their mean."""
    if len(report.shares) < 2:
        return
    scopes: list[str | None] = [*report.datasets, *([None] if len(report.datasets) != 1 else [])]
    drawn = 0
    for metric in report.metrics:
        for scope in scopes:
            found = list(_curves(report, metric, scope))
            svg = curves(found, x="share of the corpus", y="mean", name=f"curve-{drawn}") if drawn < MOST_PLOTS else ""
            if svg:
                drawn += 1
                yield Figure(svg, f"{metric}: {scope or (MEAN if report.datasets else ALL)}", names=[one.name for one in found])


def _curves(report: CrossedReport, metric: str, dataset: str | None) -> Iterator[Curve]:
    cells = [one for one in report.cells if one.metric == metric and one.place.dataset == dataset and one.place.share is not None]
    lines = dict.fromkeys((one.system, one.place.variant, one.place.reader) for one in cells)
    for place, line in enumerate(lines, start=1):
        mine = [one for one in cells if (one.system, one.place.variant, one.place.reader) == line]
        mine.sort(key=lambda one: one.place.share or 0)
        points = tuple((one.place.share or 0.0, one.mean, one.low, one.high) for one in mine if one.mean is not None)
        yield Curve(place, ", ".join(part for part in line if part), points)
