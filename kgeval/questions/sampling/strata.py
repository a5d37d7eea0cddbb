"""Which stratum an entity is in: its type, how many relations it has, a document that it comes from, its community."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.graph.algorithms import node_number
from kgeval.records import Stratum
from kgeval.stats.sampling import random_number

if TYPE_CHECKING:
    from kgeval.questions.sampling.sampled_graph import SampledGraph

NONE = "(none)"


def strata_of(graph: SampledGraph, by: Stratum) -> list[str]:
    """The stratum of every entity, by place: `type=PERSON`, `degree=4-7`, `document=D1`, `community=12`.

    An entity of several documents is in one of them, by its seed: so none has more chances than another. An entity
    without type, document or relation is in `(none)`. Raises: UsageError where the graph has no documents. """
    entities = graph.entities
    if by == "type":
        names = [name or NONE for name in entities.types]
    elif by == "degree":
        names = [bucket(int(degree)) for degree in entities.degrees]
    elif by == "community":
        names = [str(graph.communities.get(node_number(element_id), NONE)) for element_id in entities.ids]
    else:
        sources = graph.documents_by_entity
        if not any(sources.values()):
            raise UsageError(
                "no entity comes from a document that the graph has",
                fix="stratify by type, degree or community; see kgeval layout detect",
            )
        names = []
        for place, element_id in enumerate(entities.ids):
            documents = sources.get(element_id, [])
            chosen = random_number(graph.seed, "home", str(place), *documents) % len(documents) if documents else 0
            names.append(documents[chosen] if documents else NONE)
    return [f"{by}={name}" for name in names]


def bucket(degree: int) -> str:
    """The bucket of a degree: 0, 1, 2-3, 4-7, 8-15 ..."""
    low = 1 << (degree.bit_length() - 1) if degree else 0
    return str(degree) if degree < 2 else f"{low}-{2 * low - 1}"
