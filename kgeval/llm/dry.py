"""The dry run: the same way through a task's asks, with the journal only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kgeval.llm import tokens
from kgeval.llm.caller import CANCELLED, Result
from kgeval.llm.journal import Journal
from kgeval.llm.replies import UnusableError
from kgeval.llm.request import Request

V = TypeVar("V")


class DryCaller:
    """Stands in for a Caller in a dry run: answers from the journal, and notes what is not there."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.found: set[str] = set()
        self.missing: set[str] = set()
        self.input_tokens = 0

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> Result[V]:
        """The journal's reply, or the failure "cancelled", after which nothing more is asked for a task."""
        stored = self._journal.get(request.key)
        if stored is not None:
            try:
                value = read(stored.reply)
            except UnusableError:
                stored = None
            else:
                self.found.add(request.key)
                return Result(value, from_journal=True)
        if request.key not in self.missing:
            self.missing.add(request.key)
            self.input_tokens += tokens.count_messages(request.system, request.user, request.shape.text)
        return Result(None, CANCELLED)
