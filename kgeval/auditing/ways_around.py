"""Other ways between the two ends of a relation: of one, two or three relations of other types."""

from __future__ import annotations

import random
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.profiling.record import GraphProfile

LEAST = 40  # relations of a type between two labels that a rule may hold for
LEAST_STEP = 10  # relations of a type that a way may go along
MOST_READ = 1_000_000  # relations that are read; types with most are left out
MOST_KINDS, MOST_WAYS = 60, 600  # types between two labels, and ways, that are looked at
MOST_TYPES = 4  # of relations between the same labels that make up one step
SAMPLED, FIRST = 1_000, 40  # relations of which ways are looked for: at most, and before it is plain that most have none
CLOSED = 0.97  # share of them that have such a way, at least
BROKEN, ALWAYS = 0.015, 2  # share of all relations that may have none; two always may
KNOWN = 0.8  # share of them of which both ends have a step to begin and to end it with
BY_CHANCE = 0.5  # share of pairs of a start and another relation's end that have one, at most
DEALS, DEALT = 3, 100  # how often that is dealt, and to how many starts
MOST_EACH = 2.0  # ways of a relation that has one, in the mean, at most
CROWD = 200  # nodes behind which no way is looked for: a hub


@dataclass(frozen=True)
class EndsOf:
    """The relations of a type from nodes of a label to those of another one."""

    at: int
    type: str
    start: str
    end: str
    count: int

    def asked(self) -> dict[str, str | int]:
        """As the query takes it."""
        return {"at": self.at, "type": self.type, "start": self.start, "end": self.end}


@dataclass(frozen=True)
class Step:
    """Along relations between two labels, or against them, to nodes of a label."""

    kinds: tuple[EndsOf, ...]
    along: bool

    @property
    def source(self) -> str:
        return self.kinds[0].start if self.along else self.kinds[0].end

    @property
    def target(self) -> str:
        return self.kinds[0].end if self.along else self.kinds[0].start

    @property
    def types(self) -> list[str]:
        return [kind.type for kind in self.kinds]


@dataclass(frozen=True)
class Way:
    """Steps from the start of relations to their end."""

    of: EndsOf
    steps: tuple[Step, ...]

    @property
    def circle(self) -> frozenset[int]:
        """All that it goes along, and what it goes around."""
        return frozenset((self.of.at, *(kind.at for step in self.steps for kind in step.kinds)))

    def asked(self, at: int, starts: Sequence[str] | None = None) -> dict[str, object]:
        """As the query takes it. `starts`: element ids of the nodes whose relations it is to look at; None: all."""
        steps = [{"types": step.types, "along": step.along, "label": step.target} for step in self.steps]
        given = {} if starts is None else {"starts": [*starts]}
        return {"at": at, "type": self.of.type, "start": self.of.start, "end": self.of.end, "steps": steps, **given}


@dataclass(frozen=True)
class Kept:
    """A way that nearly all relations have. `known`: relations of which both ends have a step; `open`: those without a way, by their ends;
    `by_chance`: the share of pairs that have one by chance."""

    way: Way
    known: int
    open: Sequence[tuple[int, int]]
    by_chance: float


def kinds_of(profile: GraphProfile) -> list[EndsOf]:
    """Types between two labels that people keep, those with fewest relations first, as many as may be read."""
    labels = {one.label for one in profile.labels if one.label and one.role in ("entity", "record", "value") and not one.is_from_texts}
    found = [
        (relation.type, ends.start, ends.end, round(ends.share * relation.count))
        for relation in profile.types for ends in relation.ends if ends.start in labels and ends.end in labels
    ]
    kept: list[EndsOf] = []
    left = MOST_READ
    for type_, start, end, count in sorted(found, key=lambda one: (one[3], one)):
        left -= count
        if count >= LEAST_STEP and left >= 0 and len(kept) < MOST_KINDS:
            kept.append(EndsOf(len(kept), type_, start, end, count))
    return kept


def ways_of(kinds: Sequence[EndsOf]) -> list[Way]:
    """Those that may be looked for: the shorter ones first."""
    steps = steps_from(kinds)
    found = [way for of in kinds if of.count >= LEAST for way in _ways(of, steps)]
    return sorted(found, key=lambda way: (len(way.steps), -way.of.count))[:MOST_WAYS]


def steps_from(kinds: Iterable[EndsOf]) -> dict[str, list[Step]]:
    """By label what leads on: each type, and all that lead to one label."""
    single = [Step((kind,), along) for kind in kinds for along in (True, False)]
    together: dict[tuple[str, str, bool], list[EndsOf]] = defaultdict(list)
    for step in single:
        together[step.source, step.target, step.along].append(step.kinds[0])
    several = [
        Step(tuple(sorted(alike, key=lambda kind: kind.type)), along)
        for (_, _, along), alike in together.items() if 1 < len(alike) <= MOST_TYPES
    ]
    by_label: dict[str, list[Step]] = defaultdict(list)
    for step in [*single, *several]:
        by_label[step.source].append(step)
    return by_label


