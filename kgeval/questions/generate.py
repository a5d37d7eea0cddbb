"""Draws structures, has questions made of them, drops what repeats, counts everything. A dry run goes the same way.

Kind after kind, in waves: the questions of all earlier waves of a kind are shown to the next one, so that a run is the same every time,
however many calls are in flight. A wave never has more structures than questions are still lacking: where every structure gives a
question, no call is made in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kgeval import __version__
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.llm.progress import Progress
from kgeval.llm.prompts import Prompt
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.duplicates import Twins, asks
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kind import Kind, MakingContext, MakingOptions, Rejected, RejectedError, Spread, UnansweredError, one_by_one
from kgeval.questions.kinds import Order
from kgeval.records import KindCount, MadeBy, Question, Stratum, Structure

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.duplicates import Embed
    from kgeval.records import Layout

# One structure, one attempt: the maker is called, and what comes of it is a question, a rejection or a failure; never
# an exception that only concerns this structure.

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
    desk = MakingContext(structure, place.options, noting, place.graph, place.layout, place.prepared, proof, place.embed)
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


WAVE = 16
WAVE_WITHOUT_MODEL = 256
FREE_TRIES = 100
EARLIER_SHOWN = 30
PROVED_AT_ONCE = 32  # the sampler reads about as many at once


class Sampler(Protocol):
    """What structures come from: sampling.sampler.open_sampler gives one."""

    def capacity(self, wanted: DrawSpec) -> Capacity:
        """What the graph can give."""

    def structures(self, wanted: DrawSpec) -> Iterator[Structure]:
        """Structures in a seeded order, each once, lazily."""


@dataclass(frozen=True)
class Settings:
    """What a run depends on. `tries`: structures a question at most for which a model is asked; those that are turned down before that
    cost nothing, of them FREE_TRIES a question are tried. `stratify`: draws evenly over strata."""

    options: MakingOptions
    tries: int = 3
    stratify: Stratum | None = None
    dataset: str | None = None


@dataclass(frozen=True)
class Bench:
    """What questions are made with. `spread`: does one thing for many at a time with the model; `stopped`: nothing more is asked;
    `model`: the name of the one that is asked; `say`: gets a word for people; `progress`: shows questions that no model is asked for;
    `embed`: texts -> unit vectors, for kinds that search texts."""

    sampler: Sampler
    twins: Twins
    asker: Asker | None = None
    spread: Spread = one_by_one
    graph: Graph | None = None
    layout: Layout | None = None
    model: str | None = None
    stopped: Callable[[], bool] = lambda: False
    say: Callable[[str], None] = lambda text: None
    progress: Progress = field(default_factory=lambda: Progress(shown=False))
    embed: Embed | None = None

    @property
    def dry(self) -> bool:
        """Whether nothing is asked but the journal."""
        return self.asker is not None and self.asker.dry


@dataclass
class Tally:
    """One kind's counts while a run goes on. `open`: attempts of a dry run whose reply is not there; they pass for questions."""

    order: Order
    tries: int
    made: int = 0
    open: int = 0
    structures: int = 0
    asked: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    why: str | None = None

    @property
    def lacking(self) -> int:
        """Questions that are still to be made."""
        return self.order.n - self.made - self.open

    @property
    def left(self) -> int:
        """Structures that may still be tried."""
        return max(0, min(self.order.n * self.tries - self.asked, self.order.n * max(self.tries, FREE_TRIES) - self.structures))

    def rejects(self, rejected: Rejected) -> None:
        """Counts a structure that gave no question."""
        self.rejected[rejected.cause] += 1
        self.examples.setdefault(rejected.cause, rejected.reason)

    def fails(self, failure: Failure) -> None:
        """Counts a structure for which there was no answer."""
        self.failed[failure.cause] += 1
        self.examples.setdefault(failure.cause, failure.detail)

    def count(self) -> KindCount:
        """The counts as a record."""
        kind = self.order.kind
        return KindCount(
            kind=kind.name, group=kind.group, level=kind.level, asked=self.order.n, made=self.made, structures=self.structures,
            rejected=_sorted(self.rejected), failed=_sorted(self.failed), duplicates=_sorted(self.duplicates),
            examples={cause: text for cause, text in sorted(self.examples.items()) if text}, why=self.why if self.lacking else None,
        )


