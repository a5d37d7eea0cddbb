"""type-conflict: entities whose name, once normalised, is also the name of an entity of another type."""

from __future__ import annotations

from typing import Any

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.same_names import code, codes, largest, members, reference
from kgeval.graph.connect import Row
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities whose name also stands for another type; `total`: entities with a name and a type."""
    total, several, sizes = _torn(check)
    if not len(several) or check.sample < 1:
        return CheckOutcome(int(sizes.sum()), total)
    wanted = largest(several, sizes, check.sample)
    groups = members(check, wanted, lambda name, kind: code(name) if kind else 0)
    ranked = sorted(groups.items(), key=lambda g: (-wanted[g[0]], g[1][0]["normal"]))
    return CheckOutcome(int(sizes.sum()), total, [_example(g, wanted[key]) for key, g in ranked[: check.sample]])


def _torn(check: CheckRun) -> tuple[int, Any, Any]:
    """How many entities have a name and a type; codes of the names that stand with more than one type, and how many entities bear each."""
    import numpy as np

    raw_names, raw_types = codes(check)
    names, types = np.frombuffer(raw_names, dtype=np.uint64), np.frombuffer(raw_types, dtype=np.uint64)
    typed = np.flatnonzero(types != np.uint64(code(""))).astype(np.uint32)
    order = typed[np.lexsort((types[typed], names[typed]))]
    names, types = names[order], types[order]
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1])[: len(names)])
    sizes = np.diff(starts, append=len(names))
    torn = types[starts] != types[starts + sizes - 1]  # they ascend within a name
    return len(names), names[starts[torn]], sizes[torn]


def _example(group: list[Row], size: int) -> Example:
    kinds = sorted({str(row["type"])[:80] for row in group})
    why = f"'{group[0]['normal'][:100]}' is {', '.join(kinds)}"
    return Example(items=[reference(row) for row in group], why=why, counts=size)
