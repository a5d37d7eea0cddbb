"""What a run asks the database itself: the state of graphs, so that it sees one that is gone or another than it was, and whether it may
write them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.config import BuildOptions
from kgeval.errors import ConfigError, QueryError
from kgeval.graph.queries import all_queries
from kgeval.workflows.pipeline.ledger import Ledger
from kgeval.workflows.pipeline.stages import Stage
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph

T = TypeVar("T")


def states_now(stages: Sequence[Stage], session: Session) -> Callable[[str], str]:
    """The state of a graph of a name, as the database has it when it is asked for; of graphs that no stage makes, as it is now.

    Raises: ConnectError, before any stage is started.
    """
    read = sorted({stage.reads for stage in stages if stage.reads is not None})
    states = _asked(session, lambda graph: {name: graph_state(graph, name) for name in read}) if read else {}
    written = {stage.makes for stage in stages if stage.makes is not None}
    return lambda name: (
        _asked(session, lambda graph: graph_state(graph, name)) if name in written or name not in states else states[name]
    )


def check_graphs(stages: Sequence[Stage], ledger: Ledger, session: Session) -> None:
    """Raises: ConfigError for graphs that a stage would build into although this run did not make them: what is there would be mixed."""
    new = {
        stage.makes for stage in stages
        if isinstance(options := stage.options(session.config), BuildOptions) and stage.makes is not None
        and not options.replace and not ledger.made(stage.makes)
    }
    there = _asked(session, lambda graph: sorted(name for name in new if is_built(graph, name))) if new else []
    if there:
        raise ConfigError(
            f"these graphs are there already, and this run did not make them: {', '.join(there)}; nothing was started",
            fix="set another name in [graph]; or have them replaced: options = { replace = true } in [source]; or leave out [source] to use"
            " them as they are",
        )


def _asked(session: Session, ask: Callable[[Graph], T]) -> T:
    """What `ask` finds in the database that the stages use. Nothing stays open: stages may take hours, and a bulk import restarts it."""
    with replace(session, parent=None, gds_session=None) as own:
        return ask(own.graph)


def graph_state(graph: Graph, name: str) -> str:
    """A fingerprint of a graph: of one that kgeval wrote, its mark and its number of nodes; else the counts of the whole database by label
    and type. "" where kgeval wrote none of this name and the counts cannot be read. Raises: what reading raises."""
    queries = all_queries()
    if name and (mark := graph.read(queries["built-graph"], {"graph": name})):
        return _hashed([mark, graph.read(queries["label-use"], {"label": name})])
    try:
        return _hashed(graph.read(queries["layout-counts"], {}))
    except QueryError:
        return ""


def is_built(graph: Graph, name: str) -> bool:
    """True if kgeval wrote a graph of this name, or began to."""
    return bool(graph.read(all_queries()["built-graph"], {"graph": name}))


def _hashed(rows: Any) -> str:
    """Of rows of plain values; the order of lists in them says nothing."""
    return hashlib.sha256(json.dumps(_sorted(rows), sort_keys=True, default=str).encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _sorted(one) for name, one in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True, default=str))
    return value
