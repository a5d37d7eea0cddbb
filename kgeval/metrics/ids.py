"""Retrieved ids against gold ids: chunks by rank, nodes and relations of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2

from kgeval.metrics.definition import Metric, MetricValue, Need, Subject, not_applicable, scored
from kgeval.metrics.elements import gold_nodes, gold_relations, match
from kgeval.records import GraphRef, Question
from kgeval.text.names import is_element_id

NOTHING = "nothing was retrieved"
Groups = Sequence[tuple[str, ...]]


def ranked(subject: Subject) -> list[str]:
    """The ids of the retrieved contexts in their order; a repeated id counts once, at its first place: a system that returns one chunk ten
    times has neither ten right ones nor nine wrong ones."""
    return list(dict.fromkeys(context.chunk_id for context in subject.row.answer.contexts or () if context.chunk_id))


def gold_groups(subject: Subject) -> list[tuple[str, ...]]:
    """The distinct groups of gold ids: of each group one is needed."""
    return list({frozenset(group): tuple(dict.fromkeys(group)) for group in subject.row.question.evidence_groups}.values())


def gains(ids: Sequence[str], groups: Groups) -> list[int]:
    """For each id the number of groups that it is the first of: 0 or 1, more only where an id stands in several groups. A group holds the
    chunks that say the same (overlaps, copies): a second one of them is no second hit."""
    places = _places(groups)
    groups_found: set[int] = set()
    gained = []
    for chunk_id in ids:
        new = places.get(chunk_id, set()) - groups_found
        gained.append(len(new))
        groups_found |= new
    return gained


def _places(groups: Groups) -> dict[str, set[int]]:
    places: dict[str, set[int]] = {}
    for n, group in enumerate(groups):
        for chunk_id in group:
            places.setdefault(chunk_id, set()).add(n)
    return places


def dcg(gained: Sequence[int]) -> float:
    """Discounted cumulative gain (Järvelin and Kekäläinen 2002): sum of gain / log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gained, start=1) if gain)


def ideal_gains(groups: Groups) -> list[int]:
    """The gains of the best order: the id first that stands in most groups not found yet; ones, where no id stands in two."""
    places = _places(groups)
    # the usual case, and quick: no chunk is in two groups
    if all(len(missing) == 1 for missing in places.values()):
        return [1] * len(groups)
    gained: list[int] = []
    while places:
        best = max(sorted(places), key=lambda chunk_id: len(places[chunk_id]))
        new = places[best]
        gained.append(len(new))
        places = {chunk_id: left for chunk_id, missing in places.items() if (left := missing - new)}
    return gained


def _recall(subject: Subject) -> MetricValue:
    ids, groups = set(ranked(subject)), gold_groups(subject)
    recalled = sum(not ids.isdisjoint(group) for group in groups)
    return scored(recalled / len(groups), found=recalled, groups=len(groups))


def _precision(subject: Subject) -> MetricValue:
    ids, gold = ranked(subject), {chunk_id for group in gold_groups(subject) for chunk_id in group}
    right = sum(chunk_id in gold for chunk_id in ids)
    return scored(right / len(ids), right=right, retrieved=len(ids)) if ids else not_applicable(NOTHING)


def _mrr(subject: Subject) -> MetricValue:
    ids, gold = ranked(subject), {chunk_id for group in gold_groups(subject) for chunk_id in group}
    rank = next((rank for rank, chunk_id in enumerate(ids, start=1) if chunk_id in gold), None)
    return scored(1 / rank if rank else 0.0, rank=rank, retrieved=len(ids))


def _ndcg(subject: Subject) -> MetricValue:
    ids, groups = ranked(subject), gold_groups(subject)
    got, best = dcg(gains(ids, groups)), dcg(ideal_gains(groups))
    # the best order is found greedily, so that a retrieved order may be better where chunks are in several groups
    return scored(min(1.0, got / best), dcg=got, ideal=best, retrieved=len(ids), groups=len(groups))


