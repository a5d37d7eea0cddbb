"""How much in all: calls and money. Counted before each call, with the calls in flight: calls are never overrun, money by one call
at most."""

from __future__ import annotations

import threading
from collections.abc import Callable

from kgeval.llm.calls import Failure

_NAMED = 5  # stages, in what is said of the money


class SpentError(Exception):
    """The budget does not allow this call."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class Budget:
    """The budget of a command's sessions. A call reserves what such calls took so far, and gives back what it did not cost.

    Calls in flight may all cost the most that they can. All but one of them together must fit into the limit even then: whatever replies
    come, it is passed by one call at most. Where the rest of the money allows only some calls at a time, the others wait until one of
    those has settled. `waits`: how often one did.
    """

    def __init__(self, *, cost_limit: float | None, max_calls: int | None) -> None:
        self.cost_limit, self.max_calls = cost_limit, max_calls
        self.calls, self.spent, self._reserved, self.waits = 0, 0.0, 0.0, 0
        self._in_flight: list[float] = []  # the most that each can cost
        self._by_stage: dict[str, tuple[int, float]] = {}
        self._broken = 0.0
        self._changed = threading.Condition()

    def reserve(self, expected: float, *, most: float | None = None, ended: Callable[[], bool] = lambda: False) -> None:
        """Takes one call of about `expected` USD, `most` at most (None: no more than expected), out of the budget. `ended`: whether to
        wait no longer for others to settle.

        Raises: SpentError if it does not fit.
        """
        most = max(expected, most or 0.0)
        with self._changed:
            while True:
                self._check_calls()
                if self.cost_limit is None or self._fits(self.cost_limit, expected, most):
                    break
                if not self._in_flight or ended():
                    raise SpentError(Failure("budget", self._words(expected)))
                self.waits += 1
                self._changed.wait()
            self.calls += 1
            self._reserved += expected
            self._in_flight.append(most)

    def _fits(self, limit: float, expected: float, most: float) -> bool:
        # all calls in flight but the dearest must fit at their highest price: so the limit is passed by one call at most; 0 sends nothing
        together = [*self._in_flight, most]
        return 0 < limit >= max(self.spent + self._reserved + expected, self.spent + sum(together) - max(together))

    def settle(self, expected: float, cost: float, *, most: float | None = None, stage: str = "", broken: bool = False) -> None:
        """The call is over and cost so much; `expected` and `most` as they were reserved. `broken`: it broke off, and `cost` is a guess
        at what it was charged."""
        with self._changed:
            self._in_flight.remove(max(expected, most or 0.0))
            # set to 0 when nothing is in flight: sums and differences of floats leave a rest that would add up
            self._reserved = self._reserved - expected if self._in_flight else 0.0
            self.spent += cost
            calls, money = self._by_stage.get(stage, (0, 0.0))
            self._by_stage[stage] = (calls + 1, money + cost)
            self._broken += cost if broken else 0.0
            self._changed.notify_all()

    def wake(self) -> None:
        """Whoever waits looks again whether its session has ended."""
        with self._changed:
            self._changed.notify_all()

    def _check_calls(self) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise SpentError(Failure("budget", f"the limit of {self.max_calls} calls is reached"))

    def _words(self, expected: float) -> str:
        # with 0 of money left out: stages of local models cost nothing and explain nothing
        parts = sorted(((money, stage, calls) for stage, (calls, money) in self._by_stage.items() if money), reverse=True)
        went = [f"{stage or 'other'} {money:.4f} in {calls:,} call{'s' * (calls != 1)}" for money, stage, calls in parts[:_NAMED]]
        if len(parts) > _NAMED:
            went.append(f"others {sum(money for money, _, _ in parts[_NAMED:]):.4f}")
        if self._broken:
            went.append(f"of it {self._broken:.4f} guessed for calls that broke off")
        return (
            f"the cost limit of {self.cost_limit:g} USD is reached: {self.spent:.4f} USD are spent"
            + (f" ({'; '.join(went)})" if went else "") + f", and the next call takes about {expected:.4f} USD"
        )
