"""The procedures, each as one function: two answers to a question go in, points of A and B by aspect come out.

A procedure shows the judge a question and answers, never a system, a file or a number of a trial. Which of the two stands first is told
by the case, so that the engine can exchange them; results are in terms of A and B again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from kgeval.comparison.judge import replies
from kgeval.comparison.judge.grades import OVERALL, Aspect, biased_aspects
from kgeval.errors import UsageError
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.records import Procedure

MOST_REASON = 1000
REPEATS_A_TRIAL = 1000  # more than there can be: trial and repeat are one number in the journal's key
Known = Mapping[str, Sequence[str]]  # right_answers, points, evidence: what is known of the right answer
NOTHING = Failure("empty", "no reply came")


@dataclass(frozen=True)
class JudgeCase:
    """What is judged in one call (`differential`: in two): texts only. `trial`, `repeat`: from 1. `known`: what is known of the right
    answer, for a procedure that shows it. `wording`: of the aspects, from 0. `sampled`: the judge draws its replies, so that the same
    request in another trial or repeat is another draw; else it is the same call."""

    question: str
    a: str
    b: str
    trial: int = 1
    repeat: int = 1
    a_first: bool = True
    known: Known = field(default_factory=dict)
    wording: int = 0
    sampled: bool = True

    @property
    def number(self) -> int:
        """Stands for trial and repeat in the journal's key, whatever M and N are: more of them later ask for the new ones only."""
        return 0 if not self.sampled else (self.trial - 1) * REPEATS_A_TRIAL + self.repeat - 1

    @property
    def shown(self) -> tuple[str, str]:
        """The answers in the order in which they are shown."""
        return (self.a, self.b) if self.a_first else (self.b, self.a)


@dataclass(frozen=True)
class JudgeReply:
    """What came of a case: aspect -> (points of A, of B) and (reason for A, for B). `failure`: cause, colon, words; then there are none."""

    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reasons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    call: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class JudgeProcedure:
    """A procedure with its aspects. `positions`: orders that the answers are shown in (1: no order, or one only). `calls`: judge calls of
    one case at most. `aligned`: it wants answers of one length by default. `reply`: names of aspects -> what the judge must return.
    `informed`: its prompts show what is known of the right answer."""

    name: Procedure
    prompts: tuple[str, ...]
    ask: Callable[[Asker, JudgeProcedure, JudgeCase], JudgeReply]
    reply: Callable[[Sequence[str]], type[Reply]]
    aspects: tuple[Aspect, ...] = ()
    positions: int = 2
    calls: int = 1
    aligned: bool = True
    informed: bool = False

    @property
    def aspect_names(self) -> tuple[str, ...]:
        """The aspects of its verdicts, in order."""
        own = tuple(aspect.name for aspect in self.aspects)
        return (*own, OVERALL) if self.name == "biased" else own

    @property
    def graded(self) -> bool:
        """Whether it gives points by written grades."""
        return self.name in ("scores", "single")

    @property
    def wordings(self) -> int:
        """How many wordings all of its aspects have."""
        return min(1 + len(aspect.wordings) for aspect in self.aspects)

    def shown(self, wording: int = 0) -> JsonValue:
        """The aspects as its prompts show them, in one of their wordings from 0."""
        return [aspect.shown(wording, graded=self.graded) for aspect in self.aspects]

    def judge(self, asker: Asker, case: JudgeCase) -> JudgeReply:
        """What the judge says of a case; blocks. Raises what ends a run."""
        return self.ask(asker, self, case)


def judge_procedure(name: Procedure, aspects: tuple[Aspect, ...], *, informed: bool = False) -> JudgeProcedure:
    """The procedure with these aspects; `biased` has its own, and is shown nothing: it is what papers did. `informed`: the judge is shown
    what is known of the right answer. Raises: UsageError where grades are needed and lacking."""
    procedure = _PROCEDURES[name]
    if name == "biased":
        return replace(procedure, aspects=biased_aspects())
    if informed:  # the last prompt is the one that judges
        procedure = replace(procedure, prompts=(*procedure.prompts[:-1], f"{procedure.prompts[-1]}-known"), informed=True)
    if procedure.graded and (bare := [aspect.name for aspect in aspects if not aspect.grades]):
        raise UsageError(f"{name} needs written grades, and {', '.join(bare)} has none", fix="name other --aspects")
    return replace(procedure, aspects=aspects)


def _side_by_side(asker: Asker, procedure: JudgeProcedure, case: JudgeCase) -> JudgeReply:
    """Both answers in one call."""
    first, second = case.shown
    outcome = _call(asker, procedure, case, {**_shown_with(procedure, case), "first": first, "second": second})
    return _as_sides(outcome, case)