def _ways(of: EndsOf, steps: Mapping[str, Sequence[Step]]) -> Iterator[Way]:
    def others(label: str) -> list[Step]:
        return [step for step in steps.get(label, ()) if of not in step.kinds]

    for first in others(of.start):
        if first.target == of.end:
            yield Way(of, (first,))
        for second in others(first.target):
            if second.target == of.end:
                yield Way(of, (first, second))
            for third in others(second.target):
                if third.target == of.end and not _turns(first, second) and not _turns(second, third):
                    yield Way(of, (first, second, third))


def _turns(one: Step, other: Step) -> bool:
    """Whether the second goes back along the same relations: to others of the same, which says less."""
    return one.source == other.target and one.along != other.along and bool({*one.kinds} & {*other.kinds}) and one.target != one.source


@dataclass
class Relations:
    """All that was read, by kind, as numbers of nodes. `prefix`: what stands before one in an element id."""

    prefix: str = ""
    starts: dict[int, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    ends: dict[int, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    known: dict[tuple[int, bool], dict[int, set[int]]] = field(default_factory=dict)

    def add(self, at: int, starts: Sequence[int], ends: Sequence[int]) -> None:
        self.starts[at].extend(starts)
        self.ends[at].extend(ends)

    def next_to(self, step: Step, node: int) -> set[int]:
        """The nodes that a step leads to."""
        found = [self._of(kind.at, step.along).get(node) for kind in step.kinds]
        reached = [one for one in found if one]
        return reached[0] if len(reached) == 1 else set().union(*reached)

    def before(self, step: Step, node: int) -> set[int]:
        """The nodes that a step leads to it from."""
        return self.next_to(Step(step.kinds, not step.along), node)

    def _of(self, at: int, along: bool) -> dict[int, set[int]]:
        if (at, along) not in self.known:
            made: dict[int, set[int]] = {}
            one, other = (self.starts[at], self.ends[at]) if along else (self.ends[at], self.starts[at])
            for node, reached in zip(one, other, strict=True):
                made.setdefault(node, set()).add(reached)
            self.known[at, along] = made
        return self.known[at, along]

    def sampled(self, of: EndsOf) -> list[tuple[int, int]]:
        """Some relations, the same ones for the same graph, in no order."""
        size = len(self.starts[of.at])
        places = random.Random(size).sample(range(size), min(size, SAMPLED))  # noqa: S311
        return [(self.starts[of.at][at], self.ends[of.at][at]) for at in places]

    def kept(self, way: Way, rows: Sequence[tuple[int, int]]) -> Kept | None:
        """What is known of a way that nearly all rows have, and then nearly all relations; None where it is no rule."""
        known = times = 0
        open_: list[tuple[int, int]] = []
        for at, (start, end) in enumerate(rows):
            found = self.times(way, start, end)
            if found == 0:
                open_.append((start, end))
            known += found is not None
            times += found or 0
            seen = at + 1
            if seen >= FIRST and (len(open_) > ALWAYS + (1 - CLOSED) * seen or known < KNOWN * seen / 2):
                return None
        if known < max(LEAST, KNOWN * len(rows)) or times > MOST_EACH * (known - len(open_)):
            return None
        by_chance = self._by_chance(way, rows)
        if by_chance > BY_CHANCE:
            return None
        if len(rows) < len(self.starts[way.of.at]):
            known, open_ = self._exactly(way)
        return Kept(way, known, open_, by_chance) if len(open_) <= max(ALWAYS, BROKEN * known) else None

    def _exactly(self, way: Way) -> tuple[int, list[tuple[int, int]]]:
        known = 0
        open_: list[tuple[int, int]] = []
        for start, end in zip(self.starts[way.of.at], self.ends[way.of.at], strict=True):
            found = self.times(way, start, end)
            known += found is not None
            if found == 0:
                open_.append((start, end))
        return known, open_

    def _by_chance(self, way: Way, rows: Sequence[tuple[int, int]]) -> float:
        known = closed = 0
        for deal in range(1, DEALS + 1):
            shift = deal * len(rows) // (DEALS + 1)
            for at, (start, _) in enumerate(rows[:DEALT]):
                end = rows[(at + shift) % len(rows)][1]
                found = self.times(way, start, end) if start != end else None
                known += found is not None
                closed += bool(found)
        return closed / known if known else 1.0

    def times(self, way: Way, start: int, end: int) -> int | None:
        """How many such ways lead from a node to another one; None where one of the two has nothing to begin with, or far too much."""
        steps = way.steps
        first, last = self.next_to(steps[0], start), self.before(steps[-1], end)
        if not first or not last:
            return None
        if len(steps) == 1:
            return int(end in first)
        if len(steps) == 2:
            return len(first & last)
        if len(first) > CROWD and len(last) > CROWD:
            return None
        if len(first) <= len(last):
            return sum(len(self.next_to(steps[1], node) & last - {start}) for node in first if node != end)
        return sum(len(self.before(steps[1], node) & first - {end}) for node in last if node != start)
