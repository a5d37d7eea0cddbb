"""What the built-in systems work with, and which of them needs what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pydantic import JsonValue

    from kgeval.config.answer import PresetName
    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Asker
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.records import Layout

BuiltinNeed = Literal["reader", "embedder", "graph", "chunks"]

NEEDS: Mapping[str, frozenset[BuiltinNeed]] = {
    "closed-book": frozenset({"reader"}),
    "vector": frozenset({"reader", "embedder", "graph", "chunks"}),
    "graph": frozenset({"reader", "embedder", "graph"}),
    "graph+text": frozenset({"reader", "embedder", "graph", "chunks"}),
    "communities": frozenset({"reader", "graph"}),
}


@dataclass(frozen=True)
class BuiltinTools:
    """What a built-in system works with. The caller opens and closes all of it; the system closes nothing of it.

    `models`: the reader's session; None: the extractive reader, which asks no model. `asker`: who is asked in it (None:
    the session's model; `Dry(models)` counts the calls instead). `embedder`, `graph`, `layout`: where NEEDS names them;
    `layout_settings`: what of the layout the user sets.
    `cache_dir`: kgeval's cache folder (None: the user's); `timeout`: seconds a query of the graph; `say`: is told what
    takes long (an index that is built). `dry`: a dry run (a dry `asker` says so too). `preset`: the paper whose settings
    stand in place of the defaults. """

    models: Models | None = None
    asker: Asker | None = None
    embedder: Embedder | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    layout_settings: Mapping[str, JsonValue] = field(default_factory=dict)
    cache_dir: Path | None = None
    timeout: float | None = None
    say: Callable[[str], None] = lambda text: None
    dry: bool = False
    preset: PresetName | None = None

    @property
    def planned(self) -> bool:
        """Whether nothing shall be built, embedded or asked."""
        return self.dry or (self.asker is not None and self.asker.dry)
