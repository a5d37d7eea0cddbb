"""Sessions whose queries end with the process that asked them: on Ctrl-C the server is told to stop them.

The driver alone does not do that: its clean-up after an interrupt reads the running query to its end first, which may take as long as
the time limit. So every transaction carries a mark, and an interrupt ends the marked ones from a second session before the first closes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kgeval.graph.processes import abandoned, mark

if TYPE_CHECKING:
    import neo4j

MARK = "kgeval"
SECONDS = 5.0
RUNNING = "SHOW TRANSACTIONS YIELD transactionId, metaData RETURN transactionId AS id, metaData AS marks"
TERMINATE = "TERMINATE TRANSACTIONS $ids"


def marks() -> dict[str, str]:
    """The metadata of every transaction of this process."""
    return {MARK: mark()}


@contextmanager
def reading(driver: neo4j.Driver, database: str | None, **config: Any) -> Iterator[neo4j.Session]:
    """A READ session; the server refuses writes. An interrupt inside the block stops this process's queries on the server."""
    import neo4j

    with driver.session(database=database, default_access_mode=neo4j.READ_ACCESS, **config) as session, stopping(driver, database):
        yield session


@contextmanager
def writing(driver: neo4j.Driver, database: str | None) -> Iterator[neo4j.Session]:
    """A session that may write: for importers and explicit write-backs only. Interrupts as `reading`."""
    with driver.session(database=database) as session, stopping(driver, database):
        yield session


@contextmanager
def stopping(driver: neo4j.Driver, database: str | None) -> Iterator[None]:
    """On Ctrl-C, ends this process's transactions on the server before whatever is around it cleans up."""
    try:
        yield
    except KeyboardInterrupt:
        stop(driver, database)
        raise


def stop(driver: neo4j.Driver, database: str | None) -> int:
    """Ends the transactions of this process. How many; 0 also where the server does not let its user do so."""
    own = mark()
    return _terminate(driver, database, lambda name: name == own)


def sweep_transactions(driver: neo4j.Driver, database: str | None) -> int:
    """Ends transactions of kgeval processes of this machine that were killed. How many."""
    return _terminate(driver, database, abandoned)


def _terminate(driver: neo4j.Driver, database: str | None, ours: Any) -> int:
    from neo4j import READ_ACCESS
    from neo4j.exceptions import DriverError, Neo4jError

    with suppress(DriverError, Neo4jError, OSError), driver.session(database=database, default_access_mode=READ_ACCESS) as session:
        running = session.run(_limited(RUNNING)).data()
        found = [row["id"] for row in running if ours(str((row["marks"] or {}).get(MARK, "")))]
        if found:
            session.run(_limited(TERMINATE), ids=found).consume()
        return len(found)
    return 0


def _limited(text: str) -> neo4j.Query:
    import neo4j

    return neo4j.Query(text, timeout=SECONDS)
