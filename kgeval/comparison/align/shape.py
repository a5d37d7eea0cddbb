"""What bringing two answers to one length comes to. Values; nobody is asked here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgeval.records import Answer

How = Literal["free", "equal", "adjusted", "forced", "discarded", "failed"]


@dataclass(frozen=True)
class AlignmentRule:
    """`tolerance`: words by which two answers may differ; `attempts`: how often the shorter one is asked for again; `force`: whether words
    are then added by a model, in `force_tries` tries at most; `to_longest`: all systems are brought to the longest answer to the question,
    so that pairs share them; `on` false: answers are judged as they are."""

    tolerance: int = 10
    attempts: int = 5
    force: bool = True
    to_longest: bool = False
    force_tries: int = 3
    on: bool = True


@dataclass(frozen=True)
class AlignedPair:
    """The two answers as they are judged. `how`: `free`: no alignment was asked for; `equal`: near enough as they were; `adjusted`: at
    `attempt`; `forced`; `discarded`: still too far apart; `failed`: an answer has an error, or asking failed (`failure`: cause and words).
    Words are counted by kgeval.text.length: Unicode-aware, also for scripts without spaces."""

    a: Answer
    b: Answer
    words_a: int
    words_b: int
    how: How
    attempt: int | None = None
    gap_before: int = 0
    failure: str | None = None

    @property
    def judged(self) -> bool:
        """True if the pair goes to the judge."""
        return self.how not in ("discarded", "failed")
