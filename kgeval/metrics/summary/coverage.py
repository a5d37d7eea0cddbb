"""How often each system gave no answer: a question counts once, in whichever repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgeval.records import Answer, SystemCoverage, SystemInfo

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
