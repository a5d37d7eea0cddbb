"""Pictures of parts of a graph as data: what is on them, not how they are drawn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from kgeval.records.base import Public, PublicRecord, Record

Mark = Literal["hit", "found", "missing"]


class DrawnNode(Record):
    """A node on a picture. `kind` other: none of the layout's roles. `mark`: hit: what a finding is about; found,
    missing: whether an answer's system retrieved this node of a gold path."""

    element_id: Public | None = None
    name: str
    type: Public | None = None
    kind: Literal["entity", "chunk", "document", "other"] = "entity"
    mark: Mark | None = None


class DrawnRelation(Record):
    """A relation on a picture. `start`, `end`: places in the picture's `nodes`. `name`: what a relation without a type is called, a user's
    text. `mark`: as of a node."""

    element_id: Public | None = None
    start: int
    end: int
    type: Public | None = None
    name: str | None = None
    mark: Mark | None = None


class Picture(Record):
    """A small part of a graph. `more`: neighbours that are not on it; `at_least`: there may be more than that, for not all relations of a
    node with very many were looked at. `directed`: the relations have a direction. `size`, `found`: of a gold path, its nodes and
    relations, drawn or not, and those of them that were retrieved; None where that is not known."""

    nodes: list[DrawnNode] = Field(min_length=1)
    relations: list[DrawnRelation] = Field(default_factory=list)
    more: int = Field(default=0, ge=0)
    at_least: bool = False
    directed: bool = True
    size: int | None = Field(default=None, ge=1)
    found: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _ends_are_places(self) -> Picture:
        _check_ends("relations", [(one.start, one.end) for one in self.relations], len(self.nodes), "nodes")
        return self


class DrawnCommunity(Record):
    """A community: how many entities it has and, of the largest ones, what its best-connected entities are called."""

    size: int = Field(ge=1)
    names: list[str] = Field(default_factory=list)


class CommunityLink(PublicRecord):
    """How many pairs of entities are joined across two communities, `start` and `end`: places in the map's `communities`."""

    start: int
    end: int
    pairs: int = Field(ge=1)


class CommunityMap(Record):
    """The largest communities of a graph and what joins them. `more`: communities that are not on it, with `more_entities` entities.
    `alone`: entities that are in no community but their own."""

    communities: list[DrawnCommunity]
    links: list[CommunityLink] = Field(default_factory=list)
    more: int = Field(default=0, ge=0)
    more_entities: int = Field(default=0, ge=0)
    alone: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _ends_are_places(self) -> CommunityMap:
        _check_ends("links", [(one.start, one.end) for one in self.links], len(self.communities), "communities")
        return self


def _check_ends(field: str, ends: list[tuple[int, int]], n: int, places: str) -> None:
    """Raises: ValueError, which names all that join what is not there."""
    wrong = [f"{field}[{at}] joins {start} and {end}" for at, (start, end) in enumerate(ends) if not (0 <= start < n and 0 <= end < n)]
    if wrong:
        raise ValueError(f"{'; '.join(wrong)}; there are {n} {places}, counted from 0")
