"""The knowledge-graph metrics of a scoring run at a closer look: one question's pairs with their paths, and scores over a grid of
settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from kgeval.errors import UsageError
from kgeval.format import first_lines, first_of, visible
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.options import SettingValue, make_settings
from kgeval.metrics.select import Selection, lacking
from kgeval.workflows.score import Scoring, planned

if TYPE_CHECKING:
    from kgeval.llm.asker import Asker
    from kgeval.llm.plan import Plan
    from kgeval.metrics.kg.explain import CheapestPath, Explained, Node
    from kgeval.metrics.kg.sides import PairRequest
    from kgeval.records import Row
    from kgeval.tables.rows import Rows

SWEPT = ("tau", "delta", "edge_cost", "edge_weight", "undirected", "community", "runs", "community_seed")
WINDOW = 512
MOST_LISTED = 50
MOST_POINTS = 400
Sums = dict[tuple[str, str], list[float]]


def explain(scoring: Scoring, rows: Rows) -> Iterator[str]:
    """The pairs of the question that the options name, a system after the other, as text; with `write_back` they are
    written into the embedded server too.

    Raises: UsageError for an unknown question, for a selection without a knowledge-graph metric, and for missing tools.
    """
    from kgeval.graph.retries import once_more
    from kgeval.metrics.kg.explain import explain as explain_pair
    from kgeval.metrics.kg.sides import requests_of

    chosen = _rows_to_explain(scoring, rows)
    graph, embedder = _needed(scoring)
    for subject in _subjects(chosen, scoring):
        pairs = requests_of(subject, scoring.selection)
        if not pairs:
            yield f"{visible(subject.row.question.id)}, {visible(subject.row.answer.system)}: {_why_none(subject, scoring.selection)}\n"
        for pair in pairs:
            if (why := _nothing_to_show(pair)) is not None:
                yield f"{_title(pair)}\n  {why}\n"
                continue
            explained = once_more(partial(explain_pair, pair, graph, embedder))
            yield explain_text(explained, scoring.settings)
            if scoring.options.write_back:
                _write_back(scoring, explained)


def plan(scoring: Scoring, rows: Rows) -> Plan:
    """What `explain` or `sweep` would ask: the calls for triples that are not in the journal yet. Raises: as explain."""
    chosen: Iterable[Row] = _rows_to_explain(scoring, rows) if scoring.options.explain else rows
    _needed(scoring)
    return planned(scoring, chosen, lambda row, dry: _with_triples(row, scoring, dry))


def _rows_to_explain(scoring: Scoring, rows: Rows) -> list[Row]:
    question = scoring.options.explain or ""
    if matches := rows.find(question):
        return matches
    raise UsageError(f"there is no answer to question '{question}'", fix="give the id of a question as the files have it")


def _why_none(subject: Subject, selection: Selection) -> str:
    """Why a row has no pair of the selection."""
    reasons = dict.fromkeys(lacking(metric, subject.row) for metric in _of_pairs(selection).of(subject.row))
    return "not applicable: " + "; ".join(filter(None, reasons)) if reasons else "no metric of a pair is for this question's level"


def _of_pairs(selection: Selection) -> Selection:
    """The selection without the metrics that have no graph of a pair."""
    chosen = (metric for metric in selection.metrics if any(fact.startswith("pairs:") for fact in metric.asks))
    return Selection(tuple(chosen), selection.levels)


def _needed(scoring: Scoring) -> tuple[Any, Any]:
    if not _of_pairs(scoring.selection).metrics:
        fix = "name metrics of text pairs, for example --metrics kg"
        raise UsageError("no metric of the selection has a graph of a pair", fix=fix)
    if scoring.tools.graph is None or scoring.tools.embedder is None:
        raise UsageError("the graph of a pair needs a Neo4j with GDS and an embedding model", fix="kgeval doctor shows what is there")
    return scoring.tools.graph, scoring.tools.embedder


def _subjects(rows: Iterable[Row], scoring: Scoring) -> Iterator[Subject]:
    """The rows with the triples of their texts; no other fact is asked for."""
    from kgeval.llm.asker import Live

    models = scoring.tools.models
    work = partial(_with_triples, scoring=scoring, asker=Live(models) if models is not None else None)
    yield from models.map(work, rows) if models is not None else map(work, rows)


def _with_triples(row: Row, scoring: Scoring, asker: Asker | None) -> Subject:
    from kgeval.metrics.kg.triples import ask_triples

    subject = Subject(row, RowFacts(), scoring.settings)
    ask_triples(subject, _of_pairs(scoring.selection).facts_of(row), asker, scoring.tools)
    return subject


def _nothing_to_show(pair: PairRequest) -> str | None:
    first, context = pair.sides
    failure = first.failure or context.failure
    if failure is not None:
        return f"unscored: {failure.cause}: {failure.detail}"
    if not first.triples or not context.triples:
        return f"0: the {'context' if first.triples else 'input'} has no triples"
    return None


def _title(pair: PairRequest) -> str:
    row = pair.subject.row
    return f"{visible(row.question.id)}, {visible(row.answer.system)}: {pair.pair}"


def explain_text(explained: Explained, settings: MetricSettings) -> str:
    """A pair explained, as text. Names are made visible; long lists are cut and say so."""
    from kgeval.metrics.kg.explain import shared

    matched = sum(path.matched for path in explained.ways)
    groups = [("shared " if shared(group) else "one side", _nodes(group)) for group in explained.communities]
    return "\n".join([
        f"{visible(explained.question_id)}, {visible(explained.system)}: {explained.pair}",
        f"  {len(explained.graph.input.heads)} input triples, {len(explained.graph.context.heads)} context triples",
        f"  SIMILAR (cosine >= {settings.tau:g}): {len(explained.similar)}",
        *_cut([f"{cosine:.4f}  {visible(a)}  ~  {visible(b)}" for a, b, cosine, _ in sorted(explained.similar, key=lambda s: -s[2])]),
        f"  paths (cost <= {settings.delta:g}): {matched} of {len(explained.ways)} input entities",
        *_cut([_path(path) for path in sorted(explained.ways, key=lambda path: (path.cost is None, path.cost))]),
        f"  communities of the first partition ({settings.community}, seed {settings.community_seed}): {len(explained.communities)}",
        *_cut([f"{kind}  {names}" for kind, names in groups]),
        "",
    ])


def _cut(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in first_lines(lines, MOST_LISTED)]


def _path(path: CheapestPath) -> str:
    if path.cost is None:
        return f"none      {visible(path.entity)}"
    steps = " -> ".join(f"[{visible(n.name)}]" if n.kind == "relation" else visible(n.name) for n in path.nodes)
    return f"{path.cost:.4f} {'yes' if path.matched else 'no '}  {steps}"


def _nodes(group: Sequence[Node]) -> str:
    names = [f"{visible(node.name)} ({node.side})" for node in group if node.kind == "entity"]
    return first_of(names, 20)


def _write_back(scoring: Scoring, explained: Explained) -> None:
    from kgeval.graph.load.pairs import write_pair

    with scoring.session.embedded_graph() as graph:
        written = write_pair(graph, pair_rows(explained, scoring.settings))
    scoring.session.say(
        f"wrote {written} nodes into the embedded server, as the pair '{explained.id}'; "
        "look at it with the query view-pair, remove it with delete-pair",
    )


def pair_rows(explained: Explained, settings: MetricSettings) -> Any:
    """The pair's graph as rows to write."""
    from kgeval.graph.load.pairs import PairRows

    pair, number_of = explained.graph, {id(node): number for number, group in enumerate(explained.communities) for node in group}
    paths = {path.entity: path for path in explained.ways}
    nodes: list[dict[str, Any]] = []
    for number, node in enumerate(explained.nodes):
        row = {"number": number, "name": node.name, "side": node.side, "kind": node.kind, "community": number_of[id(node)]}
        if node.kind == "entity" and node.side == "input":
            row |= {"matched": paths[node.name].matched, "cost": paths[node.name].cost}
        nodes.append(row)
    first, second = len(pair.input.names), len(pair.input.names) + len(pair.context.names)
    third = second + len(pair.input.heads)
    structural = {"cost": settings.edge_cost, "weight": settings.edge_weight}
    edges: list[tuple[str, int, int, dict[str, Any]]] = []
    for side, entities, relations in ((pair.input, 0, second), (pair.context, first, third)):
        for at, (head, tail) in enumerate(zip(side.heads.tolist(), side.tails.tolist(), strict=True)):
            edges += [("HEAD", head + entities, relations + at, structural), ("TAIL", tail + entities, relations + at, structural)]
    for a, b, (_, _, cosine, cost) in zip(pair.similar_input.tolist(), pair.similar_context.tolist(), explained.similar, strict=True):
        edges.append(("SIMILAR", a, b + first, {"cosine": cosine, "cost": cost}))
    about = {"question": explained.question_id, "system": explained.system, "pair": explained.pair}
    named = ("tau", "delta", "edge_cost", "edge_weight", "undirected", "community", "community_seed")
    about |= {name: asdict(settings)[name] for name in named}
    return PairRows(explained.id, about, nodes, edges)


