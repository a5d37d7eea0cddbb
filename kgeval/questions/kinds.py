"""A kind of question: what it is made from, what is asked for it, the function that makes it; the table of all kinds;
`--kind`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from pydantic import JsonValue

from kgeval.errors import UsageError, named_again
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Reply, Task
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.profiles import PART, DomainProfile, load_profile
from kgeval.records import Question, Structure

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.duplicates import Embed
    from kgeval.records import Layout

T = TypeVar("T", bound=Reply)
A = TypeVar("A")
B = TypeVar("B")
Need = Literal["model", "graph", "chunks", "documents", "gds"]
MODULES = ("graph_text", "graphrag_bench", "structures", "kasiak", "hops", "negative", "summary")  # of making/: each offers KINDS
MOST = 1_000_000
EARLIER = "earlier"  # the slot that shows former questions: every prompt that makes a question has it


@dataclass(frozen=True)
class MakingOptions:
    """What holds for a whole run. `earlier`: questions that must not be repeated, shown to the model (the newest last).

    `answers`: a reference answer is asked for, where a kind can be made without one. `template`: the form that needs no
    model, where a kind has one. `several_passages`: no hop question whose relations one passage says all. `max_passages`:
    of a subgraph, that are summed up; None: all.
    """

    seed: int
    profile: DomainProfile = field(default_factory=partial(load_profile, "generic"))
    language: str = "en"
    template: bool = False
    answers: bool = True
    several_passages: bool = False
    max_passages: int | None = None
    earlier: tuple[str, ...] = ()


class RejectedError(Exception):
    """No question comes of this structure: raised by makers and what helps them, counted by the run.

    `cause`: one word for counting (shortcut, ambiguous, no_evidence, repeated, ...); `reason`: why, for people.
    """

    def __init__(self, cause: str, reason: str = "") -> None:
        super().__init__(reason or cause)
        self.cause, self.reason = cause, reason


class UnansweredError(Exception):
    """A call failed, or is not in the journal of a dry run: no question can be made of this structure now."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass(frozen=True)
class MakingContext:
    """What a maker works with: one structure, who is asked, the graph for proofs.

    `graph` and `layout` are there where the kind needs "graph" or "documents"; `asker` where it needs "model".
    `prepared`: what the kind's `prepare` gave, once for the run; `proof`: what its `prove` gave for this structure;
    `embed`: texts -> unit vectors, where an embedding model is there; `kind`: the kind of question. """

    structure: Structure
    options: MakingOptions
    asker: Asker | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    prepared: object = None
    proof: object = None
    embed: Embed | None = None
    kind: str = ""

    @property
    def dry(self) -> bool:
        """Whether calls are only counted, or answered from the journal."""
        return self.asker is not None and self.asker.dry

    def database(self) -> tuple[Graph, Layout]:
        """The graph and its layout. Raises: RuntimeError where the kind did not declare that it needs them."""
        if self.graph is None or self.layout is None:
            raise RuntimeError("this kind declares no need of the graph")
        return self.graph, self.layout

    def ask(
        self, prompt: str, slots: Mapping[str, JsonValue], reply: type[T], *, items: Sequence[JsonValue] = (),
        stage: str = "", sources: Collection[str] = (),
    ) -> T:
        """The reply to one call. The request holds nothing but prompt and values: equal ones are one call, re-runs cost
        nothing. A prompt that makes a question is shown who asks and how, where the profile says so.

        Raises: UnansweredError where the call fails, where items stay without answer, and in a dry run where
        it is not in the journal (it is counted then); RejectedError("declined") where the reply has an empty question,
        as prompts tell a model to decline; what Models.ask raises ends the run. """
        if self.asker is None:
            raise RuntimeError("this kind declares no need of a model")
        stage = stage or prompt
        if EARLIER in slots and (wishes := self.options.profile.slots(self.kind, self.options.seed + self.structure.number)):
            prompt, slots = f"{prompt}+{PART}", {**slots, **wishes}
        outcome = self.asker.ask(Task(
            id=f"{self.structure.kind}:{self.structure.number}:{stage}", prompt=self.asker.prompt(prompt), slots=slots, reply=reply,
            items=tuple(items), stage=stage, sources=frozenset(sources),
        ))
        if outcome.value is None or outcome.missing:
            raise UnansweredError(outcome.failure or next(iter(outcome.missing.values()), Failure("empty", "no reply")))
        question = getattr(outcome.value, "question", None)
        if isinstance(question, str) and not question.strip():
            raise RejectedError("declined", "the reply has no question: the model finds none in what it was shown")
        return outcome.value


