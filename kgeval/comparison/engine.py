"""A comparison as it runs: each procedure over each pair, question, trial, position and repeat, to verdicts on disk.

Nothing is decided here that depends on when a reply comes: work is handed out and kept in one order, so a run is the same for any number
of threads, and again after it was broken off (finished calls stand in the journal, they cost nothing).
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from kgeval.comparison.align.shape import AlignedPair
from kgeval.comparison.judge.procedures import Case, JudgeProcedure, JudgeReply
from kgeval.comparison.table import EQUAL, table_of
from kgeval.comparison.verdict_store import DISCARDED, Judged, Pairing, ProcedureRun, Segment, Verdicts
from kgeval.llm.asker import Asker
from kgeval.records import ComparisonVerdict, Question, Stopped, TrialKind, Winner

if TYPE_CHECKING:
    from kgeval.comparison.stopping import Stopping
    from kgeval.llm.session import Models

BATCH = 5  # questions between two looks of --stop-when-sure: a fixed number, so that threads change nothing
NOT_ASKED = "this was not asked any more"


class Answers(Protocol):
    """Where the two answers of a question come from (compare.answering.Answering)."""

    trial_kind: TrialKind

    def pair(self, question: Question, a: str, b: str, trial: int) -> AlignedPair:
        """The answers as they are judged in a trial, from 1."""


@dataclass(frozen=True)
class Sources:
    """The answers of a run: as the run aligns them, and free, for procedures that do without."""

    aligned: Answers
    free: Answers

    def of(self, one: ProcedureRun) -> Answers:
        """What a procedure judges."""
        return self.aligned if one.aligned else self.free


@dataclass(frozen=True)
class Sure:
    """`--stop-when-sure`: a fresh `Stopping` for each pair, and the seed of the order of questions."""

    fresh: Callable[[], Stopping]
    seed: int = 0


@dataclass
class Scale:
    """Which scores a judge gave under a procedure, and how many; and which calls they came from (8 bytes of each key)."""

    calls: int = 0
    values: set[float] = field(default_factory=set)
    keys: array[int] = field(default_factory=lambda: array("Q"))

    def take(self, verdicts: Iterable[ComparisonVerdict]) -> None:
        """Notes what these say."""
        last = None
        for one in verdicts:
            if one.score_a is not None and one.score_b is not None:
                self.calls += 1
                self.values |= {one.score_a, one.score_b}
            if one.call is not None and one.call != last:  # a verdict an aspect, one call
                self.keys.extend(int(hashlib.sha256(key.encode()).hexdigest()[:16], 16) for key in one.call.split("+"))
                last = one.call

    @property
    def judgements(self) -> int:
        """Replies that verdicts rest on, one that several rest on counted as often."""
        return len(self.keys)

    @property
    def requests(self) -> int:
        """The different requests among them."""
        import numpy as np

        return int(np.unique(np.frombuffer(self.keys, dtype=np.uint64)).size) if self.keys else 0

    @property
    def flat(self) -> float | None:
        """The one score that was given every time; null where there were several, or hardly any."""
        return next(iter(self.values)) if len(self.values) == 1 and self.calls > 1 else None


@dataclass(frozen=True)
class Run:
    """All that a comparison is made with. `models`: the judge's session."""

    models: Models
    asker: Asker
    sources: Sources
    verdicts: Verdicts
    pairings: Sequence[Pairing]
    rounds: Sequence[ProcedureRun]
    sure: Sure | None = None
    stopped: list[Stopped] = field(default_factory=list)
    scales: dict[str, Scale] = field(default_factory=dict)

    def carry_out(self) -> None:
        """Judges everything. Raises what ends a run; what was finished is in the journal, and in the growing verdict file."""
        for number, one in enumerate(self.rounds):
            for pairing in self.pairings:
                segment = self.verdicts.begin(one, pairing)
                if number == 0 and self.sure is not None:
                    self.stopped.append(self._until_sure(segment, self.sure))
                else:
                    self._judge(segment, range(len(pairing.questions)))

    @property
    def notes(self) -> list[str]:
        """What a reader of the results must know of the judge: that he gave the same score to everything."""
        return [
            f"the judge gave one and the same score ({scale.flat:g}) to every answer in all {scale.calls:,} judgements of {name}: "
            "he tells no answer from another, and nothing can be concluded from his ties"
            for name, scale in self.scales.items() if scale.flat is not None
        ]

    def _judge(self, segment: Segment, places: Sequence[int]) -> list[Judged]:
        """Judges questions of a pair, in this order, and keeps what was said."""
        one, pairing = segment.round, segment.pairing
        jobs = ((place, trial) for place in places for trial in range(1, one.trials + 1))
        scale = self.scales.setdefault(one.way.procedure, Scale())

        def work(job: tuple[int, int]) -> Judged:
            place, trial = job
            return self._one(one, pairing, place, trial)

        made = []
        for judged in self.models.map(work, jobs, total=len(places) * one.trials):
            self.verdicts.add(segment, judged)
            scale.take(judged.verdicts)
            if self.sure is not None:
                made.append(judged)
        return made

    def _one(self, one: ProcedureRun, pairing: Pairing, place: int, trial: int) -> Judged:
        question, source = pairing.questions[place], self.sources.of(one)
        about = ComparisonVerdict(
            question_id=question.id, dataset=question.dataset, level=question.level, system_a=pairing.a, system_b=pairing.b,
            procedure=one.way.procedure, trial=trial, aspect=one.way.names[0],
        )
        if self.models.stopped is not None and source.trial_kind == "regenerate":  # a system would be paid for what nobody judges
            return Judged(place, trial, "failed", _lost(about, one.way, f"{self.models.stopped.cause}: {NOT_ASKED}"))
        answers = source.pair(question, pairing.a, pairing.b, trial)
        about = about.model_copy(update={
            "length_a": answers.words_a, "length_b": answers.words_b, "aligned": answers.how in ("equal", "adjusted", "forced"),
        })
        if not answers.judged:
            return Judged(place, trial, answers.how, _lost(about, one.way, _why_not(answers)))
        found = [
            verdict for case in cases(one, question, (answers.a.answer, answers.b.answer), trial)
            for verdict in verdicts_of(one.way, case, one.way.judge(self.asker, case), about)
        ]
        return Judged(place, trial, answers.how, tuple(found))

    def _until_sure(self, segment: Segment, sure: Sure) -> Stopped:
        """Judges questions in seeded random order, until the decision falls or there are no more."""
        pairing, one, stopping = segment.pairing, segment.round, sure.fresh()
        order = list(range(len(pairing.questions)))
        random.Random(f"{sure.seed}\0{pairing.a}\0{pairing.b}").shuffle(order)  # noqa: S311
        judged, calls, decision = 0, 0, None
        for start in range(0, len(order), BATCH):
            part = order[start: start + BATCH]
            made = self._judge(segment, part)
            asked = sum(known.how not in (DISCARDED, "failed") for known in made)
            judged, calls = judged + len(part), calls + asked * one.cases * one.way.calls
            decision = stopping.add([_mean(one, pairing, made, place) for place in part])
            if decision is not None:
                break
        return Stopped(
            system_a=pairing.a, system_b=pairing.b, questions=judged, of_questions=len(order), calls=calls,
            of_calls=len(order) * one.trials * one.cases * one.way.calls, low=stopping.low, high=stopping.high,
            tie_region=stopping.tie_region, decision=decision or "open",
        )


