"""Which two texts of a row make up a pair, and what of a pair a run wants to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import SettingsView, Subject
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


def pair_fact(pair: str) -> str:
    """The fact with the graph of a pair, and with all that is asked for beside it."""
    return f"pairs:{pair}"


def matching_fact(pair: str) -> str:
    """Asks that `pairs:PAIR` has matched entities."""
    return f"matching:{pair}"


def community_fact(pair: str) -> str:
    """Asks that `pairs:PAIR` has communities."""
    return f"communities:{pair}"


def relation_fact(pair: str) -> str:
    """Asks that `pairs:PAIR` has matched triples."""
    return f"relations:{pair}"


@dataclass(frozen=True)
class PairRequest:
    """One pair of one row, and what is wanted of it."""

    subject: Subject
    pair: str
    matching: bool
    communities: bool
    relations: bool

    def settings_for(self, fact: Callable[[str], str]) -> SettingsView:
        """The settings of one of the pair's facts: pair_fact, matching_fact, community_fact or relation_fact."""
        return self.subject.settings_for(fact(self.pair))

    @property
    def sides(self) -> tuple[Triples, Triples]:
        """The triples of input and context."""
        input_fact, context_fact = PAIRS[self.pair]
        return self.subject.facts.triples[input_fact], self.subject.facts.triples[context_fact]


def requests_of(subject: Subject, selection: Selection) -> list[PairRequest]:
    """The pairs that the metrics of a row read."""
    facts = facts_for(subject, selection.facts_of(subject.row))
    return [
        PairRequest(subject, pair, matching_fact(pair) in facts, community_fact(pair) in facts, relation_fact(pair) in facts)
        for pair in PAIRS if pair_fact(pair) in facts
    ]
