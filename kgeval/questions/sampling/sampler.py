"""Draws structures out of a graph: seeded, repeatable, lazy.

The same graph and seed give the same structures in the same order, on each run and after a restart of the server; after
a rebuild too, as far as names and keys are the same (docs/sampling.md says where not). """

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.sampling import neighbourhoods, ordered, paths, random_walks, several, uniform
from kgeval.questions.sampling.capacity import capacity
from kgeval.questions.sampling.details import structures
from kgeval.questions.sampling.links import DrawnStructure
from kgeval.questions.sampling.sampled_graph import SampledGraph
from kgeval.records import Layout, Structure, StructureKind

DRAWERS: dict[StructureKind, Callable[[SampledGraph, DrawSpec], Iterator[list[DrawnStructure]]]] = {
    "node": uniform.nodes, "edge": uniform.edges, "neighbourhood": neighbourhoods.neighbourhoods, "path": paths.paths,
    "chain": random_walks.chains, "subgraph": random_walks.subgraphs, "pair": uniform.pairs,
    "community": neighbourhoods.communities, "chains": several.chains, "disjoint": several.disjoint, "hierarchy": ordered.ordered,
    "dependency": ordered.ordered,
}
NEED_GDS = frozenset(("chain", "subgraph", "community"))
OF_DOCUMENTS = frozenset(("path", "pair", "chain"))
PART = 64  # structures whose details are read together
PART_WITH_ALL = 4  # at first, where they come with all their passages: of a hub these are thousands
PASSAGES_AT_ONCE = 10_000  # from then on as many as come with about so many
MOST_FRUITLESS = 5_000  # structures in a row that come from too few documents


class Sampler:
    """An open sampler. It may be asked for several kinds, one after another or by turns; what it has read it keeps."""

    def __init__(self, graph: SampledGraph) -> None:
        self._graph = graph

    def capacity(self, wanted: DrawSpec) -> Capacity:
        """What the graph can give.

        Raises: UsageError for what does not fit together; ConnectError where the kind needs GDS and there is none;
        QueryError. """
        _check(wanted, self._graph)
        return capacity(self._graph, wanted)

    def structures(self, wanted: DrawSpec) -> Iterator[Structure]:
        """Structures in the seed's order, each once; ends when the graph has no more, or when the draws give nothing
        new for long. Asked again, it begins again.

        Raises: as `capacity`, at once: not when the first structure is taken.
        """
        _check(wanted, self._graph)
        return self._numbered(wanted)

    def _numbered(self, wanted: DrawSpec) -> Iterator[Structure]:
        number = fruitless = 0
        part = PART if wanted.most_passages is not None else PART_WITH_ALL
        for batch in DRAWERS[wanted.kind](self._graph, wanted):
            while batch:
                complete = structures(self._graph, wanted, batch[:part])
                batch = batch[part:]
                if wanted.most_passages is None:
                    part = _next_part(part, sum(len(structure.passages) for structure in complete))
                for structure in complete:
                    # how many documents it comes from: its relations, of a pair its entities
                    parts = structure.nodes if structure.kind == "pair" else structure.relations
                    if max(1, len({name for part in parts for name in part.documents})) < wanted.documents:
                        fruitless += 1
                        continue
                    fruitless = 0
                    yield structure.model_copy(update={"number": number})
                    number += 1
            if fruitless > MOST_FRUITLESS:
                return


def _next_part(part: int, passages: int) -> int:
    """How many structures to read after a part that came with so many passages."""
    if passages > PASSAGES_AT_ONCE:
        return max(PART_WITH_ALL, part // 2)
    return min(2 * part, PART) if 2 * passages <= PASSAGES_AT_ONCE else part


def _check(wanted: DrawSpec, graph: SampledGraph) -> None:
    """Refuses what does not fit together, and what this server cannot do."""
    if wanted.documents > 1 and wanted.kind not in OF_DOCUMENTS:
        raise UsageError(
            f"documents: not for {wanted.kind}", fix=f"ask it of {', '.join(sorted(OF_DOCUMENTS))}, or leave it out",
        )
    if wanted.stratify and wanted.kind == "community":
        raise UsageError("communities are not stratified: each is drawn once", fix="leave out stratify")
    if wanted.kind == "pair" and wanted.stratify == "document" and wanted.documents > 1:
        raise UsageError(
            "a pair of one document does not come from several", fix="leave out documents, or stratify by type",
        )
    if min(wanted.hops, wanted.min_relations, wanted.walk_length, wanted.most_relations, wanted.documents, wanted.parts) < 1:
        raise UsageError("hops, relations, steps, documents and parts are numbers from 1", fix="leave out what is below 1")
    if wanted.kind in NEED_GDS or wanted.stratify == "community":
        graph.graph.need_gds()


@contextmanager
def open_sampler(
    graph: Graph, layout: Layout, *, seed: int, timeout: float | None = None, chunks: Chunks | None = None,
) -> Iterator[Sampler]:
    """A sampler on an open graph with a bound layout, for the time of the `with` block; reads only. What it projects
    into GDS is dropped at the end.

    `timeout`: seconds a query may take. `chunks`: passages from files, in place of those in the graph.
    """
    with ExitStack() as held:
        yield Sampler(SampledGraph(graph, layout, seed, timeout=timeout, chunks=chunks, held=held))
