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

from kgeval.comparison.align.rule import AlignedPair
from kgeval.comparison.judge.procedures import JudgeCase, JudgeProcedure, JudgeReply
from kgeval.comparison.table import PairQuestion
from kgeval.comparison.verdict_store import DISCARDED, JudgedTrial, Pairing, ProcedureRun, Segment, VerdictStore
from kgeval.llm.asker import Asker
from kgeval.records import ComparisonVerdict, Question, Stopped, TrialKind, Winner
from kgeval.rounding import is_equal

if TYPE_CHECKING:
    from kgeval.comparison.stopping import Stopping
    from kgeval.llm.session import Models

BATCH = 5  # observations between two looks of --stop-when-sure: a fixed number, so that threads change nothing
NOT_ASKED = "this was not asked any more"
UNASKED = "not judged"
NO_ANSWER_IS_RIGHT = frozenset({"out_of_context", "negative"})  # levels of questions that the texts do not answer


class Answers(Protocol):
    """Where the two answers of a question come from (answering.AlignedAnswers)."""

    trial_kind: TrialKind

    def pair(self, question: Question, a: str, b: str, trial: int) -> AlignedPair:
        """The answers as they are judged in a trial, from 1."""


@dataclass(frozen=True)
class ComparedAnswers:
    """The answers of a run: as the run aligns them, and free, for procedures that do without."""

    aligned: Answers
    free: Answers

    def of(self, run: ProcedureRun) -> Answers:
        """What a procedure judges."""
        return self.aligned if run.aligned else self.free


@dataclass(frozen=True)
class StopWhenSure:
    """`--stop-when-sure`: a fresh `Stopping` for each pair, and the seed of the order of questions."""

    fresh: Callable[[], Stopping]
    seed: int = 0


@dataclass
class ScoresGiven:
    """Which scores a judge gave under a procedure, and how many; and which calls they came from (8 bytes of each key)."""

    calls: int = 0
    values: set[float] = field(default_factory=set)
    # a run has up to a million calls: 8 bytes each are enough to tell them apart
    keys: array[int] = field(default_factory=lambda: array("Q"))

    def take(self, verdicts: Iterable[ComparisonVerdict]) -> None:
        """Notes what these say."""
        last = None
        for verdict in verdicts:
            if verdict.score_a is not None and verdict.score_b is not None:
                self.calls += 1
                self.values |= {verdict.score_a, verdict.score_b}
            if verdict.call is not None and verdict.call != last:  # a verdict an aspect, one call
                self.keys.extend(int(hashlib.sha256(key.encode()).hexdigest()[:16], 16) for key in verdict.call.split("+"))
                last = verdict.call

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
        """The one score that was given every time; None where there were several, or hardly any."""
        return next(iter(self.values)) if len(self.values) == 1 and self.calls > 1 else None


