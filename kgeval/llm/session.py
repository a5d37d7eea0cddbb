"""An open session with one model: ask, ask many, plan, account. The way into this room for all others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from kgeval.errors import KgevalError, ModelError
from kgeval.llm import tokens
from kgeval.llm.account import Account
from kgeval.llm.asking import ask
from kgeval.llm.caller import CANCELLED, Caller, CallResult, Stop, read_kept
from kgeval.llm.calls import Endpoint, Failure, Limits, Outcome, Reply, Spent, Task
from kgeval.llm.client import Client
from kgeval.llm.endpoints import settled
from kgeval.llm.journal import Journal
from kgeval.llm.paid import Paid, Run
from kgeval.llm.places import journal_file
from kgeval.llm.plan import GUESSED_SECONDS, PlannedStage, bound, guessed_output, priced
from kgeval.llm.pool import Pool
from kgeval.llm.prices import Price, price_of, read_prices
from kgeval.llm.progress import Progress
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.llm.request import Request
from kgeval.llm.shared import Shared
from kgeval.manifest import ModelUsage
from kgeval.records import ModelRef, Role

# The dry run: the same way through a task's asks, with the journal only. What is not there is counted, by stage.

V = TypeVar("V")


@dataclass
class StageCount:
    """What a dry run counted in one stage: calls to make and tokens of their messages, low and high. `items`: in a call at most."""

    calls_low: int = 0
    calls_high: int = 0
    from_journal: int = 0
    input_tokens_low: int = 0
    input_tokens_high: int = 0
    items: int = 0


class DryCaller:
    """Stands in for a Caller in a dry run: answers from the journal, and notes what is not there."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen: set[int] = set()  # 64 bits of each key: a run may have a million
        self.stages: dict[str, StageCount] = {}

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> CallResult[V]:
        """The journal's reply, or the failure "cancelled", after which nothing more is asked for a task."""
        kept = read_kept(self._journal, request, read)
        first = self.first(request.key)
        count = self.stages.setdefault(request.stage, StageCount())
        if kept is not None:
            count.from_journal += first
            return kept
        if first:
            used = tokens.count_messages(request.system, request.user, request.shape.text)
            count.calls_low, count.calls_high = count.calls_low + 1, count.calls_high + 1
            count.input_tokens_low, count.input_tokens_high = count.input_tokens_low + used, count.input_tokens_high + used
        return CallResult(None, CANCELLED)

    def first(self, key: str) -> bool:
        """True for a key (hex digits) that was not seen before."""
        short = int(key[:16], 16)
        new = short not in self._seen
        self._seen.add(short)
        return new


