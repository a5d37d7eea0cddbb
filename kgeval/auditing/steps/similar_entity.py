"""similar-entity: two entities of one type whose embeddings are so near that they may be one thing under two names."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.contexts import Contexts, SharedContext
from kgeval.auditing.nearness import neighbours
from kgeval.auditing.similar import NearPair, alike
from kgeval.records import Example, GraphRef

LEAST_SHARED = 3  # neighbours that two related entities must have in common: what is related is rather two things
MOST_READ = 20_000  # entities whose neighbours are read: the nearest pairs come first, and the rest is judged by its cosine alone


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities in at least one listed pair; `total`: entities that were compared. Each example is one pair, nearest first."""
    nearest = neighbours(check)
    ends = _entities(check, sorted({end for a, b, _ in nearest.pairs for end in (a, b)}))
    unknown = set(check.layout.placeholder_values)
    pairs: list[NearPair] = []
    for a, b, cosine in nearest.pairs:
        how = alike(ends[a], ends[b], placeholders=unknown) if a in ends and b in ends else None
        if how is not None:
            pairs.append(NearPair(ends[a], ends[b], cosine, how))
    kept = [
        (pair, near) for pair, near in zip(pairs, _shared(check, pairs), strict=True)
        if not (near.related and near.neighbours < LEAST_SHARED)
    ]
    kept.sort(key=lambda one: (-one[0].cosine, one[0].a.name, one[0].b.name, one[0].a.element_id or "", one[0].b.element_id or ""))
    involved = {end.element_id for pair, _ in kept for end in (pair.a, pair.b)}
    examples = [
        Example(
            items=sorted((pair.a, pair.b), key=lambda end: (end.name, end.element_id or "")),
            why=f"{pair.form}; cosine {pair.cosine:.3f}; {near}",
        ) for pair, near in kept[: check.sample]
    ]
    return CheckOutcome(len(involved), nearest.compared, examples, nearest.note, len(kept))


def _entities(check: CheckRun, ids: list[str]) -> dict[str, GraphRef]:
    """Names and types of the entities that are in a pair."""
    if not ids:
        return {}
    rows = check.own_rows(ids=ids)
    return {
        row["element_id"]: GraphRef(element_id=row["element_id"], key=row["key"], name=row["name"], type=row["type"]) for row in rows
    }


def _shared(check: CheckRun, pairs: list[NearPair]) -> list[SharedContext]:
    """What the two of each pair have in common; nothing beyond the first `MOST_READ` entities."""
    listed = list(dict.fromkeys(end.element_id or "" for pair in pairs for end in (pair.a, pair.b)))[:MOST_READ]
    numbers = {element_id: number for number, element_id in enumerate(listed)}
    contexts = Contexts(check, dict(enumerate(listed)))
    return [contexts.shared(numbers.get(pair.a.element_id or "", -1), numbers.get(pair.b.element_id or "", -1)) for pair in pairs]
