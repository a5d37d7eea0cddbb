"""What was drawn to be judged, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from kgeval.records import AccuracyKind, GraphRef, Passage, SampleDesign

Strata = Literal["none", "type", "document", "type-document"]
OTHERS = "(other)"


@dataclass(frozen=True)
class SampleSpec:
    """How to draw: `n` items; at most `per_passage` items of one passage in one sampling unit; `passages` shown for an item
    that comes from several. `timeout`: seconds a query may take. `checks`: of pairs, the checks that list them; () = all."""

    kind: AccuracyKind = "relations"
    n: int = 200
    seed: int = 0
    strata: Strata = "none"
    per_passage: int = 5
    passages: int = 3
    timeout: float = 600.0
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class SampleItem:
    """One drawn item. `shown`: what judge and people see of it; `passages`: the one through which it was drawn first.

    `cluster`: its sampling unit; `home`: what is read once for all items that share it; `beside`: what else the graph says there.
    `id` is made from names and the passage's id, so that it survives a rebuild of the graph. `failure_class`: of pairs.
    """

    id: str
    ref: GraphRef
    shown: dict[str, JsonValue]
    stratum: str
    cluster: str
    home: str
    weight: float
    passages: tuple[Passage, ...] = ()
    beside: tuple[str, ...] = ()
    partner: GraphRef | None = None
    failure_class: str | None = None
    confidence: float | None = None
    more_passages: int = 0

    @property
    def type(self) -> str:
        """The item's type for the split by type."""
        return self.ref.type or "(no type)"

    @property
    def document(self) -> str | None:
        """The document of the passage through which it was drawn."""
        return self.passages[0].document if self.passages else None


@dataclass(frozen=True)
class Sample:
    """The drawn items in drawing order, the design, and for every stratum how many clusters it has in the graph."""

    items: list[SampleItem]
    design: SampleDesign
    clusters: dict[str, int]
    notes: list[str] = field(default_factory=list)

    @property
    def census(self) -> bool:
        """True if everything that could be drawn was drawn."""
        return self.design.population > 0 and self.design.drawn == self.design.population