def cases(one: ProcedureRun, question: Question, answers: tuple[str, str], trial: int) -> Iterator[Case]:
    """The cases of a question and trial, with the answers of A and B: position by position, repeat by repeat."""
    for a_first in (True, False)[: one.way.positions]:
        for repeat in range(1, one.repeats + 1):
            yield Case(
                question.question, *answers, trial, repeat, a_first,
                known=known_of(question) if one.way.informed else {}, wording=(trial - 1) % one.wordings, sampled=one.sampled,
            )


def known_of(question: Question) -> dict[str, list[str]]:
    """What a question says of its right answer: whole right answers, points that it makes, the texts that it stands in."""
    found = {
        "right_answers": list(question.right_answers), "points": list(question.points), "evidence": list(question.evidence_texts),
    }
    return {name: texts for name, texts in found.items() if texts}


def verdicts_of(way: JudgeProcedure, case: Case, said: JudgeReply, about: ComparisonVerdict) -> tuple[ComparisonVerdict, ...]:
    """One verdict an aspect of what was said of a case; `about`: what they have in common. Where the call failed, each says why."""
    shown_alone = way.procedure == "single"
    update = {
        "first": None if shown_alone else about.system_a if case.a_first else about.system_b, "repeat": case.repeat, "call": said.call,
    }
    if said.failure is not None:
        return _lost(about.model_copy(update=update), way, said.failure)
    made = []
    for name in way.names:
        (a, b), (reason_a, reason_b) = said.points[name], said.reasons[name]
        made.append(about.model_copy(update={
            **update, "aspect": name, "score_a": a, "score_b": b, "reason_a": reason_a, "reason_b": reason_b, "winner": _winner(a, b),
        }))
    return tuple(made)


def _winner(a: float, b: float) -> Winner:
    """Equal scores tie."""
    return "tie" if abs(a - b) <= EQUAL else "a" if a > b else "b"


def _lost(about: ComparisonVerdict, way: JudgeProcedure, why: str) -> tuple[ComparisonVerdict, ...]:
    return tuple(about.model_copy(update={"aspect": name, "failure": why}) for name in way.names)


def _why_not(answers: AlignedPair) -> str:
    if answers.how == DISCARDED:
        return f"{DISCARDED}: {answers.words_a} and {answers.words_b} words could not be brought together"
    return answers.failure or "failed: there is no answer"


def _mean(one: ProcedureRun, pairing: Pairing, made: Sequence[Judged], place: int) -> float | None:
    """A question's relative win rate over its trials; null where none has a result."""
    import numpy as np

    from kgeval.comparison.table import PairQuestion

    said = [verdict for judged in made if judged.place == place and judged.how != DISCARDED for verdict in judged.verdicts]
    wins = table_of(
        said, [PairQuestion(pairing.questions[place].id)], pair=(pairing.a, pairing.b), aspects=one.way.names, trials=one.trials,
        positions=one.way.positions, repeats=one.repeats, procedure=one.way.procedure,
    ).wins()
    known = wins[~np.isnan(wins)]
    return float(known.mean()) if known.size else None
