"""What questions were drawn in: several of one document (or entity) say less together than as many of as many documents."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING

from kgeval.records import DrawnGroups, Question

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

ALONE = 0
UNIT = "question"
BY_DEFAULT = ("document", "entity")


@dataclass
class Drawn:
    """The group of every question, eight bytes each. `named`: the field that decides, in place of document and entity
    (`Question.drawn_with`)."""

    named: str | None = None
    codes: array[int] = field(default_factory=lambda: array("q"))
    units: set[str] = field(default_factory=set)

    def add(self, at: int, question: Question) -> None:
        """Takes in the question with the number `at`; the first row that tells its group holds."""
        if self.code(at) != ALONE or (name := question.drawn_with(self.named)) is None:
            return
        if at >= len(self.codes):
            self.codes.extend(repeat(ALONE, at + 1 - len(self.codes)))
        # of a million names two share these 8 bytes with a chance of 3 in 100 million
        self.codes[at] = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big", signed=True) or 1
        if len(self.units) < len(BY_DEFAULT):
            self.units.add(self.named or ("entity" if question.drawn_with("document") is None else "document"))

    def code(self, at: int) -> int:
        """The group of the question with the number `at`; ALONE: none."""
        return self.codes[at] if at < len(self.codes) else ALONE

    @property
    def unit(self) -> str:
        """What the groups are: `document`, `entity`, the field that was named; `group` of both; `question`: there are none."""
        return UNIT if not self.units else next(iter(self.units)) if len(self.units) == 1 else "group"

    def of(self, questions: Whole) -> Whole | None:
        """The groups of these questions, for `grouped`; None where no question has one."""
        import numpy as np

        if not self.units:
            return None
        codes = np.full(int(questions.max()) + 1 if len(questions) else 0, ALONE, dtype=np.int64)
        known = np.frombuffer(self.codes, dtype=np.int64)
        codes[: len(known)] = known[: len(codes)]
        return codes[questions]

    def part_of(self, by: str, questions: Whole) -> Whole | None:
        """The same of a part of the questions that one value of `by` makes up. Within one document (or whatever the groups are) each
        question stands alone: it is asked of this document, not of documents."""
        alone = by == self.unit or (by == "document" and self.named is None)
        return None if alone else self.of(questions)


def in_order(values: Floats, codes: Whole) -> tuple[Floats, Whole]:
    """Values and groups put in an order that does not depend on the order of the rows; questions that stand alone have a group each."""
    import numpy as np

    order = np.lexsort((values, codes))
    values, codes = values[order], codes[order]
    _, groups = np.unique(codes, return_inverse=True)
    alone = codes == ALONE
    groups = groups.astype(np.int64)
    groups[alone] = len(codes) + np.arange(int(alone.sum()))
    return values, groups


def has_groups(codes: Whole | None) -> bool:
    """Whether two questions are of one group."""
    import numpy as np

    if codes is None:
        return False
    named = codes[codes != ALONE]
    return len(np.unique(named)) < len(named)


def drawn_groups(unit: str, questions: int, groups: int | None, effective: float | None) -> DrawnGroups:
    """What was drawn. `groups` None: each question stands alone."""
    if groups is None:
        return DrawnGroups(unit=UNIT, groups=questions, questions=questions, effective=float(questions))
    return DrawnGroups(unit=unit, groups=groups, questions=questions, effective=effective)
