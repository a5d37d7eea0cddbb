"""Several reads in one message: sent one behind the other on one connection and answered in turn, so that a server far away is waited for
once. Each is a transaction of its own, with its own time limit and failure, as if it were asked alone.

Neo4j's protocol is made for it; its driver has no call for it. What is used of the driver's inside is here (the same in 5.26 and in 6.4);
where a version lacks it, the queries are asked one after another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kgeval.errors import QueryError
from kgeval.graph.failures import ResultTooLarge

if TYPE_CHECKING:
    import neo4j

Record = Sequence[Any]  # the values of a row, as the driver made them
USED = ("run", "pull", "send_all", "fetch_all", "new_hydration_scope")


@dataclass(frozen=True)
class ReadRequest:
    """A query of a message. `bound`: makes what says of each record in turn whether it still fits (None: all do). `most_rows`: that the
    server sends, and a result with more does not fit either (-1: all are sent). A server makes rows as fast as it can, and keeps in memory
    what the network has not taken."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)
    bound: Callable[[], Callable[[Record], bool]] | None = None
    most_rows: int = -1


@dataclass(frozen=True)
class ReadAnswer:
    """What came of it, or why nothing did: names of columns, records, the seconds that the server took, and of a query behind EXPLAIN
    its plan and kind (r, w, rw, s)."""

    keys: tuple[str, ...] = ()
    records: Sequence[Record] = ()
    seconds: float = 0.0
    plan: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    failure: QueryError | None = None

    def checked(self) -> ReadAnswer:
        """Itself. Raises: the failure."""
        if self.failure is not None:
            raise self.failure
        return self

    def rows(self) -> list[dict[str, Any]]:
        """The records as dicts, each made anew, nodes and relations as the maps of their properties. Raises: the failure."""
        import neo4j

        keys = self.checked().keys
        return [neo4j.Record(zip(keys, record, strict=True)).data() for record in self.records]  # type: ignore[no-untyped-call]


class _Answer:
    """Collects what the server says to one query."""

    def __init__(self, request: ReadRequest) -> None:
        self.fits = request.bound() if request.bound is not None else None
        self.keys: tuple[str, ...] = ()
        self.records: list[Record] = []
        self.milliseconds = 0
        self.metadata: Mapping[str, Any] = {}
        self.complete = False

    def begin(self, metadata: Mapping[str, Any]) -> None:
        self.keys = tuple(metadata.get("fields") or ())
        self.milliseconds += metadata.get("t_first") or 0

    def collect(self, records: Sequence[Record]) -> None:
        if self.fits is not None and not all(map(self.fits, records)):
            raise _too_large()
        self.records.extend(records)

    def end(self, metadata: Mapping[str, Any]) -> None:
        if metadata.get("has_more"):
            raise _too_large()
        self.milliseconds += metadata.get("t_last") or 0
        self.metadata = metadata
        self.complete = True

    def answered(self) -> ReadAnswer:
        plan, kind = self.metadata.get("plan") or {}, self.metadata.get("type") or ""
        return ReadAnswer(self.keys, self.records, self.milliseconds / 1000, plan, kind)


def _too_large() -> ResultTooLarge:
    return ResultTooLarge("its result is larger than what is read of one", fix="limit what it returns")


def can_pipeline(session: neo4j.Session) -> bool:
    """Whether this driver has what is used of its inside. The session has a connection already."""
    connection = getattr(session, "_connection", None)
    return hasattr(session, "_config") and all(hasattr(connection, name) for name in USED)


def send_together(
    session: neo4j.Session, requests: Sequence[ReadRequest], into: list[ReadAnswer], *, metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> None:
    """Adds the answers in turn, up to the first failure. `timeout`: seconds for each. Raises: that failure, as the driver has it;
    ResultTooLarge for a result that does not fit, and then the connection is of no more use. What was sent behind it is not answered."""
    import neo4j

    if not can_pipeline(session):
        for request in requests:
            begun = time.monotonic()
            result = session.run(neo4j.Query(request.text, metadata=dict(metadata or {}), timeout=timeout), dict(request.params))
            answer = _Answer(request)
            answer.begin({"fields": result.keys()})
            for record in result:
                answer.collect([record.values()])
            summary = result.consume()
            answer.end({"plan": summary.plan, "type": summary.query_type})
            into.append(replace(answer.answered(), seconds=time.monotonic() - begun))
        return
    connection: Any = session._connection
    config: Any = session._config
    answers = [_Answer(request) for request in requests]
    for request, answer in zip(requests, answers, strict=True):
        scope = connection.new_hydration_scope()
        hooks = {"dehydration_hooks": scope.dehydration_hooks, "hydration_hooks": scope.hydration_hooks}
        connection.run(
            request.text, parameters=dict(request.params), mode=config.default_access_mode, metadata=dict(metadata or {}), timeout=timeout,
            db=config.database, imp_user=config.impersonated_user, notifications_min_severity=config.notifications_min_severity,
            notifications_disabled_classifications=config.notifications_disabled_classifications, on_success=answer.begin, **hooks,
        )
        connection.pull(n=request.most_rows, on_records=answer.collect, on_success=answer.end, **hooks)
    try:
        connection.send_all()
        connection.fetch_all()
    finally:
        into += [answer.answered() for answer in answers if answer.complete]
