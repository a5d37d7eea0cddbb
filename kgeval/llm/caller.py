"""One request from the journal or the endpoint: paid once, within the rates and the budget, tried again where that can help."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgeval.errors import KgevalError, ModelError
from kgeval.llm import tokens
from kgeval.llm.account import Account
from kgeval.llm.budget import SpentError
from kgeval.llm.calls import Endpoint, Failure, Limits
from kgeval.llm.client import LONGEST_ASKED_WAIT, CallError, Client, ModelAnswer
from kgeval.llm.journal import Journal, Stored
from kgeval.llm.prices import FREE, Price
from kgeval.llm.rates import backoff
from kgeval.llm.replies import UnusableError
from kgeval.llm.request import Request
from kgeval.llm.schemas import MODES, Mode, Shape
from kgeval.llm.shared import Shared
from kgeval.llm.turns import FirstRequest, Turn

if TYPE_CHECKING:
    import tenacity

# Which form of structured reply a model gives: json_schema, else json_object with the schema, else json_object, else
# plain text. Learned once, kept in the journal.

ENOUGH_FAULTS = 3


class Forms:
    """What the model at this endpoint can do. Thread-safe."""

    def __init__(self, journal: Journal, endpoint: Endpoint) -> None:
        self._journal, self._endpoint = journal, endpoint
        self._mode = self._known = journal.ability(endpoint)
        self._lock = threading.Lock()
        self._proven: set[Mode] = set()
        self._faults = 0
        self._lowest: dict[str, int] = {}  # shapes that the endpoint refuses in a form that works for others

    def mode(self, shape: Shape, tried: int) -> Mode:
        """The form to ask for. While the current one has never worked, a request that got something unusable tries the next ones."""
        with self._lock:
            # a form that has worked stays: the fault is then of this reply
            ahead = 0 if self._mode in self._proven else tried
            index = max(MODES.index(self._mode) + ahead, self._lowest.get(shape.text, 0))
            return MODES[min(index, len(MODES) - 1)]

    def refused(self, mode: Mode, shape: Shape) -> bool:
        """The endpoint refuses this form (or, where it worked for others, this shape in it). False if there is no other form."""
        with self._lock:
            index = MODES.index(mode)
            if index + 1 == len(MODES):
                return False
            if mode in self._proven:
                self._lowest[shape.text] = index + 1
            # of many threads that were refused at the same time, only the first steps down
            elif index >= MODES.index(self._mode):
                self._step_to(MODES[index + 1])
            return True

    def usable(self, mode: Mode) -> None:
        """A reply in this form was valid."""
        # without the lock: this is asked after every reply, and both only ever grow
        if mode in self._proven and mode == self._known:
            return
        with self._lock:
            self._proven.add(mode)
            news = mode == self._mode != self._known
            if news:
                self._known = mode
        if news:
            # outside the lock: the journal may wait for another process
            self._journal.remember(self._endpoint, mode)

    def unusable(self, mode: Mode) -> None:
        """A reply in this form was not valid: a form that fails three times before it ever worked is given up."""
        with self._lock:
            # a late reply in a form that was given up already says nothing about the next one
            if mode != self._mode or mode in self._proven or mode == MODES[-1]:
                return
            self._faults += 1
            if self._faults >= ENOUGH_FAULTS:
                self._step_to(MODES[MODES.index(mode) + 1])

    def _step_to(self, mode: Mode) -> None:
        self._mode, self._faults = mode, 0


V = TypeVar("V")
log = logging.getLogger("kgeval.llm")
CANCELLED = Failure("cancelled", "the run was interrupted")
POLL_SECONDS = 0.05
# other models' tokenizers cut mostly less than a third finer than ours (tokens.count); used until the endpoint has told its own count
_OTHER_TOKENIZERS = 1.35


@dataclass(frozen=True, slots=True)
class CallResult(Generic[V]):
    """A request's end: a value that was read from the reply, or a failure. `key`: of the journal's row, where it is another."""

    value: V | None
    failure: Failure | None = None
    from_journal: bool = False
    key: str | None = None


@dataclass
class Stop:
    """Why the session ends early, seen by all its threads. `fatal` is raised in all of them; `failure` is given for all that
    is not in the journal; `halt` wakes whoever sleeps."""

    halt: threading.Event = field(default_factory=threading.Event)
    fatal: KgevalError | None = None
    failure: Failure | None = None

    def check(self) -> None:
        """Raises what ends the session: the fatal error, or UnusableError with the failure."""
        if self.fatal is not None:
            raise self.fatal
        if self.failure is not None:
            raise _ended(self.failure)
        if self.halt.is_set():
            raise _ended(CANCELLED)

    def sleep(self, seconds: float) -> None:
        """Sleeps; raises as check does where the session ends meanwhile."""
        self.halt.wait(seconds)
        self.check()


class _Flight:
    def __init__(self) -> None:
        self.over = threading.Event()
        self.result: CallResult[Any] | None = None


class Caller:
    """Makes the calls of one session."""

    def __init__(
        self, client: Client, journal: Journal, *, limits: Limits, price: Price | None, account: Account, stop: Stop, shared: Shared,
    ) -> None:
        self.client, self.journal, self.account, self.stop = client, journal, account, stop
        self.budget, self.rates = shared.budget, shared.rates(client.endpoint.base_url or "")
        self.forms = Forms(journal, client.endpoint)
        self._price, self._retries = price or FREE, limits.max_retries
        self._places = threading.BoundedSemaphore(limits.concurrency)
        self._first = FirstRequest()
        self._lock = threading.Lock()
        self._flights: dict[str, _Flight] = {}
        self.highest_bound = 0.0
        self._longest: dict[str, int] = {}  # tokens of the longest reply of a stage so far
        self._tokens_more = _OTHER_TOKENIZERS  # the endpoint's tokens of a prompt, for one of ours: the most so far
        self._retrying: tenacity.Retrying | None = None

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> CallResult[V]:
        """The reply as `read` makes it a value (it raises UnusableError for one that is none).

        The same request in flight in this session is waited for and shared; in another process, waited for and then found in the
        journal. `tried`: how often this request was already answered with something unusable.
        """
        # most requests of a run that is started again are in the journal: looking is cheaper than claiming first
        if (result := self._from_journal(request, read)) is not None:
            return result
        with self._lock:
            flight = self._flights.get(request.key)
            mine = flight is None
            if flight is None:
                flight = self._flights[request.key] = _Flight()
        if not mine:
            return self._share(request, read, flight)
        try:
            flight.result = self._claimed(request, read, tried)
            return flight.result
        finally:
            with self._lock:
                del self._flights[request.key]
            flight.over.set()

    def bound(self, request: Request) -> float:
        """The most that one call of this request can cost, USD."""
        most_input = tokens.most(request.system, request.user, request.shape.instruction())
        return self._price.cost(most_input, request.endpoint.max_output or self._price.max_output)

    def expected(self, request: Request) -> float:
        """What one call of this request should cost at most, USD: as much as the longest reply of its stage so far, in this run or the
        journal; where there is none, a long reply of its form."""
        longest = self._longest.get(request.stage)
        if longest is None:
            seen = self.journal.typical(request.endpoint, request.stage)
            if seen is not None and seen[1]:
                longest = self._longest.setdefault(request.stage, seen[1])
            else:
                longest = request.shape.usual_length(request.items)
        most = request.endpoint.max_output or self._price.max_output
        counted = tokens.count_messages(request.system, request.user, request.shape.instruction())
        return self._price.cost(round(counted * self._tokens_more), min(longest, most))

    def _learn(self, request: Request, answer: ModelAnswer) -> None:
        """Takes note of what a reply took."""
        counted = tokens.count_messages(request.system, request.user, request.shape.instruction())
        with self._lock:
            self._longest[request.stage] = max(self._longest.get(request.stage, 0), answer.output_tokens or 0)
            more = (answer.input_tokens or 0) / max(counted, 1)
            self._tokens_more = max(1.0, more, 0.0 if self._tokens_more == _OTHER_TOKENIZERS else self._tokens_more)

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """USD of a live call with so many tokens; 0 where no price is known."""
        return self._price.cost(input_tokens, output_tokens)

    def _share(self, request: Request, read: Callable[[str], V], flight: _Flight) -> CallResult[V]:
        """What another thread's call of this request came to. A reply is read anew: the other may have read it as another class
        with the same schema."""
        flight.over.wait()
        if flight.result is None:  # its thread ended with an error that ends all
            self._raise_end()
            return CallResult(None, CANCELLED)
        # a failure is shared and not tried again: the other thread has just used up the tries
        if flight.result.failure is not None:
            return CallResult(None, flight.result.failure, from_journal=True)
        # the journal may still hold a reply that `read` refuses: then it is asked as this class needs it
        return self._from_journal(request, read) or self.call(request, read)

    def _raise_end(self) -> None:
        if self.stop.fatal is not None:
            raise self.stop.fatal

    def _claimed(self, request: Request, read: Callable[[str], V], tried: int) -> CallResult[V]:
        # looked at again and again: who waits in the kernel for a lock cannot be told that the session ends
        wait = POLL_SECONDS / 4
        while not self.journal.claim(request.key):
            result = self._from_journal(request, read)
            if result is not None:
                return result
            if self.stop.halt.wait(wait):
                self._raise_end()
                return CallResult(None, self.stop.failure or CANCELLED)
            wait = min(2 * wait, 10 * POLL_SECONDS)
        try:
            # looked up again: who held the claim may have finished between the look and the claim
            return self._from_journal(request, read) or self._from_endpoint(request, read, tried)
        finally:
            self.journal.release(request.key)

    def _from_journal(self, request: Request, read: Callable[[str], V]) -> CallResult[V] | None:
        result = read_kept(self.journal, request, read)
        if result is not None:
            self.account.found(request.stage)
        return result

    def _from_endpoint(self, request: Request, read: Callable[[str], V], tried: int) -> CallResult[V]:
        try:
            answer, mode = self._answer(request, tried)
        except UnusableError as end:
            return CallResult(None, end.failure)
        except CallError as error:
            return CallResult(None, error.failure)
        try:
            value = read(usable(answer))
        except UnusableError as fault:
            self.forms.unusable(mode)
            self.journal.put_try(request, fault.failure.cause, answer.text)
            log.info("a reply of stage %s cannot be used: %s (kgeval cache show %s)", request.stage, fault, request.key[:12])
            return CallResult(None, fault.failure)
        self.forms.usable(mode)
        used = (answer.input_tokens or 0, answer.output_tokens or 0)
        self.journal.put(request, Stored(answer.text, *used, answer.estimated, answer.seconds, answer.first))
        return CallResult(value)

    def _answer(self, request: Request, tried: int) -> tuple[ModelAnswer, Mode]:
        """An answer over the wire. Steps down the forms of structured replies where the endpoint refuses one."""
        while True:
            mode = self.forms.mode(request.shape, tried)
            try:
                return self._tried_again(partial(self._attempt, request, mode)), mode
            except CallError as error:
                # no wait and no retry counted: the endpoint is well, it only does not know the form
                if not error.form or not self.forms.refused(mode, request.shape):
                    raise

    def _tried_again(self, attempt: Callable[[], ModelAnswer]) -> ModelAnswer:
        """Up to max_retries more attempts, with waits between them that grow, or that the endpoint asks for."""
        if self._retrying is None:
            import tenacity

            self._retrying = tenacity.Retrying(
                stop=tenacity.stop_after_attempt(self._retries + 1), retry=tenacity.retry_if_exception(_worth_a_retry), reraise=True,
                wait=_wait_before, sleep=self.stop.sleep, before_sleep=_tell_the_wait,
            )
        return self._retrying(attempt)

    def _attempt(self, request: Request, mode: Mode) -> ModelAnswer:
        with self._first.first(self.stop.halt.is_set):
            return self._sent(request, mode)

    def _sent(self, request: Request, mode: Mode) -> ModelAnswer:
        self.stop.check()
        body = request.body(mode)
        # counting costs CPU for each request: only where --tpm needs it
        taken = tokens.count_messages(request.system, request.user) if self.rates.counts_tokens else 0
        self.client.prepare()  # before the request's turn comes: it takes a second, once
        limited = self.budget.cost_limit is not None
        bound, cost, broken = self.bound(request) if limited else 0.0, 0.0, False
        # filled by the turn when it begins, in this thread but inside the client's hook
        expected: list[float] = []
        turn = Turn(self._places, partial(self._ready, request, taken, bound, expected))
        try:
            answer = self._send(request, body, turn)
            cost = self._price.cost(answer.input_tokens or 0, answer.output_tokens or 0)
            if limited:
                self._learn(request, answer)
        except CallError as error:
            broken = error.billed  # nobody knows what was charged
            cost = expected[0] if error.billed and expected else 0.0
            self._failed(error)
            raise
        except ModelError as error:
            self.end(error)
            raise
        finally:
            # a request that never left has reserved nothing
            if turn.began is not None:
                self.budget.settle(expected[0], cost, most=bound, stage=request.stage, broken=broken)
        self.rates.used((answer.input_tokens or 0) + (answer.output_tokens or 0), taken=taken)
        return answer

    def _ready(self, request: Request, taken: int, bound: float, expected: list[float]) -> None:
        """Waits for the rates, and takes the call out of the budget; what it should cost is put into `expected`. Raises what ends the
        session meanwhile."""
        self.rates.wait(taken, sleep=self.stop.halt.wait)
        self.stop.check()
        self.highest_bound = max(self.highest_bound, bound)
        try:
            expected[:] = [min(self.expected(request), bound)] if self.budget.cost_limit is not None else [0.0]
            self.budget.reserve(expected[0], most=bound, ended=self.stop.halt.is_set)
            self.account.sends(request.stage)
        except SpentError as spent:
            self.finish(spent.failure)
            raise UnusableError(spent.failure.cause, spent.failure.detail) from None

    def _send(self, request: Request, body: dict[str, Any], turn: Turn) -> ModelAnswer:
        answer = None
        try:
            answer = self.client.send(body, turn).counted(request.system, request.user)
            return replace(answer, seconds=round(turn.seconds, 4))
        finally:
            seconds = turn.seconds
            if answer is None and turn.began is not None:
                self.account.call(request.stage, seconds=seconds, noted=True)
            elif answer is not None:
                input_tokens, output_tokens = answer.input_tokens or 0, answer.output_tokens or 0
                self.account.call(
                    request.stage, seconds=seconds, input_tokens=input_tokens, output_tokens=output_tokens,
                    cost=self._price.cost(input_tokens, output_tokens), estimated=answer.estimated, noted=True,
                )

    def _failed(self, error: CallError) -> None:
        if error.quota:
            self.finish(error.failure)
        elif error.wait and error.failure.cause == "rate_limited" and error.wait <= LONGEST_ASKED_WAIT:
            self.rates.pause(error.wait)

    def finish(self, failure: Failure) -> None:
        """From now on nothing is sent: whatever is not in the journal has this failure."""
        if self.stop.failure is None:
            self.stop.failure = failure
        self.stop.halt.set()
        self.budget.wake()

    def end(self, error: KgevalError) -> None:
        """From now on every thread raises this error."""
        if self.stop.fatal is None:
            self.stop.fatal = error
        self.stop.halt.set()
        self.budget.wake()


def read_kept(journal: Journal, request: Request, read: Callable[[str], V]) -> CallResult[V] | None:
    """What the journal has of a request, or None: also for a reply that the rules of reading no longer take, which is asked for again and
    replaced."""
    stored = journal.get(request.key)
    if stored is None:
        return None
    try:
        return CallResult(read(stored.reply), from_journal=True, key=request.key)
    except UnusableError:
        return None


def _ended(failure: Failure) -> UnusableError:
    return UnusableError(failure.cause, failure.detail)


def usable(answer: ModelAnswer) -> str:
    """The text, if the model came to its end. Raises UnusableError: a cut reply is never read, however whole it looks."""
    if answer.refused:
        raise UnusableError("refused", "the model refused")
    if answer.finish == "length":
        raise UnusableError("cut", "the reply was cut at the token limit")
    if not answer.text.strip():
        raise UnusableError("empty", "the reply is empty")
    return answer.text


def _worth_a_retry(error: BaseException) -> bool:
    return isinstance(error, CallError) and error.again and (error.wait or 0.0) <= LONGEST_ASKED_WAIT


def _tell_the_wait(state: Any) -> None:
    log.info("asking again in %.1f s", state.next_action.sleep)


def _wait_before(state: Any) -> float:
    error = state.outcome.exception()
    return backoff(state.attempt_number, asked=error.wait if isinstance(error, CallError) else None)
