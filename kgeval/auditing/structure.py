"""The graph's structure in numbers: counts, degrees, density, clustering, components, diameter, communities, properties.

Definitions: docs/structure.md (Xiang et al., GraphRAG-Bench, eq. 1-2, tables 5 and 13). Cypher and GDS compute;
each part that cannot run here is listed in `skipped` with its reason, and never becomes a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kgeval.auditing.attempts import PartFailure, attempt
from kgeval.auditing.communities import communities, method_for, stability
from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.kept import KeptAnswers
from kgeval.auditing.tasks import CLIENT, GDS, Task, run_tasks
from kgeval.graph.algorithms import Expected, View, missing
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ProjectionLost
from kgeval.graph.memory import PROJECTION, MemoryEstimate, estimate
from kgeval.graph.views import projected, sharing
from kgeval.records import CommunityMap, Layout, StructureSkip
from kgeval.stats import graphs as figures
from kgeval.text.tokens import TOKENIZER, count_tokens

EXACT_DIAMETER_NODES = 5_000
NO_TYPE = "(none)"  # the name under which entities without a type are counted; cypher/probe/entity-properties.cypher has it too
Numbers = dict[str, Any]
PARTS: dict[str, list[str]] = {  # figures by the part that measures them; what fails or is skipped is named from here
    "counts": ["entities", "relations", "self_loops", "entities_by_type", "relations_by_type", "average_degree"],
    "chunks": ["chunks", "chunks_with_text", "documents"],
    "properties": ["property_fill", "property_types"],
    "tokens": [
        "tokens", "entities_per_1k_tokens", "relations_per_1k_tokens", "entities_per_10k_tokens", "relations_per_10k_tokens",
    ],
    "degrees": [
        "degree_min", "degree_median", "degree_p95", "degree_max", "degree_histogram", "degree_above_1", "degree_above_2",
        "degree_above_3",
    ],
    "simple": [
        "simple_edges", "simple_average_degree", "isolated", "isolated_share", "density", "average_clustering",
        "average_clustering_degree2",
    ],
    "components": [
        "components", "giant_share", "component_size_histogram", "component_size_mean", "component_size_median",
        "component_size_trimmed", "component_size_geometric", "component_size_harmonic",
    ],
    "diameter": ["diameter"],
    "bridging": ["articulation_points", "bridges"],
    "communities": [
        "communities", "modularity", "community_algorithm", "community_size_mean", "community_size_median", "community_size_max",
        "community_stability", "cross_community_share",
    ],
}
STABILITY = ["community_stability", "community_stability_runs"]
ALGORITHMS = "graph algorithms"
GDS_PARTS = ("simple", "components", "diameter", "bridging", "communities")


def gds_ids() -> list[str]:
    """The figures that need Graph Data Science."""
    return [figure for part in GDS_PARTS for figure in PARTS[part]]


Progress = Callable[[str], None]


@dataclass
class StructureFigures:
    """Figures under their ids, and what could not be measured. `incomplete` if a part hit its time limit."""

    numbers: Numbers = field(default_factory=dict)
    skipped: list[StructureSkip] = field(default_factory=list)
    incomplete: bool = False
    community_map: CommunityMap | None = None


@dataclass(frozen=True)
class StructureOptions:
    """What to measure. `timeout`: seconds for each query. `community_seed`: of Leiden, and of the runs that try stability. `corpus`: texts
    to count tokens of, instead of the chunks; `tokens`: how many those are, where they were counted before."""

    timeout: float = 120.0
    communities: bool = True
    properties: bool = True
    community_seed: int = 0
    corpus: Iterable[str] | None = None
    tokens: int | None = None


def measure(
    graph: Graph, layout: Layout, options: StructureOptions | None = None, *, progress: Progress = lambda _: None,
) -> StructureFigures:
    """All structure figures of the layout's graph. Never raises for a part that fails: it is skipped with the reason."""
    parts = StructureParts(graph, layout, options or StructureOptions(), progress=progress)
    parts.count()
    with sharing(graph):
        run_tasks(parts.tasks(), 1, ending=lambda: None)
    return parts.figures()


