"""The procedures, each as one function: two answers to a question go in, points of A and B by aspect come out.

A procedure shows the judge a question and answers, never a system, a file or a number of a trial. Which of the two stands first is told
by the case, so that the engine can exchange them; results are in terms of A and B again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import JsonValue

from kgeval.comparison.judge import replies
from kgeval.comparison.judge.grades import OVERALL, Aspect, biased_aspects
from kgeval.errors import UsageError
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.records import Procedure

T = TypeVar("T", bound=Reply)
MOST_REASON = 1000
REPEATS_A_TRIAL = 1000  # more than there can be: trial and repeat are one number in the journal's key
Known = Mapping[str, Sequence[str]]  # right_answers, points, evidence: what is known of the right answer
NOTHING = Failure("empty", "no reply came")
_CHOICE = {"first": (1.0, 0.0), "second": (0.0, 1.0), "tie": (0.5, 0.5)}


@dataclass(frozen=True)
class Case:
    """What is judged in one call (`differential`: in two): texts only. `trial`, `repeat`: from 1. `known`: what is known of the right
    answer, for a Way that shows it. `wording`: of the aspects, from 0. `sampled`: the judge draws its replies, so that the same request
    in another trial or repeat is another draw; else it is the same call."""

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
    """What a judge said: aspect -> (points of A, of B) and (reason for A, for B). `failure`: cause, colon, words; then there are none."""

    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reasons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    call: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class JudgeProcedure:
    """A procedure with its aspects. `positions`: orders that the answers are shown in (1: no order, or one only). `names`: the aspects of
    its verdicts. `calls`: judge calls of one case at most. `aligned`: it wants answers of one length by default. `informed`: its prompts
    show what is known of the right answer."""

    procedure: Procedure
    aspects: tuple[Aspect, ...]
    positions: int
    prompts: tuple[str, ...]
    calls: int
    aligned: bool
    ask: Callable[[Asker, JudgeProcedure, Case], JudgeReply]
    informed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The aspects of its verdicts, in order."""
        own = tuple(aspect.name for aspect in self.aspects)
        return (*own, OVERALL) if self.procedure == "biased" else own

    @property
    def graded(self) -> bool:
        """Whether it gives points by written grades."""
        return self.procedure in ("scores", "single")

    @property
    def wordings(self) -> int:
        """How many wordings all of its aspects have."""
        return min(1 + len(aspect.wordings) for aspect in self.aspects)

    def shown(self, wording: int = 0) -> JsonValue:
        """The aspects as its prompts show them, in one of their wordings from 0."""
        return [aspect.shown(wording, graded=self.graded) for aspect in self.aspects]

    def judge(self, asker: Asker, case: Case) -> JudgeReply:
        """What the judge says of a case; blocks. Raises what ends a run."""
        return self.ask(asker, self, case)


def way_of(procedure: Procedure, aspects: tuple[Aspect, ...], *, informed: bool = False) -> JudgeProcedure:
    """The procedure with these aspects; `biased` has its own, and is shown nothing: it is what papers did. `informed`: the judge is shown
    what is known of the right answer. Raises: UsageError where grades are needed and lacking."""
    prompts, positions, calls, aligned, ask = _WAYS[procedure]
    informed = informed and procedure != "biased"
    if informed:
        prompts = (*prompts[:-1], f"{prompts[-1]}-known")
    shown = biased_aspects() if procedure == "biased" else aspects
    made = JudgeProcedure(procedure, shown, positions, prompts, calls, aligned, ask, informed)
    if made.graded and (bare := [aspect.name for aspect in made.aspects if not aspect.grades]):
        raise UsageError(f"{procedure} needs written grades, and {', '.join(bare)} has none", fix="name other --aspects")
    return made


def _scores(asker: Asker, way: JudgeProcedure, case: Case) -> JudgeReply:
    reply = _ask(asker, way, case, slots=_slots(way, case), reply=replies.graded_pairs(way.names))
    return _pair(reply, case, lambda part: (part.first.score, part.second.score), lambda part: (part.first.reason, part.second.reason))


def _single(asker: Asker, way: JudgeProcedure, case: Case) -> JudgeReply:
    """Each answer alone. The request holds no other answer: all pairs of a system share the call while its answer stays as it is."""
    wanted = replies.graded(way.names)
    one, other = (
        _ask(asker, way, case, slots={**_given(way, case), "answer": text}, reply=wanted)
        for text in (case.a, case.b)
    )
    if one.value is None or other.value is None:
        return JudgeReply(failure=_why(one if one.value is None else other))
    parts = {name: (getattr(one.value, name), getattr(other.value, name)) for name in way.names}
    return JudgeReply(
        {name: (float(a.score), float(b.score)) for name, (a, b) in parts.items()},
        {name: (_cut(a.reason), _cut(b.reason)) for name, (a, b) in parts.items()}, call="+".join((*one.calls, *other.calls)),
    )


def _choice(asker: Asker, way: JudgeProcedure, case: Case) -> JudgeReply:
    reply = _ask(asker, way, case, slots=_slots(way, case), reply=replies.chosen(way.names))
    return _pair(reply, case, lambda part: _CHOICE[part.winner], lambda part: (part.reason, part.reason))


