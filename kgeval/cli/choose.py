"""Which graph of the database, and how it is stored: --graph, --layout, --set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kgeval.cli.common import F, person, say

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout


def layout_options(command: F) -> F:
    """--graph, --layout, --set: which graph of the database, and how it is stored."""
    for option in reversed((
        click.option("--graph", "graph_name", help="Name of the graph where a database holds several (the layout's scope)."),
        click.option("--layout", "layout_option", help="auto, a layout's name, or a TOML file [default: auto]."),
        click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key of the layout: name_keys=title."),
    )):
        command = option(command)
    return command


def layout_from_options(
    graph: Graph, config: Config, *, graph_name: str | None, layout_option: str | None, overrides: tuple[str, ...],
) -> Layout:
    """The bound layout: --layout and --set over `[graph.layout]` over detection. Asks where two fit and a person can answer."""
    from kgeval.graph.layouts import parse_overrides
    from kgeval.workflows.layouts import configured_layout

    return configured_layout(graph, config, graph_name, layout_option, parse_overrides(list(overrides)), ask=person(), say=say)
