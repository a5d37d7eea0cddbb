"""Which requests are in flight in other processes: one lock a request, on a byte of a file beside the journal.

The kernel drops a lock when its owner ends, however it ends, so nothing is ever left behind and no clock is needed.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import threading
from pathlib import Path

from kgeval.errors import ConfigError

# Locks of an open file (not of a process) are needed where two sessions of one process share a journal.
_PER_OPEN_FILE: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None


class Claims:
    """The claims of one session. Thread-safe; the caller keeps threads of one session apart itself."""

    def __init__(self, journal: Path) -> None:
        path = journal.with_name(journal.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as cause:
            raise ConfigError(f"{path}: cannot be opened: {cause.strerror}", fix="check its folder, or name another --journal") from cause
        self._lock, self._open = threading.Lock(), True

    def take(self, key: str) -> bool:
        """True if the claim is ours now, False if another session has it."""
        return self._set(key, fcntl.F_WRLCK)

    def give(self, key: str) -> None:
        """Gives a claim free."""
        self._set(key, fcntl.F_UNLCK)

    def close(self) -> None:
        """Drops all claims. Where locks belong to the process, the file stays open: closing it would drop other sessions' too."""
        with self._lock:
            if _PER_OPEN_FILE is not None and self._open:
                os.close(self._file)
            self._open = False

    def _set(self, key: str, kind: int) -> bool:
        place = int(key[:15], 16)  # 60 bits of the hash: two requests on one place would only wait for each other
        with self._lock:
            return self._open and self._lock_byte(place, kind)

    def _lock_byte(self, place: int, kind: int) -> bool:
        try:
            if _PER_OPEN_FILE is not None:
                fcntl.fcntl(self._file, _PER_OPEN_FILE, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
            else:
                command = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
                fcntl.lockf(self._file, command, 1, place, os.SEEK_SET)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as cause:
            where = "the journal's folder is on a file system without locks"
            raise ConfigError(f"{where}: {cause.strerror}", fix="put the journal on a local disk with --journal") from cause
        return True