class ParallelMap(Protocol):
    """Does one thing for many, several at a time."""

    def __call__(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """work(item) for each item, in their order. What `work` raises is raised here."""


def one_by_one(work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """A ParallelMap without threads."""
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
class QuestionKind:
    """One kind of question. `level`: Question.level; `group`: the list of kinds that it belongs to (--kind GROUP takes
    all).

    `draws`: the structures that are drawn for it; None: nothing is drawn, and the structures are `most` empty ones,
    numbered from 0. `make`: a structure -> a question (without id, made_by and structure: the run fills them in); it
    raises RejectedError where there is none. `first`, `later`: the prompts in the order asked; the first is counted
    exactly. `source`: paper and section. `template`: without a model where MakingOptions.template says so. `confirms`:
    it needs no model, but asks one that is named, unless MakingOptions.template says no. `prepare`: done once, before
    the first question; it gets a context with an empty structure, and a way to do one thing for many at a time; it
    raises as `make` does. `prove`: what the database says of many structures at once, by their numbers, before
    questions are made of them; it may leave some out. """

    name: str
    group: str
    level: str
    about: str
    source: str
    draws: DrawSpec | None
    make: Callable[[MakingContext], Question]
    needs: frozenset[Need] = frozenset()
    confirms: bool = False
    first: str | None = None
    later: tuple[LaterCall, ...] = ()
    template: bool = False
    most: int = 0
    prepare: Callable[[MakingContext, ParallelMap], object] | None = None
    prove: Callable[[MakingContext, Sequence[Structure]], Mapping[int, object]] | None = None

    def needs_of(self, options: MakingOptions) -> frozenset[Need]:
        """What it needs in a run with these options."""
        return self.needs - {"model"} if self.template and options.template else self.needs

    def asks(self, options: MakingOptions) -> bool:
        """Whether it asks a model that is named."""
        return "model" in self.needs_of(options) or (self.confirms and not options.template)

    def count_later(self, context: MakingContext) -> None:
        """Dry run: counts the calls that follow the first one, for a structure whose first reply is not there."""
        if context.asker is None or not context.dry:
            return
        structure = context.structure
        for call in self.later:
            stage = call.stage or call.prompt
            context.asker.later(Later(
                stage=stage, prompt=call.prompt, key=digest(self.name, stage, structure.kind, structure.number),
                tokens=call.tokens(structure), certain=call.certain,
            ))


@dataclass(frozen=True)
class KindOrder:
    """So many questions of a kind."""

    kind: QuestionKind
    n: int


@cache
def all_kinds() -> dict[str, QuestionKind]:
    """Every kind by its name, group by group."""
    # by name and late: makers import this module, and `kgeval --help` shall not import makers
    modules = [import_module(f"kgeval.questions.making.{name}") for name in MODULES]
    return {kind.name: kind for module in modules for kind in module.KINDS}


def groups() -> dict[str, tuple[QuestionKind, ...]]:
    """The kinds of every group, by its name."""
    kinds = all_kinds().values()
    return {name: tuple(kind for kind in kinds if kind.group == name) for name in dict.fromkeys(kind.group for kind in kinds)}


def question_profile(name: str) -> DomainProfile:
    """The profile of that name, or that file. Raises: ConfigError."""
    members = {group: tuple(kind.name for kind in kinds) for group, kinds in groups().items()}
    return load_profile(name, members | {kind: (kind,) for kind in all_kinds()})


def orders_of(words: Sequence[str], n: int) -> tuple[KindOrder, ...]:
    """What `--kind` asks for: KIND, GROUP, KIND=N, GROUP=N (so many of each of its kinds); `n` where no number is
    given.

    A kind's own name beats the group of that name. Raises: UsageError for all words that are wrong, and for a kind
    named twice. """
    orders, faults = list[KindOrder](), list[str]()
    for word in words:
        name, sign, number = (part.strip() for part in word.partition("="))
        kinds = (all_kinds()[name],) if name in all_kinds() else groups().get(name, ())
        if not kinds:
            near = get_close_matches(name.replace("-", "_"), [*all_kinds(), *groups()], n=1)
            faults.append(f"'{name}' is no kind of question" + (f" (did you mean {near[0]}?)" if near else ""))
        elif sign and not (number.isdecimal() and 0 < int(number) <= MOST):
            faults.append(f"'{word}': '{number}' is no number from 1 to {MOST:,}")
        else:
            orders += [KindOrder(kind, int(number) if sign else n) for kind in kinds]
    faults += [f"'{name}' is named twice" for name in named_again(order.kind.name for order in orders)]
    if faults:
        fix = f"kinds are {', '.join(all_kinds())}; kgeval questions kinds tells what each is"
        raise UsageError("--kind: " + "; ".join(faults), fix=fix)
    return tuple(orders)
