"""Which two texts of a row make up a pair, and what of a pair a run wants to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import Triples
from kgeval.metrics.references import facts_for

if TYPE_CHECKING:
    from kgeval.metrics.select import Selection

# pair -> the facts with its input's and its context's triples [D 4]
PAIRS: Mapping[str, tuple[str, str]] = {
    "context_relevancy": ("triples:question", "triples:contexts"),
    "factual_correctness": ("triples:answer", "triples:reference"),
    "faithfulness": ("triples:answer", "triples:contexts"),
    "answer_relevancy": ("triples:question", "triples:answer"),
}

STORED = "stored"
NO_LAYOUT = Failure("graph_error", "no stored graph is given")


def matching_fact(pair: str) -> str:
    """The fact with the matching of a pair, and with its communities if they are asked for too."""
    return f"pairs:{pair}"


def community_fact(pair: str) -> str:
    """Asks that `pairs:PAIR` has communities."""
    return f"communities:{pair}"


def relation_fact(pair: str) -> str:
    """Asks that `pairs:PAIR` has matched triples."""
    return f"relations:{pair}"


@dataclass(frozen=True)
class PairRequest:
    """One pair of one row, and what is wanted beside its matching."""

    subject: Subject
    pair: str
    communities: bool
    relations: bool

    @property
    def sides(self) -> tuple[Triples, Triples]:
        """The triples of input and context."""
        input_fact, context_fact = PAIRS[self.pair]
        return self.subject.facts.triples[input_fact], self.subject.facts.triples[context_fact]


def requests_of(subject: Subject, selection: Selection) -> list[PairRequest]:
    """The pairs that the metrics of a row read."""
    facts = facts_for(subject, selection.facts_of(subject.row))
    return [
        PairRequest(subject, pair, community_fact(pair) in facts, relation_fact(pair) in facts)
        for pair in PAIRS if matching_fact(pair) in facts
    ]