@dataclass(frozen=True)
class JudgeRun:
    """All that a comparison is made with. `models`: the judge's session. `procedures`: the main one first."""

    models: Models
    asker: Asker
    answers: ComparedAnswers
    verdicts: VerdictStore
    pairings: Sequence[Pairing]
    procedures: Sequence[ProcedureRun]
    sure: StopWhenSure | None = None
    stopped: list[Stopped] = field(default_factory=list)
    scores: dict[str, ScoresGiven] = field(default_factory=dict)

    def carry_out(self) -> None:
        """Judges everything. Raises what ends a run; what was finished is in the journal, and in the growing verdict file."""
        for number, run in enumerate(self.procedures):
            for pairing in self.pairings:
                segment = self.verdicts.begin(run, pairing)
                if number == 0 and self.sure is not None:
                    self.stopped.append(self._until_sure(segment, self.sure))
                else:
                    self._judge(segment, range(len(pairing.questions)))

    @property
    def notes(self) -> list[str]:
        """What a reader of the results must know of the judge: that it gave the same score to everything."""
        return [
            f"the judge gave one and the same score ({scores.flat:g}) to every answer in all {scores.calls:,} judgements of {name}: "
            "it tells no answer from another, and nothing can be concluded from its ties"
            for name, scores in self.scores.items() if scores.flat is not None
        ]

    def _judge(self, segment: Segment, places: Sequence[int]) -> list[JudgedTrial]:
        """Judges questions of a pair, in this order, and keeps the verdicts; they are returned where a stop depends on them."""
        run = segment.run
        jobs = ((place, trial) for place in places for trial in range(1, run.trials + 1))
        scores = self.scores.setdefault(run.procedure.name, ScoresGiven())
        trials = []
        for judged in self.models.map(lambda job: self._trial(segment, *job), jobs, total=len(places) * run.trials):
            self.verdicts.add(segment, judged)
            scores.take(judged.verdicts)
            if self.sure is not None:
                trials.append(judged)
        return trials

    def _trial(self, segment: Segment, place: int, trial: int) -> JudgedTrial:
        """One question of a pair in one trial: its answers, then every case of them."""
        run, pairing = segment.run, segment.pairing
        procedure, question, source = run.procedure, pairing.questions[place], self.answers.of(run)
        about = ComparisonVerdict(
            question_id=question.id, dataset=question.dataset, level=question.level, document=question.document,
            system_a=pairing.a, system_b=pairing.b, procedure=procedure.name, trial=trial, aspect=procedure.aspect_names[0],
        )
        if self.models.stopped is not None and source.trial_kind == "regenerate":  # a system would be paid for what nobody judges
            return JudgedTrial(place, trial, "failed", _failed(about, procedure, f"{self.models.stopped.cause}: {NOT_ASKED}"))
        answers = source.pair(question, pairing.a, pairing.b, trial)
        about = about.model_copy(update={
            "length_a": answers.words_a, "length_b": answers.words_b, "aligned": answers.how in ("equal", "adjusted", "forced"),
            "unanswered": answers.unanswered,
        })
        if not answers.judged:
            why = answers.failure or "failed: there is no answer"
            if answers.how == "silent":
                return JudgedTrial(place, trial, "silent", _silent(about, procedure))
            if answers.how == DISCARDED:
                why = f"{DISCARDED}: {answers.words_a} and {answers.words_b} words could not be brought together"
            return JudgedTrial(place, trial, answers.how, _failed(about, procedure, why))
        verdicts = [
            verdict for case in cases(run, question, (answers.a.answer, answers.b.answer), trial)
            for verdict in verdicts_of(procedure, case, procedure.judge(self.asker, case), about)
        ]
        return JudgedTrial(place, trial, answers.how, tuple(verdicts))

    def _until_sure(self, segment: Segment, sure: StopWhenSure) -> Stopped:
        """Judges questions in seeded random order, until the decision falls or there are no more.

        The confidence sequence runs over questions, not over trials: more trials of the same questions would only cover the judge's noise.
        Questions that were drawn together come together, and their mean is one observation.
        """
        pairing, run, stopping = segment.pairing, segment.run, sure.fresh()
        order = _drawn_together(pairing.questions)
        # the names are in the seed: pairs go through the questions in orders of their own
        random.Random(f"{sure.seed}\0{pairing.a}\0{pairing.b}").shuffle(order)  # noqa: S311
        calls_a_trial = run.cases * run.procedure.calls
        questions, calls, decision = 0, 0, None
        for start in range(0, len(order), BATCH):
            batch = order[start: start + BATCH]
            trials = self._judge(segment, [place for together in batch for place in together])
            questions += sum(map(len, batch))
            calls += calls_a_trial * sum(judged.how not in (DISCARDED, "silent", "failed") for judged in trials)
            decision = stopping.add([_mean_of(_mean(segment, trials, place) for place in together) for together in batch])
            if decision is not None:
                break
        return Stopped(
            system_a=pairing.a, system_b=pairing.b, questions=questions, of_questions=len(pairing.questions), calls=calls,
            of_calls=len(pairing.questions) * run.trials * calls_a_trial, low=stopping.low, high=stopping.high,
            tie_region=stopping.tie_region, decision=decision or "open",
        )


