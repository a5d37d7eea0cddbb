"""GDS graphs come from here and nowhere else: named after this process, always dropped, leftovers swept.

They are projected through the `graphdatascience` client. Listing and dropping are Cypher: every connection looks for leftovers, and most
need no client, which takes a second to load; and a clean-up has no time limit, nor does an interrupt end it.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kgeval.errors import KgevalError, QueryError
from kgeval.graph.binding import bind_query
from kgeval.graph.connect import LEFT_BEHIND, Graph
from kgeval.graph.failures import ConnectionBroke, ConnectionLost, QueryEnded, QueryTimeout
from kgeval.graph.pipelining import ReadRequest
from kgeval.graph.processes import abandoned, mark
from kgeval.graph.queries import all_queries
from kgeval.graph.sessions import SECONDS

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience
    from graphdatascience.procedure_surface.cypher.catalog.projection_cypher_endpoints import (
        GraphWithCypherProjectResult,
        GraphWithProjectResult,
    )

_COUNTER = itertools.count(1)
_swept: weakref.WeakSet[Graph] = weakref.WeakSet()
_undropped: set[str] = set()  # what this process could not drop, for its server was away: swept when that is back


def graph_name() -> str:
    """A name that says whose it is: kgeval_HOST_PID_START_N."""
    return f"{mark()}_{next(_COUNTER)}"


@contextmanager
def new_graph(graph: Graph) -> Iterator[str]:
    """A name for a GDS graph, which is dropped at the end of the block if it is there. Raises: ConnectError without GDS."""
    graph.need_gds()
    name = graph_name()
    try:
        yield name
    finally:
        drop(graph, name)


def by_cypher(
    graph: Graph, query: str, name: str, params: Mapping[str, Any], *, timeout: float | None,
) -> GraphWithCypherProjectResult | None:
    """The graph that one of our queries projects under that name (its parameter $graph_name); None where it met nothing to project.

    Raises: QueryError (no memory, no right to project), QueryTimeout, ConnectError without GDS.
    """
    text, given = bind_query(all_queries()[query], params)

    def project(gds: GraphDataScience) -> GraphWithCypherProjectResult | None:
        from pydantic import ValidationError

        try:
            return gds.graph.project.cypher(text, graph_name=name, **given)
        # pydantic's error is a ValueError too: `ask_gds` says what it means
        except ValidationError:
            raise
        except ValueError:  # the client's word for a query without rows
            return None

    return graph.ask_gds(project, timeout=timeout)


def natively(
    graph: Graph, name: str, labels: Sequence[str], relations: Mapping[str, Mapping[str, str]], *,
    expected: tuple[int, int], timeout: float | None,
) -> GraphWithProjectResult | None:
    """The native projection of plain labels and types, about six times faster than one by Cypher; None, and no graph, where GDS refuses
    it or where it does not have the nodes and relations that are expected.

    Raises: QueryTimeout, QueryEnded: the other way is slower; ConnectionBroke, ConnectionLost: it may have been made.
    """
    try:
        projection = graph.ask_gds(
            # one reader: two number the nodes as they come, so that one audit in some found other communities in the same graph
            lambda gds: gds.graph.project.native(name, list(labels), dict(relations), read_concurrency=1, log_progress=False),
            timeout=timeout,
        )
    except (QueryTimeout, QueryEnded, ConnectionBroke, ConnectionLost):
        raise
    except QueryError:
        return None
    if (projection.result.node_count, projection.result.relationship_count) != expected:
        drop(graph, name)
        return None
    return projection


def drop(graph: Graph, name: str) -> None:
    """Drops a GDS graph; fine if it is not there. Where the server does not answer, `sweep` drops it once it does: only a server that
    was stopped has forgotten it."""
    try:
        graph.tidy(all_queries()["drop-graph"], {"graph_name": name})
        _undropped.discard(name)
    except KgevalError:
        _undropped.add(name)


def sweep_again(graph: Graph) -> None:
    """As `sweep`, where that was not done on this connection, or since then a graph could not be dropped."""
    if graph not in _swept or _undropped:
        sweep(graph)


def sweep(graph: Graph) -> list[str]:
    """Drops graphs that were left behind: of kgeval processes of this machine that were killed, and of this one where the server did not
    answer when they were to be dropped. Returns their names."""
    left = []
    _swept.add(graph)
    for row in graph.read(all_queries()["list-graphs"]):
        if abandoned(row["graph"]) or row["graph"] in _undropped:
            drop(graph, row["graph"])
            left.append(row["graph"])
    return left


def clear(graph: Graph) -> list[str]:
    """Clears what killed kgeval processes of this machine left on the server: projections, and queries that still run. In words."""
    left = []
    with graph.remembering():
        projections = [ReadRequest(all_queries()["list-graphs"].text)] if graph.info.gds is not None else []
        graph.read_ahead([*projections, LEFT_BEHIND], timeout=SECONDS)
        if graph.info.gds is not None:
            with suppress(KgevalError):
                left += [f"projection {name} of a run that was killed or lost its server" for name in sweep(graph)]
        if stopped := graph.stop_abandoned():
            left.append(f"{stopped} queries of runs that were killed")
    return left
