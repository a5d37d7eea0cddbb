"""Coverage figures from matches. Denominators are the gold set's, never what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgeval.auditing.completeness.gold import Gold, name_key
from kgeval.auditing.completeness.index import RANK
from kgeval.auditing.completeness.match import Match
from kgeval.auditing.completeness.relations import TripleMatch
from kgeval.records import LEVELS, Band, Coverage, Judgement, Level, Proportion
from kgeval.rounding import at_least, at_most
from kgeval.stats.intervals import quantile, wilson

K = TypeVar("K")
NO_TYPE = "(none)"
FEW = 5  # predicates with fewer gold triples are counted together
RARE = f"(fewer than {FEW} triples each)"
INTERVAL = (
    "The 95 % interval (Wilson) says how far the share could be from that of a larger gold set of the same kind; it holds only as "
    "far as the gold items were chosen at random, and says nothing about what the gold set never looks at."
)
METHODOLOGY = "bands of the GraphRAG evaluation methodology: below 70 % critical, 70 to 85 % acceptable, above 85 % strong"
OURS = "the same bands, extended to relations by kgeval"


@dataclass(frozen=True)
class MatchedGold:
    """A gold set and where its items stand, by position. `named`: false where the graph's relations say nothing but that two
    entities are related; then there is no figure with predicate."""

    gold: Gold
    entities: Sequence[Match]
    triples: Sequence[TripleMatch]
    named: bool = True

    def coverage(self, level: Level, entities: Iterable[int] | None = None, triples: Iterable[int] | None = None) -> Coverage:
        """The figures at a level and the stricter ones, over these items (positions; None: all)."""
        top = RANK[level]
        chosen = list(range(len(self.entities)) if entities is None else entities)
        those = list(range(len(self.triples)) if triples is None else triples)
        named = [position for position in those if self.named and self.gold.triples[position].predicate]
        pairs = {frozenset(self.gold.ends[position]) for position in those}
        joined = {frozenset(self.gold.ends[position]) for position in those if _at_most(self.triples[position].joined, top)}
        return Coverage(
            entity_coverage=proportion(sum(_at_most(self.entities[position].rank, top) for position in chosen), len(chosen)),
            relation_completeness=self._share(those, "joined", top),
            relation_completeness_directed=self._share(those, "directed", top),
            relation_completeness_with_predicate=self._share(named, "predicate", top),
            relation_pairs=proportion(len(joined), len(pairs)),
        )

    def _share(self, those: Sequence[int], figure: str, top: int) -> Proportion:
        return proportion(sum(_at_most(getattr(self.triples[position], figure), top) for position in those), len(those))

    def apart(self, level: Level) -> dict[str, int]:
        """How many entities and relations were found at this level and at no stricter one."""
        rank = RANK[level]
        return {
            "entities": sum(match.rank == rank for match in self.entities),
            "relations": sum(match.joined == rank for match in self.triples),
        }

    def by_type(self, level: Level) -> dict[str, Coverage]:
        """By type of the gold entities; a triple counts for the types of both its ends. Empty where the gold has no types."""
        types = [entity.type or NO_TYPE for entity in self.gold.entities]
        if set(types) <= {NO_TYPE}:
            return {}
        entities = _places((kind,) for kind in types)
        triples = _places({types[end] for end in ends} for ends in self.gold.ends)
        ordered = sorted(entities, key=lambda name: -len(entities[name]))
        return {name: self.coverage(level, entities[name], triples.get(name, ())) for name in ordered}

    def by_document(self, level: Level) -> dict[str, Coverage]:
        """By the documents that gold items name."""
        entities = _places((entity.document,) for entity in self.gold.entities)
        triples = _places((triple.document,) for triple in self.gold.triples)
        return {name: self.coverage(level, entities.get(name, ()), triples.get(name, ())) for name in self.gold.documents}

    def by_predicate(self, level: Level) -> dict[str, Proportion]:
        """relation_completeness by gold predicate in normal form, most frequent first."""
        names = [name_key(triple.predicate) if triple.predicate else None for triple in self.gold.triples]
        counts = Counter(name for name in names if name is not None)
        kept = {name: name if count >= FEW else RARE for name, count in counts.items()}
        totals = Counter(kept[name] for name in names if name is not None)
        top = RANK[level]
        pairs = zip(names, self.triples, strict=True)
        hits = Counter(kept[name] for name, match in pairs if name is not None and _at_most(match.joined, top))
        ordered = sorted(totals, key=lambda name: (name == RARE, -totals[name], name))
        return {name: proportion(hits[name], totals[name]) for name in ordered}

    def share_of(self, those: Sequence[bool | None], level: Level, *, value: bool) -> Proportion:
        """Of the gold triples whose ends were both found and whose flag has this value, how many the graph joins."""
        top = RANK[level]
        chosen = [position for position, flag in enumerate(those) if flag is value and _at_most(self.triples[position].ends, top)]
        return self._share(chosen, "joined", top)


def proportion(count: int, total: int) -> Proportion:
    """A share with its 95 % Wilson interval; share and interval None for a total of 0."""
    if not total:
        return Proportion(count=count, total=total)
    interval = wilson(count / total, total, quantile=quantile())
    return Proportion(count=count, total=total, share=count / total, low=interval.low, high=interval.high)


def verdict_level(levels: Iterable[Level]) -> Level:
    """The level that verdicts are given at: the most generous one that compares names as text; embedding only if it is alone."""
    ran = sorted(levels, key=LEVELS.index)
    texts = [level for level in ran if level != "embedding"]
    return texts[-1] if texts else "embedding"


def band(share: float | None) -> Band | None:
    """critical below 0.70, acceptable up to 0.85, strong above; None for no share."""
    if share is None:
        return None
    return "critical" if not at_least(share, 0.70) else "acceptable" if at_most(share, 0.85) else "strong"


def verdicts(coverage: Coverage, level: Level, *, banded: bool = True) -> list[Judgement]:
    """The verdict on entity coverage, and ours on relations: pairs that are joined, and, where gold and graph name predicates, whole
    triples, which are what the methodology counts. `banded` false: the shares mean too little for a band."""
    figures = [
        ("entity_coverage", coverage.entity_coverage, METHODOLOGY), ("relation_completeness", coverage.relation_completeness, OURS),
    ]
    triples = coverage.relation_completeness_with_predicate
    figures += [("relation_completeness_with_predicate", triples, OURS)] if triples.total else []
    return [
        Judgement(figure=name, level=level, share=figure.share, band=band(figure.share) if banded else None, source=source)
        for name, figure, source in figures
    ]


def _places(names: Iterable[Iterable[K]]) -> dict[K, list[int]]:
    """At which positions each name stands, names in the order in which they first come."""
    positions: dict[K, list[int]] = {}
    for position, those in enumerate(names):
        for name in those:
            positions.setdefault(name, []).append(position)
    return positions


def _at_most(rank: int | None, top: int) -> bool:
    return rank is not None and rank <= top
