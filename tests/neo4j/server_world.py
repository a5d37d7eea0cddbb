"""Embedded servers of tests, and how a test's database is emptied. (Not in conftest.py: of that name there is one in each folder.)"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgeval.graph.connect import Address, Graph

# A test's server answers for tiny graphs, two servers on two cores: threads for garbage collection cost more than they save. The optimising
# compiler pays: planning the 225 reading queries once more takes 20 s of processor time with it and 50 s without
LIGHT = "-XX:+UseSerialGC\n"
# each test empties the database and fills it again: to the server every plan looks out of date, and planning is most of what it does here
PLANNED_ONCE = "dbms.cypher.min_replan_interval=2h\ndbms.cypher.statistics_divergence_threshold=1.0\n"
# the audits of the suite's layouts are some thousand texts, those of one layout with other tests between them; the server's own is 1,000
PLANNED_ONCE += "server.memory.query_cache.per_db_cache_num_entries=5000\n"


@contextmanager
def new_server() -> Iterator[Address]:
    """An embedded server in a home of its own, for the time of the block."""
    from kgeval.graph.server import home as home_conf
    from kgeval.graph.server import process, stop

    with tempfile.TemporaryDirectory(prefix="kgeval-tests-") as folder, pytest.MonkeyPatch.context() as patch:
        home = Path(folder) / "home"
        patch.setattr(process, "SERVER_OPTIONS", LIGHT)
        patch.setattr(home_conf, "CONF", home_conf.CONF.removesuffix(PLANNED_ONCE) + PLANNED_ONCE)
        try:
            yield waited_for(home)
        finally:
            stop(home)


def waited_for(home: Path, *, times: int = 3) -> Address:
    """The address of the home's server; a machine that does much else may need longer than one wait."""
    from kgeval.graph.server import ensure_started
    from kgeval.graph.server.faults import NotReadyError

    for _ in range(times - 1):
        try:
            return ensure_started(home=home, say=lambda _: None)
        except NotReadyError:
            continue
    return ensure_started(home=home, say=lambda _: None)


def empty(connection: Graph) -> None:
    """Deletes everything: nothing is sent for nothing, a large leftover graph goes in slices (it does not fit one transaction)."""
    size = connection.read("RETURN COUNT { (n) } + COUNT { ()-[r]->() } AS size")[0]["size"]
    if not size:
        return
    if size < 20_000:
        connection.write("MATCH (n) DETACH DELETE n")
        return
    connection.schema_command("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS")
    connection.schema_command("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 20000 ROWS")
