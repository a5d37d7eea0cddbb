"""Which gold triples the graph has: matched ends joined by a relation, in which direction, under which name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.match import Match
from kgeval.auditing.completeness.predicates import PredicateJudge
from kgeval.auditing.graph_reader import GraphReader, batched
from kgeval.records import Layout
from kgeval.text.predicates import is_placeholder

BATCH = 5_000
MOST_PLACES = 300  # of one end; a name that stands more often says nothing about which of them is meant
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class JoiningRelation:
    """Relations of one type between a pair of entities. `forward`: from the first to the second."""

    a: str
    b: str
    forward: bool
    element_id: str
    type: str
    labels: tuple[str, ...]
    descriptions: tuple[str, ...]


@dataclass(frozen=True)
class TripleMatch:
    """Where a gold triple stands. Each figure is the lowest rank of a level at which it holds, None where it never does.

    `ends`: both ends found; `joined`: and joined by a relation; `directed`: in the gold direction; `predicate`: under the gold
    name. `found`: the relations.
    """

    ends: int | None = None
    joined: int | None = None
    directed: int | None = None
    predicate: int | None = None
    found: tuple[JoiningRelation, ...] = field(default=())


def triple_matches(reader: GraphReader, gold: Gold, entities: Sequence[Match], judge: PredicateJudge) -> list[TripleMatch]:
    """The match of each gold triple, given the matches of its ends (`gold.ends`)."""
    joined = _joined(reader, (pair for ends in dict.fromkeys(gold.ends) for pair in pairs(entities, *ends)))
    judge.prepare(
        (triple.predicate, [relation for pair in pairs(entities, *ends) for relation in joined.get(pair, ())])
        for triple, ends in zip(gold.triples, gold.ends, strict=True) if triple.predicate
    )
    return [_match(gold, position, entities, joined, judge) for position in range(len(gold.triples))]


def say_something(layout: Layout, found: Iterable[TripleMatch]) -> bool:
    """Whether the relations found carry names or descriptions: not where all are one type without a name, or only RELATED and the like."""
    every = [relation for match in found for relation in match.found]
    constant = layout.relation_label_key is None and len(layout.relation_types) <= 1
    names = (label for relation in every for label in relation.labels)
    is_named = not constant and not all(is_placeholder(label, layout) for label in names)
    return not every or is_named or any(relation.descriptions for relation in every)


def crowded(entities: Iterable[Match]) -> list[str]:
    """A note where gold entities stand at more places than are tried for their relations; none otherwise."""
    many = sum(len(match.found) > MOST_PLACES for match in entities)
    return [f"{many} gold entities stand at more than {MOST_PLACES} places; relations were sought at so many of each"] if many else []


def pairs(entities: Sequence[Match], subject: int, obj: int) -> Iterator[Pair]:
    """The pairs of entities that could be the ends of a triple. An entity is joined to itself only where the gold says so."""
    every = product(entities[subject].ids[:MOST_PLACES], entities[obj].ids[:MOST_PLACES])
    return ((a, b) for a, b in every if a != b or subject == obj)


def _joined(reader: GraphReader, wanted: Iterable[Pair]) -> dict[Pair, list[JoiningRelation]]:
    """The relations of the pairs that have some. The pairs pass by in batches: crowded names can give millions of them."""
    relations_of: dict[Pair, list[JoiningRelation]] = {}
    for batch in batched(wanted, BATCH):
        here: dict[Pair, list[JoiningRelation]] = {}  # a pair that comes again in a later batch is read again, and must not be listed twice
        for row in reader.stream("gold-relations", pairs=[list(pair) for pair in sorted(set(batch))]):
            labels, descriptions = (tuple(filter(None, row[key])) for key in ("labels", "descriptions"))
            here.setdefault((row["a"], row["b"]), []).append(JoiningRelation(
                row["a"], row["b"], row["forward"], row["element_id"], row["type"], labels or (row["type"],), descriptions,
            ))
        relations_of.update(here)
    return relations_of


def _match(gold: Gold, at: int, entities: Sequence[Match], joined: dict[Pair, list[JoiningRelation]], judge: PredicateJudge) -> TripleMatch:
    subject, obj = (entities[end] for end in gold.ends[at])
    if subject.rank is None or obj.rank is None:
        return TripleMatch()
    ranked = [
        (max(subject.found[a].rank, obj.found[b].rank), relation)
        for a, b in pairs(entities, *gold.ends[at]) for relation in joined.get((a, b), ())
    ]
    ranked.sort(key=lambda pair: (pair[0], pair[1].element_id))
    name = gold.triples[at].predicate
    named = [max(rank, rank_of_name) for rank, relation in ranked if name and (rank_of_name := judge.rank(name, relation)) is not None]
    return TripleMatch(
        ends=max(subject.rank, obj.rank), joined=min((rank for rank, _ in ranked), default=None),
        directed=min((rank for rank, relation in ranked if relation.forward), default=None), predicate=min(named, default=None),
        found=tuple(relation for _, relation in ranked),
    )
