"""What an example is known by when a graph is built again: element ids die then, kinds, types and names survive."""

from __future__ import annotations

from kgeval.records import Example, Finding
from kgeval.text.names import normalise

Key = tuple[tuple[str, str, str], ...]  # kind, type and normalised name of each thing, sorted


def key_of(example: Example) -> Key:
    """The example's key within its check: kind, type and normalised name of each of its things, in an order of their own.

    A name without a letter or digit stands for itself.
    """
    return tuple(sorted((item.kind, item.type or "", normalise(item.name) or item.name) for item in example.items))


def lists_all(finding: Finding) -> bool:
    """True if the finding's examples are all of its hits, so that what is not among them is not there."""
    if finding.count is None:
        return False
    return sum(example.counts for example in finding.sample) in (finding.count, finding.count - finding.suppressed)
