"""Entities grouped by normalised name, in flat memory: 50 bytes an entity, whatever the names' lengths."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kgeval.auditing.check import CheckRun
from kgeval.auditing.entity_columns import EntityColumns
from kgeval.graph.connect import Row
from kgeval.records import GraphRef
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    import numpy as np

    Codes = np.ndarray[Any, np.dtype[np.uint64]]
    Integers = np.ndarray[Any, np.dtype[np.int64]]

MOST_GROUPS = 10_000  # groups that are read by name: a graph of nothing but duplicates must not fill the memory with its rows
MOST_ITEMS = 10  # shown of one group


@dataclass
class CodedNames:
    """Every entity whose name is not empty once normalised. By position: the entity, the code of its normalised name, that of its type."""

    roll: EntityColumns = field(default_factory=EntityColumns)
    names: array[int] = field(default_factory=lambda: array("Q"))
    types: array[int] = field(default_factory=lambda: array("Q"))

    def columns(self) -> tuple[Codes, Codes]:
        """The codes of names and of types, not to be changed."""
        import numpy as np

        names, types = np.frombuffer(self.names, dtype=np.uint64), np.frombuffer(self.types, dtype=np.uint64)
        names.flags.writeable = types.flags.writeable = False
        return names, types


def code(text: str) -> int:
    """64 bits that stand for a text. Two texts share them with a chance of about 1 in 10^7 among a million texts."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def coded_names(check: CheckRun) -> CodedNames:
    """The names of the graph, read once for all checks that group them."""
    return check.read_once("coded names", lambda: _read(check))


def _read(check: CheckRun) -> CodedNames:
    coded, unknown = CodedNames(), check.layout.placeholder_values
    kinds: dict[str | None, int] = {}
    for row in check.sliced_rows("entity-slices", aliases=False):
        if name := identity_key(row["name"]):
            kind = row["type"]
            if kind not in kinds:  # for comparison: case-folded, "" if there is none or only a placeholder
                kinds[kind] = code("" if kind is None or kind in unknown else kind.strip().casefold())
            coded.roll.append(row["element_id"], row["key"], row["name"], kind)
            coded.names.append(code(name))
            coded.types.append(kinds[kind])
    return coded


def members(coded: CodedNames, group_codes: Codes, wanted: Collection[int]) -> dict[int, list[Row]]:
    """The rows of each wanted group (one or more; at most `MOST_ITEMS` rows, in name order). `group_codes`: by position the group of each
    entity."""
    import numpy as np

    groups: dict[int, list[Row]] = {}
    codes = np.sort(np.fromiter(wanted, dtype=np.uint64, count=len(wanted)))
    at_most = np.searchsorted(codes[1:], group_codes, side="right")  # the last that is not above the entity's, or the first
    for at in np.flatnonzero(codes[at_most] == group_codes).tolist():
        name = coded.roll.names[at]
        group = groups.setdefault(int(group_codes[at]), [])
        group.append({
            "element_id": coded.roll.element_id(at), "key": coded.roll.key(at), "name": name, "type": coded.roll.kind(at),
            "normal": identity_key(name),
        })
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


def repeated(ascending: Codes) -> tuple[Integers, Integers]:
    """Of sorted codes: where those that stand there more than once begin, and how often each does. Takes little memory besides, where
    numpy.unique takes that of several columns."""
    import numpy as np

    alike = np.zeros(len(ascending) + 1, dtype=bool)  # as the one before it; and one behind the last
    np.equal(ascending[1:], ascending[:-1], out=alike[1:-1])
    starts = np.flatnonzero(alike[1:] & ~alike[:-1])
    return starts, np.flatnonzero(alike[:-1] & ~alike[1:]) - starts + 1


def largest(found: Any, sizes: Any, sample: int) -> dict[int, int]:
    """Size by code of the groups that can come into the sample: the largest, at most `MOST_GROUPS` beyond it."""
    import numpy as np

    order = np.argsort(-sizes.astype(np.int64), kind="stable")[: max(sample, MOST_GROUPS)]
    return {int(found[i]): int(sizes[i]) for i in order}
