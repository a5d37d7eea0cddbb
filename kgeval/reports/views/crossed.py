"""A matrix of runs: a metric by data set and as the mean, and what each change does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

from kgeval.format import bracketed, chance, difference, figure, joined, money, number, percent, plural, seconds, times
from kgeval.records import CostSummary, CrossedCell, CrossedChange, CrossedReport, GraphTook, Quantiles, RunPlace
from kgeval.records.matrix import size_unit
from kgeval.reports.document import DASHES, Block, Cell, Document, Figure, Section, Table, as_cell
from kgeval.reports.plots_crossed import Line, Point, curves
from kgeval.reports.views.parts import spread_cell

AXES = {
    "setting": "One setting of a system changed", "variant": "The graph built otherwise", "share": "Less of the corpus",
    "reader": "Another reader",
}
MEAN = "mean over data sets"
ALL = "all questions"
MOST_PLOTS = 60
MOST_GROWN = 6  # systems with a sentence on what a larger corpus takes
_SAID = {"seconds_p50": "median seconds", "input_tokens": "prompt tokens", "cost": "money"}
BUILT = ("Documents", "Chunks", "Tokens", "Build seconds", "Build calls", "Build tokens")
MEANING = (
    "Each value is a mean over questions with its 95 % interval; a mean over data sets weighs each of them the same. A change is the mean "
    "of paired differences, changed minus base, over the questions that both have a value for; p: sign-flip, corrected over the whole "
    "report (Holm)."
)


def document(report: CrossedReport) -> Document:
    """All metrics of every system and variant, what one change does, plots over shares of the corpus, then metric by metric."""
    costs: list[Block] = [_growth(report), *_took(report), *_cost_plots(report)]
    by = ", by data set and as their mean" if len(report.datasets) > 1 else ""
    return Document("Matrix of runs", "report score-matrix", [
        Section("Every system and variant, all metrics", list(metric_tables(report)), id="all"),
        Section("What one change does", list(change_tables(report)), id="changes"),
        Section("Against the share of the corpus", list(_plots(report)), id="plots", forms="page"),
        Section("Tokens, time and money by the size of the corpus", costs, id="cost", hint=(
            "Means an answer; seconds and seconds of retrieval as quantiles over answers (nearest rank). They were measured once, with as "
            "many questions in flight as the run had (-j), on one machine: kgeval answer --load measures throughput and latency under load."
        )),
        Section("The graphs", [_graphs(report)], id="graphs", hint=(
            "Structure by the audit of each place; what building took by its build."
        )),
        Section("How the values lie", list(spread_tables(report)), id="spreads", forms="page", hint=(
            "Over questions, from 0 to 1: bars for how many, each drawing with its own height; the upright line is the mean; below them "
            "the box from quartile to quartile with the median."
        )),
        Section(f"Metric by metric{by}", list(value_tables(report)), id="values", forms="all" if len(report.metrics) == 1 else "long"),
    ], about=f"{plural(len(report.systems), 'system')}, {plural(len(report.metrics), 'metric')}", lead=lead(report), notes=report.notes,
       foot=[MEANING], more="All tables and plots: add -o matrix.html")


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
        known = sorted(one.left_out for one in report.known)
        many = number(known[0]) if known[0] == known[-1] else f"{number(known[0])} to {number(known[-1])}"
        lines.append(
            f"Without the questions that a closed book answers without any text: {many} at {plural(len(known), 'place')}; the scores of "
            "each place have the figures with them too."
        )
    for one in report.growth[:MOST_GROWN]:
        more = [f"{times(one.factors[name])} the {what}" for name, what in _SAID.items() if name in one.factors]
        if more:
            unit = "tokens of the corpus" if one.unit == "tokens" else one.unit
            lines.append(f"{one.system}: with {times(one.of_size / one.size)} the {unit}, an answer takes {joined(more)}.")
    if report.changes:
        changes = [one for one in report.changes if len(report.datasets) < 2 or one.place.dataset is None]  # the mean, where there is one
        good, bad = (number(sum(one.better is way for one in changes)) for way in (True, False))
        counts = f"{good} are better and {bad} are worse with a corrected p below 0.05"
        lines.append(f"Of {plural(len(changes), 'change')} of one thing in one metric, {counts}.")
    return lines


def _scopes(report: CrossedReport) -> list[str | None]:
    """The mean over data sets, then each; the only one; or none."""
    return [None, *report.datasets] if len(report.datasets) > 1 else [report.datasets[0] if report.datasets else None]


def _table(
    report: CrossedReport, title: str, columns: Mapping[str, tuple[str, str | None]], show: Callable[[CrossedCell | None], str | Cell],
) -> Table:
    """A row a system and place that anything is known of, ablations below their system. `columns`: of which metric and data set (null: the
    mean) each is, by its head."""
    cells = {(one.metric, one.system, one.place): one for one in report.cells}
    rows = [
        (system, *_place(report, place).values(), *(
            show(cells.get((metric, system, _at(place, dataset)))) for metric, dataset in columns.values()
        )) for system, place in _rows(report)
    ]
    head = ("System", *_place(report, RunPlace()))
    known = [row for row in rows if any(as_cell(one).text not in DASHES for one in row[len(head):])]
    return Table((*head, *columns), known, title=title, words=frozenset(range(len(head))), short=40)


def metric_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a data set (the mean first): a column a metric [X tables 16-17, with intervals]. None where there is one metric: its own
    table says the same."""
    for scope in _scopes(report) if len(report.metrics) > 1 else []:
        where = f": {scope or MEAN}" if report.datasets else ""
        yield _table(report, f"All metrics{where}", {_titled(report, metric): (metric, scope) for metric in report.metrics}, cell)


