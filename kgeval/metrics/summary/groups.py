"""Questions by what they are: level, kind, hops, document, dataset; answers by the length of their contexts; and the means of
each group."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, get_args

from kgeval.metrics.summary.drawn import Drawn
from kgeval.metrics.summary.means import mean_of_values
from kgeval.metrics.summary.reasoning import hops_of
from kgeval.metrics.summary.values import Numbers, Values
from kgeval.records import CONTEXT_EDGES, CONTEXT_LENGTHS, LEVELS_OF_X, By, GroupSummary, Question

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

FIELDS: tuple[By, ...] = tuple(by for by in get_args(By) if by != "context")  # of questions
MOST = 100  # groups of one field
UNKNOWN = -1


def traits_of(question: Question) -> dict[By, tuple[str, ...]]:
    """The groups that a question is in, by field; a question of several kinds is in each of them. Hops are 1, 2 or 3+."""
    hops = hops_of(question)
    depth = None if hops is None else "3+" if hops >= 3 else str(hops)
    return {
        "level": (question.level,) if question.level else (), "kind": tuple(sorted(set(question.kinds))),
        "hops": (depth,) if depth else (), "document": (question.document,) if question.document else (),
        "dataset": (question.dataset,) if question.dataset else (),
    }


@dataclass
class Traits:
    """What all questions are, a small number each. The first row that tells something of a question holds."""

    names: dict[By, Numbers[tuple[str, ...]]] = field(default_factory=lambda: {by: Numbers() for by in FIELDS})
    columns: dict[By, array[int]] = field(default_factory=lambda: {by: array("i") for by in FIELDS})
    seen: bytearray = field(default_factory=bytearray)

    @property
    def count(self) -> int:
        """Questions that were taken in."""
        return len(self.seen) - self.seen.count(0)

    def add(self, at: int, question: Question) -> None:
        """Takes in the question with the number `at`."""
        if at >= len(self.seen):
            self.seen.extend(bytes(at + 1 - len(self.seen)))
        self.seen[at] = 1
        for by, values in traits_of(question).items():
            if not values:
                continue
            column = self.columns[by]
            if at >= len(column):
                column.extend(repeat(UNKNOWN, at + 1 - len(column)))
            if column[at] == UNKNOWN:
                column[at] = self.names[by].number(values)

    def numbers(self, by: By, questions: Whole) -> Whole:
        """For each of the questions the number of its value in the field, -1 where it is unknown."""
        import numpy as np

        column = np.full(int(questions.max()) + 1 if len(questions) else 0, UNKNOWN, dtype=np.int64)
        known = np.frombuffer(self.columns[by], dtype=np.int32) if self.columns[by] else np.zeros(0, dtype=np.int32)
        column[: len(known)] = known[: len(column)]
        return column[questions]

    def values(self, by: By) -> dict[str, frozenset[int]]:
        """Each value of the field with the numbers that stand for it."""
        numbers: dict[str, set[int]] = {}
        for values, number in self.names[by].of.items():
            for value in values:
                numbers.setdefault(value, set()).add(number)
        return {value: frozenset(numbers[value]) for value in sorted(numbers, key=in_order)}

    def largest(self, by: By) -> tuple[list[str], str | None]:
        """The values of the field, the MOST with the most questions if there are more, in order; and what is left out, in words."""
        import numpy as np

        values = self.values(by)
        if len(values) <= MOST:
            return list(values), None
        column = np.frombuffer(self.columns[by], dtype=np.int32)
        counts = np.bincount(column[column >= 0], minlength=len(self.names[by]))
        size = {value: int(sum(counts[number] for number in numbers)) for value, numbers in values.items()}
        largest_values = sorted(values, key=lambda value: (-size[value], value))[:MOST]
        return sorted(largest_values, key=in_order), f"groups by {by}: the {MOST} with the most questions of {len(values):,}"


def in_order(value: str) -> tuple[int, str]:
    """Sorts the four levels of GraphRAG-Bench as the paper does, and all else by name after them."""
    return (LEVELS_OF_X.index(value), "") if value in LEVELS_OF_X else (len(LEVELS_OF_X), value)


@dataclass(frozen=True)
class Grouping:
    """The groups of a run: by field the values to show, each with the numbers that stand for it. `notes`: what is left out."""

    traits: Traits
    shown: dict[By, dict[str, frozenset[int]]]
    notes: tuple[str, ...]

    def members(self, by: By, questions: Whole) -> Iterator[tuple[str, Whole]]:
        """Each value with the places of its questions among `questions`; values without any are left out."""
        import numpy as np

        if not self.shown[by]:
            return
        numbers = self.traits.numbers(by, questions)
        # sorted once: each value would need a comparison of all questions, and documents are many
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(len(self.traits.names[by]) + 1))
        for value, value_numbers in self.shown[by].items():
            places = np.concatenate([order[ends[number] : ends[number + 1]] for number in sorted(value_numbers)])
            if len(places):
                yield value, places


def grouping(traits: Traits) -> Grouping:
    """The groups that a report shows."""
    shown: dict[By, dict[str, frozenset[int]]] = {}
    notes = []
    for by in FIELDS:
        chosen, note = traits.largest(by)
        values = traits.values(by)
        shown[by] = {value: values[value] for value in chosen}
        notes += [note] if note else []
    return Grouping(traits, shown, tuple(notes))


def group_summaries(
    system: str, metric: str, values: Values, questions: Whole, groups: Grouping, *, seed: int, drawn: Drawn,
) -> list[GroupSummary]:
    """One summary for every group that has questions which the metric was asked for. `questions`: their numbers, as in `values`."""
    return [
        GroupSummary(
            system=system, metric=metric, by=by, value=value,
            overall=mean_of_values(values.of(places), seed=seed, codes=drawn.part_of(by, questions[places])),
        )
        for by in FIELDS for value, places in groups.members(by, questions)
    ]


def context_bands(characters: Mapping[str, Floats]) -> dict[str, Whole]:
    """System -> for each question the number of its band in CONTEXT_LENGTHS, -1 where its contexts are not known [D 7].
    `characters`: system -> the length of the contexts by question, NaN where they are not known. Empty where all contexts are
    of one band: that is the whole."""
    import numpy as np

    edges = (0, *CONTEXT_EDGES)
    bands = {
        system: np.where(np.isnan(lengths), UNKNOWN, np.searchsorted(edges, lengths)).astype(np.int64)
        for system, lengths in characters.items()
    }
    several = {int(band) for numbers in bands.values() for band in np.unique(numbers)} - {UNKNOWN}
    return bands if len(several) > 1 else {}


def context_summaries(
    system: str, metric: str, values: Values, bands: Whole, *, seed: int, codes: Whole | None,
) -> list[GroupSummary]:
    """One summary for each band of context lengths. `bands`, `codes`: of the questions in `values`."""
    import numpy as np

    return [
        GroupSummary(
            system=system, metric=metric, by="context", value=name,
            overall=mean_of_values(values.of(places), seed=seed, codes=None if codes is None else codes[places]),
        )
        for number, name in enumerate(CONTEXT_LENGTHS) if len(places := np.flatnonzero(bands == number))
    ]


def mean_by_type(summaries: Sequence[GroupSummary]) -> float | None:
    """The unweighted mean of the levels' means (GraphRAG-Bench's way); None where no level has one. For one system and metric."""
    means = [group.overall.mean for group in summaries if group.by == "level" and group.overall.mean is not None]
    return sum(means) / len(means) if means else None
