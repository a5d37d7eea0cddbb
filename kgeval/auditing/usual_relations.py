"""Relation types of which nearly each node of a label has just one."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.auditing.suspects import sizes_of_things
from kgeval.profiling.record import GraphProfile, RelationProfile

LEAST = 30  # nodes of which nearly all say something
LIKELY = (0.9, 1.5)  # relations a node, by the sample, between which nearly each node may have one


def likely_usual(
    profile: GraphProfile, least: int = LEAST, most: float = LIKELY[1], fewest: float = LIKELY[0],
) -> Iterator[tuple[RelationProfile, dict[str, str | bool]]]:
    """Types and labels between two labels, of which there may be one relation a node (`fewest` to `most`), as the queries take them."""
    nodes = sizes_of_things(profile, least)
    for relation in profile.types:
        for outgoing in (True, False):
            at: dict[str, float] = {}
            for ends in relation.ends:
                if ends.start != ends.end:
                    label = ends.start if outgoing else ends.end
                    at[label] = at.get(label, 0.0) + ends.share * relation.count
            for label, relations in sorted(at.items()):
                if label in nodes and fewest <= relations / nodes[label] <= most:
                    yield relation, {"label": label, "type": relation.type, "outgoing": outgoing}


def arrow(type_: str, *, outgoing: bool) -> str:
    """A relation of a type as it is drawn from or to a node."""
    return f"-[{type_[:100]}]->" if outgoing else f"<-[{type_[:100]}]-"