class DryRun:
    """A dry run over all stages of a command: a request that several tasks need is counted once. Thread-safe; sends nothing."""

    def __init__(self, journal: Journal, endpoint: Endpoint, *, max_reasks: int) -> None:
        self._caller, self._endpoint, self._max_reasks = DryCaller(journal), endpoint, max_reasks
        self._lock = threading.Lock()

    @property
    def stages(self) -> dict[str, StageCount]:
        """The counts by stage, in the order in which stages came up."""
        return self._caller.stages

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome as the journal has it. What it lacks has the failure `cancelled`, and its call is counted."""
        with self._lock:
            outcome = ask(task, self._caller, endpoint=self._endpoint, max_reasks=self._max_reasks)
            count = self.stages[task.stage or task.prompt.name]
            count.items = max(count.items, len(task.items))
        return outcome

    def later(
        self, prompt: Prompt, *, stage: str, high: str | None, low: str | None, tokens_low: int, tokens_high: int, items: int,
    ) -> None:
        """A call whose messages depend on a reply that is not there yet.

        `high`, `low`: hex keys (16 digits or more) of the call at most and at least; an equal key is counted once, None is not
        counted. `tokens_low`, `tokens_high`: of the values in the prompt's slots.
        """
        with self._lock:
            count = self.stages.setdefault(stage, StageCount())
            count.items = max(count.items, items)
            own = tokens.count_messages(prompt.system, prompt.user)
            if high is not None and self._caller.first(high):
                count.calls_high, count.input_tokens_high = count.calls_high + 1, count.input_tokens_high + own + tokens_high
            if low is not None and self._caller.first(low):
                count.calls_low, count.input_tokens_low = count.calls_low + 1, count.input_tokens_low + own + tokens_low


T = TypeVar("T", bound=Reply)
A = TypeVar("A")
B = TypeVar("B")
# with as many threads as calls, 64 in flight at 250 ms reached 0.91 of what was possible
MOST_SPARE = 64
INCOMPLETE = 3


def open_models(
    endpoint: Endpoint, limits: Limits, *, role: Role, journal: Path | None, prices: Path | None = None, language: str = "en",
    progress: Progress | None = None, shared: Shared | None = None, run: Run | None = None,
) -> Models:
    """A session with the model at an endpoint. `journal` None: the one in the user's cache directory. `shared`: the budget and the
    rates, where a command has several sessions. `run`: which run asks, so that what its earlier starts asked is told. Nothing
    is sent yet.

    Raises: UsageError for an address or parameters that cannot be, ModelError for a cost limit on a model whose price is not
    known, ConfigError for a journal or price file that cannot be used.
    """
    place = settled(endpoint)
    price = price_of(place, read_prices(prices))
    if limits.cost_limit is not None and price is None:
        raise ModelError(
            f"no price is known for {place.model} at {place.base_url}, so a cost limit cannot be kept",
            fix="give a price file with --prices (kgeval help models shows the form), or limit the calls with --max-calls instead",
        )
    setting = _Setting(place, limits, role, price, language, shared or Shared(limits), run)
    return Models(setting, Journal(journal_file(journal)), progress or Progress(shown=False))


@dataclass(frozen=True)
class _Setting:
    endpoint: Endpoint
    limits: Limits
    role: Role
    price: Price | None
    language: str
    shared: Shared
    run: Run | None = None


class Models:
    """A session with one model. A context manager; thread-safe. Made by open_models."""

    def __init__(self, setting: _Setting, journal: Journal, progress: Progress) -> None:
        self.endpoint, self.language, self.limits = setting.endpoint, setting.language, setting.limits
        self._role, self._price, self._progress, self._journal = setting.role, setting.price, progress, journal
        self._stop = Stop()
        priced = setting.price is not None
        self._paid = None if setting.run is None else Paid(journal, setting.run, setting.endpoint.model, priced)
        self._account = Account(setting.endpoint.model, priced=priced, max_error_rate=setting.limits.max_error_rate, paid=self._paid)
        self._client = Client(setting.endpoint, timeout=setting.limits.timeout)
        self._caller = Caller(
            self._client, journal, limits=setting.limits, price=setting.price, account=self._account, stop=self._stop,
            shared=setting.shared,
        )
        # threads more than calls in flight: they make requests and read replies while the others wait for the endpoint
        more = 0 if setting.limits.concurrency == 1 else max(2, min(setting.limits.concurrency, MOST_SPARE))
        self._pool = Pool(setting.limits.concurrency + more)
        self._prompts: dict[str, Prompt] = {}
        self._notes: dict[str, None] = {}
        self._lock = threading.Lock()

    def prompt(self, name: str) -> Prompt:
        """The prompt in this session's language (English where there is none, with a note). Its hash goes into the manifest."""
        prompt = load_prompt(name, self.language)
        with self._lock:
            self._prompts[name] = prompt
            if prompt.language != self.language:
                self._notes[f"prompt {name} does not exist in {self.language}: the English one is used"] = None
        return prompt

    def ask(self, task: Task[T]) -> Outcome[T]:
        """The outcome of one task; blocks, may be called from any thread. A call that fails is an outcome with its cause.

        Raises: ModelError for what ends a run (wrong key, unknown model, endpoint not reachable at the first call),
        IncompleteError if the journal cannot be written.
        """
        self._prompts.setdefault(task.prompt.name, task.prompt)
        try:
            outcome = ask(task, self._caller, endpoint=self.endpoint, max_reasks=self.limits.max_reasks)
        except KgevalError as error:
            self._caller.end(error)
            raise
        self._account.outcome(task, outcome)
        failure = self._account.too_many_failures()
        if failure is not None and self._stop.failure is None:
            self._caller.finish(failure)
        return outcome

    def ask_all(self, tasks: Iterable[Task[T]], *, total: int | None = None) -> Iterator[Outcome[T]]:
        """The outcomes in the order of the tasks, lazily; memory stays flat however many there are. Raises as ask does."""
        return self.map(self.ask, tasks, total=total)

    def spent(self, calls: Iterable[str]) -> Spent | None:
        """What the calls under these journal keys (Outcome.calls) took when they were made: never the time of finding them again.
        None if one of them is no longer in the journal."""
        keys = list(calls)
        looked_up = [self._journal.get(key) for key in keys]
        calls_made = [call for call in looked_up if call is not None]
        if not calls_made or len(calls_made) < len(looked_up):
            return None
        input_tokens, output_tokens = sum(call.input_tokens for call in calls_made), sum(call.output_tokens for call in calls_made)
        cost = None if self._price is None else round(self._price.cost(input_tokens, output_tokens), 8)
        first = self._journal.first_seconds(keys[0]) if len(keys) == 1 else None
        return Spent(len(calls_made), round(sum(call.seconds for call in calls_made), 4), input_tokens, output_tokens, cost, first)

    def map(self, work: Callable[[A], B], items: Iterable[A], *, total: int | None = None) -> Iterator[B]:
        """work(item) for each item, on the session's threads, results in order and lazily: for work that asks several times an
        item. What `work` raises is raised here at once. Ctrl-C: nothing more is sent, what is finished is in the journal."""
        line = self._progress.start(f"{self._role} {self.endpoint.model}", total)
        try:
            for result in self._pool.run(work, items):
                self._progress.advance(line, state=self._state() if line is not None else "")
                yield result
        except KeyboardInterrupt:
            self._stop.halt.set()
            self._caller.budget.wake()
            raise
        finally:
            self._progress.end(line)

    def plan(self, tasks: Iterable[Task[Any]]) -> PlannedStage:
        """What asking these tasks (of one stage) would take, exactly: the same request twice is one call, those in the journal are
        none. Nothing is sent."""
        run, stage = self.dry_run(), ""
        for task in tasks:
            stage = task.stage or task.prompt.name
            run.ask(task)
        return self._planned(stage, run.stages.get(stage, StageCount()))

    def dry_run(self) -> DryRun:
        """A dry run over several stages, for work that asks several times an item: its `ask` stands in for this session's."""
        return DryRun(self._journal, self.endpoint, max_reasks=self.limits.max_reasks)

    def planned(self, run: DryRun) -> tuple[PlannedStage, ...]:
        """What a dry run counted, with this session's price and its journal's earlier calls of each stage."""
        return tuple(self._planned(stage, count) for stage, count in run.stages.items())

    def bound(
        self, prompt: Prompt, *, calls: tuple[int, int], slot_tokens: tuple[int, int], stage: str = "", items: int = 0,
    ) -> PlannedStage:
        """Bounds for a stage whose prompts depend on earlier replies: plan.bound with this session's price."""
        return priced(bound(prompt, calls=calls, slot_tokens=slot_tokens, stage=stage, items=items), self._price)

    def asked(self) -> ModelUsage:
        """What was asked so far, for the manifest."""
        with self._lock:
            hashes = {f"{prompt.language}/{name}": prompt.hash for name, prompt in self._prompts.items()}
        endpoint = self.endpoint
        ref = ModelRef(role=self._role, name=endpoint.model, base_url=endpoint.base_url, parameters=dict(endpoint.parameters))
        return ModelUsage(models=[ref], use=self._account.use(), prompt_hashes=hashes)

    @property
    def notes(self) -> list[str]:
        """What a reader of the results should know: why the asking stopped early, prompts in another language, token counts that
        are estimates, prices that nobody checked."""
        with self._lock:
            notes = list(self._notes)
        if self.stopped is not None:
            notes.append(f"nothing more was asked: {self.stopped.detail}")
        stages, bound, limit = self._account.estimated_stages(), self._caller.highest_bound, self.limits.cost_limit or 0.0
        if stages:
            notes.append(f"the endpoint gives no token counts: estimated with {tokens.TOKENIZER} in {', '.join(stages)}")
        if self.price_note is not None:
            notes.append(self.price_note)
        if bound * self.limits.concurrency > limit > 0:
            notes.append(
                f"a call can cost up to {bound:.4f} USD, and the cost limit is passed by one call at most, so only "
                f"{1 + limit // bound:.0f} at a time are sent: max_completion_tokens in parameters of [model.*] lets more",
            )
        return notes

    @property
    def price_is_unchecked(self) -> bool:
        """True where costs come from kgeval's own price list, which nobody has checked."""
        return self._price is not None and self._price.unchecked

    @property
    def price_note(self) -> str | None:
        """Where costs come from and of what date; None where the price file has none."""
        return self._price.note if self._price is not None else None

    @property
    def stopped(self) -> Failure | None:
        """Why nothing is sent any more (budget, error rate), or None. Every further ask that the journal cannot answer gives it."""
        return self._stop.failure

    @property
    def exit_code(self) -> int:
        """0, or 3 if the session stopped early or more items failed than --max-error-rate allows."""
        return INCOMPLETE if self.stopped is not None or self._account.error_rate > self.limits.max_error_rate else 0

    @property
    def priced(self) -> bool:
        """Whether calls cost something that is known."""
        return self._price is not None and self._price.cost(1, 1) > 0

    @property
    def caller(self) -> Caller:
        """What makes this session's calls: for other ways for them in this room (batch/) and nowhere else."""
        return self._caller

    def told(self) -> None:
        """The task came to its end: its report tells what was asked, so that no later start of the run has to. Not where the asking
        stopped early: then the run goes on."""
        if self._paid is not None and self.exit_code == 0:
            self._paid.told()

    def close(self) -> None:
        """Ends the threads and closes the journal. After an interruption calls in flight are waited for a second at most."""
        self._stop.halt.set()
        self._caller.budget.wake()
        done = self._pool.close()
        self._journal.close()
        if done:
            self._client.close()

    def __enter__(self) -> Models:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _planned(self, stage: str, count: StageCount) -> PlannedStage:
        seconds, most = self._typical(stage, count.items)
        return PlannedStage(
            stage=stage, calls_low=count.calls_low, calls_high=count.calls_high, from_journal=count.from_journal,
            input_tokens_low=count.input_tokens_low, input_tokens_high=count.input_tokens_high,
            output_tokens_high=most * count.calls_high, price=self._price, seconds_a_call=seconds,
        )

    def _typical(self, stage: str, items: int) -> tuple[float, int]:
        seen = self._journal.typical(self.endpoint, stage)
        seconds, most = seen or (GUESSED_SECONDS, 0)
        return seconds, most or self.endpoint.max_output or guessed_output(items)

    def _state(self) -> str:
        account = self._account
        doubt = " (price unchecked)" if self.price_is_unchecked else ""
        cost = f"{account.cost:.4f} USD{doubt}" if self._price is not None else "price unknown"
        return f"{cost}, {account.failed:.0f} failed"
