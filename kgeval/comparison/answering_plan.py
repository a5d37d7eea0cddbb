"""What the answers' side of a comparison would take, before anything is asked: what is certain, and what is at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kgeval.comparison.align.force import Wish
from kgeval.comparison.align.rule import bring, failure_of
from kgeval.comparison.align.shape import AlignmentRule
from kgeval.comparison.sources import Filed, Length, LiveSource, Source, again_key, free_key
from kgeval.llm.asker import Later, digest
from kgeval.llm.plan import PlannedStage
from kgeval.records import Answer, Question
from kgeval.systems.system import Ask, Plans
from kgeval.text.length import count_words

if TYPE_CHECKING:
    from kgeval.comparison.answering import Answering
    from kgeval.systems.system import System

GUESSED = (0, 800)  # tokens of an answer that is not there yet
MOST_CLAIMS = 10


@dataclass(frozen=True)
class Planned:
    """`stages`: of systems that can tell what they cost; what models are asked for is counted by the dry askers that the comparison was
    given. `lines`: for people, of systems that cannot tell."""

    stages: tuple[PlannedStage, ...] = ()
    lines: tuple[str, ...] = ()


class _UnknownError(Exception):
    """An answer that only a run will know."""


@dataclass
class _Counts:
    """Asks of one system: free answers; answers asked for again, those that are certain and at most."""

    free: int = 0
    sure: int = 0
    most: int = 0
    asks: list[Ask] = field(default_factory=list)  # the first free ones, to tell the size of the others


def plan(answering: Answering) -> Planned:
    """Free answers that the store lacks are certain, each once. Where both answers are known, the first thing that is done about their
    lengths is certain, what follows is at most; where one is not known, all of it is at most."""
    planner = _Planner(answering)
    for a, b in answering.paired.pairs:
        checks = 0
        for question, trial in planner.trials_of(a, b):
            checks += planner.pair(question, a, b, trial)
        planner.meaning(a, b, checks)
    return planner.planned()


class _Planner:
    """Goes through a comparison with what is known already."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._counts = {name: _Counts() for name in answering.sources}
        self._seen: set[int] = set()  # 64 bits of each key

    def trials_of(self, a: str, b: str) -> Iterator[tuple[Question, int]]:
        """The questions of a pair with the trials that need answers of their own."""
        answering = self._answering
        for question in answering.paired.questions(a, b):
            seen = set()
            for trial in range(1, answering.settings.trials + 1):
                numbers = tuple(answering.number(source, question.id, trial) for source in answering.sides(a, b))
                if numbers not in seen:
                    seen.add(numbers)
                    yield question, trial

    def pair(self, question: Question, a: str, b: str, trial: int) -> int:
        """Counts one pair of answers. How many of them may come out changed: 0, 1 or 2."""
        rule, sides = self._answering.settings.rule, self._answering.sides(a, b)
        numbers = [self._answering.number(source, question.id, trial) for source in sides]
        free = [self._free(source, question, number) for source, number in zip(sides, numbers, strict=True)]
        if not rule.on or failure_of(*(answer for answer in free if answer is not None)) is not None:
            return 0
        if rule.to_longest:
            return sum(self._to_longest(question, source, number, trial) for source, number in zip(sides, numbers, strict=True))
        if free[0] is None or free[1] is None:
            for source, number in zip(sides, numbers, strict=True):
                self._perhaps(source, question, number, (a, b))
            return 1
        words = [count_words(answer.answer) for answer in free if answer is not None]
        shorter = 0 if words[0] < words[1] else 1
        return self._side(sides[shorter], question, numbers[shorter], free[shorter], (max(words), rule.tolerance))

    def _to_longest(self, question: Question, source: Source, number: int, trial: int) -> int:
        try:
            words = self._longest(question, trial)
        except _UnknownError:
            self._perhaps(source, question, number, ("longest", str(trial)))
            return 1
        tolerance = self._answering.settings.rule.tolerance // 2
        return self._side(source, question, number, self._free(source, question, number), (words, tolerance))

    def _longest(self, question: Question, trial: int) -> int:
        """Words of the longest answer. Raises: _UnknownError where one is not known; all of them are counted first."""
        answering = self._answering
        sources = [answering.sources[name] for name in answering.paired.systems_of(question.id)]
        found = [self._free(source, question, answering.number(source, question.id, trial)) for source in sources]
        known = [answer for answer in found if answer is not None]
        if len(known) < len(found):
            raise _UnknownError
        return max((count_words(answer.answer) for answer in known if answer.error is None), default=0)

    def _side(self, source: Source, question: Question, number: int, free: Answer | None, wanted: tuple[int, int]) -> int:
        if free is None:
            return 0
        try:
            side = bring(free, *wanted, self._answering.settings.rule, _KnownHands(self, source, question, number))
        except _UnknownError:
            return 1
        return int(side.answer.answer != free.answer or side.how == "failed")

    def _free(self, source: Source, question: Question, number: int) -> Answer | None:
        """The free answer where it is known; else it is counted once."""
        if source.lasting:
            return source.free(question, number)
        key = free_key(source, question, number)
        found = self._answering.store.get(key)
        if found is None and self.first(key):
            count = self._counts[source.name]
            count.free += 1
            ask = Ask(question.id, question.question, trial=number)
            if isinstance(source, LiveSource) and not isinstance(source.system, Plans):
                source.system.answer(ask) if _plays(source.system) else None
            elif len(count.asks) < 1000:
                count.asks.append(ask)
        return found[0] if found is not None else None

    def _perhaps(self, source: Source, question: Question, number: int, which: tuple[str, str]) -> None:
        """All that may be done about the length of an answer that is not known: once for each pair, or for the longest."""
        rule, forcer = self._answering.settings.rule, self._answering.forcer
        if not self.first(key := digest("perhaps", source.name, question.id, number, which)):
            return
        if may_adjust(source):
            self.later(source, question, number, range(1, rule.attempts + 1), sure=False)
        if forcer is not None and rule.force:
            forcer.perhaps(question, key, GUESSED, rule.force_tries)

    def later(self, source: Source, question: Question, number: int, attempts: range, *, sure: bool) -> None:
        """Counts attempts at a length that are not in the store: the first is certain if `sure`, the others are at most."""
        count = self._counts[source.name]
        count.sure += sure
        count.most += len(attempts)
        system = system_of(source)
        if system is not None and _plays(system):
            for attempt in attempts:
                ask = Ask(question.id, question.question, trial=number, target_words=1, attempt=attempt)
                perhaps = getattr(system, "perhaps", None)
                if perhaps is not None:
                    perhaps(ask)

    def meaning(self, a: str, b: str, changed: int) -> None:
        """The judge's two calls for each sampled answer of a pair, at most."""
        judge, sample = self._answering.judge, self._answering.settings.meaning_sample
        if judge is None:
            return
        for number in range(min(changed, sample)):
            for stage, prompt in (("claims-answer", "claims"), ("verdicts-answer", "judge-against-answer")):
                key = digest("meaning", a, b, number, stage)
                judge.later(Later(stage=stage, prompt=prompt, key=key, tokens=GUESSED, items=MOST_CLAIMS, certain=False))

    def first(self, key: str) -> bool:
        """True for a key that did not come before."""
        short = int(key[:16], 16)
        new = short not in self._seen
        self._seen.add(short)
        return new

    @property
    def answering(self) -> Answering:
        """What is planned."""
        return self._answering

    def planned(self) -> Planned:
        """The stages and lines of all systems that would be asked."""
        stages, lines = [], []
        for name, count in self._counts.items():
            system = system_of(self._answering.sources[name])
            if system is None or not (count.free or count.most):
                continue
            if isinstance(system, Plans):
                stages += _stages(system, name, count)
            else:
                again = f", {count.sure:,} to {count.most:,} asked again for a length" if count.most else ""
                known = "their calls are counted below" if _plays(system) else "what they cost is not known here"
                lines.append(f"{name}: {count.free:,} answers{again}; {known}")
        return Planned(tuple(stages), tuple(lines))


