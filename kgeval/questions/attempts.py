"""One structure, one attempt: the maker is called, and what comes of it is a question, a rejection or a failure; never an exception
that only concerns this structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval import __version__
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.llm.prompts import Prompt
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kind import Desk, Kind, MakingOptions, Rejected, RejectedError, UnansweredError
from kgeval.records import MadeBy, Question, Structure

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.duplicates import Embed
    from kgeval.records import Layout

T = TypeVar("T", bound=Reply)
EARLIER = "earlier"  # the slot that shows former questions
EARLIER_TOKENS = 2_000
TEMPLATE = "template"  # MadeBy.prompt where nothing was asked
UNKNOWN = Failure("cancelled", "not in the journal")


@dataclass(frozen=True)
class Attempt:
    """What came of a structure: one of the three. `open`: a dry run lacks the reply that decides it. `asked`: a model was asked for it."""

    structure: Structure
    question: Question | None = None
    rejected: Rejected | None = None
    failure: Failure | None = None
    open: bool = False
    asked: bool = False


@dataclass(frozen=True)
class Place:
    """What every attempt at a kind has in common. `model`: the name of the model that is asked; `dataset`: as questions name it;
    `proofs`: what the kind's `prove` gave, by the structures' numbers, each until it is used."""

    kind: Kind
    options: MakingOptions
    asker: Asker | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    model: str | None = None
    dataset: str | None = None
    prepared: object = None
    prepared_with: tuple[Prompt, ...] = ()
    proofs: dict[int, object] = field(default_factory=dict)
    embed: Embed | None = None


class Noting:
    """An Asker that notes what is asked for one structure. In a dry run it also knows what is not certain.

    `settled`: the earlier questions in a prompt are known, so that its text is; `certain`: the structure is needed whatever becomes of
    the others. Calls that were asked are not counted again as later ones.
    """

    def __init__(self, inner: Asker, kind: str, *, settled: bool = True, certain: bool = True) -> None:
        self.dry = inner.dry
        self.prompts: dict[str, Prompt] = {}
        self._inner, self._kind, self._settled, self._certain = inner, kind, settled, certain
        self._later = False
        self._stages: set[str] = set()

    @property
    def asked(self) -> bool:
        """Whether anything was asked, or counted as to be asked."""
        return bool(self._stages) or self._later

    def prompt(self, name: str) -> Prompt:
        """The prompt in the session's language."""
        return self._inner.prompt(name)

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome; where the prompt is not known, or perhaps not asked, the failure `cancelled`, and the call is counted."""
        stage = task.stage or task.prompt.name
        self._stages.add(stage)
        self.prompts.setdefault(task.prompt.name, task.prompt)
        if self._certain and (self._settled or EARLIER not in task.slots):
            return self._inner.ask(task)
        size = tokens_of(*task.slots.values(), *task.items)
        self._inner.later(Later(
            stage, task.prompt.name, digest(self._kind, task.id), (size, size + EARLIER_TOKENS), items=len(task.items),
            certain=self._certain,
        ))
        return Outcome(task.id, None, UNKNOWN)

    def later(self, call: Later) -> None:
        """Dry run only: counts a call that follows, unless it was asked already."""
        if call.stage not in self._stages:
            self._later = True
            self._inner.later(call if self._certain else _perhaps(call))


def _perhaps(call: Later) -> Later:
    return Later(call.stage, call.prompt, call.key, call.tokens, call.items, certain=False)


def attempt(structure: Structure, place: Place, *, settled: bool = True, certain: bool = True) -> Attempt:
    """What comes of one structure. `settled`, `certain`: for a dry run, as Noting has them.

    Raises: what ends a run (ModelError, IncompleteError, ConnectionLost, QueryError).
    """
    from kgeval.graph.failures import QueryTimeout

    kind = place.kind
    noting = Noting(place.asker, kind.name, settled=settled, certain=certain) if place.asker is not None else None

    def came(**what: Any) -> Attempt:
        return Attempt(structure, asked=noting is not None and noting.asked, **what)

    proof = place.proofs.pop(structure.number, None)
    desk = Desk(structure, place.options, noting, place.graph, place.layout, place.prepared, proof, place.embed)
    try:
        made = kind.make(desk)
    except UnansweredError as error:
        kind.count_later(desk)
        return came(failure=error.failure, open=noting is not None and noting.dry)
    except RejectedError as error:
        made = error.rejected
    except QueryTimeout as error:
        return came(failure=Failure("graph_error", error.message))
    if isinstance(made, Rejected):
        return came(rejected=made)
    return came(question=finished(made, structure, place, noting.prompts if noting is not None else {}))


def finished(question: Question, structure: Structure, place: Place, prompts: dict[str, Prompt]) -> Question:
    """The question with what the run knows: id, how it was made, structure, dataset. The id depends on the kind, on what the question
    is made from (by key, so that it survives a rebuild of the graph) and on its text."""
    refs, kind, options = structure.refs, place.kind.name, place.options
    asked = {**{prompt.name: prompt for prompt in place.prepared_with}, **prompts}
    told = question.made_by or MadeBy()
    made_by = MadeBy(
        seed=options.seed, prompt=told.prompt or ", ".join(f"{p.name}@{p.hash}" for p in asked.values()) or TEMPLATE,
        model=place.model if asked else None, version=__version__, kind=kind, structure=structure.kind if refs else None,
        number=structure.number, profile=options.profile,
    )
    name = digest(kind, sorted(ref.key for ref in refs), question.question)[:12]
    return question.model_copy(update={
        "id": f"{kind}-{name}", "kind": question.kind or kind, "level": question.level or place.kind.level, "structure": refs,
        "made_by": made_by, "dataset": question.dataset or place.dataset,
    })
