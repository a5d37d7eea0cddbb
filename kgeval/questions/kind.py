"""A kind of question: what it is made from, what is asked for it, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from pydantic import JsonValue

from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Reply, Task
from kgeval.questions.draw_spec import DrawSpec
from kgeval.records import Question, Structure

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.duplicates import Embed
    from kgeval.records import Layout

T = TypeVar("T", bound=Reply)
A = TypeVar("A")
B = TypeVar("B")
Profile = Literal["generic", "narrative", "medical"]
Need = Literal["model", "graph", "chunks", "documents", "gds"]


@dataclass(frozen=True)
class MakingOptions:
    """What holds for a whole run. `earlier`: questions that must not be repeated, shown to the model (the newest last).

    `answers`: a reference answer is asked for, where a kind can be made without one. `template`: the form that needs no model, where a
    kind has one. `several_passages`: no hop question whose relations one passage says all.
    """

    seed: int
    profile: Profile = "generic"
    language: str = "en"
    template: bool = False
    answers: bool = True
    several_passages: bool = False
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rejected:
    """No question came of a structure. `cause`: one word for counting (shortcut, ambiguous, no_evidence, repeated...); `reason`: why."""

    cause: str
    reason: str = ""


class RejectedError(Exception):
    """No question comes of this structure: raised by makers and helpers, caught by the run."""

    def __init__(self, cause: str, reason: str = "") -> None:
        super().__init__(reason or cause)
        self.rejected = Rejected(cause, reason)


class UnansweredError(Exception):
    """A call failed, or is not in the journal of a dry run: no question can be made of this structure now."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass(frozen=True)
class MakingContext:
    """What a maker works with: one structure, who is asked, the graph for proofs.

    `graph` and `layout` are there where the kind needs "graph" or "documents"; `asker` where it needs "model". `prepared`: what the
    kind's `prepare` gave, once for the run; `proof`: what its `prove` gave for this structure; `embed`: texts -> unit vectors, where an
    embedding model is there. A maker may raise RejectedError in place of
    returning Rejected.
    """

    structure: Structure
    options: MakingOptions
    asker: Asker | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    prepared: object = None
    proof: object = None
    embed: Embed | None = None

    def ask(self, prompt: str, slots: Mapping[str, JsonValue], reply: type[T], *, items: Sequence[JsonValue] = (), stage: str = "") -> T:
        """The reply to one call. The request holds nothing but prompt and values: equal ones are one call, and re-runs cost nothing.

        Raises: UnansweredError where the call fails, where numbered items stay without answer, and in a dry run where it is not in
        the journal (it is counted then); RejectedError("declined") where the reply has an empty question, as prompts tell a model
        to decline; what Models.ask raises ends the run.
        """
        if self.asker is None:
            raise RuntimeError("this kind declares no need of a model")
        outcome = self.asker.ask(Task(
            id=f"{self.structure.kind}:{self.structure.number}:{stage or prompt}", prompt=self.asker.prompt(prompt), slots=slots,
            reply=reply, items=tuple(items), stage=stage or prompt,
        ))
        if outcome.value is None or outcome.missing:
            lost = outcome.failure or next(iter(outcome.missing.values()), Failure("empty", "no reply"))
            raise UnansweredError(lost)
        asked = getattr(outcome.value, "question", None)
        if isinstance(asked, str) and not asked.strip():
            raise RejectedError("declined", "the reply has no question: the model finds none in what it was shown")
        return outcome.value


class Spread(Protocol):
    """Does one thing for many, several at a time."""

    def __call__(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """work(item) for each item, in their order. What `work` raises is raised here."""


def one_by_one(work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """A Spread without threads."""
    return map(work, items)


@dataclass(frozen=True)
class LaterCall:
    """A call that a question of this kind leads to once earlier replies are there: for the dry run. `certain`: always;
    else only sometimes. `tokens`: of its slots, low and high, for a structure."""

    prompt: str
    tokens: Callable[[Structure], tuple[int, int]]
    certain: bool = True
    stage: str = ""


@dataclass(frozen=True)
class Kind:
    """One kind of question. `level`: Question.level; `group`: the list of kinds that it belongs to (--kind GROUP takes all).

    `wanted`: what is sampled for it. `make`: a Structure -> a Question (without id, made_by and structure: the run fills them in), or
    Rejected. `calls`: prompts in the order asked; the first is known exactly, the later ones are `later`. `source`: paper and section.
    `template`: without a model where MakingOptions.template says so. `confirms`: it needs no model, but asks one that is named, unless
    MakingOptions.template says no. `sampled`: false where nothing is drawn: the structures are then
    `most` empty ones, numbered from 0. `prepare`: done once, before the first question; it gets a desk with an empty structure, and a
    way to do one thing for many at a time. It raises as `make` does. `prove`: what the database says of many structures at once, by
    their numbers, before questions are made of them; it may leave some out.
    """

    name: str
    group: str
    level: str
    about: str
    source: str
    wanted: Callable[[MakingOptions], DrawSpec]
    make: Callable[[MakingContext], Question | Rejected]
    needs: frozenset[Need] = frozenset()
    confirms: bool = False
    first: str | None = None
    later: tuple[LaterCall, ...] = field(default=())
    template: bool = False
    sampled: bool = True
    most: int = 0
    prepare: Callable[[MakingContext, Spread], object] | None = None
    prove: Callable[[MakingContext, Sequence[Structure]], Mapping[int, object]] | None = None

    def needs_of(self, options: MakingOptions) -> frozenset[Need]:
        """What it needs in a run with these options."""
        return self.needs - {"model"} if self.template and options.template else self.needs

    def asks(self, options: MakingOptions) -> bool:
        """Whether it asks a model that is named."""
        return "model" in self.needs_of(options) or (self.confirms and not options.template)

    def count_later(self, desk: MakingContext) -> None:
        """Dry run: counts the calls that follow the first one, for a structure whose first reply is not there."""
        if desk.asker is None or not desk.asker.dry:
            return
        for call in self.later:
            stage = call.stage or call.prompt
            desk.asker.later(Later(
                stage=stage, prompt=call.prompt, key=digest(self.name, stage, desk.structure.kind, desk.structure.number),
                tokens=call.tokens(desk.structure), certain=call.certain,
            ))