class _KnownHands:
    """Does what the store has; what it lacks ends the way through and is counted."""

    def __init__(self, planner: _Planner, source: Source, question: Question, number: int) -> None:
        self._planner, self._source, self._question, self._number = planner, source, question, number
        self.adjusts, self.forces = may_adjust(source), planner.answering.forcer is not None

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        answering = self._planner.answering
        key = again_key(self._source, self._question, self._number, previous, Length(target, attempt))
        found = answering.store.get(key)
        if found is not None:
            return found[0]
        rule: AlignmentRule = answering.settings.rule
        if self._planner.first(key):
            self._planner.later(self._source, self._question, self._number, range(attempt, rule.attempts + 1), sure=self._source.adjusts)
            if answering.forcer is not None and rule.force:
                answering.forcer.perhaps(self._question, key, GUESSED, rule.force_tries)
        raise _UnknownError

    def forced(self, nearest: Answer, target: int, attempt: int) -> Answer:
        answering = self._planner.answering
        if answering.forcer is None:
            raise _UnknownError
        wish = Wish(self._question, target, None, self._number, attempt, answering.settings.rule.force_tries)
        made = answering.forcer.rewritten(nearest, wish)
        if made.error is not None:
            raise _UnknownError
        return made


def system_of(source: Source) -> System | None:
    """The system that a source asks; null where it is a file without a hook."""
    return source.system if isinstance(source, LiveSource) else source.hook if isinstance(source, Filed) else None


def may_adjust(source: Source) -> bool:
    """Whether a system can be asked for a length, as far as a dry run knows: a process that is not started has not said."""
    return source.adjusts or getattr(system_of(source), "says_hello", None) is False


def _plays(system: System) -> bool:
    """Whether a dry run may ask it: a built-in system that only counts."""
    from kgeval.systems.builtin.system import PlannedSystem

    return isinstance(system, PlannedSystem)


def _stages(system: Plans, name: str, count: _Counts) -> list[PlannedStage]:
    """Free answers, and answers asked again: like them, with an answer before in the prompt."""
    made = system.plan(count.asks) if count.asks else PlannedStage(name, 0, 0)
    asked, wanted = max(1, len(count.asks)), count.free
    size = made.input_tokens_high / asked
    out = made.output_tokens_high / asked
    stages = [replace(
        made, stage=name, calls_low=wanted, calls_high=wanted, input_tokens_low=int(size * wanted), input_tokens_high=int(size * wanted),
        output_tokens_high=int(out * wanted),
    )] if wanted else []
    if count.most:
        longer = size + GUESSED[1]
        stages.append(PlannedStage(
            f"{name}, for a length", count.sure, count.most, input_tokens_low=int(size * count.sure),
            input_tokens_high=int(longer * count.most), output_tokens_high=int(out * count.most), price=made.price,
        ))
    return stages
