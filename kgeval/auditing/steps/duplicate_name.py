"""duplicate-name: entities of one type whose names are equal once normalised."""

from __future__ import annotations

from typing import Any

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.same_names import code, codes, largest, members, reference
from kgeval.graph.connect import Row
from kgeval.records import Example

FACTOR = 0x9E3779B97F4A7C15  # 2^64 / the golden section, odd: mixes the name's code so that (name, type) and (type, name) differ


def run(check: CheckRun) -> CheckOutcome:
    """`count`: surplus entities (each group of n counts n - 1); `total`: entities with a name."""
    import numpy as np

    both = _codes(check)
    total = len(both)
    several, sizes = np.unique(both, return_counts=True)
    several, sizes = several[sizes > 1], sizes[sizes > 1]
    # 8 bytes an entity: free before the names are read a second time
    del both
    if not len(several) or check.sample < 1:
        return CheckOutcome(int(sizes.sum()) - len(several), total)
    wanted = largest(several, sizes, check.sample)
    groups = members(check, wanted, lambda name, kind: code(name) * FACTOR % 2**64 ^ code(kind))
    ranked = sorted(groups.items(), key=lambda g: (-wanted[g[0]], g[1][0]["normal"], g[0]))
    return CheckOutcome(int(sizes.sum()) - len(several), total, [_example(g, wanted[key]) for key, g in ranked[: check.sample]])


def _codes(check: CheckRun) -> Any:
    """One code of name and type for each entity with a name; which of both is which matters."""
    import numpy as np

    raw_names, raw_types = codes(check)
    mixed, types = np.frombuffer(raw_names, dtype=np.uint64), np.frombuffer(raw_types, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed *= np.uint64(FACTOR)  # in place: nobody else has these codes
    mixed ^= types
    return mixed


def _example(group: list[Row], size: int) -> Example:
    kind = group[0]["type"]
    typed = f"of type {kind[:80]}" if kind else "without a type"
    why = f"{size} entities {typed} are called '{group[0]['normal'][:100]}'"
    return Example(items=[reference(row) for row in group], why=why, counts=size - 1)
