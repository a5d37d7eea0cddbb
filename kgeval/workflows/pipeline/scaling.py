"""What answers and graphs take by the size of the corpus [M 2]: tokens, seconds and money of every system at every place of a matrix, the
figures of the graph there, and how much more the largest corpus takes than the smallest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kgeval.records import (
    AuditReport,
    CostGrowth,
    CostSummary,
    CrossedCost,
    CrossedGraph,
    GraphTook,
    IndexRecord,
    PipelineRun,
    RunPlace,
)
from kgeval.records.matrix import size_unit
from kgeval.tables import read_json
from kgeval.tables.score_forms import report_beside
from kgeval.workflows.pipeline.stages import MatrixPlace

# of the structure figures of an audit (docs/structure.md)
FIGURES = (
    "entities", "relations", "average_degree", "density", "components", "giant_share", "isolated_share", "communities", "modularity",
)

CAME = ("done", "missed", "incomplete")  # states of stages that came to a result


def costs_at(place: RunPlace, results: Path) -> list[CrossedCost]:
    """What the answers of each system took, by the report beside the results of a place; none where that does not tell."""
    given = report_beside(results).get("costs") or ()
    return [CrossedCost(place=place, cost=CostSummary.model_validate(row)) for row in given]


def graphs_of(ledger: PipelineRun, folder: Path | None) -> list[CrossedGraph]:
    """The graph of each place: its structure by the audit, what it was built from and what that took by the build."""
    audits, builds = dict(records_of(ledger, folder, "audit")), dict(records_of(ledger, folder, "build"))
    graphs = []
    for place in dict.fromkeys([*builds, *audits]):
        audit = AuditReport.model_validate(audits[place]) if place in audits else None
        build = IndexRecord.model_validate(builds[place]) if place in builds else None
        took = _took(audit, build)
        structure = {} if audit is None else {
            name: float(value) for name in FIGURES if isinstance(value := audit.structure.get(name), int | float)
        }
        if build is not None:
            counts = {"entities": build.entities, "relations": build.relations}
            structure = {**{name: float(count) for name, count in counts.items() if count is not None}, **structure}
        if structure or took is not None:
            graphs.append(CrossedGraph(place=place, structure=structure, construction=took))
    return graphs


def records_of(ledger: PipelineRun, folder: Path | None, kind: str) -> Iterator[tuple[RunPlace, object]]:
    """What each stage of a kind wrote as JSON; of a stage that failed nothing: what lies there is of an earlier run."""
    for stage in ledger.stages:
        file = next((Path(path) for path in stage.outputs if path.endswith(f"{kind}.json")), None)
        if stage.kind == kind and stage.state in CAME and file is not None and (file := moved(file, stage.place, folder)).is_file():
            yield stage.place, read_json(file)


def moved(file: Path, place: RunPlace, folder: Path | None) -> Path:
    """The file or folder below the run's folder, where it is there: a run may have been moved, or made from another working folder."""
    here = folder.joinpath(*MatrixPlace(**place.model_dump()).parts, file.name) if folder is not None else file
    return here if here.exists() else file


def _took(audit: AuditReport | None, build: IndexRecord | None) -> GraphTook | None:
    """What building took: as the build says, else as it wrote it into the graph."""
    if build is not None:
        own = build.model_dump(include={"seconds", "calls", "input_tokens", "output_tokens", "cost"})
        corpus = build.corpus
        return GraphTook(**own, documents=corpus.documents, chunks=corpus.chunks, tokens=corpus.tokens)
    if audit is None or audit.construction is None:
        return None
    return GraphTook(**audit.construction.model_dump(exclude={"system", "finished"}))


def growth_of(costs: Sequence[CrossedCost], graphs: Sequence[CrossedGraph]) -> list[CostGrowth]:
    """How many times as much the largest corpus takes as the smallest, for each system, way to build the graph and reader; over shares of
    one data set where there are any, else over the data sets. Size: tokens of the corpus, where not all places tell them entities."""
    by_place = {graph.place: graph for graph in graphs}
    shares = len({one.place.share for one in costs}) > 1
    lines: dict[tuple[str | None, ...], list[CrossedCost]] = {}
    for one in costs:
        place = one.place
        lines.setdefault((one.cost.system, place.dataset if shares else None, place.variant, place.reader), []).append(one)
    return [row for line in lines.values() for row in _growth(line, by_place)]


def _growth(line: Sequence[CrossedCost], graphs: Mapping[RunPlace, CrossedGraph]) -> Iterator[CostGrowth]:
    own = [graphs.get(one.place.model_copy(update={"reader": None})) for one in line]
    unit = size_unit([graph for graph in own if graph is not None])
    sized = [(graph.size(unit), one) for graph, one in zip(own, line, strict=True) if graph is not None]
    known = sorted(((size, one) for size, one in sized if size), key=lambda pair: pair[0] or 0.0)
    if len(known) < 2 or known[0][0] == known[-1][0]:
        return
    (least, small), (most, large) = known[0], known[-1]
    before, after = figures_of(small.cost), figures_of(large.cost)
    factors = {name: after[name] / value for name, value in before.items() if value and name in after}
    yield CostGrowth(
        system=small.cost.system, smallest=small.place, largest=large.place, unit=unit, size=least or 0.0, of_size=most or 0.0,
        factors=factors,
    )


def figures_of(cost: CostSummary) -> dict[str, float]:
    """The figures that grow: means an answer, and quantiles of seconds."""
    figures: dict[str, float] = {name: cost.means[name] for name in ("input_tokens", "output_tokens", "cost") if name in cost.means}
    for name, quantiles in (("seconds", cost.latency_s), ("retrieval", cost.stages.get("retrieval"))):
        for part in ("p50", "p95", "p99"):
            value = getattr(quantiles, part) if quantiles is not None else None
            if value is not None:
                figures[f"{name}_{part}"] = value
    return figures
