"""missing-index: compares the database's indexes with those that the layout's readers rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.graph.literals import cypher_name
from kgeval.records import Example, GraphRef

LOOKUP_KINDS = ("RANGE", "TEXT")


@dataclass(frozen=True)
class ExpectedIndex:
    """An index that readers rely on: `kind` is lookup, vector or fulltext."""

    kind: str
    label: str
    key: str

    @property
    def name(self) -> str:
        return f"{self.kind} index on {self.label}.{self.key}"


def run(check: CheckRun) -> CheckOutcome:
    """Absent or unusable indexes, of those expected for labels that the database uses."""
    with check.graph.remembering():
        check.ahead([("used-labels", {}), (check.query.name, {})])
        used = {row["label"] for row in check.rows("used-labels")}
        wanted = [index for index in map(parse, check.layout.expected_indexes) if index.label in used]
        present = check.own_rows()
    faults = [(index, fault) for index in wanted if (fault := lack(index, present))]
    examples = [
        Example(items=[GraphRef(key=index.name, name=index.name, type=index.label, kind="index")], why=fault)
        for index, fault in faults[: check.sample]
    ]
    return CheckOutcome(
        len(faults), len(wanted), examples,
        repair="\n".join(statement(index, absent=fault == absent(index)) for index, fault in faults) or None,
    )


def statement(index: ExpectedIndex, *, absent: bool) -> str:
    """The statement that makes an index; where there is one that does not work, what to do before."""
    label, key = cypher_name(index.label), cypher_name(index.key)
    kind, on = {
        "vector": ("VECTOR INDEX", f"(n.{key})"), "fulltext": ("FULLTEXT INDEX", f"EACH [n.{key}]"), "lookup": ("INDEX", f"(n.{key})"),
    }[index.kind]
    create = f"CREATE {kind} IF NOT EXISTS FOR (n:{label}) ON {on};"
    return create if absent else f"// Drop the one that is not online first: SHOW INDEXES names it.\n{create}"


def parse(entry: str) -> ExpectedIndex:
    """An entry of `expected_indexes`: `Label.property`, `vector:Label.property` or `fulltext:Label.property`."""
    kind, colon, rest = entry.partition(":")
    kind, rest = (kind, rest) if colon and kind in ("vector", "fulltext") else ("lookup", entry)
    label, _, key = rest.rpartition(".")
    return ExpectedIndex(kind, label, key)


def lack(index: ExpectedIndex, present: Iterable[dict[str, Any]]) -> str | None:
    """What is wrong with an expected index: absent, or there but not online. None if it is there and online."""
    states = [row["state"] for row in present if _serves(index, row)]
    if not states:
        return absent(index)
    return None if "ONLINE" in states else f"the {index.name} is {states[0].lower()}, not online"


def absent(index: ExpectedIndex) -> str:
    """What is wrong with an index that is not there."""
    return f"there is no {index.name}"


def _serves(index: ExpectedIndex, row: dict[str, Any]) -> bool:
    """Whether an index answers the reader's query. A lookup needs the property alone: composite ones do not help."""
    labels, keys = row["labels"] or [], row["properties"] or []
    if row["entity_type"] != "NODE" or index.label not in labels:
        return False
    if index.kind == "lookup":
        return row["type"] in LOOKUP_KINDS and keys == [index.key]
    return row["type"] == index.kind.upper() and index.key in keys
