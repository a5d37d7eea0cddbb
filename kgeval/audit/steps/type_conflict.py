"""type-conflict: entities whose name, once normalised, is also the name of an entity of another type."""

from __future__ import annotations

from typing import Any

from kgeval.audit.check import Check, Outcome
from kgeval.audit.same_names import code, codes, largest, members, reference
from kgeval.graph.connect import Row
from kgeval.records import Example


def run(check: Check) -> Outcome:
    """`count`: entities whose name also stands for another type; `total`: entities with a name and a type."""
    import numpy as np

    raw_names, raw_types = codes(check)
    names, types = np.array(raw_names, dtype=np.uint64), np.array(raw_types, dtype=np.uint64)
    typed = types != np.uint64(code(""))
    names, types = names[typed], types[typed]
    torn = _several(names, types)
    found, sizes = np.unique(names[np.isin(names, torn)], return_counts=True)
    if not len(found) or check.sample < 1:
        return Outcome(int(sizes.sum()), len(names))
    wanted = largest(found, sizes, check.sample)
    groups = members(check, wanted, lambda name, kind: code(name) if kind else 0)
    ranked = sorted(groups.items(), key=lambda g: (-wanted[g[0]], g[1][0]["normal"]))
    return Outcome(int(sizes.sum()), len(names), [_example(g, wanted[at]) for at, g in ranked[: check.sample]])


def _several(names: Any, types: Any) -> Any:
    """The codes of names that stand with more than one type."""
    import numpy as np

    pairs = np.unique(np.stack([names, types]), axis=1)
    found, kinds = np.unique(pairs[0], return_counts=True)
    return found[kinds > 1]


def _example(group: list[Row], size: int) -> Example:
    kinds = sorted({str(row["type"])[:80] for row in group})
    why = f"'{group[0]['normal'][:100]}' is {', '.join(kinds)}"
    return Example(items=[reference(row) for row in group], why=why, counts=size)
