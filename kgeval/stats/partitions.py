"""How well a grouping of records into things fits the true one: pairs, and B-cubed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PrecisionRecall:
    """Each in 0..1, None where its denominator is 0; `f1` is None unless both are known (0 if both are 0)."""

    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both."""
        if self.precision is None or self.recall is None:
            return None
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def pairwise(said: Sequence[bool], true: Sequence[bool]) -> PrecisionRecall:
    """Precision and recall of "these two are the same", over labelled pairs in the same order."""
    hits = sum(s and t for s, t in zip(said, true, strict=True))
    return PrecisionRecall(hits / sum(said) if any(said) else None, hits / sum(true) if any(true) else None)


def joined(members: Iterable[Hashable], pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, Hashable]:
    """Each member's group, where pairs (and chains of pairs) are one group; a group is named by one of its members."""
    parent = {member: member for member in members}

    def root(member: Hashable) -> Hashable:
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    for a, b in pairs:
        parent[root(b)] = root(a)
    return {member: root(member) for member in parent}


def b_cubed(said: Mapping[Hashable, Hashable], true: Mapping[Hashable, Hashable]) -> PrecisionRecall:
    """B-cubed (Bagga & Baldwin 1998): over records, the mean share of a record's said (true) group that is in its true (said) one.

    Both give each record's group. Raises: ValueError unless both are over the same records.
    """
    if said.keys() != true.keys():
        raise ValueError("both groupings must be over the same records")
    if not said:
        return PrecisionRecall(None, None)
    both = Counter((said[record], true[record]) for record in said)
    said_sizes, true_sizes = Counter(said.values()), Counter(true.values())
    shared = {record: both[said[record], true[record]] for record in said}
    n = len(said)
    return PrecisionRecall(
        sum(shared[r] / said_sizes[said[r]] for r in said) / n, sum(shared[r] / true_sizes[true[r]] for r in said) / n,
    )
