"""What entity resolution works on: names as the texts write them, clusters of them, and joining two clusters.

Every join is a decision with an id, made from the keys of both sides. A person can take a decision back: then no cluster
may hold a name of the one side together with a name of the other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kgeval.graph.load.built import UNDONE, MergeRow
from kgeval.names.forms import NameForm, acronym_keys, form
from kgeval.text.signs import identity_key

EXACT, NORMALISED, ALIAS, EMBEDDING = "exact", "normalised", "alias", "embedding"
LEVELS = (EXACT, NORMALISED, ALIAS, EMBEDDING)
SEPARATOR = "\x1f"


@dataclass
class WrittenName:
    """A name as it is written, with a type: all its mentions. `spellings`: of the type; `sources`: chunk -> [mentions, start, end]."""

    name: str
    type_key: str
    weight: int = 0
    spellings: Counter[str] = field(default_factory=Counter)
    descriptions: Counter[str] = field(default_factory=Counter)
    aliases: Counter[str] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    sources: dict[str, list[int | None]] = field(default_factory=dict)
    rank: tuple[int, int, str] = (0, 0, "")

    @cached_property
    def form(self) -> NameForm:
        """The name taken apart."""
        return form(self.name)

    @cached_property
    def norm(self) -> str:
        """The normal form, or the name itself where nothing is left of it."""
        return (self.form.identity if len(self.name) <= 300 else identity_key(self.name)) or self.name

    @cached_property
    def keys(self) -> tuple[str, str]:
        """The keys by which decisions know the name: as it is written, and in its normal form; each with the type."""
        return (f"={self.name}{SEPARATOR}{self.type_key}", f"~{self.norm}{SEPARATOR}{self.type_key}")


class Cluster:
    """Names that are held to mean one thing. `name` is the one of most mentions, then the longest, then the first by letters."""

    def __init__(self, names: Iterable[WrittenName]) -> None:
        self.names = sorted(names, key=lambda a: a.rank)

    @cached_property
    def keys(self) -> set[str]:
        """The keys of all its names."""
        return {key for written in self.names for key in written.keys}

    @property
    def top(self) -> WrittenName:
        """The name that is the cluster's."""
        return self.names[0]

    @property
    def name(self) -> str:
        return self.top.name

    @property
    def form(self) -> NameForm:
        """The name taken apart."""
        return self.top.form

    @cached_property
    def letters(self) -> str:
        """The letters of an acronym that some name of the cluster may be, else ""."""
        return next((written.form.letters for written in self.names if written.form.letters), "")

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """The acronyms that may stand for some name of the cluster."""
        return frozenset(key for written in self.names for key in acronym_keys(written.form))

    @property
    def norm(self) -> str:
        return self.top.norm

    @cached_property
    def type_key(self) -> str:
        """The type of most mentions; "" = none."""
        sums: Counter[str] = Counter()
        for written in self.names:
            sums[written.type_key] += written.weight if written.type_key else 0  # no type is no vote against a type
        return most(sums)

    @cached_property
    def weight(self) -> int:
        return sum(written.weight for written in self.names)

    @cached_property
    def documents(self) -> set[str]:
        return set().union(*(written.documents for written in self.names))

    @cached_property
    def order(self) -> tuple[int, tuple[int, int, str], str]:
        """Sorts clusters: most mentions first, then by name and type. The same whatever order the texts came in."""
        return (-self.weight, self.top.rank, self.top.type_key)


def most(counts: Mapping[str, int]) -> str:
    """The key with the highest count, of equals the first by letters; "" for none."""
    return min(counts, key=lambda key: (-counts[key], key), default="")


def rank(written: WrittenName) -> tuple[int, int, str]:
    """Sorts names of one thing: most mentions, then longest, then by letters."""
    return (-written.weight, -len(written.name), written.name)


def type_key(type_: str | None) -> str:
    """Types that differ in letter case, spaces, `_` or `-` only are one type; "" = no type."""
    return " ".join((type_ or "").casefold().replace("_", " ").replace("-", " ").split())


def merge_id(left: str, right: str) -> str:
    """The id of the decision that two keys mean one thing: 12 hex digits, the same in either order."""
    first, second = sorted((left, right))
    return "m-" + hashlib.sha256(f"{first}{SEPARATOR * 2}{second}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Joiner:
    """Joins clusters, writes every decision down, and never repeats one that was taken back."""

    def __init__(self, decisions: Iterable[MergeRow] = ()) -> None:
        self.merges: list[MergeRow] = []
        self._apart: dict[str, set[str]] = {}
        for decision in decisions:
            if decision.status == UNDONE:
                self._apart.setdefault(decision.left, set()).add(decision.right)
                self._apart.setdefault(decision.right, set()).add(decision.left)

    def apart(self, one: Cluster, other: Cluster) -> bool:
        """True where a person said that names of the two are not the same thing."""
        if not self._apart:
            return False
        return any(not self._apart[key].isdisjoint(other.keys) for key in one.keys if key in self._apart)

    def join(self, into: Cluster, one: Cluster, *, level: str, why: str, score: float | None = None) -> Cluster:
        """Both as one cluster; the decision is written down."""
        self._record(into, one, level, why, score)
        return Cluster([*into.names, *one.names])

    def gather(self, clusters: Iterable[Cluster], *, level: str, why: str) -> list[Cluster]:
        """Clusters that all mean one thing, joined into as few as the decisions allow: each goes to the first it may join."""
        groups: list[list[Cluster]] = []
        for cluster in sorted(clusters, key=lambda c: c.order):
            # where nothing was taken back nobody is compared: thousands of clusters of one name stay linear
            group = next((g for g in groups if not any(self.apart(into, cluster) for into in (g if self._apart else ()))), None)
            if group is None:
                groups.append([cluster])
            else:
                self._record(group[0], cluster, level, why, None)
                group.append(cluster)
        return [Cluster(written for each in group for written in each.names) if len(group) > 1 else group[0] for group in groups]

    def _record(self, into: Cluster, one: Cluster, level: str, why: str, score: float | None) -> None:
        # a decision is kept by keys, not by ids of a run: the normal form where the level joined by it, so that it still holds when a
        # text spells the name in another way
        as_written = level == EXACT or (level == NORMALISED and into.type_key == one.type_key)
        left, right = sorted(c.top.keys[0 if as_written else 1] for c in (into, one))
        if left == right:
            left, right = sorted(c.top.keys[0] for c in (into, one))
        kept, merged = (into, one) if into.order <= one.order else (one, into)
        type_ = most(kept.top.spellings) or None
        self.merges.append(MergeRow(merge_id(left, right), kept.name, merged.name, type_, level, score, why, left, right))