@dataclass
class ServerState:
    """What the parts of an audit know in common of the server. `lost`: why nothing more is asked of it."""

    lost: PartFailure | None = None


class StructureParts:
    """The structure figures in parts: first `count`, then the `tasks`, one by one or side by side, then `figures`."""

    def __init__(
        self, graph: Graph, layout: Layout, options: StructureOptions, *, progress: Progress, state: ServerState | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        """`state`: where others ask the same server. `kept`: where what is measured is kept, and taken from."""
        self._progress = progress
        self._counted = _Probe(graph, layout, options, StructureFigures(), state or ServerState(), kept or KeptAnswers())
        self._measured: dict[str, StructureFigures] = {}
        self._crowded = False  # whether the algorithms may come to their end alone
        self._granted: MemoryEstimate | None = None  # what the algorithms may take, once the graph is projected
        self._taken = False  # what the projection tells was kept, so that there is none yet

    @property
    def numbers(self) -> Numbers:
        """What `count` found."""
        return self._counted.out.numbers

    def knows_counts(self) -> bool:
        """Whether `count` asks nothing."""
        return all(self._counted.has_kept(PARTS[name]) for name in ("counts", "chunks"))

    def count(self) -> None:
        """Entities, relations and chunks, which the other parts need to know, and many checks."""
        probe = self._counted
        self._progress("counting")
        probe.part(PARTS["counts"], lambda: _counts(probe))
        probe.part(PARTS["chunks"], lambda: _chunks(probe))
        if "entities" not in self.numbers:
            left = [*PARTS["properties"], *PARTS["tokens"], *PARTS["degrees"], *gds_ids()]
            probe.skip(left, "the entities could not be counted in time")

    def tasks(self) -> list[Task]:
        """The parts that are left. They share the projection: within `views.sharing`."""
        if "entities" not in self.numbers:
            return []
        options = self._counted.options
        parts: list[tuple[str, Callable[[_Probe], None], frozenset[str], bool]] = [
            ("properties", _properties, frozenset(), options.properties),
            ("tokens", _tokens, frozenset(), True),
            (ALGORITHMS, self._algorithms, frozenset({GDS}), True),
            # a partition is as large as the graph, and two are compared
            ("communities", self._communities, frozenset({GDS, CLIENT}), options.communities),
        ]
        self._measured = {name: StructureFigures() for name, _, _, wanted in parts if wanted}
        return [Task(partial(self._measure, name, work), holds) for name, work, holds, wanted in parts if wanted]

    def figures(self) -> StructureFigures:
        """All figures and reasons in the order of the parts, whichever ended first."""
        whole = self._counted.out
        for part in self._measured.values():
            whole.numbers |= part.numbers
            whole.skipped += part.skipped
            whole.incomplete |= part.incomplete
            whole.community_map = whole.community_map or part.community_map
        return whole

    def _measure(self, name: str, work: Callable[[_Probe], None]) -> bool:
        """One part, anew. Whether it may come to its end if nothing else is asked meanwhile."""
        if self._measured[name].numbers and self._counted.state.lost is not None:  # asked once more of a server that is gone
            return False
        self._progress(name)
        self._measured[name] = StructureFigures(dict(self.numbers))
        probe = replace(self._counted, out=self._measured[name], crowded=False)
        work(probe)
        if name == ALGORITHMS:
            self._crowded = probe.crowded
        return probe.crowded

    def _algorithms(self, probe: _Probe) -> None:
        """What the projection tells but for the communities, and all reasons why there is none."""
        if reason := missing(probe.graph):
            probe.skip(gds_ids(), reason)
        elif not self.numbers["entities"]:
            probe.skip(gds_ids(), "the graph has no entities")
        else:
            taken = probe.part(gds_ids(), lambda: self._projected(probe))
            self._taken = taken and "communities" not in probe.accounted_for()
        # last: the projection tells them faster where it counts all relations
        if "degree_max" not in probe.accounted_for():
            probe.part(
                PARTS["degrees"], lambda: _degrees(probe, {row["degree"]: row["entities"] for row in probe.rows("degree-histogram")}),
            )

    def _projected(self, probe: _Probe) -> None:
        timeout = probe.options.timeout
        self._estimate(probe)
        if refusal := probe.memory.refusal(PROJECTION):
            probe.skip(gds_ids(), f"projecting the graph {refusal}")
            return
        with projected(probe.graph, probe.layout, self._expected(), timeout=timeout) as view:
            self._granted = probe.memory
            _graph_parts(probe, view, self._progress)

    def _estimate(self, probe: _Probe) -> None:
        """What the algorithms may take of the server, where that is limited."""
        if probe.graph.memory_limit is not None:
            numbers = self.numbers
            probe.memory = estimate(probe.graph, numbers["entities"], numbers["relations"], timeout=probe.options.timeout)

    def _communities(self, probe: _Probe) -> None:
        if self._granted is None and not self._taken:  # no projection: `_algorithms` has said why, and may be asked once more
            probe.crowded = self._crowded
            return

        def work() -> None:
            if self._granted is None:
                self._estimate(probe)
            else:
                probe.memory = self._granted
            with projected(probe.graph, probe.layout, self._expected(), timeout=probe.options.timeout) as view:
                probe.granted("communities", method_for(view.nodes), lambda: _communities(probe, view))

        probe.part(PARTS["communities"], work)

    def _expected(self) -> Expected:
        return Expected(self.numbers["entities"], self.numbers["relations"], self.numbers["self_loops"])


@dataclass
class _Probe:
    """One measuring run: where to read, and where figures and reasons go. `crowded`: as PartFailure, of a part. `depth`: of the parts
    under way, one within the other."""

    graph: Graph
    layout: Layout
    options: StructureOptions
    out: StructureFigures
    state: ServerState
    kept: KeptAnswers
    memory: MemoryEstimate = field(default_factory=lambda: MemoryEstimate({}))
    crowded: bool = False
    depth: int = 0

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        return GraphReader(self.graph, self.layout, self.options.timeout).rows(name, **params)

    def part(self, ids: list[str], work: Callable[[], None]) -> bool:
        """Runs one part, or takes what was kept of it; whether it was taken. A failure is noted under its ids, save those of figures
        already measured or explained. Nothing is asked of a server that is gone. What came to its end with all its parts is kept.

        Raises: ProjectionLost within another part, which is then run once more, with a projection anew.
        """
        if self._take(ids):
            return True
        numbers, skips, incomplete = set(self.out.numbers), len(self.out.skipped), self.out.incomplete
        self.out.incomplete = False
        self.depth += 1
        try:
            failure = self.state.lost or attempt(work).failure
        finally:
            self.depth -= 1
        if failure and failure.unprojected and self.depth:
            self.out.incomplete |= incomplete
            raise ProjectionLost(failure.reason, fix="run the command again")
        if failure:
            known = self.accounted_for()
            self.skip([figure for figure in ids if figure not in known], failure.reason)
            self.out.incomplete = True
            self.crowded |= failure.crowded
            self.state.lost = failure if failure.lost else self.state.lost
        elif not self.out.incomplete:
            self._keep(ids, {name: value for name, value in self.out.numbers.items() if name not in numbers}, self.out.skipped[skips:])
        self.out.incomplete |= incomplete
        return False

    def has_kept(self, ids: list[str]) -> bool:
        """Whether `part` takes what was kept."""
        return self.kept.taking and self.kept.take(*self._question(ids)) is not None

    def _take(self, ids: list[str]) -> bool:
        found = self.kept.take(*self._question(ids)) if self.kept.taking else None
        if found is None:
            return False
        self.out.numbers |= found["numbers"]
        self.out.skipped += [StructureSkip.model_validate(skip) for skip in found["skipped"]]
        if found["map"] is not None:
            self.out.community_map = CommunityMap.model_validate(found["map"])
        self.kept.figures.update(found["numbers"])
        return True

    def _keep(self, ids: list[str], numbers: Numbers, skipped: list[StructureSkip]) -> None:
        if self.kept.store is None:
            return
        drawn = self.out.community_map
        body = {
            "numbers": numbers, "skipped": [skip.model_dump(mode="json") for skip in skipped],
            "map": None if drawn is None else drawn.model_dump(mode="json"),
        }
        self.kept.keep(body, *self._question(ids))

    def _question(self, ids: list[str]) -> tuple[object, ...]:
        """All that a part depends on besides the graph."""
        options = self.options
        texts = [options.tokens, options.corpus and list(options.corpus)] if ids == PARTS["tokens"] else []
        return "figures", ids, self.layout.model_dump(mode="json"), options.community_seed, texts

    def granted(self, name: str, step: str, work: Callable[[], None]) -> None:
        """Runs one part that takes memory of the server, if it is granted so much; else it is skipped with the reason."""
        if refusal := self.memory.refusal(step):
            self.skip(PARTS[name], f"this {refusal}")
        else:
            self.part(PARTS[name], work)

    def accounted_for(self) -> set[str]:
        """The figures that are measured or explained by now."""
        return {*self.out.numbers, *(figure for skip in self.out.skipped for figure in skip.ids)}

    def skip(self, ids: list[str], reason: str) -> None:
        if ids:
            self.out.skipped.append(StructureSkip(ids=ids, reason=reason))


def counting(layout: Layout) -> list[str]:
    """The queries of `StructureParts.count`."""
    return ["entities-by-type", "relations-by-type", *(["chunks-and-documents"] if layout.chunk_labels or layout.document_labels else [])]


def _counts(probe: _Probe) -> None:
    by_type = {row["type"]: row["count"] for row in probe.rows("entities-by-type")}
    rows = probe.rows("relations-by-type")
    n, m = sum(by_type.values()), sum(row["count"] for row in rows)
    probe.out.numbers |= {
        "entities": n, "relations": m, "self_loops": sum(row["self_loops"] for row in rows),
        "entities_by_type": {NO_TYPE if k is None else k: v for k, v in by_type.items()},
        "relations_by_type": {row["type"]: row["count"] for row in rows},
    }
    if n:
        probe.out.numbers["average_degree"] = 2 * m / n


def _chunks(probe: _Probe) -> None:
    if not probe.layout.chunk_labels and not probe.layout.document_labels:
        probe.skip(PARTS["chunks"], "the graph holds no chunks or documents that the layout knows")
        return
    row = probe.rows("chunks-and-documents")[0]
    probe.out.numbers |= {"chunks": row["chunks"], "documents": row["documents"], "chunks_with_text": row["chunks_with_text"]}


def _tokens(probe: _Probe) -> None:
    probe.part(PARTS["tokens"], lambda: _count_tokens(probe))


def _count_tokens(probe: _Probe) -> None:
    options, numbers = probe.options, probe.out.numbers
    if options.tokens is not None:
        tokens = options.tokens
    elif options.corpus is not None:
        tokens = sum(map(count_tokens, options.corpus))
    elif numbers.get("chunks_with_text"):
        rows = GraphReader(probe.graph, probe.layout, options.timeout).stream("chunk-texts")
        tokens = sum(count_tokens(row["text"]) for row in rows)
    else:
        probe.skip(PARTS["tokens"], "no chunk texts in the graph; give the texts with --corpus")
        return
    numbers |= {"tokens": tokens, "tokenizer": TOKENIZER}
    if not tokens:
        probe.skip(PARTS["tokens"][1:], "the texts hold no token")
    else:
        for per in (1, 10):
            numbers[f"entities_per_{per}k_tokens"] = numbers["entities"] * 1000 * per / tokens
            numbers[f"relations_per_{per}k_tokens"] = numbers["relations"] * 1000 * per / tokens


def _properties(probe: _Probe) -> None:
    with probe.graph.remembering():
        GraphReader(probe.graph, probe.layout, probe.options.timeout).ahead([("entity-properties", {}), ("relation-properties", {})])
        probe.part(PARTS["properties"], lambda: _count_properties(probe))


def _count_properties(probe: _Probe) -> None:
    numbers = probe.out.numbers
    fill: dict[str, float] = {}
    types: dict[str, dict[str, int]] = {}
    kinds_of = (("entity-properties", "entities_by_type", "{}.{}"), ("relation-properties", "relations_by_type", "[:{}].{}"))
    for name, totals, shown in kinds_of:
        for row in probe.rows(name):
            key, total = shown.format(row["label"], row["property"]), numbers[totals].get(row["label"])
            kinds = types.setdefault(key, {})
            kinds[row["value_type"]] = kinds.get(row["value_type"], 0) + row["count"]
            if total:
                fill[key] = fill.get(key, 0.0) + row["count"] / total
    numbers |= {"property_fill": fill, "property_types": types}


def _graph_parts(probe: _Probe, view: View, progress: Progress) -> None:
    if view.has_all:  # else they are counted in Cypher at the end
        probe.part(PARTS["degrees"], lambda: _degrees(probe, view.degrees(every=True)))
    probe.granted("simple", "simple", lambda: _simple(probe, view))
    progress("components")
    probe.granted("components", "components", lambda: _components(probe, view))
    progress("diameter")
    probe.granted("diameter", "components", lambda: _diameter(probe, view))
    progress("bridges")
    probe.granted("bridging", "bridging", lambda: _bridging(probe, view))


def _degrees(probe: _Probe, histogram: dict[int, int]) -> None:
    if not histogram:
        return
    probe.out.numbers |= {
        "degree_min": min(histogram), "degree_max": max(histogram),
        "degree_median": figures.quantile(histogram, 0.5), "degree_p95": figures.quantile(histogram, 0.95),
        "degree_histogram": {str(k): v for k, v in sorted(histogram.items())},
        **{f"degree_above_{k}": figures.share_above(histogram, k) for k in (1, 2, 3)},
    }


def _simple(probe: _Probe, view: View) -> None:
    numbers, n = probe.out.numbers, view.nodes
    histogram, average = view.degrees(), view.clustering()
    two = sum(v for k, v in histogram.items() if k >= 2)
    numbers |= {
        "simple_edges": view.edges, "simple_average_degree": 2 * view.edges / n, "isolated": histogram.get(0, 0),
        "isolated_share": histogram.get(0, 0) / n, "average_clustering": average,
        "density": view.edges / (n * (n - 1) / 2) if n > 1 else None,
        # GDS divides by all nodes; igraph, and with it GraphRAG-Bench's script, leaves out those of degree below 2
        "average_clustering_degree2": average * n / two if two else None,
    }


def _components(probe: _Probe, view: View) -> None:
    histogram = view.component_sizes()
    centres = figures.sizes({size: n for size, n in histogram.items() if size > 1})
    probe.out.numbers |= {
        "components": sum(histogram.values()), "giant_share": max(histogram) / view.nodes,
        "component_size_histogram": {str(k): v for k, v in sorted(histogram.items())},
        "component_size_mean": centres.mean, "component_size_median": centres.median,
        "component_size_trimmed": centres.trimmed, "component_size_geometric": centres.geometric,
        "component_size_harmonic": centres.harmonic,
    }


def _diameter(probe: _Probe, view: View) -> None:
    numbers = probe.out.numbers
    if not view.edges:
        numbers["diameter"] = 0
        return
    giant = view.giant()
    if giant.size <= EXACT_DIAMETER_NODES:
        numbers["diameter"] = figures.diameter(view.giant_edges(giant))
        return
    # a double sweep: from any node to one that is farthest from it, and from there to the farthest again
    start = view.farthest(giant.node)
    numbers["diameter_lower_bound"] = view.hops(start, view.farthest(start))


def _bridging(probe: _Probe, view: View) -> None:
    probe.out.numbers |= {"articulation_points": view.articulation_points(), "bridges": view.bridges()}


def _communities(probe: _Probe, view: View) -> None:
    if not view.edges:
        probe.skip(PARTS["communities"], "the graph has no relations between two entities")
        return
    numbers, probe.out.community_map, partition = communities(view, seed=probe.options.community_seed)
    probe.out.numbers |= numbers
    # a part of its own: it sorts all edges anew, and what it cannot have takes nothing from the figures before
    seed, timeout = probe.options.community_seed, probe.options.timeout
    probe.part(STABILITY, lambda: probe.out.numbers.update(stability(view, partition, seed=seed, timeout=timeout)))
