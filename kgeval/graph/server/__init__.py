"""The embedded Neo4j with GDS: no Docker, no system Java, nothing to set up. One server a home, loopback only.

    ensure_started  starts the server of a home if it does not run; gives its address
    start           the same, gives its status
    stop            stops it
    kept_down       keeps it stopped for a while
    status          where it is and whether it runs
    logs            the last lines that it wrote
    remove          deletes a home and all graphs in it
    default_home    the home that is used when none is named
"""

from kgeval.graph.server.home import default_home
from kgeval.graph.server.lifecycle import ServerStatus, ensure_started, kept_down, logs, remove, start, status, stop

__all__ = ["ServerStatus", "default_home", "ensure_started", "kept_down", "logs", "remove", "start", "status", "stop"]
