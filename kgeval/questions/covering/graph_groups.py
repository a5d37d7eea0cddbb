"""The graph as coverage sees it: its types, predicates, communities, documents and degrees, each entity in its groups.
Read once."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.auditing.completeness.bridging import communities_of
from kgeval.auditing.completeness.documents import NAMED_BY
from kgeval.auditing.completeness.gold import document_keys
from kgeval.graph.queries import all_queries
from kgeval.questions.sampling.strata import bucket
from kgeval.records.question_coverage import Facet

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout

HOPS = ("1", "2", "3 and more")
HEADS = 3
LONGEST_TITLE = 100


@dataclass
class GraphGroups:
    """A graph by groups. `sizes`: facet -> group -> how much it has; `reasons`: why a facet has no groups. By place of
    an entity: element ids, types, degrees, communities (-1: none). `document_of`: what a document may be called -> its
    name as a group; `titles`: that name -> what people call it, where this is something else."""

    graph: Graph
    layout: Layout
    timeout: float
    ids: list[str] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    types: list[str | None] = field(default_factory=list)
    degrees: array[int] = field(default_factory=lambda: array("q"))
    communities: array[int] = field(default_factory=lambda: array("q"))
    sizes: dict[Facet, dict[str, int]] = field(default_factory=dict)
    reasons: dict[Facet, str] = field(default_factory=dict)
    document_of: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    untyped: int = 0

    def groups_of(self, element_id: str) -> Iterable[tuple[Facet, str]]:
        """The groups that an entity is in; none for what is no entity of this graph."""
        place = self.place.get(element_id)
        if place is None:
            return
        if (kind := self.types[place]) is not None:
            yield "types", kind
        yield "degrees", bucket(self.degrees[place])
        if self.communities[place] >= 0:
            yield "communities", str(self.communities[place])

    def degree(self, element_id: str) -> int:
        """Relations of an entity; -1 for what is no entity of this graph."""
        place = self.place.get(element_id)
        return -1 if place is None else self.degrees[place]

    def best(self, element_ids: Iterable[str]) -> str:
        """The one of several entities that has the most relations; of equal ones the oldest."""
        return min(element_ids, key=self._rank)

    def document(self, name: str) -> str | None:
        """The document's group, by key, title or file name."""
        return next((name_of_group for key in document_keys(name) if (name_of_group := self.document_of.get(key)) is not None), None)

    def heads(self, communities: Iterable[str], most: int = HEADS) -> dict[str, list[str]]:
        """Community -> element ids of its entities with the most relations."""
        members: dict[int, list[str]] = {int(name): [] for name in communities}
        for place, group in enumerate(self.communities):
            if group in members:
                members[group].append(self.ids[place])
        return {str(group): sorted(own, key=self._rank)[:most] for group, own in members.items()}

    def _rank(self, element_id: str) -> tuple[int, int, str]:
        """The best joined first; of equal ones the oldest: element ids end in a number that counts up."""
        return -self.degree(element_id), len(element_id), element_id


def load_graph_groups(graph: Graph, layout: Layout, *, timeout: float, seed: int = 0) -> GraphGroups:
    """The graph's groups, all read. Raises: QueryError, QueryTimeout, ConnectionLost."""
    profile = GraphGroups(graph, layout, timeout)
    for row in graph.stream(all_queries()["sample-entities"], {"layout": layout.model_dump()}, timeout=timeout):
        profile.place[row["element_id"]] = len(profile.ids)
        profile.ids.append(row["element_id"])
        profile.types.append(row["type"])
        profile.degrees.append(row["degree"])
    profile.untyped = sum(kind is None for kind in profile.types)
    profile.sizes["types"] = dict(Counter(kind for kind in profile.types if kind is not None))
    if not profile.sizes["types"]:
        profile.reasons["types"] = "the graph's entities have no types"
    profile.sizes["degrees"] = dict(Counter(map(bucket, profile.degrees)))
    params = {"layout": layout.model_dump(), "covered": []}
    rows = graph.read(all_queries()["coverage-predicates"], params, timeout=timeout)
    profile.sizes["predicates"] = {str(row["predicate"]): int(row["relations"]) for row in rows}
    if not rows:
        profile.reasons["predicates"] = "the graph has no relations between entities"
    _communities(profile, seed)
    _documents(profile)
    profile.sizes["hops"] = dict.fromkeys(HOPS, 0)
    return profile


def _communities(profile: GraphGroups, seed: int) -> None:
    """Communities of one are entities without relations: no question about how things are joined can be in them, and
    they are left out."""
    if profile.graph.info.gds is None:
        group_of: dict[str, int] = {}
        profile.reasons["communities"] = "this server has no Graph Data Science plugin"
    else:
        named = communities_of(profile.graph, profile.layout, profile.ids, timeout=profile.timeout, seed=seed)
        group_of = {element_id: int(group) for element_id, group in named.items()}  # GDS hands property values out as floats
    size = Counter(group_of.values())
    profile.communities = array("q", (group if size[group := group_of.get(one, -1)] > 1 else -1 for one in profile.ids))
    profile.sizes["communities"] = {str(group): n for group, n in size.items() if n > 1}
    if not profile.sizes["communities"]:
        profile.reasons.setdefault("communities", "no two entities are joined")


def _documents(profile: GraphGroups) -> None:
    if not profile.layout.document_labels:
        profile.sizes["documents"] = {}
        profile.reasons["documents"] = "the graph's layout has no documents"
        return
    keys = list(dict.fromkeys(filter(None, [profile.layout.document_key, *NAMED_BY])))
    parameters = {"layout": profile.layout.model_dump(), "covered": [], "keys": keys}
    sizes: dict[str, int] = {}
    for row in profile.graph.stream(all_queries()["coverage-documents"], parameters, timeout=profile.timeout):
        name = row["document"]
        sizes[name] = sizes.get(name, 0) + row["chunks"]
        for key in {key for called in (name, *row["names"]) for key in document_keys(called)}:
            profile.document_of.setdefault(key, name)
        if title := next((called for called in row["names"] if called != name), None):
            profile.titles[name] = title[:LONGEST_TITLE]
    profile.sizes["documents"] = sizes
    if not sizes:
        profile.reasons["documents"] = "the graph has no documents"
