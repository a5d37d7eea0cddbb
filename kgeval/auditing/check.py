"""What a check with a Python step gets and gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.auditing.part import PartialScan
from kgeval.graph.connect import Graph
from kgeval.graph.queries import Query
from kgeval.records import Example, Layout

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder


@dataclass(frozen=True)
class Embedding:
    """What makes vectors for checks, beside the graph. `anew`: also where the graph stores its own. `cache_dir`: kgeval's cache
    folder, where they are kept (null: the user's). `say`: is told what goes on."""

    embedder: Embedder
    anew: bool = False
    cache_dir: Path | None = None
    say: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Check:
    """One check about to run: the graph, its bound layout, the query file, settings and limits (`timeout` in seconds). `part`: what
    a check of strings looks at. `embedding`: what makes vectors, if that is wanted."""

    graph: Graph
    layout: Layout
    query: Query
    settings: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 5
    timeout: float = 120.0
    schema: Mapping[str, Any] | None = None
    part: PartialScan = field(default_factory=PartialScan)
    embedding: Embedding | None = None

    def params(self, **more: Any) -> dict[str, Any]:
        """The parameters that the query file declares, taken from layout, sample, settings and `more`."""
        pool = {"layout": self.layout.model_dump(), "sample": self.sample, **self.part.params(), **self.settings, **more}
        return {p.name: pool[p.name] for p in self.query.params if p.name in pool}


@dataclass(frozen=True)
class Outcome:
    """`count` hits of `total`, with examples (at most `Check.sample`, in a fixed order).

    `note`: what the count leaves out, such as a search that ended at its limit; it is printed with the finding. `examples_total`: how many
    there are in all, where that does not follow from `count`: pairs share entities, and a few may hold every entity that is counted.
    `repair`: Cypher that was made for these hits, where names cannot be parameters.
    """

    count: int
    total: int
    examples: list[Example] = field(default_factory=list)
    note: str | None = None
    examples_total: int | None = None
    repair: str | None = None


def examples_of(sample: Iterable[Mapping[str, Any]]) -> list[Example]:
    """The `sample` column of an audit query as records. Null names and keys become "", so that a nameless entity can be shown."""
    return [Example.model_validate({**row, "items": [_item(item) for item in row["items"]]}) for row in sample]


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**item, "key": _shown(item.get("key") or item.get("name")), "name": _shown(item.get("name"))}


def _shown(value: Any) -> str:
    return "" if value is None else str(value)[:300]
