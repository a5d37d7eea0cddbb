"""Heap sizes: what may be asked for, and what fits."""

from __future__ import annotations

import re
from pathlib import Path

from kgeval.errors import ServerError
from kgeval.graph.server.home import PAGE_CACHE_MB

DEFAULT_HEAP = "1g"
SMALLEST_MB = 256


def heap_mb(heap: str) -> int:
    """The heap in MiB. `heap` is a whole number with m or g: 512m, 4g. Raises: ServerError."""
    match = re.fullmatch(r"([1-9]\d{0,6})([mMgG])", heap)
    if match is None:
        raise ServerError(f"{heap!r} is no heap size", fix="write a whole number with m or g: --heap 512m, --heap 4g")
    size = int(match[1]) * (1024 if match[2] in "gG" else 1)
    if size < SMALLEST_MB:
        raise ServerError(f"a heap of {heap} is too small for Neo4j with GDS", fix=f"give at least --heap {SMALLEST_MB}m")
    return size


def page_cache_mb(heap: str) -> int:
    """The page cache that goes with a heap, in MiB: a quarter of it, so that a graph that needs a large heap need not be read from
    disk for every query; at least 256. Raises: ServerError for what is no heap size."""
    return max(PAGE_CACHE_MB, heap_mb(heap) // 4)


def check_fits(heap: str) -> None:
    """Raises: ServerError if heap and page cache together are more than this machine (or container) has."""
    page_cache = page_cache_mb(heap)
    need, have = heap_mb(heap) + page_cache, memory_mb()
    if need > have:
        fits = max(have - PAGE_CACHE_MB, 0) * 3 // 4
        raise ServerError(
            f"a heap of {heap} and {page_cache} MB page cache are more than the {have} MB of memory here",
            fix=f"try --heap {fits}m" if fits >= SMALLEST_MB else "use a machine with more memory, or set NEO4J_URI to a server elsewhere",
        )


def memory_mb() -> int:
    """The memory that may be used, in MiB: the machine's, or the container's limit if that is less."""
    import psutil

    limits = [int(psutil.virtual_memory().total)]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        # cgroup 2 says "max" where there is no limit
        if text.isdigit():
            limits.append(int(text))
    return min(limits) // (1024 * 1024)
