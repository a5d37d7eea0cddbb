"""What an audit finds, kept as it comes, and taken over by the audit that goes on. Whatever fails here costs the audit nothing else."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from kgeval.auditing.check import CheckOutcome, CheckRun, CheckSettings
from kgeval.errors import KgevalError
from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.graph.state import GraphState, read_change
from kgeval.llm.check_store import CheckStore
from kgeval.records import Example, Resumed

GOES_ON = "what has an answer is kept: the same command with --resume asks for the rest"
FORM = 1  # counts up when what is kept changes its form
# A query that reads the clock has another answer tomorrow, of the same graph
CLOCK = re.compile(r"\b(date|datetime|localdatetime|time|localtime|timestamp|rand)\s*\(\s*\)", re.IGNORECASE)

T = TypeVar("T")


@dataclass
class KeptAnswers:
    """The answers of one audit. Thread-safe; a context manager, on whose interruption it is said that they are kept. `store`: None where
    nothing can be kept. `common`: what all of them depend on besides the graph, whose `state` it was at the beginning. `taking`: answers
    that are there are taken, not only kept. `say`: is told once where answers cannot be kept. `checks`, `figures`: what was taken.
    `kept`: how many answers were kept. `since`: when the first that was taken was kept (seconds since 1970)."""

    store: CheckStore | None = None
    common: Sequence[object] = ()
    state: GraphState | None = None
    taking: bool = False
    say: Callable[[str], None] = lambda text: None
    checks: set[str] = field(default_factory=set)
    figures: set[str] = field(default_factory=set)
    kept: int = 0
    since: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> KeptAnswers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.kept and kind is not None and issubclass(kind, KeyboardInterrupt):
            self.say(GOES_ON)
        self._close()

    def outdated(self, graph: Graph) -> str | None:
        """Why what was taken is of another state of the graph than what was asked, in words; then it is forgotten, and from now on nothing
        is taken and nothing kept. None where it is of the same. Raises: QueryError, ConnectionLost."""
        changed = read_change(graph, self.state) if self.state is not None else None
        if self.state is None or changed is None:
            return None
        differences = changed.differences(self.state)
        self._close()
        self.taking, self.since, self.state = False, None, changed
        self.checks.clear()
        self.figures.clear()
        return f"the database was changed meanwhile ({', '.join(differences)})"

    def take(self, *question: object) -> Any | None:
        """The answer to a question, where it is taken over."""
        if not self.taking:
            return None
        found = self._tried(lambda store: store.get(FORM, *self.common, *question))
        if found is None:
            return None
        with self._lock:
            self.since = min(self.since or found.created, found.created)
        return found.body

    def keep(self, body: Any, *question: object) -> None:
        """Keeps the answer to a question."""
        self._tried(lambda store: store.keep(body, FORM, *self.common, *question))
        with self._lock:
            self.kept += self.store is not None

    def take_outcome(self, check: CheckRun) -> tuple[CheckOutcome, float] | None:
        """What a check came to, and the seconds that it took."""
        question = _question(check)
        found = None if question is None else self.take(*question)
        if found is None:
            return None
        outcome, seconds = found
        with self._lock:
            self.checks.add(check.query.name)
        return CheckOutcome(**{**outcome, "examples": [Example.model_validate(example) for example in outcome["examples"]]}), seconds

    def keep_outcome(self, check: CheckRun, outcome: CheckOutcome, seconds: float) -> None:
        """Keeps what a check came to."""
        if (question := _question(check)) is not None:
            plain = replace(outcome, examples=[])
            examples = [example.model_dump(exclude_defaults=True) for example in outcome.examples]
            self.keep([{**asdict(plain), "examples": examples}, seconds], *question)

    def resumed(self) -> Resumed | None:
        """What was taken over; None where nothing was."""
        if self.since is None or not (self.checks or self.figures):
            return None
        since = datetime.fromtimestamp(self.since, UTC).isoformat(timespec="seconds")
        return Resumed(since=since, checks=sorted(self.checks), figures=sorted(self.figures))

    def _close(self) -> None:
        """From now on nothing is kept, whatever threads are still at work."""
        store, self.store = self.store, None
        if store is not None:
            store.__exit__()

    def _tried(self, work: Callable[[CheckStore], T]) -> T | None:
        store = self.store
        if store is None:
            return None
        try:
            return work(store)
        except KgevalError as fault:
            with self._lock:
                told, self.store = self.store is not store, None
            if not told:
                self.say(f"warning: {fault.message}; the audit goes on, and --resume will ask what is not kept")
            return None


def _question(check: CheckRun) -> tuple[object, ...] | None:
    """All that the outcome of a check depends on besides the graph; None where that is the time of day too."""
    if CLOCK.search(check.query.text):
        return None
    settings: Mapping[str, Any] = check.settings
    signature = settings.signature if isinstance(settings, CheckSettings) else sorted(settings.items())
    part = check.part.params() if "part" in settings else {}
    return "check", check.query.name, check.query.sha256, check.layout.model_dump(mode="json"), signature, part, check.sample


def queries_digest() -> str:
    """Stands for the text of every query of this kgeval."""
    return "".join(query.sha256[:8] for _, query in sorted(all_queries().items()))