def cases(run: ProcedureRun, question: Question, answers: tuple[str, str], trial: int) -> Iterator[JudgeCase]:
    """The cases of a question and trial, with the answers of A and B: position by position, repeat by repeat."""
    known = known_of(question) if run.procedure.informed else {}
    for a_first in (True, False)[: run.procedure.positions]:
        for repeat in range(1, run.repeats + 1):
            yield JudgeCase(
                question.question, *answers, trial, repeat, a_first, known=known, wording=(trial - 1) % run.wordings, sampled=run.sampled,
            )


def known_of(question: Question) -> dict[str, list[str]]:
    """What a question says of its right answer: whole right answers, points that it makes, the texts that it stands in."""
    known = {
        "right_answers": list(question.right_answers), "points": list(question.points), "evidence": list(question.evidence_texts),
    }
    return {name: texts for name, texts in known.items() if texts}


def verdicts_of(
    procedure: JudgeProcedure, case: JudgeCase, reply: JudgeReply, about: ComparisonVerdict,
) -> tuple[ComparisonVerdict, ...]:
    """One verdict an aspect of a reply; `about`: what they have in common. Where the call failed, each says why."""
    shown_alone = procedure.name == "single"
    about = about.model_copy(update={
        "first": None if shown_alone else about.system_a if case.a_first else about.system_b, "repeat": case.repeat, "call": reply.call,
    })
    if reply.failure is not None:
        return _failed(about, procedure, reply.failure)
    verdicts = []
    for name in procedure.aspect_names:
        (a, b), (reason_a, reason_b) = reply.points[name], reply.reasons[name]
        winner: Winner = "tie" if is_equal(a, b) else "a" if a > b else "b"
        verdicts.append(about.model_copy(update={
            "aspect": name, "score_a": a, "score_b": b, "reason_a": reason_a, "reason_b": reason_b, "winner": winner,
        }))
    return tuple(verdicts)


def _failed(about: ComparisonVerdict, procedure: JudgeProcedure, why: str) -> tuple[ComparisonVerdict, ...]:
    return tuple(about.model_copy(update={"aspect": name, "failure": why}) for name in procedure.aspect_names)


def _silent(about: ComparisonVerdict, procedure: JudgeProcedure) -> tuple[ComparisonVerdict, ...]:
    """Without an answer a system has lost in every aspect, unless nothing is the right answer: then nobody knows."""
    if about.level in NO_ANSWER_IS_RIGHT:
        return _failed(about, procedure, f"{UNASKED}: a question that has no answer was left without one")
    won: Winner = "tie" if about.unanswered == "both" else "b" if about.unanswered == "a" else "a"
    return tuple(about.model_copy(update={"aspect": name, "winner": won}) for name in procedure.aspect_names)


def _drawn_together(questions: Sequence[Question]) -> list[list[int]]:
    """Places of the questions, those of one document together."""
    from kgeval.stats.grouped import group_numbers

    together: dict[int, list[int]] = {}
    for place, number in enumerate(group_numbers(question.document for question in questions).tolist()):
        together.setdefault(number, []).append(place)
    return list(together.values())


def _mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of those that are known; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _mean(segment: Segment, trials: Sequence[JudgedTrial], place: int) -> float | None:
    """A question's relative win rate over its trials; None where none has a result."""
    import numpy as np

    verdicts = [verdict for judged in trials if judged.place == place and judged.how != DISCARDED for verdict in judged.verdicts]
    wins = segment.run.table(verdicts, [PairQuestion(segment.pairing.questions[place].id)], segment.pairing).wins()
    scored = wins[~np.isnan(wins)]
    return float(scored.mean()) if scored.size else None