def _titled(report: CrossedReport, metric: str) -> str:
    return f"{metric} (less is better)" if metric in report.lower_is_better else metric


def _by_dataset(report: CrossedReport, metric: str) -> dict[str, tuple[str, str | None]]:
    """The columns of one metric."""
    return {name: (metric, name) for name in report.datasets} or {ALL: (metric, None)}


def value_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a metric: a column a data set, and their mean."""
    for metric in report.metrics:
        means = {MEAN: (metric, None)} if len(report.datasets) > 1 else {}
        yield _table(report, _titled(report, metric), {**_by_dataset(report, metric), **means}, cell)


def spread_tables(report: CrossedReport) -> Iterator[Table]:
    """One table a metric: a column a data set, with bars and a box [Z figure 10]."""
    for metric in report.metrics:
        table = _table(report, metric, _by_dataset(report, metric), partial(spread_cell, nothing="–"))
        yield replace(table, words=frozenset(range(len(table.head))))


def _at(place: RunPlace, dataset: str | None) -> RunPlace:
    return place.model_copy(update={"dataset": dataset})


def _rows(report: CrossedReport) -> list[tuple[str, RunPlace]]:
    """Systems at places, whatever the data set; a system's ablations stand below it, larger corpora above smaller ones."""
    systems, variants, readers = (
        {name: at for at, name in enumerate(names)} for names in (report.systems, report.variants, report.readers)
    )

    def order(row: tuple[str, RunPlace]) -> tuple[float, ...]:
        system, place = row
        base = systems.get(system.partition("@")[0], systems[system])
        return base, variants.get(place.variant or "", 0), -place.corpus_rank, readers.get(place.reader or "", 0), systems[system]

    return sorted(dict.fromkeys((one.system, _at(one.place, None)) for one in report.cells), key=order)


def _place(report: CrossedReport, place: RunPlace, *, dataset: bool = False) -> dict[str, str]:
    """A place in words, by the heads of the axes that were crossed, the data sets among them where asked for."""
    axes = (
        ("Data set", report.datasets if dataset else [], place.dataset or "–"), ("Graph", report.variants, place.variant or "–"),
        ("Corpus", report.shares, "–" if place.share is None else _share(report, place)), ("Reader", report.readers, place.reader or "–"),
    )
    return {name: text for name, values, text in axes if values}


