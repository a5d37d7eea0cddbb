"""The answers' side of a comparison: for a question, a pair of systems and a trial, the two answers as they are judged."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from kgeval.comparison.align.force import Forcer, RewriteWish
from kgeval.comparison.align.meaning import PROMPTS
from kgeval.comparison.align.rule import AlignedPair, AlignmentRule, align_length, align_pair, failure_of, join_sides
from kgeval.comparison.alignment_log import AlignmentLog, PairPlace
from kgeval.comparison.sources import AnswerSource, LengthWish, LiveSource, SecondRun, again_key, free_key
from kgeval.errors import UsageError
from kgeval.format import first_of
from kgeval.llm.answer_store import AnswerStore, key_of
from kgeval.records import Aligned, AlignmentCount, Answer, Question, SystemUse, TrialKind
from kgeval.systems.engine import NOT_ASKED, Tally
from kgeval.tables.answers import stopped
from kgeval.text.language import TextLanguage, detect_language
from kgeval.text.length import count_words

if TYPE_CHECKING:
    from kgeval.comparison.pairs import ComparedPairs
    from kgeval.llm.asker import Asker

LOOKED_AT = 50  # questions of a pair whose answers are compared with each other
NAMED = 3  # pairs in one note
LEAST = 4  # questions with several answers, from which on something is said of them
UNVARIED = 0.9  # share of questions with one and the same answer in all trials from which on it is said
SAME = 0.5  # share of equal answers from which on it is said
INCOMPLETE = 3
TARGETS = 10_000  # longest answers that are remembered: a number each
Seen = Callable[[str, str, int], Iterable[tuple[str, str]]]  # (a, b, at most) -> the marks of both answers, a question each


class Mapped(Protocol):
    """How work is spread over threads: Models.map, or the built-in map."""

    def __call__(self, work: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]: ...


@dataclass(frozen=True)
class AnsweringSettings:
    """`trials`: M. `kind` None: regenerate where every system can answer again in each trial (it is asked, or its file has M answers),
    else rejudge. `meaning_sample`: aligned answers a pair whose meaning is checked, 0: none. `max_error_rate`: a system of whose answers
    more fail is not asked any more. `models`: what the signature says of the models that align and judge."""

    rule: AlignmentRule = field(default_factory=AlignmentRule)
    trials: int = 1
    kind: TrialKind | None = None
    meaning_sample: int = 30
    max_error_rate: float = 0.1
    seed: int = 0
    models: str = ""


class PairedAnswers(ABC):
    """The answers of pairs, brought to one length. Where an answer comes from is for the class: AlignedAnswers asks for what is not there
    yet, `answering_plan.KnownAnswers` (of a dry run) only looks.

    `trial_kind`: `regenerate`: systems answer again in each trial, and are aligned again; `rejudge`: answers stay, a file with several
    answers to a question gives its answer t to trial t. `forcer` None: no words are added. `firsts`: name of a second run -> what stands
    for the first one in that pair.
    """

    def __init__(
        self, paired: ComparedPairs, sources: Mapping[str, AnswerSource], settings: AnsweringSettings, forcer: Forcer | None,
        firsts: Mapping[str, AnswerSource],
    ) -> None:
        self.paired, self.sources, self.settings, self.forcer, self.firsts = paired, sources, settings, forcer, firsts
        self.trial_kind = _trial_kind([sources[name] for name in paired.systems], settings)

    @abstractmethod
    def free(self, source: AnswerSource, question: Question, number: int) -> Answer:
        """A system's answer of its own length."""

    @abstractmethod
    def again(self, source: AnswerSource, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        """A system's answer asked for again with a length."""

    @abstractmethod
    def target(self, question: Question, trial: int) -> tuple[int, str | None]:
        """Words of the longest free answer to a question in a trial, and whose it is."""

    def rewritten(self, nearest: Answer, wish: RewriteWish) -> Answer:
        """An answer with words added or taken away by a model."""
        if self.forcer is None:
            raise UsageError("no model is there to add words", fix="name one, or leave forced alignment out")
        return self.forcer.rewritten(nearest, wish)

    def may_adjust(self, source: AnswerSource) -> bool:
        """Whether a system can be asked for a length."""
        return source.adjusts

    def sides(self, a: str, b: str) -> tuple[AnswerSource, AnswerSource]:
        """The two sources of a pair: against its second run, a file's system stands with the first half of its answers."""
        return self.firsts.get(b, self.sources[a]), self.sources[b]

    def number(self, source: AnswerSource, question_id: str, trial: int) -> int:
        """Which of a source's answers a trial uses."""
        return source.number(question_id, 1 if source.live and self.trial_kind == "rejudge" else trial)

    def align(self, question: Question, a: str, b: str, trial: int, free: tuple[Answer, Answer]) -> AlignedPair:
        """The two free answers as they are judged. To the longest one of all systems, each is brought to half the tolerance: any two then
        differ by the tolerance at most."""
        rule, sides = self.settings.rule, self.sides(a, b)
        if rule.on and rule.to_longest and failure_of(*free) is None and all(count_words(answer.answer) for answer in free):
            words, longest = self.target(question, trial)
            side_a, side_b = (
                align_length(answer, words, rule.tolerance // 2, rule, self.adjuster(source, question, trial, longest))
                for source, answer in zip(sides, free, strict=True)
            )
            return join_sides(side_a, side_b, free, rule)
        return align_pair(*free, rule, (self.adjuster(sides[0], question, trial, b), self.adjuster(sides[1], question, trial, a)))

    def adjuster(self, source: AnswerSource, question: Question, trial: int, other: str | None) -> _SideAdjuster:
        """Who changes the length of a system's answer in a trial, to that of the system `other`."""
        return _SideAdjuster(self, source, question, self.number(source, question.id, trial), other)


class _SideAdjuster:
    """A LengthAdjuster (align.rule) of one system's answer to one question: by asking the system, or a model."""

    def __init__(self, answers: PairedAnswers, source: AnswerSource, question: Question, number: int, other: str | None) -> None:
        self._answers, self._source, self._question, self._number, self._other = answers, source, question, number, other
        self.adjusts, self.forces = answers.may_adjust(source), answers.forcer is not None

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        return self._answers.again(self._source, self._question, self._number, previous, LengthWish(target, attempt, self._other))

    def padded(self, nearest: Answer, target: int, attempt: int) -> Answer:
        tries = self._answers.settings.rule.force_tries
        return self._answers.rewritten(nearest, RewriteWish(self._question, target, self._other, self._number, attempt, tries))


class AlignedAnswers(PairedAnswers):
    """Gives AlignedPairs. Thread-safe: each (system, question, trial) is answered once, however many pairs need it. A context manager.

    `sources`: name -> where its answers come from; second runs are added to them. `signature`: of all that the aligned answers depend on.
    """

    def __init__(
        self, paired: ComparedPairs, sources: Mapping[str, AnswerSource], settings: AnsweringSettings, *, store: AnswerStore,
        forcer: Forcer | None = None, judge: Asker | None = None, second_runs: Iterable[SecondRun] = (),
    ) -> None:
        runs = tuple(second_runs)
        super().__init__(
            paired, {**sources, **{run.name: run.second for run in runs}}, settings, forcer,
            {run.name: run.first for run in runs if run.first is not None},
        )
        self.store, self.judge = store, judge
        # all of them, so that the two systems of a pair answer under the same conditions
        sampled = (self.trial_kind == "regenerate" and settings.trials > 1) or any(isinstance(run.second, LiveSource) for run in runs)
        for source in self.live:
            source.sampled = sampled
        self.signature = key_of(
            {name: self.sources[name].signature for name in paired.systems}, asdict(settings.rule), self.trial_kind,
            paired.sharing.digest(), settings.models, settings.seed, forcer.signature if forcer is not None else "",
            [judge.prompt(name).hash for name in PROMPTS] if judge is not None and settings.meaning_sample else [],
        )
        self.log = AlignmentLog(settings)
        self._lock = threading.Lock()
        self._tallies = {name: Tally(settings.max_error_rate) for name in self.sources}
        self._targets: OrderedDict[tuple[str, int], tuple[int, str | None]] = OrderedDict()
        self._reused: Counter[str] = Counter()  # answers that an earlier run left in the journal
        self._aligned_before: set[str] = set()

    def pair(self, question: Question, a: str, b: str, trial: int) -> AlignedPair:
        """The two answers as they are judged in a trial (from 1). Blocks; a failure of one question is an AlignedPair that says so.

        Raises: what ends a run (ModelError, IncompleteError ...).
        """
        sides = self.sides(a, b)
        numbers = self.number(sides[0], question.id, trial), self.number(sides[1], question.id, trial)
        free = self.free(sides[0], question, numbers[0]), self.free(sides[1], question, numbers[1])
        pair = self.align(question, a, b, trial, free)
        self.log.note(PairPlace(a, b, question.id, f"{numbers[0]}:{numbers[1]}", trial, question.level), pair, free)
        return pair

    def free(self, source: AnswerSource, question: Question, number: int) -> Answer:
        """A system's answer of its own length: from its file, from the journal, or asked."""
        if source.lasting:
            answer = source.free(question, number)
        else:
            answer = self._asked_once(source, question, free_key(source, question, number), lambda: source.free(question, number))
        if answer.error is None:
            self.log.used(source.name, question.id, number, answer)
            if answer.aligned_to is not None:
                self._aligned_before.add(source.name)
        return answer

    def again(self, source: AnswerSource, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        """A system's answer asked for again with a length: from the journal, or asked."""
        key = again_key(source, question, number, previous, wish)
        answer = self._asked_once(source, question, key, lambda: source.again(question, number, previous, wish))
        return answer.model_copy(update={
            "aligned_to": Aligned(system=wish.other, target_words=wish.target, attempt=wish.attempt), "trial": number,
        })

    def target(self, question: Question, trial: int) -> tuple[int, str | None]:
        """Words of the longest free answer to a question in a trial, and whose it is."""
        with self._lock:
            longest = self._targets.get((question.id, trial))
        if longest is None:
            longest = (0, None)
            for name in self.paired.systems_of(question.id):
                source = self.sources[name]
                answer = self.free(source, question, self.number(source, question.id, trial))
                if answer.error is None and (words := count_words(answer.answer)) > longest[0]:
                    longest = words, name
            with self._lock:
                self._targets[question.id, trial] = longest
                while len(self._targets) > TARGETS:
                    self._targets.popitem(last=False)
        return longest

    def texts(self, system_a: str, system_b: str, question_id: str, trial: int) -> tuple[str, str] | None:
        """The two answers as they were judged; None where unknown. For results.inputs.Texts."""
        swapped = (system_a, system_b) not in self.paired.pairs and (system_b, system_a) in self.paired.pairs
        a, b = (system_b, system_a) if swapped else (system_a, system_b)
        if a not in self.sources or b not in self.sources:
            return None
        numbers = ":".join(str(self.number(source, question_id, trial)) for source in self.sides(a, b))
        texts = self.log.texts(a, b, question_id, numbers)
        return texts if texts is None or not swapped else (texts[1], texts[0])

    def check_meaning(self, spread: Mapped = map) -> None:
        """Asks the judge, for a sample of aligned answers of each pair, which claims of the free answer are still made; `counts` then has
        the shares. Call it when all pairs are there. `spread`: over threads (Models.map). Raises: what ends the session."""
        judge = self.judge
        if judge is None or not self.settings.meaning_sample:
            return
        checks = (check for a, b in self.paired.pairs for check in self.log.to_check(a, b))
        for _ in spread(lambda check: self.log.check(check, self.paired.question(check.question), judge), checks):
            pass

    def uses(self) -> tuple[SystemUse, ...]:
        """What the systems' free answers took: means over those that were used, in the order of the systems."""
        return tuple(self.log.use(name) for name in self.paired.systems)

    def counts(self) -> tuple[AlignmentCount, ...]:
        """How lengths were brought together: per pair overall (level None), then per level. Over question-trials; where answers stay
        (rejudge), each pair of answers counts once, however many trials judge it."""
        return tuple(count for a, b in self.paired.pairs for count in self.log.counts(a, b))

    @property
    def live(self) -> list[LiveSource]:
        """The sources that are asked, second runs too."""
        return [source for source in self.sources.values() if isinstance(source, LiveSource) and source.live]

    @property
    def stopped(self) -> str | None:
        """Why a system is not asked any more; None while all are."""
        return next((tally.stopped for tally in self._tallies.values() if tally.stopped), None)

    @property
    def exit_code(self) -> int:
        """0, or 3 if a system is not asked any more."""
        return INCOMPLETE if self.stopped is not None else 0

    @property
    def notes(self) -> list[str]:
        """What a reader of the report should know of the answers' side."""
        notes = [*self.paired.notes, *likeness(self.paired.pairs, self.log.seen, self.log.text)]
        if self.settings.rule.on:
            deaf = [name for name in self.paired.systems if not self.sources[name].adjusts]
            how = "words are added by a model at once" if self.forcer is not None and self.settings.rule.force else "no words are added"
            if deaf:
                notes.append(f"cannot be asked for a length: {', '.join(deaf)}: where they are the shorter ones, {how}")
        notes += [
            f"{name}: answers were asked for a length before: where a comparison aligns them, it does so a second time"
            for name in sorted(self._aligned_before)
        ]
        notes += [
            f"{name}: {count:,} answers came from {self.store.path}, where an earlier run left them"
            for name, count in sorted(self._reused.items()) if count
        ]
        notes += [f"{tally.stopped}: {name} is not asked any more" for name, tally in self._tallies.items() if tally.stopped]
        notes += list(self._unvaried())
        if self.trial_kind == "rejudge":
            counts = {name: self.sources[name].trials() or 0 for name in self.paired.systems}
            notes += [
                f"{name}: {count} answers to a question: trials go round through them"
                for name, count in counts.items() if 1 < count < self.settings.trials
            ]
        return notes

    def _unvaried(self) -> Iterator[str]:
        """That a system answers the same each time: its trials then show nothing of how its answers vary."""
        for name in self.paired.systems:
            same, several = self.log.repeated(name)
            if several >= LEAST and same >= UNVARIED * several:
                yield (
                    f"{name}: the same answer in all trials, word for word, to {same:,} of {several:,} questions: the trials show next to "
                    "nothing of how its answers vary"
                )

    def close(self) -> None:
        """Deletes the temporary tables. May be called twice. The journal is for the caller to close."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _asked_once(self, source: AnswerSource, question: Question, key: str, ask: Callable[[], Answer]) -> Answer:
        """The answer of a key, asked once by whoever comes first."""
        with self.store.only(key):
            earlier_answer = self.store.get(key, take=True)
            if earlier_answer is not None:
                answer, earlier = earlier_answer
                with self._lock:
                    self._reused[source.name] += earlier
                return answer.model_copy(update={"question_id": question.id, "system": source.name})
            tally = self._tallies[source.name]
            if tally.stopped is not None:
                cause = tally.stopped.partition(":")[0]
                return Answer(question_id=question.id, system=source.name, answer="", error=f"{cause}: {NOT_ASKED}")
            answer = ask()
            # "not asked any more" is no answer: a run that is started again must ask
            if not stopped(answer.error):
                self.store.keep(key, answer)
            with self._lock:
                tally.add(answer)
            return answer


def likeness(pairs: Sequence[tuple[str, str]], seen: Seen, text: Callable[[str], str | None]) -> Iterator[str]:
    """Notes on the first LOOKED_AT questions of each pair. `text`: mark -> the answer as it was judged."""
    @lru_cache(4 * LOOKED_AT)
    def written(mark: str) -> TextLanguage:
        return detect_language(text(mark) or "")

    same, mixed = [], []
    for a, b in pairs:
        marks = list(seen(a, b, LOOKED_AT))
        equal = sum(mark_a == mark_b for mark_a, mark_b in marks)
        if marks and equal >= SAME * len(marks):
            same.append(f"{a} and {b} ({equal} of {len(marks)})")
        unlike = [(mark_a, mark_b) for mark_a, mark_b in marks if mark_a != mark_b and written(mark_a).unlike(written(mark_b))]
        if unlike:
            names = " and ".join(written(mark).name for mark in unlike[0])
            mixed.append(f"{a} and {b} ({names} in {len(unlike)} of {len(marks)} questions)")
    if same:
        yield f"the same answers, word for word: {first_of(same, NAMED, '; ', noun='pair')}: what a judge says of these is about itself"
    if mixed:
        yield (
            f"answers seem to be in different languages: {first_of(mixed, NAMED, '; ', noun='pair')}: a judge may favour one of them, "
            "and words are counted by the rules of each script"
        )


def _trial_kind(sources: list[AnswerSource], settings: AnsweringSettings) -> TrialKind:
    """The kind of trials. Raises: UsageError where systems shall answer again that cannot."""
    few = [source for source in sources if (answers := source.trials()) is not None and answers < settings.trials]
    if settings.kind == "regenerate" and few:
        named = ", ".join(f"{source.name} ({source.trials() or 0})" for source in few[:5])
        raise UsageError(
            f"--trial-kind regenerate: these have too few answers to a question for {settings.trials} trials: {named}",
            fix="give the systems themselves (--system), files with as many trials (kgeval answer --trials), or use rejudge",
        )
    if settings.kind is not None:
        return settings.kind
    return "regenerate" if not few and (settings.trials > 1 or all(source.live for source in sources)) else "rejudge"
