"""The rule by which two answers come to one length [Z 4]. Pure: asking again and adding words are done by who is given.

The shorter answer is asked for again with the words of the longer one as its target, `attempts` times at most, until both differ by
`tolerance` words at most. The attempt that came nearest is kept, the free answer included; one that came out too long is as far off as one
that is too short. Then words are added to it (or taken away, where the nearest is too long), then the pair is discarded.

The code of [Z] takes a gap of at most 10 words when a system is asked again, of less than 10 when words are added, and asks for a negative
number of words where an answer came out too long. Here both are `tolerance`, and words are taken away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from kgeval.records import Answer
from kgeval.tables.answers import stopped
from kgeval.text.length import count_words

How = Literal["free", "equal", "adjusted", "forced", "discarded", "silent", "failed"]
Side = Literal["a", "b", "both"]


@dataclass(frozen=True)
class AlignmentRule:
    """`tolerance`: words by which two answers may differ; `attempts`: how often the shorter one is asked for again; `force`: whether words
    are then added by a model, in `force_tries` tries at most; `to_longest`: all systems are brought to the longest answer to the question,
    so that pairs share them; `on` false: answers are judged as they are."""

    # the numbers of [Z 4]: 10 words, 5 attempts
    tolerance: int = 10
    attempts: int = 5
    force: bool = True
    to_longest: bool = False
    force_tries: int = 3
    on: bool = True


@dataclass(frozen=True)
class AlignedPair:
    """The two answers as they are judged. `how`: `free`: no alignment was asked for; `equal`: near enough as they were; `adjusted`: at
    `attempt`; `forced`; `discarded`: still too far apart; `silent`: an answer has no words; `failed`: an answer has an error, or asking
    failed (`failure`: cause and words).
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
        return self.how not in ("discarded", "silent", "failed")

    @property
    def unanswered(self) -> Side | None:
        """Whose answer is an error or has no words; None where both answered."""
        lacks_a, lacks_b = (answer.error is not None or not words for answer, words in ((self.a, self.words_a), (self.b, self.words_b)))
        return "both" if lacks_a and lacks_b else "a" if lacks_a else "b" if lacks_b else None


class LengthAdjuster(Protocol):
    """Who changes one system's answer. `adjusts`: the system can be asked for a length; `forces`: words can be added by a model."""

    adjusts: bool
    forces: bool

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        """The system's answer, asked again with a target length; `attempt` from 1. May have an error."""

    def padded(self, nearest: Answer, target: int, attempt: int) -> Answer:
        """The answer with words added, or taken away where it has more than the target. May have an error."""


@dataclass(frozen=True)
class AlignedSide:
    """One system's answer, brought to a target. `attempt`: at which it came right; `failure`: why nobody knows."""

    answer: Answer
    words: int
    how: How
    attempt: int | None = None
    failure: str | None = None


def alignment(*, kind: str = "pair", attempts: int = 5, tolerance: int = 10, force: bool = True) -> AlignmentRule:
    """The rule of `--align pair|longest|none`. Raises: ValueError for another kind, or numbers below 0."""
    if kind not in ("pair", "longest", "none") or attempts < 0 or tolerance < 0:
        raise ValueError(f"--align {kind} with {attempts} attempts and {tolerance} words is no rule")
    return AlignmentRule(tolerance=tolerance, attempts=attempts, force=force, to_longest=kind == "longest", on=kind != "none")


