"""One open graph with what has been read of it so far: each thing is read when a draw first needs it, and once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.auditing.accuracy.population import Passages, PopulationReader, read_passages
from kgeval.auditing.accuracy.sample import SampleSpec as Reading
from kgeval.graph.algorithms import node_number
from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.graph.walks import WalkGraph, walkable
from kgeval.questions.sampling.links import GraphLink
from kgeval.questions.sampling.strata import strata_of
from kgeval.questions.sampling.turns import Lane, Turns
from kgeval.records import Layout, Stratum
from kgeval.stats.sampling import keys_of, random_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kgeval.questions.sampling.ordered import OrderedRelations

DAY = 86_400.0


@dataclass(frozen=True)
class SeededEntities:
    """Entities by place: element ids, types, and degrees (relations with other named entities). Places follow the
    seed's order."""

    ids: list[str]
    types: list[str | None]
    degrees: NDArray[np.int64]
    place: dict[str, int]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def relations(self) -> int:
        """Relations between two different named entities."""
        return int(self.degrees.sum()) // 2

    @property
    def joined(self) -> NDArray[np.int64]:
        """The places of entities that have a relation."""
        import numpy as np

        return np.flatnonzero(self.degrees)


def in_seeded_order(rows: Iterable[Row], seed: int) -> SeededEntities:
    """The entities of sample-entities, by a random number of their name and type; those that are called alike, by key,
    then element id.

    So a graph that is rebuilt has the same order, as far as its names and keys are the same.
    """
    import numpy as np

    ordered = sorted(rows, key=lambda row: (
        random_number(seed, "entity", *keys_of((row["name"], row["type"]))), row["key"] or "", len(row["element_id"]),
        row["element_id"],
    ))
    ids = [row["element_id"] for row in ordered]
    degrees = np.array([row["degree"] for row in ordered], dtype=np.int64)
    return SeededEntities(ids, [row["type"] for row in ordered], degrees, {name: place for place, name in enumerate(ids)})


class SampledGraph:
    """A graph as the draws of one seed see it. `held`: keeps the projection until the sampler is closed."""

    def __init__(
        self, graph: Graph, layout: Layout, seed: int, *, timeout: float | None, chunks: Chunks | None, held: ExitStack,
    ) -> None:
        self.graph, self.layout, self.seed, self.timeout = graph, layout, seed, timeout
        self._reader = PopulationReader(graph, layout, Reading(seed=seed, timeout=timeout or DAY), chunks)
        self._held = held
        self._strata: dict[Stratum, list[str]] = {}
        self.kept: dict[str, list[GraphLink]] = {}  # see links_at
        self.ordered: dict[str, OrderedRelations] = {}  # see ordered.py

    def ask(self, query: str, **params: Any) -> list[Row]:
        """The rows of a shipped query. Raises: QueryError, QueryTimeout, ConnectionLost."""
        return self.graph.read(all_queries()[query], {"layout": self._layout, **params}, timeout=self.timeout)

    def stream(self, query: str, **params: Any) -> Iterator[Row]:
        """The rows of a shipped query as they come: none is kept here. Raises: as `ask`."""
        return self.graph.stream(all_queries()[query], {"layout": self._layout, **params}, timeout=self.timeout)

    @cached_property
    def _layout(self) -> dict[str, Any]:
        return self.layout.model_dump()

    def rng(self, *name: str) -> np.random.Generator:
        """Random numbers of their own for one purpose: the same for the same seed and name, whatever else is drawn."""
        import numpy as np

        return np.random.default_rng(random_number(self.seed, *name))

    @cached_property
    def entities(self) -> SeededEntities:
        """Every named entity, in the seed's order."""
        return in_seeded_order(self.stream("sample-entities"), self.seed)

    @cached_property
    def walk_graph(self) -> WalkGraph:
        """The projected graph. Raises: ConnectError without GDS; QueryError without relations."""
        known = self.entities
        return self._held.enter_context(
            walkable(self.graph, self.layout, entities=len(known), relations=known.relations, timeout=self.timeout)
        )

    @cached_property
    def communities(self) -> Mapping[int, int]:
        """Node number -> community; nothing where there are no relations. Raises: ConnectError without GDS."""
        self.graph.need_gds()
        return self.walk_graph.communities(self.seed) if self.entities.relations else {}

    def degree(self, element_id: str) -> int:
        """Relations of an entity with other named ones."""
        return int(self.entities.degrees[self.entities.place[element_id]])

    def some_places(self, element_id: str, most: int, rng: np.random.Generator) -> list[int]:
        """Some of the places of an entity's relations, at most so many, in a random order; for `links_at`."""
        degree = self.degree(element_id)
        return [int(place) for place in rng.choice(degree, size=min(degree, most), replace=False)]

    def community_members(self) -> list[list[str]]:
        """The entities (element ids) of each community that has at least two."""
        members: dict[int, list[str]] = {}
        for place in self.entities.joined:
            element_id = self.entities.ids[place]
            if (community := self.communities.get(node_number(element_id))) is not None:
                members.setdefault(community, []).append(element_id)
        return [ids for ids in members.values() if len(ids) > 1]

    @cached_property
    def components(self) -> Mapping[int, int]:
        """Node number -> component; nothing where there are no relations. Raises: ConnectError without GDS."""
        self.graph.need_gds()
        return self.walk_graph.components() if self.entities.relations else {}

    @cached_property
    def passages(self) -> Passages:
        """Every chunk that has text."""
        return read_passages(self._reader)

    def texts(self, element_ids: list[str]) -> dict[str, str]:
        """The texts of chunks by element id."""
        return self._reader.texts(element_ids)

    def documents(self, chunks: list[str]) -> list[str]:
        """The documents of chunks (ids), each once, sorted."""
        places = self.passages.known(chunks)
        return sorted({name for place in places if (name := self.passages.documents[place]) is not None})

    @cached_property
    def documents_by_entity(self) -> dict[str, list[str]]:
        """Entity -> the documents that it comes from."""
        return {row["element_id"]: self.documents(row["chunks"]) for row in self.stream("sample-sources")}

    def strata(self, by: Stratum) -> list[str]:
        """The stratum of every entity, by place."""
        if by not in self._strata:
            self._strata[by] = strata_of(self, by)
        return self._strata[by]

    def lanes(self, places: NDArray[np.int64], by: Stratum | None) -> dict[str | None, NDArray[np.int64]]:
        """These entities (places) by stratum, the strata in a seeded order; one lane where they are not stratified."""
        import numpy as np

        if by is None:
            return {None: places}
        lanes: dict[str, list[int]] = {}
        for place in places:
            lanes.setdefault(self.strata(by)[place], []).append(int(place))
        order = sorted(lanes, key=lambda name: random_number(self.seed, "stratum", name))
        return {name: np.array(lanes[name], dtype=np.int64) for name in order}

    def turns(self, purpose: str, places: NDArray[np.int64], by: Stratum | None, *, again: bool = False) -> Turns:
        """These entities as seeds, from each stratum in turn. `purpose`: each has an order of its own, so that two
        kinds of structures do not start from the same entities."""
        lanes = {}
        for name, items in self.lanes(places, by).items():
            rng = self.rng("lane", purpose, name or "")
            lanes[name] = Lane(rng.permutation(items), rng, again=again)
        return Turns(lanes)