def sweep(scoring: Scoring, rows: Rows) -> str:
    """A table of the mean of every knowledge-graph metric for every point of the grid. Triples are asked for once. Raises: as explain."""
    graph, embedder = _needed(scoring)
    axes = scoring.options.sweep or ""
    grid = parse_grid(axes, scoring.settings)
    selection = _of_pairs(scoring.selection)
    sums: list[Sums] = [{} for _ in grid]
    for window in _windows(_subjects(rows, scoring)):
        for point_sums, settings in zip(sums, grid, strict=True):
            at_point = [replace(subject, run_settings=settings, facts=RowFacts(triples=subject.facts.triples)) for subject in window]
            _add(point_sums, at_point, selection, (graph, embedder))
    return sweep_text(grid, sums, swept_names(axes))


def _windows(subjects: Iterator[Subject]) -> Iterator[list[Subject]]:
    from itertools import islice

    while window := list(islice(subjects, WINDOW)):
        yield window


def _add(sums: Sums, subjects: Sequence[Subject], selection: Selection, tools: tuple[Any, Any]) -> None:
    from kgeval.metrics.kg.batch import add_pairs

    add_pairs(subjects, selection, *tools, None)
    for subject in subjects:
        for metric in selection.of(subject.row):
            value = None if lacking(metric, subject.row) else metric.value(subject).value
            sums_of_metric = sums.setdefault((subject.row.answer.system, metric.name), [0.0, 0, 0])
            sums_of_metric[0] += value or 0.0
            sums_of_metric[1] += value is not None
            sums_of_metric[2] += 1


