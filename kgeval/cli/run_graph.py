"""What `kgeval run` asks the database itself: the state of graphs, and whether it may write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.cli.common import listed
from kgeval.cli.options import open_from_options
from kgeval.errors import ConfigError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.run.carry import Orders
    from kgeval.run.ledger import Ledger
    from kgeval.run.stages import Stage

T = TypeVar("T")


def orders_of(config: Config, folder: Path, stages: Sequence[Stage], options: Mapping[str, Any]) -> Orders:
    """How the run goes. Graphs that no stage makes are looked at once, now. Raises: ConnectError: before any stage is started."""
    from kgeval.run.carry import Orders
    from kgeval.run.database import graph_state

    read = sorted({stage.reads for stage in stages if stage.reads is not None})
    known = _asked(config, options, lambda graph: {name: graph_state(graph, name) for name in read}) if read else {}
    written = {stage.makes for stage in stages if stage.makes is not None}

    def state(name: str) -> str:
        return _asked(config, options, lambda graph: graph_state(graph, name)) if name in written or name not in known else known[name]

    return Orders(config, folder, again=frozenset(listed(options["again"])), graph=state)


def check_graphs(stages: Sequence[Stage], ledger: Ledger, config: Config, options: Mapping[str, Any]) -> None:
    """Raises: ConfigError for graphs that a stage would build into although this run did not make them: what is there would be mixed."""
    from kgeval.run.carry import REPLACE
    from kgeval.run.database import is_built

    new = {
        stage.makes for stage in stages
        if stage.kind == "build" and stage.makes is not None and REPLACE not in stage.argv and not ledger.made(stage.makes)
    }
    there = _asked(config, options, lambda graph: sorted(name for name in new if is_built(graph, name))) if new else []
    if there:
        raise ConfigError(
            f"these graphs are there already, and this run did not make them: {', '.join(there)}; nothing was started",
            fix="set another name in [graph]; or have them replaced: options = { replace = true } in [source]; or leave out [source] to use"
            " them as they are",
        )


def _asked(config: Config, options: Mapping[str, Any], ask: Callable[[Graph], T]) -> T:
    """What `ask` finds in the database that the stages use."""
    from kgeval.config import environment

    home = options["home"]
    address = {
        "uri": None if home else environment("NEO4J_URI"), "username": None if home else environment("NEO4J_USERNAME"),
        "database": None if home else environment("NEO4J_DATABASE"),
    }
    with open_from_options(config, **address, home=home) as graph:
        return ask(graph)
