"""Draws structures, has questions made of them, drops what repeats, counts everything. A dry run goes the same way.

Kind after kind, in waves: the questions of all earlier waves of a kind are shown to the next one, so that a run is the
same every time, however many calls are in flight. A wave never has more structures than questions are still lacking:
where every structure gives a question, no call is made in vain. """

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from kgeval import __version__
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Outcome, Reply, Task
from kgeval.llm.progress import Progress
from kgeval.llm.prompts import Prompt
from kgeval.questions.draw_spec import Capacity, DrawSpec
from kgeval.questions.duplicates import Twins, fingerprint_of
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kinds import (
    EARLIER,
    KindOrder,
    MakingContext,
    MakingOptions,
    ParallelMap,
    QuestionKind,
    RejectedError,
    UnansweredError,
    one_by_one,
)
from kgeval.questions.profiles import PART
from kgeval.records import KindCount, MadeBy, Question, Stratum, Structure

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.questions.duplicates import Embed
    from kgeval.records import Layout

T = TypeVar("T", bound=Reply)
EARLIER_TOKENS = 2_000
TEMPLATE = "template"  # MadeBy.prompt where nothing was asked
UNKNOWN = Failure("cancelled", "not in the journal")
WAVE = 16  # structures that are tried at a time: large enough to keep a model busy, small enough that few ask the same
WAVE_WITHOUT_MODEL = 256
FREE_TRIES = 100  # a question: most structures of some graphs are turned down by code or database, which costs no call
EARLIER_SHOWN = 30  # questions that a prompt shows: what was asked long ago is dropped as a duplicate if it comes again
PROVED_AT_ONCE, MOST_PROVED_AT_ONCE = 32, 256


@dataclass(frozen=True)
class QuestionAttempt:
    """What came of a structure: one of the first three. `open`: a dry run lacks the reply that decides it. `asked`: a
    model was asked for it."""

    question: Question | None = None
    rejected: RejectedError | None = None
    failure: Failure | None = None
    open: bool = False
    asked: bool = False


@dataclass(frozen=True)
class KindRun:
    """What every attempt at a kind has in common. `context`: its structure is put in for each attempt. `model`: the
    name of the model that is asked; `dataset`: as questions name it; `prompts`: those that were asked in preparing;
    `proofs`: what the kind's `prove` gave, by the structures' numbers, each until it is used."""

    kind: QuestionKind
    context: MakingContext
    model: str | None = None
    dataset: str | None = None
    prompts: tuple[Prompt, ...] = ()
    proofs: dict[int, object] = field(default_factory=dict)


class RecordingAsker:
    """An Asker that notes what is asked for one structure. In a dry run it also knows what is not certain.

    `settled`: the earlier questions in a prompt are known, so that its text is; `certain`: the structure is needed
    whatever becomes of the others. Calls that were asked are not counted again as later ones. """

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
        """The outcome; where the prompt is not known, or perhaps not asked, the failure `cancelled`, and the call is
        counted."""
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
            self._inner.later(call if self._certain else replace(call, certain=False))


def attempt(structure: Structure, run: KindRun, *, settled: bool = True, certain: bool = True) -> QuestionAttempt:
    """What comes of one structure; no exception that only concerns this structure. `settled`, `certain`: for a dry run,
    as RecordingAsker has them.

    Raises: what ends a run (ModelError, IncompleteError, ConnectionLost, QueryError).
    """
    from kgeval.graph.failures import QueryTimeout

    asker = run.context.asker
    recorder = RecordingAsker(asker, run.kind.name, settled=settled, certain=certain) if asker is not None else None
    context = replace(
        run.context, structure=structure, asker=recorder, proof=run.proofs.pop(structure.number, None), kind=run.kind.name,
    )
    question = rejected = failure = None
    undecided = False
    try:
        question = run.kind.make(context)
    except RejectedError as error:
        rejected = error
    except UnansweredError as error:
        run.kind.count_later(context)
        failure, undecided = error.failure, context.dry
    except QueryTimeout as error:
        failure = Failure("graph_error", error.message)
    if question is not None:
        question = finished(question, structure, run, recorder.prompts if recorder is not None else {})
    return QuestionAttempt(question, rejected, failure, undecided, asked=recorder is not None and recorder.asked)


