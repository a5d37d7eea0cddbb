"""Questions -> answers: in the order of the questions, resumable, with trials and lengths. Memory stays flat: questions come lazily, go
through a window, and each answer is on disk as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from kgeval.errors import UsageError
from kgeval.llm.account import too_many
from kgeval.llm.answer_store import AnswerStore, key_of
from kgeval.llm.pool import Pool
from kgeval.records import Aligned, Answer, Question
from kgeval.systems.system import Ask, System
from kgeval.tables.answers import as_json, stopped
from kgeval.tables.spool import Spool

ERROR_RATE = "error_rate"
NOT_ASKED = "the run was stopped before this question"


@dataclass(frozen=True)
class Answering:
    """How a system is asked. `trials`: how often each question; `at_a_time`: questions in flight at most (the system may allow fewer);
    `target`: how many words an answer shall have (None: its own choice); `max_error_rate`: largest share of failed answers."""

    trials: int = 1
    at_a_time: int = 8
    target: Callable[[Question], int | None] | None = None
    max_error_rate: float = 0.1


class Tally:
    """How many answers came, and how many of them failed; why no more are asked for. Used by one thread."""

    def __init__(self, max_error_rate: float) -> None:
        self._rate = max_error_rate
        self.done = self.failed = 0
        self.stopped: str | None = None

    def add(self, answer: Answer) -> None:
        """One more answer."""
        if stopped(answer.error):
            self.stopped = self.stopped or answer.error
            return
        self.done += 1
        self.failed += answer.error is not None
        if self.stopped is None and too_many(self.failed, self.done, self._rate):
            what = f"{self.failed} of {self.done} answers failed, a share of {self._rate:g} is allowed (--max-error-rate)"
            self.stopped = f"{ERROR_RATE}: {what}"


class AnswerRows:
    """The answers of a run, in the order in which they were asked for: in a temporary file until they are written, so that memory stays
    flat, and in the journal, where the run finds them when it is started again. `store` None: they are not kept. Thread-safe."""

    def __init__(self, store: AnswerStore | None = None, *, run: str = "") -> None:
        self._store, self._run = store, run
        self._spool = Spool("answers", ordered=True)

    def __enter__(self) -> AnswerRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def __iter__(self) -> Iterator[Answer]:
        return (Answer.model_validate_json(line) for line in self._spool.lines())

    def answered(self, place: int, asked: Ask, system: System, make: Callable[[], Answer]) -> Answer | None:
        """Puts the answer to a place: the one that the journal has, and then returns None, or one that is made. What was not asked
        because the run was stopped is no answer that the journal keeps. Raises: IncompleteError where the disk is full."""
        new = True
        if self._store is None:
            answer = make()
        else:
            key = key_of(self._run, system.name, asked.question_id, asked.trial)
            # two commands with the same run ask a question once: the second waits and finds the answer
            with self._store.only(key):
                if (earlier := self._store.get(key)) is not None:
                    answer, new = earlier[0], False
                else:
                    answer = make()
                    # else a run that is started again would take "was stopped" for the answer
                    if not stopped(answer.error):
                        self._store.keep(key, answer)
        line = as_json(answer).encode() + b"\n"
        with self._spool.lock:
            self._spool.add(line, place)
        return answer if new else None


def asks(questions: Iterable[Question], how: Answering) -> Iterator[Ask]:
    """What a system is asked, in order: each question, as often as there are trials (1, 2, ...; None where there is one)."""
    for question in questions:
        words = how.target(question) if how.target is not None else None
        for trial in range(1, how.trials + 1):
            yield Ask(
                question.id, question.question, trial=trial if how.trials > 1 else None, target_words=words,
                attempt=1 if words is not None else None, sampled=how.trials > 1,
            )


def answers(
    questions: Iterable[Question], system: System, how: Answering, rows: AnswerRows, tally: Tally, *, first: int = 0,
) -> Iterator[Answer | None]:
    """Has the system answer all questions, in order; None stands for an answer that the journal has. They are put into `rows`, from place
    `first` on.

    Where too many fail, or a budget is reached, the rest is not asked: each has an error that says so, and a later run asks it.
    Raises: what ends a run (a wrong key, a process that never answers, a full disk); the journal has all answers before.
    """
    if how.target is not None:
        check_adjusts(system)

    def work(placed: tuple[int, Ask]) -> Answer | None:
        place, asked = placed

        def make() -> Answer:
            return _unasked(system, asked, tally.stopped) if tally.stopped is not None else answered(system, asked)

        return rows.answered(place, asked, system, make)

    pool = Pool(max(1, min(how.at_a_time, system.parallel)))
    try:
        for answer in pool.run(work, enumerate(asks(questions, how), first)):
            if answer is not None:
                tally.add(answer)
            yield answer
    finally:
        pool.close()  # waits a moment: a thread that is inside a native library when the interpreter ends aborts the process


def answered(system: System, ask: Ask) -> Answer:
    """The system's answer, under the names that this run has for question, trial and system, whatever it says of itself."""
    answer = system.answer(ask)
    aligned = Aligned(target_words=ask.target_words, attempt=ask.attempt) if ask.target_words is not None else None
    return answer.model_copy(update={
        "question_id": ask.question_id, "trial": ask.trial, "system": system.name, "variant": system.variant or answer.variant,
        "signature": answer.signature or system.signature, **({"aligned_to": aligned} if aligned is not None else {}),
    })


def adjusted(
    system: System, ask: Ask, target_words: int, *, previous: Answer | None = None, attempt: int = 1, other: str | None = None,
) -> Answer:
    """The answer to a question asked again, with the length that it shall have (generate-adjust [Z 4]); `aligned_to` records it.
    `previous`: the answer that did not have it; `attempt`: from 1; `other`: the system whose length it is. Like any answer, it may
    have failed, and whether it has the length is for the caller to see.

    Raises: UsageError where the system cannot be asked for a length.
    """
    check_adjusts(system)
    text = previous.answer if previous is not None else None
    again = answered(system, replace(ask, target_words=target_words, attempt=attempt, previous=text))
    return again.model_copy(update={"aligned_to": Aligned(system=other, target_words=target_words, attempt=attempt)})


def check_adjusts(system: System) -> None:
    """Raises: UsageError where the system cannot be asked for a length."""
    if not system.adjusts:
        raise UsageError(
            f"{system.name} cannot be asked for a length",
            fix='leave --target-words out; a command says "adjusts": true in its hello, a JSON endpoint takes {{target_words}}',
        )


def _unasked(system: System, ask: Ask, why: str) -> Answer:
    cause = why.partition(":")[0]
    return Answer(
        question_id=ask.question_id, system=system.name, variant=system.variant, answer="", trial=ask.trial, signature=system.signature,
        error=f"{cause}: {NOT_ASKED}",
    )
