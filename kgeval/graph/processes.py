"""Which kgeval process something on a server belongs to: projections and transactions carry host, pid and start of the process."""

from __future__ import annotations

import os
import re
import socket
from functools import cache

_MARK = re.compile(r"^kgeval_(?P<host>[^_]+)_(?P<pid>\d+)_(?P<start>\d+)(?:_\d+)*$")


def mark() -> str:
    """What this process marks its things with: kgeval_HOST_PID_START."""
    return f"kgeval_{_host()}_{os.getpid()}_{_started(os.getpid()) or 0}"


def abandoned(name: str) -> bool:
    """True if the name is a mark (or begins with one) of a process of this machine that is gone. Of other machines nothing is known."""
    found = _MARK.match(name)
    return bool(found and found["host"] == _host() and _started(int(found["pid"])) != int(found["start"]))


@cache
def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "host"


def _started(pid: int) -> int | None:
    """When a process started (seconds since 1970), or None if there is none."""
    import psutil

    try:
        return int(psutil.Process(pid).create_time())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