def finished(question: Question, structure: Structure, run: KindRun, prompts: dict[str, Prompt]) -> Question:
    """The question with what the run knows: id, how it was made, structure, dataset. The id depends on the kind, on
    what the question is made from (by key, so that it survives a rebuild of the graph) and on its text."""
    refs, kind, options = structure.refs, run.kind, run.context.options
    prompts_asked = {**{prompt.name: prompt for prompt in run.prompts}, **prompts}
    own = question.made_by or MadeBy()
    made_by = MadeBy(
        seed=options.seed, prompt=own.prompt or ", ".join(f"{p.name}@{p.hash}" for p in prompts_asked.values()) or TEMPLATE,
        model=run.model if prompts_asked else None, version=__version__, kind=kind.name,
        structure=structure.kind if refs else None,
        number=structure.number, profile=options.profile.label,
    )
    asked_as = options.profile.asked_as(options.seed + structure.number) if any(PART in name for name in prompts_asked) else {}
    name = digest(kind.name, sorted(ref.key for ref in refs), question.question)[:12]
    return question.model_copy(update={
        "id": f"{kind.name}-{name}", "kind": question.kind or kind.name, "level": question.level or kind.level,
        "structure": refs, "made_by": made_by, "dataset": question.dataset or run.dataset,
        **({"extra": {**question.extra, "asked_as": {**asked_as}}} if asked_as else {}),
    })


class StructureSource(Protocol):
    """What structures come from: sampling.sampler.open_sampler gives one."""

    def capacity(self, wanted: DrawSpec) -> Capacity:
        """What the graph can give."""

    def structures(self, wanted: DrawSpec) -> Iterator[Structure]:
        """Structures in a seeded order, each once, lazily."""


@dataclass(frozen=True)
class GenerationSettings:
    """What a run depends on. `tries`: structures a question at most for which a model is asked; those that are turned
    down before that cost nothing, of them FREE_TRIES a question are tried. `stratify`: draws evenly over strata."""

    options: MakingOptions
    tries: int = 3
    stratify: Stratum | None = None
    dataset: str | None = None


@dataclass(frozen=True)
class GenerationTools:
    """What questions are made with. `spread`: does one thing for many at a time with the model; `stopped`: nothing more
    is asked; `model`: the name of the one that is asked; `say`: gets a word for people; `progress`: shows questions
    that no model is asked for; `embed`: texts -> unit vectors, for kinds that search texts."""

    sampler: StructureSource
    twins: Twins
    asker: Asker | None = None
    spread: ParallelMap = one_by_one
    graph: Graph | None = None
    layout: Layout | None = None
    model: str | None = None
    stopped: Callable[[], bool] = lambda: False
    say: Callable[[str], None] = lambda text: None
    progress: Progress = field(default_factory=lambda: Progress(shown=False))
    embed: Embed | None = None


@dataclass
class KindTally:
    """One kind's counts while a run goes on. `open`: attempts of a dry run whose reply is not there; they pass for
    questions. `cut`: questions whose maker did not look at all passages of their structure; `passages_left_out`: of all of
    them."""

    order: KindOrder
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
    cut: int = 0
    passages_left_out: int = 0

    @property
    def lacking(self) -> int:
        """Questions that are still to be made."""
        return self.order.n - self.made - self.open

    @property
    def left(self) -> int:
        """Structures that may still be tried."""
        n = self.order.n
        return max(0, min(n * self.tries - self.asked, n * max(self.tries, FREE_TRIES) - self.structures))

    def lose(self, counts: Counter[str], cause: str, example: str) -> None:
        """Counts a structure that gave no new question: in `rejected`, `failed` or `duplicates`."""
        counts[cause] += 1
        self.examples.setdefault(cause, example)

    def count(self) -> KindCount:
        """The counts as a record."""
        kind = self.order.kind
        return KindCount(
            kind=kind.name, group=kind.group, level=kind.level, asked=self.order.n, made=self.made,
            structures=self.structures,
            rejected=_sorted(self.rejected), failed=_sorted(self.failed), duplicates=_sorted(self.duplicates),
            examples={cause: text for cause, text in sorted(self.examples.items()) if text},
            why=self.why if self.lacking else None,
        )

    def exhausted(self, gives: str) -> str:
        """Why there are too few where every structure was tried. `gives`: what the graph can give, in words."""
        lost = self.rejected + self.failed + Counter(
            {f"duplicate: {twin}": count for twin, count in self.duplicates.items()},
        )
        if not lost:
            return gives
        causes = ", ".join(
            f"{cause} {count:,}" for cause, count in sorted(lost.items(), key=lambda pair: (-pair[1], pair[0]))
        )
        return f"{gives}; all {self.structures:,} were tried, {lost.total():,} of them gave no question ({causes})"


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


