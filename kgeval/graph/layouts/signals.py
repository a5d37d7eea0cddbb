"""Signals of a layout in a database: does each hold, and what was counted?

    label:L                 nodes carry L                         holder:K              nodes have the property K
    labels:A+B              nodes carry both                      typed:K.T             holders of K carry the value of T as a label
    type:T                  relations of type T exist             named-by:K            K is the only name that nodes have
    link:A-T->B             T leaves A and reaches B, `*` = any   index:L.K             an index on it, `*` = any label
    property:L.K            nodes of L have K                     relation-property:T.K relations of T have K, `*` = any type
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgeval.graph.connect import Graph, Row
from kgeval.graph.layouts.catalogue import Catalogue
from kgeval.graph.queries import all_queries

NAMES = ["name", "title", "label", "entity_id", "canonical_name", "uuid"]
SAMPLE = 200


@dataclass(frozen=True)
class Seen:
    """One signal: whether it holds, and what was seen in words."""

    signal: str
    holds: bool
    text: str


@dataclass
class Signals:
    """Answers signals on one database, each only once, from the catalogue where it can."""

    graph: Graph
    catalogue: Catalogue
    _known: dict[str, Seen] = field(default_factory=dict)

    def see(self, signal: str) -> Seen:
        """Whether the signal holds, and what was counted."""
        if signal not in self._known:
            kind, _, rest = signal.partition(":")
            holds, text = getattr(self, "_" + kind.replace("-", "_"))(rest)
            self._known[signal] = Seen(signal, holds, text)
        return self._known[signal]

    def _label(self, label: str) -> tuple[bool, str]:
        return _counted(self.catalogue.labels.get(label, 0), f"nodes with label {label}")

    def _type(self, name: str) -> tuple[bool, str]:
        return _counted(self.catalogue.types.get(name, 0), f"relations of type {name}")

    def _labels(self, both: str) -> tuple[bool, str]:
        labels = both.split("+")
        count = 0
        if all(label in self.catalogue.labels for label in labels):
            count = self._ask("layout-together", {"labels": labels})["count"]
        return _counted(count, f"nodes with labels {' and '.join(labels)}")

    def _link(self, link: str) -> tuple[bool, str]:
        start, _, rest = link.partition("-")
        name, _, end = rest.rpartition("->")
        total = self.catalogue.types.get(name, 0)
        leaving = total if start == "*" else self.catalogue.starts.get((name, start), 0)
        reaching = total if end == "*" else self.catalogue.ends.get((name, end), 0)
        return _counted(min(leaving, reaching), f"relations {_node(start)}-[:{name}]->{_node(end)}")

    def _property(self, both: str) -> tuple[bool, str]:
        label, _, key = both.rpartition(".")
        if label not in self.catalogue.labels or key not in self.catalogue.keys:
            return False, f"no {label} with {key}"
        row = self._ask("layout-node-keys", {"label": label, "sample": SAMPLE})
        return _sampled(row, key, f"{label} nodes have {key}")

    def _relation_property(self, both: str) -> tuple[bool, str]:
        name, _, key = both.rpartition(".")
        if (name != "*" and name not in self.catalogue.types) or key not in self.catalogue.keys:
            return False, f"no {'relation' if name == '*' else name} with {key}"
        row = self._ask("layout-relation-keys", {"type": None if name == "*" else name, "sample": SAMPLE})
        return _sampled(row, key, f"{'' if name == '*' else name + ' '}relations have {key}")

    def _index(self, form: str) -> tuple[bool, str]:
        found = {f for index in self.catalogue.indexes for f in index.forms()}
        if form.startswith("*."):
            found = {"*." + f.rpartition(".")[2] for f in found}
        return (True, f"an index on {form}") if form in found else (False, f"no index on {form}")

    def _holder(self, key: str) -> tuple[bool, str]:
        known = key in self.catalogue.keys
        count = self._ask("layout-key-holders", {"key": key, "type_key": None})["holders"] if known else 0
        return _counted(count, f"nodes with property {key}")

    def _typed(self, both: str) -> tuple[bool, str]:
        key, _, type_key = both.partition(".")
        known = {key, type_key} <= self.catalogue.keys
        row = self._ask("layout-key-holders", {"key": key, "type_key": type_key}) if known else {"holders": 0}
        if not row["holders"]:  # the database never forgets the name of a property: what is said must not depend on what once stood there
            return False, f"no nodes with {key} carry their {type_key} as a label"
        text = f"{row['typed']:,} of {row['holders']:,} nodes with {key} carry their {type_key} as a label"
        return row["typed"] * 2 > row["holders"], text

    def _named_by(self, key: str) -> tuple[bool, str]:
        if key not in self.catalogue.keys:
            return _counted(0, f"nodes with property {key}")
        row = self._ask("layout-named-by", {"key": key, "others": [n for n in NAMES if n != key], "sample": 1000})
        text = f"{row['count']:,} of {row['looked_at']:,} nodes looked at have {key} and no other name"
        return row["looked_at"] > 0 and row["count"] == row["looked_at"], text

    def _ask(self, query: str, params: Mapping[str, object]) -> Row:
        return self.graph.read(all_queries()[query], params)[0]


def _counted(count: int, what: str) -> tuple[bool, str]:
    return count > 0, f"{count:,} {what}" if count else f"no {what}"


def _sampled(row: Row, key: str, what: str) -> tuple[bool, str]:
    """Holds if at least half of the looked-at have the key."""
    count = next((k["count"] for k in row["keys"] if k["key"] == key), 0)
    return count * 2 >= max(row["looked_at"], 1), f"{count:,} of {row['looked_at']:,} {what} (of those looked at)"


def _node(label: str) -> str:
    return "()" if label == "*" else f"(:{label})"
