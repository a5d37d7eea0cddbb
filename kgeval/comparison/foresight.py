"""The two answers of a question as they will be judged, as far as that is known without asking anybody. For dry runs."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.comparison.align.force import Wish
from kgeval.comparison.align.rule import align_pair, bring, failure_of, join_sides
from kgeval.comparison.align.shape import AlignedPair
from kgeval.comparison.answering import Answering
from kgeval.comparison.answering_plan import may_adjust
from kgeval.comparison.sources import Length, Source, again_key, free_key
from kgeval.records import Answer, Question
from kgeval.text.length import count_words


class _UnknownError(Exception):
    """An answer that only a run will know."""


@dataclass(frozen=True)
class Foresight:
    """The answers' side of a dry run: files, and what earlier runs have left in the store and in the journal."""

    answering: Answering

    def foresee(self, question: Question, a: str, b: str, trial: int) -> AlignedPair | None:
        """The two answers as they will be judged in a trial; null where somebody would have to be asked first."""
        rule, sides = self.answering.settings.rule, self.answering.sides(a, b)
        numbers = [self.answering.number(source, question.id, trial) for source in sides]
        one, other = (self._free(source, question, number) for source, number in zip(sides, numbers, strict=True))
        if one is None or other is None:
            failed = failure_of(*(answer for answer in (one, other) if answer is not None))
            return self._failed(one or other, failed) if failed is not None else None
        hands = [_Known(self.answering, source, question, number) for source, number in zip(sides, numbers, strict=True)]
        try:
            if rule.on and rule.to_longest and failure_of(one, other) is None:
                target = self._longest(question, trial)
                first, second = (
                    bring(answer, target, rule.tolerance // 2, rule, hand) for answer, hand in zip((one, other), hands, strict=True)
                )
                return join_sides(first, second, (one, other), rule)
            return align_pair(one, other, rule, (hands[0], hands[1]))
        except _UnknownError:
            return None

    def _free(self, source: Source, question: Question, number: int) -> Answer | None:
        if source.lasting:
            return source.free(question, number)
        found = self.answering.store.get(free_key(source, question, number))
        return found[0] if found is not None else None

    def _longest(self, question: Question, trial: int) -> int:
        """Words of the longest free answer of all systems. Raises: _UnknownError where one of them is not known."""
        words = 0
        for name in self.answering.paired.systems_of(question.id):
            source = self.answering.sources[name]
            answer = self._free(source, question, self.answering.number(source, question.id, trial))
            if answer is None:
                raise _UnknownError
            words = max(words, count_words(answer.answer) if answer.error is None else 0)
        return words

    @staticmethod
    def _failed(answer: Answer | None, why: str) -> AlignedPair | None:
        """A pair of which one answer is known to be an error: it is never judged, whatever the other one says."""
        return AlignedPair(answer, answer, 0, 0, "failed", failure=why) if answer is not None else None


class _Known:
    """Changes lengths by what is known already. Raises: _UnknownError where somebody would be asked."""

    def __init__(self, answering: Answering, source: Source, question: Question, number: int) -> None:
        self._answering, self._source, self._question, self._number = answering, source, question, number
        self.adjusts = may_adjust(source)
        self.forces = answering.forcer is not None

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        """As align.rule.Hands."""
        key = again_key(self._source, self._question, self._number, previous, Length(target, attempt))
        found = self._answering.store.get(key)
        if found is None:
            raise _UnknownError
        return found[0]

    def forced(self, nearest: Answer, target: int, attempt: int) -> Answer:
        """As align.rule.Hands; the forcer of a dry run looks into the journal."""
        forcer = self._answering.forcer
        if forcer is None:
            raise _UnknownError
        tries = self._answering.settings.rule.force_tries
        made = forcer.rewritten(nearest, Wish(self._question, target, None, self._number, attempt, tries))
        if made.error is not None:
            raise _UnknownError
        return made
