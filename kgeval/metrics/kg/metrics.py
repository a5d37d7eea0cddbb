"""The metrics of text pairs as graphs [D]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, stdev
from typing import Literal

from pydantic import JsonValue

from kgeval.metrics.definition import Metric, MetricValue, Need, Subject, scored, unscored
from kgeval.metrics.facts import PairCounts
from kgeval.metrics.kg.sides import NO_LAYOUT, PAIRS, STORED, community_fact, matching_fact, pair_fact, relation_fact

ORIGIN = "the file's own, else those of the stored graph (contexts with chunk ids), else a judge model makes them, one call a text"
EMPTY = {"input": "the input has no triples", "context": "the context has no triples"}


@dataclass(frozen=True)
class PairWords:
    """How a pair is spoken of, what its row must have, and what it costs in calls."""

    words: str
    needs: tuple[Need, ...]
    calls: str


TEXTS = {
    "context_relevancy": PairWords("question (input) and retrieved contexts (context)", ("passages",), "1 + 1 a context"),
    "factual_correctness": PairWords("answer (input) and reference (context)", ("reference",), "2"),
    "faithfulness": PairWords("answer (input) and retrieved contexts (context)", ("passages",), "1 + 1 a context"),
    "answer_relevancy": PairWords("question (input) and answer (context)", (), "2"),
}


def _detail(subject: Subject, name: str, counts: PairCounts) -> dict[str, JsonValue]:
    """What every value says: sizes of the sides, where their triples come from, and how many triples had no head or tail."""
    own, context = (subject.facts.triples[fact] for fact in PAIRS[name])
    sizes: dict[str, JsonValue] = {
        "entities": counts.entities, "context_entities": counts.context_entities,
        "triples": len(own.triples), "context_triples": len(context.triples),
        "input_from": own.origin, "context_from": context.origin,
    }
    dropped = own.dropped + context.dropped
    return sizes | ({"dropped": dropped} if dropped else {})


def _pair(subject: Subject, *, name: str, of: Callable[[PairCounts], tuple[float, dict[str, JsonValue]]]) -> MetricValue:
    """The value of a pair: unscored if it failed, 0 with the reason if a side is empty [D Algorithm 2], else what `of` makes of it."""
    counts = subject.facts.pairs[pair_fact(name)]
    if counts.failure is not None:
        return unscored(counts.failure)
    if counts.empty is not None:
        return replace(scored(0.0, empty=counts.empty, **_detail(subject, name, counts)), reason=EMPTY[counts.empty])
    value, detail = of(counts)
    return scored(value, **detail, **_detail(subject, name, counts))


def _matching(counts: PairCounts) -> tuple[float, dict[str, JsonValue]]:
    return counts.matched / counts.entities, {"matched": counts.matched}


def _triple_matching(counts: PairCounts) -> tuple[float, dict[str, JsonValue]]:
    return counts.triples_matched / counts.triples, {"matched": counts.triples_matched}


def _community(counts: PairCounts, *, counted: Literal["entities", "communities"]) -> tuple[float, dict[str, JsonValue]]:
    """The mean over the partitions, and their spread: `sd` None for one partition, `first` what one partition would have said.

    [D] takes one partition of Louvain without a seed, so that its figure changes from run to run; on graphs of a few nodes by far."""
    values = counts.by_entity if counted == "entities" else counts.by_community
    spread: dict[str, JsonValue] = {
        "runs": len(values), "sd": stdev(values) if len(values) > 1 else None, "min": min(values), "max": max(values), "first": values[0],
        "modularity": fmean(counts.modularity),
    }
    return min(1.0, fmean(values)), spread


def _stored(subject: Subject) -> MetricValue:
    matches = subject.facts.stored
    if matches is None or matches.failure is not None:
        return unscored(NO_LAYOUT if matches is None or matches.failure is None else matches.failure)
    if not matches.entities:
        return replace(scored(0.0, empty="input", entities=0), reason=EMPTY["input"])
    detail: dict[str, JsonValue] = {"entities": matches.entities, "matched": matches.matched, "exact": matches.exact}
    if not matches.by_embedding:
        detail["by_embedding"] = False
    return scored(matches.matched / matches.entities, **detail)


def _of_pair(name: str) -> tuple[Metric, ...]:
    """The four metrics of one pair."""
    texts, sides = TEXTS[name], PAIRS[name]
    fact, communities = pair_fact(name), community_fact(name)
    common = partial(Metric, group="kg", needs=texts.needs, tools=("gds", "embedder"), calls=texts.calls)
    where = f"Input and context are the triples of {texts.words}; {ORIGIN}."
    average = (
        "Mean over `runs` partitions (Leiden, or Louvain) of the pair's undirected weighted graph, each found in another order of its "
        "nodes, because one partition of a small graph is not stable."
    )
    return (
        common(
            f"kg_matching_{name}", summary=f"input entities with a cheap path to a context entity: {texts.words}",
            definition=f"{where} Share of input entities (heads and tails) with a path of cost <= delta to any context entity; "
                       "head-relation and relation-tail cost edge_cost each, SIMILAR (cosine >= tau) costs 1 - cosine. Empty side: 0.",
            source="[D eq. 1, Algorithm 2]", compute=partial(_pair, name=name, of=_matching),
            asks=(*sides, fact, matching_fact(name)),
        ),
        common(
            f"kg_community_{name}", summary=f"input entities that share a community with a context entity: {texts.words}",
            definition=f"{where} Share of input entities in a community with a context entity. {average} Empty side: 0.",
            source="[D eq. 2]; the mean over partitions is ours",
            compute=partial(_pair, name=name, of=partial(_community, counted="entities")), asks=(*sides, fact, communities),
        ),
        common(
            f"kg_community_by_community_{name}", summary=f"communities with entities of both sides: {texts.words}",
            definition=f"{where} Share of all communities that hold entities of both sides. {average} Empty side: 0.",
            source="[D Algorithm 3]; the mean over partitions is ours",
            compute=partial(_pair, name=name, of=partial(_community, counted="communities")), asks=(*sides, fact, communities),
        ),
        common(
            f"kg_triple_matching_{name}", summary=f"input triples found again as a whole in one context triple: {texts.words}",
            definition=f"{where} Share of input triples for which one context triple has a head and a tail joined to theirs by SIMILAR "
                       "(cost 1 - cosine <= delta, cosine >= tau) and a relation with a cosine >= tau. Undirected: the context triple "
                       "may stand the other way round. Empty side: 0.",
            source="ours; [D 7] asks for it", compute=partial(_pair, name=name, of=_triple_matching),
            asks=(*sides, fact, relation_fact(name)),
        ),
    )


MATCHING_STORED = Metric(
    "kg_matching_stored", "kg", "answer entities with a cheap path to an entity of the stored graph",
    "Input are the answer's triples, context are the entities of the stored graph. Share of the answer's entities with a path of cost "
    "<= delta to an entity of the graph; SIMILAR joins an entity of the answer to the one of the graph with the same normalised name or "
    "alias (cost 0), else to the nearest by embedding (cosine >= tau, cost 1 - cosine; graphs of up to 200,000 names). No triples: 0.",
    "[D eq. 1] against the stored graph", _stored, asks=("triples:answer", STORED), tools=("gds", "embedder", "graph"), calls="1",
)

METRICS: tuple[Metric, ...] = (*(metric for name in PAIRS for metric in _of_pair(name)), MATCHING_STORED)
