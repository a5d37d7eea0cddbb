"""Entities grouped by normalised name, in flat memory: 8 bytes an entity and key, whatever the names' lengths."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import Any

from kgeval.auditing.check import CheckRun
from kgeval.graph.connect import Row
from kgeval.records import GraphRef
from kgeval.text.names import normalise

MOST_GROUPS = 10_000  # groups that are read by name: a graph of nothing but duplicates must not fill the memory with its rows
MOST_ITEMS = 10  # shown of one group


def code(text: str) -> int:
    """64 bits that stand for a text. Two texts share them with a chance of about 1 in 10^7 among a million texts."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def type_of(row: Row, check: CheckRun) -> str:
    """The type for comparison: case-folded, "" if there is none or only a placeholder."""
    kind = row["type"]
    return "" if kind is None or kind in check.layout.placeholder_values else kind.strip().casefold()


def codes(check: CheckRun) -> tuple[array[int], array[int]]:
    """Codes of the normalised name and of the type of every entity whose name is not empty once normalised."""
    names, types = array("Q"), array("Q")
    for row in check.sliced_rows("entity-slices", aliases=False):
        if name := normalise(row["name"]):
            names.append(code(name))
            types.append(code(type_of(row, check)))
    return names, types


def members(check: CheckRun, wanted: Collection[int], key: Callable[[str, str], int]) -> dict[int, list[Row]]:
    """The rows of each wanted group (at most `MOST_ITEMS`, in name order), read in a second pass."""
    groups: dict[int, list[Row]] = {}
    for row in check.sliced_rows("entity-slices", aliases=False):
        name = normalise(row["name"])
        group_code = key(name, type_of(row, check))
        if group_code in wanted:
            group = groups.setdefault(group_code, [])
            group.append({**row, "normal": name})
            # cut now and then, not at each row: a name of a million bearers would fill the memory, sorting each time would take for ever
            if len(group) > 10 * MOST_ITEMS:
                group[:] = _best(group)
    return {group_code: _best(group) for group_code, group in groups.items()}


def _best(group: list[Row]) -> list[Row]:
    """The first rows, one of each type before a second of any."""
    seen: dict[str, int] = {}
    ranked = []
    for row in sorted(group, key=lambda r: (r["name"], str(r["type"]), r["element_id"])):
        kind = str(row["type"]).casefold()
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((seen[kind], row["name"], row["element_id"], row))
    return [row for *_, row in sorted(ranked, key=lambda r: r[:3])[:MOST_ITEMS]]


def reference(row: Row) -> GraphRef:
    """The entity of a row."""
    return GraphRef(element_id=row["element_id"], key=row["key"][:200], name=row["name"][:200], type=row["type"])


def largest(found: Any, sizes: Any, sample: int) -> dict[int, int]:
    """Size by code of the groups that can come into the sample: the largest, at most `MOST_GROUPS` beyond it."""
    import numpy as np

    order = np.argsort(-sizes.astype(np.int64), kind="stable")[: max(sample, MOST_GROUPS)]
    return {int(found[i]): int(sizes[i]) for i in order}