def _share(report: CrossedReport, place: RunPlace) -> str:
    """`50 %`; where documents that questions name were kept on top: `50 % (10 of 11 documents, 93.1 % of the tokens)`."""
    kept = [
        one for one in report.corpora
        if one.place.share == place.share and place.variant in (None, one.place.variant) and place.dataset in (None, one.place.dataset)
    ]
    asked = percent(place.share) if place.share is None or place.share <= 1 else f"{number(place.share)} tokens"
    if not kept:
        return asked
    documents, of_documents, tokens, of_tokens = (
        sum(getattr(one, name) for one in kept) for name in ("documents", "of_documents", "tokens", "of_tokens")
    )
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
    scopes, head = _scopes(report), ("System", "Base", "Changed to", *_place(report, RunPlace()))
    for axis, title in AXES.items():
        for scope in scopes:
            found: dict[tuple[str, ...], dict[str, CrossedChange]] = {}
            for one in report.changes:
                if (one.axis, one.place.dataset) == (axis, scope):
                    place = _place(report, _at(one.place, None)).values()
                    found.setdefault((one.system, one.base, one.changed, *place), {})[one.metric] = one
            rows = [(*key, *(change(by_metric.get(metric)) for metric in report.metrics)) for key, by_metric in found.items()]
            where = "" if len(scopes) == 1 else f": {scope or MEAN}"
            yield Table((*head, *report.metrics), rows, title=f"{title}{where}", words=frozenset(range(len(head))), short=40)


def change(one: CrossedChange | None) -> str:
    """A difference with its interval, n and corrected p; better and worse in a word, so that no colour is needed."""
    if one is None or one.mean is None:
        return "–"
    way = {None: "", True: " better", False: " worse"}[one.better]
    p = "" if one.p_holm is None else f", p {chance(one.p_holm)}"
    return f"{difference(one.mean, one.low, one.high)} n {number(one.n)}{p}{way}"


def _amount(value: float | None) -> str:
    return "–" if value is None else number(round(value)) if value >= 100 else number(value)


def _quantiles(given: Quantiles | None) -> str:
    return "–" if given is None else " / ".join(seconds(part) for part in (given.p50, given.p95, given.p99))


def _took(report: CrossedReport) -> Iterator[Table]:
    """A row a system and place; then seconds by hops, which queries of more steps may take more of."""
    head, (unit, sizes) = ("System", *_place(report, RunPlace(), dataset=True)), _sizes(report)
    words = frozenset(range(len(head)))
    rows = [(one.cost, one.place, (one.cost.system, *_place(report, one.place, dataset=True).values())) for one in report.costs]
    heads = (*head, f"Corpus, {unit}", "Prompt tokens", "Answer tokens", "Seconds p50 / p95 / p99", "Retrieval p50 / p95 / p99", "USD")
    yield Table(heads, [
        (*names, _amount(sizes.get(_graph_at(place))), *(_amount(cost.means.get(name)) for name in ("input_tokens", "output_tokens")),
         _quantiles(cost.latency_s), _quantiles(cost.stages.get("retrieval")), money(cost.means["cost"]) if "cost" in cost.means else "–")
        for cost, place, names in rows
    ], title="An answer takes", words=words, short=40).filled(keep=range(len(head)))
    hops = sorted({name for one in report.costs for name in one.cost.by_hops}, key=lambda name: (len(name), name))
    yield Table((*head, *(f"{name} hop{'' if name == '1' else 's'}" for name in hops)), [
        (*names, *(_quantiles(cost.by_hops.get(name)) for name in hops)) for cost, _, names in rows if cost.by_hops
    ], title="Seconds by hops, p50 / p95 / p99", words=words, forms="long")


GROWN = {
    "input_tokens": "Prompt tokens", "seconds_p50": "Seconds p50", "seconds_p95": "Seconds p95", "seconds_p99": "Seconds p99",
    "retrieval_p50": "Retrieval p50", "retrieval_p95": "Retrieval p95", "retrieval_p99": "Retrieval p99", "cost": "USD",
}


def _growth(report: CrossedReport) -> Table:
    """How many times as much the largest corpus takes as the smallest."""
    names = {name: title for name, title in GROWN.items() if any(name in one.factors for one in report.growth)}
    return Table(("System", "From, to", "Size", *names.values()), [
        (one.system, " to ".join(", ".join(_place(report, end, dataset=True).values()) or "–" for end in (one.smallest, one.largest)),
         f"{_amount(one.size)} to {_amount(one.of_size)} {one.unit}, {times(one.of_size / one.size)}",
         *(times(one.factors.get(name)) or "–" for name in names))
        for one in report.growth if one.factors
    ], title="The largest corpus against the smallest", words=frozenset(range(3)), short=40)


def _graph_at(place: RunPlace) -> RunPlace:
    return place.model_copy(update={"reader": None})


