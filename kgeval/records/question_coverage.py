"""What sets of questions cover of a graph, and what they miss."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from kgeval.records.base import Public, Record
from kgeval.records.gate import Gate
from kgeval.records.graph import Layout
from kgeval.records.manifest import RunReport

Facet = Literal["types", "predicates", "communities", "documents", "degrees", "hops"]


class CoverageGroup(Record):
    """One type, predicate, community, document, bucket of degrees or hop count. `size`: what it has in the graph (entities, relations,
    chunks), null for hop counts. `questions`: that touch it; `recorded`: those of them whose file says so, so that nothing was guessed
    from names in texts."""

    name: str
    size: int | None = None
    questions: int = 0
    recorded: int = 0


class CoverageFigure(Record):
    """One facet of the graph. `total`: groups that the graph has, `covered`: those that a question touches, `share` of them (0..1);
    `recorded_share`: the share without what was found by names in texts. `size_share`: share of the things (`of`: entities, relations,
    chunks) that are in covered groups. `questions`: those that touch any group.

    `groups`: covered ones, most questions first; `missing`: the largest first; both may be cut. `query`, `parameters`: the Cypher that
    lists all that is missing; a parameter that is called as a field of the report's layout has that value. `reason`: why there is no
    figure (`total` null).
    """

    facet: Facet
    of: Public
    total: int | None = None
    covered: int | None = None
    share: float | None = Field(default=None, ge=0, le=1)
    recorded_share: float | None = Field(default=None, ge=0, le=1)
    size_share: float | None = Field(default=None, ge=0, le=1)
    questions: int = 0
    groups: list[CoverageGroup] = Field(default_factory=list)
    missing: list[CoverageGroup] = Field(default_factory=list)
    query: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    reason: Public | None = None


class CoverageWays(Record):
    """How questions were found in the graph: `recorded`: by what their file records (structure, path); `by_names`: by names that
    question, right answers or evidence mention; `nowhere`: neither.

    `references`: what the files record, by how it was found: element_id, key, name; `lost`: not in this graph. `documents`: questions
    by how their documents were told: chunk_ids, document, relations (where those come from), nothing. `hops`: by file, triples, nothing.
    """

    recorded: int = 0
    by_names: int = 0
    nowhere: int = 0
    references: dict[Public, int] = Field(default_factory=dict)
    lost: int = 0
    documents: dict[Public, int] = Field(default_factory=dict)
    hops: dict[Public, int] = Field(default_factory=dict)


class CoverageSet(Record):
    """One file of questions: n = recorded + by_names + nowhere of `ways`."""

    file: Public
    n: int
    ways: CoverageWays
    figures: list[CoverageFigure]
    notes: list[Public] = Field(default_factory=list)


class CoverageReport(RunReport):
    """What one or several sets of questions cover of one graph."""

    graph: Public | None = None
    layout: Layout
    entities: int
    relations: int
    sets: list[CoverageSet]
    gates: list[Gate] = Field(default_factory=list)
    notes: list[Public] = Field(default_factory=list)
