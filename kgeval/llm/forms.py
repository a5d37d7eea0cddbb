"""Which form of structured reply a model gives: json_schema, else json_object with the schema, else
json_object, else plain text. Learned once, kept in the journal."""

from __future__ import annotations

import threading

from kgeval.llm.calls import Endpoint
from kgeval.llm.journal import Journal
from kgeval.llm.schemas import MODES, Mode, Shape

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
            ahead = 0 if self._mode in self._proven else tried
            at = max(MODES.index(self._mode) + ahead, self._lowest.get(shape.text, 0))
            return MODES[min(at, len(MODES) - 1)]

    def refused(self, mode: Mode, shape: Shape) -> bool:
        """The endpoint refuses this form (or, where it worked for others, this shape in it). False if there is no other form."""
        with self._lock:
            at = MODES.index(mode)
            if at + 1 == len(MODES):
                return False
            if mode in self._proven:
                self._lowest[shape.text] = at + 1
            elif at >= MODES.index(self._mode):
                self._step_to(MODES[at + 1])
            return True

    def usable(self, mode: Mode) -> None:
        """A reply in this form was valid."""
        if mode in self._proven and mode == self._known:
            return
        with self._lock:
            self._proven.add(mode)
            news = mode == self._mode != self._known
            if news:
                self._known = mode
        if news:
            self._journal.remember(self._endpoint, mode)

    def unusable(self, mode: Mode) -> None:
        """A reply in this form was not valid: a form that fails three times before it ever worked is given up."""
        with self._lock:
            if mode != self._mode or mode in self._proven or mode == MODES[-1]:
                return
            self._faults += 1
            if self._faults >= ENOUGH_FAULTS:
                self._step_to(MODES[MODES.index(mode) + 1])

    def _step_to(self, mode: Mode) -> None:
        self._mode, self._faults = mode, 0
