"""type-conflict: entities whose name, once normalised, is also the name of an entity of another type."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.same_names import code, coded_names, largest, members, reference
from kgeval.graph.connect import Row
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities whose name also stands for another type; `total`: entities with a name and a type."""
    import numpy as np

    coded = coded_names(check)
    by_entity, kinds = coded.columns()
    untyped = kinds == np.uint64(code(""))
    typed = np.flatnonzero(~untyped).astype(np.uint32)
    order = typed[np.lexsort((kinds[typed], by_entity[typed]))]
    names, types = by_entity[order], kinds[order]
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1])[: len(names)])
    sizes = np.diff(starts, append=len(names))
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]  # few: what follows would take the memory of several columns
    torn = types[starts] != types[starts + sizes - 1]  # they ascend within a name
    several, sizes = names[starts[torn]], sizes[torn]
    if not len(several) or check.sample < 1:
        return CheckOutcome(int(sizes.sum()), len(names))
    wanted = largest(several, sizes, check.sample)
    groups = members(coded, np.where(untyped, np.uint64(0), by_entity), wanted)
    ranked = sorted(groups.items(), key=lambda g: (-wanted[g[0]], g[1][0]["normal"]))
    return CheckOutcome(int(sizes.sum()), len(names), [_example(g, wanted[key]) for key, g in ranked[: check.sample]])


def _example(group: list[Row], size: int) -> Example:
    kinds = sorted({str(row["type"])[:80] for row in group})
    why = f"'{group[0]['normal'][:100]}' is {', '.join(kinds)}"
    return Example(items=[reference(row) for row in group], why=why, counts=size)
