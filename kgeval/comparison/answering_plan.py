"""The answers' side of a dry run: what is known of the answers without asking anybody, and what asking for the rest would take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kgeval.comparison.align.force import RewriteWish
from kgeval.comparison.align.rule import AlignedPair, align_length, failure_of
from kgeval.comparison.answering import AlignedAnswers, PairedAnswers
from kgeval.comparison.sources import AnswerSource, FiledSource, LengthWish, LiveSource, again_key, free_key
from kgeval.llm.asker import Later, digest
from kgeval.llm.plan import PlannedStage
from kgeval.records import Answer, Question
from kgeval.systems.system import Ask, Plans
from kgeval.text.length import count_words

if TYPE_CHECKING:
    from kgeval.systems.system import System

GUESSED = (0, 800)  # tokens of an answer that is not there yet
MOST_CLAIMS = 10
MOST_ASKS = 1000  # questions of a system by which the size of its other calls is told


class UnknownAnswerError(Exception):
    """An answer that only a run will know."""


class KnownAnswers(PairedAnswers):
    """What files, journal and earlier runs have of a comparison's answers. What they lack is an UnknownAnswerError."""

    def __init__(self, answering: AlignedAnswers) -> None:
        super().__init__(answering.paired, answering.sources, answering.settings, answering.forcer, answering.firsts)
        self.answering = answering

    def pair_if_known(self, question: Question, a: str, b: str, trial: int) -> AlignedPair | None:
        """The two answers as they will be judged in a trial; None where somebody would have to be asked first.

        A pair of which one answer is known to be an error is never judged, whatever the other one says.
        """
        known_answers = [answer for answer in self._both(question, a, b, trial) if answer is not None]
        if len(known_answers) < 2:
            failure = failure_of(*known_answers)
            return None if failure is None else AlignedPair(known_answers[0], known_answers[0], 0, 0, "failed", failure=failure)
        try:
            return self.align(question, a, b, trial, (known_answers[0], known_answers[1]))
        except UnknownAnswerError:
            return None

    def known(self, source: AnswerSource, question: Question, number: int) -> Answer | None:
        """A free answer, where it is known."""
        if source.lasting:
            return source.free(question, number)
        found_answer = self.answering.store.get(free_key(source, question, number))
        return found_answer[0] if found_answer is not None else None

    def free(self, source: AnswerSource, question: Question, number: int) -> Answer:
        """Raises: UnknownAnswerError."""
        answer = self.known(source, question, number)
        if answer is None:
            raise UnknownAnswerError
        return answer

    def again(self, source: AnswerSource, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        """Raises: UnknownAnswerError."""
        found_answer = self.answering.store.get(again_key(source, question, number, previous, wish))
        if found_answer is None:
            raise UnknownAnswerError
        return found_answer[0]

    def rewritten(self, nearest: Answer, wish: RewriteWish) -> Answer:
        """What the journal has: the forcer of a dry run looks there. Raises: UnknownAnswerError."""
        answer = super().rewritten(nearest, wish)
        if answer.error is not None:
            raise UnknownAnswerError
        return answer

    def target(self, question: Question, trial: int) -> tuple[int, str | None]:
        """Raises: UnknownAnswerError where an answer is not known; all of them are looked for first, so that a plan counts each."""
        sources = [self.sources[name] for name in self.paired.systems_of(question.id)]
        answers = [self.known(source, question, self.number(source, question.id, trial)) for source in sources]
        if None in answers:
            raise UnknownAnswerError
        return max((count_words(answer.answer) for answer in answers if answer and answer.error is None), default=0), None

    def may_adjust(self, source: AnswerSource) -> bool:
        """As far as a dry run knows: a process that is not started has not said."""
        return source.adjusts or getattr(system_of(source), "says_hello", None) is False

    def _both(self, question: Question, a: str, b: str, trial: int) -> list[Answer | None]:
        return [self.known(source, question, self.number(source, question.id, trial)) for source in self.sides(a, b)]


@dataclass(frozen=True)
class AnsweringPlan:
    """`stages`: of systems that can tell what they cost; what models are asked for is counted by the dry askers that the comparison was
    given. `lines`: for people, of systems that cannot tell."""

    stages: tuple[PlannedStage, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass
class _AskCounts:
    """Asks of one system: free answers; answers asked for again, those that are certain and at most."""

    free: int = 0
    certain: int = 0
    most: int = 0
    asks: list[Ask] = field(default_factory=list)  # the first free ones, to tell the size of the others


def plan(answering: AlignedAnswers) -> AnsweringPlan:
    """Free answers that the journal lacks are certain, each once. Where both answers are known, the first thing that is done about their
    lengths is certain, what follows is at most; where one is not known, all of it is at most. Nothing is asked, sent or kept."""
    planner = _Planner(answering)
    for a, b in answering.paired.pairs:
        changed = sum(planner.count_pair(question, a, b, trial) for question, trial in planner.trials_of(a, b))
        planner.count_meaning(a, b, changed)
    return planner.planned()


class _Planner(KnownAnswers):
    """Goes through a comparison with what is known already, and counts what is lacking, each answer once."""

    def __init__(self, answering: AlignedAnswers) -> None:
        super().__init__(answering)
        self._counts = {name: _AskCounts() for name in answering.sources}
        self._seen: set[int] = set()  # 64 bits of each key

    def trials_of(self, a: str, b: str) -> Iterator[tuple[Question, int]]:
        """The questions of a pair with the trials that need answers of their own."""
        for question in self.paired.questions(a, b):
            seen = set()
            for trial in range(1, self.settings.trials + 1):
                numbers = tuple(self.number(source, question.id, trial) for source in self.sides(a, b))
                if numbers not in seen:
                    seen.add(numbers)
                    yield question, trial

    def count_pair(self, question: Question, a: str, b: str, trial: int) -> int:
        """Counts one pair of answers. How many of them may come out changed: 0, 1 or 2."""
        rule, sides = self.settings.rule, self.sides(a, b)
        free = self._both(question, a, b, trial)
        known_answers = [answer for answer in free if answer is not None]
        if not rule.on or failure_of(*known_answers) is not None:
            return 0
        if rule.to_longest:
            return sum(self._count_to_longest(question, source, trial) for source in sides)
        if len(known_answers) < 2:
            for source in sides:
                self._count_perhaps(source, question, trial, (a, b))
            return 1
        try:
            pair = self.align(question, a, b, trial, (known_answers[0], known_answers[1]))
        except UnknownAnswerError:
            return 1
        return int(pair.how == "failed" or [pair.a.answer, pair.b.answer] != [answer.answer for answer in known_answers])

    def count_meaning(self, a: str, b: str, changed: int) -> None:
        """The judge's two calls for each sampled answer of a pair, at most."""
        judge = self.answering.judge
        if judge is None:
            return
        for number in range(min(changed, self.settings.meaning_sample)):
            for stage, prompt in (("claims-answer", "claims"), ("verdicts-answer", "judge-against-answer")):
                key = digest("meaning", a, b, number, stage)
                judge.later(Later(stage=stage, prompt=prompt, key=key, tokens=GUESSED, items=MOST_CLAIMS, certain=False))

    def known(self, source: AnswerSource, question: Question, number: int) -> Answer | None:
        """A free answer where it is known; else it is counted once."""
        answer = super().known(source, question, number)
        if answer is None and self._is_new(free_key(source, question, number)):
            counts = self._counts[source.name]
            counts.free += 1
            ask = source.ask(question, number) if isinstance(source, LiveSource) else Ask(question.id, question.question, trial=number)
            if isinstance(source, LiveSource) and not isinstance(source.system, Plans):
                if _only_counts(source.system):
                    source.system.answer(ask)
            elif len(counts.asks) < MOST_ASKS:
                counts.asks.append(ask)
        return answer

    def again(self, source: AnswerSource, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        """What the journal lacks ends the way through, and is counted: this attempt, and at most those after it."""
        try:
            return super().again(source, question, number, previous, wish)
        except UnknownAnswerError:
            key = again_key(source, question, number, previous, wish)
            if self._is_new(key):
                self._count_attempts(source, question, number, range(wish.attempt, self.settings.rule.attempts + 1), source.adjusts)
                self._count_forced(question, key)
            raise

    def planned(self) -> AnsweringPlan:
        """The stages and lines of all systems that would be asked."""
        stages, lines = [], []
        for name, counts in self._counts.items():
            system = system_of(self.sources[name])
            if system is None or not (counts.free or counts.most):
                continue
            if isinstance(system, Plans):
                stages += _stages(system, name, counts)
            else:
                again = f", {counts.certain:,} to {counts.most:,} asked again for a length" if counts.most else ""
                known = "their calls are counted below" if _only_counts(system) else "what they cost is not known here"
                lines.append(f"{name}: {counts.free:,} answers{again}; {known}")
        return AnsweringPlan(tuple(stages), tuple(lines))

    def _count_to_longest(self, question: Question, source: AnswerSource, trial: int) -> int:
        number, rule = self.number(source, question.id, trial), self.settings.rule
        try:
            words, _ = self.target(question, trial)
        except UnknownAnswerError:
            self._count_perhaps(source, question, trial, ("longest", str(trial)))
            return 1
        try:
            free = self.free(source, question, number)
        except UnknownAnswerError:
            return 0
        try:
            side = align_length(free, words, rule.tolerance // 2, rule, self.adjuster(source, question, trial, None))
        except UnknownAnswerError:
            return 1
        return int(side.answer.answer != free.answer or side.how == "failed")

    def _count_perhaps(self, source: AnswerSource, question: Question, trial: int, which: tuple[str, str]) -> None:
        """All that may be done about the length of an answer that is not known: once for each pair, or for the longest."""
        number = self.number(source, question.id, trial)
        if self._is_new(key := digest("perhaps", source.name, question.id, number, which)):
            if self.may_adjust(source):
                self._count_attempts(source, question, number, range(1, self.settings.rule.attempts + 1), certain=False)
            self._count_forced(question, key)

    def _count_attempts(self, source: AnswerSource, question: Question, number: int, attempts: range, certain: bool) -> None:
        """Attempts at a length that are not in the journal: the first is certain if `certain`, the others are at most."""
        counts, system = self._counts[source.name], system_of(source)
        counts.certain += certain
        counts.most += len(attempts)
        perhaps = getattr(system, "perhaps", None) if system is not None and _only_counts(system) else None
        if perhaps is not None:
            asked = source.ask(question, number) if isinstance(source, LiveSource) else Ask(question.id, question.question, trial=number)
            for attempt in attempts:
                perhaps(replace(asked, target_words=1, attempt=attempt))

    def _count_forced(self, question: Question, key: str) -> None:
        if self.forcer is not None and self.settings.rule.force:
            self.forcer.perhaps(question, key, GUESSED, self.settings.rule.force_tries)

    def _is_new(self, key: str) -> bool:
        """True for a key that did not come before."""
        short = int(key[:16], 16)
        new = short not in self._seen
        self._seen.add(short)
        return new


def system_of(source: AnswerSource) -> System | None:
    """The system that a source asks; None where it is a file without a hook."""
    return source.system if isinstance(source, LiveSource) else source.hook if isinstance(source, FiledSource) else None


def _only_counts(system: System) -> bool:
    """Whether a dry run may ask it: a built-in system that only counts."""
    from kgeval.systems.builtin.system import PlannedSystem

    return isinstance(system, PlannedSystem)


def _stages(system: Plans, name: str, counts: _AskCounts) -> list[PlannedStage]:
    """Free answers, and answers asked again: like them, with an answer before in the prompt."""
    sample = system.plan(counts.asks) if counts.asks else PlannedStage(name, 0, 0)
    sampled, free = max(1, len(counts.asks)), counts.free
    size, out = sample.input_tokens_high / sampled, sample.output_tokens_high / sampled
    stages = [replace(
        sample, stage=name, calls_low=free, calls_high=free, input_tokens_low=int(size * free), input_tokens_high=int(size * free),
        output_tokens_high=int(out * free),
    )] if free else []
    if counts.most:
        # the answer before stands in the prompt, too
        longer = size + GUESSED[1]
        stages.append(PlannedStage(
            f"{name}, for a length", counts.certain, counts.most, input_tokens_low=int(size * counts.certain),
            input_tokens_high=int(longer * counts.most), output_tokens_high=int(out * counts.most), price=sample.price,
        ))
    return stages
