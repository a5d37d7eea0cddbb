"""type-conflict: entities whose name, once normalised, is also the name of an entity of another type."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.same_names import code, coded_names, largest, members, reference, repeated
from kgeval.graph.connect import Row
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities whose name also stands for another type; `total`: entities with a name and a type."""
    import numpy as np

    coded = coded_names(check)
    by_entity, kinds = coded.columns()
    untyped = kinds == np.uint64(code(""))
    names, types = by_entity[~untyped], kinds[~untyped]
    order = np.argsort(names)
    names, types = names[order], types[order]
    del order
    starts, sizes = repeated(names)
    differs = np.append(types[1:] != types[:-1], False)
    torn = np.logical_or.reduceat(differs, np.column_stack((starts, starts + sizes - 1)).ravel())[::2]  # within each name
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
