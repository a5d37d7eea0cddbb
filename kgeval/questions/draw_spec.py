"""What is asked of a sample, and what a graph can give."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.records import Stratum, StructureKind


@dataclass(frozen=True)
class DrawSpec:
    """Structures of one kind, in a seeded order, each once.

    `hops`: relations of a path or chain, of `chains` those of each; radius of a neighbourhood (disjoint: of each); steps of a
    hierarchy or dependency, which has more only where it needs them for `min_relations`. `parts`: chains of `chains`.
    `min_relations`: distinct relations (by element id) that a subgraph or chain has at least [Z: 50]; a walk that gives fewer
    is drawn again. `walk_length`: steps of a walk. `most_relations`: a neighbourhood (disjoint: each), community, hierarchy or
    dependency has no more (the first in a seeded order). `stratify`: draw evenly over the strata, instead of uniformly over
    all. `documents`: of a path, pair or chain, how many documents its relations come from at least. `most_passages`: of one
    structure, and half as many of one entity or relation of it; None: all that it comes from. """

    kind: StructureKind
    hops: int = 1
    min_relations: int = 50
    walk_length: int = 100
    most_relations: int = 100
    stratify: Stratum | None = None
    documents: int = 1
    parts: int = 3
    most_passages: int | None = 100


@dataclass(frozen=True)
class Capacity:
    """What a graph can give. `available`: structures of the kind, exactly or at most (None: not known before drawing);
    `why`: in words, what limits it ("its largest component has 12 relations")."""

    available: int | None
    exact: bool
    why: str
