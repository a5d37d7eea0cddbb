"""The rule by which two answers come to one length [Z 4]. Pure: asking again and adding words are done by the hands that are given.

The shorter answer is asked for again with the words of the longer one as its target, `attempts` times at most, until both differ by
`tolerance` words at most. The attempt that came nearest is kept, the free answer included; one that came out too long is as far off as one
that is too short. Then words are added to it (or taken away, where the nearest is too long), then the pair is discarded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kgeval.comparison.align.shape import AlignedPair, AlignmentRule, How
from kgeval.files.partial import stopped
from kgeval.records import Answer
from kgeval.text.length import count_words


class Hands(Protocol):
    """Who changes one system's answer. `adjusts`: the system can be asked for a length; `forces`: words can be added by a model."""

    adjusts: bool
    forces: bool

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        """The system's answer, asked again with a target length; `attempt` from 1. May have an error."""

    def forced(self, nearest: Answer, target: int, attempt: int) -> Answer:
        """The answer with words added, or taken away where it has more than the target. May have an error."""


@dataclass(frozen=True)
class Side:
    """One system's answer, brought to a target. `attempt`: at which it came right; `failure`: why nobody knows."""

    answer: Answer
    words: int
    how: How
    attempt: int | None = None
    failure: str | None = None


@dataclass(frozen=True)
class _Reached:
    """Where a row of attempts ended: the nearest answer so far, at which attempt it came right, why the last one failed."""

    nearest: Answer
    attempt: int | None = None
    failure: str | None = None


def alignment(*, kind: str = "pair", attempts: int = 5, tolerance: int = 10, force: bool = True) -> AlignmentRule:
    """The rule of `--align pair|longest|none`. Raises: ValueError for another kind, or numbers below 0."""
    if kind not in ("pair", "longest", "none") or attempts < 0 or tolerance < 0:
        raise ValueError(f"--align {kind} with {attempts} attempts and {tolerance} words is no rule")
    return AlignmentRule(tolerance=tolerance, attempts=attempts, force=force, to_longest=kind == "longest", on=kind != "none")


def align_pair(a: Answer, b: Answer, rule: AlignmentRule, hands: tuple[Hands, Hands]) -> AlignedPair:
    """Two free answers, brought to one length. `hands`: of A and of B. Raises: what the hands raise."""
    words = count_words(a.answer), count_words(b.answer)
    before = abs(words[0] - words[1])
    if (failure := failure_of(a, b)) is not None:
        return AlignedPair(a, b, *words, "failed", gap_before=before, failure=failure)
    if not rule.on:
        return AlignedPair(a, b, *words, "free", gap_before=before)
    if before <= rule.tolerance:
        return AlignedPair(a, b, *words, "equal", gap_before=before)
    shorter = 0 if words[0] < words[1] else 1
    side = bring((a, b)[shorter], max(words), rule.tolerance, rule, hands[shorter])
    if shorter == 0:
        return AlignedPair(side.answer, b, side.words, words[1], side.how, side.attempt, before, side.failure)
    return AlignedPair(a, side.answer, words[0], side.words, side.how, side.attempt, before, side.failure)


def join_sides(a: Side, b: Side, free: tuple[Answer, Answer], rule: AlignmentRule) -> AlignedPair:
    """Two answers that were brought to the length of a third one (`to_longest`), as a pair. `free`: as they were before.

    The pair is what its worse side is: failed, discarded, forced, adjusted at the later attempt, equal.
    """
    before = abs(count_words(free[0].answer) - count_words(free[1].answer))
    order: tuple[How, ...] = ("failed", "discarded", "forced", "adjusted", "equal")
    how = next(one for one in order if one in (a.how, b.how))
    if how not in ("failed", "discarded") and abs(a.words - b.words) > rule.tolerance:
        how = "discarded"
    attempts = [side.attempt for side in (a, b) if side.attempt is not None and side.how == how]
    return AlignedPair(a.answer, b.answer, a.words, b.words, how, max(attempts, default=None), before, a.failure or b.failure)


def bring(free: Answer, target: int, window: int, rule: AlignmentRule, hands: Hands) -> Side:
    """One answer, brought to `target` words, give or take `window`."""
    nearest = free
    if _gap(free, target) <= window:
        return Side(free, count_words(free.answer), "equal")
    if hands.adjusts and rule.attempts:
        reached = _tried(free, rule.attempts, (target, window), hands.again)
        if reached.failure is not None:
            return Side(free, count_words(free.answer), "failed", failure=reached.failure)
        if reached.attempt is not None:
            return Side(reached.nearest, count_words(reached.nearest.answer), "adjusted", reached.attempt)
        nearest = reached.nearest
    if rule.force and hands.forces and count_words(nearest.answer):  # there must be words to add words to
        reached = _tried(nearest, rule.force_tries, (target, window), hands.forced)
        if reached.failure is not None:
            return Side(nearest, count_words(nearest.answer), "failed", failure=reached.failure)
        if reached.attempt is not None:
            return Side(reached.nearest, count_words(reached.nearest.answer), "forced", reached.attempt)
        nearest = reached.nearest
    return Side(nearest, count_words(nearest.answer), "discarded")


def _tried(start: Answer, tries: int, right: tuple[int, int], change: Callable[[Answer, int, int], Answer]) -> _Reached:
    """Changes an answer until a try is right (`right`: words, and by how many they may be missed), each from the nearest text so far.

    A try that failed is one without a result; where all of them failed, or the run was stopped, nothing is known of the pair: it has
    failed, and a later run may know it.
    """
    target, window = right
    failures, nearest = [], start
    for attempt in range(1, tries + 1):
        made = change(nearest, target, attempt)
        if made.error is not None:
            failures.append(made.error)
            if stopped(made.error):
                return _Reached(nearest, failure=made.error)
        elif _gap(made, target) <= window:
            return _Reached(made, attempt)
        nearest = _nearer(nearest, made, target)
    return _Reached(nearest, failure=failures[-1] if failures and len(failures) == tries else None)


def _nearer(one: Answer, other: Answer, target: int) -> Answer:
    """The one whose length is nearer to the target; the first of equals. An answer with an error, or without a word, is not near."""
    if other.error is not None or not count_words(other.answer):
        return one
    return other if _gap(other, target) < _gap(one, target) else one


def _gap(answer: Answer, target: int) -> int:
    return abs(count_words(answer.answer) - target)


def failure_of(*answers: Answer) -> str | None:
    """Why a pair has no result: the first answer that is an error, with its cause first and the system named."""
    for answer in answers:
        if answer.error is not None:
            cause, _, rest = answer.error.partition(":")
            return f"{cause.strip() or 'error'}: {answer.system}{': ' + rest.strip() if rest.strip() else ' gave no answer'}"
    return None
