"""What the sessions of one command have in common, so that two roles do not spend or ask twice what one was allowed."""

from __future__ import annotations

import threading

from kgeval.llm.budget import Budget
from kgeval.llm.calls import Limits
from kgeval.llm.rates import EndpointRates


class Shared:
    """One budget for all sessions, and the rates of each endpoint. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self.budget = Budget(cost_limit=limits.cost_limit, max_calls=limits.max_calls)
        self._limits, self._rates, self._lock = limits, dict[str, EndpointRates](), threading.Lock()

    def rates(self, base_url: str) -> EndpointRates:
        """The rates of the endpoint at this address."""
        with self._lock:
            return self._rates.setdefault(base_url, EndpointRates(self._limits.rpm, self._limits.tpm))
