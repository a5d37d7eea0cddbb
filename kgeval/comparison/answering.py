"""The answers' side of a comparison: for a question, a pair of systems and a trial, the two answers as they are judged."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from kgeval.comparison.align.force import Forcer, Wish
from kgeval.comparison.align.meaning import PROMPTS
from kgeval.comparison.align.rule import align_pair, bring, failure_of, join_sides
from kgeval.comparison.align.shape import AlignedPair, AlignmentRule
from kgeval.comparison.alignment_log import AlignmentLog, PairPlace
from kgeval.comparison.sources import SECOND, Length, SecondRun, Source, again_key, free_key
from kgeval.errors import UsageError
from kgeval.files.partial import stopped
from kgeval.llm.answer_store import AnswerStore, key_of
from kgeval.records import Aligned, AlignmentCount, Answer, Question, SystemUse, TrialKind
from kgeval.systems.engine import NOT_ASKED, Tally
from kgeval.text.language import Written, written_in
from kgeval.text.length import count_words

if TYPE_CHECKING:
    from kgeval.comparison.answering_plan import Planned
    from kgeval.comparison.pairs import Paired
    from kgeval.llm.asker import Asker

# What must be said of two systems' answers before a judge is believed about them: they are the same texts, or of
# different languages.

LOOKED_AT = 50  # questions of a pair
NAMED = 3  # pairs in one note
SAME = 0.5  # share of equal answers from which on it is said
Seen = Callable[[str, str, int], Iterable[tuple[str, str]]]  # (a, b, at most) -> the marks of both answers, a question each


def likeness(pairs: Sequence[tuple[str, str]], seen: Seen, text: Callable[[str], str | None]) -> Iterator[str]:
    """Notes on the first LOOKED_AT questions of each pair. `text`: mark -> the answer as it was judged."""
    @lru_cache(4 * LOOKED_AT)
    def written(mark: str) -> Written:
        return written_in(text(mark) or "")

    same, mixed = [], []
    for a, b in pairs:
        marks = list(seen(a, b, LOOKED_AT))
        equal = sum(one == other for one, other in marks)
        if marks and equal >= SAME * len(marks):
            same.append(f"{a} and {b} ({equal} of {len(marks)})")
        unlike = [(one, other) for one, other in marks if one != other and written(one).unlike(written(other))]
        if unlike:
            names = " and ".join(written(mark).name for mark in unlike[0])
            mixed.append(f"{a} and {b} ({names} in {len(unlike)} of {len(marks)} questions)")
    if same:
        yield f"the same answers, word for word: {_named(same)}: what a judge says of these is about himself"
    if mixed:
        yield (
            f"answers seem to be in different languages: {_named(mixed)}: a judge may favour one of them, and words are counted by the "
            "rules of each script"
        )


def _named(items: Sequence[str]) -> str:
    more = f" and {len(items) - NAMED} pairs more" if len(items) > NAMED else ""
    return "; ".join(items[:NAMED]) + more


__all__ = ["SECOND", "Answering", "AnsweringSettings"]
INCOMPLETE = 3
TARGETS = 10_000  # longest answers that are remembered: a number each


class Mapped(Protocol):
    """How work is spread over threads: Models.map, or the built-in map."""

    def __call__(self, work: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]: ...


@dataclass(frozen=True)
class AnsweringSettings:
    """`trials`: M. `kind` null: regenerate where every system can answer again in each trial (it is asked, or its file has M answers),
    else rejudge. `meaning_sample`: aligned answers a pair whose meaning is checked, 0: none. `max_error_rate`: a system of whose answers
    more fail is not asked any more. `models`: what the signature says of the models that align and judge."""

    rule: AlignmentRule = field(default_factory=AlignmentRule)
    trials: int = 1
    kind: TrialKind | None = None
    meaning_sample: int = 30
    max_error_rate: float = 0.1
    seed: int = 0
    models: str = ""


class Answering:
    """Gives AlignedPairs. Thread-safe: each (system, question, trial) is answered once, however many pairs need it. A context manager.

    `trial_kind`: `regenerate`: systems answer again in each trial, and are aligned again; `rejudge`: answers stay, a file with several
    answers to a question gives its answer t to trial t. `sources`: name -> where its answers come from; second runs are added to them.
    `forcer` null: no words are added. `signature`: of all that the aligned answers depend on.
    """

    def __init__(
        self, paired: Paired, sources: Mapping[str, Source], settings: AnsweringSettings, *, store: AnswerStore,
        forcer: Forcer | None = None, judge: Asker | None = None, second_runs: Iterable[SecondRun] = (),
    ) -> None:
        runs = tuple(second_runs)
        self.paired, self.settings, self.store, self.forcer, self.judge = paired, settings, store, forcer, judge
        self.sources: dict[str, Source] = {**sources, **{run.name: run.second for run in runs}}
        self._firsts = {run.name: run.first for run in runs if run.first is not None}
        self.trial_kind = _kind([self.sources[name] for name in paired.systems], settings)
        self.signature = key_of(
            {name: self.sources[name].signature for name in paired.systems}, asdict(settings.rule), self.trial_kind,
            paired.sharing.digest(), settings.models, settings.seed, forcer.signature if forcer is not None else "",
            [judge.prompt(name).hash for name in PROMPTS] if judge is not None and settings.meaning_sample else [],
        )
        self.log = AlignmentLog(settings)
        self._lock = threading.Lock()
        self._tallies = {name: Tally(settings.max_error_rate) for name in self.sources}
        self._targets: OrderedDict[tuple[str, int], tuple[int, str | None]] = OrderedDict()
        self._reused: dict[str, int] = {}
        self._aligned_before: set[str] = set()

    def pair(self, question: Question, a: str, b: str, trial: int) -> AlignedPair:
        """The two answers as they are judged in a trial (from 1). Blocks; a failure of one question is an AlignedPair that says so.

        Raises: what ends a run (ModelError, IncompleteError ...).
        """
        sides = self.sides(a, b)
        numbers = self.number(sides[0], question.id, trial), self.number(sides[1], question.id, trial)
        free = self.free(sides[0], question, numbers[0]), self.free(sides[1], question, numbers[1])
        made = self._to_longest(question, sides, numbers, free, trial) if self.settings.rule.to_longest and self.settings.rule.on else (
            align_pair(*free, self.settings.rule, (
                _Hands(self, sides[0], question, numbers[0], b), _Hands(self, sides[1], question, numbers[1], a),
            ))
        )
        self.log.note(PairPlace(a, b, question.id, f"{numbers[0]}:{numbers[1]}", trial, question.level), made, free)
        return made

    def sides(self, a: str, b: str) -> tuple[Source, Source]:
        """The two sources of a pair: against its second run, a file's system stands with the first half of its answers."""
        return self._firsts.get(b, self.sources[a]), self.sources[b]

    def number(self, source: Source, question_id: str, trial: int) -> int:
        """Which of a source's answers a trial uses."""
        return source.number(question_id, 1 if source.live and self.trial_kind == "rejudge" else trial)

    def free(self, source: Source, question: Question, number: int) -> Answer:
        """A system's answer of its own length: from its file, from the store, or asked."""
        if source.lasting:
            answer = source.free(question, number)
        else:
            key = free_key(source, question, number)
            answer = self._kept(source, question, key, lambda: source.free(question, number))
        if answer.error is None:
            self.log.used(source.name, question.id, number, answer)
            if answer.aligned_to is not None:
                self._aligned_before.add(source.name)
        return answer

    def again(self, source: Source, question: Question, number: int, previous: Answer, wish: Length) -> Answer:
        """A system's answer asked for again with a length: from the store, or asked."""
        key = again_key(source, question, number, previous, wish)
        answer = self._kept(source, question, key, lambda: source.again(question, number, previous, wish))
        return answer.model_copy(update={
            "aligned_to": Aligned(system=wish.other, target_words=wish.target, attempt=wish.attempt), "trial": number,
        })

    def target(self, question: Question, trial: int) -> tuple[int, str | None]:
        """Words of the longest free answer to a question in a trial, and whose it is."""
        with self._lock:
            known = self._targets.get((question.id, trial))
        if known is None:
            known = (0, None)
            for name in self.paired.systems_of(question.id):
                source = self.sources[name]
                answer = self.free(source, question, self.number(source, question.id, trial))
                if answer.error is None and (words := count_words(answer.answer)) > known[0]:
                    known = words, name
            with self._lock:
                self._targets[question.id, trial] = known
                while len(self._targets) > TARGETS:
                    self._targets.popitem(last=False)
        return known

    def texts(self, system_a: str, system_b: str, question_id: str, trial: int) -> tuple[str, str] | None:
        """The two answers as they were judged, from the store; null where unknown. For results.found.Texts."""
        turned = (system_a, system_b) not in self.paired.pairs and (system_b, system_a) in self.paired.pairs
        a, b = (system_b, system_a) if turned else (system_a, system_b)
        if a not in self.sources or b not in self.sources:
            return None
        left, right = self.sides(a, b)
        numbers = f"{self.number(left, question_id, trial)}:{self.number(right, question_id, trial)}"
        found = self.log.texts(a, b, question_id, numbers)
        return found if found is None or not turned else (found[1], found[0])

    def check_meaning(self, spread: Mapped = map) -> None:
        """Asks the judge, for a sample of aligned answers of each pair, which claims of the free answer are still made; `counts` then has
        the shares. Call it when all pairs are there. `spread`: over threads (Models.map). Raises: what ends the session."""
        judge = self.judge
        if judge is None or not self.settings.meaning_sample:
            return
        jobs = (job for a, b in self.paired.pairs for job in self.log.to_check(a, b))
        for _ in spread(lambda job: self.log.check(job, self.paired.question(job.question), judge), jobs):
            pass

    def uses(self) -> tuple[SystemUse, ...]:
        """What the systems' free answers took: means over those that were used, in the order of the systems."""
        return tuple(self.log.use(name) for name in self.paired.systems)

    def counts(self) -> tuple[AlignmentCount, ...]:
        """How lengths were brought together: per pair overall (level null), then per level. Over question-trials; where answers stay
        (rejudge), each pair of answers counts once, however many trials judge it."""
        return tuple(count for a, b in self.paired.pairs for count in self.log.counts(a, b))

    @property
    def stopped(self) -> str | None:
        """Why a system is not asked any more; null while all are."""
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
        notes += [f"{name}: answers were asked for a length before: {SECOND_HAND}" for name in sorted(self._aligned_before)]
        notes += [f"{name}: {count:,} answers came from {self.store.path}, where an earlier run left them" for name, count in
                  sorted(self._reused.items())]
        notes += [f"{tally.stopped}: {name} is not asked any more" for name, tally in self._tallies.items() if tally.stopped]
        if self.trial_kind == "rejudge":
            there = {name: self.sources[name].trials() or 0 for name in self.paired.systems}
            few = {name: count for name, count in there.items() if 1 < count < self.settings.trials}
            notes += [f"{name}: {count} answers to a question: trials go round through them" for name, count in few.items()]
        return notes

    def plan(self) -> Planned:
        """A dry run: what answering, aligning and checking would take. Nothing is asked or sent, nothing is kept."""
        from kgeval.comparison.answering_plan import plan

        return plan(self)

    def close(self) -> None:
        """Deletes the temporary tables. May be called twice. The journal is for the caller to close."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _kept(self, source: Source, question: Question, key: str, ask: Callable[[], Answer]) -> Answer:
        """The answer of a key, asked once by whoever comes first."""
        with self.store.only(key):
            found = self.store.get(key, take=True)
            if found is not None:
                answer, earlier = found
                with self._lock:
                    self._reused[source.name] = self._reused.get(source.name, 0) + earlier
                    if not self._reused[source.name]:
                        del self._reused[source.name]
                return answer.model_copy(update={"question_id": question.id, "system": source.name})
            tally = self._tallies[source.name]
            if tally.stopped is not None:
                cause = tally.stopped.partition(":")[0]
                return Answer(question_id=question.id, system=source.name, answer="", error=f"{cause}: {NOT_ASKED}")
            answer = ask()
            if not stopped(answer.error):
                self.store.keep(key, answer)
            with self._lock:
                tally.add(answer)
            return answer

    def _to_longest(
        self, question: Question, sides: tuple[Source, Source], numbers: tuple[int, int], free: tuple[Answer, Answer], trial: int,
    ) -> AlignedPair:
        """Both answers brought to the longest one of all systems, to half the tolerance: any two of them then differ by it at most."""
        rule = self.settings.rule
        if (failure := failure_of(*free)) is not None:
            long, other = (count_words(answer.answer) for answer in free)
            return AlignedPair(free[0], free[1], long, other, "failed", gap_before=abs(long - other), failure=failure)
        words_wanted, whose = self.target(question, trial)
        a, b = (
            bring(answer, words_wanted, rule.tolerance // 2, rule, _Hands(self, source, question, number, whose))
            for source, number, answer in zip(sides, numbers, free, strict=True)
        )
        return join_sides(a, b, free, rule)


SECOND_HAND = "where a comparison aligns them, it does so a second time"


class _Hands:
    """Changes the length of one system's answer to one question: by asking it, or a model."""

    def __init__(self, answering: Answering, source: Source, question: Question, number: int, other: str | None) -> None:
        self._answering, self._source, self._question, self._number, self._other = answering, source, question, number, other
        self.adjusts, self.forces = source.adjusts, answering.forcer is not None

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        """As align.rule.Hands."""
        return self._answering.again(self._source, self._question, self._number, previous, Length(target, attempt, self._other))

    def forced(self, nearest: Answer, target: int, attempt: int) -> Answer:
        """As align.rule.Hands."""
        forcer = self._answering.forcer
        if forcer is None:
            raise UsageError("no model is there to add words", fix="name one, or leave forced alignment out")
        tries = self._answering.settings.rule.force_tries
        return forcer.rewritten(nearest, Wish(self._question, target, self._other, self._number, attempt, tries))


def _kind(sources: list[Source], settings: AnsweringSettings) -> TrialKind:
    """The kind of trials. Raises: UsageError where systems shall answer again that cannot."""
    few = [one for one in sources if (there := one.trials()) is not None and there < settings.trials]
    if settings.kind == "regenerate" and few:
        told = ", ".join(f"{one.name} ({one.trials() or 0})" for one in few[:5])
        raise UsageError(
            f"--trial-kind regenerate: these have too few answers to a question for {settings.trials} trials: {told}",
            fix="give the systems themselves (--system), files with as many trials (kgeval answer --trials), or use rejudge",
        )
    if settings.kind is not None:
        return settings.kind
    renewed = not few and (settings.trials > 1 or all(one.live for one in sources))
    return "regenerate" if renewed else "rejudge"
