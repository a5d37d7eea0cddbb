"""Runs the duplicate checks on the world of the labelled pairs: each alone, and all together."""

from __future__ import annotations

from world import PAIRS

from kgeval.auditing.accuracy.duplicates import ListedPairs, listed_pairs
from kgeval.auditing.accuracy.gold_pairs import GoldPair, GoldPairCounts, against_gold, read_pairs, share_interval
from kgeval.auditing.check import Embedding
from kgeval.auditing.rule_pages import MeasuredRun, MeasuredRuns, MeasuredShare, PairClass
from kgeval.graph.connect import Graph
from kgeval.records import Layout
from kgeval.stats.intervals import Interval

TIMEOUT = 600.0
PLAIN: list[tuple[str, ...]] = [("duplicate-name",), ("fragmented-entity",)]
EMBEDDED: list[tuple[str, ...]] = [("fragmented-entity",), ("similar-entity",)]


def measure(graph: Graph, layout: Layout, embedding: Embedding | None) -> MeasuredRuns:
    """The figures of each set of checks; without `embedding` only of those that need none."""
    gold = read_pairs(PAIRS)
    plain = [lists(graph, layout, checks, None) for checks in PLAIN]
    runs = [_run(listed, gold, "") for listed in plain]
    if embedding is not None:
        embedded = [lists(graph, layout, checks, embedding) for checks in EMBEDDED]
        together = union([plain[0], *embedded])
        runs += [_run(listed, gold, embedding.embedder.name) for listed in (*embedded, together)]
    return MeasuredRuns(run=runs)


def union(several: list[ListedPairs]) -> ListedPairs:
    """What several checks list together, each pair once."""
    pairs = {frozenset((pair.a.element_id, pair.b.element_id)): pair for listed in several for pair in listed.pairs}
    return ListedPairs(list(pairs.values()), checks=[check for listed in several for check in listed.checks])


def lists(graph: Graph, layout: Layout, checks: tuple[str, ...], embedding: Embedding | None) -> ListedPairs:
    """The pairs that the checks list."""
    return listed_pairs(graph, layout, timeout=TIMEOUT, embedding=embedding, checks=checks)


def _run(listed: ListedPairs, gold: list[GoldPair], embedding: str) -> MeasuredRun:
    found = against_gold(listed, gold)
    counts, cubed = found.counts, found.cubed
    recall = _share(counts.right, counts.same, share_interval(counts.right, counts.same))
    assert recall is not None and cubed.precision is not None and cubed.recall is not None and cubed.f1 is not None
    return MeasuredRun(
        checks=listed.checks, embedding=embedding, pairs=counts.n, same=counts.same, listed=counts.listed, right=counts.right,
        unlabelled=len(listed.pairs) - counts.listed,
        precision=_share(counts.right, counts.listed, share_interval(counts.right, counts.listed)),
        recall=recall, f1=None if found.pairs.f1 is None else round(found.pairs.f1, 6),
        bcubed=(round(cubed.precision, 6), round(cubed.recall, 6), round(cubed.f1, 6)),
        classes=[_case(name, one) for name, one in found.classes.items()],
    )


def _case(name: str, one: GoldPairCounts) -> PairClass:
    return PairClass(name=name, pairs=one.n, same=one.same, listed=one.listed, right=one.right)


def _share(part: int, whole: int, interval: Interval | None) -> MeasuredShare | None:
    if interval is None:
        return None
    return MeasuredShare(value=round(part / whole, 6), low=round(interval.low, 6), high=round(interval.high, 6))
