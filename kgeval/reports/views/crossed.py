"""A matrix of runs: a metric by data set and as the mean, and what each change does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgeval.format import bracketed, chance, figure, joined, money, number, percent, plural, seconds, times
from kgeval.records import CostSummary, CrossedCell, CrossedChange, CrossedReport, GraphTook, Mean, Quantiles, RunPlace
from kgeval.records.matrix import size_unit
from kgeval.reports.document import Block, Cell, Document, Figure, Section, Table
from kgeval.reports.plots_crossed import Curve, curves
from kgeval.reports.plots_scores import distribution

AXES = {
    "setting": "One setting of a system changed", "variant": "The graph built otherwise", "share": "Less of the corpus",
    "reader": "Another reader",
}
MEAN = "mean over data sets"
ALL = "all questions"
MOST_PLOTS = 60
MOST_GROWN = 6  # systems with a sentence on what a larger corpus takes
_SAID = {"seconds_p50": "median seconds", "input_tokens": "prompt tokens", "cost": "money"}
MEANING = (
    "Each value is a mean over questions with its 95 % interval; a mean over data sets weighs each of them the same. A change is the mean "
    "of paired differences, changed minus base, over the questions that both have a value for; p: sign-flip, corrected over the whole "
    "report (Holm)."
)


def document(report: CrossedReport) -> Document:
    """All metrics of every system and variant, what one change does, plots over shares of the corpus, then metric by metric."""
    of_metrics, changes, values = list(metric_tables(report)), list(change_tables(report)), list(value_tables(report))
    costs: list[Block] = [*_growth(report), *_took(report), *_cost_plots(report)]
    by = ", by data set and as their mean" if len(report.datasets) > 1 else ""
    sections = [
        Section("Every system and variant, all metrics", of_metrics, id="all"), Section("What one change does", changes, id="changes"),
        Section("Against the share of the corpus", list(_plots(report)), id="plots", forms="page"),
        Section("Tokens, time and money by the size of the corpus", costs, id="cost", hint=(
            "Means an answer; seconds and seconds of retrieval as quantiles over answers (nearest rank). They were measured once, with as "
            "many questions in flight as the run had (-j), on one machine: kgeval answer --load measures throughput and latency under load."
        )),
        Section("The graphs", _graphs(report), id="graphs", hint="Structure by the audit of each place; what building took by its build."),
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
    return variant, -place.corpus_rank, reader


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
    asked = percent(place.share) if place.share is None or place.share <= 1 else f"{number(place.share)} tokens"
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


def _where(report: CrossedReport, place: RunPlace) -> tuple[str, ...]:
    """A place as the first cells of a row, its data set among them."""
    return (*((place.dataset or "–",) if report.datasets else ()), *_of_place(report, place))


def _where_head(report: CrossedReport) -> tuple[str, ...]:
    return (*(("Data set",) if report.datasets else ()), *_axes(report))


def _amount(value: float | None) -> str:
    return "–" if value is None else number(round(value)) if value >= 100 else number(value)


def _quantiles(given: Quantiles | None) -> str:
    return "–" if given is None else " / ".join(seconds(part) for part in (given.p50, given.p95, given.p99))


def _took(report: CrossedReport) -> Iterator[Table]:
    """A row a system and place; then seconds by hops, which queries of more steps may take more of."""
    head, sizes = ("System", *_where_head(report)), _sizes(report)
    rows = [
        (one.cost.system, *_where(report, one.place), _amount(sizes[1].get(_graph_at(one.place))),
         *(_amount(one.cost.means.get(name)) for name in ("input_tokens", "output_tokens")), _quantiles(one.cost.latency_s),
         _quantiles(one.cost.stages.get("retrieval")), money(one.cost.means["cost"]) if "cost" in one.cost.means else "–")
        for one in report.costs
    ]
    heads = (*head, f"Corpus, {sizes[0]}", "Prompt tokens", "Answer tokens", "Seconds p50 / p95 / p99", "Retrieval p50 / p95 / p99", "USD")
    filled = [at for at in range(len(heads)) if at < len(head) or any(row[at] != "–" for row in rows)]
    if rows:
        yield _table("An answer takes", [heads[at] for at in filled], [[row[at] for at in filled] for row in rows], words=len(head))
    hops = sorted({name for one in report.costs for name in one.cost.by_hops}, key=lambda name: (len(name), name))
    if hops:
        rows = [
            (one.cost.system, *_where(report, one.place), *(_quantiles(one.cost.by_hops.get(name)) for name in hops))
            for one in report.costs if one.cost.by_hops
        ]
        names = (f"{name} hop{'' if name == '1' else 's'}" for name in hops)
        yield replace(_table("Seconds by hops, p50 / p95 / p99", (*head, *names), rows, words=len(head)), forms="long")


GROWN = {
    "input_tokens": "Prompt tokens", "seconds_p50": "Seconds p50", "seconds_p95": "Seconds p95", "seconds_p99": "Seconds p99",
    "retrieval_p50": "Retrieval p50", "retrieval_p95": "Retrieval p95", "retrieval_p99": "Retrieval p99", "cost": "USD",
}


def _growth(report: CrossedReport) -> Iterator[Table]:
    """How many times as much the largest corpus takes as the smallest."""
    names = {name: title for name, title in GROWN.items() if any(name in one.factors for one in report.growth)}
    rows = [
        (one.system, " to ".join(", ".join(_where(report, place)) or "–" for place in (one.smallest, one.largest)),
         f"{_amount(one.size)} to {_amount(one.of_size)} {one.unit}, {times(one.of_size / one.size)}",
         *(times(one.factors.get(name)) or "–" for name in names))
        for one in report.growth if one.factors
    ]
    if rows:
        yield _table("The largest corpus against the smallest", ("System", "From, to", "Size", *names.values()), rows, words=3)


def _graph_at(place: RunPlace) -> RunPlace:
    return place.model_copy(update={"reader": None})


def _sizes(report: CrossedReport) -> tuple[str, dict[RunPlace, float]]:
    """Unit and size of the graph of each place: tokens of its corpus where all tell them, else entities."""
    unit = size_unit(report.graphs)
    return unit, {one.place: size for one in report.graphs if (size := one.size(unit)) is not None}


def _graphs(report: CrossedReport) -> list[Table]:
    """A row a graph: what it was built from, its structure, and what building took."""
    names = list(dict.fromkeys(name for one in report.graphs for name in one.structure))
    took = [one.construction or GraphTook() for one in report.graphs]
    built: dict[str, Sequence[float | None]] = {
        "Documents": [one.documents for one in took], "Chunks": [one.chunks for one in took], "Tokens": [one.tokens for one in took],
        "Build seconds": [one.seconds for one in took], "Build calls": [one.calls for one in took],
        "Build tokens": [None if None in (one.input_tokens, one.output_tokens) else (one.input_tokens or 0) + (one.output_tokens or 0)
                         for one in took],
    }
    shown = {title: values for title, values in built.items() if any(value is not None for value in values)}
    head = (*_where_head(report), *shown, *(name.replace("_", " ") for name in names))
    rows = [
        (*_where(report, one.place), *(_amount(values[at]) for values in shown.values()),
         *(_amount(one.structure.get(name)) for name in names))
        for at, one in enumerate(report.graphs)
    ]
    return [_table("", head, rows, words=len(_where_head(report)))] if rows else []


PLOTTED = {
    "input_tokens": "prompt tokens an answer", "seconds_p50": "seconds an answer, median", "seconds_p95": "seconds an answer, p95",
    "retrieval_p50": "seconds of retrieval, median", "cost": "USD an answer",
}


def _cost_plots(report: CrossedReport) -> Iterator[Figure]:
    """What an answer takes against the size of the corpus, a curve a system."""
    unit, sizes = _sizes(report)
    several = len(report.shares) > 1
    x = "tokens of the corpus" if unit == "tokens" else "entities of the graph"
    for name, title in PLOTTED.items():
        lines: dict[tuple[str | None, ...], list[tuple[float, float, None, None]]] = {}
        for one in report.costs:
            place, size = one.place, sizes.get(_graph_at(one.place))
            value = _plotted(one.cost, name)
            if size is not None and value is not None:
                key = (one.cost.system, place.dataset if several else None, place.variant, place.reader)
                lines.setdefault(key, []).append((size, value, None, None))
        found = [
            Curve(number, ", ".join(part for part in key if part), tuple(sorted(points)))
            for number, (key, points) in enumerate(lines.items(), start=1)
        ]
        if svg := curves(found, x=x, y=title, name=f"cost-{name}"):
            yield Figure(svg, title.capitalize(), names=[one.name for one in found])


def _plotted(cost: CostSummary, name: str) -> float | None:
    field, _, part = name.rpartition("_")
    of_seconds = {"seconds": cost.latency_s, "retrieval": cost.stages.get("retrieval")}
    return getattr(of_seconds[field], part, None) if field in of_seconds else cost.means.get(name)


def _plots(report: CrossedReport) -> Iterator[Figure]:
    """Every metric against the share of the corpus, by data set and as their mean."""
    if len(report.shares) < 2:
        return
    scopes: list[str | None] = [*report.datasets, *([None] if len(report.datasets) != 1 else [])]
    x = "tokens of the corpus" if any(share > 1 for share in report.shares) else "share of the corpus"
    drawn = 0
    for metric in report.metrics:
        for scope in scopes:
            found = list(_curves(report, metric, scope))
            svg = curves(found, x=x, y="mean", name=f"curve-{drawn}") if drawn < MOST_PLOTS else ""
            if svg:
                drawn += 1
                yield Figure(svg, f"{metric}: {scope or (MEAN if report.datasets else ALL)}", names=[one.name for one in found])


def _curves(report: CrossedReport, metric: str, dataset: str | None) -> Iterator[Curve]:
    cells = [one for one in report.cells if one.metric == metric and one.place.dataset == dataset and one.place.share is not None]
    lines = dict.fromkeys((one.system, one.place.variant, one.place.reader) for one in cells)
    for place, line in enumerate(lines, start=1):
        mine = [one for one in cells if (one.system, one.place.variant, one.place.reader) == line]
        sized = [(_corpus_size(report, one.place), one) for one in mine]
        points = [(x, one.mean, one.low, one.high) for x, one in sized if x is not None and one.mean is not None]
        yield Curve(place, ", ".join(part for part in line if part), tuple(sorted(points, key=lambda point: point[0])))


def _corpus_size(report: CrossedReport, place: RunPlace) -> float | None:
    """The share of a place; where sizes are tokens, those that the graph was built from, else those aimed at."""
    if place.share is None or all(share <= 1 for share in report.shares):
        return place.share
    built = next((one.size("tokens") for one in report.graphs if one.place == _graph_at(place)), None)
    return built or (place.share if place.share > 1 else None)
