"""Which kgeval process something on a server belongs to: projections, transactions and sessions carry host, pid and start of the process.

What is not surely left behind is let alone: to end a living run of somebody else's is worse than a leftover.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from functools import cache
from pathlib import Path

_MARK = re.compile(r"^kgeval_(?P<host>[^_]+)_(?P<pid>\d+)_(?P<start>\d+)(?:_\d+)*$")
_PLACES = ("/etc/machine-id", "/proc/sys/kernel/random/boot_id")


def mark() -> str:
    """What this process marks its things with: kgeval_HOST_PID_START. It stays the same while the process lives."""
    return f"kgeval_{_host()}_{os.getpid()}_{_started(os.getpid()) or 0}"


def abandoned(name: str) -> bool:
    """True if the name is a mark (or begins with one) of a process of this machine that is gone. Of other machines nothing is known."""
    match = _MARK.match(name)
    if not match or match["host"] != _host():
        return False
    pid = int(match["pid"])
    return not _there(pid) or _started(pid) not in (None, int(match["start"]))


@cache
def _host() -> str:
    """The host's name, and eight hex digits that tell machines and containers of one name apart: processes of another container are not
    seen from here, and would look dead."""
    name = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "host"
    return f"{name}-{hashlib.sha256(_place().encode()).hexdigest()[:8]}"


def _place() -> str:
    """The machine and, where there is one, the space of process numbers. In a container the machine is told by its kernel's start."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    machine, start = (_text(path) for path in _PLACES)
    first = space in ("", "pid:[4026531836]")  # the kernel's number for the space that is no container's
    return f"{machine} {space}" if first else f"{machine} {start} {space}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _there(pid: int) -> bool:
    """Whether there is such a process, whoever's it is and however little of it may be seen."""
    import psutil

    if os.name != "posix":
        return bool(psutil.pid_exists(pid))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # another user's process, or a number that no process can have: it is let alone
    except (PermissionError, OverflowError):
        return True
    return True


def _started(pid: int) -> int | None:
    """When a process started, or None if that cannot be told: on Linux in ticks since the machine started, which no change of the clock
    moves; else in seconds since 1970."""
    import psutil

    try:
        # field 22; the command's name before it stands in brackets, and may hold blanks and brackets of its own
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(psutil.Process(pid).create_time())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
