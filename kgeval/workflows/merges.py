"""The decisions of entity resolution in a built graph: which there are, taking them back, applying them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from kgeval.config import MergesOptions
from kgeval.workflows.build import BuildResult, embedder_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.records import Merge


def listed(session: Session, options: MergesOptions) -> list[Merge]:
    """The merges of the graph that the session names, applied and undone, that fit the options.

    Raises: UsageError where there is no such graph; ConnectError.
    """
    from kgeval.building.decide import decisions_of
    from kgeval.records import Merge

    text = (options.name or "").casefold()
    return [
        Merge(
            id=row.id, kept=row.kept, merged=row.merged, type=row.type, level=row.level, score=row.score, why=row.why, status=row.status,
        )
        for row in decisions_of(session.graph, str(session.graph_name))
        if (text in row.kept.casefold() or text in row.merged.casefold())
        and options.level in (None, row.level) and options.status in (None, row.status)
    ]


def decide(session: Session, ids: Sequence[str], status: Literal["undone", "applied"]) -> BuildResult:
    """Takes merges back (`undone`) or allows them again (`applied`), and resolves the graph that the session names anew from what is
    stored; with what it was resolved with last, where the session names nothing that embeds.

    Raises: UsageError that names every id that is not there; ConnectError, QueryError, ModelError.
    """
    from kgeval.building.decide import decide
    from kgeval.graph.load.mark import look

    graph, name = session.graph, str(session.graph_name)
    stored = look(graph, name).properties
    embedder = embedder_of(session, stored.get("embedding_model")) if "embedding" in str(stored.get("resolve", "")) else None
    embed, model = (embedder.embed, embedder.name) if embedder else (None, None)
    return BuildResult(decide(graph, name, list(dict.fromkeys(ids)), status, embed, embedding_model=model))
