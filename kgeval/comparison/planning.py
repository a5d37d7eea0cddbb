"""What a comparison would ask, before it asks: the judge's calls, counted by the same code that makes them. Nothing is sent.

Up to MOST calls each one is made up and looked for in the journal: then the count is exact, as far as the answers are known. Beyond that
the number is worked out, and requests are made up for a sample only: their tokens, and whether the journal has any of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kgeval.comparison.engine import cases
from kgeval.comparison.foresight import Foresight
from kgeval.comparison.judge.procedures import Case, JudgeProcedure, stage_of
from kgeval.comparison.verdict_store import Pairing, ProcedureRun
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Dry, Later, digest
from kgeval.llm.plan import PlannedStage
from kgeval.llm.session import Models
from kgeval.records import Question

MOST = 100_000
SAMPLE = 100
UNKNOWN_WORDS = 400  # a guess at the tokens of an answer that nobody has yet
WORKED_OUT = (
    f"more than {MOST:,} calls: their number is worked out and their tokens are those of a sample; "
    "calls that the journal answers, or that two pairs share, come off"
)


@dataclass(frozen=True)
class Planning:
    """What is planned. `aligned`, `free`: as in engine.Sources. `dry`: who counts the judge's calls."""

    models: Models
    dry: Dry
    aligned: Foresight
    free: Foresight
    pairings: Sequence[Pairing]
    rounds: Sequence[ProcedureRun]

    def of(self, one: ProcedureRun) -> Foresight:
        """Where a procedure's answers come from."""
        return self.aligned if one.aligned else self.free


def count(one: ProcedureRun, pairing: Pairing) -> int:
    """Judge calls of a pair under a procedure, at most and without sharing."""
    return len(pairing.questions) * one.trials * one.cases * one.way.calls


def plan(planning: Planning, *, most: int = MOST) -> tuple[tuple[PlannedStage, ...], list[str]]:
    """The stages of the judge beyond those that `planning.dry` has counted, and what is to be said about the count."""
    if not exact(planning, most=most):
        stages = [stage for one in planning.rounds for stage in _worked_out(planning, one)]
        return tuple(stages), [WORKED_OUT]
    for one in planning.rounds:
        for question, pairing, trial in _places(one, planning.pairings):
            _ask(planning.dry, one, planning.of(one), (question, pairing, trial))
    return (), []


def walk(planning: Planning, asker: Asker) -> None:
    """Goes through all calls of the judge whose answers are known, with an asker that needs no replies: for batches."""
    for one in planning.rounds:
        for place in _places(one, planning.pairings):
            _ask(asker, one, planning.of(one), place)


def exact(planning: Planning, *, most: int = MOST) -> bool:
    """Whether there are so few calls that each of them is made up."""
    return sum(count(one, pairing) for one in planning.rounds for pairing in planning.pairings) <= most


def _places(one: ProcedureRun, pairings: Sequence[Pairing]) -> Iterator[tuple[Question, Pairing, int]]:
    return (
        (question, pairing, trial) for pairing in pairings for question in pairing.questions for trial in range(1, one.trials + 1)
    )


def _ask(dry: Asker, one: ProcedureRun, source: Foresight, place: tuple[Question, Pairing, int]) -> bool:
    """Counts the calls of a question and trial; true where the answers are known."""
    question, pairing, trial = place
    answers = source.foresee(question, pairing.a, pairing.b, trial)
    if answers is None:
        unknown = question.model_copy(update={"question": f"{question.id}\0{question.question}"})  # for two may have one text
        for case in cases(one, unknown, ("", ""), trial):
            _later(dry, one.way, case, (pairing.a, pairing.b))
        return False
    if answers.judged:
        for case in cases(one, question, (answers.a.answer, answers.b.answer), trial):
            one.way.judge(dry, case)
    return True


def _later(dry: Asker, way: JudgeProcedure, case: Case, pair: tuple[str, str]) -> None:
    """Calls that may be made, or not: the answers may be discarded, or an answer may be an error."""
    own = tokens.count(case.question) + tokens.count(str(way.shown(case.wording))) + tokens.count(str(dict(case.known)))
    high = own + UNKNOWN_WORDS * (1 if way.procedure == "single" else 2)
    for step in range(way.calls):
        name = way.prompts[min(step, len(way.prompts) - 1)]
        dry.later(Later(
            stage=name, prompt=name, tokens=(own, high), certain=False,
            key=digest(way.procedure, case.question, pair, case.trial, case.repeat, case.a_first, step),
        ))


def _worked_out(planning: Planning, one: ProcedureRun) -> Iterator[PlannedStage]:
    """The stages of a procedure by arithmetic; tokens by a sample drawn over all pairs."""
    calls = _shared(planning, one)
    dry = Dry(planning.models)
    known = sum(_ask(dry, one, planning.of(one), place) for place in _sample(planning, one))
    found = {stage.stage: stage for stage in dry.stages()}
    for step, name in enumerate(one.way.prompts):
        seen = found.get(stage_of(one.way, step))
        asked = (seen.calls_high + seen.from_journal) if seen else 0
        mean = seen.input_tokens_high / seen.calls_high if seen and seen.calls_high else 0.0
        own = calls // len(one.way.prompts) if len(one.way.prompts) > 1 else calls
        sure = bool(asked) and known == SAMPLE and step == 0 and not (seen and seen.from_journal)
        prompt = planning.models.prompt(name)
        framed = tokens.count_messages(prompt.system, prompt.user)
        slots = max(0, round(mean) - framed)
        yield planning.models.bound(prompt, calls=(own if sure else 0, own), slot_tokens=(slots, slots), stage=name)


def _shared(planning: Planning, one: ProcedureRun) -> int:
    """Calls of a procedure over all pairs. `single`, where answers do not depend on the pair: one an answer, for all of its pairs."""
    if one.way.procedure != "single" or one.aligned:
        return sum(count(one, pairing) for pairing in planning.pairings)
    answers = {(name, question.id) for pairing in planning.pairings for name in (pairing.a, pairing.b) for question in pairing.questions}
    return len(answers) * one.trials * one.repeats


def _sample(planning: Planning, one: ProcedureRun) -> Iterator[tuple[Question, Pairing, int]]:
    draws = random.Random(0)  # noqa: S311
    pairings = [pairing for pairing in planning.pairings if pairing.questions]
    return islice((
        (draws.choice(pairing.questions), pairing, draws.randint(1, one.trials)) for pairing in iter(lambda: draws.choice(pairings), None)
    ), SAMPLE)
