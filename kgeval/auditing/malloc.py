"""Memory that is freed goes back to the system, and large arrays lie apart from small objects."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

APART = 1 << 18  # bytes from which on a block gets pages of its own
MMAP_THRESHOLD = -3  # the option's number in glibc's malloc.h


def _of_glibc(name: str) -> Any:
    """A function of the C library; None where it has none of this name (macOS, musl, Windows)."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):
        return None


@cache
def _trim() -> Any:
    return _of_glibc("malloc_trim")


# once a process: it is the process's setting
@cache
def tune_malloc() -> None:
    """From now on large blocks get pages of their own, which go back at once when they are freed, and grow without being copied. Left
    alone, glibc raises the size of what it takes for large with each such block that is freed, up to 32 MB: then arrays over a million
    names lie between small objects. Does nothing elsewhere."""
    if option := _of_glibc("mallopt"):
        option(MMAP_THRESHOLD, APART)


def trim_heap() -> None:
    """Gives freed memory back. glibc keeps what large arrays leave between small objects: a third of what a check over a million names
    takes. Does nothing elsewhere."""
    if trim := _trim():
        trim(0)
