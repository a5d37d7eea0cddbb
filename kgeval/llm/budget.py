"""How much in all: calls and money. Counted before each call, with the calls in flight, so that it is never overrun."""

from __future__ import annotations

import threading
from collections.abc import Callable

from kgeval.llm.calls import Failure


class SpentError(Exception):
    """The budget does not allow this call."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class Budget:
    """The budget of a command's sessions. A call reserves the most that it can cost, and gives back what it did not cost.

    Where the rest of the money allows only some calls at a time, the others wait until one of those has settled.
    """

    def __init__(self, *, cost_limit: float | None, max_calls: int | None) -> None:
        self.cost_limit, self.max_calls = cost_limit, max_calls
        self.calls, self.spent, self._reserved, self._in_flight = 0, 0.0, 0.0, 0
        self._changed = threading.Condition()

    def reserve(self, bound: float, *, ended: Callable[[], bool] = lambda: False) -> None:
        """Takes one call of at most `bound` USD out of the budget. `ended`: whether to wait no longer for others to settle.

        Raises: SpentError if it does not fit.
        """
        with self._changed:
            while True:
                self._check_calls()
                if self.cost_limit is None or 0 < self.cost_limit >= self.spent + self._reserved + bound:
                    break
                if not self._in_flight or ended():
                    raise SpentError(Failure("budget", self._words(bound)))
                self._changed.wait()
            self.calls += 1
            self._reserved += bound
            self._in_flight += 1

    def settle(self, bound: float, cost: float) -> None:
        """The call is over and cost so much."""
        with self._changed:
            self._in_flight -= 1
            self._reserved = self._reserved - bound if self._in_flight else 0.0
            self.spent += cost
            self._changed.notify_all()

    def wake(self) -> None:
        """Whoever waits looks again whether its session has ended."""
        with self._changed:
            self._changed.notify_all()

    def _check_calls(self) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise SpentError(Failure("budget", f"the limit of {self.max_calls} calls is reached"))

    def _words(self, bound: float) -> str:
        return (
            f"the cost limit of {self.cost_limit:g} USD is reached: {self.spent:.4f} USD are spent at most (calls that broke off count "
            f"in full) and the next call can cost up to {bound:.4f} USD (max_completion_tokens in parameters of [model.*] lowers that)"
        )
