"""Pictures of parts of a graph as data: what is on them, not how they are drawn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, PublicRecord, Record

Mark = Literal["hit", "found", "missing"]


class DrawnNode(Record):
    """A node on a picture, its name cut short. `kind` other: none of the layout's roles. `mark`: hit: what a finding is about; found,
    missing: whether an answer's system retrieved this node of a gold path."""

    element_id: Public | None = None
    name: str
    type: Public | None = None
    kind: Literal["entity", "chunk", "document", "other"] = "entity"
    mark: Mark | None = None


class DrawnRelation(Record):
    """A relation on a picture. `start`, `end`: places in the picture's `nodes`. `mark`: as of a node."""

    element_id: Public | None = None
    start: int
    end: int
    type: Public
    mark: Mark | None = None


class Picture(Record):
    """A small part of a graph. `more`: neighbours that are not on it; `at_least`: there may be more than that, for not all relations of a
    node with very many were looked at. `directed`: the relations have a direction."""

    nodes: list[DrawnNode]
    relations: list[DrawnRelation] = Field(default_factory=list)
    more: int = 0
    at_least: bool = False
    directed: bool = True


class DrawnCommunity(Record):
    """A community: how many entities it has and, of the largest ones, what its best-connected entities are called."""

    size: int
    names: list[str] = Field(default_factory=list)


class CommunityLink(PublicRecord):
    """How many pairs of entities are joined across two communities, `start` and `end`: places in the map's `communities`."""

    start: int
    end: int
    pairs: int


class CommunityMap(Record):
    """The largest communities of a graph and what joins them. `more`: communities that are not on it, with `more_entities` entities."""

    communities: list[DrawnCommunity]
    links: list[CommunityLink] = Field(default_factory=list)
    more: int = 0
    more_entities: int = 0