def _exhausted(tally: Tally, gives: str) -> str:
    """Why there are too few where every structure was tried: what the graph gives, and what became of those that gave no question."""
    lost = tally.rejected + tally.failed + Counter({f"duplicate: {twin}": count for twin, count in tally.duplicates.items()})
    if not lost:
        return gives
    causes = ", ".join(f"{cause} {count:,}" for cause, count in sorted(lost.items(), key=lambda pair: (-pair[1], pair[0])))
    return f"{gives}; all {tally.structures:,} were tried, {lost.total():,} of them gave no question ({causes})"


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


class Generation:
    """A run. `keep` gets every question, in its order. Whatever ends the run, `tallies` say how far it came."""

    def __init__(self, orders: Sequence[Order], settings: Settings, bench: Bench, keep: Callable[[Question], None]) -> None:
        self.tallies = [Tally(order, settings.tries) for order in orders]
        self._settings, self._bench, self._keep = settings, bench, keep

    def run(self) -> None:
        """Makes the questions, kind after kind. Raises: what ends a run (ModelError, ConnectionLost, Ctrl-C)."""
        for tally in self.tallies:
            self._say_what_there_is(tally)
        for tally in self.tallies:
            place = self._place(tally.order.kind)
            if place.asker is not None and self._bench.stopped():
                tally.why = "nothing more was asked"
                continue
            prepared = self._prepared(tally, place)
            if prepared is not None:
                self._make(tally, prepared)

    def _say_what_there_is(self, tally: Tally) -> None:
        """A wish beyond what the graph holds is answered before the work begins: minutes of proofs do not make it come true."""
        place = self._place(tally.order.kind)
        if not place.kind.sampled:
            return
        there = self._bench.sampler.capacity(self._wanted(place))
        if there.available is not None and 0 < there.available < tally.order.n:
            self._bench.say(
                f"{place.kind.name}: {tally.order.n:,} are asked for, and the graph can give {there.available:,} at most: {there.why}",
            )

    def _place(self, kind: Kind) -> Place:
        bench, options = self._bench, self._settings.options
        return Place(
            kind, options, bench.asker if kind.asks(options) else None, bench.graph, bench.layout, bench.model, self._settings.dataset,
            embed=bench.embed,
        )

    def _prepared(self, tally: Tally, place: Place) -> Place | None:
        """The place with what the kind prepares once; null where that fails: the kind then has no question."""
        kind, options = place.kind, place.options
        if kind.prepare is None:
            return place
        noting = Noting(place.asker, kind.name) if place.asker is not None else None
        desk = MakingContext(_empty(0, options.seed), options, noting, place.graph, place.layout)
        try:
            prepared = kind.prepare(desk, self._bench.spread if noting is not None else one_by_one)
        except UnansweredError as error:
            tally.fails(error.failure)
            tally.why = f"what all questions need could not be made: {error.failure.detail or error.failure.cause}"
            return None
        except RejectedError as error:
            tally.rejects(error.rejected)
            tally.why = error.rejected.reason
            return None
        prompts = tuple(noting.prompts.values()) if noting is not None else ()
        return replace(place, prepared=prepared, prepared_with=prompts)

    def _make(self, tally: Tally, place: Place) -> None:
        wanted = self._wanted(place)
        structures = self._proved(place, self._structures(place, wanted))
        own: list[str] = []
        size, settled = WAVE if place.asker is not None else WAVE_WITHOUT_MODEL, True
        line = self._bench.progress.start(tally.order.kind.name, tally.order.n) if place.asker is None else None
        while tally.lacking > 0 and tally.left > 0:
            wave = list(islice(structures, min(size, tally.lacking, tally.left)))
            if not wave:
                most = f"this kind gives {place.kind.most} questions at most"
                tally.why = _exhausted(tally, self._bench.sampler.capacity(wanted).why) if place.kind.sampled else most
                break
            shown = replace(place, options=replace(place.options, earlier=(*place.options.earlier, *own)[-EARLIER_SHOWN:]))
            before = tally.made
            self._wave(tally, wave, shown, own, settled=settled)
            for _ in range(tally.made - before):
                self._bench.progress.advance(line, state=f"{tally.structures:,} tried")
            settled = settled and not tally.open
            if place.asker is not None and self._bench.stopped():
                tally.why = "nothing more was asked"
                break
        else:
            spent = tally.asked >= tally.order.n * tally.tries
            tally.why = f"{tally.structures:,} structures were tried" + (f", --tries {tally.tries} allows no more" if spent else "")
        self._bench.progress.end(line)
        if tally.open:
            self._perhaps(tally, structures, place)

    def _perhaps(self, tally: Tally, structures: Iterator[Structure], place: Place) -> None:
        """Dry run: the structures that are tried only if others give no question."""
        while tally.left > 0 and (structure := next(structures, None)) is not None:
            tally.structures += 1
            tally.asked += attempt(structure, place, settled=False, certain=False).asked

    def _wanted(self, place: Place) -> DrawSpec:
        wanted = place.kind.wanted(place.options)
        return wanted if self._settings.stratify is None else replace(wanted, stratify=self._settings.stratify)

    def _structures(self, place: Place, wanted: DrawSpec) -> Iterator[Structure]:
        if place.kind.sampled:
            return iter(self._bench.sampler.structures(wanted))
        return (_empty(number, place.options.seed) for number in range(place.kind.most))

    def _proved(self, place: Place, drawn: Iterator[Structure]) -> Iterator[Structure]:
        """The structures; the kind has proved what it can of many at once when the first of them comes."""
        if place.kind.prove is None:
            yield from drawn
            return
        while part := list(islice(drawn, PROVED_AT_ONCE)):
            place.proofs.update(place.kind.prove(MakingContext(part[0], place.options, None, place.graph, place.layout), part))
            yield from part

    def _wave(self, tally: Tally, wave: Sequence[Structure], place: Place, own: list[str], *, settled: bool) -> None:
        """Tries the structures of a wave; what is done when it is broken off is counted and kept."""
        spread: Spread = self._bench.spread if place.asker is not None else one_by_one
        done: list[Attempt] = []
        try:
            for made in spread(partial(attempt, place=place, settled=settled), wave):
                done.append(made)
        except BaseException:
            self._take(tally, done, own, embed=False)  # an interrupted run does not wait for a model to be loaded
            raise
        self._take(tally, done, own, embed=place.asker is not None)

    def _take(self, tally: Tally, attempts: Sequence[Attempt], own: list[str], *, embed: bool) -> None:
        """Counts what became of each structure, and keeps the questions that are new."""
        made = [one.question for one in attempts if one.question is not None]
        twins = iter(self._bench.twins.sift([asks(question) for question in made], embed=embed))
        tally.structures += len(attempts)
        tally.asked += sum(one.asked for one in attempts)
        for one in attempts:
            if one.question is not None:
                twin = next(twins)
                if twin is None:
                    tally.made += 1
                    own.append(one.question.question)
                    self._keep(one.question)
                else:
                    tally.duplicates[twin] += 1
                    tally.examples.setdefault(twin, one.question.question)
            elif one.rejected is not None:
                tally.rejects(one.rejected)
            elif one.open:
                tally.open += 1
            elif one.failure is not None:
                tally.fails(one.failure)


def _empty(number: int, seed: int) -> Structure:
    """Stands for a structure where nothing is drawn."""
    return Structure(kind="community", number=number, seed=seed, nodes=[])