def parse_grid(text: str, settings: MetricSettings) -> list[MetricSettings]:
    """`tau=0.6,0.7;delta=0.3,0.5` as settings, the last name changing fastest. Raises: UsageError with every fault."""
    axes: dict[str, list[str]] = {}
    faults = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, values = (piece.strip() for piece in part.partition("="))
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if name not in SWEPT or not listed:
            faults.append(f"'{part}'")
        elif name in axes:
            faults.append(f"'{part}': {name} stands there twice")
        axes[name] = listed
    if faults or not axes:
        fix = f"write for example tau=0.6,0.7;delta=0.3,0.5; names: {', '.join(SWEPT)}"
        raise UsageError("faulty --sweep: " + (", ".join(faults) or "it is empty"), fix=fix)
    points = list(product(*axes.values()))
    if len(points) > MOST_POINTS:
        raise UsageError(f"--sweep has {len(points)} points", fix=f"give at most {MOST_POINTS}")
    base: Mapping[str, SettingValue] = asdict(settings)
    return [make_settings({**base, **dict(zip(axes, point, strict=True))}) for point in points]


def swept_names(text: str) -> list[str]:
    """The names of the grid's axes, in their order."""
    return list(dict.fromkeys(part.partition("=")[0].strip() for part in text.split(";") if part.strip()))


def sweep_text(grid: Sequence[MetricSettings], sums: Sequence[Sums], names: Sequence[str]) -> str:
    """A table: a line a point, system and metric: the mean, and over how many of how many rows it is."""
    lines = ["  ".join([*(f"{name:>11}" for name in names), f"{'mean':>8}", f"{'n':>13}", "system, metric"])]
    for settings, point_sums in zip(grid, sums, strict=True):
        point = "  ".join(f"{asdict(settings)[name]!s:>11}" for name in names)
        for (system, metric), (total, n, rows) in point_sums.items():
            mean = f"{total / n:8.4f}" if n else f"{'-':>8}"
            lines.append(f"{point}  {mean}  {f'{n:.0f} of {rows:.0f}':>13}  {visible(system)}, {metric}")
    return "\n".join(lines)
