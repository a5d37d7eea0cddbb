"""What a comparison would ask, before it asks: the judge's calls, counted by the same code that makes them. Nothing is sent.

Up to MOST calls each one is made up and looked for in the journal: then the count is exact, as far as the answers are known. Beyond that
the number is worked out, and requests are made up for a sample only: their tokens, and whether the journal has any of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgeval.comparison.answering_plan import KnownAnswers
from kgeval.comparison.engine import cases
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
    """What is planned. `aligned`, `free`: as in engine.ComparedAnswers. `dry`: who counts the judge's calls."""

    models: Models
    dry: Dry
    aligned: KnownAnswers
    free: KnownAnswers
    pairings: Sequence[Pairing]
    procedures: Sequence[ProcedureRun]

    def answers_of(self, run: ProcedureRun) -> KnownAnswers:
        """Where a procedure's answers come from."""
        return self.aligned if run.aligned else self.free


def count(run: ProcedureRun, pairing: Pairing) -> int:
    """Judge calls of a pair under a procedure, at most and without sharing."""
    return len(pairing.questions) * run.trials * run.cases * run.procedure.calls


def plan(planning: Planning, *, most: int = MOST) -> tuple[tuple[PlannedStage, ...], list[str]]:
    """The stages of the judge beyond those that `planning.dry` has counted, and what is to be said about the count."""
    if exact(planning, most=most):
        walk(planning, planning.dry)
        return (), []
    return tuple(stage for run in planning.procedures for stage in _worked_out(planning, run)), [WORKED_OUT]


def walk(planning: Planning, asker: Asker) -> None:
    """Goes through all calls of the judge, with an asker that needs no replies: for dry runs and batches."""
    for run in planning.procedures:
        for pairing in planning.pairings:
            for question in pairing.questions:
                for trial in range(1, run.trials + 1):
                    _ask(asker, run, planning.answers_of(run), (question, pairing, trial))


def exact(planning: Planning, *, most: int = MOST) -> bool:
    """Whether there are so few calls that each of them is made up."""
    return sum(count(run, pairing) for run in planning.procedures for pairing in planning.pairings) <= most


def _ask(asker: Asker, run: ProcedureRun, answers: KnownAnswers, place: tuple[Question, Pairing, int]) -> bool:
    """Counts the calls of a question and trial; true where the answers are known."""
    question, pairing, trial = place
    pair = answers.pair_if_known(question, pairing.a, pairing.b, trial)
    if pair is None:
        _count_perhaps(asker, run, place)
        return False
    if pair.judged:
        for case in cases(run, question, (pair.a.answer, pair.b.answer), trial):
            run.procedure.judge(asker, case)
    return True


def _count_perhaps(asker: Asker, run: ProcedureRun, place: tuple[Question, Pairing, int]) -> None:
    """Calls that may be made, or not: the answers may be discarded, or an answer may be an error."""
    (question, pairing, trial), procedure = place, run.procedure
    unknown = question.model_copy(update={"question": f"{question.id}\0{question.question}"})  # for two may have one text
    for case in cases(run, unknown, ("", ""), trial):
        own = tokens.count(case.question) + tokens.count(str(procedure.shown(case.wording))) + tokens.count(str(dict(case.known)))
        high = own + UNKNOWN_WORDS * (1 if procedure.name == "single" else 2)
        for step in range(procedure.calls):
            name = procedure.prompts[min(step, len(procedure.prompts) - 1)]
            asker.later(Later(
                stage=name, prompt=name, tokens=(own, high), certain=False,
                key=digest(procedure.name, case.question, (pairing.a, pairing.b), case.trial, case.repeat, case.a_first, step),
            ))


def _worked_out(planning: Planning, run: ProcedureRun) -> Iterator[PlannedStage]:
    """The stages of a procedure by arithmetic; tokens by a sample drawn over all pairs."""
    calls, prompts = _calls(planning, run), run.procedure.prompts
    dry = Dry(planning.models)
    known_places = sum(_ask(dry, run, planning.answers_of(run), place) for place in _sample(planning, run))
    stages = {stage.stage: stage for stage in dry.stages()}
    for step, name in enumerate(prompts):
        stage = stages.get(name)
        requests = (stage.calls_high + stage.from_journal) if stage else 0
        mean = stage.input_tokens_high / stage.calls_high if stage and stage.calls_high else 0.0
        own = calls // len(prompts) if len(prompts) > 1 else calls
        certain = bool(requests) and known_places == SAMPLE and step == 0 and not (stage and stage.from_journal)
        prompt = planning.models.prompt(name)
        slots = max(0, round(mean) - tokens.count_messages(prompt.system, prompt.user))
        yield planning.models.bound(prompt, calls=(own if certain else 0, own), slot_tokens=(slots, slots), stage=name)


def _calls(planning: Planning, run: ProcedureRun) -> int:
    """Calls of a procedure over all pairs. `single`, where answers do not depend on the pair: one an answer, for all of its pairs."""
    if run.procedure.name != "single" or run.aligned:
        return sum(count(run, pairing) for pairing in planning.pairings)
    answers = {(name, question.id) for pairing in planning.pairings for name in (pairing.a, pairing.b) for question in pairing.questions}
    return len(answers) * run.trials * run.repeats


def _sample(planning: Planning, run: ProcedureRun) -> Iterator[tuple[Question, Pairing, int]]:
    # the same sample in each dry run: its figures must not change between two looks
    draws = random.Random(0)  # noqa: S311
    pairings = [pairing for pairing in planning.pairings if pairing.questions]
    for _ in range(SAMPLE):
        pairing = draws.choice(pairings)
        yield draws.choice(pairing.questions), pairing, draws.randint(1, run.trials)