def _elements(kind: str, *, precision: bool) -> Callable[[Subject], MetricValue]:
    """Recall or precision over nodes or relations."""
    gold_of: Callable[[Question], list[GraphRef]] = gold_nodes if kind == "nodes" else gold_relations

    def compute(subject: Subject) -> MetricValue:
        answer = subject.row.answer
        retrieved, gold = answer.retrieved_nodes if kind == "nodes" else answer.retrieved_relations, gold_of(subject.row.question)
        if retrieved is None or not gold:
            return not_applicable(f"no gold {kind} are given" if not gold else f"the answer does not tell which {kind} it retrieved")
        if retrieved and not any(ref.element_id for ref in gold) and all(is_element_id(text.strip()) for text in retrieved):
            return not_applicable(f"the gold {kind} have no element ids, and the answer calls what it retrieved by nothing else")
        matched = match(gold, retrieved)
        detail = {"found": len(matched.found), "gold": len(gold), "right": matched.hits, "retrieved": matched.retrieved, **matched.levels()}
        if not precision:
            return scored(len(matched.found) / len(gold), **detail)
        return scored(matched.hits / matched.retrieved, **detail) if matched.retrieved else not_applicable(NOTHING)

    return compute


_ONCE = "A repeated id counts once, at its first place."
_NONE = "Nothing retrieved: 0."
_IDS: tuple[Need, ...] = ("evidence_ids", "context_ids")
_MATCHED = (
    "Matched by element id, else key, else normalised name; element ids alone against gold without any: not applicable. Gold: those of "
    "the gold path, else those that the question was made from."
)


def _element_metric(kind: str, *, precision: bool) -> Metric:
    name = ("entity_" if kind == "nodes" else "relation_") + ("precision" if precision else "recall")
    summary = f"Retrieved {kind} that are gold ones." if precision else f"Gold {kind} that were retrieved."
    formula = (
        f"retrieved {kind} that are gold / distinct retrieved {kind} (names by their normal form). Nothing retrieved: not applicable."
        if precision else f"gold {kind} that were retrieved / gold {kind}. {_NONE}"
    )
    return Metric(
        name, "retrieval", summary, f"{formula} {_MATCHED}", "[M 2]; C-Rec over elements of the graph",
        _elements(kind, precision=precision), needs=("retrieved",), version=3 if precision else 2,
    )


METRICS: tuple[Metric, ...] = (
    Metric(
        "id_recall", "retrieval", "Gold chunks that were retrieved, by id.",
        f"groups of gold ids of which at least one was retrieved / groups of gold ids. {_NONE}",
        "Manning et al. 2008, ch. 8; groups of equal chunks are ours", _recall, needs=_IDS,
    ),
    Metric(
        "id_precision", "retrieval", "Retrieved chunks that are gold ones, by id.",
        f"retrieved ids that stand in a group of gold ids / distinct retrieved ids. {_ONCE} Nothing retrieved: not applicable.",
        "Manning et al. 2008, ch. 8", _precision, needs=_IDS,
    ),
    Metric(
        "mrr", "retrieval", "How early the first gold chunk comes.",
        f"1 / rank of the first retrieved id that is a gold one; 0 if none is. {_ONCE}", "Voorhees 1999 (TREC-8)", _mrr, needs=_IDS,
    ),
    Metric(
        "ndcg", "retrieval", "How early the gold chunks come.",
        "DCG / DCG of the best order of all gold groups, DCG = sum of gain / log2(rank + 1); the first id of a group gains 1, further "
        f"ids of it gain nothing. No cut-off: gold ids that were not retrieved lower it. {_ONCE}",
        "Järvelin and Kekäläinen 2002, binary gains", _ndcg, needs=_IDS,
    ),
    *(_element_metric(kind, precision=precision) for kind in ("nodes", "relations") for precision in (False, True)),
)