def _sizes(report: CrossedReport) -> tuple[str, dict[RunPlace, float]]:
    """Unit and size of the graph of each place: tokens of its corpus where all tell them, else entities."""
    unit = size_unit(report.graphs)
    return unit, {one.place: size for one in report.graphs if (size := one.size(unit)) is not None}


def _graphs(report: CrossedReport) -> Table:
    """A row a graph: what it was built from, its structure, and what building took; what no build tells has no column."""
    structure = list(dict.fromkeys(name for one in report.graphs for name in one.structure))
    built: dict[str, list[float | None]] = {title: [] for title in BUILT}
    for graph in report.graphs:
        took = graph.construction or GraphTook()
        tokens = None if took.input_tokens is None or took.output_tokens is None else took.input_tokens + took.output_tokens
        for title, value in zip(BUILT, (took.documents, took.chunks, took.tokens, took.seconds, took.calls, tokens), strict=True):
            built[title].append(value)
    known = {title: values for title, values in built.items() if any(value is not None for value in values)}
    head = _place(report, RunPlace(), dataset=True)
    return Table((*head, *known, *(name.replace("_", " ") for name in structure)), [
        (*_place(report, one.place, dataset=True).values(), *(_amount(values[at]) for values in known.values()),
         *(_amount(one.structure.get(name)) for name in structure))
        for at, one in enumerate(report.graphs)
    ], words=frozenset(range(len(head))), short=40)


PLOTTED = {
    "input_tokens": "prompt tokens an answer", "seconds_p50": "seconds an answer, median", "seconds_p95": "seconds an answer, p95",
    "retrieval_p50": "seconds of retrieval, median", "cost": "USD an answer",
}


def _cost_plots(report: CrossedReport) -> Iterator[Figure]:
    """What an answer takes against the size of the corpus, a curve a system."""
    unit, sizes = _sizes(report)
    x = "tokens of the corpus" if unit == "tokens" else "entities of the graph"
    for name, title in PLOTTED.items():
        lines: dict[Line, list[Point]] = {}
        for one in report.costs:
            place, size, value = one.place, sizes.get(_graph_at(one.place)), _plotted(one.cost, name)
            if size is not None and value is not None:
                key = (one.cost.system, place.dataset if len(report.shares) > 1 else None, place.variant, place.reader)
                lines.setdefault(key, []).append((size, value, None, None))
        yield from curves(lines, title=title.capitalize(), x=x, y=title, name=f"cost-{name}")


def _plotted(cost: CostSummary, name: str) -> float | None:
    field, _, part = name.rpartition("_")
    quantiles = {"seconds": cost.latency_s, "retrieval": cost.stages.get("retrieval")}
    return getattr(quantiles[field], part, None) if field in quantiles else cost.means.get(name)


def _plots(report: CrossedReport) -> Iterator[Figure]:
    """Every metric against the share of the corpus, by data set and as their mean."""
    x = "tokens of the corpus" if any(share > 1 for share in report.shares) else "share of the corpus"
    scopes: list[str | None] = [*report.datasets, *([None] if len(report.datasets) != 1 else [])]
    drawn = 0
    for metric, scope in product(report.metrics, scopes) if len(report.shares) > 1 else []:
        lines: dict[Line, list[Point]] = {}
        for one in report.cells:
            if (one.metric, one.place.dataset) == (metric, scope) and one.place.share is not None:
                points = lines.setdefault((one.system, one.place.variant, one.place.reader), [])
                if (size := _corpus_size(report, one.place)) is not None and one.mean is not None:
                    points.append((size, one.mean, one.low, one.high))
        title = f"{metric}: {scope or (MEAN if report.datasets else ALL)}"
        figures = list(curves(lines, title=title, x=x, y="mean", name=f"curve-{drawn}"))
        yield from figures
        drawn += len(figures)
        if drawn == MOST_PLOTS:
            return


def _corpus_size(report: CrossedReport, place: RunPlace) -> float | None:
    """The share of a place; where sizes are tokens, those that the graph was built from, else those aimed at."""
    if place.share is None or all(share <= 1 for share in report.shares):
        return place.share
    built = next((one.size("tokens") for one in report.graphs if one.place == _graph_at(place)), None)
    return built or (place.share if place.share > 1 else None)
