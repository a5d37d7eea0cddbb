"""What was found out about a row, once for all metrics: claims, verdicts, ratings, similarities, matches. Plain values, no client.

A fact has a name, and a metric lists the names that it reads (`Metric.asks`):

    claims:answer claims:reference points           lists of texts
    KIND@SOURCE                                     verdicts: answer_claims | reference_claims | evidence | points | steps
                                                    against reference | contexts | answer | statements
    ratings rating:joined                           relevance of each context; of all joined (compat)
    questions                                       questions made from the answer
    binary citations                                right or wrong; citations with their chunks
    similarity:reference similarity:questions       cosines
    triples:answer triples:reference triples:question triples:contexts
    pairs:PAIR                                      matching and communities of one pair (kg/pairs.py names them)
    stored grounding steps@graph cypher expired     from the stored graph
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgeval.llm.calls import Failure
from kgeval.records import Triple

Label = Literal["supported", "contradicted", "not_stated"]


@dataclass(frozen=True)
class Texts:
    """A list of texts that was made or given (claims, points, questions). `failure`: why there is none; then `texts` is empty.

    `call`: journal key of the reply, null where the list was given. `flags`: what was said beside it.
    """

    texts: tuple[str, ...] = ()
    failure: Failure | None = None
    call: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """What was said of one numbered item. `label` null: unscored, `failure` says why. `rating`: where the check rates.

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
class Checked:
    """One verdict for every item that was given, in their order. `failure`: the items themselves could not be had."""

    items: tuple[Item, ...] = ()
    failure: Failure | None = None

    @property
    def unscored(self) -> Failure | None:
        """Why not every item has a verdict; null if all have."""
        return self.failure or next((item.failure for item in self.items if item.failure is not None), None)

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
    """Triples of a text. `origin`: model, file or graph."""

    triples: tuple[Triple, ...] = ()
    origin: str = "model"
    failure: Failure | None = None


@dataclass(frozen=True)
class Pair:
    """Both scores' counts for one pair of triple sets.

    `entities`, `context_entities`: distinct heads and tails of the input and of the context. `matched`: input entities with a path of
    cost <= delta. `triples`, `triples_matched`: input triples, and those whose head, relation and tail all reach one context triple.
    `by_entity`, `by_community`: one score a partition. `empty`: the side without triples, or null. `modularity`: of each partition.
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
class Stored:
    """The answer's entities in the stored graph: how many there are, and which reach an entity of the graph within delta."""

    entities: int = 0
    matched: int = 0
    element_ids: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Grounded:
    """Claims checked against triples of the stored graph: `checked` has the numbers of the triples, `element_ids` their ids."""

    checked: Checked
    element_ids: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()


@dataclass(frozen=True)
class CypherRun:
    """What the system's Cypher did. `matches` null: there is no gold query, or it could not run."""

    valid: bool = False
    matches: bool | None = None
    extra_columns: tuple[str, ...] = ()
    error: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class Expired:
    """Retrieved nodes and relations that the graph knows, and those of them that it marks as expired."""

    known: int = 0
    expired: int = 0
    element_ids: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass
class Facts:
    """All that was found out about one row; what was not asked for is absent."""

    texts: dict[str, Texts] = field(default_factory=dict)  # claims:answer, claims:reference, points, questions
    checks: dict[str, Checked] = field(default_factory=dict)  # KIND@SOURCE, ratings, rating:joined, binary, citations
    cosines: dict[str, Cosines] = field(default_factory=dict)  # similarity:...
    triples: dict[str, Triples] = field(default_factory=dict)  # triples:...
    pairs: dict[str, Pair] = field(default_factory=dict)  # pairs:...
    stored: Stored | None = None
    grounded: Grounded | None = None
    cypher: CypherRun | None = None
    expired: Expired | None = None