def align_pair(a: Answer, b: Answer, rule: AlignmentRule, adjusters: tuple[LengthAdjuster, LengthAdjuster]) -> AlignedPair:
    """Two free answers, brought to one length. `adjusters`: of A and of B. Raises: what they raise."""
    words = count_words(a.answer), count_words(b.answer)
    before = abs(words[0] - words[1])
    if (failure := failure_of(a, b)) is not None:
        return AlignedPair(a, b, *words, "failed", gap_before=before, failure=failure)
    if not all(words):  # nothing has no length that another answer could be brought to, and needs no judge
        return AlignedPair(a, b, *words, "silent", gap_before=before)
    if not rule.on:
        return AlignedPair(a, b, *words, "free", gap_before=before)
    if before <= rule.tolerance:
        return AlignedPair(a, b, *words, "equal", gap_before=before)
    shorter = 0 if words[0] < words[1] else 1
    # [Z 4]: only the shorter one is changed, so that no answer loses what it says
    side = align_length((a, b)[shorter], max(words), rule.tolerance, rule, adjusters[shorter])
    if shorter == 0:
        return AlignedPair(side.answer, b, side.words, words[1], side.how, side.attempt, before, side.failure)
    return AlignedPair(a, side.answer, words[0], side.words, side.how, side.attempt, before, side.failure)


def join_sides(a: AlignedSide, b: AlignedSide, free: tuple[Answer, Answer], rule: AlignmentRule) -> AlignedPair:
    """Two answers that were brought to the length of a third one (`to_longest`), as a pair. `free`: as they were before.

    The pair is what its worse side is: failed, discarded, forced, adjusted at the later attempt, equal.
    """
    before = abs(count_words(free[0].answer) - count_words(free[1].answer))
    order: tuple[How, ...] = ("failed", "discarded", "forced", "adjusted", "equal")
    how = next(outcome for outcome in order if outcome in (a.how, b.how))
    if how not in ("failed", "discarded") and abs(a.words - b.words) > rule.tolerance:
        how = "discarded"
    attempts = [side.attempt for side in (a, b) if side.attempt is not None and side.how == how]
    return AlignedPair(a.answer, b.answer, a.words, b.words, how, max(attempts, default=None), before, a.failure or b.failure)


def align_length(free: Answer, target: int, window: int, rule: AlignmentRule, adjuster: LengthAdjuster) -> AlignedSide:
    """One answer, brought to `target` words, give or take `window`."""
    if _gap(free, target) <= window:
        return AlignedSide(free, count_words(free.answer), "equal")
    nearest = free
    ways: list[tuple[How, int, Callable[[Answer, int, int], Answer]]] = []
    if adjuster.adjusts:
        ways.append(("adjusted", rule.attempts, adjuster.again))
    if rule.force and adjuster.forces:
        ways.append(("forced", rule.force_tries, adjuster.padded))
    # [Z 4]: first the system's own words; those that a model adds are not the system's
    for how, tries, change in ways:
        if how == "forced" and not count_words(nearest.answer):  # there must be words to add words to
            break
        start, failures = nearest, 0
        for attempt in range(1, tries + 1):
            # from the nearest so far, not from the last: attempts that run away are not followed
            answer = change(nearest, target, attempt)
            if answer.error is not None:
                # a try that failed is one without a result; where all of them failed, or the run was stopped, nothing is known of the pair:
                # it has failed, and a later run may know it
                failures += 1
                if stopped(answer.error) or failures == tries:
                    return AlignedSide(start, count_words(start.answer), "failed", failure=answer.error)
            elif _gap(answer, target) <= window:
                return AlignedSide(answer, count_words(answer.answer), how, attempt)
            elif count_words(answer.answer) and _gap(answer, target) < _gap(nearest, target):  # an answer without a word is not near
                nearest = answer
    return AlignedSide(nearest, count_words(nearest.answer), "discarded")


def _gap(answer: Answer, target: int) -> int:
    return abs(count_words(answer.answer) - target)


def failure_of(*answers: Answer) -> str | None:
    """Why a pair has no result: the first answer that is an error, with its cause first and the system named."""
    for answer in answers:
        if answer.error is not None:
            cause, _, rest = answer.error.partition(":")
            return f"{cause.strip() or 'error'}: {answer.system}{': ' + rest.strip() if rest.strip() else ' gave no answer'}"
    return None
