"""Where a system's answers come from: a file, a system that can be asked, or a second run of one of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from kgeval.errors import UsageError
from kgeval.llm.answer_store import key_of
from kgeval.records import Answer, Question
from kgeval.systems.engine import adjusted, answered
from kgeval.systems.outside.file import FileSystem
from kgeval.systems.system import Ask

if TYPE_CHECKING:
    from kgeval.systems.system import System
    from kgeval.tables.sharing import Sharing

SECOND = " (second run)"
FAR = 1_000_000  # trial numbers of a second run begin after this one: none of them is a trial of the first


class AnswerSource(Protocol):
    """A system's answers, by number: 1, 2, ... `adjusts`: it can be asked for a length. `lasting`: what it answers need not be kept,
    because it stands in a file. `live`: it is asked, and may give another answer in each trial."""

    name: str
    signature: str
    adjusts: bool
    lasting: bool
    live: bool

    def number(self, question_id: str, trial: int) -> int:
        """Which of its answers a trial uses, from 1."""

    def trials(self) -> int | None:
        """How many independent answers it has to each question; None: as many as wanted."""

    def most(self) -> int:
        """How many answers it has to some question at most, where they are not made anew in each trial."""

    def free(self, question: Question, number: int) -> Answer:
        """The answer of a number, of its own length. One that failed has an error."""

    def again(self, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        """The same answer, asked for again with a length."""


@dataclass(frozen=True)
class LengthWish:
    """`target` words, as the system `other` has them; `attempt` from 1."""

    target: int
    attempt: int
    other: str | None = None


def free_key(source: AnswerSource, question: Question, number: int) -> str:
    """What a free answer is kept under."""
    return key_of("free", source.signature, question.id, question.question, number, *_sampled(source))


def again_key(source: AnswerSource, question: Question, number: int, previous: Answer, wish: LengthWish) -> str:
    """What an answer of a wanted length is kept under."""
    return key_of(
        "again", source.signature, question.id, question.question, number, wish.target, wish.attempt, previous.answer, *_sampled(source),
    )


def _sampled(source: AnswerSource) -> tuple[str, ...]:
    """What a key says of an answer that was sampled; of another one, and of systems whose answers do not depend on it, nothing."""
    return ("sampled",) if isinstance(source, LiveSource) and source.sampled and getattr(source.system, "samples", False) else ()


class LiveSource:
    """A Source that asks a system. `name`: what it is called here; `first`: the trial number before its first one; `sampled`: several
    answers to a question are wanted of it."""

    lasting = False
    sampled = False

    def __init__(self, system: System, *, name: str | None = None, first: int = 0) -> None:
        self.system, self.name, self._first = system, name or system.name, first
        self.signature, self.adjusts = system.signature, system.adjusts
        self.live = not isinstance(system, FileSystem)
        # a comparison's threads are those of the judge: a system may take fewer questions at a time
        self._room = threading.BoundedSemaphore(max(1, system.parallel))

    def number(self, question_id: str, trial: int) -> int:
        return self._first + trial

    def trials(self) -> int | None:
        return None if self.live else 1

    def most(self) -> int:
        return 1

    def ask(self, question: Question, number: int) -> Ask:
        """What the system is shown of a question for its answer `number`."""
        return Ask(question.id, question.question, trial=number, sampled=self.sampled)

    def free(self, question: Question, number: int) -> Answer:
        with self._room:
            return self._named(answered(self.system, self.ask(question, number)))

    def again(self, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        with self._room:
            ask = self.ask(question, number)
            return self._named(adjusted(
                self.system, ask, wish.target, previous=previous, attempt=wish.attempt, other=wish.other,
            ))

    def _named(self, answer: Answer) -> Answer:
        return answer.model_copy(update={"system": self.name})


@dataclass
class FiledSource:
    """A Source that looks answers up. `system`: its name in the rows. `hook`: a system that is asked where a length is wanted. `part`: of
    its answers to a question, the first half (0) or the second (1); None: all of them. Trials go round through what there is."""

    sharing: Sharing = field(repr=False)
    system: str
    name: str = ""
    hook: System | None = None
    part: int | None = None
    lasting: bool = True
    live: bool = False

    def __post_init__(self) -> None:
        self.name = self.name or self.system
        self.adjusts = self.hook is not None and self.hook.adjusts
        parts = [f"file:{self.sharing.digest(self.system)[:12]}", self.hook.signature if self.hook else "", self.part]
        self.signature = "|".join(str(part) for part in parts if part not in ("", None))
        self._range = self.sharing.range_of(self.system)
        self._asked = LiveSource(self.hook, name=self.name) if self.hook is not None else None

    def number(self, question_id: str, trial: int) -> int:
        if self._range[1] <= 1:
            return 1
        return (trial - 1) % max(1, self._share(self.sharing.n_answers(question_id, self.system))) + 1

    def trials(self) -> int | None:
        return self._share(self._range[0])

    def most(self) -> int:
        return max(1, self._share(self._range[1]))

    def free(self, question: Question, number: int) -> Answer:
        answers = self.sharing.answers(question.id, self.system)
        half = self._share(len(answers))
        own = answers[half : 2 * half] if self.part == 1 else answers[:half]
        if number > len(own):
            return Answer(question_id=question.id, system=self.name, answer="", error="no_answer: the file has none to this question")
        return own[number - 1].model_copy(update={"system": self.name})

    def again(self, question: Question, number: int, previous: Answer, wish: LengthWish) -> Answer:
        if self._asked is None:
            raise UsageError(f"{self.name}: a file cannot be asked for a length", fix="kgeval help alignment: give its system a hook")
        return self._asked.again(question, number, previous, wish)

    def _share(self, answers: int) -> int:
        """How many of so many answers are this one's."""
        return answers if self.part is None else answers // 2


@dataclass(frozen=True)
class SecondRun:
    """The A/A check of one system: a second, independent run of it, and what stands for the first one in that pair (None: the system's
    usual answers)."""

    name: str
    second: AnswerSource
    first: AnswerSource | None = None


def second_run(source: AnswerSource, other: AnswerSource | None = None) -> SecondRun:
    """A second run of a system: a system is asked with other trial numbers; a file gives the second half of its trials, against the
    first half; or `other`, the file of the second run, which keeps no name of its own.

    Raises: UsageError for a file with one answer to a question.
    """
    name = f"{source.name}{SECOND}"
    if other is not None:
        if isinstance(other, FiledSource):
            return SecondRun(name, replace(other, name=name))
        raise UsageError(f"--self-check {source.name}: two runs are two files", fix="name one system, or two files of answers")
    if isinstance(source, LiveSource) and source.live:
        return SecondRun(name, LiveSource(source.system, name=name, first=FAR))
    if isinstance(source, FiledSource) and (source.trials() or 0) >= 2:
        return SecondRun(name, replace(source, name=name, part=1), replace(source, part=0))
    raise UsageError(
        f"--self-check {source.name}: its file has one answer to a question, so there is no second run",
        fix="give a file of a second run, or answers in two trials (kgeval answer --trials 2), or the system itself",
    )


def filed(sharing: Sharing, systems: tuple[str, ...], hooks: Mapping[str, System] | None = None) -> dict[str, AnswerSource]:
    """A Source for each system of the files. `hooks`: name -> the system that is asked where a length is wanted."""
    return {name: FiledSource(sharing, name, hook=(hooks or {}).get(name)) for name in systems}
