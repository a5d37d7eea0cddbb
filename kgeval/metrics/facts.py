"""What was found out about a row, once for all metrics: claims, verdicts, ratings, similarities, matches. Plain values, no client.

Judges are asked for facts, not for metrics, so that a list of claims or a verdict is paid for once, however many metrics read it:
GraphRAG-Bench's own script asks for the same gold statements anew for every system (about 4,950 of its 26,666 calls).

A fact has a name, and a metric lists the names that it reads (`Metric.asks`):

    claims:answer claims:reference points           lists of texts
    KIND@SOURCE                                     verdicts: answer_claims | reference_claims | evidence | points | steps | reasoning
                                                    against reference | contexts | answer | statements | reasoning
    ratings rating:joined                           relevance of each context; of all joined (compat)
    questions                                       questions made from the answer
    criterion:NAME                                  the judge's grade by a criterion of the user's own
    binary binary:compat                            right or wrong; true or false by Kasiak's rules (compat)
    citations citations:claims                      citations with their chunks; claims with their citations
    similarity:reference similarity:questions       cosines
    triples:answer triples:reference triples:question triples:contexts
    pairs:PAIR                                      one pair's graph: its sizes
    matching:PAIR communities:PAIR relations:PAIR   what else is in it: matched entities; communities; matched triples (kg/sides.py)
    stored grounding steps@graph expired            from the stored graph
    cypher cypher:match                             whether the answer's Cypher runs; whether it gives what the gold Cypher gives

A fact declares the settings that it is found out with (FACT_SETTINGS); they stand in the signature of every metric that asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgeval.llm.calls import Failure
from kgeval.records import Triple

Label = Literal["supported", "contradicted", "not_stated"]

# Names of the MetricSettings fields that a fact is found out with, by fact or by its kind (before the colon).
FACT_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "pairs": ("tau",), "matching": ("delta", "edge_cost", "undirected"), "relations": ("delta", "tau", "undirected"),
    "communities": ("edge_weight", "community", "runs", "community_seed"), "stored": ("tau", "delta", "edge_cost", "undirected"),
    "grounding": ("candidates", "query_timeout"), "steps@graph": ("query_timeout",), "expired": ("query_timeout",),
    "cypher": ("query_timeout",), "cypher:match": ("ordered",), "triples:contexts": ("query_timeout",),
}
# Facts that the stored graph tells where there is one, whether or not the metric needs it.
GRAPH_FACTS = frozenset({"stored", "grounding", "steps@graph", "expired", "cypher", "cypher:match", "triples:contexts"})


def fact_settings(fact: str) -> tuple[str, ...]:
    """The settings that a fact declares, by its name in FACT_SETTINGS, else by its kind; none for most."""
    return FACT_SETTINGS.get(fact) or FACT_SETTINGS.get(fact.partition(":")[0], ())


@dataclass(frozen=True)
class TextList:
    """A list of texts that was made or given (claims, points, questions). `failure`: why there is none; then `texts` is empty.

    `call`: journal key of the reply, None where the list was given. `flags`: what was said beside it.
    """

    texts: tuple[str, ...] = ()
    failure: Failure | None = None
    call: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedItem:
    """What was said of one numbered item. `label` None: unscored, `failure` says why. `rating`: where the check rates.

    `sources`: numbers (from 1) of the passages, or of the triples, that decide it.
    """

    number: int
    text: str
    label: str | None = None
    rating: float | None = None
    reason: str = ""
    sources: tuple[int, ...] = ()
    call: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class ItemVerdicts:
    """One verdict for every item that was given, in their order. `failure`: the items themselves could not be had."""

    items: tuple[JudgedItem, ...] = ()
    failure: Failure | None = None

    @property
    def unscored(self) -> Failure | None:
        """Why not every item has a verdict; None if all have."""
        return self.failure or next((item.failure for item in self.items if item.failure is not None), None)

    @property
    def judged(self) -> int:
        """Items that have a verdict."""
        return sum(item.label is not None for item in self.items)

    def count(self, *labels: str) -> int:
        """Items with one of the labels."""
        return sum(item.label in labels for item in self.items)


@dataclass(frozen=True)
class Cosines:
    """Raw cosines (-1..1) of text pairs. `failure`: why there are none."""

    values: tuple[float, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Triples:
    """Triples of a text. `origin`: model, file or graph (joined by + where contexts differ), none for an empty text.

    `dropped`: triples without a head or a tail."""

    triples: tuple[Triple, ...] = ()
    origin: str = "model"
    dropped: int = 0
    failure: Failure | None = None


@dataclass(frozen=True)
class PairCounts:
    """Both scores' counts for one pair of triple sets.

    `entities`, `context_entities`: distinct heads and tails of the input and of the context. `matched`: input entities with a path of
    cost <= delta. `triples`, `triples_matched`: input triples, and those whose head, relation and tail all reach one context triple.
    `by_entity`, `by_community`: one score a partition. `empty`: the side without triples, or None. `modularity`: of each partition.
    """

    entities: int = 0
    context_entities: int = 0
    matched: int = 0
    triples: int = 0
    triples_matched: int = 0
    by_entity: tuple[float, ...] = ()
    by_community: tuple[float, ...] = ()
    modularity: tuple[float, ...] = ()
    empty: Literal["input", "context"] | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class StoredMatches:
    """The answer's entities in the stored graph: how many there are, and which reach an entity of the graph within delta.

    `exact`: of the entities, those with the normalised name or alias of one of the graph. `element_ids`: the nearest entity of the
    graph for each that is SIMILAR to one. `by_embedding`: false where the graph has too many names to embed.
    """

    entities: int = 0
    matched: int = 0
    exact: int = 0
    by_embedding: bool = True
    element_ids: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Grounded:
    """Claims checked against triples of the stored graph: `checked` has the numbers of the triples, `element_ids` their ids.

    `relations`: those of the ids that are relations; the others are entities, with what the graph says of them.
    """

    checked: ItemVerdicts
    element_ids: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()
    relations: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CypherRun:
    """What the system's Cypher did. `matches` None: there is no gold query, or it could not run (`gold_failure`).

    `error`: why it is not valid. `failure`: why it was not run. `rows`, `gold_rows`: of the results, as far as they were fetched.
    """

    valid: bool = False
    matches: bool | None = None
    extra_columns: tuple[str, ...] = ()
    rows: int | None = None
    gold_rows: int | None = None
    error: str | None = None
    failure: Failure | None = None
    gold_failure: Failure | None = None


@dataclass(frozen=True)
class Expired:
    """Retrieved nodes and relations: how many, those that the graph knows and that can expire, and those that it marks as expired.

    `nothing`: why nothing can be told of them.
    """

    retrieved: int = 0
    known: int = 0
    expired: int = 0
    element_ids: tuple[str, ...] = ()
    nothing: str | None = None
    failure: Failure | None = None


@dataclass
class RowFacts:
    """All that was found out about one row; what was not asked for is absent."""

    texts: dict[str, TextList] = field(default_factory=dict)  # claims:answer, claims:reference, points, questions
    checks: dict[str, ItemVerdicts] = field(default_factory=dict)  # KIND@SOURCE, ratings, binary, citations, ...
    cosines: dict[str, Cosines] = field(default_factory=dict)  # similarity:...
    triples: dict[str, Triples] = field(default_factory=dict)  # triples:...
    pairs: dict[str, PairCounts] = field(default_factory=dict)  # pairs:...
    stored: StoredMatches | None = None
    grounded: Grounded | None = None
    cypher: CypherRun | None = None
    expired: Expired | None = None