def _single(asker: Asker, procedure: JudgeProcedure, case: JudgeCase) -> JudgeReply:
    """Each answer alone. The request holds no other answer: all pairs of a system share the call while its answer stays as it is."""
    of_a, of_b = (_call(asker, procedure, case, {**_shown_with(procedure, case), "answer": text}) for text in (case.a, case.b))
    if of_a.value is None or of_b.value is None:
        return JudgeReply(failure=_failure(of_a if of_a.value is None else of_b))
    parts = {name: (getattr(of_a.value, name), getattr(of_b.value, name)) for name in procedure.aspect_names}
    return JudgeReply(
        {name: (float(a.score), float(b.score)) for name, (a, b) in parts.items()},
        {name: (_cut(a.reason), _cut(b.reason)) for name, (a, b) in parts.items()}, call="+".join((*of_a.calls, *of_b.calls)),
    )


def _differential(asker: Asker, procedure: JudgeProcedure, case: JudgeCase) -> JudgeReply:
    """Two steps: what each alone says, then which gains more by it. Where neither says anything of its own, it is a tie without asking."""
    first, second = case.shown
    content = _call(asker, procedure, case, {"question": case.question, "first": first, "second": second}, reply=replies.Content)
    if content.value is None:
        if asker.dry:  # the prompt of the second step is not known; at least: no call, where the answers say the same
            shown = tokens.count(first) + tokens.count(second)
            own = sum(tokens.count(str(value)) for value in _shown_with(procedure, case).values())
            asker.later(Later(
                stage=procedure.prompts[1], prompt=procedure.prompts[1], tokens=(own, own + 2 * shown), certain=False,
                key=digest(procedure.name, case.question, *case.shown, case.number, case.wording),
            ))
        return JudgeReply(failure=_failure(content))
    parts: replies.Content = content.value
    common, only_first, only_second = map(replies.statements, (parts.common, parts.only_first, parts.only_second))
    if not only_first and not only_second:
        nothing = "neither answer says anything that the other does not say"
        ties, reasons = dict.fromkeys(procedure.aspect_names, (0.5, 0.5)), dict.fromkeys(procedure.aspect_names, (nothing, nothing))
        return JudgeReply(ties, reasons, call="+".join(content.calls))
    slots: dict[str, JsonValue] = {
        **_shown_with(procedure, case), "common": list[JsonValue](common), "only_first": list[JsonValue](only_first),
        "only_second": list[JsonValue](only_second),
    }
    reply = _as_sides(_call(asker, procedure, case, slots, step=1), case)
    return reply if reply.failure else replace(reply, call="+".join((*content.calls, str(reply.call))))


def _call(
    asker: Asker, procedure: JudgeProcedure, case: JudgeCase, slots: Mapping[str, JsonValue], *, reply: type[Reply] | None = None,
    step: int = 0,
) -> Outcome[Any]:
    """One request. The prompt's name is also that of the stage in accounts and plans."""
    name = procedure.prompts[step]
    reply = reply or procedure.reply(procedure.aspect_names)
    return asker.ask(Task(id=procedure.name, prompt=asker.prompt(name), slots=slots, reply=reply, trial=case.number, stage=name))


def _shown_with(procedure: JudgeProcedure, case: JudgeCase) -> dict[str, JsonValue]:
    """What every prompt that judges is shown beside the answers."""
    known: dict[str, JsonValue] = {"known": {name: list(texts) for name, texts in case.known.items()}} if procedure.informed else {}
    return {"question": case.question, "aspects": procedure.shown(case.wording), **known}


def _as_sides(outcome: Outcome[Any], case: JudgeCase) -> JudgeReply:
    """A reply about the first and the second answer, as points of A and B."""
    if outcome.value is None:
        return JudgeReply(failure=_failure(outcome))
    step = 1 if case.a_first else -1
    parts = {name: getattr(outcome.value, name) for name in type(outcome.value).model_fields}
    points, reasons = {}, {}
    for name, part in parts.items():
        points[name] = part.points[::step]
        reason_a, reason_b = part.reasons[::step]
        reasons[name] = _cut(reason_a), _cut(reason_b)
    return JudgeReply(points, reasons, call="+".join(outcome.calls))


def _failure(outcome: Outcome[Any]) -> str:
    failure = outcome.failure or NOTHING
    return f"{failure.cause}: {failure.detail}" if failure.detail else failure.cause


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MOST_REASON else text[:MOST_REASON] + "\u2026"


_PROCEDURES = {procedure.name: procedure for procedure in (
    JudgeProcedure("scores", ("compare-scores",), _side_by_side, replies.graded_pairs),  # [Z 4.2]: both orders, points by written grades
    JudgeProcedure("single", ("compare-single",), _single, replies.graded, positions=1, calls=2),
    JudgeProcedure("pairwise-choice", ("compare-choice",), _side_by_side, replies.chosen),
    JudgeProcedure("differential", ("compare-content", "compare-unique"), _differential, replies.chosen, calls=2, aligned=False),
    JudgeProcedure("biased", ("compare-biased",), _side_by_side, replies.forced, positions=1, aligned=False),  # what [Z 2] criticises
)}