def _biased(asker: Asker, way: JudgeProcedure, case: Case) -> JudgeReply:
    names = [aspect.name for aspect in way.aspects]
    reply = _ask(asker, way, case, slots=_slots(way, case), reply=replies.forced(names))
    return _pair(reply, case, lambda part: _CHOICE[part.winner], lambda part: (part.explanation, part.explanation))


def _differential(asker: Asker, way: JudgeProcedure, case: Case) -> JudgeReply:
    """Two steps: what each alone says, then which gains more by it. Where neither says anything of its own, it is a tie without asking."""
    first, second = case.shown
    slots: dict[str, JsonValue] = {"question": case.question, "first": first, "second": second}
    content = _ask(asker, way, case, slots=slots, reply=replies.Content)
    if content.value is None:
        if asker.dry:
            _later(asker, way, case)
        return JudgeReply(failure=_why(content))
    common, one, other = (replies.statements(part) for part in (content.value.common, content.value.only_first, content.value.only_second))
    if not one and not other:
        nothing = "neither answer says anything that the other does not say"
        ties, reasons = dict.fromkeys(way.names, _CHOICE["tie"]), dict.fromkeys(way.names, (nothing, nothing))
        return JudgeReply(ties, reasons, call="+".join(content.calls))
    slots = {
        **_given(way, case), "common": list[JsonValue](common), "only_first": list[JsonValue](one), "only_second": list[JsonValue](other),
    }
    reply = _ask(asker, way, case, slots=slots, reply=replies.chosen(way.names), step=1)
    said = _pair(reply, case, lambda part: _CHOICE[part.winner], lambda part: (part.reason, part.reason))
    return said if said.failure else JudgeReply(said.points, said.reasons, call="+".join((*content.calls, *reply.calls)))


def _later(asker: Asker, way: JudgeProcedure, case: Case) -> None:
    """The second step of a dry run: its prompt is not known. At least: no call, where the answers say the same."""
    shown = sum(tokens.count(text) for text in case.shown)
    own = sum(tokens.count(str(value)) for value in _given(way, case).values())
    asker.later(Later(
        stage=stage_of(way, 1), prompt=way.prompts[1], tokens=(own, own + 2 * shown), certain=False,
        key=digest(way.procedure, case.question, *case.shown, case.number, case.wording),
    ))


def stage_of(way: JudgeProcedure, step: int = 0) -> str:
    """The name of a stage in accounts and plans."""
    return way.prompts[step]


def _ask(
    asker: Asker, way: JudgeProcedure, case: Case, *, slots: Mapping[str, JsonValue], reply: type[T], step: int = 0,
) -> Outcome[T]:
    return asker.ask(Task(
        id=way.procedure, prompt=asker.prompt(way.prompts[step]), slots=slots, reply=reply, trial=case.number, stage=stage_of(way, step),
    ))


def _slots(way: JudgeProcedure, case: Case) -> dict[str, JsonValue]:
    first, second = case.shown
    return {**_given(way, case), "first": first, "second": second}


def _given(way: JudgeProcedure, case: Case) -> dict[str, JsonValue]:
    """What every prompt that judges is shown beside the answers."""
    known: dict[str, JsonValue] = {"known": {name: list(texts) for name, texts in case.known.items()}} if way.informed else {}
    return {"question": case.question, "aspects": way.shown(case.wording), **known}


def _pair(
    outcome: Outcome[Reply], case: Case, points: Callable[[Any], tuple[float, float]], reasons: Callable[[Any], tuple[str, str]],
) -> JudgeReply:
    """A reply about the first and the second answer, as points of A and B."""
    if outcome.value is None:
        return JudgeReply(failure=_why(outcome))
    step = 1 if case.a_first else -1
    parts = {name: getattr(outcome.value, name) for name in type(outcome.value).model_fields}
    told = {name: (points(part)[::step], reasons(part)[::step]) for name, part in parts.items()}
    return JudgeReply(
        {name: (float(a), float(b)) for name, ((a, b), _) in told.items()},
        {name: (_cut(a), _cut(b)) for name, (_, (a, b)) in told.items()},
        call="+".join(outcome.calls),
    )


def _why(outcome: Outcome[Any]) -> str:
    failure = outcome.failure or NOTHING
    return f"{failure.cause}: {failure.detail}" if failure.detail else failure.cause


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MOST_REASON else text[:MOST_REASON] + "\u2026"


_WAYS: dict[Procedure, tuple[tuple[str, ...], int, int, bool, Callable[[Asker, JudgeProcedure, Case], JudgeReply]]] = {
    "scores": (("compare-scores",), 2, 1, True, _scores),
    "single": (("compare-single",), 1, 2, True, _single),
    "pairwise-choice": (("compare-choice",), 2, 1, True, _choice),
    "differential": (("compare-content", "compare-unique"), 2, 2, False, _differential),
    "biased": (("compare-biased",), 1, 1, False, _biased),
}
