"""What an example is known by when a graph is built again: element ids die then, kinds, types and names survive."""

from __future__ import annotations

from collections.abc import Sequence

from kgeval.records import Example, Finding, GraphRef
from kgeval.text.names import normalise

Key = tuple[tuple[str, str, str], ...]  # kind, type and normalised name of each thing, sorted


def key_of(example: Example) -> Key:
    """The example's key within its check: kind, type and lasting name of each of its things, in an order of their own."""
    return tuple(sorted((item.kind, item.type or "", lasting_name(item)) for item in example.items))


def lasting_name(item: GraphRef) -> str:
    """What of a name outlives a rebuild: its normal form (a name without a letter or digit stands for itself); of a relation both ends,
    `a -> b`. "" where there is no name, or an element id in its place."""
    name = "" if item.name == item.element_id else item.name  # an id would be another one after a rebuild, and all its hits new
    ends = name.split(f" -[{item.type}]-> ") if item.kind == "relation" else []
    return " -> ".join(map(_plain, ends)) if len(ends) == 2 else _plain(name)


def lists_all(finding: Finding) -> bool:
    """True if the finding's examples are all of its hits, waived ones too, so that what is not among them is not there."""
    return finding.count is not None and are_all(finding.examples, count=finding.count, total=finding.examples_total)


def are_all(examples: Sequence[Example], *, count: int, total: int | None) -> bool:
    """Whether these are all examples of a check with `count` hits: as many as it says there are (`total`), where it does, else their
    counts sum up."""
    return len(examples) == total if total is not None else sum(example.counts for example in examples) == count


def called(graph: str | None) -> str:
    """A graph in words."""
    return f"graph {graph}" if graph else "the whole database"


def _plain(name: str) -> str:
    return normalise(name) or name.strip().casefold()
