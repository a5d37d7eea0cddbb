"""Which stratum an entity is in: its type, how many relations it has, a document that it comes from, its community."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.graph.algorithms import node_number
from kgeval.records import Stratum
from kgeval.stats.sampling import random_number

if TYPE_CHECKING:
    from kgeval.questions.sampling.world import World

NONE = "(none)"


def strata_of(world: World, by: Stratum) -> list[str]:
    """The stratum of every entity, by place: `type=PERSON`, `degree=4-7`, `document=D1`, `community=12`.

    An entity of several documents is in one of them, by its seed. An entity without type, document or relation is in `(none)`.
    Raises: UsageError where the graph has no documents.
    """
    return [f"{by}={name}" for name in NAMES[by](world)]


def _types(world: World) -> list[str]:
    return [name or NONE for name in world.entities.types]


def _degrees(world: World) -> list[str]:
    return [bucket(int(degree)) for degree in world.entities.degrees]


def bucket(degree: int) -> str:
    """The bucket of a degree: 0, 1, 2-3, 4-7, 8-15 ..."""
    low = 1 << (degree.bit_length() - 1) if degree else 0
    return str(degree) if degree < 2 else f"{low}-{2 * low - 1}"


def _documents(world: World) -> list[str]:
    known = world.documents_by_entity
    if not any(known.values()):
        raise UsageError(
            "no entity comes from a document that the graph has", fix="stratify by type, degree or community; see kgeval layout detect",
        )
    return [_home(world, name, known.get(name, [])) for name in world.entities.ids]


def _home(world: World, element_id: str, documents: list[str]) -> str:
    """One of an entity's documents: each entity is in one stratum only, so that none has more chances than another."""
    if not documents:
        return NONE
    return documents[random_number(world.seed, "home", str(world.entities.place[element_id]), *documents) % len(documents)]


def _communities(world: World) -> list[str]:
    found = world.communities
    return [str(found.get(node_number(name), NONE)) for name in world.entities.ids]


NAMES: dict[Stratum, Callable[[World], list[str]]] = {
    "type": _types, "degree": _degrees, "document": _documents, "community": _communities,
}
