"""same-at-both-ends: nodes of which two relations lead to one node where they lead to two nearly everywhere: a match of a team with
itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import sizes_of_things, without_words
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, RelationEnds
from kgeval.records import Example
from kgeval.text.wordlists import word_lists, word_set

LEAST = 50  # nodes with just one of both relations that say something
LIKELY = (0.8, 1.5)  # relations a node, by the sample, between which nearly each node may have one
ONE = 0.9  # share of nodes with just one of both from which each is due one
SAME = 0.02  # share of these of which both may lead to one node; of one they always may
TARGETS = 5  # nodes that the relations lead to, at least
OFTEN = 7  # nodes of which both would lead to one by chance from which their lack says that two are meant
SELDOM = 0.2  # share of these up to which they are a lack


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes of which both lead to one; `total`: nodes with just one of both, of pairs of types that lead to two nodes."""
    profile: GraphProfile | None = check.settings["profile"]
    suspects = list(_suspects(profile)) if profile else []
    if not suspects:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(suspects=suspects) if _lead_to_two(row)]
    return check.outcome_of(rows, "same", sum(row["both"] for row in rows), _example, suspects=suspects)


def _suspects(profile: GraphProfile) -> Iterator[dict[str, str | bool]]:
    """Labels with two types of relations to nodes of one label, of each of which there may be one a node."""
    nodes = sizes_of_things(profile, LEAST)
    ways: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for relation in profile.types:
        for ends in relation.ends:
            for label, other, outgoing in _both_ways(ends):
                if label in nodes and other and LIKELY[0] <= ends.share * relation.count / nodes[label] <= LIKELY[1]:
                    ways.setdefault((label, other), []).append((relation.type, outgoing))
    for (label, _), known in sorted(ways.items()):
        for (first, first_out), (last, last_out) in combinations(sorted(known), 2):
            if first != last:
                yield {"label": label, "first": first, "first_out": first_out, "last": last, "last_out": last_out}


def _both_ways(ends: RelationEnds) -> Iterator[tuple[str, str, bool]]:
    yield ends.start, ends.end, True
    yield ends.end, ends.start, False


def _lead_to_two(row: Row) -> bool:
    """Whether two nodes are meant, so that one is a slip: their names say so, and it is no more frequent than by chance, or it is far less
    frequent than by chance. Of two that know nothing of each other (birthplace and place of death) some lead to one rightly."""
    both, same, by_chance = row["both"], row["same"], row["by_chance"]
    if both < max(LEAST, ONE * row["nodes"]) or row["targets"] < TARGETS or same > max(1, SAME * both):
        return False
    if are_opposite(row["first"], row["last"]):
        return bool(same <= max(1, by_chance))
    return bool(by_chance >= OFTEN and same <= SELDOM * by_chance)


def are_opposite(first: str, last: str) -> bool:
    """Whether two types lead to the two sides of something, by their names: FROM, TO; HOME_TEAM, AWAY_TEAM; LOADED_AT, DISCHARGED_AT."""
    sides = [(word_set(one), word_set(other)) for one, other in word_lists("opposite").values()]
    return any(
        without_words(first, one) & without_words(last, other) or without_words(first, other) & without_words(last, one)
        for one, other in sides
    )


def _example(row: Row, example: Example) -> Example:
    types = f"{row['first'][:100]} and {row['last'][:100]}"
    why = f"{types} both lead to {example.why}, where {row['both'] - row['same']:,} of {row['both']:,} {row['owner'][:100]} have two"
    return example.model_copy(update={"why": why})
