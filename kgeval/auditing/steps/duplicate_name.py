"""duplicate-name: entities of one type whose names are equal once normalised."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.constants import parted_by_values
from kgeval.auditing.same_names import coded_names, largest, members, reference, repeated
from kgeval.graph.connect import Row
from kgeval.records import Example

FACTOR = 0x9E3779B97F4A7C15  # 2^64 / the golden section, odd: mixes the name's code so that (name, type) and (type, name) differ


def run(check: CheckRun) -> CheckOutcome:
    """`count`: surplus entities (each group of n counts n - 1); `total`: entities with a name."""
    import numpy as np

    coded = coded_names(check)
    names, types = coded.columns()
    with np.errstate(over="ignore"):
        both = names * np.uint64(FACTOR) ^ types  # name and type; which of both is which matters
    ascending = np.sort(both)
    starts, sizes = repeated(ascending)
    several = ascending[starts]
    del ascending
    count = int(sizes.sum()) - len(several)
    if not len(several) or check.sample < 1:
        return CheckOutcome(count, len(both))
    wanted = largest(several, sizes, check.sample)
    groups = members(coded, both, wanted)
    parted = parted_by_values(check, groups, wanted)
    found = [(rows, wanted[key], key) for key, rows in groups.items() if key not in parted]
    for key, parts in parted.items():
        found += [(rows, len(rows), key) for rows in parts if len(rows) > 1]
        count -= len(parts) - 1
    found.sort(key=lambda group: (-group[1], group[0][0]["normal"], group[2]))
    return CheckOutcome(count, len(both), [_example(rows, size) for rows, size, _ in found[: check.sample]])


def _example(group: list[Row], size: int) -> Example:
    kind = group[0]["type"]
    typed = f"of type {kind[:80]}" if kind else "without a type"
    why = f"{size} entities {typed} are called '{group[0]['normal'][:100]}'"
    return Example(items=[reference(row) for row in group], why=why, counts=size - 1)