class Generation:
    """A run. `keep` gets every question, in its order. Whatever ends the run, `tallies` say how far it came."""

    def __init__(
        self, orders: Sequence[KindOrder], settings: GenerationSettings, tools: GenerationTools,
        keep: Callable[[Question], None],
    ) -> None:
        self.tallies = [KindTally(order, settings.tries) for order in orders]
        self._settings, self._tools, self._keep = settings, tools, keep

    def run(self) -> None:
        """Makes the questions, kind after kind. Raises: what ends a run (ModelError, ConnectionLost, Ctrl-C)."""
        for tally in self.tallies:
            self._say_if_too_few(tally)
        tools, options = self._tools, self._settings.options
        for tally in self.tallies:
            kind = tally.order.kind
            asker = tools.asker if kind.asks(options) else None
            if asker is not None and tools.stopped():
                tally.why = "nothing more was asked"
                continue
            context = MakingContext(
                _empty(0, options.seed), options, asker, tools.graph, tools.layout, embed=tools.embed,
            )
            run = self._prepared(tally, KindRun(kind, context, tools.model, self._settings.dataset))
            if run is not None:
                self._make(tally, run)

    def _say_if_too_few(self, tally: KindTally) -> None:
        """A wish beyond what the graph holds is answered before the work begins: minutes of proofs do not make it come
        true."""
        # met: chains of 3,000 hops asked of 188 entities ran for five minutes without a word
        draws = self._draws(tally.order.kind)
        if draws is None:
            return
        there = self._tools.sampler.capacity(draws)
        if there.available is not None and 0 < there.available < tally.order.n:
            self._tools.say(
                f"{tally.order.kind.name}: {tally.order.n:,} are asked for, and the graph can give {there.available:,} at most: "
                f"{there.why}",
            )

    def _draws(self, kind: QuestionKind) -> DrawSpec | None:
        stratify = self._settings.stratify
        return kind.draws if kind.draws is None or stratify is None else replace(kind.draws, stratify=stratify)

    def _prepared(self, tally: KindTally, run: KindRun) -> KindRun | None:
        """With what the kind prepares once; None where that fails: the kind then has no question."""
        if run.kind.prepare is None:
            return run
        asker = run.context.asker
        recorder = RecordingAsker(asker, run.kind.name) if asker is not None else None
        context = replace(run.context, asker=recorder)
        try:
            prepared = run.kind.prepare(context, self._tools.spread if recorder is not None else one_by_one)
        except UnansweredError as error:
            tally.lose(tally.failed, error.failure.cause, error.failure.detail)
            tally.why = f"what all questions need could not be made: {error.failure.detail or error.failure.cause}"
            return None
        except RejectedError as error:
            tally.lose(tally.rejected, error.cause, error.reason)
            tally.why = error.reason
            return None
        prompts = tuple(recorder.prompts.values()) if recorder is not None else ()
        return replace(run, context=replace(run.context, prepared=prepared), prompts=prompts)

    def _make(self, tally: KindTally, run: KindRun) -> None:
        draws, context, progress = self._draws(run.kind), run.context, self._tools.progress
        if draws is not None:
            structures = self._proved(run, self._tools.sampler.structures(draws))
        else:
            structures = (_empty(number, context.options.seed) for number in range(run.kind.most))
        own: list[str] = []
        settled = True
        attempts = self._attempts(tally, run, structures) if context.asker is None else None
        line = progress.start(tally.order.kind.name, tally.order.n) if context.asker is None else None
        while tally.lacking > 0 and tally.left > 0:
            before, made_before = tally.structures, tally.made
            if attempts is not None:
                self._count(tally, islice(attempts, min(WAVE_WITHOUT_MODEL, tally.lacking, tally.left)), own, embed=False)
            else:
                options = replace(context.options, earlier=(*context.options.earlier, *own)[-EARLIER_SHOWN:])
                work = partial(attempt, run=replace(run, context=replace(context, options=options)), settled=settled)
                wave = list(islice(structures, min(WAVE, tally.lacking, tally.left)))
                self._count(tally, self._tools.spread(work, wave), own, embed=True)
            if tally.structures == before:
                gives_most = f"this kind gives {run.kind.most} questions at most"
                tally.why = gives_most if draws is None else tally.exhausted(self._tools.sampler.capacity(draws).why)
                break
            for _ in range(tally.made - made_before):
                progress.advance(line, state=f"{tally.structures:,} tried")
            # from here on the prompts hold questions that a dry run does not know: their calls are counted by what they are made of
            settled = settled and not tally.open
            if context.asker is not None and self._tools.stopped():
                tally.why = "nothing more was asked"
                break
        else:
            spent = tally.asked >= tally.order.n * tally.tries
            tally.why = f"{tally.structures:,} structures were tried" + (
                f", --tries {tally.tries} allows no more" if spent else ""
            )
        progress.end(line)
        if tally.open:  # a dry run: the structures that are tried only if others give no question
            while tally.left > 0 and (structure := next(structures, None)) is not None:
                tally.structures += 1
                tally.asked += attempt(structure, run, settled=False, certain=False).asked

    def _proved(self, run: KindRun, drawn: Iterator[Structure]) -> Iterator[Structure]:
        """The structures; the kind has proved what it can of many at once when the first of them comes. The more are wanted, the more at
        once."""
        if run.kind.prove is None:
            yield from drawn
            return
        many = PROVED_AT_ONCE
        while part := list(islice(drawn, many)):
            run.proofs.update(run.kind.prove(replace(run.context, structure=part[0], asker=None), part))
            yield from part
            many = min(2 * many, MOST_PROVED_AT_ONCE)

    def _attempts(self, tally: KindTally, run: KindRun, structures: Iterator[Structure]) -> Iterator[QuestionAttempt]:
        """What comes of each structure where no model is asked, side by side: as many ahead of what is counted as were counted before, for
        where most are turned down a few more would be too."""
        graph = self._tools.graph
        spread: ParallelMap = graph.side_by_side if graph is not None else one_by_one
        while part := list(islice(structures, min(max(1, tally.lacking, tally.structures), WAVE_WITHOUT_MODEL))):
            yield from spread(partial(attempt, run=run), part)

    def _count(self, tally: KindTally, tried: Iterable[QuestionAttempt], own: list[str], *, embed: bool) -> None:
        """Counts what comes of the structures of a wave; when it is broken off, what came before that is counted and kept."""
        attempts: list[QuestionAttempt] = []
        try:
            for outcome in tried:  # not list(tried): what an interrupt breaks off must leave the ones before it
                attempts.append(outcome)
        except BaseException:
            self._take(tally, attempts, own, embed=False)  # an interrupted run does not wait for a model to be loaded
            raise
        self._take(tally, attempts, own, embed=embed)

    def _take(self, tally: KindTally, attempts: Sequence[QuestionAttempt], own: list[str], *, embed: bool) -> None:
        """Counts what became of each structure, and keeps the questions that are new."""
        questions = [tried.question for tried in attempts if tried.question is not None]
        twins = iter(self._tools.twins.sift([fingerprint_of(question) for question in questions], embed=embed))
        tally.structures += len(attempts)
        tally.asked += sum(tried.asked for tried in attempts)
        for tried in attempts:
            if tried.question is not None:
                twin = next(twins)
                if twin is not None:
                    tally.lose(tally.duplicates, twin, tried.question.question)
                else:
                    tally.made += 1
                    own.append(tried.question.question)
                    left_out = _left_out(tried.question)
                    tally.cut += left_out > 0
                    tally.passages_left_out += left_out
                    self._keep(tried.question)
            elif tried.rejected is not None:
                tally.lose(tally.rejected, tried.rejected.cause, tried.rejected.reason)
            elif tried.open:
                tally.open += 1
            elif tried.failure is not None:
                tally.lose(tally.failed, tried.failure.cause, tried.failure.detail)


def _left_out(question: Question) -> int:
    """How many passages of its structure the maker did not look at, as far as it says so."""
    summed_up = question.extra.get("summed_up")
    left_out = summed_up.get("left_out") if isinstance(summed_up, dict) else None
    return left_out if isinstance(left_out, int) else 0


def _empty(number: int, seed: int) -> Structure:
    """Stands for a structure where nothing is drawn."""
    return Structure(kind="community", number=number, seed=seed, nodes=[])
