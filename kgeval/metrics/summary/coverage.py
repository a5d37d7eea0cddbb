"""How often each system gave no answer: a question counts once, in whichever repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.records import Answer, SystemCoverage, SystemInfo

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

ASKED, EMPTY, ERROR = 1, 2, 4


@dataclass
class Coverage:
    """A byte a question and system."""

    seen: dict[str, bytearray] = field(default_factory=dict)

    def add(self, at: int, answer: Answer) -> None:
        """Takes in an answer to the question with the number `at`."""
        column = self.seen.setdefault(answer.system, bytearray())
        if at >= len(column):
            column.extend(bytes(at + 1 - len(column)))
        column[at] |= ASKED | (ERROR if answer.error else 0 if answer.answer.strip() else EMPTY)

    def errors(self, system: str, questions: Whole) -> Mask:
        """Which of these questions the system answered with an error."""
        import numpy as np

        column = np.zeros(int(questions.max()) + 1 if len(questions) else 0, dtype=np.uint8)
        known = np.frombuffer(bytes(self.seen.get(system, b"")), dtype=np.uint8)
        column[: len(known)] = known[: len(column)]
        found: Mask = (column[questions] & ERROR) > 0
        return found

    def of(self, systems: Sequence[SystemInfo]) -> dict[str, SystemCoverage]:
        """By system."""
        found = {}
        for system in systems:
            column = self.seen.get(system.system, bytearray())
            counts = [column.count(value) for value in range(8)]
            found[system.system] = SystemCoverage(
                system=system.system, questions=sum(counts[1:]), empty=sum(counts[value] for value in range(8) if value & EMPTY),
                errors=sum(counts[value] for value in range(8) if value & ERROR),
            )
        return found
