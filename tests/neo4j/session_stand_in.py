"""A session's client made of the plugin's: the same endpoint objects over Bolt, each call held against the real client's signature.

What a session does otherwise is done otherwise here too: parameters of a projection pass through the client's own converter, and the
projection function is the remote one.
"""

from __future__ import annotations

import inspect
import warnings
from types import SimpleNamespace
from typing import Any

from graphdatascience.procedure_surface.utils.config_converter import ConfigConverter
from graphdatascience.session import AuraGraphDataScience
from graphdatascience.session.session_lifecycle_manager import Noop

from kgeval.graph.connect import Graph


class Checked:
    """An endpoint of the stand-in (`mine`) beside the real client's (`theirs`)."""

    def __init__(self, mine: Any, theirs: Any, path: str, calls: list[str]) -> None:
        self._mine, self._theirs, self._path, self._calls = mine, theirs, path, calls

    def __getattr__(self, name: str) -> Checked:
        return Checked(getattr(self._mine, name), getattr(self._theirs, name), f"{self._path}.{name}".lstrip("."), self._calls)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        inspect.signature(self._theirs).bind(*arguments, **named)
        self._calls.append(self._path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without Arrow, the plugin's client warns that it builds graphs slowly
            return self._mine(*arguments, **named)


class Projections:
    """`client.graph.project`: the remote function written as the plugin's."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def cypher(self, name: str, query: str, *, query_parameters: dict[str, Any], undirected_relationship_types: list[str], **_: Any) -> Any:
        sent = ConfigConverter.convert_to_gds_config(queryParameters=query_parameters)["queryParameters"]
        text = query.replace("gds.graph.project.remote(", "gds.graph.project($graph, ").replace(
            "{relationshipType: 'SIMPLE'})", "{relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: $undirected})",
        )
        self._graph.read(text, {**sent, "graph": name, "undirected": undirected_relationship_types})
        return SimpleNamespace(graph=self._graph.gds.graph.get(name))


class Catalogue:
    """`client.graph`: as the plugin's, with the session's projections."""

    def __init__(self, graph: Graph) -> None:
        self.project = Projections(graph)
        self._plain = graph.gds.graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


class Client:
    """`client`: as AuraGraphDataScience."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self.graph = graph, Catalogue(graph)

    def close(self) -> None:
        """The session is gone, and its graphs with it."""
        for info in self._graph.gds.graph.list():
            self._graph.gds.graph.drop(info.graph_name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph.gds, name)


def client(graph: Graph, calls: list[str]) -> Checked:
    """The stand-in; `calls` gets the name of each endpoint that is called."""
    nowhere: Any = SimpleNamespace()
    real = AuraGraphDataScience(nowhere, None, Noop(), show_progress=False)
    return Checked(Client(graph), real, "", calls)
