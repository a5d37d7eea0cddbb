"""Several reads in one message: sent one behind the other on one connection and answered in turn, so that a server far away is waited for
once. Each is a transaction of its own, with its own time limit and failure, as if it were asked alone.

Neo4j's protocol is made for it; its driver has no call for it. What is used of the driver's inside is here (the same in 5.26 and in 6.4);
where a version lacks it, the queries are asked one after another.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kgeval.errors import QueryError

if TYPE_CHECKING:
    import neo4j

USED = ("run", "pull", "send_all", "fetch_all", "new_hydration_scope")


@dataclass(frozen=True)
class ReadRequest:
    """A query of a message."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadAnswer:
    """What came of it: its rows and the seconds that the server took, or why there are none."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    failure: QueryError | None = None

    def taken(self) -> list[dict[str, Any]]:
        """The rows. Raises: the failure."""
        if self.failure is not None:
            raise self.failure
        return self.rows


class _Answer:
    """Collects what the server says to one query."""

    def __init__(self) -> None:
        self.keys: Sequence[str] = ()
        self.records: list[Sequence[Any]] = []
        self.milliseconds = 0
        self.complete = False

    def begin(self, metadata: Mapping[str, Any]) -> None:
        self.keys = metadata.get("fields") or ()
        self.milliseconds += metadata.get("t_first") or 0

    def end(self, metadata: Mapping[str, Any]) -> None:
        self.milliseconds += metadata.get("t_last") or 0
        self.complete = True

    def answered(self) -> ReadAnswer:
        from neo4j import Record

        rows = [Record(zip(self.keys, record, strict=True)).data() for record in self.records]  # type: ignore[no-untyped-call]
        return ReadAnswer(rows, self.milliseconds / 1000)


def can_pipeline(session: neo4j.Session) -> bool:
    """Whether this driver has what is used of its inside. The session has a connection already."""
    connection = getattr(session, "_connection", None)
    return hasattr(session, "_config") and all(hasattr(connection, name) for name in USED)


def send_together(
    session: neo4j.Session, queries: Sequence[neo4j.Query], params: Sequence[Mapping[str, Any]], into: list[ReadAnswer],
) -> None:
    """Adds the answers in turn, up to the first failure. Raises: that, as the driver has it; what was sent behind it the server has passed
    over."""
    if not can_pipeline(session):
        for query, given in zip(queries, params, strict=True):
            begun = time.monotonic()
            into.append(ReadAnswer(session.run(query, dict(given)).data(), time.monotonic() - begun))
        return
    connection: Any = session._connection
    config: Any = session._config
    answers = [_Answer() for _ in queries]
    for query, given, answer in zip(queries, params, answers, strict=True):
        scope = connection.new_hydration_scope()
        hooks = {"dehydration_hooks": scope.dehydration_hooks, "hydration_hooks": scope.hydration_hooks}
        connection.run(
            query.text, parameters=dict(given), mode=config.default_access_mode, metadata=query.metadata, timeout=query.timeout,
            db=config.database, imp_user=config.impersonated_user, notifications_min_severity=config.notifications_min_severity,
            notifications_disabled_classifications=config.notifications_disabled_classifications, on_success=answer.begin, **hooks,
        )
        connection.pull(n=-1, on_records=answer.records.extend, on_success=answer.end, **hooks)
    try:
        connection.send_all()
        connection.fetch_all()
    finally:
        into += [answer.answered() for answer in answers if answer.complete]
