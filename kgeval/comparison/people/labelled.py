"""Labels as arrays: one table an aspect, items by people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.comparison.people.label_files import Labels
from kgeval.comparison.people.scales import SCALES, category
from kgeval.records import AgreementBy, HumanLabel, LabelScope

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

GROUPS: tuple[AgreementBy, ...] = ("level", "dataset", "difficulty")


@dataclass(frozen=True)
class Item:
    """What is labelled. `systems`: A and B, or the one system."""

    id: str
    question: str
    systems: tuple[str, ...]
    dataset: str | None = None
    level: str | None = None
    difficulty: str | None = None


@dataclass(frozen=True)
class LabelTable:
    """One aspect. `places`: (items, people) places of the labels on the scale from 0, NaN where there is none."""

    aspect: str
    scope: LabelScope
    items: tuple[Item, ...]
    people: tuple[str, ...]
    places: Floats = field(repr=False)

    @property
    def categories(self) -> int:
        """How many labels the scale has."""
        return len(SCALES[self.scope])

    @property
    def numbers(self) -> Floats:
        """(items, people) the labels as numbers: -2..2 of pairs (positive: A is better), 0..5 of answers."""
        shifted: Floats = self.places + float(SCALES[self.scope][0])
        return shifted

    @property
    def questions(self) -> list[str]:
        """The question of each item: the unit of resampling."""
        return [item.question for item in self.items]

    def groups(self) -> Iterator[tuple[AgreementBy, str | None, LabelTable]]:
        """All items, then each level, data set and difficulty where there are several."""
        yield "all", None, self
        for by in GROUPS:
            values = sorted({str(value) for item in self.items if (value := getattr(item, by)) is not None})
            if len(values) > 1:
                for value in values:
                    yield by, value, self._only([getattr(item, by) == value for item in self.items])

    def _only(self, kept: list[bool]) -> LabelTable:
        import numpy as np

        items = tuple(item for item, there in zip(self.items, kept, strict=True) if there)
        return LabelTable(self.aspect, self.scope, items, self.people, self.places[np.array(kept, dtype=bool)])


def tables_of(labels: Labels) -> list[LabelTable]:
    """A table for each aspect, in the order in which they come; items and people in theirs."""
    people = tuple(dict.fromkeys(label.annotator for label in labels.labels))
    return [_table(aspect, labels, people) for aspect in dict.fromkeys(label.metric or "" for label in labels.labels)]


def _table(aspect: str, labels: Labels, people: tuple[str, ...]) -> LabelTable:
    import numpy as np

    own = [label for label in labels.labels if (label.metric or "") == aspect]
    items: dict[str, Item] = {}
    for label in own:
        items.setdefault(label.id, _item(label))
    at = {name: place for place, name in enumerate(items)}
    who = {name: place for place, name in enumerate(people)}
    places = np.full((len(items), len(people)), np.nan)
    for label in own:
        place = category(label.label, labels.scope)
        places[at[label.id], who[label.annotator]] = np.nan if place is None else place
    return LabelTable(aspect, labels.scope, tuple(items.values()), people, places)


def _item(label: HumanLabel) -> Item:
    systems = tuple(name for name in (label.system_a, label.system_b) if name is not None)
    return Item(label.id, label.question_id or label.id, systems, label.dataset, label.level, label.difficulty)
